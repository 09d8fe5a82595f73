/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/model/choi.h"

#include <math.h>

/* ---- Figures -------------------------------------------------------------- */

double tsr_choi_transfer_rate(const tsr_machine *m, int from, int to) {
  double direct = m->link[from][to].bandwidth;
  int host = m->device[from].host_node;
  if (direct > 0) return direct;
  return fmin(m->link[from][host].bandwidth, m->link[host][to].bandwidth);
}

static double slowest_transfer(const tsr_machine *m, int devices) {
  double least = INFINITY;
  for (int from = 0; from < devices; from++)
    for (int to = 0; to < devices; to++)
      if (from != to) least = fmin(least, tsr_choi_transfer_rate(m, from, to));
  return least;
}

bool tsr_choi_read(const tsr_machine *machine, tsr_type type, int devices,
                   tsr_choi_figures *figures) {
  *figures = (tsr_choi_figures){.math = tsr_machine_best_rate(machine, type),
                                .memory = machine->device[0].memory_rate,
                                .transfer = slowest_transfer(machine, devices)};
  return figures->math > 0 && figures->memory > 0 && figures->transfer > 0;
}

/* ---- Bounds --------------------------------------------------------------- */

/* Each device sends a band of N_i x N elements to each of the others, and multiplies two such
 * bands: N_i x N_i x N multiply-adds. */
tsr_choi_bounds tsr_choi_limit(const tsr_choi_figures *figures, tsr_type type, int64_t n,
                               int devices) {
  const tsr_type_info *info = tsr_type_get(type);
  double size = (double)info->size, flops = info->flop_factor;
  double length = (double)n, receivers = devices - 1;
  double k_bw = figures->math / figures->memory; /* equation 2 */
  double excess = flops * length - size * k_bw;
  return (tsr_choi_bounds){
      .intense = excess > 0 ? 2 * size * k_bw * length / excess : INFINITY,
      .math = receivers * size / flops * figures->math / figures->transfer,
      .memory = length * (receivers * figures->memory / figures->transfer - 2)};
}

static int64_t power_of_two_above(double bound) {
  int64_t power = 1;
  while ((double)power <= bound && power < INT64_C(1) << 40) power *= 2;
  return power;
}

int64_t tsr_choi_tile(const tsr_choi_bounds *bounds, int64_t n) {
  if (bounds->intense >= (double)n) return power_of_two_above(bounds->memory);
  return power_of_two_above(fmax(bounds->intense, bounds->math));
}
