/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/verify/dense.h"

#include "base/alloc.h"

tsr_status tsr_dense_resize(tsr_dense *x, size_t rows, size_t cols) {
  if (x->capacity < rows * cols) {
    tsr_dealloc(x->at);
    x->capacity = 0;
    x->at = tsr_alloc(rows * cols * sizeof *x->at);
    if (x->at == NULL)
      return tsr_fail(TSR_ERR_MEMORY, "no host memory to verify a plan cut so finely");
    x->capacity = rows * cols;
  }
  x->rows = rows;
  x->cols = cols;
  return TSR_OK;
}

void tsr_dense_free(tsr_dense *x) {
  tsr_dealloc(x->at);
  *x = (tsr_dense){.at = NULL};
}

/* ---- Stored elements, and the matrix they stand for ---- */

typedef enum shape { PLAIN, SYMMETRIC, HERMITIAN, TRIANGULAR } shape;

static shape shape_of(tsr_kernel kernel) {
  switch (kernel) {
    case TSR_KERNEL_SYMM:
      return SYMMETRIC;
    case TSR_KERNEL_HEMM:
      return HERMITIAN;
    case TSR_KERNEL_TRMM:
    case TSR_KERNEL_TRSM:
      return TRIANGULAR;
    default:
      return PLAIN;
  }
}

static tsr_field diagonal_element(shape as, tsr_diag diag, tsr_field stored) {
  if (as == HERMITIAN) stored.im = 0;
  return as == TRIANGULAR && diag == TSR_UNIT ? tsr_field_one : stored;
}

/* Element (i, j) of the matrix that x stands for, if only one triangle of x counts. */
static tsr_field element(const tsr_dense *x, shape as, const tsr_form *form, size_t i, size_t j) {
  if (as == PLAIN) return *tsr_dense_at(x, i, j);
  if (i == j) return diagonal_element(as, form->diag, *tsr_dense_at(x, i, j));
  if (tsr_in_triangle(form->uplo, i, j)) return *tsr_dense_at(x, i, j);
  if (as == TRIANGULAR) return tsr_field_zero;
  tsr_field mirrored = *tsr_dense_at(x, j, i);
  return as == HERMITIAN ? tsr_field_conj(mirrored) : mirrored;
}

/* ---- Factors ---- */

/* op(X), or op(X)^T, of an operand, times a number: some rows of a factor. */
typedef struct part {
  const tsr_dense *x;
  tsr_op op;
  bool turned; /* op(X)^T */
  bool conj;   /* conjugated in addition to op */
  tsr_field times;
} part;

/* Writes a part into a factor from row `first` on. */
static void put(const tsr_formula *f, const part *p, shape as, size_t first, tsr_dense *factor) {
  bool turn = (p->op != TSR_NO_TRANS) != p->turned;
  bool conj = (p->op == TSR_CONJ_TRANS) != p->conj;
  size_t rows = turn ? p->x->cols : p->x->rows, cols = turn ? p->x->rows : p->x->cols;
  for (size_t j = 0; j < cols; j++)
    for (size_t i = 0; i < rows; i++) {
      tsr_field value = element(p->x, as, &f->form, turn ? j : i, turn ? i : j);
      if (conj) value = tsr_field_conj(value);
      *tsr_dense_at(factor, first + i, j) = tsr_field_multiply(p->times, value);
    }
}

static tsr_status make(const tsr_formula *f, part p, shape as, tsr_dense *factor) {
  bool turn = (p.op != TSR_NO_TRANS) != p.turned;
  TSR_TRY(tsr_dense_resize(factor, turn ? p.x->cols : p.x->rows, turn ? p.x->rows : p.x->cols));
  put(f, &p, as, 0, factor);
  return TSR_OK;
}

static tsr_status general_factors(const tsr_formula *f, tsr_dense *left, tsr_dense *right) {
  part a = {f->a, f->form.transa, true, false, f->alpha};
  part b = {f->b, f->form.transb, false, false, tsr_field_one};
  TSR_TRY(make(f, a, PLAIN, left));
  return make(f, b, PLAIN, right);
}

/* Factors of SYMM, HEMM, TRMM, TRSM and SOLVE: A has a shape, the other factor (B or C) has none.
 */
static tsr_status shaped_factors(const tsr_formula *f, const tsr_dense *other, tsr_dense *left,
                                 tsr_dense *right) {
  shape as = shape_of(f->kernel);
  bool leftmost = f->form.side == TSR_LEFT;
  bool turns = as == TRIANGULAR || f->kernel == TSR_KERNEL_SOLVE;
  tsr_op op = turns ? f->form.transa : TSR_NO_TRANS;
  part shaped = {f->a, op, leftmost, false, f->alpha};
  part plain = {other, TSR_NO_TRANS, !leftmost, false, tsr_field_one};
  TSR_TRY(make(f, shaped, as, leftmost ? left : right));
  return make(f, plain, PLAIN, leftmost ? right : left);
}

