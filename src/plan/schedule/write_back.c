#include "plan/schedule/write_back.h"

#include "blas/family.h"

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static bool is_left(const tsr_write_back *h) {
  return h->problem->call->side == TSR_LEFT;
}

static bool solves(const tsr_problem *problem) {
  return problem->call->operation == TSR_TRSM;
}

/* Whether what goes home is in the way of what comes in: both at the host's memory. */
static bool is_crowded(const tsr_problem *problem) {
  return problem->call->operand[TSR_C_].memory == TSR_PINNED;
}

/* Copies from C's home may be so many rows high; 0: no limit. */
static int64_t height_of_copies(const tsr_problem *problem) {
  return problem->graph->grid[TSR_C_].piece_rows;
}

void tsr_write_back_init(tsr_write_back *h, const tsr_problem *problem, bool tight,
                         tsr_routes *routes) {
  h->problem = problem;
  h->routes = routes;
  h->gathers =
      !tight && tsr_family_of(problem->call->operation) == TSR_TRIANGLE &&
      ((solves(problem) && is_crowded(problem)) || (is_left(h) && height_of_copies(problem) > 0));
}

/* What waits goes. */
static bool release(tsr_write_back *h, int device) {
  tsr_waiting_write_back *w = &h->at[device];
  if (w->part.rows == 0) return true;
  bool done = tsr_route_bring_home(h->routes, &w->part, TSR_GENERAL, device, w->after);
  w->part.rows = 0;
  return done;
}

/* ---- Along A's order ------------------------------------------------------ */

static int64_t order_of(const tsr_write_back *h) {
  return is_left(h) ? h->problem->call->m : h->problem->call->n;
}

static int64_t length_of(const tsr_write_back *h, const tsr_task_operand *o) {
  return is_left(h) ? o->rows : o->cols;
}

static bool is_same_stripe(const tsr_write_back *h, const tsr_task_operand *a,
                           const tsr_task_operand *b) {
  if (a->tile != b->tile) return false;
  return is_left(h) ? a->col == b->col && a->cols == b->cols
                    : a->row == b->row && a->rows == b->rows;
}

/* The part with another block before or behind it; false: they do not touch. */
static bool join(const tsr_write_back *h, tsr_task_operand *part, const tsr_task_operand *block) {
  int64_t *begin = is_left(h) ? &part->row : &part->col;
  int32_t *length = is_left(h) ? &part->rows : &part->cols;
  int64_t at = is_left(h) ? block->row : block->col, more = length_of(h, block);
  bool behind = at == *begin + *length, before = at + more == *begin;
  if (!is_same_stripe(h, part, block) || !(behind || before)) return false;
  if (before) *begin = at;
  *length += (int32_t)more;
  return true;
}

/* Whether no other stripe of the device's comes after this one. */
static bool is_last_stripe(const tsr_write_back *h, const tsr_task_operand *stripe) {
  return stripe->col + stripe->cols == tsr_tile_rect(h->problem, TSR_C_, stripe->tile).col1;
}

/* How much may wait: as much as a copy may be high, and of the last stripe half of what is still to
 * be finished, at most; columns need not wait. The first half of trsm's, which is solved in a
 * quarter of the time, would be in the way of what the rest is solved from and in. */
static int64_t most_waiting(const tsr_write_back *h, const tsr_waiting_write_back *w) {
  int64_t order = order_of(h), left = order - w->finished, high = height_of_copies(h->problem);
  bool crowded = is_crowded(h->problem);
  if (solves(h->problem) && crowded && w->finished < order / 2) return order;
  if (!is_left(h)) return 0;
  if (crowded && !is_last_stripe(h, &w->stripe)) return left > 0 ? high : 0;
  return smaller(high, left / 2);
}

static bool add(tsr_write_back *h, const tsr_task_operand *block, int device, int32_t after) {
  tsr_waiting_write_back *w = &h->at[device];
  if (!is_same_stripe(h, &w->stripe, block)) {
    w->stripe = *block;
    w->finished = 0;
  }
  w->finished += length_of(h, block);
  if (w->part.rows == 0 || !join(h, &w->part, block)) {
    if (!release(h, device)) return false;
    w->part = *block;
  }
  w->after = after;
  return length_of(h, &w->part) < most_waiting(h, w) || release(h, device);
}

bool tsr_write_back_add(tsr_write_back *h, const tsr_task_operand *part, tsr_uplo uplo, int device,
                        int32_t after) {
  if (h->gathers && uplo == TSR_GENERAL) return add(h, part, device, after);
  return tsr_route_bring_home(h->routes, part, uplo, device, after);
}

bool tsr_write_back_finish(tsr_write_back *h) {
  for (int d = 0; d < h->problem->devices; d++)
    if (!release(h, d)) return false;
  return true;
}
