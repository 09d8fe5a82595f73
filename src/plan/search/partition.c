/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/search/partition.h"

#include <math.h>

#include "arithmetic/kernel.h"
#include "base/alloc.h"
#include "blas/build.h"
#include "blas/family.h"
#include "plan/search/c_block.h"
#include "plan/search/host.h"
#include "plan/tuning.h"

/* ---- Devices that differ -------------------------------------------------- */

size_t tsr_partition_most(const tsr_partition_question *q, const int *order, int devices) {
  size_t most = 0;
  for (int i = 0; i < devices; i++)
    if (q->budget[order[i]] > most) most = q->budget[order[i]];
  return most;
}

size_t tsr_partition_least(const tsr_partition_question *q, const int *order, int devices) {
  size_t least = SIZE_MAX;
  for (int i = 0; i < devices; i++)
    if (q->budget[order[i]] < least) least = q->budget[order[i]];
  return least;
}

bool tsr_partition_differs(const tsr_partition_question *q, const int *order, int devices) {
  double fastest = 0, slowest = INFINITY;
  for (int i = 0; i < devices; i++) {
    fastest = fmax(fastest, tsr_machine_speed(q->machine, order[i], q->call->type));
    slowest = fmin(slowest, tsr_machine_speed(q->machine, order[i], q->call->type));
  }
  double most = (double)tsr_partition_most(q, order, devices);
  double least = (double)tsr_partition_least(q, order, devices);
  return slowest < (1 - TSR_TUNE_DIFFERENCE) * fastest || least < (1 - TSR_TUNE_DIFFERENCE) * most;
}

/* ---- Each device's C block, and its speed with it ---- */

/* The partition that is being made. */
typedef struct partition {
  const tsr_partition_question *q;
  const tsr_strategy *strategy;
  tsr_tiling *t;
  int devices;
  int64_t rows, cols, depth; /* elements of the largest tiles */
  double slot;               /* bytes of a slot */
  double most;               /* slots of the device with the largest budget */
  double weight[TSR_MACHINE_DEVICES];
} partition;

static int64_t longest(const tsr_cuts *cuts) {
  int64_t most = 1;
  for (int i = 0; i < cuts->count; i++)
    if (tsr_cut_length(cuts, i) > most) most = tsr_cut_length(cuts, i);
  return most;
}

static size_t element_of(const partition *d) {
  const tsr_type_info *type = tsr_type_get(d->q->call->type);
  return tsr_type_get(d->strategy->lazy ? type->wide : d->q->call->type)->size;
}

static void measure_tiles(partition *d) {
  d->rows = longest(&d->t->m);
  d->cols = longest(&d->t->n);
  d->depth = longest(&d->t->k);
  double area = fmax((double)d->rows * (double)d->cols,
                     (double)d->depth * (double)(d->rows > d->cols ? d->rows : d->cols));
  d->slot = ceil(area * (double)element_of(d) / TSR_TILE_ALIGN) * TSR_TILE_ALIGN;
}

static double slots_of(const partition *d, int g) {
  return floor((double)d->q->budget[d->t->device[g]] / d->slot);
}

static bool has_slots(const partition *d, double slots, double b, double c) {
  double depth = d->strategy->depth > 0 ? d->strategy->depth : 1,
         lookahead = (double)d->strategy->lookahead / 100;
  return tsr_c_block_slots(b, c, depth, lookahead) <= slots;
}

/* The strategy's C block, scaled to the device's budget. */
static tsr_pass c_block_of(const partition *d, int g) {
  double slots = slots_of(d, g), scale = sqrt(slots / d->most);
  tsr_pass p = {(int)fmax(1, floor(scale * d->strategy->c_block_rows + 0.5)),
                (int)fmax(1, floor(scale * d->strategy->c_block_cols + 0.5))};
  while (p.rows * p.cols > 1 && !has_slots(d, slots, p.rows, p.cols))
    *(p.rows > p.cols ? &p.rows : &p.cols) -= 1;
  return p;
}

/* Bytes/s into a device from the location with the fastest link. */
static double rate_into(const partition *d, int device) {
  const tsr_machine *m = d->q->machine;
  tsr_segments segments = {(double)d->rows * (double)element_of(d),
                           tsr_search_pitch(m, d->q->call)},
               slot = {d->slot, 0};
  double rate = tsr_link_rate(&m->link[tsr_search_host(m, d->q->call)][device], segments);
  for (int g = 0; g < d->devices; g++) {
    int from = d->t->device[g];
    if (from != device && m->link[from][device].bandwidth > 0)
      rate = fmax(rate, tsr_link_rate(&m->link[from][device], slot));
  }
  return rate > 0 ? rate : 1;
}

