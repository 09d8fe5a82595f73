/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The small problem that a plan is carried out on (algebra.c): its indices, its elements before the
 * call, and the place of each buffer's elements.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "blas/lines.h"
#include "blas/family.h"
#include "blas/operation.h"
#include "plan/verify/algebra.h"

/* ---- Random elements ---- */

/* A hash of a number: the finaliser of splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t scramble(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static tsr_field random_element(uint64_t seed, bool complex_valued) {
  tsr_field value = {tsr_mod_fold(scramble(seed) >> 2), 0};
  if (complex_valued) value.im = tsr_mod_fold(scramble(~seed) >> 2);
  return value;
}

/* Residues stand for the elements that they were made of. */
static tsr_field line_element(const tsr_algebra *x, int matrix, size_t k, size_t line) {
  tsr_line_source source = tsr_line_source_of(x->call, matrix, (int64_t)k, (int64_t)line);
  bool turned = source.turned;
  tsr_field value = tsr_algebra_original(x, source.matrix, turned ? line : k, turned ? k : line);
  return source.conjugated ? tsr_field_conj(value) : value;
}

static tsr_field random_at(const tsr_algebra *x, int matrix, size_t row, size_t col) {
  uint64_t place = (uint64_t)row << 31 ^ (uint64_t)col << 2 ^ (uint64_t)matrix;
  return random_element(scramble(place), x->complex_valued);
}

/* The diagonal is real. */
tsr_field tsr_algebra_factor(const tsr_algebra *x, size_t row, size_t col) {
  tsr_field value = random_at(x, TSR_W, row, col);
  if (row == col) value.im = 0;
  return value;
}

/* Lower: the sum of L(row, k) conj(L(col, k)); upper: of conj(U(k, row)) U(k, col). */
tsr_field tsr_algebra_rest(const tsr_algebra *x, size_t row, size_t col, size_t first) {
  bool lower = x->call->uplo == TSR_LOWER;
  tsr_field sum = tsr_field_zero;
  for (size_t k = first; k <= row && k <= col; k++) {
    tsr_field one = lower ? tsr_algebra_factor(x, row, k) : tsr_algebra_factor(x, k, row);
    tsr_field other = lower ? tsr_algebra_factor(x, col, k) : tsr_algebra_factor(x, k, col);
    if (lower)
      other = tsr_field_conj(other);
    else
      one = tsr_field_conj(one);
    sum = tsr_field_add(sum, tsr_field_multiply(one, other));
  }
  return sum;
}

tsr_field tsr_algebra_original(const tsr_algebra *x, int matrix, size_t row, size_t col) {
  if (tsr_is_lines(matrix)) return line_element(x, matrix, row, col);
  bool factored = matrix == TSR_C_ && tsr_family_of(x->call->operation) == TSR_FACTOR;
  if (factored && tsr_in_triangle(x->call->uplo, row, col)) return tsr_algebra_rest(x, row, col, 0);
  return random_at(x, matrix, row, col);
}

static tsr_field scalar(tsr_scalar_class class, uint64_t seed, bool complex_valued) {
  if (class == TSR_ZERO) return tsr_field_zero;
  return class == TSR_ONE ? tsr_field_one : random_element(seed, complex_valued);
}

/* ---- Cuts ---- */

static bool cut(tsr_algebra *x, int space, int64_t begin, int64_t end) {
  tsr_small_space *s = &x->space[space];
  if (!TSR_VEC_RESERVE(&s->ends, 2)) return false;
  s->ends.items[s->ends.count++] = begin;
  s->ends.items[s->ends.count++] = end;
  return true;
}

static bool cut_rect(tsr_algebra *x, int matrix, tsr_rect rect) {
  tsr_axes spaces = tsr_call_spaces(x->call, matrix);
  if (matrix == TSR_W) rect = tsr_call_rect_of_c(x->call, rect);
  return cut(x, spaces.rows, rect.row0, rect.row1) && cut(x, spaces.cols, rect.col0, rect.col1);
}

static bool cut_command(tsr_algebra *x, const tsr_command *command) {
  const tsr_buffer *buffers = x->v->plan->buffers.items;
  if (command->kind == TSR_COMMAND_COPY)
    return !tsr_algebra_is_result(x, command->buffer[0]) ||
           cut_rect(x, buffers[command->buffer[0]].matrix, tsr_command_rect(command, 0));
  for (int i = 0; i < 3; i++)
    if (command->buffer[i] != TSR_NO_BUFFER &&
        !cut_rect(x, buffers[command->buffer[i]].matrix, tsr_command_rect(command, i)))
      return false;
  return true;
}

