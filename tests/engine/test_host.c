/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What the host engine offers to tests: checking, limits, failures on demand. */
#include "harness.h"

#include <math.h>

#include "base/alloc.h"
#include "base/types.h"
#include "engine/host/host.h"
#include "tessera_model.h"

enum { N = 32 };
static const size_t bytes = N * N * sizeof(double);

/* One device, two queues, tiles a, b, c of N x N doubles, and host memory for one. */
typedef struct stage {
  harness h;
  tsr_queue *in, *compute;
  tsr_queue_event *here;
  double *host;
  void *a, *b, *c;
} stage;

static stage stage_open(tsr_engine_options options) {
  if (!options.count) options.count = 2;
  stage s = {0};
  OK(tsr_engine_host.open(&options, &s.h.state, s.h.info, &s.h.count));
  s.h.engine = &tsr_engine_host;
  s.in = queue_of(&s.h, 0, TSR_QUEUE_IN);
  s.compute = queue_of(&s.h, 0, TSR_QUEUE_COMPUTE);
  s.here = event_of(&s.h, 0, false);
  s.host = calloc(1, bytes);
  s.a = take(&s.h, 0, bytes);
  s.b = take(&s.h, 0, bytes);
  s.c = take(&s.h, 0, bytes);
  return s;
}

static void stage_close(stage *s) {
  s->h.engine->queue_destroy(s->in);
  s->h.engine->queue_destroy(s->compute);
  s->h.engine->event_destroy(s->here);
  s->h.engine->close(s->h.state); /* and what was allocated */
  free(s->host);
}

static void put(stage *s, void *tile) {
  tsr_copy_args copy = plain_copy(tile, 0, s->host, TSR_HOST, bytes);
  OK(s->h.engine->copy(s->in, &copy));
}

static tsr_kernel_args gemm_of(const stage *s, double beta) {
  return (tsr_kernel_args){.kernel = TSR_KERNEL_GEMM,
                           .type = TSR_D,
                           .transa = TSR_NO_TRANS,
                           .transb = TSR_TRANS,
                           .m = N,
                           .n = N,
                           .k = N,
                           .alpha = {1, 0},
                           .beta = {beta, 0},
                           .a = s->a,
                           .b = s->b,
                           .c = s->c,
                           .lda = N,
                           .ldb = N,
                           .ldc = N};
}

static void multiply(stage *s, double beta) {
  tsr_kernel_args args = gemm_of(s, beta);
  OK(s->h.engine->kernel(s->compute, &args));
}

static void join(stage *s) {
  OK(s->h.engine->record(s->in, s->here));
  OK(s->h.engine->wait(s->compute, s->here));
}

static void expect(stage *s, tsr_queue *queue, tsr_status status, const char *words) {
  assert_int_equal(drain(&s->h, queue, 0), status);
  if (words && !strstr(tsr_message(), words))
    fail_msg("\"%s\" is not in: %s", words, tsr_message());
}

/* ---- Checking mode -------------------------------------------------------- */

static void test_poison_is_nan(void **state) {
  (void)state;
  double d;
  float f;
  tsr_engine_host_poison(&d, sizeof d);
  tsr_engine_host_poison(&f, sizeof f);
  assert_true(isnan(d) && isnan(f));
  assert_true(isnan(tsr_half_to_float(TSR_POISON)) && isnan(tsr_bfloat_to_float(TSR_POISON)));
}

static void test_right_passes(void **state) {
  (void)state;
  stage s = stage_open((tsr_engine_options){.check = true});
  put(&s, s.a);
  put(&s, s.b);
  join(&s);
  multiply(&s, 0); /* does not read c */
  multiply(&s, 1);
  expect(&s, s.compute, TSR_OK, NULL);
  stage_close(&s);
}

static void test_unwritten_operand(void **state) {
  (void)state;
  stage s = stage_open((tsr_engine_options){.check = true});
  put(&s, s.a);
  join(&s);
  multiply(&s, 0);
  expect(&s, s.compute, TSR_ERR_CHECK, "b,");
  expect(&s, s.compute, TSR_ERR_CHECK, "b,"); /* it stays */
  stage_close(&s);
}

