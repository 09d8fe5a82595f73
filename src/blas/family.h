/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The families of operations. The planner cuts the operations of one family alike, and one graph
 * builder serves them.
 */
#ifndef TSR_BLAS_FAMILY_H
#define TSR_BLAS_FAMILY_H

#include "blas/call.h"
#include "blas/routines.def"

typedef enum tsr_family {
  TSR_PRODUCT,  /* all of C is written; sums over k: gemm */
  TSR_RANK,     /* a triangle of C is written; sums over k: gemmt, syrk, herk, syr2k, her2k */
  TSR_TRIANGLE, /* a symmetric or triangular A beside C, whose lines across A are independent: symm,
                   hemm, trmm, trsm */
  TSR_FACTOR,   /* C is factored in place, tile by tile in an order of its own: potrf */
  TSR_FAMILIES
} tsr_family;

#define TSR_FAMILY_ROW(name, operation, signature, family, ...) [TSR_##operation] = TSR_##family,
#define TSR_FACTOR_ROW(name, operation, ...) [TSR_OPERATION_OF(TSR_##operation)] = TSR_FACTOR,
static inline tsr_family tsr_family_of(tsr_operation operation) {
  static const tsr_family families[TSR_OPERATIONS] = {TSR_ROUTINES(TSR_FAMILY_ROW)
                                                          TSR_FACTORISATIONS(TSR_FACTOR_ROW)};
  return families[operation];
}
#undef TSR_FAMILY_ROW
#undef TSR_FACTOR_ROW

/* Whether C is both an input and the result, and there is no B: operations without beta, and
 * factorisations. */
#define TSR_IN_PLACE_ELEMENT false
#define TSR_IN_PLACE_REAL false
#define TSR_IN_PLACE_NO true
#define TSR_IN_PLACE_ROW(name, operation, signature, family, types, alpha, beta, ...) \
  [TSR_##operation] = TSR_IN_PLACE_##beta,
static inline bool tsr_is_in_place(tsr_operation operation) {
  static const bool in_place[TSR_OPERATIONS] = {TSR_ROUTINES(TSR_IN_PLACE_ROW)};
  return in_place[operation] || tsr_family_of(operation) == TSR_FACTOR;
}
#undef TSR_IN_PLACE_ROW

/* Whether a rank-k update sums all of its products in W; lazy: C is fetched last. */
static inline bool tsr_sums_triangle_in_w(const tsr_call *call, bool lazy) {
  bool hermitian = call->operation == TSR_HERK || call->operation == TSR_HER2K;
  return lazy && !hermitian && !tsr_call_has_form(call) &&
         call->operand[TSR_C_].memory != TSR_DEVICE;
}

#endif
