/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/amounts.h"

#include <math.h>
#include <stdbool.h>

/* Three digits, or two, without an exponent: "0.85", "12.3", "1790"; "0.9", "12", "1800". */
static void add_number(tsr_text *text, double value, int digits) {
  double unit = 1; /* of the last digit: that before the point, or 10, 100, ... with two digits */
  int behind = digits - (value >= 99.95 ? 3 : value >= 9.995 ? 2 : 1);
  if (digits == 2) behind = value >= 9.95 ? 0 : value >= 0.995 ? 1 : 2;
  if (digits == 2)
    while (value / unit >= 99.5) unit *= 10;
  tsr_text_add(text, "%.*f", behind > 0 ? behind : 0,
               unit > 1 ? round(value / unit) * unit : value);
}

void tsr_add_seconds_in(tsr_text *text, double seconds, int digits) {
  if (!isfinite(seconds)) {
    tsr_text_add(text, "an unknown time");
    return;
  }
  const char *unit;
  double scale = tsr_seconds_scale(seconds, &unit);
  add_number(text, seconds * scale, digits);
  tsr_text_add(text, " %s", unit);
}

void tsr_add_seconds(tsr_text *text, double seconds) {
  tsr_add_seconds_in(text, seconds, 3);
}

double tsr_seconds_scale(double seconds, const char **unit) {
  static const struct {
    double below, scale;
    const char *unit;
  } units[] = {{0.9995e-3, 1e6, "us"},
               {0.9995, 1e3, "ms"},
               {599.5, 1, "s"},
               {5997, 1.0 / 60, "min"},
               {INFINITY, 1.0 / 3600, "h"}};
  int i = 0;
  while (seconds >= units[i].below && i < 4) i++;
  *unit = units[i].unit;
  return units[i].scale;
}

static double rate_scale(double rate) {
  return rate >= 999.5e9 ? 1e-12 : rate >= 0.9995e9 ? 1e-9 : 1e-6;
}

static const char *rate_unit(double scale) {
  return scale == 1e-12 ? " TFLOP/s" : scale == 1e-9 ? " GFLOP/s" : " MFLOP/s";
}

void tsr_add_rate_in(tsr_text *text, double rate, int digits) {
  add_number(text, rate * rate_scale(rate), digits);
  tsr_text_add(text, "%s", rate_unit(rate_scale(rate)));
}

void tsr_add_rate(tsr_text *text, double rate) {
  tsr_add_rate_in(text, rate, 3);
}

void tsr_add_rate_of_in(tsr_text *text, double rate, double most, int digits) {
  bool alike = rate_scale(rate) == rate_scale(most);
  if (alike)
    add_number(text, rate * rate_scale(rate), digits);
  else
    tsr_add_rate_in(text, rate, digits);
  tsr_text_add(text, " of at most ");
  tsr_add_rate_in(text, most, digits);
}

void tsr_add_rate_of(tsr_text *text, double rate, double most) {
  tsr_add_rate_of_in(text, rate, most, 3);
}

void tsr_add_bytes(tsr_text *text, int width, double bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  tsr_text amount = TSR_TEXT_INIT;
  int i = 0;
  for (; i < 5 && bytes >= 999.5; i++) bytes /= 1000;
  if (i == 0)
    tsr_text_add(&amount, "%.0f", bytes);
  else
    add_number(&amount, bytes, 3);
  tsr_text_add(&amount, " %s", units[i]);
  text->broken |= amount.broken;
  if (!amount.broken) tsr_text_add(text, "%*s", width, amount.bytes);
  tsr_text_free(&amount);
}
