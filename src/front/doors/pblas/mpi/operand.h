/*
 * A caller's matrix as tsr_pgemm takes it, where it lies.
 *
 * A matrix that every row (or column) of the grid has whole is seen as one that is dealt in one
 * block to each: each process then shows its own block of the copy that it has, and nothing is
 * copied. A product that is written into such a matrix is sent on to the other copies.
 */
#ifndef TSR_FRONT_DOORS_PBLAS_MPI_OPERAND_H
#define TSR_FRONT_DOORS_PBLAS_MPI_OPERAND_H

#include "front/doors/pblas/mpi/state.h"

typedef struct tsr_pblas_view {
  tsr_pmatrix matrix;
  int64_t i, j; /* where the part begins in it */
} tsr_pblas_view;

/* The part of rows x cols that begins at the caller's i and j. What is wrong with this process's
 * storage stays for tsr_pgemm to find, so that all processes hear of it. */
tsr_pblas_view tsr_pblas_view_of(const tsr_pblas_state *state, const tsr_pblas_call *call,
                                 const tsr_pblas_matrix *x, int64_t rows, int64_t cols);

/* Sends each process's block of a part, which its view shows, to the other copies. Collective.
 * TSR_ERR_INTERNAL with what MPI says. */
tsr_status tsr_pblas_spread(tsr_pblas_state *state, const tsr_pblas_call *call,
                            const tsr_pblas_matrix *x, int64_t rows, int64_t cols);

#endif
