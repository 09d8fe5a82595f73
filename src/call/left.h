/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A list of the parts of C that a run of a plan has left undone, and the reason. Another plan does
 * them. */
#ifndef TSR_CALL_LEFT_H
#define TSR_CALL_LEFT_H

#include "base/rect.h"
#include "run/runner.h"

typedef enum tsr_left_why {
  TSR_LEFT_NOTHING,
  TSR_LEFT_FOR_ACCURACY, /* products in a form could not promise their accuracy */
  TSR_LEFT_BY_DEVICE     /* a device failed, and with it the run */
} tsr_left_why;

/* A zeroed tsr_left has nothing. */
typedef struct tsr_left {
  tsr_left_why why;
  tsr_job_left_kind how; /* by a device: parts is the list only of TSR_JOB_LEFT_PARTS */
  tsr_rects parts;       /* of C, as they were before the call */
} tsr_left;

static inline void tsr_left_free(tsr_left *left) {
  tsr_rects_free(&left->parts);
  *left = (tsr_left){TSR_LEFT_NOTHING};
}

#endif
