/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/cached_blocks.h"

#include "base/alloc.h"
#include "plan/axes.h"

/* The index expects all old blocks and one new block for each tile, since some tiles will get
 * one. */
static bool make_index(tsr_cached_blocks *r) {
  const tsr_graph *graph = r->problem->graph;
  size_t expected[TSR_OPERANDS];
  for (int x = 0; x < TSR_OPERANDS; x++)
    expected[x] = (size_t)graph->grid[x].rows.count * (size_t)graph->grid[x].cols.count;
  for (size_t i = 0; i < r->after->blocks.count; i++) expected[r->after->blocks.items[i].matrix]++;
  if (!tsr_cached_index_init(&r->index, r->problem->call, expected)) return false;
  for (size_t i = 0; i < r->after->blocks.count; i++)
    if (!tsr_cached_index_add(&r->index, &r->after->blocks.items[i])) return false;
  return true;
}

/* The plan owns both copies from their allocation on, so that it frees them if one fails. */
static bool copy_residency(const tsr_residency *residency, tsr_plan *plan) {
  plan->before = tsr_alloc_zero(1, sizeof *plan->before);
  plan->after = tsr_alloc_zero(1, sizeof *plan->after);
  return plan->before && tsr_residency_copy(residency, plan->before) && plan->after &&
         tsr_residency_copy(residency, plan->after);
}

/* Of an operand that earlier calls left in part, no more comes than what the call uses. */
static void find_triangles(tsr_cached_blocks *r) {
  for (int x = 0; x < TSR_OPERANDS; x++)
    r->triangles[x] = tsr_call_triangle_of(r->problem->call, x) != TSR_GENERAL;
}

tsr_status tsr_cached_blocks_init(tsr_cached_blocks *r, const tsr_problem *problem,
                                  tsr_commands *commands) {
  r->problem = problem;
  r->commands = commands;
  if (!copy_residency(problem->options->residency, commands->plan)) return tsr_problem_no_memory();
  r->after = commands->plan->after;
  find_triangles(r);
  for (size_t i = 0; i < r->after->blocks.count; i++)
    if (!TSR_VEC_PUSH(&r->buffer, TSR_NOTHING)) return tsr_problem_no_memory();
  return make_index(r) ? TSR_OK : tsr_problem_no_memory();
}

void tsr_cached_blocks_free(tsr_cached_blocks *r) {
  tsr_cached_index_free(&r->index);
  TSR_VEC_FREE(&r->buffer);
  TSR_VEC_FREE(&r->arrived);
  TSR_VEC_FREE(&r->fetched);
}

/* ---- Questions ------------------------------------------------------------ */

/* Old blocks have the lowest numbers, so the index finds an old block first. */
bool tsr_cached_blocks_have(const tsr_cached_blocks *r, int matrix, tsr_rect rect, int device) {
  if (!tsr_has_cached_blocks(r->problem, matrix)) return false;
  int32_t block = tsr_cached_index_holder(&r->index, r->after, matrix, rect, device);
  return block != TSR_NOTHING && tsr_cached_blocks_old(r, block) != NULL;
}

bool tsr_cached_blocks_ask(tsr_cached_blocks *r, int matrix, tsr_rect rect) {
  return tsr_cached_index_ask(&r->index, r->after, matrix, rect);
}

bool tsr_cached_blocks_have_part(tsr_cached_blocks *r, int matrix, tsr_rect rect) {
  if (!tsr_cached_blocks_ask(r, matrix, rect)) return false;
  for (size_t i = 0; i < r->index.found.count; i++) {
    const tsr_cached_block *old = tsr_cached_blocks_old(r, r->index.found.items[i]);
    if (old && tsr_rects_meets(&old->valid, rect)) return true;
  }
  return false;
}

bool tsr_cached_blocks_home_is_current(tsr_cached_blocks *r, int matrix, tsr_rect rect) {
  if (!tsr_cached_blocks_ask(r, matrix, rect)) return false;
  for (size_t i = 0; i < r->index.found.count; i++)
    if (tsr_rects_meets(&r->after->blocks.items[r->index.found.items[i]].newer, rect)) return false;
  return true;
}

static size_t number_of(const tsr_cached_blocks *r, const tsr_tile_copy *copy) {
  return r->commands->plan->buffers.items[copy->buffer].offset;
}

const tsr_cached_block *tsr_cached_blocks_of(const tsr_cached_blocks *r,
                                             const tsr_tile_copy *copy) {
  return &r->after->blocks.items[number_of(r, copy)];
}

/* ---- Triangles ------------------------------------------------------------ */

