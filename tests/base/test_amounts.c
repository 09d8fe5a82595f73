/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Amounts as people read them: three digits, also where rounding reaches the next unit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/amounts.h"

static void check(tsr_text *text, const char *wanted) {
  assert_false(text->broken);
  assert_string_equal(text->bytes, wanted);
  tsr_text_free(text);
}

static void seconds_are(double seconds, const char *wanted) {
  tsr_text text = TSR_TEXT_INIT;
  tsr_add_seconds(&text, seconds);
  check(&text, wanted);
}

static void rate_is(double rate, const char *wanted) {
  tsr_text text = TSR_TEXT_INIT;
  tsr_add_rate(&text, rate);
  check(&text, wanted);
}

static void bytes_are(double bytes, int width, const char *wanted) {
  tsr_text text = TSR_TEXT_INIT;
  tsr_add_bytes(&text, width, bytes);
  check(&text, wanted);
}

static void seconds_have_three_digits(void **state) {
  (void)state;
  seconds_are(1.25, "1.25 s");
  seconds_are(599.4, "599 s");
  seconds_are(599.6, "9.99 min");
  seconds_are(1020, "17.0 min");
  seconds_are(5996, "99.9 min");
  seconds_are(6000, "1.67 h");
  seconds_are(1e6, "278 h");
  seconds_are(0.0492, "49.2 ms");
  seconds_are(12.34e-6, "12.3 us");
  seconds_are(0.99949, "999 ms");
  seconds_are(0.9996, "1.00 s");
  seconds_are(0.9996e-3, "1.00 ms");
  seconds_are(INFINITY, "an unknown time");
}

static void rate_in_two_is(double rate, const char *wanted) {
  tsr_text text = TSR_TEXT_INIT;
  tsr_add_rate_in(&text, rate, 2);
  check(&text, wanted);
}

static void estimates_have_two_digits(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_INIT;
  rate_in_two_is(197.4e12, "200 TFLOP/s");
  rate_in_two_is(1789e12, "1800 TFLOP/s");
  rate_in_two_is(45.4e12, "45 TFLOP/s");
  rate_in_two_is(9.96e12, "10 TFLOP/s");
  rate_in_two_is(9.94e12, "9.9 TFLOP/s");
  rate_in_two_is(1.04e12, "1.0 TFLOP/s");
  tsr_add_seconds_in(&text, 0.0448, 2);
  check(&text, "45 ms");
  text = (tsr_text)TSR_TEXT_INIT;
  tsr_add_rate_of_in(&text, 371e12, 396e12, 2);
  check(&text, "370 of at most 400 TFLOP/s");
}

static void rates_have_three_digits(void **state) {
  (void)state;
  rate_is(197.4e12, "197 TFLOP/s");
  rate_is(850e9, "850 GFLOP/s");
  rate_is(999.4e9, "999 GFLOP/s");
  rate_is(999.6e9, "1.00 TFLOP/s");
  rate_is(1.814e9, "1.81 GFLOP/s");
  rate_is(0.9996e9, "1.00 GFLOP/s");
  rate_is(998e6, "998 MFLOP/s");
  tsr_text text = TSR_TEXT_INIT;
  tsr_add_rate_of(&text, 850e9, 2.1e12);
  check(&text, "850 GFLOP/s of at most 2.10 TFLOP/s");
}

static void bytes_have_three_digits(void **state) {
  (void)state;
  bytes_are(17, 0, "17 B");
  bytes_are(1.07e9, 0, "1.07 GB");
  bytes_are(999.6e6, 9, "  1.00 GB");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seconds_have_three_digits),
      cmocka_unit_test(rates_have_three_digits),
      cmocka_unit_test(estimates_have_two_digits),
      cmocka_unit_test(bytes_have_three_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
