/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Makes a grid as the argument says, for test_launcher.py: "any" (the model chooses the shape),
 * "one" (1 x 1), "two" (1 x 2), "self" (over MPI_COMM_SELF), or "spawn": a process that
 * MPI_Comm_spawn starts does so with "any". Prints the status and the message. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tessera_mpi_model.h"

static tsr_status make(const char *what) {
  static const tsr_options options = {.size = sizeof options, .engine = "cpu"};
  bool self = strcmp(what, "self") == 0, one = strcmp(what, "one") == 0;
  tsr_context *context = NULL;
  tsr_grid *grid = NULL;
  tsr_status status = tsr_context_create(&options, &context);
  if (status == TSR_OK)
    status = tsr_grid_create(context, self ? MPI_COMM_SELF : MPI_COMM_WORLD, one,
                             one ? 1 : 2 * (strcmp(what, "two") == 0), &grid);
  tsr_grid_destroy(grid);
  tsr_context_destroy(context);
  return status;
}

static void spawn(char *program) {
  char any[] = "any", *arguments[] = {any, NULL};
  MPI_Comm child;
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child,
                 MPI_ERRCODES_IGNORE);
  MPI_Comm_disconnect(&child);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "any";
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  if (strcmp(what, "spawn") == 0) {
    spawn(argv[0]);
  } else {
    tsr_status status = make(what);
    printf("%s %s\n", tsr_status_name(status), status == TSR_OK ? "" : tsr_message());
  }
  fflush(stdout);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}
