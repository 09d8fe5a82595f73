/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "call/traced.h"

#include <string.h>

#include "base/alloc.h"
#include "call/plans.h"

void tsr_traces_add(tsr_traces *traces, const tsr_job *job, const float *times) {
  const tsr_plan *plan = tsr_job_plan(job);
  tsr_traced kept = {.plan = plan, .begin = tsr_job_entered(job)};
  size_t bytes = 2 * plan->commands.count * sizeof *times;
  kept.times = tsr_alloc(bytes > 0 ? bytes : 1);
  if (kept.times == NULL || !TSR_VEC_PUSH(traces, kept)) {
    tsr_dealloc(kept.times);
    return;
  }
  memcpy(kept.times, times, bytes);
  tsr_plan_ref(plan);
}

void tsr_traces_free(tsr_traces *traces) {
  for (size_t i = 0; i < traces->count; i++) {
    tsr_plan_unref(traces->items[i].plan);
    tsr_dealloc(traces->items[i].times);
  }
  TSR_VEC_FREE(traces);
}