static void test_unwritten_c(void **state) {
  (void)state;
  stage s = stage_open((tsr_engine_options){.check = true});
  put(&s, s.a);
  put(&s, s.b);
  join(&s);
  multiply(&s, 0.5);
  expect(&s, s.compute, TSR_ERR_CHECK, "c,");
  stage_close(&s);
}

/* One element of one column is missing. */
static void test_unwritten_element(void **state) {
  (void)state;
  static const tsr_type types[] = {TSR_D, TSR_S, TSR_H, TSR_B, TSR_C, TSR_Z};
  for (int t = 0; t < 6; t++) {
    stage s = stage_open((tsr_engine_options){.check = true});
    size_t size = tsr_type_get(types[t])->size;
    put(&s, s.a);
    put(&s, s.b);
    expect(&s, s.in, TSR_OK, NULL);
    tsr_engine_host_poison((char *)s.b + 5 * size, size);
    join(&s);
    tsr_kernel_args args = gemm_of(&s, 0);
    args.type = types[t];
    args.m = args.n = args.k = args.lda = args.ldb = args.ldc = 8;
    OK(s.h.engine->kernel(s.compute, &args));
    expect(&s, s.compute, TSR_ERR_CHECK, "b,");
    stage_close(&s);
  }
}

static void test_unwritten_copy(void **state) {
  (void)state;
  stage s = stage_open((tsr_engine_options){.check = true});
  void *other = take(&s.h, 1, bytes);
  tsr_copy_args copy = plain_copy(other, 1, s.a, 0, bytes);
  OK(s.h.engine->copy(s.in, &copy));
  expect(&s, s.in, TSR_ERR_CHECK, "source");
  stage_close(&s);
}

/* Poison once more: what a former call left is not to be read. */
static void test_poison_again(void **state) {
  (void)state;
  stage s = stage_open((tsr_engine_options){.check = true});
  put(&s, s.a);
  put(&s, s.b);
  join(&s);
  multiply(&s, 0);
  expect(&s, s.compute, TSR_OK, NULL);
  tsr_engine_host_poison(s.a, bytes);
  multiply(&s, 0);
  expect(&s, s.compute, TSR_ERR_CHECK, "a,");
  stage_close(&s);
}

/* ---- Checking mode: triangles --------------------------------------------- */

enum { ORDER = 8 }; /* that many fit into tiles of N x N doubles in every type */

/* A kernel of ORDER x ORDER matrices that are written but for one element (or the imaginary half of
 * it), of which the check must say what is told: NULL that nothing is wrong. */
typedef struct triangle_case {
  tsr_kernel kernel;
  tsr_type type;
  tsr_uplo uplo;
  tsr_diag diag;
  double alpha, beta;
  char operand; /* which is not wholly written */
  int row, column;
  bool imaginary; /* only that half */
  const char *words;
} triangle_case;

static void spoil(stage *s, const triangle_case *t) {
  size_t size = tsr_type_get(t->type)->size, half = t->imaginary ? size / 2 : 0;
  char *tile = t->operand == 'a' ? s->a : t->operand == 'b' ? s->b : s->c;
  char *at = tile + (size_t)(t->row + t->column * ORDER) * size + half;
  tsr_engine_host_poison(at, size - half);
}

static void check_triangle(const triangle_case *t) {
  stage s = stage_open((tsr_engine_options){.check = true});
  tsr_kernel_args args = gemm_of(&s, t->beta);
  put(&s, s.a);
  put(&s, s.b);
  put(&s, s.c);
  expect(&s, s.in, TSR_OK, NULL);
  spoil(&s, t);
  join(&s);
  args.kernel = t->kernel;
  args.type = t->type;
  args.transb = TSR_NO_TRANS;
  args.uplo = t->uplo;
  args.diag = t->diag;
  args.alpha.re = t->alpha;
  args.m = args.n = args.k = args.lda = args.ldb = args.ldc = ORDER;
  OK(s.h.engine->kernel(s.compute, &args));
  expect(&s, s.compute, t->words ? TSR_ERR_CHECK : TSR_OK, t->words);
  stage_close(&s);
}

