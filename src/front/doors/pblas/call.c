/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Reads and checks the descriptors and arguments of a PBLAS product. */
#include "front/doors/pblas/call.h"

#include "base/types.h"

/* Indices in a descriptor, from 0. Type 1 (PLAIN) has 9 entries; type 2 (FIRST_BLOCKS), 11, also
 * gives the extents of the first blocks. */
enum { DTYPE, CONTEXT, M, N };
enum { PLAIN = 1, MB_1 = 4, NB_1, RSRC_1, CSRC_1, LLD_1 };
enum { FIRST_BLOCKS = 2, IMB_2 = 4, INB_2, MB_2, NB_2, RSRC_2, CSRC_2, LLD_2 };

int tsr_pblas_context(const tsr_pblas_arguments *arguments) {
  return arguments->a.descriptor[CONTEXT];
}

static bool read_descriptor(const tsr_pblas_operand *x, tsr_pblas_matrix *matrix) {
  const int *d = x->descriptor;
  bool first = d[DTYPE] == FIRST_BLOCKS;
  if (!first && d[DTYPE] != PLAIN) return false;
  *matrix = (tsr_pblas_matrix){.data = (void *)x->data,
                               .i = (int64_t)x->i - 1,
                               .j = (int64_t)x->j - 1,
                               .m = d[M],
                               .n = d[N],
                               .imb = d[first ? IMB_2 : MB_1],
                               .inb = d[first ? INB_2 : NB_1],
                               .mb = d[first ? MB_2 : MB_1],
                               .nb = d[first ? NB_2 : NB_1],
                               .row_source = d[first ? RSRC_2 : RSRC_1],
                               .col_source = d[first ? CSRC_2 : CSRC_1],
                               .ld = d[first ? LLD_2 : LLD_1]};
  return true;
}

static bool is_source(int source, int count) {
  return source >= -1 && source < count;
}

/* Whether the descriptor is valid and the part of rows x cols lies within the matrix. An empty part
 * may begin anywhere. */
static bool is_good(const tsr_pblas_matrix *x, const tsr_pblas_grid *grid, int64_t rows,
                    int64_t cols) {
  bool empty = rows == 0 || cols == 0;
  if (x->i < 0 || x->j < 0 || x->m < !empty || x->n < !empty) return false;
  if (x->imb < 1 || x->inb < 1 || x->mb < 1 || x->nb < 1) return false;
  if (!is_source(x->row_source, grid->rows) || !is_source(x->col_source, grid->cols)) return false;
  return empty || (x->i + rows <= x->m && x->j + cols <= x->n);
}

static bool is_good_operand(const tsr_pblas_matrix *x, const tsr_pblas_grid *grid, tsr_op op,
                            int64_t rows, int64_t cols) {
  bool straight = op == TSR_NO_TRANS;
  return is_good(x, grid, straight ? rows : cols, straight ? cols : rows);
}

static bool is_zero(tsr_type type, const void *scalar) {
  return tsr_scalar_classify(tsr_scalar_read(type, scalar)) == TSR_ZERO;
}

static bool is_one(tsr_type type, const void *scalar) {
  return tsr_scalar_classify(tsr_scalar_read(type, scalar)) == TSR_ONE;
}

static bool is_empty(const tsr_pblas_call *x) {
  if (x->m == 0 || x->n == 0) return true;
  return (x->k == 0 || is_zero(x->type, x->alpha)) && is_one(x->type, x->beta);
}

bool tsr_pblas_read(const tsr_pblas_arguments *from, const tsr_pblas_grid *grid,
                    tsr_pblas_call *call, bool *empty) {
  const tsr_pblas_operand *operand[3] = {&from->a, &from->b, &from->c};
  tsr_pblas_matrix *matrix[3] = {&call->a, &call->b, &call->c};
  *call = (tsr_pblas_call){.type = from->type,
                           .transa = from->transa,
                           .transb = from->transb,
                           .m = from->m,
                           .n = from->n,
                           .k = from->k,
                           .alpha = from->alpha,
                           .beta = from->beta,
                           .grid = *grid};
  *empty = false;
  if ((int)from->transa == 0 || (int)from->transb == 0) return false;
  if (from->m < 0 || from->n < 0 || from->k < 0 || grid->rows < 1) return false;
  for (int x = 0; x < 3; x++) {
    if (!read_descriptor(operand[x], matrix[x])) return false;
    if (operand[x]->descriptor[CONTEXT] != tsr_pblas_context(from)) return false;
  }
  if (!is_good_operand(&call->a, grid, call->transa, call->m, call->k) ||
      !is_good_operand(&call->b, grid, call->transb, call->k, call->n) ||
      !is_good(&call->c, grid, call->m, call->n))
    return false;
  *empty = is_empty(call);
  return !*empty;
}
