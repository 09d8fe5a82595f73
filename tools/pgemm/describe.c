/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera-pgemm describe. */
#include "pgemm.h"

static int print(const tsr_launcher_facts *facts) {
  cJSON *answer = cJSON_CreateObject();
  cJSON_AddStringToObject(answer, "mpi", facts->mpi);
  cJSON_AddStringToObject(answer, "launcher", facts->launcher);
  cJSON_AddNumberToObject(answer, "started", facts->started);
  cJSON_AddNumberToObject(answer, "rank", facts->rank);
  cJSON_AddStringToObject(answer, "error", facts->error);
  return tool_print_json(answer, true);
}

int pgemm_describe(int argc, char **argv) {
  tsr_launcher_facts facts;
  tsr_launcher_describe(&facts);
  if (facts.started <= 1) return print(&facts);
  MPI_Init(&argc, &argv);
  tsr_launcher_describe(&facts); /* once more, with the size of MPI_COMM_WORLD */
  int code = print(&facts);
  MPI_Finalize();
  return code;
}
