/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A thread that is cancelled inside a function of the library ends behind it. */
#include "front.h"

#include "base/status.h"
#include "cancelled.h"
#include "tessera_papers.h"

/* ---- Every function that can fail ---- */

#define EVERY_CALL(CALL)                                                                      \
  CALL(tsr_context_create(NULL, NULL))                                                        \
  CALL(tsr_sync(NULL))                                                                        \
  CALL(tsr_sync_home(NULL))                                                                   \
  CALL(tsr_event_record(NULL, NULL))                                                          \
  CALL(tsr_event_query(NULL, NULL, NULL))                                                     \
  CALL(tsr_event_query_between(NULL, NULL, NULL, NULL))                                       \
  CALL(tsr_event_wait(NULL, NULL))                                                            \
  CALL(tsr_set_stream(NULL, 0, NULL))                                                         \
  CALL(tsr_set_strategy(NULL, NULL))                                                          \
  CALL(tsr_set_tile(NULL, 0))                                                                 \
  CALL(tsr_print_knobs(NULL))                                                                 \
  CALL(tsr_set_progress(NULL, NULL, NULL))                                                    \
  CALL(tsr_set_arithmetic(NULL, NULL))                                                        \
  CALL(tsr_trim(NULL))                                                                        \
  CALL(tsr_set_budget(NULL, 0, 0))                                                            \
  CALL(tsr_get_budget(NULL, 0, NULL))                                                         \
  CALL(tsr_device_number(NULL, 0, NULL))                                                      \
  CALL(tsr_home_find(NULL, NULL, 0, NULL))                                                    \
  CALL(tsr_context_describe(NULL, NULL))                                                      \
  CALL(tsr_blas_describe(NULL))                                                               \
  CALL(tsr_engine_describe(NULL, NULL))                                                       \
  CALL(tsr_devices_describe(NULL, NULL))                                                      \
  CALL(tsr_kept_describe(NULL, NULL))                                                         \
  CALL(tsr_topology_describe(NULL, NULL))                                                     \
  CALL(tsr_emulation_find(NULL, TSR_D, 0, 0, 0, 0, NULL))                                     \
  CALL(tsr_emulation_predict(NULL, NULL, NULL, NULL, NULL, NULL))                             \
  CALL(tsr_emulation_plan(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL))                    \
  CALL(tsr_emulation_run(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL))                     \
  CALL(tsr_copy_rate(NULL, 0, 0, 0, 0, NULL))                                                 \
  CALL(tsr_malloc(NULL, 0, 0, NULL))                                                          \
  CALL(tsr_memcpy(NULL, NULL, NULL, 0))                                                       \
  CALL(tsr_register(NULL, NULL, 0))                                                           \
  CALL(tsr_unregister(NULL, NULL))                                                            \
  CALL(tsr_gemm(NULL, TSR_D, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0))        \
  CALL(tsr_gemm_async(NULL, TSR_D, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0))  \
  CALL(tsr_gemmt(NULL, TSR_D, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0))       \
  CALL(tsr_symm(NULL, TSR_D, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0))           \
  CALL(tsr_hemm(NULL, TSR_D, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0))           \
  CALL(tsr_syrk(NULL, TSR_D, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, NULL, 0))                    \
  CALL(tsr_herk(NULL, TSR_D, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, NULL, 0))                    \
  CALL(tsr_syr2k(NULL, TSR_D, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0))          \
  CALL(tsr_her2k(NULL, TSR_D, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0))          \
  CALL(tsr_trmm(NULL, TSR_D, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0))                    \
  CALL(tsr_trsm(NULL, TSR_D, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0))                    \
  CALL(tsr_gemmt_async(NULL, TSR_D, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0)) \
  CALL(tsr_symm_async(NULL, TSR_D, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0))     \
  CALL(tsr_hemm_async(NULL, TSR_D, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0))     \
  CALL(tsr_syrk_async(NULL, TSR_D, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, NULL, 0))              \
  CALL(tsr_herk_async(NULL, TSR_D, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, NULL, 0))              \
  CALL(tsr_syr2k_async(NULL, TSR_D, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0))    \
  CALL(tsr_her2k_async(NULL, TSR_D, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0))    \
  CALL(tsr_trmm_async(NULL, TSR_D, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0))              \
  CALL(tsr_trsm_async(NULL, TSR_D, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, 0))              \
  CALL(tsr_potrf(NULL, TSR_D, 0, 0, 0, NULL, 0, NULL))                                        \
  CALL(tsr_potrf_async(NULL, TSR_D, 0, 0, 0, NULL, 0, NULL))                                  \
  CALL(tsr_potrs(NULL, TSR_D, 0, 0, 0, 0, NULL, 0, NULL, 0))                                  \
  CALL(tsr_potrs_async(NULL, TSR_D, 0, 0, 0, 0, NULL, 0, NULL, 0))                            \
  CALL(tsr_posv(NULL, TSR_D, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL))                             \
  CALL(tsr_posv_async(NULL, TSR_D, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL))                       \
  CALL(tsr_trtrs(NULL, TSR_D, 0, 0, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL))                      \
  CALL(tsr_trtrs_async(NULL, TSR_D, 0, 0, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL))                \
  CALL(tsr_potri(NULL, TSR_D, 0, 0, 0, NULL, 0, NULL))                                        \
  CALL(tsr_potri_async(NULL, TSR_D, 0, 0, 0, NULL, 0, NULL))                                  \
  CALL(tsr_trtri(NULL, TSR_D, 0, 0, 0, 0, NULL, 0, NULL))                                     \
  CALL(tsr_trtri_async(NULL, TSR_D, 0, 0, 0, 0, NULL, 0, NULL))                               \
  CALL(tsr_solve_run(NULL, NULL, NULL, NULL))                                                 \
  CALL(tsr_solve_run_async(NULL, NULL, NULL, NULL))                                           \
  CALL(tsr_pocon(NULL, TSR_D, 0, 0, 0, NULL, 0, 0, NULL))                                     \
  CALL(tsr_factor_run(NULL, NULL, NULL))                                                      \
  CALL(tsr_factor_run_async(NULL, NULL, NULL))                                                \
  CALL(tsr_plan_factor(NULL, NULL, (tsr_home){TSR_PAGEABLE, 0}, NULL))                        \
  CALL(tsr_level3_run(NULL, NULL, NULL, NULL, NULL, NULL, NULL))                              \
  CALL(tsr_level3_run_async(NULL, NULL, NULL, NULL, NULL, NULL, NULL))                        \
  CALL(tsr_coherent_async(NULL, 0, 0, 0, NULL, 0, 0))                                         \
  CALL(tsr_coherent(NULL, 0, 0, 0, NULL, 0, 0))                                               \
  CALL(tsr_invalidate(NULL, 0, 0, NULL, 0, 0))                                                \
  CALL(tsr_release(NULL, 0, 0, NULL, 0, 0))                                                   \
  CALL(tsr_map_1d_block_cyclic(NULL, 0, 0, NULL, 0, 0, 0))                                    \
  CALL(tsr_map_2d_block_cyclic(NULL, 0, 0, NULL, 0, 0, 0, 0, 0, 0))                           \
  CALL(tsr_map_block_cyclic(NULL, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0))                           \
  CALL(tsr_distribute_block_cyclic_async(NULL, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0))              \
  CALL(tsr_put_async(NULL, 0, 0, NULL, 0, 0, 0))                                              \
  CALL(tsr_where(NULL, 0, 0, NULL, 0, 0, NULL, NULL, NULL, NULL))                             \
  CALL(tsr_distribute_1d_block_cyclic_async(NULL, 0, 0, NULL, 0, 0, 0))                       \
  CALL(tsr_distribute_2d_block_cyclic_async(NULL, 0, 0, NULL, 0, 0, 0, 0, 0, 0))              \
  CALL(tsr_context_traffic(NULL, NULL))                                                       \
  CALL(tsr_device_traffic(NULL, 0, NULL))                                                     \
  CALL(tsr_device_energy(NULL, 0, NULL))                                                      \
  CALL(tsr_timeline_begin(NULL))                                                              \
  CALL(tsr_timeline_note(NULL, NULL, 0))                                                      \
  CALL(tsr_timeline_end(NULL, NULL))                                                          \
  CALL(tsr_plan_gemm(NULL, TSR_D, 0, 0, 0, 0, 0, 0, NULL, 0, 0, NULL, 0, NULL, NULL))         \
  CALL(tsr_plan_level3(NULL, NULL, NULL, NULL, NULL, NULL))                                   \
  CALL(tsr_plan_execute(NULL, NULL, NULL, NULL, NULL, NULL))                                  \
  CALL(tsr_plan_predict(NULL, NULL))                                                          \
  CALL(tsr_plan_floor(NULL, 0, NULL))                                                         \
  CALL(tsr_plan_print(NULL, 0, NULL))                                                         \
  CALL(tsr_plan_last(NULL, NULL))                                                             \
  CALL(tsr_plan_accumulation(NULL, TSR_D, 0, 0, 0, 0, NULL, 0, NULL))                         \
  CALL(tsr_plan_choi(NULL, TSR_D, 0, 0, 0, NULL))                                             \
  CALL(tsr_plan_uncut(0, 0, 0, 0, 0, NULL))                                                   \
  CALL(tsr_plan_parsec(NULL, TSR_D, 0, 0, 0, 0, 0, 0, NULL))                                  \
  CALL(tsr_capture_begin(NULL))                                                               \
  CALL(tsr_capture_end(NULL, NULL))                                                           \
  CALL(tsr_capture_run_async(NULL))                                                           \
  CALL(tsr_capture_move(NULL, NULL, 0, NULL))                                                 \
  CALL(tsr_capture_print(NULL, 0, NULL))                                                      \
  CALL(tsr_machine_probe(NULL, NULL, NULL))                                                   \
  CALL(tsr_machine_print(NULL, 0, NULL))                                                      \
  CALL(tsr_machine_list(NULL))

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

