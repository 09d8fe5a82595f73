/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The arguments of a call as the caller gave them: whether they are right, and what they mean. */
#ifndef TSR_BLAS_CHECK_H
#define TSR_BLAS_CHECK_H

#include "blas/call.h"
#include "blas/operation.h"

/* The operands and scalars that go with a tsr_level3. */
typedef struct tsr_arguments {
  const void *alpha, *a, *b, *beta;
  void *c;
  int64_t *info;
} tsr_arguments;

/* Checks the arguments in the order and by the names of the BLAS routine. TSR_ERR_ARGUMENT names
 * the first wrong one. With check_pointers, a matrix that is read or written may not be NULL. */
tsr_status tsr_check_arguments(const tsr_level3 *what, const tsr_arguments *given,
                               bool check_pointers);

/* Single checks of an argument of a routine, for all routines that say the same of a wrong one:
 * a flag, an extent, a pointer to the matrix (or `what` it is), and the leading dimension of a
 * matrix that is stored as rows x cols, whose last element must have an address. */
tsr_status tsr_check_one_of(const char *routine, const char *name, int value, int first, int second,
                            const char *remedy);
tsr_status tsr_check_extent(const char *routine, const char *name, int64_t value);
tsr_status tsr_check_pointer(const char *routine, const char *name, const void *pointer,
                             const char *what);
tsr_status tsr_check_storage(const char *routine, const char *name, tsr_type type,
                             tsr_layout layout, int64_t rows, int64_t cols, int64_t ld);

/* Returns the call with its flags as the letters of tessera.h (callers may also give lower case and
 * the numbers of CBLAS). */
tsr_level3 tsr_check_flags_read(const tsr_level3 *what);

/* Returns the call with all fields set: m, n and k that follow from other arguments are filled in,
 * and fields that the operation does not use are as in an ordinary GEMM. */
tsr_level3 tsr_check_complete(const tsr_level3 *what);

/* The extents of an operand of a completed call as it is stored; 0 x 0: the operation has no B. */
void tsr_check_stored(const tsr_level3 *what, int operand, int64_t *rows, int64_t *cols);

/* The number or the flag at an argument's place (tsr_argument.at). */
int64_t tsr_check_number(const tsr_level3 *what, size_t at);
int tsr_check_flag(const tsr_level3 *what, size_t at);

/* The extents of a matrix among the arguments of a completed call, as it is stored. */
void tsr_check_shape(const tsr_level3 *what, const tsr_argument *matrix, int64_t *rows,
                     int64_t *cols);

/* Whether the operation takes an op. The BLAS has no complex syrk with the conjugate transpose and
 * no herk with the mere transpose. For real types both are the same. */
bool tsr_check_takes(const tsr_operation_info *info, tsr_type type, tsr_op op);

/* The first wrong argument as the reference BLAS sees it: its position in the Fortran routine, from
 * 1; 0: none is wrong. A flag that was not recognised must be 0 in *what. TSR_POSITION_LAYOUT: the
 * layout is wrong, which only CBLAS has. */
enum { TSR_POSITION_LAYOUT = -1 };
TSR_API int tsr_check_position(const tsr_level3 *what);

/* The position of the first matrix that the routine writes. */
TSR_API int tsr_check_position_of_result(tsr_operation operation);

#endif
