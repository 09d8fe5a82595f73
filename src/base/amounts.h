/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Amounts with their units, as people read them: three digits, or all digits before the point. */
#ifndef TSR_BASE_AMOUNTS_H
#define TSR_BASE_AMOUNTS_H

#include "base/text.h"

/* "12.3 us", "49.2 ms", "1.25 s"; from 10 minutes on "17.0 min", from 100 on "1.67 h". */
void tsr_add_seconds(tsr_text *text, double seconds);
/* The unit in which such a time is said, and what to multiply seconds with. */
double tsr_seconds_scale(double seconds, const char **unit);
/* "197 TFLOP/s"; below 1 TFLOP/s "850 GFLOP/s", below 1 GFLOP/s "85.0 MFLOP/s". */
void tsr_add_rate(tsr_text *text, double rate);
/* "197 of at most 200 TFLOP/s", "850 GFLOP/s of at most 2.10 TFLOP/s". */
void tsr_add_rate_of(tsr_text *text, double rate, double most);
/* The same in two digits or three: "12 us", "180 TFLOP/s". */
void tsr_add_seconds_in(tsr_text *text, double seconds, int digits);
void tsr_add_rate_in(tsr_text *text, double rate, int digits);
void tsr_add_rate_of_in(tsr_text *text, double rate, double most, int digits);
/* "1.07 GB", at least `width` characters wide. */
void tsr_add_bytes(tsr_text *text, int width, double bytes);

#endif
