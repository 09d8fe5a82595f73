/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A grid of one process, as a program makes it that is linked with the installed library. */
#include <tessera_mpi.h>

int main(int argc, char **argv) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  tsr_grid *grid = NULL;
  int rows = 0;
  options.engine = "cpu";
  MPI_Init(&argc, &argv);
  int right = tsr_context_create(&options, &context) == TSR_OK &&
              tsr_grid_create(context, MPI_COMM_SELF, 0, 0, &grid) == TSR_OK &&
              tsr_grid_place(grid, &rows, NULL, NULL, NULL) == TSR_OK && rows == 1;
  tsr_grid_destroy(grid);
  tsr_context_destroy(context);
  MPI_Finalize();
  return !right;
}
