/*
 * Whether a plan computes what its call asks for, whatever the operation, the algorithm and the
 * cuts. After R. Freivalds, "Probabilistic machines can use less running time" (1977): the values
 * are random elements of a finite field, so that arithmetic is exact and a plan that sums anything
 * but the right products is right by a chance of about 2^-60.
 *
 * All elements between two cuts are treated alike, by every command. So one of them will do: the
 * plan is carried out on a small problem with one index for each interval between cuts, or two
 * where it matters which triangle an element is in. The contents of A and B never change, and that
 * they are where they are read is known from the regions; so their copies are not carried out, and
 * cut nothing. An element of C or W that a command does not write stays marked as such, also in
 * copies (the unused triangle of a tile may travel); using it, or bringing it home, is an error.
 *
 * Cost: a kernel takes as many multiplications as intervals meet in it, which is few, since others
 * cut where it does: about 1 us a command in all. Memory: 24 bytes for each element of C and W of
 * the small problem in each buffer.
 */
#include "plan/verify/algebra.h"

#include <stdlib.h>

#include "base/alloc.h"

/* ---- Random elements ---- */

/* Of a number, by the finaliser of splitmix64 (Steele, Lea and Flood 2014). */
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

tsr_field tsr_algebra_original(const tsr_algebra *x, int matrix, size_t row, size_t col) {
  uint64_t place = (uint64_t)row << 31 ^ (uint64_t)col << 2 ^ (uint64_t)matrix;
  return random_element(scramble(place), x->complex_valued);
}

static tsr_field scalar(tsr_scalar_class class, uint64_t seed, bool complex_valued) {
  if (class == TSR_ZERO) return tsr_field_zero;
  return class == TSR_ONE ? tsr_field_one : random_element(seed, complex_valued);
}

/* ---- Cuts ---- */

static bool is_result(const tsr_algebra *x, int32_t buffer) {
  uint8_t matrix = x->v->plan->buffers.items[buffer].matrix;
  return matrix == TSR_C_ || matrix == TSR_W;
}

static bool cut(tsr_algebra *x, int space, int64_t begin, int64_t end) {
  tsr_small_space *s = &x->space[space];
  if (!TSR_VEC_RESERVE(&s->ends, 2)) return false;
  s->ends.items[s->ends.count++] = begin;
  s->ends.items[s->ends.count++] = end;
  return true;
}

static bool cut_rect(tsr_algebra *x, int matrix, tsr_rect rect) {
  tsr_axes spaces = tsr_call_spaces(x->call, matrix);
  return cut(x, spaces.rows, rect.row0, rect.row1) && cut(x, spaces.cols, rect.col0, rect.col1);
}

static bool cut_command(tsr_algebra *x, const tsr_command *command) {
  const tsr_buffer *buffers = x->v->plan->buffers.items;
  if (command->kind == TSR_COMMAND_COPY)
    return !is_result(x, command->buffer[0]) ||
           cut_rect(x, buffers[command->buffer[0]].matrix, tsr_command_rect(command, 0));
  for (int i = 0; i < 3; i++)
    if (command->buffer[i] != TSR_NO_BUFFER &&
        !cut_rect(x, buffers[command->buffer[i]].matrix, tsr_command_rect(command, i)))
      return false;
  return true;
}

/* What is valid in rooms, and newer than the home. */
static bool cut_rooms(tsr_algebra *x, const tsr_residency *residency) {
  size_t count = residency == NULL ? 0 : residency->rooms.count;
  for (size_t i = 0; i < count; i++) {
    const tsr_room *room = &residency->rooms.items[i];
    if (room->matrix != TSR_C_) continue;
    for (size_t n = 0; n < room->valid.count; n++)
      if (!cut_rect(x, TSR_C_, room->valid.items[n])) return false;
    for (size_t n = 0; n < room->newer.count; n++)
      if (!cut_rect(x, TSR_C_, room->newer.items[n])) return false;
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
  bool room = true;
  for (int s = 0; s < TSR_AXES; s++) room = room && cut(x, s, 0, tsr_call_extent(x->call, s));
  for (size_t i = 0; room && i < plan->buffers.count; i++) {
    const tsr_buffer *b = &plan->buffers.items[i];
    if (is_result(x, (int32_t)i))
      room = cut_rect(x, b->matrix, tsr_rect_make(b->row, b->col, b->rows, b->cols));
  }
  for (size_t c = 0; room && c < plan->commands.count; c++)
    room = cut_command(x, &plan->commands.items[c]);
  room = room && cut_rooms(x, plan->before) && cut_rooms(x, plan->after);
  if (!room) return tsr_verify_no_memory();
  for (int s = 0; s < TSR_AXES; s++) TSR_TRY(finish_space(x, s));
  return TSR_OK;
}

/* ---- Rectangles of the small problem ---- */

/* at is one of the space's ends. */
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
    if (!is_result(x, (int32_t)i)) continue;
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
  tsr_algebra_fill_rooms(x);
  return TSR_OK;
}

