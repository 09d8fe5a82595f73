/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/search/host.h"

int tsr_search_host(const tsr_machine *machine, const tsr_call *call) {
  double elements[TSR_MACHINE_LOCATIONS] = {0};
  int best = machine->devices;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const tsr_operand *o = &call->operand[x];
    if (tsr_is_device(machine, o->location)) continue;
    elements[o->location] += (double)o->rows * (double)o->cols;
    if (elements[o->location] > elements[best]) best = o->location;
  }
  return best;
}

double tsr_search_pitch(const tsr_machine *machine, const tsr_call *call) {
  double most = 0;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const tsr_operand *o = &call->operand[x];
    double pitch = (double)o->ld * (double)tsr_type_get(call->type)->size;
    if (o->rows > 0 && !tsr_is_device(machine, o->location) && pitch > most) most = pitch;
  }
  return most;
}