bool tsr_cached_blocks_needed(const tsr_cached_blocks *r, int matrix, tsr_rect rect,
                              tsr_rects *needed) {
  const tsr_operand *o = &r->problem->call->operand[matrix];
  tsr_shape triangle = {tsr_rect_make(0, 0, o->rows, o->cols),
                        tsr_call_triangle_of(r->problem->call, matrix)};
  tsr_rects all = {&triangle, 1, 1};
  if (!r->triangles[matrix]) triangle = tsr_shape_of(rect);
  return tsr_rects_clip(&all, rect, needed);
}

/* *has: the block has every shape of the set. */
static bool has_all(const tsr_cached_block *block, const tsr_rects *set) {
  bool all = true;
  for (size_t i = 0; i < set->count; i++)
    all = all && tsr_rects_cover_shape(&block->valid, set->items[i]);
  return all;
}

bool tsr_cached_blocks_ready(const tsr_cached_blocks *r, const tsr_cached_block *block,
                             tsr_rect rect, bool *has) {
  tsr_rects needed = {0}, filled = {0};
  *has = tsr_rects_covers(&block->valid, rect);
  if (*has || !r->triangles[block->matrix]) return true;
  bool done = tsr_cached_blocks_needed(r, block->matrix, rect, &needed);
  for (size_t i = 0; done && i < block->valid.count; i++)
    done = tsr_rects_add(&filled, block->valid.items[i].rect);
  *has = done && has_all(block, &needed) && tsr_rects_covers(&filled, rect);
  tsr_rects_free(&needed);
  tsr_rects_free(&filled);
  return done;
}

/* ---- Places --------------------------------------------------------------- */

int32_t tsr_cached_blocks_buffer(tsr_cached_blocks *r, size_t number) {
  int32_t *index = &r->buffer.items[number];
  if (*index != TSR_NOTHING) return *index;
  const tsr_cached_block *block = &r->after->blocks.items[number];
  tsr_buffer buffer = {.row = block->rect.row0,
                       .col = block->rect.col0,
                       .rows = block->rect.row1 - block->rect.row0,
                       .cols = block->rect.col1 - block->rect.col0,
                       .ld = block->ld,
                       .offset = number,
                       .bytes = block->bytes,
                       .role = TSR_BUFFER_CACHED,
                       .matrix = block->matrix,
                       .location = block->device};
  return *index = tsr_commands_add_buffer(r->commands, buffer);
}

bool tsr_cached_blocks_place(tsr_cached_blocks *r, tsr_tile_copy *copy, tsr_buffer tile) {
  tsr_rect rect = tsr_rect_make(tile.row, tile.col, tile.rows, tile.cols);
  int32_t number = tsr_cached_index_holder(&r->index, r->after, tile.matrix, rect, tile.location);
  if (number == TSR_NOTHING) {
    tsr_cached_block block = {
        .device = tile.location, .matrix = tile.matrix, .rect = rect, .ld = tile.ld};
    block.bytes = (size_t)tile.ld * (size_t)tile.cols * r->problem->size[tile.matrix];
    number = (int32_t)r->after->blocks.count;
    if (!tsr_residency_add(r->after, block) || !TSR_VEC_PUSH(&r->buffer, TSR_NOTHING) ||
        !tsr_cached_index_add(&r->index, &block))
      return false;
  }
  copy->buffer = tsr_cached_blocks_buffer(r, (size_t)number);
  return copy->buffer != TSR_NOTHING;
}

/* ---- The end -------------------------------------------------------------- */

/* Marks the shape of C as not valid in all blocks except block `but`. */
static bool forget_except(tsr_cached_blocks *r, tsr_shape shape, int32_t but) {
  if (!tsr_cached_blocks_ask(r, TSR_C_, shape.rect)) return false;
  for (size_t i = 0; i < r->index.found.count; i++) {
    int32_t number = r->index.found.items[i];
    if (number != but && !tsr_cached_block_forget_shape(&r->after->blocks.items[number], shape))
      return false;
  }
  return true;
}

/* Makes *filled, a set, what commands have written of a rectangle of a block: also beside
 * triangles, where it is not valid. */
static bool find_filled(const tsr_cached_blocks *r, size_t number, tsr_rects *filled) {
  const tsr_cached_block *old = tsr_cached_blocks_old(r, (int32_t)number);
  bool done = true;
  for (size_t i = 0; old && done && i < old->valid.count; i++)
    done = tsr_rects_add(filled, old->valid.items[i].rect);
  for (size_t i = 0; done && i < r->arrived.count; i++)
    if (r->arrived.items[i].block == number) done = tsr_rects_add(filled, r->arrived.items[i].rect);
  return done;
}

