/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/types.h"

typedef struct pair {
  float f;
  uint16_t bits;
} pair;

static void halves_round_to_nearest_even(void **state) {
  (void)state;
  static const pair cases[] = {
      {0.0f, 0x0000},           {-0.0f, 0x8000},
      {1.0f, 0x3c00},           {-2.0f, 0xc000},
      {65504.0f, 0x7bff},       {65519.996f, 0x7bff},
      {65520.0f, 0x7c00},       {65536.0f, 0x7c00},
      {1e30f, 0x7c00},          {-1e30f, 0xfc00},
      {INFINITY, 0x7c00},       {0x1p-14f, 0x0400},
      {0x1p-24f, 0x0001},       {0x1p-25f, 0x0000},
      {0x1.8p-25f, 0x0001},     {0x1.8p-24f, 0x0002},
      {0x1p-26f, 0x0000},       {0x1.ffcp-15f, 0x0400},
      {0x1.ff8p-15f, 0x03ff},   {1 + 0x1p-11f, 0x3c00},
      {1 + 0x1.8p-10f, 0x3c02}, {1 + 0x1.004p-11f, 0x3c01},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(tsr_float_to_half(cases[i].f), cases[i].bits);
}

static void every_half_comes_back(void **state) {
  (void)state;
  for (uint32_t h = 0; h < 0x10000; h++) {
    float f = tsr_half_to_float((uint16_t)h);
    if (f != f)
      assert_true((tsr_float_to_half(f) & 0x7fff) > 0x7c00);
    else
      assert_int_equal(tsr_float_to_half(f), h);
  }
}

static void bfloats_round_to_nearest_even(void **state) {
  (void)state;
  static const pair cases[] = {
      {0.0f, 0x0000},        {-0.0f, 0x8000},         {1.0f, 0x3f80},
      {1 + 0x1p-8f, 0x3f80}, {1 + 0x1.8p-7f, 0x3f82}, {1 + 0x1.01p-8f, 0x3f81},
      {INFINITY, 0x7f80},    {3.4028235e38f, 0x7f80}, {0x1p-133f, 0x0001},
      {0x1p-134f, 0x0000},   {0x1.8p-134f, 0x0001},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(tsr_float_to_bfloat(cases[i].f), cases[i].bits);
}

static void every_bfloat_comes_back(void **state) {
  (void)state;
  for (uint32_t b = 0; b < 0x10000; b++) {
    float f = tsr_bfloat_to_float((uint16_t)b);
    if (f != f)
      assert_true((tsr_float_to_bfloat(f) & 0x7fff) > 0x7f80);
    else
      assert_int_equal(tsr_float_to_bfloat(f), b);
  }
}

/* NaNs with mantissa bits in the low half only: rounding must not turn a NaN into an infinity. */
static void nans_stay_nans(void **state) {
  (void)state;
  uint32_t bits = 0x7f800001;
  float f;
  memcpy(&f, &bits, sizeof f);
  assert_true((tsr_float_to_half(f) & 0x7fff) > 0x7c00);
  assert_true((tsr_float_to_bfloat(f) & 0x7fff) > 0x7f80);
}

static void table_is_consistent(void **state) {
  (void)state;
  const char *letters = "sdczhbt";
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    const tsr_type_info *info = tsr_type_at(i);
    assert_int_equal(info->type, letters[i]);
    assert_int_equal(tsr_type_index(info->type), i);
    assert_ptr_equal(tsr_type_get(info->type), info);
    assert_int_equal(info->flop_factor, info->complex_valued ? 8 : 2);
    assert_non_null(tsr_type_get(info->wide));
    assert_true(tsr_type_get(info->wide)->size >= info->size);
  }
  assert_null(tsr_type_at(-1));
  assert_null(tsr_type_at(TSR_TYPE_COUNT));
  assert_null(tsr_type_get((tsr_type)'x'));
  assert_int_equal(tsr_type_get(TSR_H)->wide, TSR_S);
}

static void scalars_are_read_and_classified(void **state) {
  (void)state;
  const double z[2] = {2.5, -1};
  const float f[2] = {0.5f, 3};
  assert_true(tsr_scalar_read(TSR_D, z).re == 2.5 && tsr_scalar_read(TSR_D, z).im == 0);
  assert_true(tsr_scalar_read(TSR_Z, z).im == -1);
  assert_true(tsr_scalar_read(TSR_C, f).re == 0.5 && tsr_scalar_read(TSR_C, f).im == 3);
  assert_true(tsr_scalar_read(TSR_H, f).re == 0.5 && tsr_scalar_read(TSR_H, f).im == 0);
  assert_int_equal(tsr_scalar_classify((tsr_scalar){0, 0}), TSR_ZERO);
  assert_int_equal(tsr_scalar_classify((tsr_scalar){-0.0, 0}), TSR_ZERO);
  assert_int_equal(tsr_scalar_classify((tsr_scalar){1, 0}), TSR_ONE);
  assert_int_equal(tsr_scalar_classify((tsr_scalar){1, 1}), TSR_OTHER);
  assert_int_equal(tsr_scalar_classify((tsr_scalar){0, 1}), TSR_OTHER);
  assert_int_equal(tsr_scalar_classify((tsr_scalar){NAN, 0}), TSR_OTHER);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(halves_round_to_nearest_even),
      cmocka_unit_test(every_half_comes_back),
      cmocka_unit_test(bfloats_round_to_nearest_even),
      cmocka_unit_test(every_bfloat_comes_back),
      cmocka_unit_test(nans_stay_nans),
      cmocka_unit_test(table_is_consistent),
      cmocka_unit_test(scalars_are_read_and_classified),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
