#include "plan/search/c_block.h"

#include <math.h>

#include "blas/family.h"
#include "plan/tuning.h"

/* What is to be done, seen as the sum over depth of products that fill rows x cols. */
typedef struct work {
  int64_t rows, cols, depth;
  double part;          /* of all products of tiles that there are: of a triangle half */
  double left, right;   /* operands that are read for rows (A), and for columns (B) */
  double carried, born; /* times that C is read, and written */
  int grid_rows, grid_cols;
} work;

/* One way to do it, in tiles. */
typedef struct way {
  const tsr_c_block_question *q;
  work w;
  int64_t rows, cols, depth; /* elements of a tile */
  int m, n, k;               /* tiles of all; m and n: at one device */
  int b, c, d;
  double l;
  size_t element;
  double kernel, in, out, both; /* seconds: of a kernel; of a byte for every device, from the host,
                                   to it, and one each way */
} way;

static int parts(int64_t extent, int64_t size) {
  return extent == 0 ? 0 : (int)((extent + size - 1) / size);
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

/* ---- Families ------------------------------------------------------------- */

/* Devices share C in a grid, or, beside a triangle, its lines. */
static work work_of(const tsr_c_block_question *q, int grid_rows) {
  const tsr_call *call = q->call;
  work w = {call->m,
            call->n,
            call->k,
            1,
            1,
            1,
            call->beta != TSR_ZERO,
            1,
            grid_rows,
            q->devices / grid_rows};
  bool two = call->operation == TSR_SYR2K || call->operation == TSR_HER2K;
  switch (tsr_family_of(call->operation)) {
    case TSR_RANK:
      w.part = 0.5;
      w.left = w.right = two ? 2 : 1;
      break;
    case TSR_TRIANGLE:
      w.grid_rows = call->side == TSR_LEFT ? 1 : q->devices;
      w.grid_cols = q->devices / w.grid_rows;
      w.part = tsr_is_in_place(call->operation) ? 0.5 : 1;
      break;
    default:
      break;
  }
  return w;
}

/* ---- What it would take --------------------------------------------------- */

/* Bytes that every device takes from the host and brings there, a device. */
typedef struct flow {
  double in, out;
} flow;

/* Seconds of a channel for such a flow. */
static double channel_time(const tsr_c_block_question *q, const tsr_channel *channel, flow f) {
  double load = 0;
  int host = q->machine->devices;
  for (int u = 0; u < channel->count; u++)
    for (int i = 0; i < q->devices; i++) {
      const tsr_channel_use *use = &channel->uses[u];
      if (use->from == host && use->to == q->order[i]) load += use->weight * f.in;
      if (use->to == host && use->from == q->order[i]) load += use->weight * f.out;
    }
  return load / channel->capacity;
}

/* Memory that is not pinned goes by way of the staging threads. */
static double staging_time(const tsr_c_block_question *q, flow f) {
  bool staged = false;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const tsr_operand *o = &q->call->operand[x];
    staged |= o->rows > 0 && (o->memory == TSR_PAGEABLE || o->memory == TSR_MANAGED);
  }
  double rate = q->machine->staging_rate;
  return staged && rate > 0 ? (f.in + f.out) * q->devices / rate : 0;
}

/* Seconds for it, by links and by channels, with runs of contiguous bytes of that length. */
static double flow_time(const tsr_c_block_question *q, flow f, double segment) {
  int host = q->machine->devices;
  double most = staging_time(q, f);
  for (int i = 0; i < q->devices; i++) {
    int d = q->order[i];
    double in = tsr_link_rate(&q->machine->link[host][d], segment);
    double out = tsr_link_rate(&q->machine->link[d][host], segment);
    if (in > 0) most = larger(most, f.in / in);
    if (out > 0) most = larger(most, f.out / out);
  }
  for (int c = 0; c < q->machine->channels; c++)
    most = larger(most, channel_time(q, &q->machine->channel[c], f));
  return most;
}

/* What several devices read leaves the host once if they reach each other. */
static bool reach_each_other(const tsr_c_block_question *q) {
  for (int i = 0; i < q->devices; i++)
    for (int j = 0; j < q->devices; j++)
      if (i != j && q->machine->link[q->order[i]][q->order[j]].bandwidth <= 0) return false;
  return true;
}

static bool on_host(const way *y, int matrix) {
  return !tsr_is_device(y->q->machine, y->q->call->operand[matrix].location);
}

/* The operand that is read for columns of C. */
static int right_of(const tsr_call *call) {
  if (tsr_is_in_place(call->operation)) return TSR_C_;
  return call->operation == TSR_SYRK || call->operation == TSR_HERK ? TSR_A : TSR_B_;
}

