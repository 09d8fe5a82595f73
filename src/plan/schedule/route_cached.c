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
  if (m->from.copy) {
    tsr_task_operand o = tsr_part_of_tile(m->matrix, m->tile, tsr_transfer_rect(load));
    tsr_marks_wait_touching(r->marks, m->from.copy->writers, tsr_operand_rect(&o), r->commands);
  }
  int32_t command = tsr_move(r->mover, load, &m->from, &m->to);
  if (command == TSR_NOTHING) return false;
  r->sent[from] += load->bytes;
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

/* Where a part comes from, and the parts that are valid there; NULL: all of the home. */
typedef struct source {
  tsr_end end;
  const tsr_rects *valid;
} source;

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

/* Copies the rectangle of a shape to a tile's cached block. */
static bool copy_whole(tsr_routes *r, const tsr_transfer *c, tsr_shape shape, const source *from,
                       int device) {
  tsr_tile_copy *copy = tsr_copy_of(r->copies, c->matrix, c->tile, device);
  bool home = from->valid == NULL, fetched = home || from->end.copy;
  bool valid = home || tsr_rects_covers(from->valid, shape.rect);
  if (valid) shape = tsr_shape_of(shape.rect);
  return copy_rect(r, c, shape.rect, from->end, device) &&
         tsr_cached_blocks_note_arrival(r->blocks, copy, shape.rect, valid) &&
         (!fetched || tsr_cached_blocks_note_fetched(r->blocks, c->matrix, c->tile, device, shape));
}

/* Copies a shape to a tile's cached block. Devices copy rectangles alone: a triangle comes with its
 * square, or is cut until it may. */
static bool copy_part(tsr_routes *r, const tsr_transfer *c, tsr_shape shape, const source *from,
                      int device) {
  if (!tsr_is_triangle(shape) || can_copy_square(r, c, shape, from->valid == NULL, device))
    return copy_whole(r, c, shape, from, device);
  tsr_shape part[3];
  tsr_shape_halve(shape, part);
  for (int i = 0; i < 3; i++)
    if (!copy_part(r, c, part[i], from, device)) return false;
  return true;
}

/* Copies the parts of `left` that are valid at a device from there, and takes them out of `left`.
 */
static bool copy_valid(tsr_routes *r, const tsr_transfer *c, const source *from, int device,
                       tsr_rects *left) {
  tsr_rects parts = {0}, found = {0};
  bool done = true;
  for (size_t i = 0; done && i < left->count; i++) {
    done = tsr_rects_clip_shape(from->valid, left->items[i], &parts);
    for (size_t j = 0; done && j < parts.count; j++)
      done = copy_part(r, c, parts.items[j], from, device) &&
             tsr_rects_add_shape(&found, parts.items[j]);
  }
  for (size_t i = 0; done && i < found.count; i++)
    done = tsr_rects_subtract_shape(left, found.items[i]);
  tsr_rects_free(&parts);
  tsr_rects_free(&found);
  return done;
}

/* From an old cached block. */
static bool copy_from_cached_block(tsr_routes *r, const tsr_transfer *c, int32_t number, int device,
                                   tsr_rects *left) {
  source from = {.valid = &tsr_cached_blocks_old(r->blocks, number)->valid};
  if (!tsr_rects_meets(from.valid, tsr_transfer_rect(c))) return true;
  return cached_block_end(r, number, &from.end) && copy_valid(r, c, &from, device, left);
}

/* Whether devices take data from this one rather than from their home, as pieces do. */
static bool passes_on(const tsr_routes *r, const tsr_transfer *c, int from, int to) {
  int home = r->problem->call->operand[c->matrix].location;
  return from != to && r->problem->options->policy.relays >> from & 1 &&
         r->problem->machine->link[from][to].bandwidth >=
             r->problem->machine->link[home][to].bandwidth;
}

/* Whether an entry of the list is of the transfer's tile. */
static bool is_of(const tsr_fetched_shape *f, const tsr_transfer *c) {
  return f->matrix == c->matrix && f->tile == c->tile;
}

/* The devices that pass on parts of the tile which this plan has brought from home, as bits. C
 * comes to the device that changes it alone. */
