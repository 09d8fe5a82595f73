/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tsr_pgemm, tsr_pgemm_async and tsr_grid_sync: preparation, agreement of all processes, execution.
 */
#include "arithmetic/arithmetic.h"
#include "base/alloc.h"
#include "base/thread.h"
#include "base/types.h"
#include "cluster/layout/exchange.h"
#include "cluster/plan/arrange.h"
#include "cluster/run/async_queue.h"
#include "cluster/run/local.h"
#include "cluster/run/offer.h"
#include "cluster/run/summa.h"
#include "cluster/run/whole_lines.h"
#include "cluster/transport/panel_slots.h"

/* ---- An operation ------------------------------------------------------------ */

/* How a product is computed: C is empty; one process has everything; C is only scaled; SUMMA; it is
 * emulated, with whole rows of op(A) and columns of op(B). */
typedef enum kind { NOTHING, ALONE, SCALE, SUMMA, WHOLE_LINES } kind;

typedef struct operation {
  tsr_async_op queued; /* the first member, so that the queue's pointer is the operation's */
  tsr_product product;
  kind kind;
  bool late; /* asynchronous: results of earlier asynchronous calls are written back to host memory
                when the operation begins, not while it is prepared */
  bool begun;
  tsr_exchange move[2]; /* of op(A), op(B), if they are redistributed */
  char *moved[2];       /* storage of redistributed op(A), op(B); NULL: not redistributed */
  tsr_summa summa;
  tsr_emulation_way how;
  tsr_whole_lines lines;
  tsr_status status; /* the first failure of this process */
  tsr_error error;
} operation;

static void note(operation *o, tsr_status status) {
  if (status == TSR_OK || o->status != TSR_OK) return;
  o->status = status;
  tsr_error_take(status, &o->error);
}

static void destroy(operation *o) {
  if (o == NULL) return;
  for (int i = 0; i < 2; i++) {
    tsr_exchange_destroy(&o->move[i]);
    tsr_dealloc(o->moved[i]);
  }
  tsr_summa_destroy(&o->summa);
  tsr_whole_lines_destroy(&o->lines);
  tsr_dealloc(o);
}

/* ---- Preparation: this process alone ----------------------------------------- */

/* Waits until host memory has what earlier asynchronous calls computed of an operand. */
static tsr_status settle_factor(const tsr_product *p, const tsr_poperand *x) {
  tsr_local_part part = {.base = x->matrix.data, .ld = x->matrix.ld};
  TSR_TRY(tsr_pmatrix_extents(&x->matrix, &part.rows, &part.cols));
  return tsr_local_settle(p->grid, x->matrix.type, &part);
}

static tsr_status settle(const tsr_product *p) {
  TSR_TRY(settle_factor(p, &p->a));
  TSR_TRY(settle_factor(p, &p->b));
  return settle_factor(p, &p->c);
}

/* Allocates this process's storage of a matrix that is distributed as the given axes. *view: the
 * matrix; *storage: to be freed by the caller. */
static tsr_status make_room(const tsr_grid *grid, const tsr_axis axes[2], size_t size,
                            tsr_view *view, char **storage) {
  *view = (tsr_view){.axis = {axes[0], axes[1]},
                     .weight = {grid->extent[1], 1},
                     .me = {grid->me[0], grid->me[1]},
                     .size = size};
  int64_t ld = tsr_view_local(view, 0), count = ld * tsr_view_local(view, 1);
  *storage = tsr_alloc((size_t)count * size);
  if (*storage == NULL)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory to redistribute a matrix: %lld elements here",
                    (long long)count);
  view->stride[0] = 1;
  view->stride[1] = ld > 0 ? ld : 1;
  view->base = *storage;
  return TSR_OK;
}

/* Prepares the redistribution of an operand. *view: on entry its layout, on return the new one. */
static tsr_status move_first(operation *o, int operand, const tsr_axis axes[2], tsr_view *view) {
  tsr_grid *grid = o->product.grid;
  tsr_view from = *view;
  TSR_TRY(make_room(grid, axes, from.size, view, &o->moved[operand]));
  return tsr_exchange_create(grid, &grid->work, &from, view, &o->move[operand]);
}