/* Time of a kernel, or of the copies for it if these take longer, s. */
static double time_of(const partition *d, int g) {
  const tsr_machine *m = d->q->machine;
  int device = d->t->device[g];
  tsr_pass block = d->t->passes[g];
  double kernel = tsr_machine_kernel_time(m, device, TSR_KERNEL_GEMM, d->q->call->type, d->rows,
                                          d->cols, d->depth, false, true, d->q->heat);
  double bytes = (double)d->depth * (double)element_of(d) *
                 ((double)d->rows / block.cols + (double)d->cols / block.rows);
  return fmax(kernel, bytes / rate_into(d, device));
}

static bool has_weights(const partition *d) {
  for (int g = 0; g < d->devices; g++)
    if (d->strategy->weight[g] > 0) return true;
  return false;
}

static void weigh(partition *d) {
  bool given = has_weights(d);
  for (int g = 0; g < d->devices; g++) d->most = fmax(d->most, slots_of(d, g));
  for (int g = 0; g < d->devices; g++) {
    d->t->passes[g] = c_block_of(d, g);
    double weight = given ? (double)d->strategy->weight[g] : 1 / time_of(d, g);
    d->weight[g] = slots_of(d, g) >= 3 ? weight : 0; /* a kernel has three operands */
  }
}

/* ---- Who owns which tiles ---- */

/* Tiles of C in column j of tiles: those of the triangle in a rank-k update, else all. */
static double length_of_column(const partition *d, int j) {
  const tsr_tiling *t = d->t;
  if (tsr_family_of(d->q->call->operation) != TSR_RANK) return t->m.count;
  return d->q->call->uplo == TSR_LOWER ? t->m.count - j : j + 1;
}

/* Gives each part to the place that would be the first to finish it, the longest part first. If
 * places are equal but for rounding (1e-9), the first one gets it. */
static void share_out(int parts, int places, const double *weight, const double *length,
                      bool backwards, int *place_of) {
  double load[TSR_MACHINE_DEVICES] = {0};
  for (int n = 0; n < parts; n++) {
    int i = backwards ? parts - 1 - n : n, best = -1;
    double least = INFINITY;
    for (int p = 0; p < places; p++) {
      double busy = weight[p] > 0 ? (load[p] + length[i]) / weight[p] : INFINITY;
      if (best >= 0 && busy >= least * (1 - 1e-9)) continue;
      best = p;
      least = busy;
    }
    place_of[i] = best;
    load[best] += length[i];
  }
}

static bool partition_rows(partition *d) {
  const tsr_tiling *t = d->t;
  double weight[TSR_MACHINE_DEVICES] = {0};
  double *length = tsr_alloc(sizeof *length * ((size_t)t->m.count + 1));
  if (length == NULL) return false;
  for (int g = 0; g < d->devices; g++) weight[g / t->grid_cols] += d->weight[g];
  for (int i = 0; i < t->m.count; i++) length[i] = 1;
  share_out(t->m.count, t->grid_rows, weight, length, false, t->down);
  tsr_dealloc(length);
  return true;
}

static bool partition_cols(partition *d) {
  const tsr_tiling *t = d->t;
  double weight[TSR_MACHINE_DEVICES] = {0};
  double *length = tsr_alloc(sizeof *length * ((size_t)t->n.count + 1));
  if (length == NULL) return false;
  for (int g = 0; g < d->devices; g++) weight[g % t->grid_cols] += d->weight[g];
  for (int j = 0; j < t->n.count; j++) length[j] = length_of_column(d, j);
  bool grows = t->n.count > 1 && length[0] < length[t->n.count - 1];
  share_out(t->n.count, t->grid_cols, weight, length, grows, t->across);
  tsr_dealloc(length);
  return true;
}

static bool allocate(tsr_tiling *t, int devices) {
  t->down = tsr_alloc(sizeof *t->down * ((size_t)t->m.count + 1));
  t->across = tsr_alloc(sizeof *t->across * ((size_t)t->n.count + 1));
  t->passes = tsr_alloc(sizeof *t->passes * (size_t)devices);
  return t->down != NULL && t->across != NULL && t->passes != NULL;
}

tsr_status tsr_partition_set(const tsr_partition_question *q, const tsr_strategy *strategy,
                             tsr_tiling *t) {
  partition d = {.q = q, .strategy = strategy, .t = t, .devices = t->grid_rows * t->grid_cols};
  bool done = allocate(t, d.devices);
  t->alternates = false;
  if (done) {
    measure_tiles(&d);
    weigh(&d);
    done = partition_rows(&d) && partition_cols(&d);
  }
  return done ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
}
