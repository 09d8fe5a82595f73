/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/search/c_block.h"

#include <math.h>

#include "blas/family.h"
#include "plan/search/host.h"
#include "plan/tuning.h"

/* The call as a sum over `depth` of products of rows x depth by depth x cols. */
typedef struct work {
  int64_t rows, cols, depth;
  double part;        /* the part of the products of tiles that must be computed; triangle: half */
  double left, right; /* how many operands are read for rows of C (A), and for columns of C (B) */
  double c_reads, c_writes; /* how often C is read, and written */
  int grid_rows, grid_cols;
} work;

/* One choice of tiles and of a C block, for one grid. */
typedef struct choice {
  const tsr_c_block_question *q;
  work w;
  int64_t rows, cols, depth; /* elements of a tile */
  int m, n, k;               /* tiles in each direction; m and n: of one device */
  int b, c, d;
  double l;
  size_t element;
  double kernel, residues, in, out,
      both; /* s: time of one kernel, of making a tile's residues; and for one byte to every device:
     from the host, to the host, and one each way at once */
} choice;

static int parts(int64_t extent, int64_t size) {
  return extent == 0 ? 0 : (int)((extent + size - 1) / size);
}

/* ---- Families ------------------------------------------------------------- */

/* The devices divide C as a grid; in an operation with a triangle beside C they divide the lines of
 * C across the triangle. */
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

/* ---- The formula ---- */

/* Bytes that every device copies from the host, and to the host. */
typedef struct flow {
  double in, out;
} flow;

/* Time that a channel needs for the flows of all devices, s. */
static double channel_time(const tsr_c_block_question *q, const tsr_channel *channel, flow f) {
  double load = 0;
  int host = tsr_search_host(q->machine, q->call);
  for (int u = 0; u < channel->count; u++)
    for (int i = 0; i < q->devices; i++) {
      const tsr_channel_use *use = &channel->uses[u];
      if (use->from == host && use->to == q->order[i]) load += use->weight * f.in;
      if (use->to == host && use->from == q->order[i]) load += use->weight * f.out;
    }
  return load / channel->capacity;
}

/* Time of the staging threads, s: memory that is not pinned passes through their ring. */
static double staging_time(const tsr_c_block_question *q, flow f) {
  bool staged = false;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const tsr_operand *o = &q->call->operand[x];
    staged |= o->rows > 0 && (o->memory == TSR_PAGEABLE || o->memory == TSR_MANAGED);
  }
  double rate = q->machine->staging_rate;
  return staged && rate > 0 ? (f.in + f.out) * q->devices / rate : 0;
}

/* Predicted time [s] = max over links, channels and staging threads of bytes / bandwidth. */
static double flow_time(const tsr_c_block_question *q, flow f, tsr_segments segments) {
  int host = tsr_search_host(q->machine, q->call);
  double most = staging_time(q, f);
  for (int i = 0; i < q->devices; i++) {
    int d = q->order[i];
    double in = tsr_link_rate(&q->machine->link[host][d], segments);
    double out = tsr_link_rate(&q->machine->link[d][host], segments);
    if (in > 0) most = fmax(most, f.in / in);
    if (out > 0) most = fmax(most, f.out / out);
  }
  for (int c = 0; c < q->machine->channels; c++)
    most = fmax(most, channel_time(q, &q->machine->channel[c], f));
  return most;
}

/* Whether all of the devices have links to each other. If so, a tile that several of them read
 * leaves the host once. */
static bool reach_each_other(const tsr_c_block_question *q) {
  for (int i = 0; i < q->devices; i++)
    for (int j = 0; j < q->devices; j++)
      if (i != j && q->machine->link[q->order[i]][q->order[j]].bandwidth <= 0) return false;
  return true;
}

static bool on_host(const choice *y, int matrix) {
  return !tsr_is_device(y->q->machine, y->q->call->operand[matrix].location);
}

/* The operand that is read for the columns of C. */
static int right_of(const tsr_call *call) {
  if (tsr_is_in_place(call->operation)) return TSR_C_;
  return call->operation == TSR_SYRK || call->operation == TSR_HERK ? TSR_A : TSR_B_;
}

/* Bytes of A and B that each device receives for one k-panel of its C block. */
static double k_panel_bytes(const choice *y) {
  bool shared = reach_each_other(y->q);
  double size = (double)y->element * (double)y->depth * y->d;
  double a = on_host(y, TSR_A) ? y->w.left * y->b * (double)y->rows * size : 0;
  double b = on_host(y, right_of(y->q->call)) ? y->w.right * y->c * (double)y->cols * size : 0;
  return shared ? a / y->w.grid_cols + b / y->w.grid_rows : a + b;
}