/* Makes the schedule, and verifies it if the context checks plans. */
static tsr_status make_schedule(operation *o, const tsr_arrangement *x,
                                tsr_summa_schedule *schedule) {
  tsr_arranged arranged = tsr_arranged_of(&o->product, x);
  TSR_TRY(tsr_summa_schedule_make(&arranged.distribution, &x->choice.cut, x->moves, schedule));
  if (!o->product.grid->model.facts.check) return TSR_OK;
  tsr_status status = tsr_summa_schedule_verify(schedule);
  if (status != TSR_OK) tsr_summa_schedule_free(schedule);
  return status;
}

/* Makes the grid's slots suffice. Operations under way use the present slots, so larger ones have
 * to wait for those operations. All processes need the same slots, so all of them wait or none. */
static tsr_status provide_slots(tsr_grid *grid, const tsr_summa_schedule *s, size_t element) {
  size_t bytes[2];
  tsr_summa_slot_bytes(s, element, bytes);
  if (tsr_panel_slots_suffice(&grid->slots, s->slots, bytes)) return TSR_OK;
  tsr_async_queue_drain(grid->queue);
  return tsr_panel_slots_provide(grid->transport, grid->transport_state, s->slots, bytes,
                                 &grid->slots);
}

/* Whether the product is emulated, where the faster way is wanted and panels take that long. */
static tsr_status choose_way(operation *o, double seconds) {
  tsr_lines_forecast forecast;
  bool pay;
  TSR_TRY(tsr_whole_lines_pay(&o->product, &o->how, seconds, &forecast, &pay));
  if (pay) o->kind = WHOLE_LINES;
  if (!pay) tsr_emulation_forget(&o->how);
  return TSR_OK;
}

/* Arranges, cuts and schedules the product. *digest: the schedule's. With whole lines, which may be
 * the faster way, there is no schedule. */
static tsr_status prepare_summa(operation *o, uint64_t *digest) {
  const tsr_product *p = &o->product;
  tsr_view a = tsr_product_view(&p->a), b = tsr_product_view(&p->b), c = tsr_product_view(&p->c);
  tsr_arrangement x;
  tsr_summa_schedule schedule = {0};
  TSR_TRY(tsr_arrange(p, false, &x));
  if (o->how.faster) TSR_TRY(choose_way(o, x.choice.forecast.seconds));
  if (o->kind == WHOLE_LINES) return tsr_whole_lines_create(p, &o->how, &o->lines);
  if (x.moves[0]) TSR_TRY(move_first(o, 0, x.axes[0], &a));
  if (x.moves[1]) TSR_TRY(move_first(o, 1, x.axes[1], &b));
  TSR_TRY(make_schedule(o, &x, &schedule));
  *digest = tsr_summa_schedule_digest(&schedule);
  tsr_status status = provide_slots(p->grid, &schedule, c.size);
  if (status == TSR_OK)
    status = tsr_summa_create(p->grid, p->c.matrix.type, p->alpha, &a, &b, p->beta, &c,
                              o->how.arithmetic, &schedule, &o->summa);
  tsr_summa_schedule_free(&schedule);
  return status;
}

/* *how: how the product is computed. The arithmetic is that of the context now, whatever is set
 * when an asynchronous product is carried out. */
static tsr_status choose_kind(const tsr_product *p, kind *chosen, tsr_emulation_way *how) {
  *chosen = NOTHING;
  if (p->m == 0 || p->n == 0) return TSR_OK;
  *chosen = p->grid->all.size == 1 ? ALONE : tsr_product_reads_inputs(p) ? SUMMA : SCALE;
  if (*chosen == SCALE) return TSR_OK;
  TSR_TRY(tsr_emulation_find(p->grid->context, p->c.matrix.type, p->m, p->n, p->k, 0, how));
  TSR_TRY(tsr_product_check_cut(p, how));
  TSR_TRY(tsr_product_check_bits(p, how));
  if (*chosen == SUMMA && how->products != NULL && !how->faster) *chosen = WHOLE_LINES;
  return TSR_OK;
}

static tsr_status prepare(operation *o, uint64_t *digest) {
  const tsr_product *p = &o->product;
  TSR_TRY(tsr_grid_check_real(p->grid));
  TSR_TRY(tsr_product_check(p, true));
  if (!o->late) TSR_TRY(tsr_sync(p->grid->context));
  TSR_TRY(choose_kind(p, &o->kind, &o->how));
  if (o->kind != SUMMA && o->kind != WHOLE_LINES) return TSR_OK;
  if (!o->late) TSR_TRY(settle(p));
  return o->kind == SUMMA ? prepare_summa(o, digest)
                          : tsr_whole_lines_create(p, &o->how, &o->lines);
}

