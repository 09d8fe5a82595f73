/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The bytes that processes have moved: counted, and planned. */
#include <stdlib.h>

#include "pgemm.h"

enum { COUNTS = sizeof(tsr_ptraffic) / sizeof(double) };

static const char *const headings[COUNTS] = {"from host", "from peers", "to host", "received",
                                             "sent"};
static const char *const names[COUNTS] = {"from_host", "from_peers", "to_host", "received", "sent"};

static void values_of(const tsr_ptraffic *x, double value[COUNTS]) {
  const double all[COUNTS] = {x->from_host, x->from_peers, x->to_host, x->received, x->sent};
  for (int i = 0; i < COUNTS; i++) value[i] = all[i];
}

static void subtract(tsr_ptraffic *from, const tsr_ptraffic *x) {
  from->from_host -= x->from_host;
  from->from_peers -= x->from_peers;
  from->to_host -= x->to_host;
  from->received -= x->received;
  from->sent -= x->sent;
}

int moved_read(tsr_grid *grid, const moved_bytes *before, moved_bytes *moved) {
  int code = tool_status(tsr_grid_traffic(grid, &moved->counted, &moved->planned));
  if (code || before == NULL) return code;
  subtract(&moved->counted, &before->counted);
  subtract(&moved->planned, &before->planned);
  return TOOL_OK;
}

moved_bytes *moved_gather(const moved_bytes *mine, MPI_Comm comm) {
  int rank, size, there = 0;
  moved_bytes *all = NULL;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank == 0) all = malloc((size_t)size * sizeof *all);
  there = all != NULL;
  MPI_Bcast(&there, 1, MPI_INT, 0, comm);
  if (there) MPI_Gather(mine, sizeof *mine, MPI_BYTE, all, sizeof *mine, MPI_BYTE, 0, comm);
  return all;
}

static void print_line(const char *label, const tsr_ptraffic *x) {
  double value[COUNTS];
  values_of(x, value);
  printf("%-18s", label);
  for (int i = 0; i < COUNTS; i++) printf(" %11.6g", 1e-6 * value[i]);
  printf("\n");
}

void moved_print(const moved_bytes *moved, int processes, int cols) {
  printf("\nMoved in the last product, MB: counted as copies and messages ended, and as planned\n");
  printf("%-18s", "process");
  for (int i = 0; i < COUNTS; i++) printf(" %11s", headings[i]);
  printf("\n");
  for (int p = 0; p < processes; p++) {
    char label[32];
    snprintf(label, sizeof label, "(%d, %d)", p / cols, p % cols);
    print_line(label, &moved[p].counted);
    print_line("  planned", &moved[p].planned);
  }
}

static cJSON *json_of(const tsr_ptraffic *x) {
  double value[COUNTS];
  cJSON *o = cJSON_CreateObject();
  values_of(x, value);
  for (int i = 0; i < COUNTS; i++) cJSON_AddNumberToObject(o, names[i], value[i]);
  return o;
}

cJSON *moved_json(const moved_bytes *moved, int processes, int cols) {
  cJSON *all = cJSON_CreateArray();
  for (int p = 0; p < processes; p++) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "row", p / cols);
    cJSON_AddNumberToObject(o, "col", p % cols);
    cJSON_AddItemToObject(o, "counted", json_of(&moved[p].counted));
    cJSON_AddItemToObject(o, "planned", json_of(&moved[p].planned));
    cJSON_AddItemToArray(all, o);
  }
  return all;
}
