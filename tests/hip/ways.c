/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * hip_ways BLOCKS: the probe finds the faster of a level-3 routine's two ways, plans take it, and
 * devices compute by it; by blocks a hemm is a GEMM. Over the runtime for tests, one of whose
 * routines is made slow (TSR_HIP_SLOW): BLOCKS is 1 if that is trsm, so that products of blocks are
 * faster, and 0 if it is gemm.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "engine/engine.h"
#include "machine/machine.h"
#include "probe/probe.h"
#include "tessera_model.h"

static bool blocks;
static tsr_machine *machine;
static char path[] = "/tmp/tessera_ways_XXXXXX.json";

#define OK(call)                                                        \
  do {                                                                  \
    tsr_status ok_status_ = (call);                                     \
    if (ok_status_ != TSR_OK) fail_msg("%s: %s", #call, tsr_message()); \
  } while (0)

static const tsr_type blas_types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};

static void the_faster_way_is_measured(void **state) {
  (void)state;
  const tsr_engine *engine = tsr_engine_find("hip");
  tsr_device_info info[TSR_MAX_DEVICES];
  tsr_engine_state *opened;
  int count;
  assert_non_null(engine);
  OK(engine->open(&(tsr_engine_options){.count = 1}, &opened, info, &count));
  tsr_status status =
      tsr_probe(engine, opened, info, count, &(tsr_probe_options){.quick = true}, &machine);
  engine->close(opened);
  OK(status);
  for (int i = 0; i < 4; i++) {
    const tsr_rates *rates = &machine->rates[tsr_type_index(blas_types[i])];
    for (int k = TSR_KERNEL_SYMM; k <= TSR_KERNEL_TRSM; k++) {
      bool hermitian = tsr_kernel_get((tsr_kernel)k)->traits & TSR_HERMITIAN;
      bool exists = !hermitian || tsr_type_get(blas_types[i])->complex_valued;
      assert_true((rates->routine[k].vendor > 0) == exists);
      assert_true((rates->routine[k].blocks > 0) == exists);
    }
    assert_int_equal(tsr_machine_takes_blocks(machine, TSR_KERNEL_TRSM, blas_types[i]), blocks);
  }
  assert_int_equal(machine->rates[tsr_type_index(TSR_H)].routine[TSR_KERNEL_SYRK].vendor, 0);
}

static void a_file_keeps_it(void **state) {
  (void)state;
  tsr_machine *read;
  assert_true(mkstemps(path, 5) >= 0);
  OK(tsr_machine_write(machine, path));
  OK(tsr_machine_read(path, &read));
  for (int t = 0; t < TSR_TYPE_COUNT; t++)
    for (int k = 0; k < TSR_KERNEL_COUNT; k++) {
      const struct tsr_routine *was = &machine->rates[t].routine[k],
                               *is = &read->rates[t].routine[k];
      assert_true(is->vendor >= was->vendor * 0.999 && is->vendor <= was->vendor * 1.001);
      assert_int_equal(is->blocks > is->vendor, was->blocks > was->vendor);
    }
  tsr_machine_destroy(read);
}

/* The GEMMs that rocBLAS has computed so far. */
static unsigned long gemms(void) {
  void *library = dlopen("librocblas.so.4", RTLD_NOW | RTLD_NOLOAD);
  atomic_ulong *count = library != NULL ? dlsym(library, "hip_blas_gemms") : NULL;
  assert_non_null(count);
  return *count;
}

/* The GEMMs of a hemm whose halves have at most so many rows. */
static unsigned long gemms_of_hemm(const tsr_engine *engine, tsr_engine_state *state,
                                   tsr_queue *queue, int64_t order, int most) {
  enum { LINES = 2 };
  tsr_kernel_args args = {.kernel = TSR_KERNEL_HEMM,
                          .type = TSR_Z,
                          .uplo = TSR_LOWER,
                          .blocks = most,
                          .m = order,
                          .n = LINES,
                          .k = order,
                          .alpha = {1, 0},
                          .lda = order,
                          .ldb = order,
                          .ldc = order};
  void *part[3];
  tsr_queue_event *event;
  bool complete = false;
  for (int i = 0; i < 3; i++)
    OK(engine->alloc(state, 0, (size_t)(order * (i == 0 ? order : LINES)) * 16, &part[i]));
  args.a = part[0];
  args.b = part[1];
  args.c = part[2];
  unsigned long before = gemms();
  OK(engine->kernel(queue, &args));
  OK(engine->event_create(state, 0, false, &event));
  OK(engine->record(queue, event));
  while (!complete) OK(engine->query(event, &complete, NULL));
  engine->event_destroy(event);
  for (int i = 0; i < 3; i++) engine->free(state, 0, part[i]);
  return gemms() - before;
}

