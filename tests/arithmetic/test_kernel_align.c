/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The cut of a GEMM into aligned parts: the parts add up to the GEMM, and only GEMMs that gain by
 * it are cut. */
#include "../engine/kernel_case.h"

#include "cpu/blas.h"

static int64_t granule_of(tsr_type type) {
  return (int64_t)(16 / tsr_type_get(type)->size);
}

/* The part that begins at the first element of the product. */
static const tsr_kernel_args *bulk_of(const tsr_kernel_args *x, const tsr_kernel_args *part,
                                      int parts) {
  for (int i = 0; i < parts; i++)
    if (part[i].a == x->a && part[i].b == x->b && part[i].c == x->c) return &part[i];
  fail_msg("no part begins where the product does");
  return NULL;
}

static void check_bulk(const tsr_kernel_args *x, const tsr_kernel_args *bulk) {
  int64_t granule = granule_of(x->type);
  bool across_a = x->transa != TSR_NO_TRANS, across_b = x->transb != TSR_NO_TRANS;
  assert_true(bulk->m % granule == 0 && x->m - bulk->m < granule);
  if (across_b) assert_true(bulk->n % granule == 0 && x->n - bulk->n < granule);
  if (across_a || !across_b) assert_true(bulk->k % granule == 0 && x->k - bulk->k < granule);
}

static void run_in_parts(void *user, const kernel_case *test) {
  int *cuts = user;
  tsr_kernel_args part[4];
  int parts = tsr_kernel_align(&test->args, 8, part);
  assert_true(parts >= 1 && parts <= 4);
  if (parts > 1) check_bulk(&test->args, bulk_of(&test->args, part, parts));
  for (int i = 0; i < parts; i++) assert_int_equal(tsr_cpu_kernel(&part[i]), TSR_OK);
  cuts[parts - 1]++;
}

/* Only one in a thousand random leading dimensions of a 16-bit type is aligned to loads. */
static void run_products(tsr_type type, int cuts[4]) {
  for (int i = 0; i < 8000; i++) {
    kernel_case test = case_make(TSR_KERNEL_GEMM, type, 20, 0);
    case_run(run_in_parts, cuts, &test, case_check);
  }
}

static void test_sums(void **state) {
  (void)state;
  static const tsr_type types[] = {TSR_D, TSR_H, TSR_B, TSR_T};
  for (int t = 0; t < 4; t++) {
    int cuts[4] = {0};
    run_products(types[t], cuts);
    assert_true(cuts[0] > 0 && cuts[1] + cuts[2] + cuts[3] > 4);
  }
}

static tsr_kernel_args product(tsr_type type, char *a, char *b, char *c) {
  return (tsr_kernel_args){.kernel = TSR_KERNEL_GEMM,
                           .type = type,
                           .transa = TSR_NO_TRANS,
                           .transb = TSR_NO_TRANS,
                           .m = 33,
                           .n = 33,
                           .k = 33,
                           .alpha = {1, 0},
                           .beta = {1, 0},
                           .a = a,
                           .b = b,
                           .c = c,
                           .lda = 40,
                           .ldb = 40,
                           .ldc = 40};
}

static int parts_of(const tsr_kernel_args *x, int64_t least) {
  tsr_kernel_args part[4];
  return tsr_kernel_align(x, least, part);
}

static void test_which(void **state) {
  (void)state;
  _Alignas(16) static char a[40 * 40 * 8], b[40 * 40 * 8], c[40 * 40 * 8];
  tsr_kernel_args x = product(TSR_D, a, b, c);
  assert_int_equal(parts_of(&x, 33), 3); /* no operand is stored along n */
  assert_int_equal(parts_of(&x, 34), 1);
  x.transb = TSR_TRANS;
  assert_int_equal(parts_of(&x, 33), 3); /* no operand is stored along k */
  x.transa = TSR_TRANS;
  assert_int_equal(parts_of(&x, 33), 4);
  x.m = x.n = x.k = 32;
  assert_int_equal(parts_of(&x, 1), 1);
  x.m = 33;
  x.lda = 39; /* columns are not aligned to loads anyway */
  assert_int_equal(parts_of(&x, 1), 1);
  x.lda = 40;
  x.c = c + 8;
  assert_int_equal(parts_of(&x, 1), 1);
}

/* A sum that is stored in 16 bits is rounded once, so k is not cut. */
static void test_narrow(void **state) {
  (void)state;
  _Alignas(16) static char a[40 * 40 * 8], b[40 * 40 * 8], c[40 * 40 * 8];
  tsr_kernel_args x = product(TSR_H, a, b, c);
  assert_int_equal(parts_of(&x, 33), 1);
  x.wide = true;
  assert_int_equal(parts_of(&x, 33), 3);
  x.wide = false;
  x.k = 32;
  assert_int_equal(parts_of(&x, 33), 2);
}

static int load(void **state) {
  (void)state;
  return tsr_cpu_blas_load() == TSR_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_which),
                                     cmocka_unit_test(test_narrow)};
  return cmocka_run_group_tests(tests, load, NULL);
}
