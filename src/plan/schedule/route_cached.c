/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Routes with residency: the source of a part of a rectangle is a cached block in which it is
 * valid. */
#include <math.h>

#include "plan/schedule/routes.h"

/* A rectangle to copy piece by piece. The next user of its tile at device `marked` waits for the
 * copies. */
typedef struct shift {
  int matrix;
  int32_t tile;
  tsr_end from, to;
  int marked; /* TSR_NOTHING: no command waits */
} shift;

static bool move_piece(tsr_routes *r, const shift *m, const tsr_transfer *load) {
  int from = m->from.location, to = m->to.location;
  float when = tsr_route_arrival(r->availability, load, from, to, 0);
  int32_t command = tsr_move(r->mover, load, &m->from, &m->to);
  if (command == TSR_NOTHING) return false;
  if (!tsr_on_host(r->problem, to) && isfinite(when))
    tsr_route_occupy(r->availability, load, from, to, 0, when);
  if (m->marked == TSR_NOTHING) return true;
  tsr_mark mark = {load->row, load->rows, load->col, load->cols, command, TSR_NOTHING};
  tsr_tile_copy *copy = tsr_copy_of(r->copies, m->matrix, m->tile, m->marked);
  return tsr_marks_push(r->marks, &copy->writers, mark);
}

static bool move_part(tsr_routes *r, const shift *m, tsr_rect part) {
  tsr_task_operand o = tsr_part_of_tile(m->matrix, m->tile, part);
  tsr_piece_range p = tsr_pieces_alone(r->problem, &o);
  for (int col = p.c0; col < p.c1; col++)
    for (int row = p.r0; row < p.r1; row++) {
      tsr_transfer load = tsr_transfer_of(r->problem, &o, &p, row, col);
      if (!move_piece(r, m, &load)) return false;
    }
  return true;
}

/* The end of a move at an old cached block. False: no host memory. */
static bool cached_block_end(const tsr_routes *r, int32_t number, tsr_end *end) {
  int device = tsr_cached_blocks_old(r->blocks, number)->device;
  *end = (tsr_end){device, tsr_cached_blocks_buffer(r->blocks, (size_t)number), NULL, TSR_NOTHING};
  return end->buffer != TSR_NOTHING;
}

/* ---- Gathering -------------------------------------------------------------- */

/* Copies a rectangle to a tile's cached block, and adds the copies to the tile's writers. */
static bool copy_part(tsr_routes *r, const tsr_transfer *whole, tsr_rect part, tsr_end from,
                      int device) {
  int32_t buffer = tsr_copy_of(r->copies, whole->matrix, whole->tile, device)->buffer;
  tsr_end to = {device, buffer, NULL, TSR_NOTHING};
  return move_part(r, &(shift){whole->matrix, whole->tile, from, to, device}, part);
}

/* Copies the parts of `left` that are valid in a cached block from there, and takes them out of
 * `left`. */
static bool copy_from_cached_block(tsr_routes *r, const tsr_transfer *c, int32_t number, int device,
                                   tsr_rects *left) {
  const tsr_cached_block *block = tsr_cached_blocks_old(r->blocks, number);
  tsr_rects parts = {0}, found = {0};
  tsr_end from;
  bool done = true;
  for (size_t i = 0; done && i < left->count; i++) {
    done = tsr_rects_clip(&block->valid, left->items[i], &parts);
    for (size_t j = 0; done && j < parts.count; j++)
      done = cached_block_end(r, number, &from) && copy_part(r, c, parts.items[j], from, device) &&
             tsr_rects_add(&found, parts.items[j]);
  }
  for (size_t i = 0; done && i < found.count; i++) done = tsr_rects_subtract(left, found.items[i]);
  tsr_rects_free(&parts);
  tsr_rects_free(&found);
  return done;
}

/* Copies the parts of `left` from cached blocks, first from those of the device itself, and the
 * rest from home. */
static bool copy_all_parts(tsr_routes *r, const tsr_transfer *c, int device, tsr_rects *left) {
  if (!tsr_cached_blocks_ask(r->blocks, c->matrix, tsr_transfer_rect(c))) return false;
  for (int own = 1; own >= 0; own--)
    for (size_t i = 0; i < r->blocks->index.found.count && left->count > 0; i++) {
      int32_t number = r->blocks->index.found.items[i];
      const tsr_cached_block *old = tsr_cached_blocks_old(r->blocks, number);
      if (!old || (old->device == device) != (own == 1)) continue;
      if (!copy_from_cached_block(r, c, number, device, left)) return false;
    }
  for (size_t i = 0; i < left->count; i++)
    if (!copy_part(r, c, left->items[i], tsr_end_home(r->problem, c->matrix), device)) return false;
  return true;
}

