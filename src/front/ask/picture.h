/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The timeline of a plan as a picture (SVG). */
#ifndef TSR_FRONT_ASK_PICTURE_H
#define TSR_FRONT_ASK_PICTURE_H

#include "plan/plan.h"

/* Appends an SVG picture, 1200 pixels wide, with one row for each queue: the predicted times of its
 * commands and, if known->measured.times is not NULL, their measured times. The staging queues of a
 * memory node that are idle for nine tenths of the time share a row. Of emulated devices neither
 * rates nor the floor are shown. machine may be NULL. */
tsr_status tsr_picture_draw(const tsr_plan *plan, const tsr_machine *machine,
                            const tsr_known *known, tsr_text *text);

#endif
