/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The arguments of a call of tsr_pgemm, and their checks. */
#ifndef TSR_CLUSTER_RUN_PRODUCT_H
#define TSR_CLUSTER_RUN_PRODUCT_H

#include "cluster/layout/view.h"

/* An operand: op() of a part of a distributed matrix. */
typedef struct tsr_poperand {
  const char *name; /* "a", "b", "c", for messages */
  tsr_pmatrix matrix;
  bool there;         /* the matrix is not NULL */
  int64_t i, j;       /* the first row and column of the part */
  int64_t rows, cols; /* of op(part) */
  tsr_op op;
} tsr_poperand;

typedef struct tsr_product {
  tsr_grid *grid;
  tsr_poperand a, b, c;
  int64_t m, n, k;
  bool has_alpha, has_beta;
  char alpha[16], beta[16]; /* values of the type of C */
} tsr_product;

/* Copies the arguments, without any check. */
tsr_product tsr_product_make(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m, int64_t n,
                             int64_t k, const void *alpha, const tsr_pmatrix *a, int64_t ia,
                             int64_t ja, const tsr_pmatrix *b, int64_t ib, int64_t jb,
                             const void *beta, const tsr_pmatrix *c, int64_t ic, int64_t jc);

/* TSR_ERR_ARGUMENT names the first wrong argument. data: the matrices must have storage, and C must
 * not overlap A or B. */
tsr_status tsr_product_check(const tsr_product *product, bool data);

/* TSR_ERR_UNSUPPORTED: results are to be reproducible, but the product, of several processes, is
 * native. Its bits would depend on the grid: a process's products of panels are cut by the extents
 * of its part of C. An emulated product has the same bits on any grid. how: of a product that
 * reads its inputs. */
tsr_status tsr_product_check_bits(const tsr_product *product, const tsr_emulation_way *how);

/* TSR_ERR_ARGUMENT: the user set the panels, the blocks or the rule of the cut, but the product is
 * emulated with whole lines, which are not cut. Where the faster way is to be taken
 * (how->faster), the panels decide: *how becomes that of a native product. */
tsr_status tsr_product_check_cut(const tsr_product *product, tsr_emulation_way *how);

/* Makes the way that of a native product. */
static inline void tsr_emulation_forget(tsr_emulation_way *how) {
  how->products = NULL;
  how->faster = 0;
  how->accuracy = 0;
  how->judged = 0;
}

/* Whether each square of C is emulated or native by itself, so that results are reproducible. */
static inline bool tsr_emulation_judges(const tsr_emulation_way *how) {
  return how->judged > 0;
}

/* The arguments that must be the same on all processes. */
tsr_record tsr_product_record(const tsr_product *product);

/* op() of the operand's part, as this process sees it. */
tsr_view tsr_product_view(const tsr_poperand *factor);

/* Whether A and B are read: alpha != 0 and k > 0. */
bool tsr_product_reads_inputs(const tsr_product *product);

/* Whether C is read: beta != 0. */
bool tsr_product_reads_result(const tsr_product *product);

#endif
