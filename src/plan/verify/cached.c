/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The contents of cached blocks before a plan and after it, in the small problem and as regions. */
#include "plan/verify/algebra.h"

/* Whether an element of the small problem is in a shape of C. A triangle is on C's diagonal, or is
 * what lies beside one that is. */
static bool is_in(tsr_shape shape, size_t i, size_t j) {
  if (!tsr_is_triangle(shape)) return true;
  bool beside = shape.rect.row0 != shape.rect.col0;
  return beside ? i != j && tsr_in_triangle((tsr_uplo)shape.uplo, i, j)
                : tsr_in_triangle((tsr_uplo)shape.uplo, i, j);
}

static bool is_of_c(const tsr_cached_block *block) {
  return block->matrix == TSR_C_;
}

/* ---- Before ---- */

/* Sets a shape of a buffer of C to C's values before the call. stale: to other values, as those
 * of a stale home. */
static void set_original(tsr_algebra *x, int32_t buffer, tsr_shape shape, bool stale) {
  tsr_small_rect r = tsr_algebra_shrink(x, TSR_C_, shape.rect);
  for (size_t j = r.col; j < r.col + r.cols; j++)
    for (size_t i = r.row; i < r.row + r.rows; i++)
      if (is_in(shape, i, j))
        *tsr_algebra_element(x, buffer, i, j) = (tsr_small_element){
            tsr_algebra_original(x, stale ? TSR_MATRICES : TSR_C_, i, j), TSR_NO_COMMAND};
}

void tsr_algebra_fill_cached_blocks(tsr_algebra *x) {
  const tsr_plan *plan = x->v->plan;
  for (size_t b = TSR_OPERANDS; b < plan->buffers.count; b++) {
    const tsr_cached_block *block = tsr_verify_cached_block(x->v, (int32_t)b);
    if (block == NULL || !is_of_c(block)) continue;
    for (size_t i = 0; i < block->valid.count; i++)
      set_original(x, (int32_t)b, block->valid.items[i], false);
  }
  for (size_t i = 0; plan->before != NULL && i < plan->before->blocks.count; i++) {
    const tsr_cached_block *block = &plan->before->blocks.items[i];
    for (size_t n = 0; is_of_c(block) && n < block->newer.count; n++)
      set_original(x, TSR_C_, block->newer.items[n], true);
  }
}

/* ---- After ---- */

/* The plan's buffer of a cached block; -1: the plan does not use the block. */
static int32_t buffer_of(const tsr_plan *plan, size_t block) {
  for (size_t b = TSR_OPERANDS; b < plan->buffers.count; b++)
    if (plan->buffers.items[b].role == TSR_BUFFER_CACHED && plan->buffers.items[b].offset == block)
      return (int32_t)b;
  return -1;
}

static void apply_shape(tsr_algebra *x, int32_t buffer, tsr_shape shape) {
  tsr_small_rect r = tsr_algebra_shrink(x, TSR_C_, shape.rect);
  for (size_t j = r.col; j < r.col + r.cols; j++)
    for (size_t i = r.row; i < r.row + r.rows; i++)
      if (is_in(shape, i, j))
        *tsr_algebra_element(x, TSR_C_, i, j) = *tsr_algebra_element(x, buffer, i, j);
}

static void apply_newer(tsr_algebra *x, const tsr_cached_block *block, int32_t buffer) {
  for (size_t n = 0; n < block->newer.count; n++)
    if (buffer >= 0)
      apply_shape(x, buffer, block->newer.items[n]);
    else
      set_original(x, TSR_C_, block->newer.items[n], false);
}

/* Whether a buffer of C equals C in a shape. buffer < 0: a block that the plan does not use,
 * which has C as before the call. */
static bool equals_c(const tsr_algebra *x, int32_t buffer, tsr_shape shape) {
  tsr_small_rect r = tsr_algebra_shrink(x, TSR_C_, shape.rect);
  for (size_t j = r.col; j < r.col + r.cols; j++)
    for (size_t i = r.row; i < r.row + r.rows; i++) {
      if (!is_in(shape, i, j)) continue;
      tsr_field held = buffer >= 0 ? tsr_algebra_element(x, buffer, i, j)->value
                                   : tsr_algebra_original(x, TSR_C_, i, j);
      if (!tsr_field_equal(held, tsr_algebra_element(x, TSR_C_, i, j)->value)) return false;
    }
  return true;
}

static tsr_status check_cached_block(const tsr_algebra *x, size_t number, int32_t buffer) {
  const tsr_cached_block *block = &x->v->plan->after->blocks.items[number];
  for (size_t i = 0; i < block->valid.count; i++) {
    tsr_rect r = block->valid.items[i].rect;
    if (equals_c(x, buffer, block->valid.items[i])) continue;
    return tsr_fail(
        TSR_ERR_CHECK,
        "cached block %zu at device %d should have rows %lld..%lld, columns %lld..%lld of C "
        "at the end, but has other values",
        number, block->device, (long long)r.row0, (long long)r.row1 - 1, (long long)r.col0,
        (long long)r.col1 - 1);
  }
  return TSR_OK;
}

tsr_status tsr_algebra_check_cached_blocks(tsr_algebra *x) {
  const tsr_plan *plan = x->v->plan;
  size_t count = tsr_residency_count(plan->after);
  for (size_t i = 0; i < count; i++)
    if (is_of_c(&plan->after->blocks.items[i]))
      apply_newer(x, &plan->after->blocks.items[i], buffer_of(plan, i));
  for (size_t i = 0; i < count; i++)
    if (is_of_c(&plan->after->blocks.items[i]))
      TSR_TRY(check_cached_block(x, i, buffer_of(plan, i)));
  return TSR_OK;
}

/* ---- A and B ---- */

static tsr_status check_filled(tsr_verifier *v, size_t number, int32_t buffer, tsr_rect rect) {
  tsr_rect hole;
  bool fill;
  v->found.count = 0;
  TSR_TRY(tsr_regions_find(&v->regions[buffer], rect, &v->found));
  TSR_TRY(tsr_parts_fill(&v->found, rect, &fill, &hole));
  if (fill) return TSR_OK;
  return tsr_fail(
      TSR_ERR_CHECK,
      "cached block %zu should have rows %lld..%lld, columns %lld..%lld of %s at the end, "
      "but no command copied them there",
      number, (long long)hole.row0, (long long)hole.row1 - 1, (long long)hole.col0,
      (long long)hole.col1 - 1, tsr_matrix_name(v->plan->buffers.items[buffer].matrix));
}

/* Commands have written all of a triangle's square, because devices copy it whole. */
tsr_status tsr_verify_cached_blocks(tsr_verifier *v) {
  const tsr_residency *after = v->plan->after;
  for (size_t i = 0; i < tsr_residency_count(after); i++) {
    const tsr_cached_block *block = &after->blocks.items[i];
    int32_t buffer = buffer_of(v->plan, i);
    for (size_t n = 0; buffer >= 0 && n < block->valid.count; n++)
      TSR_TRY(check_filled(v, i, buffer, block->valid.items[n].rect));
  }
  return TSR_OK;
}
