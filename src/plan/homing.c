/*
 * Homing: when the finished parts of C go home.
 *
 * Mostly at once. Beside a triangle, with the triangle on the left, C is finished by blocks of
 * rows, whose short columns are slow to copy: there several blocks go together, as many as a copy
 * from home may be high, and fewer towards the end, where nothing would hide the last copy.
 */
#include "blas/family.h"
#include "plan/schedule.h"

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static bool gathers_blocks(const tsr_scheduler *s) {
  return !s->slots && tsr_family_of(s->call->operation) == TSR_TRIANGLE &&
         s->graph->grid[TSR_C_].piece_rows > 0;
}

/* What waits goes. */
static bool release(tsr_scheduler *s, int device) {
  tsr_homing *h = &s->homing[device];
  if (h->part.rows == 0) return true;
  bool done = tsr_route_bring_home(s, &h->part, TSR_GENERAL, device, h->after);
  h->part.rows = 0;
  return done;
}

static bool is_same_stripe(const tsr_task_operand *a, const tsr_task_operand *b) {
  return a->tile == b->tile && a->col == b->col && a->cols == b->cols;
}

/* The part with another block above or below it; false: they do not touch. */
static bool join(tsr_task_operand *part, const tsr_task_operand *block) {
  bool below = block->row == part->row + part->rows, above = block->row + block->rows == part->row;
  if (!is_same_stripe(part, block) || !(below || above)) return false;
  if (above) part->row = block->row;
  part->rows += block->rows;
  return true;
}

/* Whether no other stripe of the device's comes after this one. */
static bool is_last_stripe(const tsr_scheduler *s, const tsr_task_operand *stripe) {
  const tsr_tile_grid *grid = &s->graph->grid[TSR_C_];
  return stripe->col + stripe->cols == grid->cols.at[stripe->tile % grid->cols.count + 1];
}

/* Rows that may wait: as a copy may be high, and of the last stripe half of those that are still to
 * be finished, at most. */
static int64_t most_rows(const tsr_scheduler *s, const tsr_homing *h) {
  int64_t left = s->call->m - h->finished, high = s->graph->grid[TSR_C_].piece_rows;
  if (!is_last_stripe(s, &h->stripe)) return left > 0 ? high : 0;
  return smaller(high, left / 2);
}

static bool add(tsr_scheduler *s, const tsr_task_operand *block, int device, int32_t after) {
  tsr_homing *h = &s->homing[device];
  if (!is_same_stripe(&h->stripe, block)) {
    h->stripe = *block;
    h->finished = 0;
  }
  h->finished += block->rows;
  if (h->part.rows == 0 || !join(&h->part, block)) {
    if (!release(s, device)) return false;
    h->part = *block;
  }
  h->after = after;
  return h->part.rows < most_rows(s, h) || release(s, device);
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
