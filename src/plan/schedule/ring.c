/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/ring.h"

#include "base/alloc.h"
#include "plan/model/links.h"

static bool open_parts(tsr_ring *r) {
  r->last = tsr_alloc(sizeof *r->last * (size_t)r->count);
  for (int i = 0; r->last != NULL && i < r->count; i++) r->last[i] = TSR_NOTHING;
  return r->last != NULL;
}

/* Number of parts. At least 2: one is filled while the other is read. At most 4096: with that many,
 * no copy waits for a part. */
static const size_t least_parts = 2, most_parts = 4096;

/* Bytes of a part of a ring of so many bytes: what the largest transfer has, but no more than of
 * which the ring holds two. */
static size_t bytes_of_part(size_t ring, size_t largest) {
  size_t most = ring / least_parts / TSR_TILE_ALIGN * TSR_TILE_ALIGN;
  if (most < TSR_TILE_ALIGN) most = TSR_TILE_ALIGN;
  return largest < most ? largest : most;
}

/* The ring of a node: an equal part of the memory that the options have for all. */
static tsr_status init(tsr_ring *r, const tsr_problem *problem, int node, tsr_commands *commands) {
  size_t piece = (size_t)problem->options->piece;
  size_t tile = tsr_tile_largest(problem->call, problem->graph);
  size_t ring = problem->options->ring / (size_t)problem->rings;
  r->commands = commands;
  r->location = problem->devices + node;
  r->role = TSR_BUFFER_STAGE;
  r->largest = tsr_tile_round_up(piece < tile || tile == 0 ? piece : tile);
  r->bytes = bytes_of_part(ring, r->largest);
  size_t count = ring / r->bytes;
  r->count = (int)(count < least_parts ? least_parts : count > most_parts ? most_parts : count);
  return open_parts(r) ? TSR_OK : tsr_problem_no_memory();
}

tsr_status tsr_rings_init(tsr_rings *rings, const tsr_problem *problem, tsr_commands *commands) {
  rings->problem = problem;
  for (int node = 0; node < problem->machine->nodes; node++) {
    int ring = problem->ring_of[node];
    if (ring != TSR_NOTHING) TSR_TRY(init(&rings->of[ring], problem, node, commands));
  }
  return TSR_OK;
}

void tsr_rings_free(tsr_rings *rings) {
  for (int i = 0; i < TSR_MACHINE_NODES; i++) tsr_ring_free(&rings->of[i]);
}

tsr_ring *tsr_rings_near(tsr_rings *rings, int device) {
  const tsr_problem *problem = rings->problem;
  int node = tsr_ring_node(problem->machine, device) - problem->devices;
  return &rings->of[problem->ring_of[node]];
}

bool tsr_ring_init_on(tsr_ring *r, const tsr_ring *like, int device, int count) {
  size_t *arena = &like->commands->plan->arena[device];
  *r = (tsr_ring){.commands = like->commands,
                  .location = device,
                  .role = TSR_BUFFER_TILE,
                  .begin = *arena,
                  .count = count,
                  .bytes = like->largest,
                  .largest = like->largest};
  *arena += (size_t)count * r->bytes;
  return open_parts(r);
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
                       .offset = r->begin + (size_t)i * r->bytes,
                       .bytes = r->bytes,
                       .role = r->role,
                       .matrix = (uint8_t)c->matrix,
                       .location = (int16_t)r->location};
  int32_t index = tsr_commands_add_buffer(r->commands, buffer);
  if (index == TSR_NOTHING) return TSR_NOTHING;
  size_t *arena = &r->commands->plan->arena[r->location];
  if (*arena < buffer.offset + buffer.bytes) *arena = buffer.offset + buffer.bytes;
  tsr_commands_wait(r->commands, r->last[i]);
  return index;
}

void tsr_ring_give_back(tsr_ring *r, int32_t buffer, int32_t command) {
  size_t i = (r->commands->plan->buffers.items[buffer].offset - r->begin) / r->bytes;
  r->last[i] = command;
}