/* Bytes of A and B for a chunk of all devices' holds, a device. */
static double chunk_bytes(const way *y) {
  bool shared = reach_each_other(y->q);
  double size = (double)y->element * (double)y->depth * y->d;
  double a = on_host(y, TSR_A) ? y->w.left * y->b * (double)y->rows * size : 0;
  double b = on_host(y, right_of(y->q->call)) ? y->w.right * y->c * (double)y->cols * size : 0;
  return shared ? a / y->w.grid_cols + b / y->w.grid_rows : a + b;
}

static double kernel_time(const way *y) {
  double most = 0;
  for (int i = 0; i < y->q->devices; i++)
    most = larger(most, tsr_machine_kernel_time(y->q->machine, y->q->order[i], TSR_KERNEL_GEMM,
                                                y->q->call->type, y->rows, y->cols, y->depth, false,
                                                true, y->q->heat));
  return larger(most, y->q->machine->submit_kernel) * larger(y->w.left, y->w.right);
}

/* What does not depend on the hold's shape. */
static void set_rates(way *y) {
  double segment = (double)y->rows * (double)y->element;
  y->kernel = kernel_time(y);
  y->in = flow_time(y->q, (flow){1, 0}, segment);
  y->out = flow_time(y->q, (flow){0, 1}, segment);
  y->both = flow_time(y->q, (flow){1, 1}, segment);
}

/* In both directions at once. */
static double exchange_time(const way *y, double in, double out) {
  double common = in < out ? in : out;
  return common * y->both + (in - common) * y->in + (out - common) * y->out;
}

/* Holds one after another, of chunks each; a chunk takes as long as its kernels or its copies. What
 * a hold's C takes beyond what is left of the links in two chunks stops all of it; at both ends, in
 * one; and about four tiles come before kernels flow. */
static double time_of(const way *y) {
  double down = parts(y->m, y->b), across = parts(y->n, y->c);
  double used = (double)y->m * y->n / (down * y->b * across * y->c);
  double chunks = parts(y->k, y->d), kernels = y->kernel * y->b * y->c * y->d;
  double copies = chunk_bytes(y) * y->in;
  double tile = (double)y->rows * (double)y->cols * (double)y->element;
  double c = on_host(y, TSR_C_) ? y->b * y->c * tile : 0;
  double change = exchange_time(y, c * y->w.carried, c * y->w.born);
  double stop = larger(0, change - 2 * larger(0, kernels - copies));
  double ends = larger(0, c * y->w.carried * y->in - larger(0, kernels - copies)) +
                larger(0, c * y->w.born * y->out - kernels) + 4 * tile * y->in;
  double holds = down * across * y->w.part;
  double busy = holds * used * chunks * larger(kernels, copies);
  double tasks = holds * used * chunks * y->b * y->c * y->d; /* of a device */
  return busy + (holds - 1) * stop + ends + TSR_TUNE_TIGHT_TASK * tasks;
}

/* ---- Ways ----------------------------------------------------------------- */

static int64_t even(int64_t extent, int64_t tile, int devices) {
  int64_t count = parts(extent, tile);
  if (count > devices) count = (count + devices - 1) / devices * devices;
  return count == 0 ? 1 : (extent + count - 1) / count;
}

static size_t least_budget(const tsr_c_block_question *q) {
  size_t least = SIZE_MAX;
  for (int i = 0; i < q->devices; i++)
    if (q->budget[q->order[i]] < least) least = q->budget[q->order[i]];
  return least;
}

/* Slots of a device: all are of the size of the largest tile. */
static double slots_of(const way *y) {
  int64_t most = y->rows * y->cols;
  if (most < y->rows * y->depth) most = y->rows * y->depth;
  if (most < y->depth * y->cols) most = y->depth * y->cols;
  double bytes = ceil((double)most * (double)y->element / TSR_TILE_ALIGN) * TSR_TILE_ALIGN;
  return floor((double)least_budget(y->q) / bytes);
}

/* Tiles of C in a row of those that have slots: tsr_c_block_slots, solved for c. */
static int widest(const way *y, double slots) {
  double c = floor((slots - (1 + y->l) * y->b * y->d - y->d) / (y->b + y->l * y->d));
  return c > y->n ? y->n : (int)c;
}

static int widest_of_all(way *y) {
  y->b = 1;
  return widest(y, slots_of(y));
}

static tsr_strategy strategy_of(const way *y, double tile) {
  tsr_strategy r = y->q->base;
  r.tile = (int64_t)tile;
  r.even = y->q->tile == 0;
  r.grid_rows = y->w.grid_rows;
  r.grid_cols = y->w.grid_cols;
  r.c_block_rows = y->b;
  r.c_block_cols = y->c;
  r.depth = y->d;
  r.lookahead = (int64_t)(100 * y->l);
  return r;
}

