/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The measured times of a sequence of calls, for its timeline.
 */
#ifndef TSR_CALL_TRACED_H
#define TSR_CALL_TRACED_H

#include "base/vec.h"
#include "run/runner.h"

typedef struct tsr_traced {
  const tsr_plan *plan; /* a reference; NULL: work that the host does without a plan */
  float *times;         /* measured begin and end of each command [s from begin] */
  double begin;         /* tsr_now at the call */
  double seconds;       /* duration of the host's work */
  char name[32];        /* name of the host's work */
} tsr_traced;

typedef TSR_VEC(tsr_traced) tsr_traces;

/* Adds a copy of the times of a complete job. Without host memory, the call is missing from the
 * timeline. */
void tsr_traces_add(tsr_traces *traces, const tsr_job *job, const float *times);

void tsr_traces_free(tsr_traces *traces);

#endif
