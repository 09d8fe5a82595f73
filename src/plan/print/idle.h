/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* How long each device stands idle in a plan, by the prediction: before its first kernel, between
 * kernels, and after its last one. Uncut-GEMMs, Figure 6, shows this time. */
#ifndef TSR_PLAN_PRINT_IDLE_H
#define TSR_PLAN_PRINT_IDLE_H

#include "base/text.h"
#include "plan/model/busy.h"

/* When a device's first kernel begins, and when its last one ends. A device without kernels: the
 * end of the plan, and 0. */
void tsr_idle_ends(const tsr_plan *plan, int device, double *first, double *last);

/* Appends a table for people. */
void tsr_idle_write(const tsr_plan *plan, const tsr_busy *busy, tsr_text *text);

/* Appends a member of a JSON object: a list with an entry for each device that computes. busy NULL:
 * an empty list. */
void tsr_idle_write_json(const tsr_plan *plan, const tsr_busy *busy, tsr_text *text);

#endif
