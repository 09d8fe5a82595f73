/* tsr_pgemm: checks, agreement, what has to move first, and SUMMA. */
#include "base/alloc.h"
#include "base/types.h"
#include "dist/exchange.h"
#include "dist/offer.h"
#include "dist/summa.h"

/* ---- The call ------------------------------------------------------------- */

typedef struct operand {
  const char *name;
  const tsr_pmatrix *matrix;
  int64_t i, j;       /* where the part begins */
  int64_t rows, cols; /* of op(part) */
  tsr_op op;
} operand;

typedef struct product {
  tsr_grid *grid;
  operand a, b, c;
  int64_t m, n, k;
  const void *alpha, *beta;
} product;

/* What it takes, besides the matrices. */
typedef struct work {
  tsr_exchange move_a, move_b;
  char *moved_a, *moved_b; /* op(A), op(B) as they were redistributed; NULL: in place */
  tsr_summa summa;
} work;

/* ---- Checks --------------------------------------------------------------- */

static tsr_status check_operand(const tsr_grid *grid, const operand *x) {
  bool straight = x->op == TSR_NO_TRANS;
  TSR_TRY(tsr_pmatrix_check(grid, x->name, x->matrix));
  return tsr_pmatrix_check_part(x->name, x->matrix, x->i, x->j, straight ? x->rows : x->cols,
                                straight ? x->cols : x->rows);
}

static tsr_status check_extent(const char *name, int64_t value) {
  if (value >= 0) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s is %lld; give at least 0", name, (long long)value);
}

static tsr_status check_types(const product *p) {
  const operand *other[2] = {&p->a, &p->b};
  for (int i = 0; i < 2; i++)
    if (other[i]->matrix->type != p->c.matrix->type)
      return tsr_fail(TSR_ERR_ARGUMENT, "%s->type is '%c' and c->type '%c'; give the same type",
                      other[i]->name, other[i]->matrix->type, p->c.matrix->type);
  return TSR_OK;
}

static tsr_status check(const product *p) {
  TSR_TRY(tsr_op_check("transa", p->a.op));
  TSR_TRY(tsr_op_check("transb", p->b.op));
  TSR_TRY(check_extent("m", p->m));
  TSR_TRY(check_extent("n", p->n));
  TSR_TRY(check_extent("k", p->k));
  if (p->alpha == NULL || p->beta == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s is NULL; give the address of a value of the type",
                    p->alpha == NULL ? "alpha" : "beta");
  TSR_TRY(check_operand(p->grid, &p->a));
  TSR_TRY(check_operand(p->grid, &p->b));
  TSR_TRY(check_operand(p->grid, &p->c));
  return check_types(p);
}

static tsr_record record_of(const product *p) {
  tsr_record record = tsr_record_begin(TSR_RECORD_PGEMM);
  tsr_record_add(&record, "", "transa", p->a.op);
  tsr_record_add(&record, "", "transb", p->b.op);
  tsr_record_add(&record, "", "m", p->m);
  tsr_record_add(&record, "", "n", p->n);
  tsr_record_add(&record, "", "k", p->k);
  tsr_record_add_matrix(&record, "a->", p->a.matrix, p->a.i, p->a.j);
  tsr_record_add_matrix(&record, "b->", p->b.matrix, p->b.i, p->b.j);
  tsr_record_add_matrix(&record, "c->", p->c.matrix, p->c.i, p->c.j);
  const tsr_type_info *type = p->c.matrix != NULL ? tsr_type_get(p->c.matrix->type) : NULL;
  if (type == NULL || p->alpha == NULL || p->beta == NULL) return record;
  tsr_record_add_bytes(&record, "alpha", p->alpha, type->size);
  tsr_record_add_bytes(&record, "beta", p->beta, type->size);
  return record;
}

/* ---- Preparation: this process alone --------------------------------------- */