static void check_triangles(const triangle_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) check_triangle(&cases[i]);
}

static void test_triangle_of_a(void **state) {
  (void)state;
  static const triangle_case cases[] = {
      {TSR_KERNEL_SYMM, TSR_D, TSR_LOWER, 0, 1, 0, 'a', 2, 5, false, NULL},
      {TSR_KERNEL_SYMM, TSR_D, TSR_LOWER, 0, 1, 0, 'a', 5, 2, false, "a,"},
      {TSR_KERNEL_SYMM, TSR_S, TSR_UPPER, 0, 1, 0, 'a', 5, 2, false, NULL},
      {TSR_KERNEL_SYMM, TSR_S, TSR_UPPER, 0, 1, 0, 'a', 2, 5, false, "a,"},
      {TSR_KERNEL_SYMM, TSR_C, TSR_UPPER, 0, 1, 0, 'a', 5, 5, true, "a,"},
      {TSR_KERNEL_SYMM, TSR_D, TSR_LOWER, 0, 0, 0, 'a', 5, 2, false, NULL},
      {TSR_KERNEL_SYMM, TSR_D, TSR_LOWER, 0, 1, 0, 'b', 0, 7, false, "b,"},
      {TSR_KERNEL_SYMM, TSR_D, TSR_LOWER, 0, 1, 1, 'c', 0, 7, false, "c,"},
      {TSR_KERNEL_HEMM, TSR_C, TSR_LOWER, 0, 1, 0, 'a', 5, 5, true, NULL},
      {TSR_KERNEL_HEMM, TSR_Z, TSR_UPPER, 0, 1, 0, 'a', 5, 5, false, "a,"},
      {TSR_KERNEL_HEMM, TSR_Z, TSR_LOWER, 0, 1, 0, 'a', 6, 5, true, "a,"},
      {TSR_KERNEL_TRMM, TSR_D, TSR_LOWER, 0, 1, 0, 'a', 0, 7, false, NULL},
      {TSR_KERNEL_TRMM, TSR_D, TSR_LOWER, 0, 1, 0, 'a', 7, 7, false, "a,"},
      {TSR_KERNEL_TRMM, TSR_D, TSR_LOWER, TSR_UNIT, 1, 0, 'a', 7, 7, false, NULL},
      {TSR_KERNEL_TRMM, TSR_D, TSR_UPPER, TSR_UNIT, 1, 0, 'a', 6, 7, false, "a,"},
      {TSR_KERNEL_TRMM, TSR_D, TSR_UPPER, 0, 1, 0, 'b', 7, 0, false, "b,"},
      {TSR_KERNEL_TRMM, TSR_D, TSR_UPPER, 0, 1, 0, 'c', 7, 0, false, NULL},
      {TSR_KERNEL_TRMM, TSR_D, TSR_UPPER, 0, 1, 1, 'c', 7, 0, false, "c,"},
      {TSR_KERNEL_TRSM, TSR_D, TSR_UPPER, 0, 1, 0, 'c', 7, 0, false, "c,"},
      {TSR_KERNEL_TRSM, TSR_Z, TSR_UPPER, TSR_UNIT, 1, 0, 'a', 0, 0, false, NULL},
      {TSR_KERNEL_TRSM, TSR_D, TSR_LOWER, TSR_UNIT, 1, 0, 'a', 1, 0, false, "a,"},
      {TSR_KERNEL_TRSM, TSR_D, TSR_LOWER, TSR_UNIT, 0, 1, 'c', 1, 0, false, NULL},
      {TSR_KERNEL_TRSM, TSR_D, TSR_LOWER, TSR_UNIT, 1, 0, 'b', 1, 0, false, NULL},
  };
  check_triangles(cases, sizeof cases / sizeof *cases);
}