/* Keeps the best ones, best first. */
static int keep(tsr_c_block one, int most, int count, tsr_c_block *found) {
  int at = count < most ? count : most;
  while (at > 0 && found[at - 1].seconds > one.seconds) at--;
  if (at == most) return count;
  if (count < most) count++;
  for (int i = count - 1; i > at; i--) found[i] = found[i - 1];
  found[at] = one;
  return count;
}

/* Of all shapes of the hold the best: b and c; its seconds, INFINITY when none fits. */
static double find_shape(way *y) {
  double slots = slots_of(y), best = INFINITY;
  int b = 0, c = 0;
  for (y->b = 1; y->b <= y->m; y->b++) {
    y->c = widest(y, slots);
    if (y->c < 1) break;
    double seconds = time_of(y);
    if (seconds >= best) continue;
    best = seconds;
    b = y->b;
    c = y->c;
  }
  y->b = b;
  y->c = c;
  return best;
}

/* Copies go ahead where there is room for it. */
static void set_ahead(way *y) {
  y->l = TSR_TUNE_TIGHT_LOOKAHEAD;
  if (y->d == 1 && widest_of_all(y) < 1) y->l = 0;
}

static void set_tiles(way *y, double tile) {
  int64_t size = (int64_t)tile;
  bool as_is = y->q->tile > 0;
  y->rows = as_is ? size : even(y->w.rows, size, y->w.grid_rows);
  y->cols = as_is ? size : even(y->w.cols, size, y->w.grid_cols);
  y->depth = as_is ? size : even(y->w.depth, size, 1);
  y->m = parts(parts(y->w.rows, y->rows), y->w.grid_rows);
  y->n = parts(parts(y->w.cols, y->cols), y->w.grid_cols);
  y->k = parts(y->w.depth, y->depth);
}

/* ---- Devices that differ -------------------------------------------------- */

/* What one device would take for all of it, with tiles of that size and its own budget. */
static double time_alone(const way *y, int device, tsr_strategy *strategy) {
  tsr_c_block_question one = *y->q;
  way x = *y;
  one.order = &device;
  one.devices = 1;
  x.q = &one;
  x.w.grid_rows = x.w.grid_cols = 1;
  x.m = parts(y->w.rows, y->rows);
  x.n = parts(y->w.cols, y->cols);
  set_rates(&x);
  set_ahead(&x);
  double seconds = find_shape(&x);
  *strategy = strategy_of(&x, 0);
  return seconds;
}

/* All of them together, each doing what it can; the hold is the one of the largest. */
static tsr_c_block deal(const way *y, double tile) {
  tsr_c_block all = {.seconds = 0};
  size_t most = 0;
  double rate = 0;
  for (int i = 0; i < y->q->devices; i++) {
    int device = y->q->order[i];
    tsr_strategy one;
    rate += 1 / time_alone(y, device, &one);
    if (y->q->budget[device] <= most) continue;
    most = y->q->budget[device];
    all.strategy = one;
  }
  all.strategy.tile = (int64_t)tile;
  all.strategy.grid_rows = y->w.grid_rows;
  all.strategy.grid_cols = y->w.grid_cols;
  all.seconds = rate > 0 ? 1 / rate : INFINITY;
  return all;
}

/* ---- Tiles ---------------------------------------------------------------- */

/* One of each depth, so that what is kept differs in more than the hold's shape. */
static int try_tile(way *y, double tile, int most, int count, tsr_c_block *found) {
  set_tiles(y, tile);
  if ((double)y->m * y->n * y->k * y->q->devices > TSR_TUNE_TIGHT_KERNELS) return count;
  if (!y->q->base.partition) set_rates(y);
  for (y->d = 1; y->d <= TSR_TUNE_TIGHT_DEPTH; y->d++) {
    tsr_c_block one;
    if (y->q->base.partition) {
      one = deal(y, tile);
    } else {
      set_ahead(y);
      one.seconds = find_shape(y);
      one.strategy = strategy_of(y, tile);
    }
    if (isfinite(one.seconds)) count = keep(one, most, count, found);
  }
  return count;
}

int tsr_c_block_guess(const tsr_c_block_question *q, int grid_rows, int most, tsr_c_block *found) {
  tsr_type type = q->base.lazy ? tsr_type_get(q->call->type)->wide : q->call->type;
  way y = {.q = q, .w = work_of(q, grid_rows), .element = tsr_type_get(type)->size};
  int count = 0;
  if (y.w.grid_rows != grid_rows) return 0; /* beside a triangle there is one grid */
  if (q->tile > 0) return try_tile(&y, (double)q->tile, most, 0, found);
  for (double t = TSR_TUNE_TILE_MOST; t >= TSR_TUNE_TILE_LEAST; t *= TSR_TUNE_TILE_STEP)
    count = try_tile(&y, t, most, count, found);
  return count;
}
