/*
 * A call: one level-3 operation as it was asked for, normalised to column-major, without addresses.
 * Everything a plan may depend on is here; what changes between calls of one kind (addresses,
 * values of alpha and beta) is in tsr_binding.
 */
#ifndef TSR_BLAS_CALL_H
#define TSR_BLAS_CALL_H

#include <stdbool.h>

#include "base/kernel.h"
#include "base/status.h"

/* Operands of a call, and matrices of its graph. W is the partial C that exists on devices only. */
enum { TSR_A, TSR_B_, TSR_C_, TSR_OPERANDS, TSR_W = TSR_OPERANDS, TSR_MATRICES };

/* The user's storage of one operand, as stored (not as op() makes it). */
typedef struct tsr_operand {
  int64_t rows, cols, ld; /* elements, column-major */
  tsr_memory memory;      /* as a whole; see pinned_* */
  int location;           /* home: a location of the machine */
  /* Host memory only: the bytes of the storage, from its start, that are pinned. memory is
   * TSR_PINNED when that is all of them, TSR_PAGEABLE when none; partly pinned: TSR_PAGEABLE with a
   * range that is not empty. */
  int64_t pinned_begin, pinned_end;
  int alignment; /* log2 of the alignment of base and of ld in bytes, at most 4 (16 bytes) */
} tsr_operand;

/* m x n is C, k what is summed over: of symm, hemm, trmm and trsm the order of A. trmm and trsm
 * have their B as C, and no B; their beta is 0 when alpha is, else 1. What an operation has not is
 * as in an ordinary GEMM: no transposition, TSR_LEFT, TSR_GENERAL, TSR_NON_UNIT, an operand without
 * rows. */
typedef struct tsr_call {
  tsr_operation operation;
  tsr_type type;
  tsr_op transa, transb;
  tsr_side side;
  tsr_uplo uplo;
  tsr_diag diag;
  int64_t m, n, k;
  tsr_scalar_class alpha, beta;
  tsr_operand operand[TSR_OPERANDS];
} tsr_call;

/* What a plan's slots are bound to when it is submitted. */
typedef struct tsr_binding {
  void *base[TSR_OPERANDS];
  tsr_scalar alpha, beta;
} tsr_binding;

/* Bytes from the first to behind the last element of an operand's storage; 0 when it is empty. */
int64_t tsr_operand_bytes(const tsr_operand *operand, tsr_type type);

/* As BLAS counts them. */
double tsr_call_flops(const tsr_call *call);

/* Any operation: checks the arguments in the order and by the names of the BLAS routine, and fills
 * call (places stay unset) and binding; row-major becomes column-major (docs/planner.md says how).
 * a, b, c may be NULL where they are not read or written, or, for a plan without data, where
 * check_pointers is false. Whether they share memory is not looked at. *exchanged: A and B changed
 * places. TSR_ERR_ARGUMENT names the argument in the terms of the caller's interface. */
tsr_status tsr_call_level3(const tsr_level3 *what, const void *alpha, const void *a, const void *b,
                           const void *beta, void *c, bool check_pointers, tsr_call *call,
                           tsr_binding *binding, bool *exchanged);

/* TSR_ERR_ARGUMENT where an element of C that is written is in the memory of one of A or B that is
 * read, and names both. For bindings of all operands that are read. */
tsr_status tsr_call_check_aliasing(const tsr_call *call, const tsr_binding *binding,
                                   bool exchanged);

/* The product is not needed: C = beta C (alpha = 0 or k = 0; of herk and her2k with a real
 * diagonal). */
bool tsr_call_scales_only(const tsr_call *call);

/* Nothing of C changes (m or n is 0, or alpha = 0 or k = 0 with beta = 1). */
bool tsr_call_is_empty(const tsr_call *call);

/* Carries the whole call out with the CPU's BLAS; all operands in host memory. */
tsr_status tsr_call_on_cpu(const tsr_call *call, const tsr_binding *binding);

#endif
