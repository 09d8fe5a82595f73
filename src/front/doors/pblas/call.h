/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A product of the PBLAS: its arguments as the symbol got them, and the call that they describe.
 *
 * Sources: the descriptors and the checks are those of PB_CargFtoC and PB_Cchkmat of ScaLAPACK 2.2.
 */
#ifndef TSR_FRONT_DOORS_PBLAS_CALL_H
#define TSR_FRONT_DOORS_PBLAS_CALL_H

#include <stdbool.h>

#include "front/offload/offload.h"

/* ---- The arguments ---- */

/* A distributed matrix of the caller's; i and j count from 1. */
typedef struct tsr_pblas_operand {
  const void *data;
  int i, j;
  const int *descriptor; /* 9 integers if the first is 1, 11 if it is 2 */
} tsr_pblas_operand;

typedef struct tsr_pblas_arguments {
  tsr_type type;
  tsr_op transa, transb; /* 0: an unknown letter */
  int m, n, k;
  const void *alpha, *beta;
  tsr_pblas_operand a, b, c;
} tsr_pblas_arguments;

/* ---- The call ---- */

/* A distributed matrix from either type of descriptor; i and j count from 0. row_source -1: every
 * row of the grid has all rows of the matrix (replicated); col_source likewise. */
typedef struct tsr_pblas_matrix {
  void *data;
  int64_t i, j, m, n, imb, inb, mb, nb, ld;
  int row_source, col_source;
} tsr_pblas_matrix;

/* Extents of the grid, the coordinates of this process in it, and the grid's communicator as an
 * MPI_Fint. */
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

/* The BLACS context in A's descriptor: the number by which this process knows the grid. */
int tsr_pblas_context(const tsr_pblas_arguments *arguments);

/* Fills *call, with the given grid. Checks only arguments that are the same on all processes, so
 * that all decide alike; the leading dimension, which is each process's own, is checked later by
 * all together. False: ScaLAPACK does the call, since it is empty (*empty) or its arguments are
 * wrong. */
bool tsr_pblas_read(const tsr_pblas_arguments *arguments, const tsr_pblas_grid *grid,
                    tsr_pblas_call *call, bool *empty);

/* ---- Functions of libtessera_pblas_mpi (mpi/offer.c), looked up by these names ---- */

#define TSR_PBLAS_OFFER "tsr_pblas_offer"
#define TSR_PBLAS_END "tsr_pblas_end"

/* As tsr_offload, for a product. Collective: all processes of the grid call it and get the same
 * verdict. */
typedef tsr_offload_verdict tsr_pblas_offer_function(const tsr_pblas_call *call,
                                                     tsr_offload_visit *visit);

/* To be called when ScaLAPACK has done a call that got TSR_OFFLOAD_TO_CPU. Collective like the
 * offer. */
typedef void tsr_pblas_end_function(const tsr_pblas_call *call, const tsr_offload_visit *visit);

#endif
