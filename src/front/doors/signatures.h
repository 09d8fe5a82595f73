/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A routine's list of arguments (blas/routines.def) as a BLAS symbol needs it: the parameters,
 * the arguments (to pass them on unchanged), the fields of tsr_offload_call, and the number of
 * multiplications. In Fortran every argument is an address, and the lengths of the flags follow at
 * the end.
 */
#ifndef TSR_FRONT_DOORS_SIGNATURES_H
#define TSR_FRONT_DOORS_SIGNATURES_H

#include "blas/routines.def"

/* Multiplications with a square A on the left (m m n) or the right (m n n) of an m x n matrix. No
 * branch, so that quick compiles to one jump (doors.h). */
static inline double tsr_door_sided(bool left, double m, double n) {
  return m * n * (n + (double)left * (m - n));
}

/* The multiplications, by the extents, each read by extent(x, name), and by whether A is on the
 * left. */
#define MULTIPLICATIONS_OF_GEMM(extent, x, left) (extent(x, m) * extent(x, n) * extent(x, k))
#define MULTIPLICATIONS_OF_GEMMT(extent, x, left) (extent(x, n) * extent(x, n) * extent(x, k))
#define MULTIPLICATIONS_OF_SIDED(extent, x, left) tsr_door_sided(left, extent(x, m), extent(x, n))
#define MULTIPLICATIONS_OF_RANK_K MULTIPLICATIONS_OF_GEMMT
#define MULTIPLICATIONS_OF_RANK_2K MULTIPLICATIONS_OF_GEMMT
#define MULTIPLICATIONS_OF_TRIANGULAR MULTIPLICATIONS_OF_SIDED
#define MULTIPLICATIONS_OF_CHOLESKY(extent, x, left) \
  (extent(x, n) * extent(x, n) * extent(x, n) * (1.0 / 3))
#define MULTIPLICATIONS_OF_FACTORED(extent, x, left) \
  (extent(x, n) * extent(x, n) * extent(x, nrhs) * 2)
#define MULTIPLICATIONS_OF_DEFINITE(extent, x, left) \
  (extent(x, n) * extent(x, n) * (extent(x, n) * (1.0 / 3) + extent(x, nrhs) * 2))
#define MULTIPLICATIONS_OF_TRIANGLE(extent, x, left) (extent(x, n) * extent(x, n) * extent(x, nrhs))
#define MULTIPLICATIONS_OF_FACTORED_INVERSE(extent, x, left) \
  (extent(x, n) * extent(x, n) * extent(x, n) * (2.0 / 3))
#define MULTIPLICATIONS_OF_TRIANGLE_INVERSE MULTIPLICATIONS_OF_CHOLESKY

/* Each argument by its own name, to pass it on. */
#define PASS_FLAG(name, field, flag) name
#define PASS_EXTENT(name, field) name
#define PASS_SCALAR(name, field) name
#define PASS_INPUT(name, ...) name, ld##name
#define PASS_RESULT PASS_INPUT
#define PASS_INFO PASS_EXTENT
#define PASS(x, kind, ...) PASS_##kind(__VA_ARGS__)
#define PASS_NEXT(x, kind, ...) , PASS_##kind(__VA_ARGS__)

/* ---- Fortran; x is the type of the integers ---- */

#define FORTRAN_TAKE_FLAG(INT, name, field, flag) const char *name
#define FORTRAN_TAKE_EXTENT(INT, name, field) const INT *name
#define FORTRAN_TAKE_SCALAR(INT, name, field) const void *name
#define FORTRAN_TAKE_INPUT(INT, name, ...) const void *name, const INT *ld##name
#define FORTRAN_TAKE_RESULT(INT, name, ...) void *name, const INT *ld##name
#define FORTRAN_TAKE_INFO(INT, name, field) INT *name
#define FORTRAN_TAKE(INT, kind, ...) FORTRAN_TAKE_##kind(INT, __VA_ARGS__)
#define FORTRAN_TAKE_NEXT(INT, kind, ...) , FORTRAN_TAKE_##kind(INT, __VA_ARGS__)

/* The length of a flag, with what goes before its name. */
#define FORTRAN_LENGTH_FLAG(before, name, field, flag) , before length_of_##name
#define FORTRAN_LENGTH_EXTENT(before, name, field)
#define FORTRAN_LENGTH_SCALAR(before, name, field)
#define FORTRAN_LENGTH_INPUT(before, name, ...)
#define FORTRAN_LENGTH_RESULT(before, name, ...)
#define FORTRAN_LENGTH_INFO(before, name, field)
#define FORTRAN_LENGTH(before, kind, ...) FORTRAN_LENGTH_##kind(before, __VA_ARGS__)

#define FORTRAN_FIELD_FLAG(name, field, flag) .what.field = tsr_door_##flag(name),
#define FORTRAN_FIELD_EXTENT(name, field) .what.field = *name,
#define FORTRAN_FIELD_SCALAR(name, field) .field = name,
#define FORTRAN_FIELD_INPUT(name, field, ...) .field = name, .what.ld##field = *ld##name,
#define FORTRAN_FIELD_RESULT FORTRAN_FIELD_INPUT
#define FORTRAN_FIELD_INFO(name, field) .field = &(int64_t){0},
#define FORTRAN_FIELD(x, kind, ...) FORTRAN_FIELD_##kind(__VA_ARGS__)

