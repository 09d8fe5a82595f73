/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Chooses and opens the transport of a grid. */
#include "cluster/transport/transport.h"

#include <string.h>

#include "base/log.h"
#include "base/settings/settings.h"

typedef enum wish { AUTO, MPI, NCCL } wish;

static tsr_status read_wish(wish *wished) {
  static const char *const names[] = {"auto", "mpi", "nccl"};
  const char *text = tsr_setting_text("TESSERA_TRANSPORT");
  *wished = AUTO;
  if (text == NULL) return TSR_OK;
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    *wished = (wish)i;
    return TSR_OK;
  }
  return tsr_fail(TSR_ERR_ARGUMENT, "TESSERA_TRANSPORT is \"%s\"; it may be auto, mpi or nccl",
                  text);
}

static tsr_status open_with(tsr_grid *grid, const tsr_transport *transport) {
  void *state = NULL;
  TSR_TRY(transport->open(grid, &state));
  grid->transport = transport;
  grid->transport_state = state;
  if (transport->describe != NULL) transport->describe(state, &grid->model);
  return TSR_OK;
}

/* A grid of one process sends nothing, so it opens MPI's transport. */
tsr_status tsr_transport_open(tsr_grid *grid) {
  wish wished = AUTO;
  tsr_status status = read_wish(&wished);
  tsr_record record = tsr_record_begin(TSR_RECORD_GRID);
  tsr_record_add(&record, "", "TESSERA_TRANSPORT (auto, mpi, nccl)", (int64_t)wished);
  TSR_TRY(tsr_agree(&grid->all, &record, status));
  if (wished == MPI || grid->all.size == 1) return open_with(grid, &tsr_transport_mpi);
  status = open_with(grid, &tsr_transport_device);
  if (status == TSR_OK || wished == NCCL) return status;
  tsr_log(TSR_LOG_INFO, "panels go by MPI: %s", tsr_message());
  return open_with(grid, &tsr_transport_mpi);
}

const char *tsr_grid_transport(const tsr_grid *grid) {
  return grid != NULL && grid->transport != NULL ? grid->transport->name : "";
}
