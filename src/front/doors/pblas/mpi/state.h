/*
 * What is known of a grid of the BLACS: kept on its communicator, as an attribute, and gone when
 * that is freed. Everything in it but the grid is the same on all its processes.
 */
#ifndef TSR_FRONT_DOORS_PBLAS_MPI_STATE_H
#define TSR_FRONT_DOORS_PBLAS_MPI_STATE_H

#include <mpi.h>

#include "front/doors/pblas/mpi/price.h"
#include "tessera_mpi.h"

typedef enum tsr_pblas_phase {
  TSR_PBLAS_NONE, /* never on devices: why says it */
  TSR_PBLAS_IDLE,
  TSR_PBLAS_READY
} tsr_pblas_phase;

typedef struct tsr_pblas_state {
  tsr_pblas_phase phase;
  tsr_offload_why why;
  tsr_pblas_price price;
  double would_have_saved; /* s, as long as devices are not started */
  MPI_Comm all;            /* our own, ranked row by row; with READY */
  MPI_Comm across[2];      /* the processes of this one's column (0), of its row (1), or null */
  tsr_context *context;    /* the BLAS doors'; with READY */
  tsr_grid *grid;          /* with READY */
} tsr_pblas_state;

/* The state of a grid, made at the first call by all its processes together. NULL: its communicator
 * is not that of so many processes. */
tsr_pblas_state *tsr_pblas_state_get(const tsr_pblas_grid *grid);

/* Starts the devices on all processes: READY where all could, else NONE. Collective. */
void tsr_pblas_state_start(tsr_pblas_state *state, const tsr_pblas_grid *grid);

/* The processes of this one's column (direction 0), ranked by row, or of its row (1), by column.
 * Collective over the grid. */
MPI_Comm tsr_pblas_across(tsr_pblas_state *state, const tsr_pblas_grid *grid, int direction);

/* The least of all processes. Collective. */
double tsr_pblas_least(const tsr_pblas_grid *grid, double value);

#endif
