/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A CPU's BLAS that lacks routines: its routines are used, and a missing one is named in the
 * error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/blas.h"

static void test_lacks(void **state) {
  (void)state;
  double one = 1;
  tsr_kernel_args x = {.kernel = TSR_KERNEL_TRSM,
                       .type = TSR_Z,
                       .transa = TSR_NO_TRANS,
                       .transb = TSR_NO_TRANS,
                       .uplo = TSR_LOWER,
                       .m = 1,
                       .n = 1,
                       .k = 1,
                       .alpha = {1, 0},
                       .a = &one,
                       .b = &one,
                       .c = &one,
                       .lda = 1,
                       .ldb = 1,
                       .ldc = 1};
  assert_int_equal(tsr_cpu_kernel(&x), TSR_ERR_UNSUPPORTED);
  assert_non_null(strstr(tsr_message(), "has no ztrsm_"));
  x.kernel = TSR_KERNEL_GEMM;
  assert_int_equal(tsr_cpu_kernel(&x), TSR_OK);
}

static int load(void **state) {
  (void)state;
  setenv("TESSERA_CPU_BLAS", PARTIAL_BLAS, 1);
  return tsr_cpu_blas_load() == TSR_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lacks)};
  return cmocka_run_group_tests(tests, load, NULL);
}
