/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Amounts with their units, as people read them: three digits, or all digits before the point. */
#ifndef TSR_BASE_AMOUNTS_H
#define TSR_BASE_AMOUNTS_H

#include "base/text.h"

/* "12.3 us", "49.2 ms", "1.25 s". */
void tsr_add_seconds(tsr_text *text, double seconds);
/* "197 TFLOP/s"; below 1 TFLOP/s "850 GFLOP/s". */
void tsr_add_rate(tsr_text *text, double rate);
/* "197 of at most 200 TFLOP/s", "850 GFLOP/s of at most 2.10 TFLOP/s". */
void tsr_add_rate_of(tsr_text *text, double rate, double most);
/* "1.07 GB", at least `width` characters wide. */
void tsr_add_bytes(tsr_text *text, int width, double bytes);

#endif
