/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/amounts.h"

#include <math.h>
#include <stdbool.h>

/* Three digits, without an exponent: "0.85", "12.3", "1790". */
static void add_number(tsr_text *text, double value) {
  int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  tsr_text_add(text, "%.*f", digits, value);
}

void tsr_add_seconds(tsr_text *text, double seconds) {
  if (!isfinite(seconds)) {
    tsr_text_add(text, "an unknown time");
    return;
  }
  const char *unit;
  double scale = tsr_seconds_scale(seconds, &unit);
  add_number(text, seconds * scale);
  tsr_text_add(text, " %s", unit);
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

void tsr_add_rate(tsr_text *text, double rate) {
  add_number(text, rate * rate_scale(rate));
  tsr_text_add(text, "%s", rate_unit(rate_scale(rate)));
}

void tsr_add_rate_of(tsr_text *text, double rate, double most) {
  bool alike = rate_scale(rate) == rate_scale(most);
  if (alike)
    add_number(text, rate * rate_scale(rate));
  else
    tsr_add_rate(text, rate);
  tsr_text_add(text, " of at most ");
  tsr_add_rate(text, most);
}

void tsr_add_bytes(tsr_text *text, int width, double bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  tsr_text amount = TSR_TEXT_INIT;
  int i = 0;
  for (; i < 5 && bytes >= 999.5; i++) bytes /= 1000;
  if (i == 0)
    tsr_text_add(&amount, "%.0f", bytes);
  else
    add_number(&amount, bytes);
  tsr_text_add(&amount, " %s", units[i]);
  text->broken |= amount.broken;
  if (!amount.broken) tsr_text_add(text, "%*s", width, amount.bytes);
  tsr_text_free(&amount);
}