/* Adds a shape to the sets (newer may be NULL). A triangle is cut until all of its square has been
 * written, because its square is what devices copy. */
static bool add_filled(tsr_shape shape, const tsr_rects *filled, tsr_rects *valid,
                       tsr_rects *newer) {
  if (!tsr_is_triangle(shape) || tsr_rects_covers(filled, shape.rect))
    return tsr_rects_add_shape(valid, shape) && (!newer || tsr_rects_add_shape(newer, shape));
  tsr_shape part[3];
  tsr_shape_halve(shape, part);
  for (int i = 0; i < 3; i++)
    if (!add_filled(part[i], filled, valid, newer)) return false;
  return true;
}

/* Notes that kernels wrote a shape of C in one block. The block's own sets keep the shape:
 * subtracting and adding it again would split them into many small ones. */
static bool note_shape(tsr_cached_blocks *r, tsr_shape shape, size_t number) {
  tsr_cached_block *block = &r->after->blocks.items[number];
  tsr_rects filled = {0};
  bool clears = r->problem->call->beta == TSR_ZERO;
  bool done = !tsr_is_triangle(shape) ||
              (clears ? tsr_rects_add(&filled, shape.rect) : find_filled(r, number, &filled));
  done = done && forget_except(r, shape, (int32_t)number) &&
         add_filled(shape, &filled, &block->valid, &block->newer);
  tsr_rects_free(&filled);
  return done;
}

/* Makes *beside, a set, the part of a rectangle that the call does not use. */
static bool find_beside(const tsr_cached_blocks *r, int matrix, tsr_rect rect, tsr_rects *beside) {
  tsr_rects needed = {0};
  bool done = tsr_cached_blocks_needed(r, matrix, rect, &needed) && tsr_rects_add(beside, rect);
  for (size_t i = 0; done && i < needed.count; i++)
    done = tsr_rects_subtract_shape(beside, needed.items[i]);
  tsr_rects_free(&needed);
  return done;
}

/* If beta is 0, squares on the diagonal are cleared before kernels write their triangle. */
static bool forget_cleared(tsr_cached_blocks *r, tsr_rect rect, size_t number) {
  tsr_rects beside = {0};
  if (r->problem->call->beta != TSR_ZERO) return true;
  bool done = find_beside(r, TSR_C_, rect, &beside);
  for (size_t i = 0; done && i < beside.count; i++)
    done = tsr_cached_block_forget_shape(&r->after->blocks.items[number], beside.items[i]);
  tsr_rects_free(&beside);
  return done;
}

/* Notes that kernels wrote what the call changes of a rectangle of C in one block. */
static bool note_written(tsr_cached_blocks *r, tsr_rect rect, size_t number) {
  tsr_rects shapes = {0};
  if (!r->triangles[TSR_C_]) return note_shape(r, tsr_shape_of(rect), number);
  bool done = forget_cleared(r, rect, number) && tsr_cached_blocks_needed(r, TSR_C_, rect, &shapes);
  for (size_t i = 0; done && i < shapes.count; i++) done = note_shape(r, shapes.items[i], number);
  tsr_rects_free(&shapes);
  return done;
}

bool tsr_cached_blocks_note_arrival(tsr_cached_blocks *r, const tsr_tile_copy *copy, tsr_rect rect,
                                    bool valid) {
  if (!r->triangles[tsr_cached_blocks_of(r, copy)->matrix]) return true;
  return TSR_VEC_PUSH(&r->arrived, ((tsr_arrived_rect){number_of(r, copy), rect, valid}));
}

bool tsr_cached_blocks_note_fetched(tsr_cached_blocks *r, int matrix, int32_t tile, int device,
                                    tsr_shape shape) {
  return TSR_VEC_PUSH(&r->fetched, ((tsr_fetched_shape){matrix, tile, device, shape}));
}

/* Notes what came beside a triangle and is valid. */
static bool note_arrivals(tsr_cached_blocks *r) {
  tsr_rects beside = {0};
  bool done = true;
  for (size_t i = 0; done && i < r->arrived.count; i++) {
    const tsr_arrived_rect *arrival = &r->arrived.items[i];
    tsr_cached_block *block = &r->after->blocks.items[arrival->block];
    beside.count = 0;
    if (!arrival->valid) continue;
    done = find_beside(r, block->matrix, arrival->rect, &beside);
    for (size_t n = 0; done && n < beside.count; n++)
      done = tsr_rects_add_shape(&block->valid, beside.items[n]);
  }
  tsr_rects_free(&beside);
  return done;
}

