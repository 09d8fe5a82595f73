/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/print/machine.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/amounts.h"
#include "machine/picture/draw.h"
#include "plan/model/busy.h"
#include "plan/names.h"

static void add_shares(const tsr_plan *plan, const tsr_busy *busy, tsr_machine_busy *load) {
  for (int i = 0; i < TSR_MACHINE_LOCATIONS; i++)
    for (int j = 0; j < TSR_MACHINE_LOCATIONS; j++)
      load->link[i][j] = tsr_busy_share(plan, busy->link[i][j]);
  for (int i = 0; i < TSR_MACHINE_CHANNELS; i++)
    load->channel[i] = tsr_busy_share(plan, busy->channel[i]);
  for (int i = 0; i < TSR_MACHINE_DEVICES; i++)
    load->kernels[i] = tsr_busy_share(plan, busy->kernels[i]);
}

static tsr_status add_title(const tsr_plan *plan, tsr_machine_busy *load) {
  const tsr_call call = tsr_call_as_asked(&plan->call);
  tsr_text title = TSR_TEXT_INIT;
  char *bytes = NULL;
  tsr_name name;
  tsr_text_add(&title, "%s %lld x %lld x %lld", tsr_call_name(&plan->call, &name),
               (long long)call.m, (long long)call.n, (long long)call.k);
  if (plan->devices == 0) tsr_text_add(&title, ", by the CPU's BLAS");
  if (plan->seconds > 0 && isfinite(plan->seconds)) {
    tsr_text_add(&title, ": ");
    tsr_add_seconds(&title, plan->seconds);
    tsr_text_add(&title, " predicted, ");
    tsr_add_rate(&title, tsr_call_flops(&plan->call) / plan->seconds);
  }
  TSR_TRY(tsr_text_take(&title, &bytes));
  snprintf(load->title, sizeof load->title, "%s", bytes);
  tsr_dealloc(bytes);
  return TSR_OK;
}

static tsr_status draw(const tsr_plan *plan, const tsr_machine *machine, tsr_busy *busy,
                       tsr_machine_busy *load, tsr_text *text) {
  if (busy == NULL || load == NULL)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory to draw a machine: free some");
  TSR_TRY(add_title(plan, load));
  if (plan->devices > 0) TSR_TRY(tsr_busy_count(plan, machine, busy));
  add_shares(plan, busy, load);
  return tsr_machine_draw(machine, load, text);
}

tsr_status tsr_plan_draw_machine(const tsr_plan *plan, const tsr_machine *machine, tsr_text *text) {
  if (machine == NULL || (plan->devices > 0 && plan->machine_devices != machine->devices))
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "the plan is for a machine of %d devices that the context no longer has; make "
                    "the plan again",
                    plan->machine_devices);
  tsr_busy *busy = tsr_alloc_zero(1, sizeof *busy);
  tsr_machine_busy *load = tsr_alloc_zero(1, sizeof *load);
  tsr_status status = draw(plan, machine, busy, load, text);
  tsr_dealloc(busy);
  tsr_dealloc(load);
  return status;
}
