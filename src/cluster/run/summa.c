/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/run/summa.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/least.h"
#include "base/types.h"
#include "cluster/run/local.h"

/* ---- Layouts that need no redistribution ----------------------------------- */

/* Whether a view is neither transposed nor conjugated, and its columns are contiguous. */
static bool is_straight(const tsr_grid *grid, const tsr_view *x) {
  return x->weight[0] == grid->extent[1] && x->weight[1] == 1 && x->stride[0] == 1 && !x->conjugate;
}

bool tsr_summa_fits_a(const tsr_grid *grid, const tsr_view *a, const tsr_view *c) {
  return is_straight(grid, a) && tsr_axis_agrees(&a->axis[0], &c->axis[0]);
}

bool tsr_summa_fits_b(const tsr_grid *grid, const tsr_view *b, const tsr_view *c) {
  return is_straight(grid, b) && tsr_axis_agrees(&b->axis[1], &c->axis[1]);
}

/* ---- Making ---------------------------------------------------------------- */

void tsr_summa_slot_bytes(const tsr_summa_schedule *s, size_t element, size_t bytes[2]) {
  int64_t rows = tsr_least(s->cut.block[0], tsr_axis_most(&s->distribution.rows));
  int64_t cols = tsr_least(s->cut.block[1], tsr_axis_most(&s->distribution.cols));
  bytes[TSR_SUMMA_A] = (size_t)(rows * s->deepest) * element;
  bytes[TSR_SUMMA_B] = (size_t)(cols * s->deepest) * element;
}

/* Copies the scalars, and sets `one` of the type. */
static void set_scalars(const void *alpha, const void *beta, tsr_summa *s) {
  static const float narrow[2] = {1, 0};
  static const double wide[2] = {1, 0};
  size_t size = tsr_scalar_size(s->type);
  bool is_wide = s->type == TSR_D || s->type == TSR_Z;
  memcpy(s->alpha, alpha, size);
  memcpy(s->beta, beta, size);
  memcpy(s->one, is_wide ? (const void *)wide : (const void *)narrow, size);
}

tsr_status tsr_summa_create(tsr_grid *grid, tsr_type type, const void *alpha, const tsr_view *a,
                            const tsr_view *b, const void *beta, const tsr_view *c,
                            const char *arithmetic, tsr_summa_schedule *schedule, tsr_summa *s) {
  memset(s, 0, sizeof *s);
  s->grid = grid;
  s->type = type;
  s->arithmetic = arithmetic;
  s->a = *a;
  s->b = *b;
  s->c = *c;
  set_scalars(alpha, beta, s);
  s->rows = tsr_view_local(c, 0);
  s->cols = tsr_view_local(c, 1);
  s->ldc = c->stride[1];
  s->devices = tsr_device_count(grid->context) > 0;
  for (int i = 0; i < TSR_TRANSPORT_MESSAGES; i++) s->sending[i] = TSR_NO_SUMMA_STEP;
  s->complete = tsr_alloc_zero(schedule->steps.count + 1, sizeof *s->complete);
  s->begin = tsr_alloc_zero(schedule->steps.count + 1, sizeof *s->begin);
  s->end = tsr_alloc_zero(schedule->steps.count + 1, sizeof *s->end);
  if (s->complete == NULL || s->begin == NULL || s->end == NULL) {
    tsr_summa_destroy(s);
    return tsr_fail(TSR_ERR_MEMORY, "no host memory to carry a schedule out");
  }
  s->schedule = *schedule;
  *schedule = (tsr_summa_schedule){0};
  return TSR_OK;
}

void tsr_summa_destroy(tsr_summa *s) {
  tsr_summa_schedule_free(&s->schedule);
  tsr_dealloc(s->complete);
  tsr_dealloc(s->begin);
  tsr_dealloc(s->end);
  s->complete = NULL;
  s->begin = s->end = NULL;
}

static void note(tsr_summa *s, tsr_status status) {
  if (status == TSR_OK || s->status != TSR_OK) return;
  s->status = status;
  tsr_error_take(status, &s->error);
}

