/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Kernels on the CPU: each one in each type against naive loops, and extents beyond an int. */
#include "../engine/level3_case.h"

#include <pthread.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/status.h"
#include "cpu/blas.h"
#include "tessera_model.h"

static void run_on_cpu(void *user, const kernel_case *test) {
  (void)user;
  assert_int_equal(tsr_cpu_kernel(&test->args), TSR_OK);
}

static void test_types(void **state) {
  (void)state;
  for (int t = 0; t < TSR_TYPE_COUNT; t++)
    cases_run(run_on_cpu, NULL, tsr_type_at(t)->type, 120, 40);
}

/* Extents of several blocks in which 16-bit types are converted. */
static void test_long_half(void **state) {
  (void)state;
  cases_run(run_on_cpu, NULL, TSR_H, 4, 700);
  cases_run(run_on_cpu, NULL, TSR_B, 4, 700);
}

static void test_level3(void **state) {
  (void)state;
  level3_run(run_on_cpu, NULL, 24, 24);
  level3_run(run_on_cpu, NULL, 1, 150);
}

/* A real alpha or beta whose real part is 0 counts as 0, whatever its imaginary part is. */
static void test_real_scalars(void **state) {
  (void)state;
  double nan[8] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}, c[8];
  memcpy(c, nan, sizeof c);
  tsr_kernel_args x = {.kernel = TSR_KERNEL_HERK,
                       .type = TSR_Z,
                       .transa = TSR_NO_TRANS,
                       .uplo = TSR_LOWER,
                       .m = 2,
                       .n = 2,
                       .k = 2,
                       .alpha = {0, 1},
                       .beta = {0, 1},
                       .a = nan,
                       .c = c,
                       .lda = 2,
                       .ldc = 2};
  assert_int_equal(tsr_cpu_kernel(&x), TSR_OK);
  assert_true(c[0] == 0 && c[1] == 0 && c[2] == 0 && c[3] == 0 && c[6] == 0 && c[7] == 0);
  assert_true(isnan(c[4]) && isnan(c[5]));
}

static void refused(tsr_kernel_args x, tsr_status status, const char *word) {
  assert_int_equal(tsr_cpu_kernel(&x), status);
  if (!strstr(tsr_message(), word)) fail_msg("\"%s\" is not in: %s", word, tsr_message());
}

static void test_refused(void **state) {
  (void)state;
  double e[4] = {1, 0, 0, 1};
  const int64_t large = INT64_C(1) << 31;
  const tsr_kernel_args syrk = {.kernel = TSR_KERNEL_SYRK,
                                .type = TSR_D,
                                .transa = TSR_NO_TRANS,
                                .uplo = TSR_LOWER,
                                .m = 1,
                                .n = 1,
                                .k = 1,
                                .alpha = {1, 0},
                                .a = e,
                                .c = e,
                                .lda = 1,
                                .ldc = 1};
  static const tsr_type none[] = {TSR_H, TSR_B, TSR_T};
  tsr_kernel_args x;
  for (int t = 0; t < 3; t++) {
    x = syrk, x.type = none[t], refused(x, TSR_ERR_UNSUPPORTED, "syrk");
  }
  x = syrk, x.kernel = TSR_KERNEL_HERK, refused(x, TSR_ERR_UNSUPPORTED, "herk");
  x = syrk, x.ldc = large, refused(x, TSR_ERR_UNSUPPORTED, "ldc is 2147483648");
  x = syrk, x.k = large, refused(x, TSR_ERR_UNSUPPORTED, "k is 2147483648");
  x = syrk, x.uplo = TSR_GENERAL, refused(x, TSR_ERR_INTERNAL, "triangle");
  x = syrk, x.m = 2, refused(x, TSR_ERR_INTERNAL, "2 x 1");
  x = syrk, x.type = TSR_Z, x.transa = TSR_CONJ_TRANS, refused(x, TSR_ERR_INTERNAL, "trans C");
  x = syrk, x.kernel = TSR_KERNEL_COUNT, refused(x, TSR_ERR_INTERNAL, "unknown kernel");
  x = syrk, x.ldb = large; /* syrk has no b, so its ld is not checked */
  assert_int_equal(tsr_cpu_kernel(&x), TSR_OK);
}

static void *run_some(void *argument) {
  float a[64], c[64];
  for (int i = 0; i < 64; i++) a[i] = 1;
  for (int repeat = 0; repeat < 200; repeat++) {
    tsr_kernel_args x = {.kernel = TSR_KERNEL_GEMM,
                         .type = TSR_S,
                         .transa = TSR_NO_TRANS,
                         .transb = TSR_NO_TRANS,
                         .m = 8,
                         .n = 8,
                         .k = 8,
                         .alpha = {1, 0},
                         .a = a,
                         .b = a,
                         .c = c,
                         .lda = 8,
                         .ldb = 8,
                         .ldc = 8};
    if (tsr_cpu_blas_load() != TSR_OK || tsr_cpu_kernel(&x) != TSR_OK || c[63] != 8)
      return argument;
  }
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  pthread_t threads[6];
  for (int i = 0; i < 6; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, run_some, &threads), 0);
  for (int i = 0; i < 6; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    assert_null(wrong);
  }
}