/* Factors of SYRK: op(A) op(A)^T. Factors of SYR2K: A and B side by side, times B and A. HER2K has
 * conj(alpha) with the second product. */
static tsr_status rank_factors(const tsr_formula *f, tsr_dense *left, tsr_dense *right) {
  bool two = f->kernel == TSR_KERNEL_SYR2K || f->kernel == TSR_KERNEL_HER2K;
  bool hermitian = f->kernel == TSR_KERNEL_HERK || f->kernel == TSR_KERNEL_HER2K;
  bool turned = f->form.transa != TSR_NO_TRANS;
  size_t k = turned ? f->a->rows : f->a->cols, n = turned ? f->a->cols : f->a->rows;
  const tsr_dense *first = f->a, *second = two ? f->b : f->a;
  TSR_TRY(tsr_dense_resize(left, two ? 2 * k : k, n));
  TSR_TRY(tsr_dense_resize(right, two ? 2 * k : k, n));
  tsr_field times = f->alpha;
  for (int turn = 0; turn < (two ? 2 : 1); turn++) {
    part l = {first, f->form.transa, true, false, times};
    part r = {second, f->form.transa, true, hermitian, tsr_field_one};
    put(f, &l, PLAIN, (size_t)turn * k, left);
    put(f, &r, PLAIN, (size_t)turn * k, right);
    first = f->b;
    second = f->a;
    if (hermitian) times = tsr_field_conj(times);
  }
  return TSR_OK;
}

tsr_status tsr_formula_factors(const tsr_formula *f, tsr_dense *left, tsr_dense *right) {
  tsr_formula plain = *f;
  plain.alpha = tsr_field_one;
  if (tsr_kernel_is_product(f->kernel)) return general_factors(f, left, right);
  switch (f->kernel) {
    case TSR_KERNEL_SYMM:
    case TSR_KERNEL_HEMM:
    case TSR_KERNEL_TRMM:
      return shaped_factors(f, f->b, left, right);
    case TSR_KERNEL_TRSM:
      return shaped_factors(&plain, f->c, left, right);
    case TSR_KERNEL_SOLVE: /* the inverse has zeros outside of its triangle */
      return shaped_factors(f, f->c, left, right);
    default:
      return rank_factors(f, left, right);
  }
}

tsr_field tsr_factors_product(const tsr_dense *left, const tsr_dense *right, size_t i, size_t j,
                              size_t k0, size_t k1) {
  tsr_field sum = tsr_field_zero;
  if (k0 >= k1) return sum; /* an empty matrix has no address to add to */
  const tsr_field *l = left->at + i * left->rows, *r = right->at + j * right->rows;
  for (size_t k = k0; k < k1; k++) sum = tsr_field_add(sum, tsr_field_multiply(l[k], r[k]));
  return sum;
}

/* ---- TRSM ---- */

bool tsr_form_ascends(tsr_form form) {
  bool lower = (form.uplo == TSR_LOWER) == (form.transa == TSR_NO_TRANS); /* op(A) is lower */
  return lower == (form.side == TSR_LEFT);
}

/* Solves for element e of a line of x (side left: a column; right: a row). The elements before it
 * are known. */
static void solve_one(const tsr_dense *t, const tsr_formula *f, tsr_dense *x, size_t line, size_t e,
                      bool ascends) {
  bool left = f->form.side == TSR_LEFT;
  tsr_field rest = tsr_field_multiply(f->alpha, *tsr_dense_at(x, left ? e : line, left ? line : e));
  size_t from = ascends ? 0 : e + 1, to = ascends ? e : t->rows;
  for (size_t k = from; k < to; k++) {
    tsr_field known = *tsr_dense_at(x, left ? k : line, left ? line : k);
    tsr_field term = tsr_field_multiply(*tsr_dense_at(t, k, e), known);
    rest = tsr_field_add(rest, tsr_field_negate(term));
  }
  *tsr_dense_at(x, left ? e : line, left ? line : e) =
      tsr_field_multiply(rest, *tsr_dense_at(t, e, e));
}

/* The triangle is made as a factor. So t(k, e) multiplies element k in the equation of element e,
 * for both sides. */
tsr_status tsr_formula_solve(const tsr_formula *f, tsr_dense *triangle, tsr_dense *x) {
  bool left = f->form.side == TSR_LEFT, ascends = tsr_form_ascends(f->form);
  part shaped = {f->a, f->form.transa, left, false, tsr_field_one};
  TSR_TRY(make(f, shaped, TRIANGULAR, triangle));
  size_t order = triangle->rows, lines = left ? x->cols : x->rows;
  for (size_t e = 0; e < order; e++)
    *tsr_dense_at(triangle, e, e) = tsr_field_invert(*tsr_dense_at(triangle, e, e));
  for (size_t line = 0; line < lines; line++)
    for (size_t e = 0; e < order; e++)
      solve_one(triangle, f, x, line, ascends ? e : order - 1 - e, ascends);
  return TSR_OK;
}