tsr_status tsr_summa_result(const tsr_summa *s) {
  return s->status == TSR_OK ? TSR_OK : tsr_error_put(&s->error);
}

/* ---- Panels ---------------------------------------------------------------- */

/* Indices of k that are consecutive in this process's part of the operand. */
typedef struct run {
  int64_t local; /* the local index of the first one */
  int64_t first; /* its index in the panel */
  int64_t length;
} run;

/* The part of a run in lines at .. at+count-1 of a panel of A, whose lines are its indices of k.
 * Height 0: none. */
static tsr_panel_part part_of_a(const tsr_panel_source *p, const run *r, int64_t at,
                                int64_t count) {
  const tsr_view *x = &p->summa->a;
  size_t line = (size_t)(p->part.end - p->part.at) * x->size;
  int64_t begin = r->first > at ? r->first : at, end = tsr_least(r->first + r->length, at + count);
  if (begin >= end) return (tsr_panel_part){.height = 0};
  int64_t offset = p->part.at + (r->local + begin - r->first) * x->stride[1];
  return (tsr_panel_part){.from = x->base + offset * (int64_t)x->size,
                          .from_pitch = (size_t)x->stride[1] * x->size,
                          .to = (size_t)begin * line,
                          .to_pitch = line,
                          .width = line,
                          .height = (size_t)(end - begin)};
}

/* The part of a run in lines at .. at+count-1 of a panel of B. Its lines are columns of B; the run
 * is a range of rows in each. */
static tsr_panel_part part_of_b(const tsr_panel_source *p, const run *r, int64_t at,
                                int64_t count) {
  const tsr_view *x = &p->summa->b;
  size_t line = (size_t)p->summa->schedule.panels.items[p->panel].depth * x->size;
  int64_t offset = r->local + (p->part.at + at) * x->stride[1];
  return (tsr_panel_part){.from = x->base + offset * (int64_t)x->size,
                          .from_pitch = (size_t)x->stride[1] * x->size,
                          .to = (size_t)at * line + (size_t)r->first * x->size,
                          .to_pitch = line,
                          .width = (size_t)r->length * x->size,
                          .height = (size_t)count};
}

static void visit_run(const tsr_panel_source *p, const run *r, int64_t at, int64_t count,
                      tsr_panel_part_visit visit, void *user) {
  tsr_panel_part part = (p->operand == TSR_SUMMA_A ? part_of_a : part_of_b)(p, r, at, count);
  if (r->length > 0 && part.height > 0) visit(user, &part);
}

/* Visits the parts of a panel (tsr_panel_parts), one for each run of k. Blocks that are adjacent in
 * this process's memory make one run. Columns of both operands are contiguous, since
 * tsr_summa_fits_a and _b hold for them, perhaps after redistribution. */
static void visit_lines(const void *panel, int64_t at, int64_t count, tsr_panel_part_visit visit,
                        void *user) {
  const tsr_panel_source *p = panel;
  const tsr_view *a = &p->summa->a, *b = &p->summa->b;
  const tsr_axis *own = p->operand == TSR_SUMMA_A ? &a->axis[1] : &b->axis[0];
  int me = p->operand == TSR_SUMMA_A ? a->me[1] : b->me[0];
  const tsr_panel *all = &p->summa->schedule.panels.items[p->panel];
  tsr_span span = {all->at, 0};
  run r = {0, 0, 0};
  while (r.first + r.length < all->depth &&
         tsr_axis_common(&a->axis[1], all->col, &b->axis[0], all->row, own->extent, &span)) {
    int64_t local = tsr_axis_before(own, me, span.at), done = r.first + r.length;
    int64_t length = tsr_least(span.end - span.at, all->depth - done);
    if (local != r.local + r.length) {
      visit_run(p, &r, at, count, visit, user);
      r = (run){local, done, 0};
    }
    r.length += length;
    span.at = span.end;
  }
  visit_run(p, &r, at, count, visit, user);
}

/* ---- Steps ------------------------------------------------------------------ */

static const tsr_summa_step *step_at(const tsr_summa *s, size_t at) {
  return &s->schedule.steps.items[at];
}

