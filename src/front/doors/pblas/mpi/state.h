/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The state of a BLACS grid. It is an attribute of the grid's communicator and is freed with it.
 * All fields but the communicators, context and grid are equal on all processes.
 */
#ifndef TSR_FRONT_DOORS_PBLAS_MPI_STATE_H
#define TSR_FRONT_DOORS_PBLAS_MPI_STATE_H

#include <mpi.h>

#include "front/doors/pblas/mpi/price.h"
#include "tessera_mpi.h"

typedef enum tsr_pblas_phase {
  TSR_PBLAS_NONE, /* devices are never used; the field why says the reason */
  TSR_PBLAS_IDLE, /* devices may be started */
  TSR_PBLAS_READY /* devices are started on all processes */
} tsr_pblas_phase;

typedef struct tsr_pblas_state {
  tsr_pblas_phase phase;
  tsr_offload_why why;
  tsr_pblas_price price;
  double would_have_saved; /* s, by calls before the devices are started */
  MPI_Comm all;            /* all processes, ranked row by row; in READY */
  MPI_Comm across[2];      /* processes of this one's column (0) and row (1); null: not made yet */
  tsr_context *context;    /* the BLAS doors', not owned; in READY */
  tsr_grid *grid;          /* owned; in READY */
} tsr_pblas_state;

/* The state of a grid, made by all its processes together at their first call. NULL: the grid's
 * communicator is null or its size is not rows * cols. */
tsr_pblas_state *tsr_pblas_state_get(const tsr_pblas_grid *grid);

/* Starts the devices on all processes. The phase becomes READY if all could start them, else NONE.
 * Collective. */
void tsr_pblas_state_start(tsr_pblas_state *state, const tsr_pblas_grid *grid);

/* The communicator of this process's column (direction 0, ranked by row) or row (direction 1,
 * ranked by column), made at the first call. The state owns it. Collective over the grid. */
MPI_Comm tsr_pblas_across(tsr_pblas_state *state, const tsr_pblas_grid *grid, int direction);

/* The minimum of `value` over all processes. Collective. */
double tsr_pblas_least(const tsr_pblas_grid *grid, double value);

#endif
