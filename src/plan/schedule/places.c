/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/places.h"

#include <string.h>

/* The buffer of a tile, with the bytes that it needs, without a place yet. */
static tsr_buffer buffer_for(const tsr_problem *problem, int matrix, int32_t tile, int device) {
  tsr_rect rect = tsr_tile_rect(problem, matrix, tile);
  tsr_buffer b = {.row = rect.row0,
                  .col = rect.col0,
                  .rows = rect.row1 - rect.row0,
                  .cols = rect.col1 - rect.col0,
                  .role = TSR_BUFFER_TILE,
                  .matrix = (uint8_t)matrix,
                  .location = (int16_t)device};
  b.bytes = tsr_tile_memory(problem->call, matrix, b.rows, b.cols, &b.ld);
  return b;
}

/* ---- How tiles fit -------------------------------------------------------- */

/* Adds to need[] the bytes of a matrix's tiles that tasks use and that have no cached block. */
static void add_need(const tsr_places *p, int matrix, size_t *need) {
  const tsr_copies *copies = p->copies;
  for (size_t i = copies->first[matrix]; i < copies->first[matrix + 1]; i++) {
    if (copies->items[i].next == 0) continue;
    size_t in_matrix = i - copies->first[matrix];
    int32_t tile = (int32_t)(in_matrix / copies->devices);
    int device = (int)(in_matrix % copies->devices);
    if (tsr_is_cached(copies, matrix, tile, device) &&
        tsr_cached_blocks_have(p->blocks, matrix, tsr_tile_rect(p->problem, matrix, tile), device))
      continue;
    need[device] += buffer_for(p->problem, matrix, tile, device).bytes;
  }
}

/* Whether each device's budget suffices without shared memory. need: bytes for each device. */
static bool all_fit(tsr_places *p, size_t need[TSR_MACHINE_DEVICES]) {
  for (int x = 0; x < TSR_MATRICES; x++) add_need(p, x, need);
  for (int d = 0; d < p->problem->devices; d++)
    if (need[d] > p->problem->options->budget[d]) return false;
  for (int d = 0; d < p->problem->devices; d++)
    p->spare[d] = p->problem->options->budget[d] - need[d];
  return true;
}

void tsr_places_init(tsr_places *p, const tsr_problem *problem, tsr_commands *commands,
                     tsr_copies *copies, tsr_tile_slots *slots, tsr_cached_blocks *blocks) {
  *p = (tsr_places){problem, commands, copies, slots, blocks, TSR_FITS_IN, {0}};
  size_t need[TSR_MACHINE_DEVICES] = {0};
  tsr_tile_slots_count_uses(problem, copies);
  if (all_fit(p, need)) return;
  p->fit = TSR_FITS_TIGHT;
  if (problem->options->residency == NULL) return;
  p->fit = TSR_FITS_NOT; /* cached blocks do not share memory */
  memcpy(commands->plan->arena, need, sizeof need);
}

/* ---- Places --------------------------------------------------------------- */

bool tsr_places_make(tsr_places *p, int matrix, int32_t tile, int device) {
  tsr_tile_copy *copy = tsr_copy_of(p->copies, matrix, tile, device);
  if (copy->buffer != TSR_NOTHING) return true;
  tsr_buffer buffer = buffer_for(p->problem, matrix, tile, device);
  if (tsr_is_cached(p->copies, matrix, tile, device))
    return tsr_cached_blocks_place(p->blocks, copy, buffer);
  size_t *arena = &p->commands->plan->arena[device];
  if (p->slots->in_use) {
    if (!tsr_tile_slots_take(p->slots, copy, device, &buffer)) {
      p->fit = TSR_FITS_NOT;
      return false;
    }
  } else {
    buffer.offset = *arena;
  }
  if (*arena < buffer.offset + buffer.bytes) *arena = buffer.offset + buffer.bytes;
  copy->buffer = tsr_commands_add_buffer(p->commands, buffer);
  return copy->buffer != TSR_NOTHING;
}

static bool mark_present(const tsr_places *p, int matrix, int32_t tile, const tsr_tile_copy *copy) {
  const tsr_cached_block *block = tsr_cached_blocks_of(p->blocks, copy);
  tsr_task_operand o = tsr_part_of_tile(matrix, tile, tsr_tile_rect(p->problem, matrix, tile));
  tsr_piece_range range = tsr_pieces_of(p->problem, &o);
  for (int c = range.c0; c < range.c1; c++)
    for (int r = range.r0; r < range.r1; r++) {
      tsr_rect rect = tsr_piece_rect(p->problem, matrix, &range, r, c);
      bool has;
      if (!tsr_cached_blocks_ready(p->blocks, block, rect, &has)) return false;
      if (has) p->copies->pieces.items[copy->pieces + c * range.down + r].command = TSR_PRESENT;
    }
  return true;
}

bool tsr_places_open(tsr_places *p, int matrix, int32_t tile, int device, int count) {
  if (!tsr_places_make(p, matrix, tile, device)) return false;
  tsr_tile_copy *copy = tsr_copy_of(p->copies, matrix, tile, device);
  if (copy->pieces != TSR_NOTHING) return true;
  if (!tsr_copies_add_pieces(p->copies, copy, count)) return false;
  return !tsr_is_cached(p->copies, matrix, tile, device) || mark_present(p, matrix, tile, copy);
}
