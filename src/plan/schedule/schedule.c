/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/schedule.h"

#include "blas/family.h"
#include "plan/schedule/scheduler.h"

/* ---- Operands ------------------------------------------------------------- */

static tsr_tile_copy *copy_at(const tsr_scheduler *s, const tsr_task_operand *o, int device) {
  return tsr_copy_of(&s->copies, o->matrix, o->tile, device);
}

static bool is_at_home(const tsr_scheduler *s, const tsr_task_operand *o, int device) {
  return tsr_is_at_home(&s->problem, o->matrix, device);
}

static bool was_written(const tsr_scheduler *s, const tsr_task_operand *o, int device) {
  return tsr_marks_touch(&s->marks, copy_at(s, o, device)->writers, tsr_operand_rect(o));
}

static tsr_family family_of(const tsr_scheduler *s) {
  return tsr_family_of(s->problem.call->operation);
}

/* ---- Before the kernel: its data ------------------------------------------ */

/* Whether a part may be copied from the device that computed it: not with slots, since that device
 * gives the slot back after its own last use of the part. */
static bool can_collect(tsr_scheduler *s) {
  if (s->slots.in_use) s->places.fit = TSR_FITS_NOT;
  return !s->slots.in_use;
}

/* Copies a part of W to the device from the device that computed it. */
static bool collect(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (!can_collect(s)) return false;
  for (int d = 0; d < s->problem.devices; d++)
    if (was_written(s, o, d)) return tsr_route_collect(&s->routes, o, d, device);
  return false;
}

/* Copies what a device has not yet of a part of C from the device whose cached block has the tile:
 * the part is finished there, but not at home. */
static bool collect_finished(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  int owner = s->copies.writer[o->tile];
  tsr_rects missing = {0};
  bool done = can_collect(s) && tsr_rects_add(&missing, tsr_operand_rect(o));
  for (int32_t i = copy_at(s, o, device)->writers; done && i != TSR_NOTHING;) {
    const tsr_mark *there = &s->marks.pool.items[i];
    done = tsr_rects_subtract(&missing,
                              tsr_rect_make(there->row, there->col, there->rows, there->cols));
    i = there->next;
  }
  for (size_t i = 0; done && i < missing.count; i++) {
    tsr_task_operand part = tsr_part_of_tile(TSR_C_, o->tile, missing.items[i].rect);
    done = tsr_route_collect(&s->routes, &part, owner, device);
  }
  tsr_rects_free(&missing);
  return done;
}

/* Whether the operand is a block across the diagonal of C, where kernels change only one triangle,
 * which alone is written back. */
static bool is_across(const tsr_scheduler *s, const tsr_task_operand *o) {
  return o->matrix == TSR_C_ && family_of(s) == TSR_RANK && o->row == o->col;
}

/* The rows beside a block across the diagonal, in the same columns of its tile, that the same
 * device updates next (blas/build_rank.c): those below it in a lower triangle, above it in an upper
 * one. */
static tsr_task_operand beside(const tsr_scheduler *s, const tsr_task_operand *o) {
  tsr_rect tile = tsr_tile_rect(&s->problem, o->matrix, o->tile);
  bool lower = s->problem.call->uplo == TSR_LOWER;
  tsr_task_operand rest = *o;
  rest.row = lower ? o->row + o->rows : tile.row0;
  rest.rows = (int32_t)((lower ? tile.row1 : o->row) - rest.row);
  return rest;
}

/* Whether a block across the diagonal may be needed before the rows beside it: a Hermitian update
 * adds to the block from the first product on, and to the rest perhaps at the end. */
static bool is_needed_first(const tsr_scheduler *s) {
  tsr_operation operation = s->problem.call->operation;
  return operation == TSR_HERK || operation == TSR_HER2K;
}

/* Copies a part of a triangle of C from home. A block across the diagonal comes in one copy with
 * the rows beside it, unless these are there: each column of a copy takes a link some time, however
 * short it is, and so a column takes the time once. */
