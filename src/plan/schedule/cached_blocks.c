/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/cached_blocks.h"

#include "base/alloc.h"

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

tsr_status tsr_cached_blocks_init(tsr_cached_blocks *r, const tsr_problem *problem,
                                  tsr_commands *commands) {
  r->problem = problem;
  r->commands = commands;
  if (problem->options->residency == NULL) return TSR_OK;
  if (!copy_residency(problem->options->residency, commands->plan)) return tsr_problem_no_memory();
  r->after = commands->plan->after;
  for (size_t i = 0; i < r->after->blocks.count; i++)
    if (!TSR_VEC_PUSH(&r->buffer, TSR_NOTHING)) return tsr_problem_no_memory();
  return make_index(r) ? TSR_OK : tsr_problem_no_memory();
}

void tsr_cached_blocks_free(tsr_cached_blocks *r) {
  tsr_cached_index_free(&r->index);
  TSR_VEC_FREE(&r->buffer);
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

/* Marks the rectangle of C as not valid in all blocks except block `but` (TSR_NOTHING: in all). */
static bool forget_except(tsr_cached_blocks *r, tsr_rect rect, int32_t but) {
  if (!tsr_cached_blocks_ask(r, TSR_C_, rect)) return false;
  for (size_t i = 0; i < r->index.found.count; i++) {
    int32_t number = r->index.found.items[i];
    if (number != but && !tsr_cached_block_forget(&r->after->blocks.items[number], rect))
      return false;
  }
  return true;
}

/* Notes that kernels wrote the rectangle of C in one block. The block's own sets keep the
 * rectangle: subtracting and adding it again would split them into many small rectangles. */
static bool note_written(tsr_cached_blocks *r, tsr_rect rect, size_t number) {
  tsr_cached_block *block = &r->after->blocks.items[number];
  return forget_except(r, rect, (int32_t)number) && tsr_rects_add(&block->valid, rect) &&
         tsr_rects_add(&block->newer, rect);
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

/* Notes that the pieces of a tile of A or B that came to the device are valid there. */
static bool note_pieces(tsr_cached_blocks *r, const tsr_copies *copies, int matrix, int32_t tile,
                        int device) {
  const tsr_tile_copy *copy = tsr_copy_of(copies, matrix, tile, device);
  if (copy->pieces == TSR_NOTHING) return true;
  tsr_task_operand o = tsr_part_of_tile(matrix, tile, tsr_tile_rect(r->problem, matrix, tile));
  tsr_piece_range p = tsr_pieces_of(r->problem, &o);
  tsr_rects *valid = &r->after->blocks.items[number_of(r, copy)].valid;
  for (int col = p.c0; col < p.c1; col++)
    for (int row = p.r0; row < p.r1; row++) {
      int index = col * p.down + row;
      if (tsr_piece_at(copies, matrix, tile, device, index)->command == TSR_NOTHING) continue;
      if (!tsr_rects_add(valid, tsr_piece_rect(r->problem, matrix, &p, row, col))) return false;
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
      if (copy->buffer == TSR_NOTHING) continue;
      bool noted =
          matrix == TSR_C_ ? note_writers(r, copy, marks) : note_pieces(r, copies, matrix, t, d);
      if (!noted) return false;
    }
  return true;
}

/* Forgets the blocks across the diagonal of C. With residency they are written back all the same,
 * since their cached blocks also have values beside the triangle, which need not be C's. */
static bool forget_triangles(tsr_cached_blocks *r) {
  const tsr_graph *graph = r->problem->graph;
  for (size_t t = 0; t < graph->tasks.count; t++) {
    const tsr_task *task = &graph->tasks.items[t];
    if (!task->last || tsr_kernel_triangle((tsr_kernel)task->kernel, task->form) == TSR_GENERAL)
      continue;
    if (!forget_except(r, tsr_operand_rect(&task->operand[2]), TSR_NOTHING)) return false;
  }
  return true;
}

bool tsr_cached_blocks_finish(tsr_cached_blocks *r, const tsr_copies *copies,
                              const tsr_marks *marks) {
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (tsr_has_cached_blocks(r->problem, x) && !note_matrix(r, x, copies, marks)) return false;
  return !tsr_has_cached_blocks(r->problem, TSR_C_) || forget_triangles(r);
}
