/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernels on residues (arithmetic/moduli.h) but for their integer products, which the vendor's
 * BLAS computes: residue_kernels.cu, residue_judgement.cu, which has those that judge products and
 * that compute them natively, and residue_overlaps.cu, which has those that judge by overlaps. They
 * give the same bits as arithmetic/cpu_residues.c. */
#ifndef TSR_ENGINE_GPU_RESIDUES_RESIDUE_KERNELS_H
#define TSR_ENGINE_GPU_RESIDUES_RESIDUE_KERNELS_H

#include "arithmetic/judgement.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the residues of n lines of k elements: the columns of a, or its rows if turned. The block
 * of residues has `lines` lines, of which these begin at `first`. type: 's', 'd', 'c' or 'z'. */
typedef struct tsr_gpu_residues {
  char type;
  int turned, conjugated;
  int64_t k, n;
  const void *a;
  int64_t lda;
  void *block;
  int64_t ld, first, lines;
  int keeps_lines;
} tsr_gpu_residues;

/* The four kernels before the conversion use the memory of the result. Returns the runtime's error,
 * as the functions below do. */
int tsr_gpu_residues_launch(const tsr_gpu_residues *args, const tsr_moduli *moduli, void *stream);

/* The most blocks that judge rows, or columns, and the bytes that they need for what they find. */
enum { TSR_GPU_JUDGING_BLOCKS = 32, TSR_GPU_JUDGING_ROOM = 8 << 10 };

/* Whether the accuracy of a product in residues can be promised, as far as the device has found
 * out. */
typedef struct tsr_gpu_judgement {
  int refused;   /* its accuracy cannot be promised */
  int undecided; /* quantiles cannot promise it, and overlaps decide */
} tsr_gpu_judgement;

/* Judges m rows and n columns of C by the records of their lines. *judgement is at the beginning of
 * TSR_GPU_JUDGING_ROOM bytes of the device's memory; if not `overlaps`, these never decide.
 * *verdict (may be NULL) becomes 1 if the product is refused. */
int tsr_gpu_judge_launch(const tsr_line *rows, int64_t m, const tsr_line *columns, int64_t n,
                         int64_t k, int complex_valued, double tolerance, int overlaps,
                         tsr_gpu_judgement *judgement, int32_t *verdict, void *stream);

/* sums += the residues of parts, count numbers of each plane; `first`: sums = them. */
int tsr_gpu_fold_launch(const tsr_moduli *moduli, int planes, const int32_t *parts, int64_t count,
                        int first, int32_t *sums, void *stream);

/* The sums that the vendor's BLAS leaves out, since it wants a multiple of 4 rows: for each plane
 * of m rows (at most 3) and n columns, over k bytes of the lines, which are a multiple of 4. Plane
 * l of a and b begins plane_a l (plane_b l) bytes after the first; sums begins at row `row` of a
 * matrix with leading dimension ldc, with step numbers from plane to plane. */
typedef struct tsr_gpu_rest {
  int planes;
  int64_t m, n, k, ld;
  const int8_t *a, *b;
  int64_t plane_a, plane_b;
  int32_t *sums;
  int64_t ldc, step;
} tsr_gpu_rest;

int tsr_gpu_rest_launch(const tsr_gpu_rest *args, void *stream);

/* The elements of a part of c that are written: those of a triangle (uplo 'L' or 'U'), or all. Row
 * i and column i + diagonal of the part are on the diagonal, whose imaginary parts count as 0 and
 * become 0 if c is Hermitian. */
typedef struct tsr_gpu_region {
  char uplo;
  int hermitian;
  int64_t diagonal;
} tsr_gpu_region;

/* Rows or columns of C that are judged by overlaps. */
typedef struct tsr_gpu_overlapping {
  int64_t count;
  const int8_t *lines; /* the residues of the first in the first plane */
  int64_t plane;       /* bytes from plane to plane */
  const tsr_line *records;
  uint32_t *lost; /* room for `count` of tsr_lost_elements */
  uint8_t *bytes; /* room for ld of each line */
} tsr_gpu_overlapping;

/* Refuses an undecided product if overlaps (arithmetic/judgement.h) do not promise the accuracy of
 * each element that is written of a part of C. Lines have ld bytes, a multiple of 16, and so do
 * what `lines` and `bytes` point to. */
typedef struct tsr_gpu_overlaps {
  tsr_judged judged;
  tsr_gpu_region region;
  int64_t ld;
  tsr_gpu_overlapping rows, columns;
  tsr_gpu_judgement *judgement;
  int32_t *verdict; /* may be NULL */
} tsr_gpu_overlaps;

/* The rows and columns of C that a block of the kernel's grid judges together: a part with more is
 * best a multiple of them. */
enum { TSR_GPU_OVERLAPS_SIDE = 128 };

int tsr_gpu_overlaps_launch(const tsr_gpu_overlaps *args, const tsr_leading_moduli *leading,
                            void *stream);

/* c = alpha (the product that the sums or residues stand for) + beta c, m x n, unless *refused:
 * then c stays as it is, or becomes 0 if beta is 0 and `leaves` is not set. Element (i, j) of plane
 * l has number step l + i + ld j of the sums or, if there are none, of their residues. */
typedef struct tsr_gpu_recover {
  char type;
  tsr_gpu_region region;
  int leaves;
  int64_t m, n;
  const int32_t *sums;
  const int8_t *residues;
  int64_t ld, step;
  const tsr_line *rows, *columns;
  double alpha[2], beta[2];
  void *c;
  int64_t ldc;
  const int *refused;
} tsr_gpu_recover;

int tsr_gpu_recover_launch(const tsr_gpu_recover *args, const tsr_moduli *moduli, void *stream);

/* c = alpha a^T b + beta c if *refused, else nothing: a has m lines of k elements, b has n. Gives
 * the same bits as arithmetic/cpu_residues.c. */
typedef struct tsr_gpu_native {
  char type;
  tsr_gpu_region region;
  int64_t m, n, k;
  const void *a, *b;
  int64_t lda, ldb;
  double alpha[2], beta[2];
  void *c;
  int64_t ldc;
  const int *refused;
} tsr_gpu_native;

int tsr_gpu_native_launch(const tsr_gpu_native *args, void *stream);

#ifdef __cplusplus
}
#endif

#endif
