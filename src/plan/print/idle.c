/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/print/idle.h"

#include <math.h>

#include "plan/print/limits.h"

/* Seconds of a device, which add up to those of the plan. */
typedef struct idle {
  double before, between, after, busy;
} idle;

void tsr_idle_ends(const tsr_plan *plan, int device, double *first, double *last) {
  *first = plan->seconds;
  *last = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_KERNEL || plan->queue[c->queue].location != device) continue;
    *first = fmin(*first, c->begin);
    *last = fmax(*last, c->end);
  }
}

static idle idle_of(const tsr_plan *plan, const tsr_busy *busy, int device) {
  double first, last;
  tsr_idle_ends(plan, device, &first, &last);
  idle found = {
      .before = first, .after = fmax(0, plan->seconds - last), .busy = busy->kernels[device]};
  found.between = fmax(0, last - first - found.busy);
  return found;
}

void tsr_idle_write(const tsr_plan *plan, const tsr_busy *busy, tsr_text *text) {
  tsr_device_set used = tsr_devices_used(plan);
  tsr_text_add(text, "kernels, ms     busy     idle: before  between    after\n");
  for (int d = 0; d < plan->machine_devices; d++) {
    if (!used.has[d]) continue;
    idle i = idle_of(plan, busy, d);
    tsr_text_add(text, "  device %-4d %8.3f     %10.3f %8.3f %8.3f\n", d, 1e3 * i.busy,
                 1e3 * i.before, 1e3 * i.between, 1e3 * i.after);
  }
}

void tsr_idle_write_json(const tsr_plan *plan, const tsr_busy *busy, tsr_text *text) {
  tsr_device_set used = tsr_devices_used(plan);
  const char *separator = "";
  tsr_text_add(text, "  \"idle\": [");
  for (int d = 0; busy != NULL && d < plan->machine_devices; d++) {
    if (!used.has[d]) continue;
    idle i = idle_of(plan, busy, d);
    tsr_text_add(text,
                 "%s{\"device\": %d, \"busy_s\": %.6g, \"idle_s\": %.6g, \"before_s\": %.6g, "
                 "\"between_s\": %.6g, \"after_s\": %.6g}",
                 separator, d, i.busy, i.before + i.between + i.after, i.before, i.between,
                 i.after);
    separator = ", ";
  }
  tsr_text_add(text, "],\n");
}
