/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Draining: when all of C could be back at home after a plan whose result stays on the devices, if
 * each part were sent home as soon as it is complete. A plan that completes everything at its very
 * end leaves the links idle before that.
 */
#include <math.h>

#include "plan/axes.h"
#include "plan/names.h"
#include "plan/residency.h"

/* Bytes/s that a device can send to the host while all other devices send, too. */
static double rate_out(const tsr_machine *machine, int device) {
  int host = machine->devices, senders = machine->devices;
  double rate = machine->link[device][host].bandwidth;
  for (int c = 0; c < machine->channels; c++) {
    const tsr_channel *channel = &machine->channel[c];
    int out = 0;
    for (int u = 0; u < channel->count; u++) out += channel->uses[u].to == host;
    if (out == senders) rate = fmin(rate, channel->capacity / senders);
  }
  return rate;
}

static bool writes_result(const tsr_plan *plan, const tsr_command *c, int device) {
  if (c->kind != TSR_COMMAND_KERNEL || plan->queue[c->queue].location != device) return false;
  const tsr_buffer *b = &plan->buffers.items[c->buffer[2]];
  return b->role == TSR_BUFFER_CACHED && b->matrix == TSR_C_;
}

/* Elements of the rectangle outside all rectangles of the set. */
static double area_outside(const tsr_rects *set, tsr_rect rect) {
  tsr_rects inside = {0};
  double area = tsr_rect_area(rect);
  if (tsr_rects_clip(set, rect, &inside)) area -= tsr_rects_area(&inside);
  tsr_rects_free(&inside);
  return area;
}

/* When the device has sent all of C that it computed, s from the start of the plan. Parts are sent
 * in the order of their last writes, so that the loop goes backwards: `behind` is the time to send
 * what this command and later ones complete. */
static double drain_device(const tsr_plan *plan, const tsr_machine *machine, int device) {
  double rate = rate_out(machine, device), behind = 0, most = 0;
  double size = (double)tsr_matrix_element(&plan->call, TSR_C_);
  tsr_rects final = {0};
  for (size_t i = plan->commands.count; i-- > 0;) {
    const tsr_command *c = &plan->commands.items[i];
    if (!writes_result(plan, c, device)) continue;
    tsr_rect rect = tsr_command_rect(c, 2);
    behind += area_outside(&final, rect) * size / rate;
    most = fmax(most, (double)c->end + behind);
    if (!tsr_rects_add(&final, rect)) break;
  }
  tsr_rects_free(&final);
  return most;
}

double tsr_plan_drained(const tsr_plan *plan, const tsr_machine *machine) {
  double most = plan->seconds;
  for (int d = 0; d < machine->devices && plan->after != NULL; d++)
    most = fmax(most, drain_device(plan, machine, d));
  return most;
}
