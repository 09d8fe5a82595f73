/*
 * A product of the PBLAS: what came in through a symbol, and what it means.
 *
 * Sources: the descriptors and the checks are those of PB_CargFtoC and PB_Cchkmat of ScaLAPACK 2.2.
 */
#ifndef TSR_FRONT_DOORS_PBLAS_CALL_H
#define TSR_FRONT_DOORS_PBLAS_CALL_H

#include <stdbool.h>

#include "front/offload.h"

/* ---- As it came in ---- */

/* A distributed matrix of the caller's; i and j count from 1. */
typedef struct tsr_pblas_operand {
  const void *data;
  int i, j;
  const int *descriptor; /* 9 integers (its first is 1), or 11 (2) */
} tsr_pblas_operand;

typedef struct tsr_pblas_arguments {
  tsr_type type;
  tsr_op transa, transb; /* 0: none that we know */
  int m, n, k;
  const void *alpha, *beta;
  tsr_pblas_operand a, b, c;
} tsr_pblas_arguments;

/* ---- What it means ---- */

/* Both types of descriptor as one; i and j count from 0. A source of -1 says that every row, or
 * column, of the grid has all of them. */
typedef struct tsr_pblas_matrix {
  void *data;
  int64_t i, j, m, n, imb, inb, mb, nb, ld;
  int row_source, col_source;
} tsr_pblas_matrix;

/* extents of the grid and the place of this process in it; its communicator as Fortran has it. */
typedef struct tsr_pblas_grid {
  int rows, cols, row, col, communicator;
} tsr_pblas_grid;

typedef struct tsr_pblas_call {
  tsr_type type;
  tsr_op transa, transb;
  int64_t m, n, k;
  const void *alpha, *beta;
  tsr_pblas_matrix a, b, c;
  tsr_pblas_grid grid;
} tsr_pblas_call;

/* The context of A: the BLACS's number of the grid, this process's own. */
int tsr_pblas_context(const tsr_pblas_arguments *arguments);

/* Fills *call but for its grid. What is the same on all processes is all that counts here, so that
 * all decide alike: the leading dimension is looked at later, by all together. False: ScaLAPACK is
 * to judge (wrong arguments, or nothing to be computed, which *empty tells apart). */
bool tsr_pblas_read(const tsr_pblas_arguments *arguments, const tsr_pblas_grid *grid,
                    tsr_pblas_call *call, bool *empty);

/* ---- What the part that knows MPI is asked: mpi/offer.c, looked up in a library of its own ----
 */

#define TSR_PBLAS_OFFER "tsr_pblas_offer"
#define TSR_PBLAS_END "tsr_pblas_end"

/* Collective: all processes of the grid come, and return the same. As tsr_offload(). */
typedef tsr_offload_verdict tsr_pblas_offer_function(const tsr_pblas_call *call,
                                                     tsr_offload_visit *visit);

/* ScaLAPACK has done the call. Collective as the offer was. */
typedef void tsr_pblas_end_function(const tsr_pblas_call *call, const tsr_offload_visit *visit);

#endif