static void test_triangle_of_c(void **state) {
  (void)state;
  static const triangle_case cases[] = {
      {TSR_KERNEL_SYRK, TSR_D, TSR_LOWER, 0, 1, 1, 'c', 0, 1, false, NULL},
      {TSR_KERNEL_SYRK, TSR_D, TSR_LOWER, 0, 1, 1, 'c', 1, 0, false, "c,"},
      {TSR_KERNEL_SYRK, TSR_D, TSR_UPPER, 0, 1, 0.5, 'c', 7, 7, false, "c,"},
      {TSR_KERNEL_SYRK, TSR_D, TSR_UPPER, 0, 1, 0, 'c', 7, 7, false, NULL},
      {TSR_KERNEL_SYRK, TSR_D, TSR_UPPER, 0, 1, 0, 'a', 7, 0, false, "a,"},
      {TSR_KERNEL_SYRK, TSR_D, TSR_UPPER, 0, 1, 0, 'b', 7, 0, false, NULL},
      {TSR_KERNEL_HERK, TSR_Z, TSR_LOWER, 0, 1, 0.5, 'c', 3, 3, true, NULL},
      {TSR_KERNEL_HERK, TSR_Z, TSR_LOWER, 0, 1, 0.5, 'c', 3, 3, false, "c,"},
      {TSR_KERNEL_SYR2K, TSR_C, TSR_LOWER, 0, 1, 0, 'b', 0, 7, true, "b,"},
      {TSR_KERNEL_SYR2K, TSR_S, TSR_UPPER, 0, 0, 0, 'b', 0, 7, false, NULL},
      {TSR_KERNEL_HER2K, TSR_C, TSR_UPPER, 0, 1, 0.5, 'c', 4, 3, false, NULL},
      {TSR_KERNEL_HER2K, TSR_C, TSR_UPPER, 0, 1, 0.5, 'c', 3, 4, true, "c,"},
      {TSR_KERNEL_ADD, TSR_D, TSR_LOWER, 0, 1, 1, 'a', 3, 4, false, NULL},
      {TSR_KERNEL_ADD, TSR_D, TSR_LOWER, 0, 1, 1, 'c', 3, 4, false, NULL},
      {TSR_KERNEL_ADD, TSR_H, TSR_LOWER, 0, 1, 1, 'a', 4, 3, false, "a,"},
      {TSR_KERNEL_ADD, TSR_B, TSR_UPPER, 0, 1, 1, 'c', 3, 4, false, "c,"},
      {TSR_KERNEL_ADD, TSR_D, TSR_GENERAL, 0, 1, 1, 'c', 3, 4, false, "c,"},
      {TSR_KERNEL_SCALE, TSR_S, TSR_UPPER, 0, 1, 0.5, 'c', 4, 3, false, NULL},
      {TSR_KERNEL_SCALE, TSR_S, TSR_UPPER, 0, 1, 0.5, 'c', 3, 3, false, "c,"},
  };
  check_triangles(cases, sizeof cases / sizeof *cases);
}

/* The wait is left out, and the copy is held up behind long kernels on another queue. */
static void test_missing_wait(void **state) {
  (void)state;
  stage s = stage_open((tsr_engine_options){.check = true});
  tsr_queue *slow = queue_of(&s.h, 1, TSR_QUEUE_COMPUTE);
  tsr_queue_event *late = event_of(&s.h, 1, false);
  enum { LONG = 512 };
  double *a = take(&s.h, 1, LONG * LONG * sizeof(double));
  double *c = take(&s.h, 1, LONG * LONG * sizeof(double));
  memset(a, 0, LONG * LONG * sizeof(double));
  tsr_kernel_args gemm = {.kernel = TSR_KERNEL_GEMM,
                          .type = TSR_D,
                          .transa = TSR_NO_TRANS,
                          .transb = TSR_NO_TRANS,
                          .m = LONG,
                          .n = LONG,
                          .k = LONG,
                          .alpha = {1, 0},
                          .a = a,
                          .b = a,
                          .c = c,
                          .lda = LONG,
                          .ldb = LONG,
                          .ldc = LONG};
  for (int i = 0; i < 8; i++) OK(s.h.engine->kernel(slow, &gemm));
  OK(s.h.engine->record(slow, late));
  OK(s.h.engine->wait(s.in, late));
  put(&s, s.a);
  put(&s, s.b);
  multiply(&s, 0);
  expect(&s, s.compute, TSR_ERR_CHECK, "reads memory that no earlier command wrote");
  s.h.engine->queue_destroy(slow);
  s.h.engine->event_destroy(late);
  stage_close(&s);
}

