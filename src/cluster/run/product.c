/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/run/product.h"

#include <string.h>

#include "base/flags.h"
#include "base/overlap.h"
#include "base/types.h"

/* ---- Making ---------------------------------------------------------------- */

static tsr_poperand factor(const char *name, const tsr_pmatrix *matrix, int64_t i, int64_t j,
                           int64_t rows, int64_t cols, tsr_op op) {
  tsr_poperand f = {
      .name = name, .there = matrix != NULL, .i = i, .j = j, .rows = rows, .cols = cols};
  f.op = (tsr_op)tsr_flag_letter(TSR_FLAG_OP, (int)op);
  if (matrix != NULL) f.matrix = *matrix;
  return f;
}

tsr_product tsr_product_make(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m, int64_t n,
                             int64_t k, const void *alpha, const tsr_pmatrix *a, int64_t ia,
                             int64_t ja, const tsr_pmatrix *b, int64_t ib, int64_t jb,
                             const void *beta, const tsr_pmatrix *c, int64_t ic, int64_t jc) {
  size_t size = c != NULL ? tsr_scalar_size(c->type) : 0;
  tsr_product p = {.grid = grid,
                   .a = factor("a", a, ia, ja, m, k, transa),
                   .b = factor("b", b, ib, jb, k, n, transb),
                   .c = factor("c", c, ic, jc, m, n, TSR_NO_TRANS),
                   .m = m,
                   .n = n,
                   .k = k,
                   .has_alpha = alpha != NULL,
                   .has_beta = beta != NULL};
  if (alpha != NULL) memcpy(p.alpha, alpha, size);
  if (beta != NULL) memcpy(p.beta, beta, size);
  return p;
}

/* ---- Checking -------------------------------------------------------------- */

static tsr_status check_factor(const tsr_grid *grid, const tsr_poperand *x, bool data) {
  bool straight = x->op == TSR_NO_TRANS;
  TSR_TRY(tsr_pmatrix_check(grid, x->name, x->there ? &x->matrix : NULL, data));
  return tsr_pmatrix_check_part(x->name, &x->matrix, x->i, x->j, straight ? x->rows : x->cols,
                                straight ? x->cols : x->rows);
}

static tsr_status check_extent(const char *name, int64_t value) {
  if (value >= 0) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s is %lld; give at least 0", name, (long long)value);
}

static tsr_status check_types(const tsr_product *p) {
  const tsr_poperand *other[2] = {&p->a, &p->b};
  for (int i = 0; i < 2; i++)
    if (other[i]->matrix.type != p->c.matrix.type)
      return tsr_fail(TSR_ERR_ARGUMENT, "%s->type is '%c' and c->type '%c'; give the same type",
                      other[i]->name, other[i]->matrix.type, p->c.matrix.type);
  return TSR_OK;
}

/* The memory in which this process stores its elements of an operand's part. */
static tsr_storage storage_of(const tsr_poperand *x) {
  bool straight = x->op == TSR_NO_TRANS;
  tsr_view v = tsr_view_make(&x->matrix, x->i, x->j, straight ? x->rows : x->cols,
                             straight ? x->cols : x->rows, TSR_NO_TRANS);
  return (tsr_storage){.base = v.base,
                       .rows = tsr_view_local(&v, 0),
                       .cols = tsr_view_local(&v, 1),
                       .ld = v.stride[1],
                       .uplo = TSR_GENERAL};
}

/* C shares no memory with A or B, unless these are not read. */
static tsr_status check_disjoint(const tsr_product *p) {
  const tsr_poperand *other[2] = {&p->a, &p->b};
  tsr_storage written = storage_of(&p->c);
  size_t size = tsr_type_get(p->c.matrix.type)->size;
  for (int i = 0; i < 2 && tsr_product_reads_inputs(p); i++) {
    tsr_storage read = storage_of(other[i]);
    if (!tsr_storage_overlap(&read, &written, size)) continue;
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "the parts of c, at %p on this process, and %s, at %p, share memory; give c "
                    "memory of its "
                    "own",
                    written.base, other[i]->name, read.base);
  }
  return TSR_OK;
}