/* Gives the program the outputs that are no matrix, of a call that is done: numbers as wide as the
 * program's integers. */
#define FORTRAN_GIVE_FLAG(INT, ...)
#define FORTRAN_GIVE_EXTENT(INT, ...)
#define FORTRAN_GIVE_SCALAR(INT, ...)
#define FORTRAN_GIVE_INPUT(INT, ...)
#define FORTRAN_GIVE_RESULT(INT, ...)
#define FORTRAN_GIVE_INFO(INT, name, field) *name = (INT)*call.field;
#define FORTRAN_GIVE(INT, kind, ...) FORTRAN_GIVE_##kind(INT, __VA_ARGS__)

#define FORTRAN_PARAMETERS(signature, INT)                        \
  TSR_ARGUMENTS_##signature(FORTRAN_TAKE, FORTRAN_TAKE_NEXT, INT) \
      TSR_ARGUMENTS_##signature(FORTRAN_LENGTH, FORTRAN_LENGTH, size_t)
#define FORTRAN_ARGUMENTS(signature)            \
  TSR_ARGUMENTS_##signature(PASS, PASS_NEXT, 0) \
      TSR_ARGUMENTS_##signature(FORTRAN_LENGTH, FORTRAN_LENGTH, )
#define FORTRAN_FIELDS(signature) TSR_ARGUMENTS_##signature(FORTRAN_FIELD, FORTRAN_FIELD, 0)
#define FORTRAN_OUTPUTS(signature, INT) TSR_ARGUMENTS_##signature(FORTRAN_GIVE, FORTRAN_GIVE, INT)
#define FORTRAN_EXTENT(x, name) (double)*name
#define FORTRAN_MULTIPLICATIONS(signature) \
  MULTIPLICATIONS_OF_##signature(FORTRAN_EXTENT, 0, (*side | 0x20) == 'l')

/* ---- CBLAS ---- */

/* Integers are declared 64 bits wide, so that the whole register or stack place is passed on
 * unchanged: MKL may expect 64-bit integers under the names without a suffix. INT is the type of
 * the integers in our own reading of the call. */

/* The C type in which a scalar is passed, and the expression of its address. */
#define CBLAS_TAKE_float float
#define CBLAS_TAKE_double double
#define CBLAS_TAKE_complex const void *
#define CBLAS_ADDRESS_float(x) &x
#define CBLAS_ADDRESS_double(x) &x
#define CBLAS_ADDRESS_complex(x) x

/* x is (INT, ALPHA, BETA). */
#define CBLAS_INT(INT, ALPHA, BETA) INT
#define CBLAS_TYPE_OF_alpha(INT, ALPHA, BETA) CBLAS_TAKE_##ALPHA
#define CBLAS_TYPE_OF_beta(INT, ALPHA, BETA) CBLAS_TAKE_##BETA
#define CBLAS_PLACE_OF_alpha(INT, ALPHA, BETA) CBLAS_ADDRESS_##ALPHA(alpha)
#define CBLAS_PLACE_OF_beta(INT, ALPHA, BETA) CBLAS_ADDRESS_##BETA(beta)

#define CBLAS_TAKE_FLAG(x, name, field, flag) int name
#define CBLAS_TAKE_EXTENT(x, name, field) int64_t name
#define CBLAS_TAKE_SCALAR(x, name, field) CBLAS_TYPE_OF_##name x name
#define CBLAS_TAKE_INPUT(x, name, ...) const void *name, int64_t ld##name
#define CBLAS_TAKE_RESULT(x, name, ...) void *name, int64_t ld##name
#define CBLAS_TAKE(x, kind, ...) , CBLAS_TAKE_##kind(x, __VA_ARGS__)

#define CBLAS_FIELD_FLAG(x, name, field, flag) .what.field = tsr_cblas_##flag(name),
#define CBLAS_FIELD_EXTENT(x, name, field) .what.field = (CBLAS_INT x)name,
#define CBLAS_FIELD_SCALAR(x, name, field) .field = CBLAS_PLACE_OF_##name x,
#define CBLAS_FIELD_INPUT(x, name, field, ...) \
  .field = name, .what.ld##field = (CBLAS_INT x)ld##name,
#define CBLAS_FIELD_RESULT CBLAS_FIELD_INPUT
#define CBLAS_FIELD(x, kind, ...) CBLAS_FIELD_##kind(x, __VA_ARGS__)

#define CBLAS_PARAMETERS(signature, x) \
  int layout TSR_ARGUMENTS_##signature(CBLAS_TAKE, CBLAS_TAKE, x)
#define CBLAS_ARGUMENTS(signature) layout TSR_ARGUMENTS_##signature(PASS_NEXT, PASS_NEXT, 0)
#define CBLAS_FIELDS(signature, x) TSR_ARGUMENTS_##signature(CBLAS_FIELD, CBLAS_FIELD, x)
#define CBLAS_EXTENT(x, name) (double)(CBLAS_INT x)name
#define CBLAS_MULTIPLICATIONS(signature, x) \
  MULTIPLICATIONS_OF_##signature(CBLAS_EXTENT, x, side == TSR_CBLAS_LEFT)

#endif