/* ---- Carrying out ------------------------------------------------------------- */

/* The grid has one process. */
static tsr_status multiply_alone(const tsr_product *p, const char *arithmetic) {
  tsr_view a = tsr_product_view(&p->a), b = tsr_product_view(&p->b), c = tsr_product_view(&p->c);
  const tsr_level3 what = {.operation = TSR_GEMM,
                           .type = p->c.matrix.type,
                           .layout = TSR_COL_MAJOR,
                           .transa = p->a.op,
                           .transb = p->b.op,
                           .m = p->m,
                           .n = p->n,
                           .k = p->k,
                           .lda = p->a.matrix.ld,
                           .ldb = p->b.matrix.ld,
                           .ldc = p->c.matrix.ld,
                           .arithmetic = arithmetic};
  return tsr_level3_run(p->grid->context, &what, p->alpha, a.base, b.base, p->beta, c.base);
}

/* C = beta C, as a product with k = 0. */
static tsr_status scale(const tsr_product *p) {
  tsr_view c = tsr_product_view(&p->c);
  tsr_local_part part = {c.base, tsr_view_local(&c, 0), tsr_view_local(&c, 1), p->c.matrix.ld};
  tsr_local_product x = {.type = p->c.matrix.type, .alpha = p->alpha, .beta = p->beta, .c = part};
  return tsr_local_scale(p->grid, &x);
}

static void begin(operation *o) {
  o->begun = true;
  if (o->kind != SUMMA && o->kind != WHOLE_LINES) return;
  if (o->kind == SUMMA) {
    for (int i = 0; i < 2; i++) o->summa.moves[i] = &o->move[i];
    tsr_summa_plan_counts(&o->summa);
  }
  if (o->late) note(o, settle(&o->product));
}

static bool poll(tsr_async_op *queued, bool *messages) {
  operation *o = (operation *)queued;
  if (!o->begun) begin(o);
  *messages = o->kind == WHOLE_LINES;
  if (o->kind == WHOLE_LINES) return tsr_whole_lines_poll(&o->lines);
  if (o->kind == ALONE) note(o, multiply_alone(&o->product, o->how.arithmetic));
  if (o->kind == SCALE) note(o, scale(&o->product));
  if (o->kind != SUMMA) return true;
  bool ended = tsr_summa_poll(&o->summa);
  *messages = tsr_summa_has_messages(&o->summa);
  return ended;
}

static tsr_status end(tsr_async_op *queued) {
  operation *o = (operation *)queued;
  if (o->kind == SUMMA) note(o, tsr_summa_result(&o->summa));
  if (o->kind == WHOLE_LINES) note(o, tsr_whole_lines_result(&o->lines));
  tsr_status status = o->status == TSR_OK ? TSR_OK : tsr_error_put(&o->error);
  destroy(o);
  return status;
}

/* ---- Public functions ----------------------------------------------------------- */

