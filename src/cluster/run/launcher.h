/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The launcher that started the process, as its environment variables tell. A program that is
 * started by another MPI's launcher does not fail: each of its processes is alone in an
 * MPI_COMM_WORLD of its own, and all do the whole work and write the same files.
 */
#ifndef TSR_CLUSTER_RUN_LAUNCHER_H
#define TSR_CLUSTER_RUN_LAUNCHER_H

#include <mpi.h>

#include "base/status.h"
#include "tessera_mpi_model.h"

/* TSR_ERR_UNSUPPORTED: tsr_launcher_describe() finds that the processes are alone, and the caller
 * did not ask for a grid of one process by MPI_COMM_SELF or by rows = cols = 1. */
tsr_status tsr_launcher_check_grid(MPI_Comm comm, int rows, int cols);

#endif