static void test_outside(void **state) {
  (void)state;
  for (int where = 0; where < 3; where++) {
    stage s = stage_open((tsr_engine_options){.check = true});
    char *other = take(&s.h, 1, bytes);
    char *targets[] = {(char *)s.a + 8, (char *)s.host, other}; /* too long, host's, another's */
    tsr_copy_args copy = plain_copy(targets[where], 0, s.host, TSR_HOST, bytes);
    OK(s.h.engine->copy(s.in, &copy));
    expect(&s, s.in, TSR_ERR_CHECK, "is not in the memory");
    stage_close(&s);
  }
}

/* Devices without a link, in one direction or in both, copy by way of host memory. */
static void test_unlinked(void **state) {
  (void)state;
  stage s = stage_open((tsr_engine_options){.count = 3, .emulated_unlinked = {[0] = 2, [1] = 1}});
  void *other = take(&s.h, 1, bytes), *third = take(&s.h, 2, bytes);
  assert_false(s.h.info[0].peer[1] || s.h.info[1].peer[0]);
  assert_true(s.h.info[0].peer[2] && s.h.info[2].peer[0]);
  put(&s, s.a);
  tsr_copy_args copy = plain_copy(other, 1, s.a, 0, bytes);
  assert_int_equal(s.h.engine->copy(s.in, &copy), TSR_ERR_CHECK);
  assert_non_null(strstr(tsr_message(), "no peer access"));
  copy = plain_copy(third, 2, s.a, 0, bytes);
  OK(s.h.engine->copy(s.in, &copy));
  copy = plain_copy(s.b, 0, s.a, 0, bytes);
  OK(s.h.engine->copy(s.in, &copy));
  expect(&s, s.in, TSR_OK, NULL);
  stage_close(&s);
}

static void test_never_recorded(void **state) {
  (void)state;
  stage s = stage_open((tsr_engine_options){0});
  bool passed;
  assert_int_equal(s.h.engine->wait(s.compute, s.here), TSR_ERR_CHECK);
  assert_int_equal(s.h.engine->query(s.here, &passed, NULL), TSR_ERR_CHECK);
  stage_close(&s);
}

/* An event that cannot be recorded passes when the queue has carried out what it had; no queue can
 * wait for it. */
static void test_without_memory(void **state) {
  (void)state;
  stage s = stage_open((tsr_engine_options){0});
  const tsr_engine *e = s.h.engine;
  bool passed = true;
  s.host[N] = 7;
  tsr_engine_host_hold_queues(true);
  put(&s, s.a);
  tsr_alloc_fail_from(1);
  tsr_status recorded = e->record(s.in, s.here);
  tsr_status queried = e->query(s.here, &passed, NULL);
  tsr_alloc_fail_at(0);
  tsr_status waited = e->wait(s.compute, s.here);
  tsr_engine_host_hold_queues(false);
  assert_int_equal(recorded, TSR_ERR_MEMORY);
  assert_int_equal(queried, TSR_OK);
  assert_false(passed);
  assert_int_equal(waited, TSR_ERR_CHECK);
  while (!passed) OK(e->query(s.here, &passed, NULL));
  assert_memory_equal(s.a, s.host, bytes);
  OK(e->record(s.in, s.here));
  OK(e->wait(s.compute, s.here));
  stage_close(&s);
}

/* ---- Limits and failures -------------------------------------------------- */

static void test_memory_limit(void **state) {
  (void)state;
  stage s = stage_open((tsr_engine_options){.emulated_memory = 4 * bytes});
  assert_int_equal(s.h.info[0].memory_free, 4 * bytes);
  void *p = NULL, *q = NULL;
  assert_int_equal(s.h.engine->alloc(s.h.state, 0, bytes + 1, &p), TSR_ERR_MEMORY);
  OK(s.h.engine->alloc(s.h.state, 0, bytes, &p));
  assert_int_equal(s.h.engine->alloc(s.h.state, 0, 1, &q), TSR_ERR_MEMORY);
  OK(s.h.engine->alloc(s.h.state, TSR_HOST, 9 * bytes, &q));
  s.h.engine->free(s.h.state, 0, p);
  OK(s.h.engine->alloc(s.h.state, 0, bytes, &p));
  assert_int_equal((uintptr_t)p % 512, 0);
  stage_close(&s);
}

