/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Shares out the devices of the node, for test_dealt.py: each process prints the numbers of its
 * devices, as it sees them, and how many processes have one of them. */
#include <stdio.h>

#include "tessera_mpi.h"
#include "tessera_model.h"

int main(int argc, char **argv) {
  char line[256] = "";
  int sharing = 0, length = 0, rank;
  tsr_context *context = NULL;
  tsr_devices_facts seen = {.devices = 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  tsr_status status = tsr_context_create_dealt(MPI_COMM_WORLD, NULL, &context, &sharing);
  if (status == TSR_OK) status = tsr_devices_describe(NULL, &seen);
  if (status == TSR_OK) {
    for (int d = 0; d < tsr_device_count(context); d++) {
      int number = -1;
      tsr_device_number(context, d, &number);
      length += snprintf(line + length, sizeof line - (size_t)length, " %d", number);
    }
    printf("rank %d sees %d, has%s, sharing %d\n", rank, seen.devices, line, sharing);
  } else {
    printf("rank %d: %s %s\n", rank, tsr_status_name(status), tsr_message());
  }
  fflush(stdout);
  tsr_context_destroy(context);
  MPI_Finalize();
  return status != TSR_OK;
}
