/* The arguments of a call as the caller gave them: whether they make sense, and what they mean. */
#ifndef TSR_BLAS_CHECK_H
#define TSR_BLAS_CHECK_H

#include "blas/call.h"

/* The operands and scalars that go with a tsr_level3. */
typedef struct tsr_arguments {
  const void *alpha, *a, *b, *beta;
  void *c;
} tsr_arguments;

/* Checks the arguments in the order and by the names of the BLAS routine. NULL is no address of a
 * matrix that is read or written, unless check_pointers is false. */
tsr_status tsr_check_arguments(const tsr_level3 *what, const tsr_arguments *given,
                               bool check_pointers);

/* The call with its flags as letters of tessera.h, where they are given otherwise. */
tsr_level3 tsr_check_flags_read(const tsr_level3 *what);

/* m, n and k of the call: what the operation derives from its other arguments filled in, and
 * fields that it has no use for set as in an ordinary GEMM. */
tsr_level3 tsr_check_complete(const tsr_level3 *what);

/* The stored extents of an operand of a completed call; none of a B that there is not. */
void tsr_check_stored(const tsr_level3 *what, int operand, int64_t *rows, int64_t *cols);

/* The first wrong argument as the reference BLAS sees it: its position in the Fortran routine, from
 * 1; 0: none is wrong. Flags that are none must be 0. TSR_POSITION_LAYOUT: the layout, which only
 * CBLAS has. */
enum { TSR_POSITION_LAYOUT = -1 };
TSR_API int tsr_check_position(const tsr_level3 *what);

#endif
