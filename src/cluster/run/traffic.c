/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/run/traffic.h"

#include "base/thread.h"
#include "cluster/run/grid.h"

static double read(const _Atomic uint64_t *sum) {
  return (double)atomic_load_explicit(sum, memory_order_relaxed);
}

static tsr_ptraffic join(const tsr_traffic *devices, const tsr_traffic_sums *moved) {
  return (tsr_ptraffic){.from_host = devices->host_to_device + read(&moved->uploaded),
                        .from_peers = devices->device_to_device,
                        .to_host = devices->device_to_host,
                        .received = read(&moved->received),
                        .sent = read(&moved->sent)};
}

/* The bytes that copies of all devices of the context have moved, together. */
static tsr_status count_devices(tsr_context *context, tsr_traffic *sum) {
  *sum = (tsr_traffic){0};
  for (int d = 0; d < tsr_device_count(context); d++) {
    tsr_traffic one;
    TSR_TRY(tsr_device_traffic(context, d, &one));
    sum->host_to_device += one.host_to_device;
    sum->device_to_device += one.device_to_device;
    sum->device_to_host += one.device_to_host;
  }
  return TSR_OK;
}

TSR_ENTRY(tsr_grid_traffic, (grid, counted, planned), tsr_grid *grid, tsr_ptraffic *counted,
          tsr_ptraffic *planned) {
  tsr_traffic moved, submitted;
  TSR_TRY(tsr_grid_check_real(grid));
  TSR_TRY(count_devices(grid->context, &moved));
  TSR_TRY(tsr_context_traffic(grid->context, &submitted));
  if (counted != NULL) *counted = join(&moved, &grid->counted);
  if (planned != NULL) *planned = join(&submitted, &grid->planned);
  return TSR_OK;
}