static bool fetch_triangle(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  tsr_task_operand all = *o, rest = beside(s, o);
  if (is_across(s, o) && !is_needed_first(s) && rest.rows > 0 && !was_written(s, &rest, device)) {
    all.row = rest.row < o->row ? rest.row : o->row;
    all.rows = o->rows + rest.rows;
  }
  return tsr_route_fetch_alone(&s->routes, &all, device);
}

/* Fetches the data of an operand to the task's device if the task reads data that are not there. */
static bool fetch_data(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (!(o->access & TSR_READ)) return true;
  bool cached = tsr_has_cached_blocks(&s->problem, o->matrix);
  if (o->matrix == TSR_C_ && cached && !tsr_is_cached(&s->copies, TSR_C_, o->tile, device))
    return collect_finished(s, o, device);
  if (o->matrix >= TSR_C_ && was_written(s, o, device)) return true;
  if (o->matrix == TSR_W) return collect(s, o, device);
  if (o->matrix == TSR_C_ && cached) return tsr_route_gather(&s->routes, o, device);
  if (o->matrix == TSR_C_ && family_of(s) == TSR_RANK) return fetch_triangle(s, o, device);
  return tsr_route_fetch(&s->routes, o, device);
}

/* Gives an operand memory at the task's device, and fetches its data. False: no host memory, or no
 * place for the tile (places.fit). */
static bool prepare_operand(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (o->access == TSR_NONE || is_at_home(s, o, device)) return true;
  if (!tsr_places_make(&s->places, o->matrix, o->tile, device)) return false;
  bool clears = tsr_has_cached_blocks(&s->problem, o->matrix) && is_across(s, o) &&
                !(o->access & TSR_READ) && !was_written(s, o, device);
  return fetch_data(s, o, device) && (!clears || tsr_route_save_beside(&s->routes, o, device));
}

/* ---- The kernel ----------------------------------------------------------- */

/* Whether the kernels of one queue alone use tiles of the matrix at a device. C has two queues, for
 * products and for additions; both are one only where C has no triangle. Beside a triangle lines
 * are made of the same tiles as native kernels read. */
static bool has_one_user(const tsr_scheduler *s, int matrix) {
  if (tsr_call_has_form(s->problem.call) && family_of(s) == TSR_TRIANGLE) return false;
  return matrix <= TSR_B_ || (matrix == TSR_C_ && family_of(s) == TSR_PRODUCT);
}

/* Makes the next command wait for the data of an operand. A queue is in order: once it has waited,
 * its later commands need not (copy->awaited). */
static void wait_for_operand(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (o->access == TSR_NONE) return;
  tsr_tile_copy *copy = copy_at(s, o, device);
  tsr_rect rect = tsr_operand_rect(o);
  /* Another device may have written a tile to its home, which is this device's memory. */
  if (o->matrix == TSR_C_ && is_at_home(s, o, device))
    tsr_marks_wait_touching(&s->marks, s->copies.written_back[o->tile], rect, &s->commands);
  tsr_marks_wait_touching(&s->marks, copy->writers, rect, &s->commands);
  if (copy->awaited) return;
  bool all = tsr_copies_wait(&s->copies, o, device, &s->commands);
  if (o->access & TSR_WRITE) tsr_marks_wait(&s->marks, copy->before, &s->commands);
  copy->awaited = all && has_one_user(s, o->matrix);
}

static int32_t buffer_of(const tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (o->access == TSR_NONE) return TSR_NO_BUFFER;
  return is_at_home(s, o, device) ? o->matrix : copy_at(s, o, device)->buffer;
}

/* The queue of a task's kernel: kernels that only move bytes have one of their own, and share it
 * with those that factor a block, which keep few multiprocessors busy, while products keep the
 * others. A second queue for products was measured to be slower (docs/results/history.md, "What
 * each technique is worth"). */
static int queue_of(tsr_scheduler *s, const tsr_task *task) {
  bool small =
      tsr_kernel_get((tsr_kernel)task->kernel)->bound_by_memory || tsr_kernel_factors(task->kernel);
  return tsr_commands_queue(&s->commands, task->device, small ? TSR_QUEUE_ADD : TSR_QUEUE_COMPUTE,
                            0);
}

