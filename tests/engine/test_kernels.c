/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Every kernel and type of an engine against naive loops. */
/* Slow: 15 s of a core. */
#include "harness.h"
#include "inverse_case.h"
#include "solve_case.h"
#include "unfinite_case.h"

typedef struct bench {
  harness h;
  tsr_queue *queue;
  int blocks;   /* of the kernels' arguments */
  bool inverts; /* trsm is done by INVERT and SOLVE */
} bench;

/* An operand on the device, and pinned memory by way of which it comes and goes: copies with
 * other memory are not asked of an engine. */
typedef struct operand {
  void *pinned, *device;
  size_t bytes;
} operand;

static void copy_to(bench *b, void *to, int to_device, const void *from, int from_device,
                    size_t bytes) {
  tsr_copy_args copy = plain_copy(to, to_device, from, from_device, bytes);
  OK(b->h.engine->copy(b->queue, &copy));
}

static operand put(bench *b, const void *from, size_t bytes) {
  operand put = {take(&b->h, TSR_HOST, bytes), take(&b->h, 0, bytes), bytes};
  if (bytes > 0) memcpy(put.pinned, from, bytes);
  copy_to(b, put.device, 0, put.pinned, TSR_HOST, bytes);
  return put;
}

static void drop(bench *b, const operand *x) {
  b->h.engine->free(b->h.state, 0, x->device);
  b->h.engine->free(b->h.state, TSR_HOST, x->pinned);
}

/* Runs a kernel; a trsm by two kernels, if these are tested. The inverse has a leading dimension of
 * its own. */
static tsr_status run_kernel(bench *b, const tsr_kernel_args *args) {
  if (!b->inverts || args->kernel != TSR_KERNEL_TRSM) return b->h.engine->kernel(b->queue, args);
  int64_t order = args->side == TSR_RIGHT ? args->n : args->m, ld = order + 3;
  void *inverse = take(&b->h, 0, (size_t)(ld * order) * tsr_type_get(args->type)->size);
  tsr_kernel_args make = *args, solve = *args;
  make.kernel = TSR_KERNEL_INVERT;
  make.side = TSR_LEFT;
  make.transa = TSR_NO_TRANS;
  make.m = make.n = make.k = order;
  make.alpha = (tsr_scalar){1, 0};
  make.c = inverse;
  make.ldc = ld;
  solve.kernel = TSR_KERNEL_SOLVE;
  solve.a = inverse;
  solve.lda = ld;
  tsr_status status = b->h.engine->kernel(b->queue, &make);
  if (status == TSR_OK) status = b->h.engine->kernel(b->queue, &solve);
  if (status == TSR_OK) status = drain(&b->h, b->queue, 0);
  b->h.engine->free(b->h.state, 0, inverse);
  return status;
}