static tsr_span part_of(const tsr_summa *s, int direction, int32_t block) {
  return tsr_summa_block(&s->schedule, direction, s->grid->me[direction], block);
}

static void finish_step(tsr_summa *s, size_t at) {
  s->complete[at] = true;
}

static void trace(tsr_summa *s, int track, const tsr_summa_step *step, double begin) {
  tsr_trace_event event = {track, step->panel, step->block[step->operand], begin, tsr_now()};
  tsr_grid_trace_add(&s->grid->trace, &event);
}

/* Whether this process owns the panel of a SEND step. */
static bool is_root(const tsr_summa *s, const tsr_summa_step *step) {
  const tsr_panel *panel = &s->schedule.panels.items[step->panel];
  return step->operand == TSR_SUMMA_A ? panel->col == s->grid->me[1] : panel->row == s->grid->me[0];
}

void tsr_summa_plan_counts(const tsr_summa *s) {
  tsr_traffic_sums *planned = &s->grid->planned;
  for (size_t i = 0; i < s->schedule.steps.count; i++) {
    const tsr_summa_step *step = step_at(s, i);
    if (step->kind != TSR_SUMMA_SEND) continue;
    tsr_span part = part_of(s, step->operand, step->block[step->operand]);
    size_t bytes =
        (size_t)((part.end - part.at) * s->schedule.panels.items[step->panel].depth) * s->c.size;
    bool root = is_root(s, step), alone = s->grid->extent[1 - step->operand] == 1;
    if (root && s->grid->model.host.up > 0) tsr_traffic_add(&planned->uploaded, bytes);
    if (!alone) tsr_traffic_add(root ? &planned->sent : &planned->received, bytes);
  }
}

/* Drops the devices' copies of the panel that was in a slot. */
static tsr_status renew(const tsr_summa *s, int operand, int slot) {
  const tsr_filling *f = &s->filling[operand][slot];
  tsr_local_part part = {s->grid->slots.memory[operand][slot], f->rows, f->cols, f->rows};
  return tsr_local_renew(s->grid, s->type, &part);
}

/* Begins the message of a SEND step. */
static void send(tsr_summa *s, size_t at) {
  const tsr_summa_step *step = step_at(s, at);
  const tsr_panel *panel = &s->schedule.panels.items[step->panel];
  int operand = step->operand, slot = step->slot[0];
  bool is_a = operand == TSR_SUMMA_A;
  tsr_span part = part_of(s, operand, step->block[operand]);
  int64_t own = part.end - part.at;
  int message = operand * TSR_SLOTS_MOST + slot;
  note(s, renew(s, operand, slot));
  s->filling[operand][slot] = (tsr_filling){is_a ? own : panel->depth, is_a ? panel->depth : own};
  if (own == 0) { /* the panel is empty, for all processes of this row (A) or column (B) */
    finish_step(s, at);
    return;
  }
  tsr_broadcast what = {.operand = operand,
                        .root = is_a ? panel->col : panel->row,
                        .panel = step->panel,
                        .block = step->block[operand],
                        .slot = s->grid->slots.memory[operand][slot],
                        .line = (size_t)(is_a ? own : panel->depth) * s->c.size,
                        .lines = is_a ? panel->depth : own,
                        .parts = {visit_lines, &s->source[message]}};
  s->source[message] = (tsr_panel_source){s, operand, step->panel, part};
  s->sending[message] = (int32_t)at;
  s->since[message] = tsr_now();
  note(s, s->grid->transport->begin(s->grid->transport_state, message, &what));
  if (what.root == s->grid->me[is_a ? 1 : 0]) trace(s, TSR_TRACK_PACK, step, s->since[message]);
}

static tsr_local_part block_of(const tsr_summa *s, const tsr_summa_step *step) {
  tsr_span r = part_of(s, 0, step->block[0]), c = part_of(s, 1, step->block[1]);
  int64_t offset = r.at + c.at * s->ldc;
  return (tsr_local_part){s->c.base + offset * (int64_t)s->c.size, r.end - r.at, c.end - c.at,
                          s->ldc};
}