/* The product of two tiles on a device. */
static double product_time(const choice *y, int device) {
  const tsr_call *call = y->q->call;
  if (call->moduli > 0)
    return tsr_machine_residue_gemm_time(y->q->machine, device, call->type, call->moduli, y->rows,
                                         y->cols, y->depth, true, y->q->heat);
  return tsr_machine_kernel_time(y->q->machine, device, TSR_KERNEL_GEMM, call->type, y->rows,
                                 y->cols, y->depth, false, true, y->q->heat);
}

static double residues_time(const choice *y) {
  const tsr_call *call = y->q->call;
  double most = 0;
  int64_t lines = y->rows > y->cols ? y->rows : y->cols;
  for (int i = 0; call->moduli > 0 && i < y->q->devices; i++)
    most = fmax(most, tsr_machine_residues_time(y->q->machine, y->q->order[i], call->type,
                                                call->moduli, call->keeps_lines, y->depth, lines));
  return most;
}

static double kernel_time(const choice *y) {
  double most = 0;
  for (int i = 0; i < y->q->devices; i++) most = fmax(most, product_time(y, y->q->order[i]));
  return fmax(most, y->q->machine->submit_kernel) * fmax(y->w.left, y->w.right);
}

/* Sets the times that do not depend on the shape of the C block. */
static void set_rates(choice *y) {
  tsr_segments segments = {(double)y->rows * (double)y->element,
                           tsr_search_pitch(y->q->machine, y->q->call)};
  y->kernel = kernel_time(y);
  y->residues = residues_time(y);
  y->in = flow_time(y->q, (flow){1, 0}, segments);
  y->out = flow_time(y->q, (flow){0, 1}, segments);
  y->both = flow_time(y->q, (flow){1, 1}, segments);
}

/* Time [s] for bytes in both directions at once. */
static double two_way_time(const choice *y, double in, double out) {
  double common = in < out ? in : out;
  return common * y->both + (in - common) * y->in + (out - common) * y->out;
}

/* Estimated time of the call, s. The C blocks of a device are computed one after another, each in
 * k-panels; a k-panel takes the longer of its kernels and its copies. Between two C blocks one is
 * written back and the next one fetched: the links have time for that beside the kernels of two
 * k-panels, and kernels stand still for the rest. At the start and the end of the call only one
 * k-panel covers it. The first kernels wait for about four tiles. */
static double time_of(const choice *y) {
  double down = parts(y->m, y->b), across = parts(y->n, y->c);
  double used = (double)y->m * y->n / (down * y->b * across * y->c);
  double k_panels = parts(y->k, y->d), tiles = y->b + y->c;
  double kernels = (y->kernel * y->b * y->c + y->residues * tiles) * y->d;
  double copies = k_panel_bytes(y) * y->in;
  double tile = (double)y->rows * (double)y->cols * (double)y->element;
  double c = on_host(y, TSR_C_) ? y->b * y->c * tile : 0;
  double change = two_way_time(y, c * y->w.c_reads, c * y->w.c_writes);
  double stop = fmax(0, change - 2 * fmax(0, kernels - copies));
  double ends = fmax(0, c * y->w.c_reads * y->in - fmax(0, kernels - copies)) +
                fmax(0, c * y->w.c_writes * y->out - kernels) + 4 * tile * y->in;
  double blocks = down * across * y->w.part;
  double busy = blocks * used * k_panels * fmax(kernels, copies);
  double tasks = blocks * used * k_panels * y->b * y->c * y->d; /* kernels of one device */
  return busy + (blocks - 1) * stop + ends + TSR_TUNE_TIGHT_TASK * tasks;
}

/* ---- Choices ---- */