/* Cuts at the valid and newer rectangles of cached blocks of C. */
static bool cut_cached_blocks(tsr_algebra *x, const tsr_residency *residency) {
  size_t count = residency == NULL ? 0 : residency->blocks.count;
  for (size_t i = 0; i < count; i++) {
    const tsr_cached_block *block = &residency->blocks.items[i];
    if (block->matrix != TSR_C_) continue;
    for (size_t n = 0; n < block->valid.count; n++)
      if (!cut_rect(x, TSR_C_, block->valid.items[n].rect)) return false;
    for (size_t n = 0; n < block->newer.count; n++)
      if (!cut_rect(x, TSR_C_, block->newer.items[n].rect)) return false;
  }
  return true;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static tsr_status finish_space(tsr_algebra *x, int space) {
  tsr_small_space *s = &x->space[space];
  bool two = tsr_call_is_square(x->call, space);
  size_t ends = 1;
  qsort(s->ends.items, s->ends.count, sizeof *s->ends.items, ascending);
  for (size_t i = 1; i < s->ends.count; i++)
    if (s->ends.items[i] != s->ends.items[ends - 1]) s->ends.items[ends++] = s->ends.items[i];
  s->ends.count = ends;
  s->first = tsr_alloc(ends * sizeof *s->first);
  if (s->first == NULL) return tsr_verify_no_memory();
  for (size_t e = 0; e < ends; e++) {
    s->first[e] = (uint32_t)s->count;
    if (e + 1 < ends) s->count += two && s->ends.items[e + 1] - s->ends.items[e] > 1 ? 2 : 1;
  }
  return TSR_OK;
}

static tsr_status cut_spaces(tsr_algebra *x) {
  const tsr_plan *plan = x->v->plan;
  bool enough = true;
  for (int s = 0; s < TSR_AXES; s++) enough = enough && cut(x, s, 0, tsr_call_extent(x->call, s));
  for (size_t i = 0; enough && i < plan->buffers.count; i++) {
    const tsr_buffer *b = &plan->buffers.items[i];
    if (tsr_algebra_is_result(x, (int32_t)i))
      enough = cut_rect(x, b->matrix, tsr_rect_make(b->row, b->col, b->rows, b->cols));
  }
  for (size_t c = 0; enough && c < plan->commands.count; c++)
    enough = cut_command(x, &plan->commands.items[c]);
  enough = enough && cut_cached_blocks(x, plan->before) && cut_cached_blocks(x, plan->after);
  if (!enough) return tsr_verify_no_memory();
  for (int s = 0; s < TSR_AXES; s++) TSR_TRY(finish_space(x, s));
  return TSR_OK;
}

/* ---- Rectangles of the small problem ---- */

/* The index of the small problem at which the cut `at` lies. */
static size_t index_of(const tsr_small_space *s, int64_t at) {
  size_t low = 0, high = s->ends.count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (s->ends.items[middle] <= at)
      low = middle;
    else
      high = middle;
  }
  return s->first[low];
}

tsr_small_rect tsr_algebra_shrink(const tsr_algebra *x, int matrix, tsr_rect rect) {
  tsr_axes spaces = tsr_call_spaces(x->call, matrix);
  if (matrix == TSR_C_ || matrix == TSR_W) rect = tsr_call_rect_of_c(x->call, rect);
  const tsr_small_space *r = &x->space[spaces.rows], *c = &x->space[spaces.cols];
  tsr_small_rect small = {index_of(r, rect.row0), index_of(c, rect.col0), 0, 0};
  small.rows = index_of(r, rect.row1) - small.row;
  small.cols = index_of(c, rect.col1) - small.col;
  return small;
}

/* ---- Buffers ---- */

static size_t place_buffers(tsr_algebra *x) {
  const tsr_plan *plan = x->v->plan;
  size_t elements = 0;
  for (size_t i = 0; i < plan->buffers.count; i++) {
    const tsr_buffer *b = &plan->buffers.items[i];
    if (!tsr_algebra_is_result(x, (int32_t)i)) continue;
    tsr_small_rect small =
        tsr_algebra_shrink(x, b->matrix, tsr_rect_make(b->row, b->col, b->rows, b->cols));
    x->buffers[i] = (tsr_small_buffer){small.row, small.col, small.rows, elements};
    elements += small.rows * small.cols;
  }
  return elements;
}

static tsr_status make_buffers(tsr_algebra *x) {
  x->buffers = tsr_alloc_zero(x->v->plan->buffers.count, sizeof *x->buffers);
  if (x->buffers == NULL) return tsr_verify_no_memory();
  size_t count = place_buffers(x);
  x->elements = tsr_alloc(count * sizeof *x->elements);
  if (x->elements == NULL) return tsr_verify_no_memory();
  for (size_t i = 0; i < count; i++)
    x->elements[i] = (tsr_small_element){tsr_field_zero, TSR_NOT_WRITTEN};
  tsr_axes spaces = tsr_call_spaces(x->call, TSR_C_);
  for (size_t j = 0; j < x->space[spaces.cols].count; j++)
    for (size_t i = 0; i < x->space[spaces.rows].count; i++)
      *tsr_algebra_element(x, TSR_C_, i, j) =
          (tsr_small_element){tsr_algebra_original(x, TSR_C_, i, j), TSR_NO_COMMAND};
  return TSR_OK;
}

/* ---- Beginning and end ---- */

tsr_status tsr_algebra_start(tsr_algebra *x, const tsr_verifier *v) {
  const tsr_call *call = &v->plan->call;
  bool complex_valued = tsr_type_get(call->type)->complex_valued;
  const tsr_operation_info *info = tsr_operation_get(call->operation);
  *x = (tsr_algebra){.v = v, .call = call, .complex_valued = complex_valued};
  x->alpha = scalar(call->alpha, 1, complex_valued && !info->real_alpha);
  x->beta = scalar(call->beta, 2, complex_valued && !info->real_beta);
  TSR_TRY(cut_spaces(x));
  return make_buffers(x);
}

void tsr_algebra_stop(tsr_algebra *x) {
  for (int s = 0; s < TSR_AXES; s++) {
    TSR_VEC_FREE(&x->space[s].ends);
    tsr_dealloc(x->space[s].first);
  }
  tsr_dealloc(x->buffers);
  tsr_dealloc(x->elements);
  for (int i = 0; i < 3; i++) tsr_dense_free(&x->operand[i]);
  tsr_dense_free(&x->left);
  tsr_dense_free(&x->right);
}