static tsr_local_product product_of(const tsr_summa *s, const tsr_summa_step *step) {
  void *const(*memory)[TSR_SLOTS_MOST] = s->grid->slots.memory;
  return (tsr_local_product){.type = s->type,
                             .alpha = s->alpha,
                             .a = memory[TSR_SUMMA_A][step->slot[0]],
                             .b = memory[TSR_SUMMA_B][step->slot[1]],
                             .beta = step->first ? s->beta : s->one,
                             .k = s->schedule.panels.items[step->panel].depth,
                             .c = block_of(s, step),
                             .arithmetic = s->arithmetic};
}

/* Maps a strip of columns of a block of C to each device, so that no product moves results of
 * another one between devices. Without memory for the map, products still work. */
static tsr_status map(const tsr_summa *s, const tsr_local_part *c) {
  int64_t devices = tsr_device_count(s->grid->context);
  if (devices < 2) return TSR_OK;
  tsr_status status = tsr_map_1d_block_cyclic(s->grid->context, c->rows, c->cols, c->base, c->ld,
                                              s->type, (c->cols + devices - 1) / devices);
  return status == TSR_ERR_MEMORY ? TSR_OK : status;
}

static tsr_status multiply(const tsr_summa *s, const tsr_summa_step *step) {
  tsr_local_product x = product_of(s, step);
  if (x.c.rows == 0 || x.c.cols == 0) return TSR_OK;
  if (step->first) TSR_TRY(map(s, &x.c));
  return tsr_local_multiply(s->grid, &x);
}

/* Asks for the write-back of a block, which follows its products on the devices. */
static tsr_status write_back(const tsr_summa *s, const tsr_summa_step *step) {
  tsr_local_part c = block_of(s, step);
  return tsr_local_write_back(s->grid, s->type, &c);
}

/* Frees the device memory of a block, for the next one. Called once the block's write-back is
 * complete: before, tsr_release would wait for it, and with it all steps. */
static tsr_status free_block(const tsr_summa *s, const tsr_summa_step *step) {
  tsr_local_part c = block_of(s, step);
  if (!s->devices || c.rows == 0 || c.cols == 0) return TSR_OK;
  return tsr_release(s->grid->context, c.rows, c.cols, c.base, c.ld, s->type);
}

/* Runs `what`, the devices' work of a step, between its two events. After a failure, or if panels
 * are missing, the work is left out. */
static void work(tsr_summa *s, size_t at,
                 tsr_status (*what)(const tsr_summa *, const tsr_summa_step *)) {
  note(s, tsr_event_record(s->grid->context, &s->begin[at]));
  if (s->status == TSR_OK && !s->lost) note(s, what(s, step_at(s, at)));
  note(s, tsr_event_record(s->grid->context, &s->end[at]));
}

static void begin(tsr_summa *s, size_t at) {
  switch ((tsr_summa_step_kind)step_at(s, at)->kind) {
    case TSR_SUMMA_MOVE: /* is_complete() polls the exchange, which begins it */
      s->moving[step_at(s, at)->operand] = tsr_now();
      break;
    case TSR_SUMMA_SEND:
      send(s, at);
      break;
    case TSR_SUMMA_MULTIPLY:
      work(s, at, multiply);
      break;
    case TSR_SUMMA_WRITE_BACK:
      work(s, at, write_back);
      break;
  }
}

/* ---- Progress --------------------------------------------------------------- */

static void test_messages(tsr_summa *s) {
  for (int i = 0; i < TSR_TRANSPORT_MESSAGES; i++) {
    tsr_message_state at = TSR_MESSAGE_UNDER_WAY;
    if (s->sending[i] == TSR_NO_SUMMA_STEP) continue;
    note(s, s->grid->transport->test(s->grid->transport_state, i, &at));
    if (at == TSR_MESSAGE_UNDER_WAY) continue;
    if (at == TSR_MESSAGE_LOST) s->lost = true;
    finish_step(s, (size_t)s->sending[i]);
    trace(s, TSR_TRACK_SLOTS + i, step_at(s, (size_t)s->sending[i]), s->since[i]);
    s->sending[i] = TSR_NO_SUMMA_STEP;
  }
}

