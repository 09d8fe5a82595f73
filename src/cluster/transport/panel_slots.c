/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/transport/panel_slots.h"

bool tsr_panel_slots_suffice(const tsr_panel_slots *s, const int count[2], const size_t bytes[2]) {
  return s->count[0] >= count[0] && s->count[1] >= count[1] && s->bytes[0] >= bytes[0] &&
         s->bytes[1] >= bytes[1];
}

void tsr_panel_slots_free(const tsr_transport *transport, void *state, tsr_panel_slots *s) {
  for (int operand = 0; operand < 2; operand++)
    for (int i = 0; i < TSR_SLOTS_MOST; i++)
      if (s->memory[operand][i] != NULL) transport->release(state, s->memory[operand][i]);
  *s = (tsr_panel_slots){0};
}

static tsr_status allocate(const tsr_transport *transport, void *state, tsr_panel_slots *s) {
  for (int operand = 0; operand < 2; operand++)
    for (int i = 0; i < s->count[operand] && s->bytes[operand] > 0; i++)
      TSR_TRY(transport->allocate(state, s->bytes[operand], &s->memory[operand][i]));
  return TSR_OK;
}

static size_t bytes_of(const tsr_panel_slots *s) {
  return (size_t)s->count[0] * s->bytes[0] + (size_t)s->count[1] * s->bytes[1];
}

/* The slots for products of two kinds that may alternate: the larger count and size of each
 * operand. If that takes more than 1.5 times the memory of the larger kind, only the slots `y`. */
static tsr_panel_slots unite(const tsr_panel_slots *x, const tsr_panel_slots *y) {
  tsr_panel_slots both = {0};
  for (int i = 0; i < 2; i++) {
    both.count[i] = x->count[i] > y->count[i] ? x->count[i] : y->count[i];
    both.bytes[i] = x->bytes[i] > y->bytes[i] ? x->bytes[i] : y->bytes[i];
  }
  size_t larger = bytes_of(x) > bytes_of(y) ? bytes_of(x) : bytes_of(y);
  return bytes_of(&both) <= larger + larger / 2 ? both : *y;
}

tsr_status tsr_panel_slots_provide(const tsr_transport *transport, void *state, const int count[2],
                                   const size_t bytes[2], tsr_panel_slots *s) {
  if (tsr_panel_slots_suffice(s, count, bytes)) return TSR_OK;
  tsr_panel_slots asked = {.count = {count[0], count[1]}, .bytes = {bytes[0], bytes[1]}};
  tsr_panel_slots wanted = unite(s, &asked);
  tsr_panel_slots_free(transport, state, s);
  for (int i = 0; i < 2; i++) s->count[i] = wanted.count[i], s->bytes[i] = wanted.bytes[i];
  tsr_status status = allocate(transport, state, s);
  if (status == TSR_OK) return TSR_OK;
  tsr_error error;
  tsr_error_take(status, &error);
  tsr_panel_slots_free(transport, state, s);
  return tsr_error_put(&error);
}
