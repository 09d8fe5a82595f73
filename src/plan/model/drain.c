/*
 * Draining: how long after a plan whose result stays on the devices all of C could be at home, if
 * its parts were sent there as they are finished. A plan that finishes everything at the very end
 * leaves the links nothing to do before.
 */
#include <math.h>

#include "plan/axes.h"
#include "plan/names.h"
#include "plan/residency.h"

/* What a device may send to the host while all others do, bytes/s. */
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

/* Elements of the rectangle that are in none of the set. */
static double area_outside(const tsr_rects *set, tsr_rect rect) {
  tsr_rects inside = {0};
  double area = tsr_rect_area(rect);
  if (tsr_rects_clip(set, rect, &inside)) area -= tsr_rects_area(&inside);
  tsr_rects_free(&inside);
  return area;
}

/* When the device has sent everything: goes backwards from the end, where what is written last goes
 * last. From each command on, what it and later ones finish has still to be sent. */
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
