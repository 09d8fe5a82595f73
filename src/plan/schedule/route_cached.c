/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Routes with residency: the source of a part of a rectangle is a cached block in which it is
 * valid. */
#include <math.h>

#include "plan/schedule/routes.h"

/* A rectangle to copy piece by piece. The copies are added to a list of marks. */
typedef struct shift {
  int matrix;
  int32_t tile;
  tsr_end from, to;
  int32_t *marks;
} shift;

static bool move_piece(tsr_routes *r, const shift *m, const tsr_transfer *load) {
  int from = m->from.location, to = m->to.location;
  float when = tsr_route_arrival(r->availability, load, from, to, 0);
  int32_t command = tsr_move(r->mover, load, &m->from, &m->to);
  if (command == TSR_NOTHING) return false;
  if (!tsr_on_host(r->problem, to) && isfinite(when))
    tsr_route_occupy(r->availability, load, from, to, 0, when);
  tsr_mark mark = {load->row, load->rows, load->col, load->cols, command, TSR_NOTHING};
  return tsr_marks_push(r->marks, m->marks, mark);
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
static bool copy_rect(tsr_routes *r, const tsr_transfer *whole, tsr_rect part, tsr_end from,
                      int device) {
  tsr_tile_copy *copy = tsr_copy_of(r->copies, whole->matrix, whole->tile, device);
  tsr_end to = {device, copy->buffer, NULL, TSR_NOTHING};
  return move_part(r, &(shift){whole->matrix, whole->tile, from, to, &copy->writers}, part);
}

/* Whether a triangle can be copied with its square: beside the triangle the tile's block has
 * nothing of value, and the square's home, if it comes from there, is as current as the triangle's.
 */
static bool can_copy_square(tsr_routes *r, const tsr_transfer *c, tsr_shape triangle, bool home,
                            int device) {
  const tsr_tile_copy *copy = tsr_copy_of(r->copies, c->matrix, c->tile, device);
  const tsr_cached_block *block = tsr_cached_blocks_of(r->blocks, copy);
  if (tsr_rects_meet_shape(&block->valid, tsr_shape_rest(triangle))) return false;
  return !home || tsr_cached_blocks_home_is_current(r->blocks, c->matrix, triangle.rect);
}

/* Copies a shape to a tile's cached block. Devices copy rectangles alone: a triangle comes with its
 * square, or is cut until it may. */
static bool copy_part(tsr_routes *r, const tsr_transfer *c, tsr_shape shape, tsr_end from,
                      int device) {
  bool home = tsr_on_host(r->problem, from.location);
  if (!tsr_is_triangle(shape)) return copy_rect(r, c, shape.rect, from, device);
  if (can_copy_square(r, c, shape, home, device)) {
    const tsr_tile_copy *copy = tsr_copy_of(r->copies, c->matrix, c->tile, device);
    return copy_rect(r, c, shape.rect, from, device) &&
           tsr_cached_blocks_note_arrival(r->blocks, copy, shape.rect, home && c->matrix == TSR_C_);
  }
  tsr_shape part[3];
  tsr_shape_halve(shape, part);
  for (int i = 0; i < 3; i++)
    if (!copy_part(r, c, part[i], from, device)) return false;
  return true;
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
    done = tsr_rects_clip_shape(&block->valid, left->items[i], &parts);
    for (size_t j = 0; done && j < parts.count; j++)
      done = cached_block_end(r, number, &from) && copy_part(r, c, parts.items[j], from, device) &&
             tsr_rects_add_shape(&found, parts.items[j]);
  }
  for (size_t i = 0; done && i < found.count; i++)
    done = tsr_rects_subtract_shape(left, found.items[i]);
  tsr_rects_free(&parts);
  tsr_rects_free(&found);
  return done;
}

/* Copies the parts of `left` from cached blocks, first from those of the device itself, and the
 * rest from home. */
static bool copy_all_parts(tsr_routes *r, const tsr_transfer *c, int device, tsr_rects *left) {
  if (!tsr_cached_blocks_ask(r->blocks, c->matrix, tsr_transfer_rect(c))) return false;
  TSR_VEC(int32_t) found = {0}; /* copy_part asks, too */
  bool done = TSR_VEC_RESERVE(&found, r->blocks->index.found.count);
  for (size_t i = 0; done && i < r->blocks->index.found.count; i++)
    found.items[found.count++] = r->blocks->index.found.items[i];
  for (int own = 1; own >= 0; own--)
    for (size_t i = 0; done && i < found.count && left->count > 0; i++) {
      const tsr_cached_block *old = tsr_cached_blocks_old(r->blocks, found.items[i]);
      if (!old || (old->device == device) != (own == 1)) continue;
      done = copy_from_cached_block(r, c, found.items[i], device, left);
    }
  for (size_t i = 0; done && i < left->count; i++)
    done = copy_part(r, c, left->items[i], tsr_end_home(r->problem, c->matrix), device);
  TSR_VEC_FREE(&found);
  return done;
}

/* Copies a rectangle to its tile in parts, without those that are valid in the tile's cached
 * block. */