/* Copies a rectangle to its tile in parts, without those that are valid in the tile's cached
 * block. */
static bool gather(tsr_routes *r, const tsr_transfer *c, int device) {
  tsr_tile_copy *copy = tsr_copy_of(r->copies, c->matrix, c->tile, device);
  tsr_rects left = {0};
  const tsr_cached_block *block = tsr_cached_blocks_of(r->blocks, copy);
  if (tsr_rects_covers(&block->valid, tsr_transfer_rect(c))) return true;
  bool done = tsr_rects_add(&left, tsr_transfer_rect(c));
  for (size_t i = 0; done && i < block->valid.count; i++)
    done = tsr_rects_subtract(&left, block->valid.items[i]);
  done = done && copy_all_parts(r, c, device, &left);
  tsr_rects_free(&left);
  return done;
}

bool tsr_route_gather_piece(tsr_routes *r, const tsr_transfer *c, int index, int device) {
  if (!gather(r, c, device)) return false;
  *tsr_piece_at(r->copies, c->matrix, c->tile, device, index) = (tsr_piece){TSR_GATHERED, 0};
  return true;
}

bool tsr_route_gather(tsr_routes *r, const tsr_task_operand *o, int device) {
  tsr_transfer load = {.matrix = o->matrix,
                       .tile = o->tile,
                       .row = o->row,
                       .col = o->col,
                       .rows = o->rows,
                       .cols = o->cols};
  return gather(r, &load, device);
}

/* ---- Write-back, opening ---------------------------------------------------- */

/* Writes back one rectangle of a cached block. The tile's next writer at the device, if there is
 * one, waits. */
static bool write_back_part(tsr_routes *r, const tsr_task_operand *o, int32_t number, tsr_rect part,
                            int device) {
  tsr_end home = tsr_end_home(r->problem, o->matrix);
  shift m = {o->matrix, o->tile, .to = home, .marked = device};
  return cached_block_end(r, number, &m.from) && move_part(r, &m, part);
}

bool tsr_route_write_back_newer(tsr_routes *r, const tsr_task_operand *o, int device) {
  tsr_rect rect = tsr_operand_rect(o);
  tsr_rects parts = {0};
  bool done = tsr_cached_blocks_ask(r->blocks, o->matrix, rect);
  for (size_t i = 0; done && i < r->blocks->index.found.count; i++) {
    int32_t number = r->blocks->index.found.items[i];
    const tsr_cached_block *old = tsr_cached_blocks_old(r->blocks, number);
    if (!old) continue;
    done = tsr_rects_clip(&old->newer, rect, &parts);
    for (size_t j = 0; done && j < parts.count; j++)
      done = write_back_part(r, o, number, parts.items[j], device);
  }
  tsr_rects_free(&parts);
  return done;
}

/* The parts [*first, *end) of the cuts that lie whole in [from, to). */
static void parts_in(const tsr_cuts *cuts, int64_t from, int64_t to, int *first, int *end) {
  *first = 0;
  while (*first < cuts->count && cuts->at[*first] < from) ++*first;
  *end = *first;
  while (*end < cuts->count && cuts->at[*end + 1] <= to) ++*end;
}

static bool open_tile(tsr_routes *r, const tsr_cached_block *block, int32_t tile) {
  tsr_rect rect = tsr_tile_rect(r->problem, block->matrix, tile);
  if (!tsr_rects_meets(&block->valid, rect)) return true;
  tsr_task_operand o = tsr_part_of_tile(block->matrix, tile, rect);
  int count = tsr_pieces_of(r->problem, &o).count;
  return tsr_places_open(r->places, block->matrix, tile, block->device, count);
}

static bool open_cached_block(tsr_routes *r, const tsr_cached_block *block) {
  const tsr_tile_grid *grid = &r->problem->graph->grid[block->matrix];
  int i0, i1, j0, j1;
  parts_in(&grid->rows, block->rect.row0, block->rect.row1, &i0, &i1);
  parts_in(&grid->cols, block->rect.col0, block->rect.col1, &j0, &j1);
  for (int i = i0; i < i1; i++)
    for (int j = j0; j < j1; j++)
      if (!open_tile(r, block, i * grid->cols.count + j)) return false;
  return true;
}

bool tsr_route_open_cached_blocks(tsr_routes *r) {
  const tsr_residency *before = r->problem->options->residency;
  for (size_t i = 0; i < tsr_residency_count(before); i++)
    if (!open_cached_block(r, &before->blocks.items[i])) return false;
  return true;
}