/* ---- Copies ---- */

static tsr_status copy(tsr_algebra *x, uint32_t c) {
  const tsr_command *command = &x->v->plan->commands.items[c];
  int32_t from = command->buffer[0], to = command->buffer[1];
  if (!is_result(x, from)) return TSR_OK;
  tsr_small_rect r = tsr_algebra_shrink(x, TSR_C_, tsr_command_rect(command, 0));
  tsr_uplo uplo = tsr_form_unpack(command->form).uplo;
  for (size_t j = r.col; j < r.col + r.cols; j++)
    for (size_t i = r.row; i < r.row + r.rows; i++) {
      if (!tsr_in_triangle(uplo, i, j)) continue;
      tsr_small_element *copied = tsr_algebra_element(x, from, i, j);
      if (to == TSR_C_ && copied->command == TSR_NOT_WRITTEN)
        return tsr_verify_fail(x->v, c, "brings elements of C home that no kernel has written");
      *tsr_algebra_element(x, to, i, j) = *copied;
    }
  return TSR_OK;
}

/* ---- Kernels ---- */

/* Fills x->operand[i] with an operand; of a triangle the rest is 0, and need not be there. */
static tsr_status load(tsr_algebra *x, uint32_t c, int i, tsr_uplo uplo) {
  const tsr_command *command = &x->v->plan->commands.items[c];
  int32_t buffer = command->buffer[i];
  uint8_t matrix = x->v->plan->buffers.items[buffer].matrix;
  tsr_small_rect r = tsr_algebra_shrink(x, matrix, tsr_command_rect(command, i));
  tsr_dense *to = &x->operand[i];
  TSR_TRY(tsr_dense_resize(to, r.rows, r.cols));
  for (size_t col = 0; col < r.cols; col++)
    for (size_t row = 0; row < r.rows; row++) {
      tsr_field *value = tsr_dense_at(to, row, col);
      *value = tsr_field_zero;
      if (!tsr_in_triangle(uplo, row, col)) continue;
      if (!is_result(x, buffer)) {
        *value = tsr_algebra_original(x, matrix, r.row + row, r.col + col);
        continue;
      }
      tsr_small_element *from = tsr_algebra_element(x, buffer, r.row + row, r.col + col);
      if (from->command == TSR_NOT_WRITTEN)
        return tsr_verify_fail(x->v, c,
                               "operand %c: reads elements of %s that no kernel has written",
                               "abc"[i], tsr_matrix_name(matrix));
      *value = from->value;
    }
  return TSR_OK;
}

static void store(tsr_algebra *x, uint32_t c, tsr_uplo uplo) {
  const tsr_command *command = &x->v->plan->commands.items[c];
  tsr_small_rect r = tsr_algebra_shrink(x, TSR_C_, tsr_command_rect(command, 2));
  const tsr_dense *from = &x->operand[2];
  for (size_t j = 0; j < r.cols; j++)
    for (size_t i = 0; i < r.rows; i++)
      if (tsr_in_triangle(uplo, i, j))
        *tsr_algebra_element(x, command->buffer[2], r.row + i, r.col + j) =
            (tsr_small_element){*tsr_dense_at(from, i, j), c};
}

static tsr_field alpha_of(const tsr_algebra *x, const tsr_command *command) {
  if (command->flags & TSR_FLAG_ALPHA_ONE) return tsr_field_one;
  if (command->flags & TSR_FLAG_ALPHA_MINUS) return tsr_field_negate(tsr_field_one);
  return command->flags & TSR_FLAG_ALPHA_CONJ ? tsr_field_conj(x->alpha) : x->alpha;
}

static tsr_field beta_of(const tsr_algebra *x, const tsr_command *command) {
  if (command->flags & TSR_FLAG_BETA) return x->beta;
  if (command->flags & TSR_FLAG_BETA_ALPHA) return x->alpha;
  return command->flags & TSR_FLAG_BETA_ONE ? tsr_field_one : tsr_field_zero;
}