static int32_t add_kernel(tsr_scheduler *s, const tsr_task *task) {
  tsr_command command = {.kind = TSR_COMMAND_KERNEL,
                         .kernel = task->kernel,
                         .flags = task->flags,
                         .form = task->form,
                         .m = task->m,
                         .n = task->n,
                         .k = task->k};
  for (int i = 0; i < 3; i++) {
    const tsr_task_operand *o = &task->operand[i];
    wait_for_operand(s, o, task->device);
    command.buffer[i] = buffer_of(s, o, task->device);
    command.row[i] = o->row;
    command.col[i] = o->col;
  }
  command.queue = (uint16_t)queue_of(s, task);
  return tsr_commands_add(&s->commands, command);
}

/* ---- After the kernel ----------------------------------------------------- */

/* Records which rectangles the kernel wrote, so that later readers wait, and which slots it
 * used. */
static bool note_operands(tsr_scheduler *s, const tsr_task *task, int32_t command) {
  for (int i = 0; i < 3; i++) {
    const tsr_task_operand *o = &task->operand[i];
    if (o->access == TSR_NONE) continue;
    tsr_tile_copy *copy = copy_at(s, o, task->device);
    if (o->access & TSR_WRITE) {
      if (!tsr_marks_write(&s->marks, &copy->writers, o, command)) return false;
      /* Other forms can be made again, so that they may lose their slot. */
      if (!tsr_is_made(o->matrix)) tsr_tile_slots_set_dirty(&s->slots, copy, true);
    }
    if (copy->buffer != TSR_NOTHING && !tsr_tile_slots_use(&s->slots, copy, command)) return false;
  }
  return true;
}

/* Whether the finished part of C is the last one of its tile: parts of a tile of a factorisation
 * are finished from the diagonal to the tile's end. */
static bool ends_tile(const tsr_scheduler *s, const tsr_task_operand *c) {
  tsr_rect tile = tsr_tile_rect(&s->problem, c->matrix, c->tile), part = tsr_operand_rect(c);
  if (family_of(s) == TSR_FACTOR) return part.row1 == tile.row1 && part.col1 == tile.col1;
  return tsr_rect_contains(part, tile);
}

/* Notes a finished part of a factorisation: groups on other devices read it at home, and the tile,
 * if that is finished, at the device. */
static bool finish(tsr_scheduler *s, const tsr_task *task, int32_t command) {
  const tsr_task_operand *c = &task->operand[2];
  if (family_of(s) != TSR_FACTOR) return true;
  if (ends_tile(s, c)) tsr_copies_finish(&s->copies, c->matrix, c->tile, task->device, command);
  return !is_at_home(s, c, task->device) ||
         tsr_marks_push(&s->marks, &s->copies.written_back[c->tile],
                        (tsr_mark){c->row, c->rows, c->col, c->cols, command, TSR_NOTHING});
}

/* Writes back the finished part of C. A tile of C that is complete at home may lose its slot and be
 * fetched again. */
static bool write_back(tsr_scheduler *s, const tsr_task *task, int32_t command) {
  const tsr_task_operand *c = &task->operand[2];
  if (!finish(s, task, command)) return false;
  if (is_at_home(s, c, task->device)) return true;
  tsr_uplo uplo = tsr_kernel_triangle((tsr_kernel)task->kernel, task->form);
  if (tsr_has_cached_blocks(&s->problem, TSR_C_)) return true; /* C stays in its cached block */
  if (!tsr_write_back_add(&s->write_back, c, uplo, task->device, command)) return false;
  if (ends_tile(s, c)) tsr_tile_slots_set_dirty(&s->slots, copy_at(s, c, task->device), false);
  return true;
}

static void end_use(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  tsr_tile_copy *copy = copy_at(s, o, device);
  if (copy->buffer != TSR_NOTHING) tsr_tile_slots_end_use(&s->slots, copy);
}