static void *reserve(size_t bytes) {
  void *p =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

/* Leading dimensions beyond an int, in memory of which the test touches only a few pages. */
static void test_long_columns(void **state) {
  (void)state;
  const int64_t ld = (INT64_C(1) << 31) + 8;
  const size_t bytes = (size_t)ld * 3 * sizeof(float);
  float *a = reserve(bytes), *b = reserve(bytes), *c = reserve(bytes);
  if (!a || !b || !c) skip();
  for (int op = 0; op < 4; op++) {
    for (int j = 0; j < 2; j++)
      for (int i = 0; i < 2; i++) a[i + j * ld] = (float)(1 + i + 2 * j), b[i + j * ld] = 1;
    tsr_kernel_args x = {.kernel = TSR_KERNEL_GEMM,
                         .type = TSR_S,
                         .transa = op & 1 ? TSR_TRANS : TSR_NO_TRANS,
                         .transb = op & 2 ? TSR_TRANS : TSR_NO_TRANS,
                         .m = 2,
                         .n = 2,
                         .k = 2,
                         .alpha = {1, 0},
                         .a = a,
                         .b = b,
                         .c = c,
                         .lda = ld,
                         .ldb = ld,
                         .ldc = ld};
    assert_int_equal(tsr_cpu_kernel(&x), TSR_OK);
    assert_true(c[0] == (op & 1 ? 3 : 4) && c[1 + ld] == (op & 1 ? 7 : 6));
  }
  munmap(a, bytes);
  munmap(b, bytes);
  munmap(c, bytes);
}

static void test_out_of_memory(void **state) {
  (void)state;
  uint16_t e = tsr_float_to_half(1);
  tsr_kernel_args x = {.kernel = TSR_KERNEL_GEMM,
                       .type = TSR_H,
                       .transa = TSR_NO_TRANS,
                       .transb = TSR_NO_TRANS,
                       .m = 1,
                       .n = 1,
                       .k = 1,
                       .alpha = {1, 0},
                       .a = &e,
                       .b = &e,
                       .c = &e,
                       .lda = 1,
                       .ldb = 1,
                       .ldc = 1};
  tsr_alloc_fail_at(1);
  assert_int_equal(tsr_cpu_kernel(&x), TSR_ERR_MEMORY);
  tsr_alloc_fail_at(0);
  assert_int_equal(tsr_cpu_kernel(&x), TSR_OK);
}

static void test_table(void **state) {
  (void)state;
  assert_true(tsr_kernel_flops(TSR_KERNEL_GEMM, TSR_Z, 2, 3, 4) == 8 * 24);
  assert_true(tsr_kernel_bytes(TSR_KERNEL_ADD, TSR_H, 2, 3, true, true) == 6 * (4 + 2 + 2));
  assert_true(tsr_kernel_bytes(TSR_KERNEL_SCALE, TSR_D, 2, 3, false, false) == 6 * 8);
  assert_null(tsr_kernel_get(TSR_KERNEL_COUNT));
}

static void test_flops(void **state) {
  (void)state;
  assert_true(tsr_kernel_flops(TSR_KERNEL_SYMM, TSR_D, 3, 5, 3) == 2 * 3 * 5 * 3);
  assert_true(tsr_kernel_flops(TSR_KERNEL_HEMM, TSR_Z, 3, 5, 5) == 8 * 3 * 5 * 5);
  assert_true(tsr_kernel_flops(TSR_KERNEL_SYRK, TSR_D, 4, 4, 7) == 4 * 4 * 7);
  assert_true(tsr_kernel_flops(TSR_KERNEL_HERK, TSR_C, 4, 4, 7) == 4 * 4 * 4 * 7);
  assert_true(tsr_kernel_flops(TSR_KERNEL_SYR2K, TSR_S, 4, 4, 7) == 2 * 4 * 4 * 7);
  assert_true(tsr_kernel_flops(TSR_KERNEL_HER2K, TSR_Z, 4, 4, 7) == 8 * 4 * 4 * 7);
  assert_true(tsr_kernel_flops(TSR_KERNEL_TRMM, TSR_D, 3, 5, 3) == 3 * 5 * 3);
  assert_true(tsr_kernel_flops(TSR_KERNEL_TRSM, TSR_Z, 3, 5, 5) == 4 * 3 * 5 * 5);
}

static int load(void **state) {
  (void)state;
  return tsr_cpu_blas_load() == TSR_OK && tsr_cpu_blas_name()[0] ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_types),        cmocka_unit_test(test_long_half),
      cmocka_unit_test(test_level3),       cmocka_unit_test(test_real_scalars),
      cmocka_unit_test(test_refused),      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_long_columns), cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_table),        cmocka_unit_test(test_flops),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