static void test_fail_at(void **state) {
  (void)state;
  stage s = stage_open((tsr_engine_options){0});
  void *p = NULL;
  tsr_engine_host_fail_at(1);
  assert_int_equal(s.h.engine->alloc(s.h.state, 0, 8, &p), TSR_ERR_MEMORY);
  OK(s.h.engine->alloc(s.h.state, 0, 8, &p));
  tsr_engine_host_fail_at(2);
  put(&s, s.a);
  put(&s, s.b);
  expect(&s, s.in, TSR_ERR_DEVICE, "command 2");
  multiply(&s, 0); /* a failed device works no more, but its events pass */
  expect(&s, s.compute, TSR_ERR_DEVICE, NULL);
  tsr_engine_host_fail_at(0);
  stage_close(&s);
}

/* All that one use of the engine allocates, with each allocation failing in turn. */
static tsr_status use_everything(void) {
  tsr_engine_state *opened = NULL;
  tsr_device_info info[TSR_MAX_DEVICES];
  tsr_queue *queue = NULL;
  tsr_queue_event *event = NULL;
  const tsr_engine *e = &tsr_engine_host;
  void *p = NULL;
  int count;
  double x[4] = {1, 2, 3, 4};
  TSR_TRY(e->open(&(tsr_engine_options){.count = 1}, &opened, info, &count));
  tsr_status status = e->alloc(opened, 0, sizeof x, &p);
  tsr_copy_args copy = plain_copy(p, 0, x, TSR_HOST, sizeof x);
  if (status == TSR_OK) status = e->pin(opened, x, sizeof x, true);
  if (status == TSR_OK) status = e->queue_create(opened, 0, TSR_QUEUE_IN, NULL, &queue);
  if (status == TSR_OK) status = e->event_create(opened, 0, false, &event);
  if (status == TSR_OK) status = e->copy(queue, &copy);
  if (status == TSR_OK) status = e->record(queue, event);
  if (status == TSR_OK) status = e->wait(queue, event);
  e->queue_destroy(queue);
  e->event_destroy(event);
  e->close(opened);
  return status;
}

static void test_allocations(void **state) {
  (void)state;
  tsr_status status = TSR_ERR_MEMORY;
  int n = 0;
  while (status != TSR_OK) {
    assert_int_equal(status, TSR_ERR_MEMORY);
    tsr_alloc_fail_at(++n);
    status = use_everything();
    tsr_alloc_fail_at(0);
    assert_in_range(n, 1, 50);
  }
  assert_in_range(n, 8, 50);
}

static void test_options(void **state) {
  (void)state;
  tsr_engine_state *opened = NULL;
  tsr_device_info info[TSR_MAX_DEVICES];
  int count = 0;
  tsr_engine_options many = {.count = TSR_MAX_DEVICES + 1};
  assert_int_equal(tsr_engine_host.open(&many, &opened, info, &count), TSR_ERR_ARGUMENT);
  assert_true(!opened && count == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_poison_is_nan),     cmocka_unit_test(test_right_passes),
      cmocka_unit_test(test_unwritten_operand), cmocka_unit_test(test_unwritten_c),
      cmocka_unit_test(test_unwritten_element), cmocka_unit_test(test_unwritten_copy),
      cmocka_unit_test(test_triangle_of_a),     cmocka_unit_test(test_triangle_of_c),
      cmocka_unit_test(test_poison_again),      cmocka_unit_test(test_missing_wait),
      cmocka_unit_test(test_outside),           cmocka_unit_test(test_never_recorded),
      cmocka_unit_test(test_without_memory),    cmocka_unit_test(test_memory_limit),
      cmocka_unit_test(test_fail_at),           cmocka_unit_test(test_allocations),
      cmocka_unit_test(test_options),           cmocka_unit_test(test_unlinked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