/* Notes the rectangles of C that kernels, or copies that stand for writes, wrote in a tile copy.
 * Pieces of C need no note: C is fetched only to be changed. */
static bool note_writers(tsr_cached_blocks *r, const tsr_tile_copy *copy, const tsr_marks *marks) {
  for (int32_t i = copy->writers; i != TSR_NOTHING; i = marks->pool.items[i].next) {
    const tsr_mark *mark = &marks->pool.items[i];
    tsr_rect rect = tsr_rect_make(mark->row, mark->col, mark->rows, mark->cols);
    if (!note_written(r, rect, number_of(r, copy))) return false;
  }
  return true;
}

/* *may: an old block has all that is needed of a piece, but not all of the piece, so that copies of
 * the piece may be copies of that. */
static bool may_be_triangle(tsr_cached_blocks *r, int matrix, tsr_rect rect, bool *may) {
  *may = false;
  if (!tsr_cached_blocks_ask(r, matrix, rect)) return false;
  for (size_t i = 0; i < r->index.found.count; i++) {
    const tsr_cached_block *old = tsr_cached_blocks_old(r, r->index.found.items[i]);
    bool ready;
    if (!old || tsr_rects_covers(&old->valid, rect)) continue;
    if (!tsr_cached_blocks_ready(r, old, rect, &ready)) return false;
    *may |= ready;
  }
  return true;
}

/* whole: one copy brought all of the piece. */
static bool note_piece(tsr_cached_blocks *r, int matrix, tsr_rect rect, bool whole, size_t number) {
  tsr_rects shapes = {0}, filled = {0};
  tsr_rects *valid = &r->after->blocks.items[number].valid;
  bool triangle = r->triangles[matrix];
  if (whole && triangle && !may_be_triangle(r, matrix, rect, &triangle)) return false;
  if (!triangle) return tsr_rects_add(valid, rect);
  bool done = tsr_cached_blocks_needed(r, matrix, rect, &shapes) &&
              (whole ? tsr_rects_add(&filled, rect) : find_filled(r, number, &filled));
  for (size_t i = 0; done && i < shapes.count; i++)
    done = add_filled(shapes.items[i], &filled, valid, NULL);
  tsr_rects_free(&shapes);
  tsr_rects_free(&filled);
  return done;
}

/* Notes that the pieces of a tile of A or B that came to the device are valid there. */
static bool note_pieces(tsr_cached_blocks *r, const tsr_copies *copies, int matrix, int32_t tile,
                        int device) {
  const tsr_tile_copy *copy = tsr_copy_of(copies, matrix, tile, device);
  if (copy->pieces == TSR_NOTHING) return true;
  tsr_task_operand o = tsr_part_of_tile(matrix, tile, tsr_tile_rect(r->problem, matrix, tile));
  tsr_piece_range p = tsr_pieces_of(r->problem, &o);
  for (int col = p.c0; col < p.c1; col++)
    for (int row = p.r0; row < p.r1; row++) {
      int index = col * p.down + row;
      int32_t command = tsr_piece_at(copies, matrix, tile, device, index)->command;
      if (command == TSR_NOTHING) continue;
      tsr_rect rect = tsr_piece_rect(r->problem, matrix, &p, row, col);
      if (!note_piece(r, matrix, rect, command >= 0, number_of(r, copy))) return false;
    }
  return true;
}

static bool note_matrix(tsr_cached_blocks *r, int matrix, const tsr_copies *copies,
                        const tsr_marks *marks) {
  const tsr_tile_grid *grid = &r->problem->graph->grid[matrix];
  int32_t tiles = grid->rows.count * grid->cols.count;
  for (int32_t t = 0; t < tiles; t++)
    for (int d = 0; d < r->problem->devices; d++) {
      const tsr_tile_copy *copy = tsr_copy_of(copies, matrix, t, d);
      if (copy->buffer == TSR_NOTHING || !tsr_is_cached(copies, matrix, t, d)) continue;
      bool noted =
          matrix == TSR_C_ ? note_writers(r, copy, marks) : note_pieces(r, copies, matrix, t, d);
      if (!noted) return false;
    }
  return true;
}

bool tsr_cached_blocks_finish(tsr_cached_blocks *r, const tsr_copies *copies,
                              const tsr_marks *marks) {
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (tsr_has_cached_blocks(r->problem, x) && !note_matrix(r, x, copies, marks)) return false;
  return note_arrivals(r);
}