static int64_t even_tile(int64_t extent, int64_t tile, int devices) {
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

/* Bytes of the largest tile of residues; 0: there are none. */
static double residue_tile(const choice *y) {
  const tsr_call *call = y->q->call;
  int64_t ld, lines = y->rows > y->cols ? y->rows : y->cols;
  return call->moduli > 0 ? (double)tsr_tile_memory(call, TSR_RA, y->depth, lines, &ld) : 0;
}

/* Slots that fit the smallest budget; each is as large as the largest tile. With residues one slot
 * is for the tile that they are made of. */
static double slots_of(const choice *y) {
  int64_t most = y->rows * y->cols;
  if (most < y->rows * y->depth) most = y->rows * y->depth;
  if (most < y->depth * y->cols) most = y->depth * y->cols;
  double bytes = ceil((double)most * (double)y->element / TSR_TILE_ALIGN) * TSR_TILE_ALIGN;
  double residues = residue_tile(y);
  if (residues > 0) return floor((double)least_budget(y->q) / fmax(bytes, residues)) - 1;
  return floor((double)least_budget(y->q) / bytes);
}

/* The widest C block with b rows that fits these slots: tsr_c_block_slots, solved for c. */
static int widest(const choice *y, double slots) {
  double c = floor((slots - (1 + y->l) * y->b * y->d - y->d) / (y->b + y->l * y->d));
  return c > y->n ? y->n : (int)c;
}

static int widest_of_all(choice *y) {
  y->b = 1;
  return widest(y, slots_of(y));
}

static tsr_strategy strategy_of(const choice *y, double tile) {
  tsr_strategy strategy = y->q->base;
  strategy.tile = (int64_t)tile;
  strategy.even = y->q->tile == 0;
  strategy.grid_rows = y->w.grid_rows;
  strategy.grid_cols = y->w.grid_cols;
  strategy.c_block_rows = y->b;
  strategy.c_block_cols = y->c;
  strategy.depth = y->d;
  strategy.lookahead = (int64_t)(100 * y->l);
  return strategy;
}

/* Inserts a C block into `found`, which has `count` of at most `most` entries, the best first;
 * returns the new count. */
static int keep(tsr_c_block one, int most, int count, tsr_c_block *found) {
  int at = count < most ? count : most;
  while (at > 0 && found[at - 1].seconds > one.seconds) at--;
  if (at == most) return count;
  if (count < most) count++;
  for (int i = count - 1; i > at; i--) found[i] = found[i - 1];
  found[at] = one;
  return count;
}

/* Sets b and c to the shape of the C block that the formula estimates to be the best. Returns its
 * time, s; INFINITY: no shape fits. */
static double find_shape(choice *y) {
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

/* Copies run ahead of kernels unless not even a C block of one tile has slots then. */
static void set_lookahead(choice *y) {
  y->l = TSR_TUNE_TIGHT_LOOKAHEAD;
  if (y->d == 1 && widest_of_all(y) < 1) y->l = 0;
}

static void set_tiles(choice *y, double tile) {
  int64_t size = (int64_t)tile;
  bool as_is = y->q->tile > 0;
  y->rows = as_is ? size : even_tile(y->w.rows, size, y->w.grid_rows);
  y->cols = as_is ? size : even_tile(y->w.cols, size, y->w.grid_cols);
  y->depth = as_is ? size : even_tile(y->w.depth, size, 1);
  y->m = parts(parts(y->w.rows, y->rows), y->w.grid_rows);
  y->n = parts(parts(y->w.cols, y->cols), y->w.grid_cols);
  y->k = parts(y->w.depth, y->depth);
}

/* ---- Devices that differ -------------------------------------------------- */

/* Estimated time [s] if this device computed all of the call with tiles of this size, within its
 * own budget. */
static double time_alone(const choice *y, int device, tsr_strategy *strategy) {
  tsr_c_block_question one = *y->q;
  choice x = *y;
  one.order = &device;
  one.devices = 1;
  x.q = &one;
  x.w.grid_rows = x.w.grid_cols = 1;
  x.m = parts(y->w.rows, y->rows);
  x.n = parts(y->w.cols, y->cols);
  set_rates(&x);
  set_lookahead(&x);
  double seconds = find_shape(&x);
  *strategy = strategy_of(&x, 0);
  return seconds;
}

/* All devices together, each computing what it can: the rates (1 / time alone) add up. The
 * strategy's C block is that of the device with the largest budget. */
static tsr_c_block partition(const choice *y, double tile) {
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

/* Tries one tile with each depth from 1 on. What is kept then differs in more than the shape of the
 * C block. */
static int try_tile(choice *y, double tile, int most, int count, tsr_c_block *found) {
  set_tiles(y, tile);
  if ((double)y->m * y->n * y->k * y->q->devices > TSR_TUNE_TIGHT_KERNELS) return count;
  if (!y->q->base.partition) set_rates(y);
  for (y->d = 1; y->d <= TSR_TUNE_TIGHT_DEPTH; y->d++) {
    tsr_c_block one;
    if (y->q->base.partition) {
      one = partition(y, tile);
    } else {
      set_lookahead(y);
      one.seconds = find_shape(y);
      one.strategy = strategy_of(y, tile);
    }
    if (isfinite(one.seconds)) count = keep(one, most, count, found);
  }
  return count;
}

int tsr_c_block_guess(const tsr_c_block_question *q, int grid_rows, int most, tsr_c_block *found) {
  tsr_type type = q->base.lazy ? tsr_type_get(q->call->type)->wide : q->call->type;
  choice y = {.q = q, .w = work_of(q, grid_rows), .element = tsr_type_get(type)->size};
  int count = 0;
  if (y.w.grid_rows != grid_rows) return 0; /* with a triangle beside C there is only one grid */
  if (q->tile > 0) return try_tile(&y, (double)q->tile, most, 0, found);
  for (double t = TSR_TUNE_TILE_MOST; t >= TSR_TUNE_TILE_LEAST; t *= TSR_TUNE_TILE_STEP)
    count = try_tile(&y, t, most, count, found);
  return count;
}
