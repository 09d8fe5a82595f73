/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/write_back.h"

#include "base/least.h"
#include "blas/family.h"

static bool is_left(const tsr_write_back *wb) {
  return wb->problem->call->side == TSR_LEFT;
}

static bool solves(const tsr_problem *problem) {
  return problem->call->operation == TSR_TRSM;
}

/* Whether write-back slows the copies to devices: C is in pinned memory, so both use the host's
 * memory at once. */
static bool is_crowded(const tsr_problem *problem) {
  return problem->call->operand[TSR_C_].memory == TSR_PINNED;
}

/* Most rows of a copy from C's home; 0: no limit. */
static int64_t height_of_copies(const tsr_problem *problem) {
  return problem->graph->grid[TSR_C_].piece_rows;
}

void tsr_write_back_init(tsr_write_back *wb, const tsr_problem *problem, bool tight,
                         tsr_routes *routes) {
  wb->problem = problem;
  wb->routes = routes;
  wb->batches =
      !tight && tsr_family_of(problem->call->operation) == TSR_TRIANGLE &&
      ((solves(problem) && is_crowded(problem)) || (is_left(wb) && height_of_copies(problem) > 0));
}

/* Writes back the part of a device that waits. */
static bool flush(tsr_write_back *wb, int device) {
  tsr_waiting_write_back *w = &wb->at[device];
  if (w->part.rows == 0) return true;
  bool done = tsr_route_write_back(wb->routes, &w->part, TSR_GENERAL, device, w->after);
  w->part.rows = 0;
  return done;
}

/* ---- Along A's order ------------------------------------------------------ */

static int64_t order_of(const tsr_write_back *wb) {
  return is_left(wb) ? wb->problem->call->m : wb->problem->call->n;
}

static int64_t length_of(const tsr_write_back *wb, const tsr_task_operand *o) {
  return is_left(wb) ? o->rows : o->cols;
}

static bool is_same_stripe(const tsr_write_back *wb, const tsr_task_operand *a,
                           const tsr_task_operand *b) {
  if (a->tile != b->tile) return false;
  return is_left(wb) ? a->col == b->col && a->cols == b->cols
                     : a->row == b->row && a->rows == b->rows;
}

/* Adds a block to the part, before or behind it. False: the two do not touch. */
static bool join(const tsr_write_back *wb, tsr_task_operand *part, const tsr_task_operand *block) {
  int64_t *begin = is_left(wb) ? &part->row : &part->col;
  int32_t *length = is_left(wb) ? &part->rows : &part->cols;
  int64_t at = is_left(wb) ? block->row : block->col, more = length_of(wb, block);
  bool behind = at == *begin + *length, before = at + more == *begin;
  if (!is_same_stripe(wb, part, block) || !(behind || before)) return false;
  if (before) *begin = at;
  *length += (int32_t)more;
  return true;
}

/* Whether the stripe is the device's last one. */
static bool is_last_stripe(const tsr_write_back *wb, const tsr_task_operand *stripe) {
  return stripe->col + stripe->cols == tsr_tile_rect(wb->problem, TSR_C_, stripe->tile).col1;
}

/* The most rows (left) or columns (right) that may wait. On the left: as many rows as a copy may
 * have; and in the last stripe, or if write-back does not slow the copies to devices, at most half
 * of the rows still to be finished. On the right no columns wait, since columns are fast to copy.
 * Exception: if write-back slows the copies to devices, the first half of a trsm's order always
 * waits. It is solved in a quarter of the time, and its write-back would slow the copies that the
 * rest needs. */
static int64_t most_waiting(const tsr_write_back *wb, const tsr_waiting_write_back *w) {
  int64_t order = order_of(wb), left = order - w->finished, high = height_of_copies(wb->problem);
  bool crowded = is_crowded(wb->problem);
  if (solves(wb->problem) && crowded && w->finished < order / 2) return order;
  if (!is_left(wb)) return 0;
  if (crowded && !is_last_stripe(wb, &w->stripe)) return left > 0 ? high : 0;
  return tsr_least(high, left / 2);
}

static bool add(tsr_write_back *wb, const tsr_task_operand *block, int device, int32_t after) {
  tsr_waiting_write_back *w = &wb->at[device];
  if (!is_same_stripe(wb, &w->stripe, block)) {
    w->stripe = *block;
    w->finished = 0;
  }
  w->finished += length_of(wb, block);
  if (w->part.rows == 0 || !join(wb, &w->part, block)) {
    if (!flush(wb, device)) return false;
    w->part = *block;
  }
  w->after = after;
  return length_of(wb, &w->part) < most_waiting(wb, w) || flush(wb, device);
}

bool tsr_write_back_add(tsr_write_back *wb, const tsr_task_operand *part, tsr_uplo uplo, int device,
                        int32_t after) {
  if (wb->batches && uplo == TSR_GENERAL) return add(wb, part, device, after);
  return tsr_route_write_back(wb->routes, part, uplo, device, after);
}

bool tsr_write_back_finish(tsr_write_back *wb) {
  for (int d = 0; d < wb->problem->devices; d++)
    if (!flush(wb, d)) return false;
  return true;
}
