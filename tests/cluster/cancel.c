/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A thread that is cancelled inside a function of tessera_mpi.h ends only after that function has
 * returned. All calls here are refused, so that no processes are needed; cluster_uses cancels a
 * thread inside a product. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tessera_mpi_model.h"

#include "../cancelled.h"

#define PRODUCT NULL, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, NULL, 0, 0, NULL, NULL, 0, 0

#define EVERY_CALL(CALL)                                                        \
  CALL(tsr_context_create_dealt(MPI_COMM_NULL, NULL, NULL, NULL))               \
  CALL(tsr_grid_create(NULL, MPI_COMM_NULL, 0, 0, NULL))                        \
  CALL(tsr_grid_suggest(NULL, 0, TSR_D, 0, 0, 0, NULL, NULL))                   \
  CALL(tsr_grid_imagine(NULL, 0, 0, NULL))                                      \
  CALL(tsr_grid_place(NULL, NULL, NULL, NULL, NULL))                            \
  CALL(tsr_grid_set_panels(NULL, 0, 0))                                         \
  CALL(tsr_grid_set_blocks(NULL, 0, 0))                                         \
  CALL(tsr_grid_set_cut(NULL, TSR_CUT_MODEL))                                   \
  CALL(tsr_grid_set_network(NULL, 0, 0))                                        \
  CALL(tsr_grid_traffic(NULL, NULL, NULL))                                      \
  CALL(tsr_grid_imagine_transport(NULL, 0, 0))                                  \
  CALL(tsr_grid_sync(NULL))                                                     \
  CALL(tsr_pmatrix_extents(NULL, NULL, NULL))                                   \
  CALL(tsr_pmatrix_create(NULL, TSR_D, 0, 0, 0, 0, 0, 0, NULL))                 \
  CALL(tsr_pmatrix_create_irregular(NULL, TSR_D, 0, NULL, 0, NULL, 0, 0, NULL)) \
  CALL(tsr_redistribute(NULL, 0, 0, 0, NULL, 0, 0, NULL, 0, 0))                 \
  CALL(tsr_scatter(NULL, 0, 0, NULL, 0, NULL))                                  \
  CALL(tsr_gather(NULL, 0, 0, NULL, NULL, 0))                                   \
  CALL(tsr_pgemm(PRODUCT))                                                      \
  CALL(tsr_pgemm_async(PRODUCT))                                                \
  CALL(tsr_grid_timeline_begin(NULL))                                           \
  CALL(tsr_grid_timeline_end(NULL, 0, 0, NULL))                                 \
  CALL(tsr_pgemm_plan(PRODUCT, NULL))                                           \
  CALL(tsr_pplan_predict(NULL, NULL))                                           \
  CALL(tsr_pplan_print(NULL, 0, NULL))

#define TEXT(call) #call,
static const char *const texts[] = {EVERY_CALL(TEXT)};
enum { CALLS = sizeof texts / sizeof *texts };

static tsr_status make_call(int index) {
  int at = 0;
#define MAKE(call) \
  if (at++ == index) return call;
  EVERY_CALL(MAKE)
  return TSR_OK;
}

static void no_function_is_left_half_way(void **state) {
  (void)state;
  for (int i = 0; i < CALLS; ++i) assert_not_left(texts[i], make_call, i);
}

static void the_list_is_complete(void **state) {
  (void)state;
  static const char *const headers[] = {"tessera_mpi.h", "tessera_mpi_model.h", NULL};
  assert_names_all(headers, texts, CALLS);
}

int main(void) {
  setenv("TESSERA_LOG", "error", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_function_is_left_half_way),
      cmocka_unit_test(the_list_is_complete),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
