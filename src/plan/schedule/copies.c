/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/copies.h"

#include "base/alloc.h"
#include "blas/family.h"

static size_t tiles_of(const tsr_graph *graph, int matrix) {
  const tsr_tile_grid *grid = &graph->grid[matrix];
  return (size_t)grid->rows.count * (size_t)grid->cols.count;
}

static bool make_items(tsr_copies *c) {
  size_t count = 0;
  for (int x = 0; x < TSR_MATRICES; x++) {
    c->first[x] = count;
    count += tiles_of(c->problem->graph, x) * c->devices;
  }
  c->first[TSR_MATRICES] = count;
  c->items = tsr_alloc(sizeof *c->items * (count + 1));
  if (!c->items) return false;
  for (size_t i = 0; i < count; i++)
    c->items[i] = (tsr_tile_copy){TSR_NOTHING, TSR_NOTHING, TSR_NOTHING, TSR_NOTHING, TSR_NOTHING,
                                  TSR_NOTHING, 0,           0,           false,       false};
  return true;
}

static bool find_writers(tsr_copies *c) {
  const tsr_graph *graph = c->problem->graph;
  size_t tiles = tiles_of(graph, TSR_C_);
  bool factors = tsr_family_of(c->problem->call->operation) == TSR_FACTOR;
  if (!factors || !tsr_has_cached_blocks(c->problem, TSR_C_)) return true;
  c->writer = tsr_alloc(sizeof *c->writer * (tiles + 1));
  if (!c->writer) return false;
  for (size_t t = 0; t < tiles; t++) c->writer[t] = TSR_NOTHING;
  for (size_t t = 0; t < graph->tasks.count; t++) {
    const tsr_task *task = &graph->tasks.items[t];
    if (task->operand[2].matrix == TSR_C_) c->writer[task->operand[2].tile] = task->device;
  }
  return true;
}

static bool find_readers(tsr_copies *c) {
  const tsr_graph *graph = c->problem->graph;
  for (int x = TSR_A; x <= TSR_B_; x++) {
    c->readers[x] = tsr_alloc_zero(tiles_of(graph, x) + 1, sizeof *c->readers[x]);
    if (!c->readers[x]) return false;
  }
  for (size_t t = 0; t < graph->tasks.count; t++) {
    const tsr_task *task = &graph->tasks.items[t];
    for (int i = 0; i < 3; i++) {
      if (task->operand[i].access == TSR_NONE) continue;
      tsr_task_operand o = tsr_operand_source(c->problem, &task->operand[i]);
      if (o.matrix <= TSR_B_) c->readers[o.matrix][o.tile] |= 1u << task->device;
    }
  }
  return true;
}

static bool make_written_back(tsr_copies *c) {
  size_t tiles = tiles_of(c->problem->graph, TSR_C_);
  c->written_back = tsr_alloc(sizeof *c->written_back * (tiles + 1));
  if (!c->written_back) return false;
  for (size_t t = 0; t < tiles; t++) c->written_back[t] = TSR_NOTHING;
  return true;
}

tsr_status tsr_copies_init(tsr_copies *c, const tsr_problem *problem) {
  c->problem = problem;
  c->devices = (size_t)problem->devices;
  if (!make_items(c) || !find_readers(c) || !find_writers(c) || !make_written_back(c))
    return tsr_problem_no_memory();
  return TSR_OK;
}

void tsr_copies_free(tsr_copies *c) {
  tsr_dealloc(c->items);
  TSR_VEC_FREE(&c->pieces);
  for (int x = TSR_A; x <= TSR_B_; x++) tsr_dealloc(c->readers[x]);
  tsr_dealloc(c->writer);
  tsr_dealloc(c->written_back);
}

bool tsr_copies_add_pieces(tsr_copies *c, tsr_tile_copy *copy, int count) {
  if (!TSR_VEC_RESERVE(&c->pieces, (size_t)count)) return false;
  copy->pieces = (int32_t)c->pieces.count;
  for (int i = 0; i < count; i++) c->pieces.items[c->pieces.count++] = (tsr_piece){TSR_NOTHING, 0};
  return true;
}

void tsr_copies_finish(tsr_copies *c, int matrix, int32_t tile, int device, int32_t command) {
  const tsr_tile_copy *copy = tsr_copy_of(c, matrix, tile, device);
  if (copy->pieces == TSR_NOTHING) return;
  tsr_rect rect = tsr_tile_rect(c->problem, matrix, tile);
  tsr_task_operand whole = {.row = rect.row0,
                            .col = rect.col0,
                            .rows = (int32_t)(rect.row1 - rect.row0),
                            .cols = (int32_t)(rect.col1 - rect.col0),
                            .tile = tile,
                            .matrix = (uint8_t)matrix};
  int count = tsr_pieces_of(c->problem, &whole).count;
  for (int i = 0; i < count; i++) c->pieces.items[copy->pieces + i] = (tsr_piece){command, 0};
}

bool tsr_copies_wait(const tsr_copies *c, const tsr_task_operand *o, int device,
                     tsr_commands *commands) {
  const tsr_tile_copy *copy = tsr_copy_of(c, o->matrix, o->tile, device);
  if (copy->pieces == TSR_NOTHING) return true;
  tsr_piece_range p = tsr_pieces_of(c->problem, o);
  const tsr_piece *records = &c->pieces.items[copy->pieces];
  for (int col = p.c0; col < p.c1; col++)
    for (int row = p.r0; row < p.r1; row++)
      tsr_commands_wait(commands, records[col * p.down + row].command);
  return tsr_pieces_are_all(&p);
}
