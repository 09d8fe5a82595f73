#include "front/doors/pblas/mpi/price.h"

#include <math.h>

#include "base/types.h"

/* What ScaLAPACK does in less time on a process is not looked at. */
static const double least_seconds = 50e-6;

/* Shorter calls, and fewer, show too little. */
static const double long_enough = 1e-3;
enum { CALLS_TO_BELIEVE = 3 };

/* Of a product on devices: agreements and planning, s; how near plans come to what devices reach.
 */
static const double fixed_cost = 500e-6, of_the_floor = 0.8;

/* Bytes/s that a process gets through MPI. Nothing is measured unasked: this is what one process of
 * several on a node gets of a fast network, or by way of shared memory. */
static const double wire = 4e9;

static const tsr_pblas_shown *shown_of(const tsr_pblas_price *price, tsr_type type) {
  return &price->shown[tsr_type_index(type)];
}

/* ---- The share of a process ---- */

/* The most indices that one of `count` processes has. */
static double most(int64_t extent, int64_t block, int count) {
  int64_t blocks = (extent + block - 1) / block, turns = (blocks + count - 1) / count;
  double all = (double)turns * (double)block;
  return fmin(all, (double)extent);
}

typedef struct share {
  double flops, panels, c, moved; /* flops; bytes of A and B sent to it, of its C, redistributed */
} share;

static bool moves(tsr_op op, int64_t block, int source, int64_t block_of_c, int source_of_c) {
  return op != TSR_NO_TRANS || block != block_of_c || source != source_of_c;
}

static share share_of(const tsr_pblas_call *x) {
  const tsr_type_info *type = tsr_type_get(x->type);
  double size = (double)type->size, processes = (double)x->grid.rows * x->grid.cols;
  double m = most(x->m, x->c.mb, x->grid.rows), n = most(x->n, x->c.nb, x->grid.cols);
  double k = (double)x->k, moved = 0;
  if (moves(x->transa, x->a.mb, x->a.row_source, x->c.mb, x->c.row_source)) moved += (double)x->m;
  if (moves(x->transb, x->b.nb, x->b.col_source, x->c.nb, x->c.col_source)) moved += (double)x->n;
  return (share){.flops = type->flop_factor * m * n * k,
                 .panels = x->grid.rows * x->grid.cols > 1 ? (m + n) * k * size : 0,
                 .c = m * n * size,
                 .moved = moved * k * size / processes};
}

double tsr_pblas_multiplications(const tsr_pblas_call *call) {
  return (double)call->m * (double)call->n * (double)call->k;
}

/* ---- ScaLAPACK ---- */

static bool is_believed(int calls) {
  return calls >= CALLS_TO_BELIEVE;
}

static double cpu_rate(const tsr_pblas_price *price, tsr_type type) {
  const tsr_pblas_shown *shown = shown_of(price, type);
  double figure = price->facts.cpu_flops[tsr_type_index(type)];
  return is_believed(shown->calls) ? shown->rate : fmax(shown->rate, figure);
}

/* What calls have shown has the messages in it. */
double tsr_pblas_cpu_seconds(const tsr_pblas_price *price, const tsr_pblas_call *call) {
  share of = share_of(call);
  double computing = of.flops / cpu_rate(price, call->type) + price->facts.cpu_latency;
  bool believed = is_believed(shown_of(price, call->type)->calls);
  return believed ? computing : computing + of.panels / wire;
}

bool tsr_pblas_is_small(const tsr_pblas_price *price, const tsr_pblas_call *call) {
  double least = price->facts.min_size;
  if (least >= 0) return tsr_pblas_multiplications(call) < least * least * least;
  if (price->facts.reluctance == 0) return false;
  return share_of(call).flops < least_seconds * cpu_rate(price, call->type);
}

/* ---- Devices ---- */

double tsr_pblas_device_seconds(const tsr_pblas_price *price, const tsr_pblas_call *call) {
  const tsr_offload_facts *facts = &price->facts;
  const tsr_pblas_shown *shown = shown_of(price, call->type);
  share of = share_of(call);
  double computing = of.flops * facts->device_flop[tsr_type_index(call->type)];
  double links = fmax((of.panels + of.c) * facts->in, of.c * facts->out);
  double devices = fmax(fmax(computing, links), 2 * of.c * facts->staging) / of_the_floor;
  double seconds = fixed_cost + (of.panels + of.moved) / wire + devices;
  return is_believed(shown->products) ? seconds * shown->slower : seconds;
}

/* ---- What calls show ---- */

bool tsr_pblas_wants_time(const tsr_pblas_price *price, const tsr_pblas_call *call, double cpu,
                          bool on_devices) {
  const tsr_pblas_shown *shown = shown_of(price, call->type);
  return cpu >= long_enough && !is_believed(on_devices ? shown->products : shown->calls);
}

void tsr_pblas_show_cpu(tsr_pblas_price *price, const tsr_pblas_call *call, double seconds) {
  tsr_pblas_shown *shown = &price->shown[tsr_type_index(call->type)];
  shown->rate = fmax(shown->rate, share_of(call).flops / fmax(seconds, 1e-9));
  shown->calls++;
}

/* The first ones are planned and warm devices up: the best counts. */
void tsr_pblas_show_devices(tsr_pblas_price *price, const tsr_pblas_call *call, double predicted,
                            double seconds) {
  tsr_pblas_shown *shown = &price->shown[tsr_type_index(call->type)];
  double times = fmax(seconds / predicted, 1);
  shown->slower = shown->products == 0 ? times : fmin(shown->slower, times);
  shown->products++;
}
