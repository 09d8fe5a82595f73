/*
 * The operations: what each has for arguments and what its operands are. One row each; argument
 * checks, normalisation and the CPU's path read the table.
 */
#ifndef TSR_BLAS_OPERATION_H
#define TSR_BLAS_OPERATION_H

#include "base/kernel.h"

/* How an operation takes its arguments: those of a signature have the same list. */
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
  tsr_kernel kernel; /* the BLAS routine, but for gemmt, which not every BLAS has */
  bool triangle_of_c;
  bool hermitian;
  bool has_b; /* an A and a B apart from what is written */
  bool real_alpha, real_beta;
} tsr_operation_info;

/* NULL for what is no operation. */
const tsr_operation_info *tsr_operation_get(tsr_operation operation);

/* What the caller calls an operand (TSR_A, TSR_B_, TSR_C_), as in "a" or "ld" "a"; exchanged: A and
 * B changed places. */
const char *tsr_operation_operand(tsr_operation operation, int operand, bool exchanged);

/* alpha and beta as the operation has them: real ones of herk and her2k; the beta of trmm and trsm,
 * which have none, is 0 when alpha is, else 1. */
tsr_scalar tsr_operation_alpha(tsr_operation operation, tsr_type type, const void *alpha);
tsr_scalar tsr_operation_beta(tsr_operation operation, tsr_type type, tsr_scalar alpha,
                              const void *beta);

#endif
