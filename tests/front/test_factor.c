/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Factorisations: planned, verified and carried out on emulated devices. */
#include <math.h>

#include "front.h"
#include "front/context.h"

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

static void factor(tsr_context *context, tsr_uplo uplo, int64_t n, double *a, int64_t lda) {
  tsr_call call = {.operation = (tsr_operation)TSR_POTRF,
                   .type = TSR_D,
                   .transa = TSR_NO_TRANS,
                   .transb = TSR_NO_TRANS,
                   .side = TSR_LEFT,
                   .uplo = uplo,
                   .diag = TSR_NON_UNIT,
                   .m = n,
                   .n = n,
                   .k = n,
                   .alpha = TSR_ONE,
                   .beta = TSR_ONE};
  call.operand[TSR_C_] = (tsr_operand){.rows = n, .cols = n, .ld = lda};
  tsr_binding binding = {.base = {[TSR_C_] = a}, .alpha = {1, 0}, .beta = {1, 0}};
  assert_ok(tsr_context_place(context, &call, &binding, false));
  assert_ok(tsr_context_call(context, &call, &binding, false, false));
}

static void check(const char *devices, int64_t n, size_t memory, int64_t tile) {
  for (int upper = 0; upper < 2; upper++) {
    tsr_options options = TSR_OPTIONS_DEFAULT;
    tsr_context *context = NULL;
    options.engine = "host";
    options.devices = devices;
    options.memory = memory;
    options.check = getenv("CHECK") ? 1 : 0;
    assert_ok(front_create_tiled(&options, tile, &context));
    int64_t lda = n + 3;
    double *a = malloc((size_t)(lda * n) * sizeof *a), *l = malloc((size_t)(lda * n) * sizeof *l);
    for (int64_t i = 0; i < lda * n; i++) a[i] = NAN;
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = upper ? 0 : j; i < (upper ? j + 1 : n); i++)
        a[i + j * lda] = i == j ? (double)n : sin((double)(i < j ? i + 3 * j : j + 3 * i));
    memcpy(l, a, (size_t)(lda * n) * sizeof *l);
    factor(context, upper ? TSR_UPPER : TSR_LOWER, n, l, lda);
    double worst = 0;
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = j; i < n; i++) {
        double sum = upper ? a[j + i * lda] : a[i + j * lda];
        for (int64_t k = 0; k <= j; k++)
          sum -= upper ? l[k + i * lda] * l[k + j * lda] : l[i + k * lda] * l[j + k * lda];
        worst = fmax(worst, isnan(sum) ? INFINITY : fabs(sum) / ((double)n * (double)n * 0x1p-53));
      }
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < lda; i++)
        if (i >= n || (upper ? i > j : i < j)) assert_true(isnan(l[i + j * lda]));
    if (worst > 4) fail_msg("devices %s, n %d, %s: error %g", devices, (int)n, upper ? "U" : "L", worst);
    free(a), free(l);
    tsr_context_destroy(context);
  }
}

static void test_devices(void **state) {
  (void)state;
  static const char *const devices[] = {"1", "2", "3", "8"};
  for (int d = 0; d < 4; d++) check(devices[d], 130, 0, 16);
}

static void test_short_memory(void **state) {
  (void)state;
  check("1", 200, 100 << 10, 16);
  check("3", 200, 60 << 10, 16);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_devices, clear),
                                     cmocka_unit_test_setup(test_short_memory, clear)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