static void fail_alone(void *argument) {
  (void)argument;
  (void)tsr_fail(TSR_ERR_ARGUMENT, "for the log");
}

/* Without which the next test could not fail. */
static void the_log_is_a_point_of_cancellation(void **state) {
  (void)state;
  int kept = hide_stderr();
  int survived = survives(fail_alone, NULL);
  show_stderr(kept);
  assert_false(survived);
}

static void no_function_is_left_half_way(void **state) {
  (void)state;
  for (int i = 0; i < CALLS; ++i) assert_not_left(texts[i], make_call, i);
}

static void the_list_is_complete(void **state) {
  (void)state;
  static const char *const headers[] = {"tessera.h", "tessera_model.h", "tessera_papers.h", NULL};
  assert_names_all(headers, texts, CALLS);
}

/* ---- Functions that wait ---- */

enum { N = 96 };

typedef struct scene {
  tsr_context *context;
  double *a, *b, *c;
  tsr_status status;
  void *made;
} scene;

static void set_scene(scene *s) {
  *s = (scene){.context = front_context(),
               .a = front_matrix(N * N, 1),
               .b = front_matrix(N * N, 2),
               .c = front_matrix(N * N, 3),
               .status = TSR_ERR_INTERNAL};
}

static void clear_scene(scene *s) {
  tsr_context_destroy(s->context);
  free(s->a), free(s->b), free(s->c);
}

