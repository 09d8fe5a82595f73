/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The operations: one row for each, with its arguments and operands, from the table of routines
 * (routines.def). The argument checks, the normalisation and the path on the CPU read this table.
 */
#ifndef TSR_BLAS_OPERATION_H
#define TSR_BLAS_OPERATION_H

#include "arithmetic/kernel.h"
#include "base/flags.h"

typedef enum tsr_argument_kind {
  TSR_ARGUMENT_FLAG,
  TSR_ARGUMENT_EXTENT,
  TSR_ARGUMENT_SCALAR,
  TSR_ARGUMENT_INFO,
  TSR_ARGUMENT_INPUT, /* a matrix: its address and its leading dimension */
  TSR_ARGUMENT_RESULT
} tsr_argument_kind;

/* An argument of an operation. Places are offsets in tsr_level3 (at, rows, cols, op) and in
 * tsr_arguments (given; blas/check.h). */
typedef struct tsr_argument {
  tsr_argument_kind kind;
  const char *name; /* the caller's: "trans" of syrk, which is transa of tsr_level3 */
  size_t at;        /* a flag, an extent, the leading dimension of a matrix */
  tsr_flag flag;
  size_t given;          /* a scalar, an info, a matrix */
  int operand;           /* a matrix: TSR_A, TSR_B_ or TSR_C_ (blas/call.h) */
  size_t rows, cols, op; /* a matrix: op(matrix) is rows x cols */
} tsr_argument;

/* op of a matrix that is taken as it is. */
#define TSR_ARGUMENT_NO_OP SIZE_MAX

typedef struct tsr_operation_info {
  const char *name;
  const char *types; /* letters of tsr_type */
  tsr_kernel kernel; /* computes it on whole matrices */
  bool in_blas;      /* every BLAS has the routine */
  bool hermitian;
  bool real_alpha, real_beta;
  struct { /* which arguments it takes, named as in tsr_level3; c: the matrix that it writes */
    bool side, uplo, transa, transb, diag, m, n, k, alpha, beta, a, b, c, info;
  } has;
  const tsr_argument *arguments; /* in the BLAS's order, without the layout */
  int argument_count;
} tsr_operation_info;

/* The row of an operation; NULL: there is no such operation. */
const tsr_operation_info *tsr_operation_get(tsr_operation operation);

/* Whether only a triangle of C is written. C is then square, and m no argument. */
static inline bool tsr_operation_has_triangle(const tsr_operation_info *info) {
  return !info->has.m;
}

/* The name of an operand (TSR_A, TSR_B_, TSR_C_) in the caller's interface: "a", "b" or "c".
 * exchanged: A and B have changed places. */
const char *tsr_operation_operand(tsr_operation operation, int operand, bool exchanged);

/* alpha and beta of a call. Only the real part is read where the operation has a real scalar (herk,
 * her2k). trmm and trsm have no beta: it is 0 if alpha is 0, else 1. Both are 1 for factorisations.
 */
tsr_scalar tsr_operation_alpha(tsr_operation operation, tsr_type type, const void *alpha);
tsr_scalar tsr_operation_beta(tsr_operation operation, tsr_type type, tsr_scalar alpha,
                              const void *beta);

#endif
