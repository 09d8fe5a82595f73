/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The times of Choi, Nikolskiy and Stegailov, "Tuning of a matrix-matrix multiplication algorithm
 * for several GPUs connected by fast communication links", for their algorithm (search/bands.c) on
 * square matrices that are on devices. Tessera finds its tiles by replaying plans; the model serves
 * comparisons (bench/tiles.py). The paper's rule for the extent of a tile is in plan/model/choi.h.
 */
#include <math.h>

#include "base/thread.h"
#include "front/ask/read.h"
#include "papers/check.h"
#include "plan/model/choi.h"
#include "plan/tuning.h"
#include "tessera_papers.h"

/* ---- The machine ---------------------------------------------------------- */

/* A question about a machine, and the figures that the model takes from the machine. */
typedef struct question {
  tsr_type type;
  int devices; /* 0: all */
  tsr_choi_figures figures;
  double latency; /* T_latency: s of the slowest link */
  double start;   /* T_instructions: s to submit and start a kernel */
} question;

static double slowest_latency(const tsr_machine *m, int devices) {
  double most = 0;
  for (int from = 0; from < devices; from++)
    for (int to = 0; to < devices; to++)
      if (from != to) most = fmax(most, m->link[from][to].latency);
  return most;
}

static bool differ(double a, double b) {
  return fabs(a - b) > TSR_TUNE_DIFFERENCE * fmax(a, b);
}

static tsr_status check_links(const tsr_machine *machine, const question *q, int from) {
  double least = q->figures.transfer;
  for (int to = 0; to < q->devices; to++) {
    double rate = from != to ? tsr_choi_transfer_rate(machine, from, to) : least;
    if (differ(rate, least))
      return tsr_fail(TSR_ERR_MACHINE,
                      "the model of Choi et al. takes links for equal; from device %d to %d "
                      "there are %.3g GB/s, and %.3g on another link: leave the model out",
                      from, to, 1e-9 * rate, 1e-9 * least);
  }
  return TSR_OK;
}

/* TSR_ERR_MACHINE if the devices differ in speed or in the links between them, which the model
 * takes for equal. */
static tsr_status check_likeness(const tsr_machine *machine, const question *q) {
  double speed = tsr_machine_speed(machine, 0, q->type);
  for (int from = 0; from < q->devices; from++) {
    double own = tsr_machine_speed(machine, from, q->type);
    if (differ(own, speed))
      return tsr_fail(TSR_ERR_MACHINE,
                      "the model of Choi et al. takes devices for equal; device %d computes %.3g "
                      "times as fast as device 0: leave the model out",
                      from, own / speed);
    TSR_TRY(check_links(machine, q, from));
  }
  return TSR_OK;
}

static tsr_status read_machine(const tsr_machine *machine, const size_t *budget, void *question_) {
  (void)budget;
  question *q = question_;
  TSR_TRY(tsr_papers_set_devices(machine, &q->devices));
  if (!tsr_choi_read(machine, q->type, q->devices, &q->figures))
    return tsr_fail(TSR_ERR_MACHINE,
                    "the machine \"%s\" does not say how fast kernels of type %c, the memory of "
                    "devices and the links between them are; measure it, or complete its file",
                    machine->name, (char)q->type);
  q->latency = slowest_latency(machine, q->devices);
  q->start = fmax(machine->submit_kernel, machine->device[0].kernel_latency);
  return check_likeness(machine, q);
}

/* ---- Times ---------------------------------------------------------------- */

/* All equations for products of n x n x n in tiles of extent `tile`. */
static tsr_choi_model model_of(const question *q, const tsr_choi_bounds *bounds, int64_t n,
                               int64_t tile) {
  const tsr_type_info *info = tsr_type_get(q->type);
  const tsr_choi_figures *f = &q->figures;
  double size = (double)info->size, flops = info->flop_factor, length = (double)n;
  double t = (double)tile, count = q->devices, bands = length / t;
  double work = flops * t * t * length, bytes = size * (2 * length * t + t * t);
  tsr_choi_model m = {.tile = tile,
                      .balance = f->math / f->memory,
                      .intensity = work / bytes,
                      .least_intense = bounds->intense,
                      .least_math = bounds->math,
                      .least_memory = bounds->memory,
                      .math = work / f->math,
                      .memory = bytes / f->memory,
                      .instructions = q->start,
                      .transfer = size * t * length / f->transfer + q->latency};
  bool intense = m.intensity > m.balance;
  m.gemm = fmax(fmax(m.memory, m.math), m.instructions);
  m.kernel = fmax(m.gemm, (count - 1) * m.transfer);
  m.task = 3 * m.transfer + bands / count * m.kernel;
  m.task_closed = 3 * size * length / f->transfer * t +
                  (intense ? bands / count * m.math : bands / count * m.memory);
  m.task_of_all = 3 * m.transfer + bands * bands / count * m.kernel;
  return m;
}

TSR_ENTRY(tsr_plan_choi, (context, type, n, tile, devices, model), tsr_context *context,
          tsr_type type, int64_t n, int64_t tile, int devices, tsr_choi_model *model) {
  question q = {.type = type, .devices = devices};
  TSR_TRY(tsr_papers_check_address("model", model));
  if (tsr_type_get(type) == NULL || n < 1 || tile < 0)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "type is %d, n is %lld and tile is %lld; give one of tsr_type, 1 or more, and "
                    "0 or more",
                    (int)type, (long long)n, (long long)tile);
  TSR_TRY(tsr_context_read(context, read_machine, &q));
  tsr_choi_bounds bounds = tsr_choi_limit(&q.figures, type, n, q.devices);
  *model = model_of(&q, &bounds, n, tile > 0 ? tile : tsr_choi_tile(&bounds, n));
  return TSR_OK;
}
