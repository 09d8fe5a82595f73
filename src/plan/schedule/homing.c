/*
 * Homing: when the finished parts of C go home.
 *
 * Mostly at once. Beside a triangle, with the triangle on the left, C is finished by blocks of
 * rows, whose short columns are slow to copy: there several blocks go together, as many as a copy
 * from home may be high, and fewer towards the end, where nothing would hide the last copy. And
 * what is solved early waits until less has to come in.
 */
#include "blas/family.h"
#include "plan/schedule/schedule.h"

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static bool is_left(const tsr_scheduler *s) {
  return s->call->side == TSR_LEFT;
}

static bool solves(const tsr_scheduler *s) {
  return s->call->operation == TSR_TRSM;
}

/* Whether what goes home is in the way of what comes in: both at the host's memory. */
static bool is_crowded(const tsr_scheduler *s) {
  return s->call->operand[TSR_C_].memory == TSR_PINNED;
}

static bool gathers_blocks(const tsr_scheduler *s) {
  return !s->slots && tsr_family_of(s->call->operation) == TSR_TRIANGLE &&
         ((solves(s) && is_crowded(s)) || (is_left(s) && s->graph->grid[TSR_C_].piece_rows > 0));
}

/* What waits goes. */
static bool release(tsr_scheduler *s, int device) {
  tsr_homing *h = &s->homing[device];
  if (h->part.rows == 0) return true;
  bool done = tsr_route_bring_home(s, &h->part, TSR_GENERAL, device, h->after);
  h->part.rows = 0;
  return done;
}

/* ---- Along A's order ------------------------------------------------------ */

static int64_t order_of(const tsr_scheduler *s) {
  return is_left(s) ? s->call->m : s->call->n;
}

static int64_t length_of(const tsr_scheduler *s, const tsr_task_operand *o) {
  return is_left(s) ? o->rows : o->cols;
}

static bool is_same_stripe(const tsr_scheduler *s, const tsr_task_operand *a,
                           const tsr_task_operand *b) {
  if (a->tile != b->tile) return false;
  return is_left(s) ? a->col == b->col && a->cols == b->cols
                    : a->row == b->row && a->rows == b->rows;
}

/* The part with another block before or behind it; false: they do not touch. */
static bool join(const tsr_scheduler *s, tsr_task_operand *part, const tsr_task_operand *block) {
  int64_t *begin = is_left(s) ? &part->row : &part->col;
  int32_t *length = is_left(s) ? &part->rows : &part->cols;
  int64_t at = is_left(s) ? block->row : block->col, more = length_of(s, block);
  bool behind = at == *begin + *length, before = at + more == *begin;
  if (!is_same_stripe(s, part, block) || !(behind || before)) return false;
  if (before) *begin = at;
  *length += (int32_t)more;
  return true;
}

/* Whether no other stripe of the device's comes after this one. */
static bool is_last_stripe(const tsr_scheduler *s, const tsr_task_operand *stripe) {
  const tsr_tile_grid *grid = &s->graph->grid[TSR_C_];
  return stripe->col + stripe->cols == grid->cols.at[stripe->tile % grid->cols.count + 1];
}

/* How much may wait: as much as a copy may be high, and of the last stripe half of what is still to
 * be finished, at most; columns need not wait. The first half of trsm's, which is solved in a
 * quarter of the time, would be in the way of what the rest is solved from and in. */
static int64_t most_waiting(const tsr_scheduler *s, const tsr_homing *h) {
  int64_t left = order_of(s) - h->finished, high = s->graph->grid[TSR_C_].piece_rows;
  if (solves(s) && is_crowded(s) && h->finished < order_of(s) / 2) return order_of(s);
  if (!is_left(s)) return 0;
  if (is_crowded(s) && !is_last_stripe(s, &h->stripe)) return left > 0 ? high : 0;
  return smaller(high, left / 2);
}

static bool add(tsr_scheduler *s, const tsr_task_operand *block, int device, int32_t after) {
  tsr_homing *h = &s->homing[device];
  if (!is_same_stripe(s, &h->stripe, block)) {
    h->stripe = *block;
    h->finished = 0;
  }
  h->finished += length_of(s, block);
  if (h->part.rows == 0 || !join(s, &h->part, block)) {
    if (!release(s, device)) return false;
    h->part = *block;
  }
  h->after = after;
  return length_of(s, &h->part) < most_waiting(s, h) || release(s, device);
}

bool tsr_homing_add(tsr_scheduler *s, const tsr_task_operand *part, tsr_uplo uplo, int device,
                    int32_t after) {
  if (uplo == TSR_GENERAL && gathers_blocks(s)) return add(s, part, device, after);
  return tsr_route_bring_home(s, part, uplo, device, after);
}

bool tsr_homing_finish(tsr_scheduler *s) {
  for (int d = 0; d < s->devices; d++)
    if (!release(s, d)) return false;
  return true;
}