static bool gather(tsr_routes *r, const tsr_transfer *c, int device) {
  tsr_tile_copy *copy = tsr_copy_of(r->copies, c->matrix, c->tile, device);
  tsr_rects left = {0};
  const tsr_cached_block *block = tsr_cached_blocks_of(r->blocks, copy);
  if (tsr_rects_covers(&block->valid, tsr_transfer_rect(c))) return true;
  bool done = tsr_cached_blocks_needed(r->blocks, c->matrix, tsr_transfer_rect(c), &left);
  for (size_t i = 0; done && i < block->valid.count; i++)
    done = tsr_rects_subtract_shape(&left, block->valid.items[i]);
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

/* Writes back one rectangle of a cached block. */
static bool write_back_rect(tsr_routes *r, const tsr_task_operand *o, int32_t number, tsr_rect part,
                            int32_t *marks) {
  tsr_end home = tsr_end_home(r->problem, o->matrix);
  shift m = {o->matrix, o->tile, .to = home, .marks = marks};
  return cached_block_end(r, number, &m.from) && move_part(r, &m, part);
}

/* Writes back a triangle on C's diagonal, and nothing beside it. The copy waits for those of
 * rectangles beside it, because the square is what it is said to write. */
static bool write_back_triangle(tsr_routes *r, const tsr_task_operand *o, int32_t number,
                                tsr_shape triangle) {
  tsr_end home = tsr_end_home(r->problem, o->matrix), from;
  tsr_task_operand square = tsr_part_of_tile(o->matrix, o->tile, triangle.rect);
  tsr_piece_range p = tsr_pieces_alone(r->problem, &square);
  if (!cached_block_end(r, number, &from)) return false;
  for (int col = p.c0; col < p.c1; col++)
    for (int row = p.r0; row < p.r1; row++) {
      tsr_transfer load = tsr_transfer_of(r->problem, &square, &p, row, col);
      tsr_marks_wait_touching(r->marks, r->sent_home, &square, r->commands);
      if (!tsr_route_write_back_piece(r, &load, (tsr_uplo)triangle.uplo, &from, &home))
        return false;
    }
  return true;
}

/* Writes back a newer shape of a block. Its parts are those of `valid`, because beside a triangle
 * there is memory of which nothing was written. */
static bool write_back_shape(tsr_routes *r, const tsr_task_operand *o, int32_t number,
                             tsr_shape shape) {
  tsr_rects parts = {0};
  if (!tsr_is_triangle(shape)) return write_back_rect(r, o, number, shape.rect, &r->sent_home);
  const tsr_cached_block *old = tsr_cached_blocks_old(r->blocks, number);
  bool done = tsr_rects_clip_shape(&old->valid, shape, &parts);
  for (size_t i = 0; done && i < parts.count; i++)
    done = tsr_is_triangle(parts.items[i])
               ? write_back_triangle(r, o, number, parts.items[i])
               : write_back_rect(r, o, number, parts.items[i].rect, &r->sent_home);
  tsr_rects_free(&parts);
  return done;
}

/* Writes back the newer shapes of all blocks in a rectangle that are, or are not, triangles. */
static bool write_back_kind(tsr_routes *r, const tsr_task_operand *o, bool triangles) {
  tsr_rect rect = tsr_operand_rect(o);
  tsr_rects parts = {0};
  bool done = tsr_cached_blocks_ask(r->blocks, o->matrix, rect);
  for (size_t i = 0; done && i < r->blocks->index.found.count; i++) {
    int32_t number = r->blocks->index.found.items[i];
    const tsr_cached_block *old = tsr_cached_blocks_old(r->blocks, number);
    if (!old) continue;
    done = tsr_rects_clip(&old->newer, rect, &parts);
    for (size_t j = 0; done && j < parts.count; j++)
      if (tsr_is_triangle(parts.items[j]) == triangles)
        done = write_back_shape(r, o, number, parts.items[j]);
  }
  tsr_rects_free(&parts);
  return done;
}

bool tsr_route_write_back_newer(tsr_routes *r, const tsr_task_operand *o) {
  return write_back_kind(r, o, false) && write_back_kind(r, o, true);
}

/* Writes back the newer parts of one block in a rectangle of C that are not in `needed`. What is
 * newer beside the triangle is newer in rectangles; those may reach into the triangle, whose old
 * values nobody needs. */
static bool save_beside(tsr_routes *r, const tsr_task_operand *o, int32_t number,
                        const tsr_rects *needed, int device) {
  const tsr_cached_block *old = tsr_cached_blocks_old(r->blocks, number);
  tsr_tile_copy *copy = tsr_copy_of(r->copies, o->matrix, o->tile, device);
  tsr_rects parts = {0};
  bool done = !old || tsr_rects_clip(&old->newer, tsr_operand_rect(o), &parts);
  for (size_t i = 0; done && i < needed->count; i++)
    done = tsr_rects_subtract_shape(&parts, needed->items[i]);
  for (size_t i = 0; done && i < parts.count; i++)
    done = write_back_rect(r, o, number, parts.items[i].rect, &copy->writers);
  tsr_rects_free(&parts);
  return done;
}

bool tsr_route_save_beside(tsr_routes *r, const tsr_task_operand *o, int device) {
  tsr_rects needed = {0};
  bool done = tsr_cached_blocks_needed(r->blocks, o->matrix, tsr_operand_rect(o), &needed) &&
              tsr_cached_blocks_ask(r->blocks, o->matrix, tsr_operand_rect(o));
  for (size_t i = 0; done && i < r->blocks->index.found.count; i++)
    done = save_beside(r, o, r->blocks->index.found.items[i], &needed, device);
  tsr_rects_free(&needed);
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