tsr_status tsr_product_check(const tsr_product *p, bool data) {
  TSR_TRY(tsr_op_check("transa", p->a.op));
  TSR_TRY(tsr_op_check("transb", p->b.op));
  TSR_TRY(check_extent("m", p->m));
  TSR_TRY(check_extent("n", p->n));
  TSR_TRY(check_extent("k", p->k));
  if (!p->has_alpha || !p->has_beta)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s is NULL; give the address of a value of the type",
                    p->has_alpha ? "beta" : "alpha");
  TSR_TRY(check_factor(p->grid, &p->a, data));
  TSR_TRY(check_factor(p->grid, &p->b, data));
  TSR_TRY(check_factor(p->grid, &p->c, data));
  TSR_TRY(check_types(p));
  return data ? check_disjoint(p) : TSR_OK;
}

tsr_status tsr_product_check_bits(const tsr_product *p, const tsr_emulation_way *how) {
  const tsr_grid *grid = p->grid;
  bool alone = grid->extent[0] * grid->extent[1] == 1;
  if (alone || !grid->model.facts.reproducible || how->products != NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_UNSUPPORTED,
                  "results are to be reproducible (TESSERA_REPRODUCIBLE), but native products of "
                  "type %c on %d x %d processes have other bits than on other numbers of them; "
                  "emulate them (TESSERA_ARITHMETIC=emulated, for s, d, c and z on devices), which "
                  "gives the same bits on any number, or leave reproducible out",
                  (char)p->c.matrix.type, grid->extent[0], grid->extent[1]);
}

tsr_status tsr_product_check_cut(const tsr_product *p, tsr_emulation_way *how) {
  const tsr_wishes *w = &p->grid->wishes;
  bool alone = p->grid->extent[0] * p->grid->extent[1] == 1;
  bool set = w->depth > 0 || w->lookahead > 0 || w->block[0] > 0 || w->block[1] > 0 ||
             w->rule != TSR_CUT_MODEL;
  if (alone || !set || how->products == NULL) return TSR_OK;
  if (how->faster) {
    tsr_emulation_forget(how);
    return TSR_OK;
  }
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "depth %lld, lookahead %d, blocks %lld x %lld or the rule of the cut is set, but "
                  "an emulated product across processes has whole rows and columns, which are not "
                  "cut; leave these out, or compute natively (TESSERA_ARITHMETIC)",
                  (long long)w->depth, w->lookahead, (long long)w->block[0],
                  (long long)w->block[1]);
}

static void add_factor(tsr_record *record, const char *object, const tsr_poperand *x) {
  tsr_record_add_matrix(record, object, x->there ? &x->matrix : NULL, x->i, x->j);
}

tsr_record tsr_product_record(const tsr_product *p) {
  tsr_record record = tsr_record_begin(TSR_RECORD_PGEMM);
  tsr_record_add(&record, "", "transa", p->a.op);
  tsr_record_add(&record, "", "transb", p->b.op);
  tsr_record_add(&record, "", "m", p->m);
  tsr_record_add(&record, "", "n", p->n);
  tsr_record_add(&record, "", "k", p->k);
  add_factor(&record, "a->", &p->a);
  add_factor(&record, "b->", &p->b);
  add_factor(&record, "c->", &p->c);
  if (!p->c.there || tsr_type_get(p->c.matrix.type) == NULL || !p->has_alpha || !p->has_beta)
    return record;
  size_t size = tsr_scalar_size(p->c.matrix.type);
  tsr_record_add_bytes(&record, "alpha", p->alpha, size);
  tsr_record_add_bytes(&record, "beta", p->beta, size);
  return record;
}

/* ---- Asking ---------------------------------------------------------------- */

tsr_view tsr_product_view(const tsr_poperand *x) {
  bool straight = x->op == TSR_NO_TRANS;
  return tsr_view_make(&x->matrix, x->i, x->j, straight ? x->rows : x->cols,
                       straight ? x->cols : x->rows, x->op);
}

bool tsr_product_reads_inputs(const tsr_product *p) {
  tsr_scalar alpha = tsr_scalar_read(p->c.matrix.type, p->alpha);
  return p->k > 0 && tsr_scalar_classify(alpha) != TSR_ZERO;
}

bool tsr_product_reads_result(const tsr_product *p) {
  return tsr_scalar_classify(tsr_scalar_read(p->c.matrix.type, p->beta)) != TSR_ZERO;
}
