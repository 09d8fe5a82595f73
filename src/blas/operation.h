/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The operations: one row for each, with its arguments and operands. The argument checks, the
 * normalisation and the path on the CPU read this table.
 */
#ifndef TSR_BLAS_OPERATION_H
#define TSR_BLAS_OPERATION_H

#include "arithmetic/kernel.h"

/* The list of arguments of an operation. */
typedef enum tsr_signature {
  TSR_SIGNATURE_PRODUCT,   /* transa, transb, k */
  TSR_SIGNATURE_SIDED,     /* side, uplo, m, n: a is of order m or n */
  TSR_SIGNATURE_RANK_K,    /* uplo, trans, n, k */
  TSR_SIGNATURE_TRIANGULAR /* side, uplo, transa, diag, m, n: no C, and b is written */
} tsr_signature;

typedef struct tsr_operation_info {
  const char *name;
  tsr_signature signature;
  const char *types; /* letters of tsr_type */
  tsr_kernel kernel; /* of the BLAS routine; gemmt, which not every BLAS has, uses GEMM */
  bool triangle_of_c;
  bool hermitian;
  bool has_b; /* it has inputs A and B besides the matrix that it writes */
  bool real_alpha, real_beta;
} tsr_operation_info;

/* The row of an operation; NULL: there is no such operation. */
const tsr_operation_info *tsr_operation_get(tsr_operation operation);

/* The name of an operand (TSR_A, TSR_B_, TSR_C_) in the caller's interface: "a", "b" or "c".
 * exchanged: A and B have changed places. */
const char *tsr_operation_operand(tsr_operation operation, int operand, bool exchanged);

/* alpha and beta of a call. Only the real part is read where the operation has a real scalar (herk,
 * her2k). trmm and trsm have no beta: it is 0 if alpha is 0, else 1. */
tsr_scalar tsr_operation_alpha(tsr_operation operation, tsr_type type, const void *alpha);
tsr_scalar tsr_operation_beta(tsr_operation operation, tsr_type type, tsr_scalar alpha,
                              const void *beta);

#endif
