/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/ring.h"

#include "base/alloc.h"

tsr_status tsr_ring_init(tsr_ring *r, const tsr_problem *problem, tsr_commands *commands) {
  /* Number of parts. At least 2: one is filled while the other is read. At most 4096: with that
   * many, no copy waits for a part. */
  static const size_t least = 2, most = 4096;
  size_t piece = (size_t)problem->options->piece;
  size_t tile = tsr_tile_largest(problem->call, problem->graph);
  r->commands = commands;
  r->host = problem->host;
  r->bytes = tsr_tile_round_up(piece < tile || tile == 0 ? piece : tile);
  size_t count = problem->options->ring / r->bytes;
  r->count = (int)(count < least ? least : count > most ? most : count);
  r->last = tsr_alloc(sizeof *r->last * (size_t)r->count);
  if (!r->last) return tsr_problem_no_memory();
  for (int i = 0; i < r->count; i++) r->last[i] = TSR_NOTHING;
  return TSR_OK;
}

void tsr_ring_free(tsr_ring *r) {
  tsr_dealloc(r->last);
}

int32_t tsr_ring_take(tsr_ring *r, const tsr_transfer *c) {
  int i = r->next++ % r->count;
  tsr_buffer buffer = {.row = c->row,
                       .col = c->col,
                       .rows = c->rows,
                       .cols = c->cols,
                       .ld = c->rows,
                       .offset = (size_t)i * r->bytes,
                       .bytes = r->bytes,
                       .role = TSR_BUFFER_STAGE,
                       .matrix = (uint8_t)c->matrix,
                       .location = (int16_t)r->host};
  int32_t index = tsr_commands_add_buffer(r->commands, buffer);
  if (index == TSR_NOTHING) return TSR_NOTHING;
  size_t *arena = &r->commands->plan->arena[r->host];
  if (*arena < buffer.offset + buffer.bytes) *arena = buffer.offset + buffer.bytes;
  tsr_commands_wait(r->commands, r->last[i]);
  return index;
}

void tsr_ring_give_back(tsr_ring *r, int32_t buffer, int32_t command) {
  size_t i = r->commands->plan->buffers.items[buffer].offset / r->bytes;
  r->last[i] = command;
}