static uint32_t fetchers_of(const tsr_routes *r, const tsr_transfer *c, int device) {
  uint32_t fetchers = 0;
  for (size_t i = 0; c->matrix != TSR_C_ && i < r->blocks->fetched.count; i++) {
    const tsr_fetched_shape *f = &r->blocks->fetched.items[i];
    if (is_of(f, c) && passes_on(r, c, f->device, device)) fetchers |= 1u << f->device;
  }
  return fetchers;
}

/* The device of a set that has sent the fewest bytes. */
static int idlest(const tsr_routes *r, uint32_t set) {
  int best = TSR_NOTHING;
  for (int d = 0; d < r->problem->devices; d++)
    if (set >> d & 1 && (best == TSR_NOTHING || r->sent[d] < r->sent[best])) best = d;
  return best;
}

/* From one of the devices that this plan has brought parts of the tile to. */
static bool copy_from_fetcher(tsr_routes *r, const tsr_transfer *c, int fetcher, int device,
                              tsr_rects *left) {
  bool done = true;
  size_t count = r->blocks->fetched.count; /* the copies add to the list */
  for (size_t i = 0; done && i < count && left->count > 0; i++) {
    tsr_fetched_shape f = r->blocks->fetched.items[i];
    if (!is_of(&f, c) || f.device != fetcher) continue;
    tsr_rects valid = {&f.shape, 1, 1};
    source from = {tsr_end_at(r->copies, c->matrix, c->tile, fetcher, TSR_NOTHING), &valid};
    done = copy_valid(r, c, &from, device, left);
  }
  return done;
}

static bool copy_from_fetchers(tsr_routes *r, const tsr_transfer *c, int device, tsr_rects *left) {
  uint32_t fetchers = fetchers_of(r, c, device);
  bool done = true;
  while (done && fetchers && left->count > 0) {
    int fetcher = idlest(r, fetchers);
    fetchers &= ~(1u << fetcher);
    done = copy_from_fetcher(r, c, fetcher, device, left);
  }
  return done;
}

/* Copies the parts of `left` from cached blocks, first from those of the device itself, and the
 * rest from home, unless another device has it from there. */
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
  done = done && copy_from_fetchers(r, c, device, left);
  source home = {tsr_end_home(r->problem, c->matrix), NULL};
  for (size_t i = 0; done && i < left->count; i++)
    done = copy_part(r, c, left->items[i], &home, device);
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
      tsr_marks_wait_touching(r->marks, r->sent_home, tsr_operand_rect(&square), r->commands);
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

/* Writes back what is newer in all blocks in a rectangle, or in the triangle uplo of a square:
 * shapes that are, or are not, triangles. */
static bool write_back_kind(tsr_routes *r, const tsr_task_operand *o, tsr_uplo uplo,
                            bool triangles) {
  tsr_shape shape = {tsr_operand_rect(o), uplo};
  tsr_rects parts = {0};
  bool done = tsr_cached_blocks_ask(r->blocks, o->matrix, shape.rect);
  for (size_t i = 0; done && i < r->blocks->index.found.count; i++) {
    int32_t number = r->blocks->index.found.items[i];
    const tsr_cached_block *old = tsr_cached_blocks_old(r->blocks, number);
    if (!old) continue;
    done = tsr_rects_clip_shape(&old->newer, shape, &parts);
    for (size_t j = 0; done && j < parts.count; j++)
      if (tsr_is_triangle(parts.items[j]) == triangles)
        done = write_back_shape(r, o, number, parts.items[j]);
  }
  tsr_rects_free(&parts);
  return done;
}

bool tsr_route_write_back_newer(tsr_routes *r, const tsr_task_operand *o, tsr_uplo uplo) {
  return write_back_kind(r, o, uplo, false) && write_back_kind(r, o, uplo, true);
}

/* Writes back the parts of a rectangle of C that are newer in the tile's own block, which is the
 * one that is cleared, and not in `needed`. What is newer beside the triangle is newer in
 * rectangles; those may reach into the triangle, whose old values nobody needs. */
static bool save_beside(tsr_routes *r, const tsr_task_operand *o, const tsr_rects *needed,
                        int device) {
  tsr_tile_copy *copy = tsr_copy_of(r->copies, o->matrix, o->tile, device);
  int32_t number = (int32_t)r->commands->plan->buffers.items[copy->buffer].offset;
  const tsr_cached_block *old = tsr_cached_blocks_old(r->blocks, number);
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
              save_beside(r, o, &needed, device);
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