static void run_on_engine(void *user, const kernel_case *test) {
  bench *b = user;
  tsr_kernel_args args = test->args;
  operand ma = put(b, args.a, test->bytes[0]), mb = put(b, args.b, test->bytes[1]);
  operand mc = put(b, args.c, test->bytes[2]);
  args.a = ma.device;
  args.b = mb.device;
  args.c = mc.device;
  args.blocks = b->blocks;
  OK(run_kernel(b, &args));
  copy_to(b, mc.pinned, TSR_HOST, mc.device, 0, mc.bytes);
  OK(drain(&b->h, b->queue, 0));
  if (mc.bytes > 0) memcpy(test->args.c, mc.pinned, mc.bytes);
  drop(b, &ma);
  drop(b, &mb);
  drop(b, &mc);
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

static void run_level3(tsr_queue_role role, int count, int64_t most, int blocks) {
  bench b = open_bench(role);
  b.blocks = blocks;
  level3_run(run_on_engine, &b, count, most);
  close_bench(&b);
}

static void test_level3(void **state) {
  (void)state;
  run_level3(TSR_QUEUE_COMPUTE, 8, 24, 0);
}

static void test_level3_larger(void **state) {
  (void)state;
  run_level3(TSR_QUEUE_COMPUTE, 1, 200, 0);
}

/* trmm that adds to C, which no library's does: large triangles and many lines, which are done in
 * parts. */
static void test_triangles_added(void **state) {
  (void)state;
  static const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  for (int f = 0; f < 12; f++) {
    tsr_kernel_args flags = {.kernel = TSR_KERNEL_TRMM, .type = f % 2 ? TSR_D : TSR_Z};
    flags.transa = ops[f / 4];
    flags.side = f & 1 ? TSR_RIGHT : TSR_LEFT;
    flags.uplo = f & 2 ? TSR_UPPER : TSR_LOWER;
    flags.diag = f & 4 ? TSR_UNIT : TSR_NON_UNIT;
    flags.beta.re = -1.5;
    kernel_case large = solve_make(flags, 600, 3);
    case_run(run_on_engine, &b, &large, level3_check);
    if (f % 3 > 0) continue;
    kernel_case many = solve_make(flags, 130, 1600);
    case_run(run_on_engine, &b, &many, level3_check);
  }
  close_bench(&b);
}

static bool blocks_exist(void) {
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  bool blocks = b.h.engine->traits.blocks;
  close_bench(&b);
  return blocks;
}

/* By products of blocks: triangles are halved up to four times, into parts of unlike orders. */
static void test_blocks(void **state) {
  (void)state;
  if (!blocks_exist()) skip();
  run_level3(TSR_QUEUE_COMPUTE, 3, 40, 3);
}

/* symm, hemm and trmm whose triangles become whole squares: of several tiles of the kernel that
 * makes them, whole and halved. */
static void test_blocks_filled(void **state) {
  (void)state;
  static const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  static const int blocks[] = {TSR_FILLED_MOST, 48};
  if (!blocks_exist()) skip();
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  for (int i = 0; i < 2; i++)
    for (int t = 0; t < 4; t++) {
      b.blocks = blocks[i];
      level3_run_flags(run_on_engine, &b, TSR_KERNEL_SYMM, types[t], 4, 110);
      level3_run_flags(run_on_engine, &b, TSR_KERNEL_HEMM, types[t], 4, 110);
      level3_run_flags(run_on_engine, &b, TSR_KERNEL_TRMM, types[t], 2, 110);
    }
  close_bench(&b);
}

/* trmm of a B that is not finite: whole squares and many, of one tile and several, the last one
 * smaller. */
static void test_blocks_unfinite(void **state) {
  (void)state;
  static const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  static const int blocks[] = {TSR_FILLED_MOST, 48, 5};
  if (!blocks_exist()) skip();
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  for (int i = 0; i < 3; i++)
    for (int t = 0; t < 4; t++) {
      b.blocks = blocks[i];
      unfinite_run(run_on_engine, &b, types[t], 2, 110);
    }
  close_bench(&b);
}

/* Trapezoids, whole and by squares. */
static void test_trapezoids(void **state) {
  (void)state;
  bool sampled = getenv("TSR_TEST_SAMPLE") != NULL;
  static const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  for (int i = 0; i < 2; i++)
    for (int t = 0; t < 4; t++) {
      b.blocks = i;
      int64_t least = i == 0 ? 30 : 1024;
      if (i == 1 && !b.h.engine->traits.blocks) continue;
      while (i == 1 && tsr_kernel_square(types[t], least, least) == 0) least *= 2;
      cases_run_trapezoids(run_on_engine, &b, types[t], least, sampled && i == 1 ? 3 : 1);
    }
  close_bench(&b);
}

/* trmm whose squares do not fit the memory for them, which is halved first. */
static void test_blocks_halved(void **state) {
  (void)state;
  if (!blocks_exist()) skip();
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  b.blocks = 2048;
  for (int f = 0; f < 4; f++) {
    tsr_kernel_args flags = {.kernel = TSR_KERNEL_TRMM, .type = TSR_D, .transa = TSR_NO_TRANS};
    flags.side = f & 1 ? TSR_RIGHT : TSR_LEFT;
    flags.uplo = f & 2 ? TSR_UPPER : TSR_LOWER;
    kernel_case one = solve_make(flags, 2100, 2);
    unfinite_put(&one);
    case_run(run_on_engine, &b, &one, unfinite_check);
  }
  close_bench(&b);
}

/* trmm that adds to C, with more lines than the scratch memory has sums for. */
static void test_blocks_lines(void **state) {
  (void)state;
  if (!blocks_exist()) skip();
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  tsr_kernel_args flags = {.kernel = TSR_KERNEL_TRMM, .type = TSR_D, .transa = TSR_TRANS};
  flags.side = TSR_LEFT;
  flags.uplo = TSR_LOWER;
  flags.beta.re = 0.75;
  kernel_case one = solve_make(flags, 64, 120000);
  unfinite_put(&one);
  case_run(run_on_engine, &b, &one, unfinite_check_lines);
  close_bench(&b);
}

/* Two runs of one give the same bits; the largest square that is made, of few lines. */
static void test_blocks_again(void **state) {
  (void)state;
  if (!blocks_exist()) skip();
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  b.blocks = TSR_FILLED_MOST;
  for (int side = 0; side < 2; side++) {
    tsr_kernel_args flags = {.kernel = TSR_KERNEL_HEMM, .type = TSR_Z, .uplo = TSR_LOWER};
    flags.side = side ? TSR_RIGHT : TSR_LEFT;
    kernel_case one = solve_make(flags, 1448, 2);
    size_t bytes = one.bytes[2];
    char *before = malloc(bytes), *first = malloc(bytes);
    assert_true(before != NULL && first != NULL);
    memcpy(before, one.args.c, bytes);
    run_on_engine(&b, &one);
    level3_check(&one, before);
    memcpy(first, one.args.c, bytes);
    memcpy(one.args.c, before, bytes);
    run_on_engine(&b, &one);
    assert_memory_equal(first, one.args.c, bytes);
    free(before);
    free(first);
    case_free(&one);
  }
  close_bench(&b);
}

/* The CPU's BLAS, which is the host engine's, has nothing of its own there: a few will do. So they
 * have to where the CPU does a device's arithmetic: TSR_TEST_SAMPLE is one in how many (1). */
static void test_solves(void **state) {
  (void)state;
  const char *sample = getenv("TSR_TEST_SAMPLE");
  int every = harness_emulates() ? 149 : sample != NULL ? atoi(sample) : 1;
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  solve_run(run_on_engine, &b, every);
  if (every == 1) solve_run_long(run_on_engine, &b);
  close_bench(&b);
}

/* The same, and small triangles with few lines, by an inverse that other solutions could use. */
static void test_inverses(void **state) {
  (void)state;
  static const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  const char *sample = getenv("TSR_TEST_SAMPLE");
  int every = harness_emulates() ? 149 : sample != NULL ? atoi(sample) : 1;
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  b.inverts = true;
  for (int t = 0; t < 4; t++) level3_run_flags(run_on_engine, &b, TSR_KERNEL_TRSM, types[t], 4, 80);
  solve_run(run_on_engine, &b, every);
  if (every == 1) solve_run_long(run_on_engine, &b);
  close_bench(&b);
}

/* Inverses by themselves, element by element. */
static void test_exact_inverses(void **state) {
  (void)state;
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  inverse_run(run_on_engine, &b, harness_emulates() || getenv("TSR_TEST_SAMPLE") != NULL);
  close_bench(&b);
}

/* A trsm that inverts its triangle gets the same bits as the two kernels. The host engine's does
 * not invert. */
static void test_same_bits(void **state) {
  (void)state;
  if (harness_emulates()) skip();
  bench b = open_bench(TSR_QUEUE_COMPUTE);
  for (int f = 0; f < SOLVE_FLAGS; f += 5)
    for (int64_t order = 256; order <= 1024; order += 384) {
      kernel_case one = solve_make(solve_flags(TSR_D, f), order, 1024);
      size_t bytes = one.bytes[2];
      char *before = malloc(bytes), *whole = malloc(bytes);
      assert_true(before != NULL && whole != NULL);
      memcpy(before, one.args.c, bytes);
      b.inverts = false;
      run_on_engine(&b, &one);
      memcpy(whole, one.args.c, bytes);
      memcpy(one.args.c, before, bytes);
      b.inverts = true;
      run_on_engine(&b, &one);
      assert_memory_equal(whole, one.args.c, bytes);
      free(before);
      free(whole);
      case_free(&one);
    }
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_compute),
      cmocka_unit_test(test_larger),
      cmocka_unit_test(test_tall),
      cmocka_unit_test(test_add_queue),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_blocks_filled),
      cmocka_unit_test(test_blocks_unfinite),
      cmocka_unit_test(test_blocks_halved),
      cmocka_unit_test(test_blocks_lines),
      cmocka_unit_test(test_blocks_again),
      cmocka_unit_test(test_level3),
      cmocka_unit_test(test_level3_larger),
      cmocka_unit_test(test_triangles_added),
      cmocka_unit_test(test_solves),
      cmocka_unit_test(test_inverses),
      cmocka_unit_test(test_exact_inverses),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_trapezoids),
  };
  cmocka_set_test_filter(getenv("TSR_TEST_ONLY")); /* a pattern of names; none: all */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
