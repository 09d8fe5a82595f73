/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A call: one level-3 operation as it was asked for, normalised to column-major, without addresses.
 * A plan may depend on everything in a call. What differs between calls of one kind (addresses,
 * values of alpha and beta) is in tsr_binding.
 */
#ifndef TSR_BLAS_CALL_H
#define TSR_BLAS_CALL_H

#include <stdbool.h>

#include "arithmetic/arithmetic.h"
#include "base/status.h"

/* The operands of a call, and the matrices of its graph. The others exist on devices only: W, a
 * partial C, lines of left factors, k x m, and of right factors, k x n (blas/lines.h), and V,
 * the inverses of the blocks on A's diagonal, at the places of these blocks. */
enum {
  TSR_A,
  TSR_B_,
  TSR_C_,
  TSR_OPERANDS,
  TSR_W = TSR_OPERANDS,
  TSR_RA,
  TSR_RB,
  TSR_RA2,
  TSR_RB2,
  TSR_V,
  TSR_MATRICES
};

/* Behind the operations of level 3 come the factorisations of C in place (routines.def). */
enum { TSR_OPERATIONS = (int)TSR_OPERATION_COUNT + (int)TSR_FACTORISATION_COUNT };
#define TSR_OPERATION_OF(factorisation) \
  ((tsr_operation)((int)TSR_OPERATION_COUNT + (int)(factorisation)))

#define TSR_FACTORISATION_OF(operation) \
  ((tsr_factorisation)((int)(operation) - (int)TSR_OPERATION_COUNT))

/* Behind those the doors have LAPACK's solvers, which are made of calls, and no tsr_call is one. */
enum { TSR_DOOR_OPERATIONS = TSR_OPERATIONS + (int)TSR_SOLVER_COUNT };
#define TSR_OPERATION_OF_SOLVER(solver) ((tsr_operation)(TSR_OPERATIONS + (int)(solver)))
#define TSR_SOLVER_OF(operation) ((tsr_solver)((int)(operation)-TSR_OPERATIONS))

static inline bool tsr_is_solver(tsr_operation operation) {
  return (int)operation >= TSR_OPERATIONS;
}

/* Whether it is a routine of LAPACK: a factorisation or a solver. */
static inline bool tsr_is_of_lapack(tsr_operation operation) {
  return (int)operation >= (int)TSR_OPERATION_COUNT;
}

/* Whether a matrix is made of lines in an arithmetic's form. */
static inline bool tsr_is_lines(int matrix) {
  return matrix >= TSR_RA && matrix <= TSR_RB2;
}

/* Whether a matrix is another form of A, B or C, which a device makes where it needs it: lines,
 * or inverses. */
static inline bool tsr_is_made(int matrix) {
  return tsr_is_lines(matrix) || matrix == TSR_V;
}

/* The storage of one operand as the user has it (before op()). */
typedef struct tsr_operand {
  int64_t rows, cols, ld; /* elements, column-major */
  tsr_memory memory;      /* of the whole storage; see pinned_begin */
  int location;           /* its home: a location of the machine */
  /* Host memory only: bytes [pinned_begin, pinned_end) of the storage are pinned. memory is
   * TSR_PINNED if these are all bytes, else TSR_PAGEABLE. */
  int64_t pinned_begin, pinned_end;
  int alignment; /* log2 of the alignment of base and of ld, in bytes; at most 4 (16 bytes) */
} tsr_operand;

/* C is m x n; k is the extent of the sums, which for symm, hemm, trmm and trsm is the order of A.
 * The B of trmm and trsm is C here, and the call has no B; its beta is 0 if alpha is 0, else 1. A
 * field that the operation does not have is as in an ordinary GEMM: no transposition, TSR_LEFT,
 * TSR_GENERAL, TSR_NON_UNIT, an operand without rows. */
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
  const tsr_arithmetic *arithmetic; /* how products are computed; NULL: natively */
  tsr_promise promise;              /* of products that are not native; zeros: nothing */
  /* beta C is added once, after all products, so that C is rounded once and beta C once: what is
   * promised for products in a form holds where they are computed natively, too. Of gemm, gemmt
   * and rank-k updates. */
  bool adds_last;
  bool faster; /* the call is planned natively, too, and the faster plan is taken. If it is native,
                  calls of this kind are native where that is asked for */
  bool row_major; /* the user's matrices are row-major: prints show the call as it was asked for */
} tsr_call;