/* By blocks hemm is one GEMM if its square fits the memory for it, two more for each halving, and
 * no GEMM if the square does not fit. The vendor's is none. */
static void squares_that_fit_are_products(void **state) {
  (void)state;
  const tsr_engine *engine = tsr_engine_find("hip");
  tsr_device_info info[TSR_MAX_DEVICES];
  tsr_engine_state *opened;
  tsr_queue *queue;
  int count;
  OK(engine->open(&(tsr_engine_options){.count = 1}, &opened, info, &count));
  OK(engine->queue_create(opened, 0, TSR_QUEUE_COMPUTE, NULL, &queue));
  assert_int_equal(gemms_of_hemm(engine, opened, queue, 200, 0), 0);
  assert_int_equal(gemms_of_hemm(engine, opened, queue, 200, 200), 1);
  assert_int_equal(gemms_of_hemm(engine, opened, queue, 200, 100), 4);
  assert_int_equal(gemms_of_hemm(engine, opened, queue, 1448, 2000), 1);
  assert_int_equal(gemms_of_hemm(engine, opened, queue, 1449, 2000), 0);
  engine->queue_destroy(queue);
  engine->close(opened);
}

/* While the device has no memory for the square, hemm is the vendor's. */
static void no_memory_no_square(void **state) {
  (void)state;
  enum { MOST = 256, PIECE = 16 << 20 };
  const tsr_engine *engine = tsr_engine_find("hip");
  tsr_device_info info[TSR_MAX_DEVICES];
  tsr_engine_state *opened;
  tsr_queue *queue;
  void *piece[MOST];
  int count, pieces = 0;
  OK(engine->open(&(tsr_engine_options){.count = 1}, &opened, info, &count));
  OK(engine->queue_create(opened, 0, TSR_QUEUE_COMPUTE, NULL, &queue));
  while (pieces < MOST && engine->alloc(opened, 0, PIECE, &piece[pieces]) == TSR_OK) pieces++;
  assert_true(pieces > 2 && pieces < MOST);
  engine->free(opened, 0, piece[--pieces]);
  assert_int_equal(gemms_of_hemm(engine, opened, queue, 200, 200), 0);
  while (pieces > 0) engine->free(opened, 0, piece[--pieces]);
  assert_int_equal(gemms_of_hemm(engine, opened, queue, 200, 200), 1);
  engine->queue_destroy(queue);
  engine->close(opened);
}

/* A X = B with one tile: a trsm of one kernel, larger than the part that is left to the vendor. */
static void plans_take_it(void **state) {
  (void)state;
  enum { N = 400 };
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context;
  char *text = NULL;
  double *a = calloc((size_t)N * N, sizeof *a), *b = calloc((size_t)N * N, sizeof *b);
  options.engine = "hip";
  options.devices = "1";
  options.machine = path;
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) a[i + j * N] = i == j ? 2 : 1.0 / (N + i + j);
  for (int i = 0; i < N * N; i++) b[i] = i % 7 - 3;
  OK(tsr_context_create(&options, &context));
  OK(tsr_set_tile(context, N));
  unsigned long before = gemms();
  OK(tsr_dtrsm(context, TSR_COL_MAJOR, TSR_LEFT, TSR_LOWER, TSR_NO_TRANS, TSR_NON_UNIT, N, N, 1, a,
               N, b, N));
  assert_int_equal(gemms() > before, blocks);
  for (int j = 0; j < N; j += 57)
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int k = 0; k <= i; k++) sum += a[i + k * N] * b[k + j * N];
      assert_true(sum - ((i + j * N) % 7 - 3) < 1e-9 && sum - ((i + j * N) % 7 - 3) > -1e-9);
    }
  tsr_plan *plan = NULL;
  OK(tsr_plan_last(context, &plan));
  OK(tsr_plan_print(plan, TSR_TEXT, &text));
  assert_int_equal(strstr(text, "by blocks  trsm") != NULL, blocks);
  free(text);
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  unlink(path);
  free(a);
  free(b);
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_faster_way_is_measured),
      cmocka_unit_test(a_file_keeps_it),
      cmocka_unit_test(plans_take_it),
      cmocka_unit_test(squares_that_fit_are_products),
      cmocka_unit_test(no_memory_no_square),
  };
  if (count != 2) return 2;
  blocks = strcmp(words[1], "1") == 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