/* c = beta c; a Hermitian c has a real diagonal, whatever was there. */
static void scale(tsr_dense *c, tsr_field beta, bool hermitian) {
  for (size_t j = 0; j < c->cols; j++)
    for (size_t i = 0; i < c->rows; i++) {
      tsr_field *value = tsr_dense_at(c, i, j);
      if (hermitian && i == j) value->im = 0;
      *value = tsr_field_multiply(beta, *value);
    }
}

static void add_product(const tsr_dense *left, const tsr_dense *right, tsr_uplo uplo,
                        tsr_dense *c) {
  for (size_t j = 0; j < c->cols; j++)
    for (size_t i = 0; i < c->rows; i++) {
      if (!tsr_in_triangle(uplo, i, j)) continue;
      tsr_field *value = tsr_dense_at(c, i, j);
      *value = tsr_field_add(*value, tsr_factors_product(left, right, i, j, 0, left->rows));
    }
}

/* c += alpha a. */
static void add_multiple(const tsr_dense *a, tsr_field alpha, tsr_dense *c) {
  for (size_t e = 0; e < c->rows * c->cols; e++)
    c->at[e] = tsr_field_add(c->at[e], tsr_field_multiply(alpha, a->at[e]));
}

static tsr_status compute(tsr_algebra *x, const tsr_command *command, tsr_uplo uplo) {
  tsr_dense *c = &x->operand[2];
  tsr_formula f = {(tsr_kernel)command->kernel,
                   tsr_form_unpack(command->form),
                   alpha_of(x, command),
                   &x->operand[0],
                   &x->operand[1],
                   c};
  if (f.kernel == TSR_KERNEL_TRSM) return tsr_formula_solve(&f, &x->left, c);
  bool product = tsr_kernel_get(f.kernel)->bound_by_memory == false && command->k > 0;
  bool hermitian = f.kernel == TSR_KERNEL_HERK || f.kernel == TSR_KERNEL_HER2K;
  if (product) TSR_TRY(tsr_formula_factors(&f, &x->left, &x->right));
  scale(c, beta_of(x, command), hermitian);
  if (product) add_product(&x->left, &x->right, uplo, c);
  if (f.kernel == TSR_KERNEL_ADD) add_multiple(&x->operand[0], f.alpha, c);
  return TSR_OK;
}

static tsr_status do_kernel(tsr_algebra *x, uint32_t c) {
  const tsr_command *command = &x->v->plan->commands.items[c];
  tsr_uplo uplo = tsr_kernel_triangle((tsr_kernel)command->kernel, command->form);
  tsr_uplo of_a = command->kernel == TSR_KERNEL_ADD ? uplo : TSR_GENERAL;
  if (command->buffer[0] != TSR_NO_BUFFER) TSR_TRY(load(x, c, 0, of_a));
  if (command->buffer[1] != TSR_NO_BUFFER) TSR_TRY(load(x, c, 1, TSR_GENERAL));
  if (tsr_command_reads_c(x->call, command)) {
    TSR_TRY(load(x, c, 2, uplo));
  } else {
    tsr_small_rect r = tsr_algebra_shrink(x, TSR_C_, tsr_command_rect(command, 2));
    TSR_TRY(tsr_dense_resize(&x->operand[2], r.rows, r.cols));
    for (size_t e = 0; e < r.rows * r.cols; e++) x->operand[2].at[e] = tsr_field_zero;
  }
  TSR_TRY(compute(x, command, uplo));
  store(x, c, uplo);
  return TSR_OK;
}

/* ---- The whole ---- */

static tsr_status carry_out(tsr_algebra *x) {
  const tsr_plan *plan = x->v->plan;
  TSR_TRY(cut_spaces(x));
  TSR_TRY(make_buffers(x));
  for (uint32_t c = 0; c < plan->commands.count; c++)
    TSR_TRY(plan->commands.items[c].kind == TSR_COMMAND_COPY ? copy(x, c) : do_kernel(x, c));
  TSR_TRY(tsr_algebra_settle_rooms(x));
  return tsr_algebra_compare(x);
}

static void stop(tsr_algebra *x) {
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

tsr_status tsr_verify_algebra(const tsr_verifier *v) {
  const tsr_call *call = &v->plan->call;
  bool complex_valued = tsr_type_get(call->type)->complex_valued;
  bool real_alpha = call->operation == TSR_HERK;
  bool real_beta = real_alpha || call->operation == TSR_HER2K;
  tsr_algebra x = {.v = v, .call = call, .complex_valued = complex_valued};
  x.alpha = scalar(call->alpha, 1, complex_valued && !real_alpha);
  x.beta = scalar(call->beta, 2, complex_valued && !real_beta);
  tsr_status status = carry_out(&x);
  stop(&x);
  return status;
}
