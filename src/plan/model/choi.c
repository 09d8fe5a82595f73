/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/model/choi.h"

#include <math.h>

#include "plan/tuning.h"

/* ---- Figures -------------------------------------------------------------- */

/* Bytes/s of the direct link, or of the slower link of the two by way of the host. */
static double transfer_rate(const tsr_machine *m, int from, int to) {
  double direct = m->link[from][to].bandwidth;
  int host = m->device[from].host_node;
  if (direct > 0) return direct;
  return fmin(m->link[from][host].bandwidth, m->link[host][to].bandwidth);
}

static double slowest_transfer(const tsr_machine *m, int devices) {
  double least = INFINITY;
  for (int from = 0; from < devices; from++)
    for (int to = 0; to < devices; to++)
      if (from != to) least = fmin(least, transfer_rate(m, from, to));
  return least;
}

static double slowest_latency(const tsr_machine *m, int devices) {
  double most = 0;
  for (int from = 0; from < devices; from++)
    for (int to = 0; to < devices; to++)
      if (from != to) most = fmax(most, m->link[from][to].latency);
  return most;
}

static tsr_choi_figures figures_of(const tsr_machine *machine, tsr_type type, int devices) {
  return (tsr_choi_figures){
      .math = tsr_machine_best_rate(machine, type),
      .memory = machine->device[0].memory_rate,
      .transfer = slowest_transfer(machine, devices),
      .latency = slowest_latency(machine, devices),
      .start = fmax(machine->submit_kernel, machine->device[0].kernel_latency)};
}

static bool are_known(const tsr_choi_figures *f) {
  return f->math > 0 && f->memory > 0 && f->transfer > 0;
}

bool tsr_choi_is_known(const tsr_machine *machine, tsr_type type, int devices) {
  tsr_choi_figures f = figures_of(machine, type, devices);
  return are_known(&f);
}

tsr_status tsr_choi_read(const tsr_machine *machine, tsr_type type, int devices,
                         tsr_choi_figures *figures) {
  if (devices < 1 || devices > machine->devices)
    return tsr_fail(TSR_ERR_ARGUMENT, "devices is %d; the machine \"%s\" has %d", devices,
                    machine->name, machine->devices);
  tsr_choi_figures read = figures_of(machine, type, devices);
  if (!are_known(&read))
    return tsr_fail(TSR_ERR_MACHINE,
                    "the machine \"%s\" does not say how fast kernels of type %c, the memory of "
                    "devices and the links between them are; measure it, or complete its file",
                    machine->name, (char)type);
  *figures = read;
  return TSR_OK;
}

static bool differ(double a, double b) {
  return fabs(a - b) > TSR_TUNE_DIFFERENCE * fmax(a, b);
}

tsr_status tsr_choi_check_likeness(const tsr_machine *machine, tsr_type type, int devices) {
  double least = slowest_transfer(machine, devices), speed = tsr_machine_speed(machine, 0, type);
  for (int from = 0; from < devices; from++) {
    double own = tsr_machine_speed(machine, from, type);
    if (differ(own, speed))
      return tsr_fail(TSR_ERR_MACHINE,
                      "the model of Choi et al. takes devices for equal; device %d computes %.3g "
                      "times as fast as device 0: leave the model out",
                      from, own / speed);
    for (int to = 0; to < devices; to++)
      if (from != to && differ(transfer_rate(machine, from, to), least))
        return tsr_fail(TSR_ERR_MACHINE,
                        "the model of Choi et al. takes links for equal; from device %d to %d "
                        "there are %.3g GB/s, and %.3g on another link: leave the model out",
                        from, to, 1e-9 * transfer_rate(machine, from, to), 1e-9 * least);
  }
  return TSR_OK;
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

/* ---- Times ---------------------------------------------------------------- */

tsr_choi_model tsr_choi_model_of(const tsr_choi_figures *f, tsr_type type, int64_t n, int64_t tile,
                                 int devices) {
  const tsr_type_info *info = tsr_type_get(type);
  tsr_choi_bounds bounds = tsr_choi_limit(f, type, n, devices);
  double size = (double)info->size, flops = info->flop_factor, length = (double)n;
  double t = (double)tile, count = devices, bands = length / t;
  double work = flops * t * t * length, bytes = size * (2 * length * t + t * t);
  tsr_choi_model m = {.tile = tile,
                      .balance = f->math / f->memory,
                      .intensity = work / bytes,
                      .least_intense = bounds.intense,
                      .least_math = bounds.math,
                      .least_memory = bounds.memory,
                      .math = work / f->math,
                      .memory = bytes / f->memory,
                      .instructions = f->start,
                      .transfer = size * t * length / f->transfer + f->latency};
  bool intense = m.intensity > m.balance;
  m.gemm = fmax(fmax(m.memory, m.math), m.instructions);
  m.kernel = fmax(m.gemm, (count - 1) * m.transfer);
  m.task = 3 * m.transfer + bands / count * m.kernel;
  m.task_closed = 3 * size * length / f->transfer * t +
                  (intense ? bands / count * m.math : bands / count * m.memory);
  m.task_of_all = 3 * m.transfer + bands * bands / count * m.kernel;
  return m;
}
