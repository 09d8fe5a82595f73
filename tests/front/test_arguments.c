/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Each argument wrong in turn: the status, a message that names the argument and the value, and
 * nothing touched. */
#include <ctype.h>
#include <strings.h>

#include "front.h"

typedef struct call {
  int type, layout, transa, transb;
  int64_t m, n, k;
  const void *alpha, *a;
  int64_t lda;
  const void *b;
  int64_t ldb;
  const void *beta;
  void *c;
  int64_t ldc;
} call;

enum { M = 5, N = 6, K = 7 };

static tsr_context *context;
static double a[M * K], b[K * N], c[M * N], before[M * N], one = 1;

static int make(void **state) {
  (void)state;
  front_clear_environment();
  context = front_context();
  front_fill(a, M * K, 1), front_fill(b, K * N, 2), front_fill(c, M * N, 3);
  memcpy(before, c, sizeof c);
  return 0;
}

static int end(void **state) {
  (void)state;
  tsr_context_destroy(context);
  return 0;
}

static call good(int layout) {
  int rows = layout == TSR_ROW_MAJOR;
  return (call){TSR_D, layout,       'N', 'N',          M,    N, K,           &one,
                a,     rows ? K : M, b,   rows ? N : K, &one, c, rows ? N : M};
}

static tsr_status gemm(const call *x, int async) {
  return (async ? tsr_gemm_async : tsr_gemm)(
      context, (tsr_type)x->type, (tsr_layout)x->layout, (tsr_op)x->transa, (tsr_op)x->transb, x->m,
      x->n, x->k, x->alpha, x->a, x->lda, x->b, x->ldb, x->beta, x->c, x->ldc);
}

/* The word stands in the text with no letter or digit at its sides, in either case. */
static int has_word(const char *text, const char *word) {
  size_t length = strlen(word);
  for (const char *at = text; *at; ++at) {
    int begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
    if (begins && strncasecmp(at, word, length) == 0 && !isalnum((unsigned char)at[length]))
      return 1;
  }
  return 0;
}

static void refused(call x, const char *name, const char *value, const char *or_value) {
  for (int async = 0; async < 2; ++async) {
    tsr_status status = gemm(&x, async);
    if (status != TSR_ERR_ARGUMENT)
      fail_msg("%s = %s gives %s", name, value, tsr_status_name(status));
    if (!has_word(tsr_message(), name)) fail_msg("\"%s\" does not name %s", tsr_message(), name);
    if (!strstr(tsr_message(), value) && !has_word(tsr_message(), or_value))
      fail_msg("\"%s\" does not tell the value %s of %s", tsr_message(), value, name);
    assert_memory_equal(c, before, sizeof c);
  }
}

static void test_flags(void **state) {
  (void)state;
  call x = good(TSR_COL_MAJOR);
  x.type = 'q', refused(x, "type", "q", "113");
  x = good(TSR_COL_MAJOR), x.layout = 'X', refused(x, "layout", "X", "88");
  x = good(TSR_COL_MAJOR), x.transa = 'Q', refused(x, "transa", "Q", "81");
  x = good(TSR_COL_MAJOR), x.transb = 0, refused(x, "transb", "0", "0");
}

static void test_extents(void **state) {
  (void)state;
  call x = good(TSR_COL_MAJOR);
  x.m = -1, refused(x, "m", "-1", "-1");
  x = good(TSR_COL_MAJOR), x.n = -2, refused(x, "n", "-2", "-2");
  x = good(TSR_COL_MAJOR), x.k = INT64_MIN, refused(x, "k", "-9223372036854775808", "k");
}

/* Products of legal extents must not wrap around. */
static void test_sizes(void **state) {
  (void)state;
  int64_t huge = INT64_C(1) << 40;
  call x = good(TSR_COL_MAJOR);
  x.k = x.lda = x.ldb = huge, refused(x, "a", "1099511627776", "a");
  x = good(TSR_COL_MAJOR), x.n = x.ldc = huge, refused(x, "c", "1099511627776", "c");
  x = good(TSR_ROW_MAJOR), x.k = x.lda = x.ldb = huge, refused(x, "b", "1099511627776", "b");
}