static void assert_product(const scene *s) {
  double *expected = front_matrix(N * N, 3);
  assert_int_equal(s->status, TSR_OK);
  front_reference(N, 2, s->a, s->b, -1, expected);
  front_assert_equal(s->c, expected, N * N);
  free(expected);
}

static void multiply(void *argument) {
  scene *s = argument;
  s->status = front_dgemm(s->context, N, 2, s->a, s->b, -1, s->c);
}

/* The thread goes when C is complete, and leaves a context that works. */
static void a_blocking_call_ends_first(void **state) {
  (void)state;
  scene s;
  set_scene(&s);
  assert_true(survives(multiply, &s));
  assert_product(&s);
  front_assert_works(s.context);
  clear_scene(&s);
}

/* What returns nothing waits, too. */
static void destroy_all(void *argument) {
  scene *s = argument;
  tsr_plan *plan = NULL;
  tsr_capture *capture = NULL;
  s->status = tsr_plan_last(s->context, &plan);
  if (s->status == TSR_OK) s->status = tsr_capture_begin(s->context);
  if (s->status == TSR_OK) s->status = front_dgemm_async(s->context, N, 2, s->a, s->b, -1, s->c);
  if (s->status == TSR_OK) s->status = tsr_capture_end(s->context, &capture);
  if (s->status == TSR_OK) s->status = tsr_capture_run_async(capture);
  tsr_capture_destroy(capture);
  tsr_plan_destroy(plan);
  tsr_free(s->context, s->made);
  tsr_context_destroy(s->context);
  s->context = NULL;
}

static void destroying_ends_first(void **state) {
  (void)state;
  scene s;
  set_scene(&s);
  assert_ok(tsr_malloc(s.context, TSR_HOST, 1 << 16, &s.made));
  front_assert_works(s.context);
  assert_true(survives(destroy_all, &s));
  assert_int_equal(s.status, TSR_OK);
  clear_scene(&s);
}

/* The caller's own choice is as it was. */
static void what_was_off_stays_off(void **state) {
  (void)state;
  scene s;
  int found = -1;
  set_scene(&s);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  multiply(&s);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &found);
  assert_int_equal(found, PTHREAD_CANCEL_DISABLE);
  multiply(&s);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &found);
  assert_int_equal(found, PTHREAD_CANCEL_ENABLE);
  clear_scene(&s);
}

int main(void) {
  front_clear_environment();
  setenv("TESSERA_LOG", "error", 1);
  alarm(300); /* a lock that was left held is waited for without end */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_log_is_a_point_of_cancellation),
      cmocka_unit_test(no_function_is_left_half_way),
      cmocka_unit_test(the_list_is_complete),
      cmocka_unit_test(a_blocking_call_ends_first),
      cmocka_unit_test(destroying_ends_first),
      cmocka_unit_test(what_was_off_stays_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