static tsr_status create(const tsr_product *p, bool late, operation **made) {
  operation *o = tsr_alloc_zero(1, sizeof *o);
  if (o == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a product");
  o->queued = (tsr_async_op){.poll = poll, .end = end};
  o->product = *p;
  o->late = late;
  *made = o;
  return TSR_OK;
}

/* Frees the slots of all processes after a failed call. Slots must be equal on all processes, since
 * growing them waits for operations under way (provide_slots); after a failure they may differ. */
static void drop_slots(tsr_grid *grid) {
  tsr_async_queue_drain(grid->queue);
  tsr_panel_slots_free(grid->transport, grid->transport_state, &grid->slots);
}

/* Adds what all processes must know alike: how the product is computed. */
static void record_ways(tsr_record *record, const operation *o, uint64_t digest) {
  const tsr_emulation_way *how = &o->how;
  tsr_record_add(record, "", "the number of moduli (TESSERA_ARITHMETIC)",
                 how->products != NULL ? how->products->number : 0);
  tsr_record_add_bytes(record, "the accuracy (TESSERA_ARITHMETIC)", &how->accuracy,
                       sizeof how->accuracy);
  tsr_record_add(record, "", "the extent of judged parts of C (TESSERA_REPRODUCIBLE, TESSERA_TILE)",
                 how->judged);
  tsr_record_add(record, "", "the digest of the schedule", (int64_t)digest);
}

/* Makes the operation on all processes, or on none. Collective. */
static tsr_status agree(const tsr_product *p, bool late, operation **made) {
  uint64_t digest = 0;
  operation *o = NULL;
  tsr_status status = create(p, late, &o);
  if (status == TSR_OK) status = prepare(o, &digest);
  tsr_record record = tsr_product_record(p);
  tsr_record_add(&record, "", "whether it is asynchronous", late);
  if (status == TSR_OK) record_ways(&record, o, digest);
  status = tsr_agree(&p->grid->all, &record, status);
  if (status == TSR_OK) {
    *made = o;
    return TSR_OK;
  }
  tsr_error error;
  tsr_error_take(status, &error);
  destroy(o);
  drop_slots(p->grid);
  return tsr_error_put(&error);
}

/* A blocking call. *begun: set once C may be written. */
static tsr_status run(const tsr_product *p, bool *begun) {
  operation *o = NULL;
  tsr_async_queue_drain(p->grid->queue);
  TSR_TRY(agree(p, false, &o));
  if (o->kind == NOTHING) return end(&o->queued);
  *begun = true;
  tsr_status status = tsr_async_op_run(&o->queued), synced;
  tsr_error error;
  if (status != TSR_OK) tsr_error_take(status, &error);
  synced = tsr_sync(p->grid->context);
  if (status != TSR_OK) tsr_error_put(&error);
  return tsr_agree(&p->grid->all, NULL, status != TSR_OK ? status : synced);
}

tsr_status tsr_pgemm_begun(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m, int64_t n,
                           int64_t k, const void *alpha, const tsr_pmatrix *a, int64_t ia,
                           int64_t ja, const tsr_pmatrix *b, int64_t ib, int64_t jb,
                           const void *beta, const tsr_pmatrix *c, int64_t ic, int64_t jc,
                           bool *begun) {
  *begun = false;
  TSR_TRY(tsr_grid_check_real(grid));
  tsr_product p =
      tsr_product_make(grid, transa, transb, m, n, k, alpha, a, ia, ja, b, ib, jb, beta, c, ic, jc);
  return run(&p, begun);
}

TSR_ENTRY(tsr_pgemm, (grid, transa, transb, m, n, k, alpha, a, ia, ja, b, ib, jb, beta, c, ic, jc),
          tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
          const void *alpha, const tsr_pmatrix *a, int64_t ia, int64_t ja, const tsr_pmatrix *b,
          int64_t ib, int64_t jb, const void *beta, const tsr_pmatrix *c, int64_t ic, int64_t jc) {
  bool begun;
  return tsr_pgemm_begun(grid, transa, transb, m, n, k, alpha, a, ia, ja, b, ib, jb, beta, c, ic,
                         jc, &begun);
}

TSR_ENTRY(tsr_pgemm_async,
          (grid, transa, transb, m, n, k, alpha, a, ia, ja, b, ib, jb, beta, c, ic, jc),
          tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
          const void *alpha, const tsr_pmatrix *a, int64_t ia, int64_t ja, const tsr_pmatrix *b,
          int64_t ib, int64_t jb, const void *beta, const tsr_pmatrix *c, int64_t ic, int64_t jc) {
  TSR_TRY(tsr_grid_check_real(grid));
  tsr_product p =
      tsr_product_make(grid, transa, transb, m, n, k, alpha, a, ia, ja, b, ib, jb, beta, c, ic, jc);
  operation *o = NULL;
  TSR_TRY(agree(&p, true, &o));
  if (o->kind == NOTHING) return end(&o->queued);
  tsr_async_queue_add(grid->queue, &o->queued);
  return TSR_OK;
}

/* Messages have ended once the queue is empty; products once tsr_sync returns. */
TSR_ENTRY(tsr_grid_sync, (grid), tsr_grid *grid) {
  TSR_TRY(tsr_grid_check_real(grid));
  tsr_record record = tsr_record_begin(TSR_RECORD_SYNC);
  tsr_async_queue_drain(grid->queue);
  tsr_status status = tsr_async_queue_take_error(grid->queue);
  tsr_error error;
  if (status != TSR_OK) tsr_error_take(status, &error);
  tsr_status synced = tsr_sync(grid->context);
  if (status != TSR_OK) tsr_error_put(&error);
  return tsr_agree(&grid->all, &record, status != TSR_OK ? status : synced);
}