/* If tiles have slots, those that no later task at the device uses give theirs back. */
static void release_finished(tsr_scheduler *s, const tsr_task *task) {
  if (!s->slots.in_use) return;
  s->slots.now++;
  for (int i = 0; i < 3; i++) {
    const tsr_task_operand *o = &task->operand[i];
    if (o->access == TSR_NONE) continue;
    tsr_task_operand source = tsr_operand_source(&s->problem, o);
    end_use(s, o, task->device);
    if (source.matrix != o->matrix) end_use(s, &source, task->device);
  }
}

/* ---- All tasks ------------------------------------------------------------ */

/* Adds the copies and the kernel of a task. Returns the kernel's command; TSR_NOTHING: no host
 * memory, or no place for a tile. */
static int32_t carry_out(tsr_scheduler *s, const tsr_task *task) {
  for (int i = 0; i < 3; i++)
    if (!prepare_operand(s, &task->operand[i], task->device)) return TSR_NOTHING;
  int32_t command = add_kernel(s, task);
  return command != TSR_NOTHING && note_operands(s, task, command) ? command : TSR_NOTHING;
}

/* With slots a tile of which another form was made gives its slot back if as long as this is there
 * nothing reads it, or else can lose it. */
static void give_up_source(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  tsr_tile_copy *copy = copy_at(s, o, device);
  if (tsr_tile_slots_are_converted(&s->slots, o->matrix, o->row, o->col, device))
    tsr_tile_slots_give_back(&s->slots, copy);
  else
    tsr_tile_slots_give_up(&s->slots, copy);
}

/* Makes the lines of an operand of another form at a device, unless they are there. They are made
 * once, or, with slots, again whenever their slot was needed for another tile. */
static bool make_form(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (!tsr_is_made(o->matrix)) return true;
  tsr_tile_copy *copy = copy_at(s, o, device);
  tsr_rect tile = tsr_tile_rect(&s->problem, o->matrix, o->tile);
  int64_t first = tile.col0 + copy->lines, end = o->col + o->cols;
  if (first >= end) return true;
  tsr_task_operand lines = *o;
  lines.col = first;
  lines.cols = (int32_t)(end - first);
  tsr_task task = tsr_making_task(s->problem.call, s->problem.graph, &lines, device);
  tsr_tile_slots_keep(&s->slots, copy_at(s, &task.operand[0], device));
  if (carry_out(s, &task) == TSR_NOTHING) return false;
  copy->lines = (int32_t)(end - tile.col0);
  if (end == tile.col1) give_up_source(s, &task.operand[0], device);
  return true;
}

static bool schedule_task(tsr_scheduler *s, const tsr_task *task) {
  for (int i = 0; i < 2; i++)
    if (!make_form(s, &task->operand[i], task->device)) return false;
  int32_t command = carry_out(s, task);
  if (command == TSR_NOTHING) return false;
  if (task->last && !write_back(s, task, command)) return false;
  release_finished(s, task);
  return true;
}

static bool schedule_tasks(tsr_scheduler *s, const void *unused) {
  (void)unused;
  const tsr_task *task;
  for (int32_t place = 0; (task = tsr_sequence_next(&s->sequence)) != NULL; place++) {
    s->slots.now = place;
    if (!schedule_task(s, task)) return false;
  }
  return tsr_write_back_finish(&s->write_back);
}

tsr_status tsr_schedule(const tsr_machine *machine, const tsr_graph *graph,
                        const tsr_schedule_options *options, tsr_plan *plan, tsr_fit *fit) {
  return tsr_schedule_with(machine, graph, options, schedule_tasks, NULL, plan, fit);
}

/* In a form a tile of C may wait for its second kernel while the lines of both operands, and
 * the tile that the last ones are made of, have slots; but for gemm, where it has one kernel. */
size_t tsr_schedule_least_budget(const tsr_call *call, const tsr_graph *graph, int64_t held) {
  bool waits = tsr_call_has_form(call) && call->operation != TSR_GEMM;
  return (size_t)(held + 2 + waits) * tsr_tile_largest(call, graph);
}
