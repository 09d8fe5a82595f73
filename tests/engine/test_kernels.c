/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Every kernel and type of an engine against naive loops. */
#include "harness.h"
#include "solve_case.h"

typedef struct bench {
  harness h;
  tsr_queue *queue;
} bench;

static void *put(bench *b, const void *from, size_t bytes) {
  void *to = take(&b->h, 0, bytes);
  tsr_copy_args copy = plain_copy(to, 0, from, TSR_HOST, bytes);
  OK(b->h.engine->copy(b->queue, &copy));
  return to;
}

static void run_on_engine(void *user, const kernel_case *test) {
  bench *b = user;
  tsr_kernel_args args = test->args;
  void *ma = put(b, args.a, test->bytes[0]), *mb = put(b, args.b, test->bytes[1]);
  args.a = ma;
  args.b = mb;
  args.c = put(b, test->args.c, test->bytes[2]);
  OK(b->h.engine->kernel(b->queue, &args));
  tsr_copy_args copy = plain_copy(test->args.c, TSR_HOST, args.c, 0, test->bytes[2]);
  OK(b->h.engine->copy(b->queue, &copy));
  OK(drain(&b->h, b->queue, 0));
  b->h.engine->free(b->h.state, 0, ma);
  b->h.engine->free(b->h.state, 0, mb);
  b->h.engine->free(b->h.state, 0, args.c);
}

static bench open_bench(tsr_queue_role role) {
  bench b = {.h = harness_open(&(tsr_engine_options){.count = 1})};
  b.queue = queue_of(&b.h, 0, role);
  return b;
}

static void close_bench(bench *b) {
  b->h.engine->queue_destroy(b->queue);
  harness_close(&b->h);
}

static void run_types(tsr_queue_role role, int count, int64_t most) {
  bench b = open_bench(role);
  for (int t = 0; t < TSR_TYPE_COUNT; t++)
    cases_run(run_on_engine, &b, tsr_type_at(t)->type, count, most);
  close_bench(&b);
}

static void test_compute(void **state) {
  (void)state;
  run_types(TSR_QUEUE_COMPUTE, 60, 40);
}

static void test_larger(void **state) {
  (void)state;
  run_types(TSR_QUEUE_COMPUTE, 3, 300);
}

static void test_tall(void **state) {
  (void)state;
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  for (int t = 0; t < TSR_TYPE_COUNT; t++)
    cases_run_tall(run_on_engine, &b, tsr_type_at(t)->type, 4);
  close_bench(&b);
}

static void test_add_queue(void **state) {
  (void)state;
  run_types(TSR_QUEUE_ADD, 12, 20);
}

static void run_level3(tsr_queue_role role, int count, int64_t most) {
  bench b = open_bench(role);
  level3_run(run_on_engine, &b, count, most);
  close_bench(&b);
}

static void test_level3(void **state) {
  (void)state;
  run_level3(TSR_QUEUE_COMPUTE, 8, 24);
}

static void test_level3_larger(void **state) {
  (void)state;
  run_level3(TSR_QUEUE_COMPUTE, 1, 200);
}

/* The CPU's BLAS, which is the host engine's, has nothing of its own there: a few will do. */
static void test_solves(void **state) {
  (void)state;
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  solve_run(run_on_engine, &b, harness_emulates() ? 149 : 1);
  if (!harness_emulates()) solve_run_long(run_on_engine, &b);
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_compute), cmocka_unit_test(test_larger),
      cmocka_unit_test(test_tall),    cmocka_unit_test(test_add_queue),
      cmocka_unit_test(test_level3),  cmocka_unit_test(test_level3_larger),
      cmocka_unit_test(test_solves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
