/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Counts the bytes that a plan copies, by direction. */
#include "plan/names.h"

tsr_traffic tsr_plan_traffic(const tsr_plan *plan) {
  tsr_traffic sum = {.plans = 1};
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *command = &plan->commands.items[i];
    if (command->kind != TSR_COMMAND_COPY) continue;
    int from = plan->buffers.items[command->buffer[0]].location;
    int to = plan->buffers.items[command->buffer[1]].location;
    bool from_device = from < plan->machine_devices, to_device = to < plan->machine_devices;
    double bytes = tsr_command_bytes(plan, command);
    if (from_device && to_device)
      *(from == to ? &sum.within_devices : &sum.device_to_device) += bytes;
    if (!from_device && to_device) sum.host_to_device += bytes;
    if (from_device && !to_device) sum.device_to_host += bytes;
  }
  return sum;
}
