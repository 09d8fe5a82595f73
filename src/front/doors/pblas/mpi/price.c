/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "front/doors/pblas/mpi/price.h"

#include <math.h>
#include <string.h>

#include "base/types.h"
#include "front/tuning.h"

/* Computes the size below which calls are not priced. It is kept, since most calls of most programs
 * are small. */
static void set_least(tsr_pblas_price *price, tsr_type type) {
  bool forced = price->facts.reluctance == 0;
  double flops = forced ? 0 : tsr_offload_cpu_flops(&price->seen, type, TSR_TUNE_DOOR_LEAST);
  price->least[tsr_type_index(type)] = flops;
}

void tsr_pblas_price_init(tsr_pblas_price *price, const tsr_offload_facts *facts) {
  memset(price, 0, sizeof *price);
  price->facts = *facts;
  price->network = price->across = facts->wire > 0 ? 1 / facts->wire : TSR_TUNE_PBLAS_NETWORK;
  price->seen.latency = facts->cpu_latency;
  for (int i = 0; i < TSR_TYPE_COUNT; i++) price->seen.figure[i] = facts->cpu_flops[i];
  for (int i = 0; i < TSR_TYPE_COUNT; i++) set_least(price, tsr_type_at(i)->type);
}

void tsr_pblas_price_set_across(tsr_pblas_price *price, double across) {
  price->across = across;
}

/* ---- The share of a process ---------------------------------------------------- */

/* The largest number of indices that one of `count` processes has. */
static double most(int64_t extent, int64_t block, int count) {
  int64_t blocks = (extent + block - 1) / block, turns = (blocks + count - 1) / count;
  return fmin((double)turns * (double)block, (double)extent);
}

/* The work of the process with the most. */
typedef struct share {
  double flops;
  double panels; /* bytes of A and B that are sent to it */
  double c;      /* bytes of its C */
  double moved;  /* bytes that are redistributed before the product */
} share;

/* Whether an operand is redistributed: it is transposed, or its blocks are not aligned with C's. */
static bool moves(tsr_op op, int64_t block, int source, int64_t block_of_c, int source_of_c) {
  return op != TSR_NO_TRANS || block != block_of_c || source != source_of_c;
}

static share share_of(const tsr_pblas_call *x) {
  const tsr_type_info *type = tsr_type_get(x->type);
  double size = (double)type->size, k = (double)x->k, moved = 0;
  double m = most(x->m, x->c.mb, x->grid.rows), n = most(x->n, x->c.nb, x->grid.cols);
  int processes = x->grid.rows * x->grid.cols;
  if (moves(x->transa, x->a.mb, x->a.row_source, x->c.mb, x->c.row_source)) moved += (double)x->m;
  if (moves(x->transb, x->b.nb, x->b.col_source, x->c.nb, x->c.col_source)) moved += (double)x->n;
  return (share){.flops = type->flop_factor * m * n * k,
                 .panels = processes > 1 ? (m + n) * k * size : 0,
                 .c = m * n * size,
                 .moved = processes > 1 ? moved * k * size / processes : 0};
}

double tsr_pblas_flops(const tsr_pblas_call *call) {
  return share_of(call).flops;
}

/* ---- ScaLAPACK ----------------------------------------------------------------- */

/* Rates that calls have shown include ScaLAPACK's messages; to the CPU's own rate the time of the
 * messages is added. */
double tsr_pblas_cpu_seconds(const tsr_pblas_price *price, const tsr_pblas_call *call) {
  share of = share_of(call);
  double figure = price->seen.figure[tsr_type_index(call->type)];
  double rate = tsr_offload_cpu_rate(&price->seen, call->type, of.flops);
  double computing = price->seen.latency + of.flops / rate;
  return rate == figure ? computing + of.panels / price->network : computing;
}

/* TESSERA_MIN_SIZE is compared with the extents of the whole product, not with a process's
 * share. */
bool tsr_pblas_is_small(const tsr_pblas_price *price, const tsr_pblas_call *call) {
  double least = price->facts.min_size;
  double multiplications = (double)call->m * (double)call->n * (double)call->k;
  if (least >= 0) return multiplications < least * least * least;
  return tsr_pblas_flops(call) < price->least[tsr_type_index(call->type)];
}

bool tsr_pblas_wants_time(const tsr_pblas_price *price, tsr_type type, double flops) {
  return tsr_offload_price_calls(&price->seen, type, flops) < TSR_TUNE_DOOR_BELIEVE;
}

void tsr_pblas_show(tsr_pblas_price *price, tsr_type type, double flops, double seconds) {
  if (tsr_offload_price_show(&price->seen, type, flops, seconds)) set_least(price, type);
}

/* ---- Devices ------------------------------------------------------------------- */

double tsr_pblas_device_seconds(const tsr_pblas_price *price, const tsr_pblas_call *call) {
  const tsr_offload_facts *facts = &price->facts;
  share of = share_of(call);
  double computing = of.flops * facts->device_flop[tsr_type_index(call->type)];
  double links = fmax((of.panels + of.c) * facts->in, of.c * facts->out);
  double devices =
      fmax(fmax(computing, links), 2 * of.c * facts->staging) / TSR_TUNE_DOOR_OF_THE_FLOOR;
  return TSR_TUNE_PBLAS_FIXED_COST + of.panels / price->across + of.moved / price->network +
         devices;
}

bool tsr_pblas_is_cheaper(tsr_pblas_price *price, tsr_type type, double flops, double devices,
                          double cpu) {
  if (devices >= cpu) return false;
  if (devices + tsr_offload_lateness(&price->seen, type, flops) < cpu) return true;
  tsr_offload_price_spared(&price->seen, type, flops);
  return false;
}