/* Whether the devices have completed the work of a step, or failed. */
static bool has_executed(tsr_summa *s, size_t at) {
  int complete = 0;
  tsr_status status =
      tsr_event_query_between(s->grid->context, &s->begin[at], &s->end[at], &complete);
  note(s, status);
  return complete != 0 || status != TSR_OK;
}

/* Whether the product of step `at` and all products before it are complete. Products count as
 * complete in order, because a slot may have been read by an earlier product. Write-backs in
 * between do not count: products of the next block need not wait for them. */
static bool has_multiplied(tsr_summa *s, size_t at) {
  for (; s->multiplied <= at; s->multiplied++) {
    if (step_at(s, s->multiplied)->kind != TSR_SUMMA_MULTIPLY) continue;
    if (!has_executed(s, s->multiplied)) return false;
    finish_step(s, s->multiplied);
  }
  return true;
}

/* Whether a step is complete; progresses it if it is polled. */
static bool is_complete(tsr_summa *s, size_t at) {
  const tsr_summa_step *step = step_at(s, at);
  if (s->complete[at]) return true;
  bool over = false;
  if (step->kind == TSR_SUMMA_MOVE) over = tsr_exchange_poll(s->moves[step->operand]);
  if (step->kind == TSR_SUMMA_MULTIPLY) over = has_multiplied(s, at);
  if (step->kind == TSR_SUMMA_WRITE_BACK) over = has_multiplied(s, at) && has_executed(s, at);
  if (!over) return false;
  if (step->kind == TSR_SUMMA_WRITE_BACK && s->status == TSR_OK && !s->lost)
    note(s, free_block(s, step));
  if (step->kind == TSR_SUMMA_MOVE) {
    note(s, tsr_exchange_result(s->moves[step->operand]));
    trace(s, TSR_TRACK_MOVE, step, s->moving[step->operand]);
  }
  finish_step(s, at);
  return true;
}

static bool may_begin(tsr_summa *s) {
  const tsr_summa_step *step = step_at(s, s->next);
  if (step->kind == TSR_SUMMA_WRITE_BACK) return true; /* the devices keep it behind its products */
  for (int i = 0; i < TSR_SUMMA_WAITS; i++)
    if (step->after[i] != TSR_NO_SUMMA_STEP && !is_complete(s, (size_t)step->after[i]))
      return false;
  return true;
}

bool tsr_summa_has_messages(const tsr_summa *s) {
  for (int i = 0; i < TSR_TRANSPORT_MESSAGES; i++)
    if (s->sending[i] != TSR_NO_SUMMA_STEP) return true;
  for (int i = 0; i < 2; i++)
    if (s->moves[i] != NULL && s->moves[i]->under_way) return true;
  return false;
}

/* Completes the write-backs among the steps so far, in order, and frees their blocks. */
static void follow_write_backs(tsr_summa *s) {
  for (; s->written_back < s->next; s->written_back++)
    if (step_at(s, s->written_back)->kind == TSR_SUMMA_WRITE_BACK &&
        !is_complete(s, s->written_back))
      return;
}

static bool has_ended(tsr_summa *s) {
  follow_write_backs(s);
  return !tsr_summa_has_messages(s) && s->written_back == s->next;
}

/* Drops from the devices all copies of panels and, after a failure, of C. */
static void clear(tsr_summa *s) {
  for (int operand = 0; operand < 2; operand++)
    for (int i = 0; i < s->schedule.slots[operand]; i++) note(s, renew(s, operand, i));
  if ((s->status == TSR_OK && !s->lost) || !s->devices || s->rows == 0 || s->cols == 0) return;
  (void)tsr_release(s->grid->context, s->rows, s->cols, s->c.base, s->ldc, s->type);
}

bool tsr_summa_poll(tsr_summa *s) {
  test_messages(s);
  while (s->next < s->schedule.steps.count && may_begin(s)) {
    begin(s, s->next);
    s->next++;
  }
  if (s->next < s->schedule.steps.count || !has_ended(s)) return false;
  clear(s);
  return true;
}
