/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A caller's distributed matrix as an operand of tsr_pgemm, in place.
 *
 * A replicated matrix, which every row (or column) of the grid has whole, is described as one that
 * is distributed with one block for each of them: each process passes its own block of the copy
 * that it has, and nothing is copied. If the product is written to such a matrix, each block is
 * then broadcast to the other copies.
 */
#ifndef TSR_FRONT_DOORS_PBLAS_MPI_OPERAND_H
#define TSR_FRONT_DOORS_PBLAS_MPI_OPERAND_H

#include "front/doors/pblas/mpi/state.h"

typedef struct tsr_pblas_view {
  tsr_pmatrix matrix;
  int64_t i, j; /* the first row and column of the part, in matrix */
} tsr_pblas_view;

/* The view of the part of rows x cols that begins at x->i and x->j. Wrong storage of this process
 * (data, ld) is passed on for tsr_pgemm to find, so that the call fails on all processes. */
tsr_pblas_view tsr_pblas_view_of(const tsr_pblas_state *state, const tsr_pblas_call *call,
                                 const tsr_pblas_matrix *x, int64_t rows, int64_t cols);

/* Broadcasts each process's block of a part to the other copies of a replicated matrix; does
 * nothing for any other. Collective. TSR_ERR_INTERNAL with MPI's code if MPI fails. */
tsr_status tsr_pblas_spread(tsr_pblas_state *state, const tsr_pblas_call *call,
                            const tsr_pblas_matrix *x, int64_t rows, int64_t cols);

#endif