static void test_leading_dimensions(void **state) {
  (void)state;
  call x = good(TSR_COL_MAJOR);
  x.lda = M - 1, refused(x, "lda", "4", "4");
  x = good(TSR_COL_MAJOR), x.ldb = K - 1, refused(x, "ldb", "6", "6");
  x = good(TSR_COL_MAJOR), x.ldc = M - 1, refused(x, "ldc", "4", "4");
  x = good(TSR_COL_MAJOR), x.transa = 'T', x.lda = K - 1, refused(x, "lda", "6", "6");
  x = good(TSR_COL_MAJOR), x.transb = 'C', x.ldb = N - 1, refused(x, "ldb", "5", "5");
  x = good(TSR_COL_MAJOR), x.lda = 0, refused(x, "lda", "0", "0");
}

/* Row-major is done by exchanging A and B, which messages must not show. */
static void test_row_major_names(void **state) {
  (void)state;
  call x = good(TSR_ROW_MAJOR);
  x.lda = K - 1, refused(x, "lda", "6", "6");
  x = good(TSR_ROW_MAJOR), x.ldb = N - 1, refused(x, "ldb", "5", "5");
  x = good(TSR_ROW_MAJOR), x.ldc = N - 1, refused(x, "ldc", "5", "5");
  x = good(TSR_ROW_MAJOR), x.m = -3, refused(x, "m", "-3", "-3");
  x = good(TSR_ROW_MAJOR), x.n = -4, refused(x, "n", "-4", "-4");
  x = good(TSR_ROW_MAJOR), x.transb = 'Z', refused(x, "transb", "Z", "90");
}

static void test_null_pointers(void **state) {
  (void)state;
  call x = good(TSR_COL_MAJOR);
  x.alpha = NULL, refused(x, "alpha", "NULL", "null");
  x = good(TSR_COL_MAJOR), x.beta = NULL, refused(x, "beta", "NULL", "null");
  x = good(TSR_COL_MAJOR), x.a = NULL, refused(x, "a", "NULL", "null");
  x = good(TSR_COL_MAJOR), x.b = NULL, refused(x, "b", "NULL", "null");
  x = good(TSR_COL_MAJOR), x.c = NULL, refused(x, "c", "NULL", "null");
  x = good(TSR_ROW_MAJOR), x.a = NULL, refused(x, "a", "NULL", "null");
}

static void test_null_objects(void **state) {
  (void)state;
  call x = good(TSR_COL_MAJOR);
  tsr_context *kept = context;
  context = NULL;
  assert_int_equal(gemm(&x, 0), TSR_ERR_ARGUMENT);
  assert_int_equal(gemm(&x, 1), TSR_ERR_ARGUMENT);
  context = kept;
  assert_int_equal(tsr_context_create(NULL, NULL), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_sync(NULL), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_trim(NULL), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_plan_predict(NULL, NULL), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_plan_execute(NULL, &one, a, b, &one, c), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_malloc(context, TSR_HOST, 8, NULL), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_machine_print(context, TSR_TEXT, NULL), TSR_ERR_ARGUMENT);
  tsr_context_destroy(NULL);
  tsr_plan_destroy(NULL);
  tsr_free(context, NULL);
  assert_memory_equal(c, before, sizeof c);
}

/* The typed door says the same. */
static void test_typed_door(void **state) {
  (void)state;
  tsr_status status = tsr_dgemm(context, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, M, N, K, 1, a,
                                M - 1, b, K, 1, c, M);
  assert_int_equal(status, TSR_ERR_ARGUMENT);
  assert_true(has_word(tsr_message(), "lda"));
  assert_memory_equal(c, before, sizeof c);
}

static void test_works_afterwards(void **state) {
  (void)state;
  front_assert_works(context);
}

static void test_names(void **state) {
  (void)state;
  assert_string_equal(tsr_status_name(TSR_ERR_ARGUMENT), "TSR_ERR_ARGUMENT");
  for (int s = -1; s < 100; ++s) assert_non_null(tsr_status_name((tsr_status)s));
  assert_string_equal(tsr_version(), "0.2.0");
  assert_int_equal(tsr_version_number(), 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_flags),
      cmocka_unit_test(test_extents),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_leading_dimensions),
      cmocka_unit_test(test_row_major_names),
      cmocka_unit_test(test_null_pointers),
      cmocka_unit_test(test_null_objects),
      cmocka_unit_test(test_typed_door),
      cmocka_unit_test(test_works_afterwards),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, make, end);
}