/* Host memory gets what asynchronous calls have computed of it. */
static tsr_status bring_home(const product *p, const operand *x) {
  int64_t rows, cols;
  if (tsr_device_count(p->grid->context) == 0) return TSR_OK;
  TSR_TRY(tsr_pmatrix_extents(x->matrix, &rows, &cols));
  if (rows == 0 || cols == 0) return TSR_OK;
  return tsr_coherent(p->grid->context, TSR_GENERAL, rows, cols, x->matrix->data, x->matrix->ld,
                      x->matrix->type);
}

static tsr_view view_of(const operand *x) {
  bool straight = x->op == TSR_NO_TRANS;
  return tsr_view_make(x->matrix, x->i, x->j, straight ? x->rows : x->cols,
                       straight ? x->cols : x->rows, x->op);
}

/* A view with storage of its own over the grid, dealt as the given axes. */
static tsr_status make_room(const tsr_grid *grid, const tsr_axis *rows, const tsr_axis *cols,
                            size_t size, tsr_view *view, char **storage) {
  *view = (tsr_view){.axis = {*rows, *cols},
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

/* How k of a matrix that moves is dealt: in the turns of the other one, so that each of its blocks
 * has one source only. */
static tsr_axis follow(const tsr_axis *other, int count) {
  tsr_axis axis = *other;
  axis.source = other->source % count;
  axis.count = count;
  return axis;
}

/* Where neither k stays as it is: a panel each in turn. */
static tsr_axis deal(const tsr_grid *grid, int64_t k, int count) {
  int64_t turns = (int64_t)grid->extent[0] * grid->extent[1];
  int64_t depth = grid->depth > 0 ? grid->depth : TSR_PANEL_DEPTH, even = (k + turns - 1) / turns;
  int64_t block = even < depth ? even : depth;
  return (tsr_axis){k, block, block, 0, count};
}

static tsr_status move_first(const product *p, const tsr_axis *rows, const tsr_axis *cols,
                             tsr_view *view, tsr_exchange *exchange, char **storage) {
  tsr_view from = *view;
  TSR_TRY(make_room(p->grid, rows, cols, from.size, view, storage));
  return tsr_exchange_create(&p->grid->all, &from, view, exchange);
}

/* Chooses what moves; a and b come out as SUMMA takes them. */
static tsr_status arrange(const product *p, const tsr_view *c, tsr_view *a, tsr_view *b, work *w) {
  const int *extent = p->grid->extent;
  bool a_fits = tsr_summa_fits_a(p->grid, a, c), b_fits = tsr_summa_fits_b(p->grid, b, c);
  tsr_axis k_a = a_fits   ? a->axis[1]
                 : b_fits ? follow(&b->axis[0], extent[1])
                          : deal(p->grid, p->k, extent[1]);
  tsr_axis k_b = b_fits ? b->axis[0] : follow(&k_a, extent[0]);
  if (!a_fits) TSR_TRY(move_first(p, &c->axis[0], &k_a, a, &w->move_a, &w->moved_a));
  if (!b_fits) TSR_TRY(move_first(p, &k_b, &c->axis[1], b, &w->move_b, &w->moved_b));
  return TSR_OK;
}

static bool reads_inputs(const product *p) {
  tsr_scalar alpha = tsr_scalar_read(p->c.matrix->type, p->alpha);
  return p->k > 0 && tsr_scalar_classify(alpha) != TSR_ZERO;
}

static tsr_status prepare(const product *p, work *w) {
  TSR_TRY(check(p));
  TSR_TRY(tsr_sync(p->grid->context));
  if (p->m == 0 || p->n == 0 || !reads_inputs(p) || p->grid->all.size == 1) return TSR_OK;
  tsr_view a = view_of(&p->a), b = view_of(&p->b), c = view_of(&p->c);
  TSR_TRY(bring_home(p, &p->a));
  TSR_TRY(bring_home(p, &p->b));
  TSR_TRY(bring_home(p, &p->c));
  TSR_TRY(arrange(p, &c, &a, &b, w));
  return tsr_summa_create(p->grid, p->c.matrix->type, p->alpha, &a, &b, p->beta, &c, &w->summa);
}

static void clean(work *w) {
  tsr_exchange_destroy(&w->move_a);
  tsr_exchange_destroy(&w->move_b);
  tsr_summa_destroy(&w->summa);
  tsr_dealloc(w->moved_a);
  tsr_dealloc(w->moved_b);
}

/* ---- Carrying out ---------------------------------------------------------- */

/* One process has everything. */
static tsr_status multiply_alone(const product *p) {
  tsr_view a = view_of(&p->a), b = view_of(&p->b), c = view_of(&p->c);
  return tsr_gemm(p->grid->context, p->c.matrix->type, TSR_COL_MAJOR, p->a.op, p->b.op, p->m, p->n,
                  p->k, p->alpha, a.base, p->a.matrix->ld, b.base, p->b.matrix->ld, p->beta, c.base,
                  p->c.matrix->ld);
}

/* Nothing is to be multiplied: C = beta C, as a product with k = 0. */
static tsr_status scale(const product *p) {
  tsr_view c = view_of(&p->c);
  int64_t rows = tsr_view_local(&c, 0), cols = tsr_view_local(&c, 1), ldc = p->c.matrix->ld;
  return tsr_gemm(p->grid->context, p->c.matrix->type, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS,
                  rows, cols, 0, p->alpha, NULL, ldc, NULL, 1, p->beta, c.base, ldc);
}

/* Every message is exchanged, whatever fails on the way; the first failure here counts. */
static tsr_status multiply(const product *p, work *w) {
  tsr_error error = {.status = TSR_OK};
  tsr_exchange *moves[2] = {w->moved_a != NULL ? &w->move_a : NULL,
                            w->moved_b != NULL ? &w->move_b : NULL};
  if (p->grid->all.size == 1) return multiply_alone(p);
  if (w->summa.panels.count == 0) return scale(p);
  for (int i = 0; i < 2; i++) {
    tsr_status moved = moves[i] != NULL ? tsr_exchange_run(moves[i]) : TSR_OK;
    if (moved != TSR_OK && error.status == TSR_OK) tsr_error_take(moved, &error);
  }
  tsr_status status = tsr_summa_run(&w->summa);
  return error.status != TSR_OK ? tsr_error_put(&error) : status;
}

static tsr_status run(const product *p, bool *begun) {
  work w = {0};
  tsr_record record = record_of(p);
  tsr_status status = tsr_agree(&p->grid->all, &record, prepare(p, &w));
  *begun = status == TSR_OK && p->m > 0 && p->n > 0;
  if (*begun) status = tsr_agree(&p->grid->all, NULL, multiply(p, &w));
  clean(&w);
  return status;
}

tsr_status tsr_pgemm_begun(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m, int64_t n,
                           int64_t k, const void *alpha, const tsr_pmatrix *a, int64_t ia,
                           int64_t ja, const tsr_pmatrix *b, int64_t ib, int64_t jb,
                           const void *beta, const tsr_pmatrix *c, int64_t ic, int64_t jc,
                           bool *begun) {
  *begun = false;
  TSR_TRY(tsr_grid_check(grid));
  product p = {.grid = grid,
               .a = {"a", a, ia, ja, m, k, transa},
               .b = {"b", b, ib, jb, k, n, transb},
               .c = {"c", c, ic, jc, m, n, TSR_NO_TRANS},
               .m = m,
               .n = n,
               .k = k,
               .alpha = alpha,
               .beta = beta};
  return run(&p, begun);
}

tsr_status tsr_pgemm(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
                     const void *alpha, const tsr_pmatrix *a, int64_t ia, int64_t ja,
                     const tsr_pmatrix *b, int64_t ib, int64_t jb, const void *beta,
                     const tsr_pmatrix *c, int64_t ic, int64_t jc) {
  bool begun;
  return tsr_pgemm_begun(grid, transa, transb, m, n, k, alpha, a, ia, ja, b, ib, jb, beta, c, ic,
                         jc, &begun);
}
