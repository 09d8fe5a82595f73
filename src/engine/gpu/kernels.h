/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Kernels that the vendor's BLAS lacks. */
#ifndef TSR_ENGINE_GPU_KERNELS_H
#define TSR_ENGINE_GPU_KERNELS_H

#include <stdint.h>

#include "engine/gpu/level3/inverted.h"

#ifdef __cplusplus
extern "C" {
#endif

/* c = alpha a + beta c; if a is NULL, c = beta c. a and c are m x n, column-major. type is a letter
 * of tsr_type; wide_a and wide_c: a or c is of its wide type. If beta = 0, c is not read. If uplo
 * is 'L' or 'U', only that triangle is read and written. hermitian (only with a triangle and a =
 * NULL): the imaginary parts of the diagonal are not read and become 0. */
typedef struct tsr_gpu_add {
  char type, uplo;
  int wide_a, wide_c, hermitian;
  int64_t m, n;
  double alpha[2], beta[2];
  const void *a;
  int64_t lda;
  void *c;
  int64_t ldc;
} tsr_gpu_add;

/* Launches the kernel on the stream with at most blocks thread blocks. Returns the runtime's error,
 * as the functions below do. */
int tsr_gpu_add_launch(const tsr_gpu_add *args, int blocks, void *stream);

/* Sets the imaginary parts of the diagonal of an n x n matrix of type 'c' or 'z' to 0. */
int tsr_gpu_real_diagonal_launch(char type, int64_t n, void *c, int64_t ldc, void *stream);

/* *verdict (memory that the device can write), unless it is not 0: becomes first + j where j counts
 * from 1: the first of the n diagonal elements of c that is not positive, or *info, if that is
 * positive and less; it stays 0 if all are positive. type is 's', 'd', 'c' or 'z', of which real
 * parts count. */
typedef struct tsr_gpu_pivots {
  char type;
  int64_t n;
  const void *c;
  int64_t ldc;
  const int32_t *info;
  int first;
  int32_t *verdict;
} tsr_gpu_pivots;

int tsr_gpu_pivots_launch(const tsr_gpu_pivots *args, void *stream);

/* The inverse of the triangle uplo ('L' or 'U') of a. type is 's', 'd', 'c' or 'z'; a and inverse
 * are n x n, column-major; they do not overlap. unit: the diagonal of a is not read and counts
 * as 1. */
typedef struct tsr_gpu_invert {
  char type, uplo;
  int unit;
  int64_t n;
  const void *a;
  int64_t lda;
  void *inverse;
  int64_t ld;
} tsr_gpu_invert;

/* Writes the inverses of the diagonal blocks of order TSR_GPU_INVERTED and zeros in the other
 * triangle of `inverse`; leaves the rest. */
int tsr_gpu_invert_launch(const tsr_gpu_invert *args, void *stream);

/* Joins all pairs of neighbouring inverted blocks of order half, TSR_GPU_INVERTED ..
 * TSR_GPU_JOINED: computes the block of `inverse` beside them. The last pair's second block may be
 * smaller; a last block without a partner is left as it is. */
int tsr_gpu_join_launch(const tsr_gpu_invert *args, int half, void *stream);

/* Copies the triangle uplo ('L' or 'U') of a symmetric a to full and mirrors it there. type is 's',
 * 'd', 'c' or 'z'; both are n x n, column-major; they do not overlap. hermitian: the mirrored
 * elements are conjugated, and the imaginary parts of the diagonal are not read and become 0. */
typedef struct tsr_gpu_fill {
  char type, uplo;
  int hermitian;
  int64_t n;
  const void *a;
  int64_t lda;
  void *full;
  int64_t ld;
} tsr_gpu_fill;

int tsr_gpu_fill_launch(const tsr_gpu_fill *args, void *stream);

/* Copies squares of order leaf on the diagonal of the triangle uplo ('L' or 'U') of a, n x n, with
 * zeros in their other triangle; the last one may be smaller. type is 's', 'd', 'c' or 'z'. Square
 * s is at squares + s * leaf * ld elements, with leading dimension ld. unit: the diagonal of a is
 * not read and becomes 1. */
typedef struct tsr_gpu_squares {
  char type, uplo;
  int unit;
  int64_t n, leaf;
  const void *a;
  int64_t lda;
  void *squares;
  int64_t ld;
} tsr_gpu_squares;

int tsr_gpu_squares_launch(const tsr_gpu_squares *args, void *stream);

/* c = alpha op(a) b + beta old (right: alpha b op(a) + beta old) in those lines (columns; right:
 * rows) in which b has an infinity or NaN; the other lines of c stay as they are. a is the triangle
 * uplo of that order, op 'N', 'T' or 'C', unit as above. old = NULL: without beta old. mended, if
 * it is not NULL: becomes 1 for those lines, else 0. Source: the definition of trmm in the
 * reference BLAS. */
typedef struct tsr_gpu_mend {
  char type, uplo, op;
  int unit, right;
  int64_t order, lines;
  double alpha[2], beta[2];
  const void *a;
  int64_t lda;
  const void *b;
  int64_t ldb;
  const void *old;
  int64_t ldold;
  void *c;
  int64_t ldc;
  int *mended;
} tsr_gpu_mend;

int tsr_gpu_mend_launch(const tsr_gpu_mend *args, void *stream);

/* Copies those lines of args->c that args->mended names to c, a matrix of the same extents. */
int tsr_gpu_put_lines_launch(const tsr_gpu_mend *args, void *c, int64_t ldc, void *stream);

/* Lists the squares of a batch of products, for the vendor's BLAS: c is cut into `rows` x `columns`
 * squares, of which those of the trapezoid (TSR_KERNEL_GEMMT) are listed, column by column. to: the
 * addresses of the parts of a of all squares, then those of b, then those of c. step_a: bytes from
 * the part of a for one row of squares to that for the next; step_b, for columns, likewise. */
typedef struct tsr_gpu_trapezoid {
  char uplo;
  int64_t rows, columns; /* rows >= columns */
  const void *a, *b;
  void *c;
  int64_t step_a, step_b, row_of_c, column_of_c; /* bytes */
  const void **to;
} tsr_gpu_trapezoid;

/* How many squares there are. */
static inline int64_t tsr_gpu_trapezoid_squares(int64_t rows, int64_t columns) {
  return rows * columns - columns * (columns - 1) / 2;
}

int tsr_gpu_trapezoid_launch(const tsr_gpu_trapezoid *args, void *stream);

#ifdef __cplusplus
}
#endif

#endif