/* The addresses and scalars of one call, which a plan is given when it is submitted. */
typedef struct tsr_binding {
  void *base[TSR_OPERANDS];
  tsr_scalar alpha, beta;
  int64_t *info; /* of a factorisation: where LAPACK's info goes when the call is complete */
} tsr_binding;

/* Bytes from the first element of an operand to the end of its last one; 0: the operand is
 * empty. */
int64_t tsr_operand_bytes(const tsr_operand *operand, tsr_type type);

/* Flops of a call, as BLAS counts them. */
double tsr_call_flops(const tsr_call *call);

/*
 * Makes a call of any operation. Checks the arguments in the order and by the names of the BLAS
 * routine, and fills *call (without memory, location and alignment of the operands) and *binding. A
 * row-major call becomes a column-major one (docs/explain/plan.md says how); *exchanged: A and B
 * have changed places for that.
 *
 * a, b and c may be NULL if they are not read or written, or if check_pointers is false, as for a
 * plan without data. Whether operands share memory is not checked here. TSR_ERR_ARGUMENT names the
 * argument in the terms of the caller's interface.
 */
tsr_status tsr_call_level3(const tsr_level3 *what, const void *alpha, const void *a, const void *b,
                           const void *beta, void *c, bool check_pointers, tsr_call *call,
                           tsr_binding *binding, bool *exchanged);

/* As tsr_call_level3, of a factorisation. */
tsr_status tsr_call_factor(const tsr_factor *what, void *a, bool check_pointers, tsr_call *call,
                           tsr_binding *binding);

/* The call with the user's own flags, extents and operands, for prints: if the user's matrices are
 * row-major, the normalisation is undone. */
tsr_call tsr_call_as_asked(const tsr_call *call);

/* The operand of the user's (TSR_A, TSR_B_) that is this operand of the call; other matrices are
 * returned as they are. */
int tsr_call_asked_matrix(const tsr_call *call, int matrix);

/* TSR_ERR_ARGUMENT: an element of C that is written shares memory with an A or B that is read; the
 * message names both. binding has the addresses of all operands that are read. */
tsr_status tsr_call_check_aliasing(const tsr_call *call, const tsr_binding *binding,
                                   bool exchanged);

/* Whether kernels multiply lines in a form that other kernels have converted them to. */
static inline bool tsr_call_has_form(const tsr_call *call) {
  return call->arithmetic != NULL;
}

/* Whether products may turn out not to keep the promise; and whether these then leave C as it was.
 */
static inline bool tsr_call_may_refuse(const tsr_call *call) {
  return call->arithmetic != NULL && call->arithmetic->refuses;
}

static inline bool tsr_call_may_leave(const tsr_call *call) {
  return tsr_call_may_refuse(call) && !call->promise.keeps_lines;
}

/* Whether kernels give verdicts: an accuracy that is refused, or a factor that there is none of. */
bool tsr_call_has_verdicts(const tsr_call *call);

/* The same call with native products. */
tsr_call tsr_call_natively(const tsr_call *call);

/* Whether the call is C = beta C, without a product (alpha = 0 or k = 0). herk and her2k make the
 * diagonal real, too. */
bool tsr_call_scales_only(const tsr_call *call);

/* Whether beta C has to be added last: not where there is no C to add. */
bool tsr_call_adds_last(const tsr_call *call);

/* Whether an operand is in pageable or managed memory, so that staging threads copy it. */
bool tsr_call_is_staged(const tsr_call *call);

/* Whether the call leaves C as it is (m or n is 0; or alpha = 0 or k = 0 with beta = 1). */
bool tsr_call_is_empty(const tsr_call *call);

#endif
