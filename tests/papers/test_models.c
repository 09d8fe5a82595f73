/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The model of Choi et al. for a context's machine, and what it refuses. */
#include "front/front.h"

#include "tessera_papers.h"

static tsr_context *context;

static int make(void **state) {
  (void)state;
  front_clear_environment();
  context = front_context();
  return 0;
}

static int end(void **state) {
  (void)state;
  tsr_context_destroy(context);
  return 0;
}

static void choi(void **state) {
  (void)state;
  tsr_choi_model model = {.tile = 0};
  front_needs_emulated_devices();
  /* 19 TFLOP/s and 300 GB/s: 4 x 19e12 / 300e9 is 253. By way of the host, with 25 GB/s: 3040. */
  int64_t expected = front_has_peers() ? 256 : 4096;
  assert_ok(tsr_plan_choi(context, TSR_D, 16384, 0, 2, &model));
  assert_int_equal(model.tile, expected);
  assert_ok(tsr_plan_choi(context, TSR_D, 16384, 0, 0, &model));
  assert_int_equal(model.tile, expected);
  assert_ok(tsr_plan_choi(context, TSR_D, 16384, 1024, 2, &model));
  assert_int_equal(model.tile, 1024);
  assert_true(model.gemm == model.math && model.transfer > 0);
  assert_true((model.kernel == model.gemm) == front_has_peers()); /* else its transfer binds */
  assert_refused(tsr_plan_choi(context, TSR_D, 16384, 0, 3, &model), TSR_ERR_ARGUMENT, "devices");
  assert_refused(tsr_plan_choi(context, TSR_D, 0, 0, 2, &model), TSR_ERR_ARGUMENT, "n is 0");
  assert_refused(tsr_plan_choi(context, TSR_D, 8, -1, 2, &model), TSR_ERR_ARGUMENT, "tile is -1");
  assert_refused(tsr_plan_choi(context, TSR_D, 8, 0, 2, NULL), TSR_ERR_ARGUMENT, "model");
  assert_int_equal(model.tile, 1024);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(choi),
  };
  return cmocka_run_group_tests(tests, make, end);
}
