/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/search/c_block.h"

#include <math.h>

#include "blas/family.h"
#include "blas/operation.h"
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
  const tsr_c_block_question *question;
  work work;
  int64_t rows, cols, depth; /* elements of a tile */
  int m, n, k;               /* tiles in each direction; m and n: of one device */
  int b, c, d;
  double l;
  size_t element;
  double kernel, lines, in, out,
      both; /* s: time of one kernel, of making a tile's lines; and for one byte to every device:
     from the host, to the host, and one each way at once */
} choice;

static int parts(int64_t extent, int64_t size) {
  return extent == 0 ? 0 : (int)((extent + size - 1) / size);
}

/* ---- Families ------------------------------------------------------------- */

/* The devices divide C as a grid; in an operation with a triangle beside C they divide the lines of
 * C across the triangle. */
static work work_of(const tsr_c_block_question *question, int grid_rows) {
  const tsr_call *call = question->call;
  work whole = {call->m,
                call->n,
                call->k,
                1,
                1,
                1,
                call->beta != TSR_ZERO,
                1,
                grid_rows,
                question->devices / grid_rows};
  bool two = call->operation == TSR_SYR2K || call->operation == TSR_HER2K;
  switch (tsr_family_of(call->operation)) {
    case TSR_RANK:
      whole.part = 0.5;
      whole.left = whole.right = two ? 2 : 1;
      break;
    case TSR_TRIANGLE:
      whole.grid_rows = call->side == TSR_LEFT ? 1 : question->devices;
      whole.grid_cols = question->devices / whole.grid_rows;
      whole.part = tsr_is_in_place(call->operation) ? 0.5 : 1;
      break;
    default:
      break;
  }
  return whole;
}

/* ---- The formula ---- */

/* Bytes that every device copies from the host, and to the host. */
typedef struct flow {
  double in, out;
} flow;

/* Time that a channel needs for the flows of all devices, s. */
static double channel_time(const tsr_c_block_question *question, const tsr_channel *channel,
                           flow f) {
  double load = 0;
  int host = tsr_search_host(question->machine, question->call);
  for (int u = 0; u < channel->count; u++)
    for (int i = 0; i < question->devices; i++) {
      const tsr_channel_use *use = &channel->uses[u];
      if (use->from == host && use->to == question->order[i]) load += use->weight * f.in;
      if (use->to == host && use->from == question->order[i]) load += use->weight * f.out;
    }
  return load / channel->capacity;
}

/* Time of the staging threads, s: memory that is not pinned passes through their ring. */
static double staging_time(const tsr_c_block_question *question, flow f) {
  bool staged = false;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const tsr_operand *o = &question->call->operand[x];
    staged |= o->rows > 0 && (o->memory == TSR_PAGEABLE || o->memory == TSR_MANAGED);
  }
  double rate = question->machine->staging_rate;
  return staged && rate > 0 ? (f.in + f.out) * question->devices / rate : 0;
}

/* Predicted time [s] = max over links, channels and staging threads of bytes / bandwidth. */
static double flow_time(const tsr_c_block_question *question, flow f, tsr_segments segments) {
  int host = tsr_search_host(question->machine, question->call);
  double most = staging_time(question, f);
  for (int i = 0; i < question->devices; i++) {
    int d = question->order[i];
    double in = tsr_link_rate(&question->machine->link[host][d], segments);
    double out = tsr_link_rate(&question->machine->link[d][host], segments);
    if (in > 0) most = fmax(most, f.in / in);
    if (out > 0) most = fmax(most, f.out / out);
  }
  for (int c = 0; c < question->machine->channels; c++)
    most = fmax(most, channel_time(question, &question->machine->channel[c], f));
  return most;
}

/* Whether all of the devices have links to each other. If so, a tile that several of them read
 * leaves the host once. */
static bool reach_each_other(const tsr_c_block_question *question) {
  for (int i = 0; i < question->devices; i++)
    for (int j = 0; j < question->devices; j++)
      if (i != j && question->machine->link[question->order[i]][question->order[j]].bandwidth <= 0)
        return false;
  return true;
}

static bool on_host(const choice *tried, int matrix) {
  return !tsr_is_device(tried->question->machine, tried->question->call->operand[matrix].location);
}

/* The operand that is read for the columns of C. */
static int right_of(const tsr_call *call) {
  if (tsr_is_in_place(call->operation)) return TSR_C_;
  return tsr_operation_get(call->operation)->has.b ? TSR_B_ : TSR_A;
}

/* Bytes of A and B that each device receives for one k-panel of its C block. */
static double k_panel_bytes(const choice *tried) {
  bool shared = reach_each_other(tried->question);
  double size = (double)tried->element * (double)tried->depth * tried->d;
  double a = on_host(tried, TSR_A) ? tried->work.left * tried->b * (double)tried->rows * size : 0;
  double b = on_host(tried, right_of(tried->question->call))
                 ? tried->work.right * tried->c * (double)tried->cols * size
                 : 0;
  return shared ? a / tried->work.grid_cols + b / tried->work.grid_rows : a + b;
}

/* The product of two tiles on a device. */
static double product_time(const choice *tried, int device) {
  const tsr_call *call = tried->question->call;
  if (tsr_call_has_form(call))
    return tsr_machine_form_gemm_time(tried->question->machine, device, call->arithmetic,
                                      call->type, tried->rows, tried->cols, tried->depth, true,
                                      tried->question->heat);
  return tsr_machine_kernel_time(tried->question->machine, device, TSR_KERNEL_GEMM, call->type,
                                 tried->rows, tried->cols, tried->depth, false, true,
                                 tried->question->heat);
}

static double lines_time(const choice *tried) {
  const tsr_call *call = tried->question->call;
  double most = 0;
  int64_t lines = tried->rows > tried->cols ? tried->rows : tried->cols;
  for (int i = 0; tsr_call_has_form(call) && i < tried->question->devices; i++)
    most = fmax(most, tsr_machine_form_time(tried->question->machine, tried->question->order[i],
                                            call->arithmetic, &call->promise, call->type,
                                            tried->depth, lines));
  return most;
}

static double kernel_time(const choice *tried) {
  double most = 0;
  for (int i = 0; i < tried->question->devices; i++)
    most = fmax(most, product_time(tried, tried->question->order[i]));
  return fmax(most, tried->question->machine->submit_kernel) *
         fmax(tried->work.left, tried->work.right);
}

/* Sets the times that do not depend on the shape of the C block. */
static void set_rates(choice *tried) {
  tsr_segments segments = {(double)tried->rows * (double)tried->element,
                           tsr_search_pitch(tried->question->machine, tried->question->call)};
  tried->kernel = kernel_time(tried);
  tried->lines = lines_time(tried);
  tried->in = flow_time(tried->question, (flow){1, 0}, segments);
  tried->out = flow_time(tried->question, (flow){0, 1}, segments);
  tried->both = flow_time(tried->question, (flow){1, 1}, segments);
}

/* Time [s] for bytes in both directions at once. */
static double two_way_time(const choice *tried, double in, double out) {
  double common = in < out ? in : out;
  return common * tried->both + (in - common) * tried->in + (out - common) * tried->out;
}

/* Estimated time of the call, s. The C blocks of a device are computed one after another, each in
 * k-panels; a k-panel takes the longer of its kernels and its copies. Between two C blocks one is
 * written back and the next one fetched: the links have time for that beside the kernels of two
 * k-panels, and kernels stand still for the rest. At the start and the end of the call only one
 * k-panel covers it. The first kernels wait for about four tiles. */
static double time_of(const choice *tried) {
  double down = parts(tried->m, tried->b), across = parts(tried->n, tried->c);
  double used = (double)tried->m * tried->n / (down * tried->b * across * tried->c);
  double k_panels = parts(tried->k, tried->d), tiles = tried->b + tried->c;
  double kernels = (tried->kernel * tried->b * tried->c + tried->lines * tiles) * tried->d;
  double copies = k_panel_bytes(tried) * tried->in;
  double tile = (double)tried->rows * (double)tried->cols * (double)tried->element;
  double c = on_host(tried, TSR_C_) ? tried->b * tried->c * tile : 0;
  double change = two_way_time(tried, c * tried->work.c_reads, c * tried->work.c_writes);
  double stop = fmax(0, change - 2 * fmax(0, kernels - copies));
  double ends = fmax(0, c * tried->work.c_reads * tried->in - fmax(0, kernels - copies)) +
                fmax(0, c * tried->work.c_writes * tried->out - kernels) + 4 * tile * tried->in;
  double blocks = down * across * tried->work.part;
  double busy = blocks * used * k_panels * fmax(kernels, copies);
  double tasks =
      blocks * used * k_panels * tried->b * tried->c * tried->d; /* kernels of one device */
  return busy + (blocks - 1) * stop + ends + TSR_TUNE_TIGHT_TASK * tasks;
}

/* ---- Choices ---- */

static int64_t even_tile(int64_t extent, int64_t tile, int devices) {
  int64_t count = parts(extent, tile);
  if (count > devices) count = (count + devices - 1) / devices * devices;
  return count == 0 ? 1 : (extent + count - 1) / count;
}

static size_t least_budget(const tsr_c_block_question *question) {
  size_t least = SIZE_MAX;
  for (int i = 0; i < question->devices; i++)
    if (question->budget[question->order[i]] < least) least = question->budget[question->order[i]];
  return least;
}

/* Bytes of the largest tile of lines; 0: there are none. */
static double lines_tile(const choice *tried) {
  const tsr_call *call = tried->question->call;
  int64_t ld, lines = tried->rows > tried->cols ? tried->rows : tried->cols;
  return tsr_call_has_form(call) ? (double)tsr_tile_memory(call, TSR_RA, tried->depth, lines, &ld)
                                 : 0;
}

/* Slots that fit the smallest budget; each is as large as the largest tile. With lines one slot
 * is for the tile that they are made of. */
static double slots_of(const choice *tried) {
  int64_t most = tried->rows * tried->cols;
  if (most < tried->rows * tried->depth) most = tried->rows * tried->depth;
  if (most < tried->depth * tried->cols) most = tried->depth * tried->cols;
  double bytes = ceil((double)most * (double)tried->element / TSR_TILE_ALIGN) * TSR_TILE_ALIGN;
  double lines = lines_tile(tried);
  if (lines > 0) return floor((double)least_budget(tried->question) / fmax(bytes, lines)) - 1;
  return floor((double)least_budget(tried->question) / bytes);
}

/* The widest C block with b rows that fits these slots: tsr_c_block_slots, solved for c. */
static int widest(const choice *tried, double slots) {
  double c = floor((slots - (1 + tried->l) * tried->b * tried->d - tried->d) /
                   (tried->b + tried->l * tried->d));
  return c > tried->n ? tried->n : (int)c;
}

static int widest_of_all(choice *tried) {
  tried->b = 1;
  return widest(tried, slots_of(tried));
}

static tsr_strategy strategy_of(const choice *tried, double tile) {
  tsr_strategy strategy = tried->question->base;
  strategy.tile = (int64_t)tile;
  strategy.even = tried->question->tile == 0;
  strategy.grid_rows = tried->work.grid_rows;
  strategy.grid_cols = tried->work.grid_cols;
  strategy.c_block_rows = tried->b;
  strategy.c_block_cols = tried->c;
  strategy.depth = tried->d;
  strategy.lookahead = (int64_t)(100 * tried->l);
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
static double find_shape(choice *tried) {
  double slots = slots_of(tried), best = INFINITY;
  int b = 0, c = 0;
  for (tried->b = 1; tried->b <= tried->m; tried->b++) {
    tried->c = widest(tried, slots);
    if (tried->c < 1) break;
    double seconds = time_of(tried);
    if (seconds >= best) continue;
    best = seconds;
    b = tried->b;
    c = tried->c;
  }
  tried->b = b;
  tried->c = c;
  return best;
}

/* Copies run ahead of kernels unless not even a C block of one tile has slots then. */
static void set_lookahead(choice *tried) {
  tried->l = TSR_TUNE_TIGHT_LOOKAHEAD;
  if (tried->d == 1 && widest_of_all(tried) < 1) tried->l = 0;
}

static void set_tiles(choice *tried, double tile) {
  int64_t size = (int64_t)tile;
  bool as_is = tried->question->tile > 0;
  tried->rows = as_is ? size : even_tile(tried->work.rows, size, tried->work.grid_rows);
  tried->cols = as_is ? size : even_tile(tried->work.cols, size, tried->work.grid_cols);
  tried->depth = as_is ? size : even_tile(tried->work.depth, size, 1);
  tried->m = parts(parts(tried->work.rows, tried->rows), tried->work.grid_rows);
  tried->n = parts(parts(tried->work.cols, tried->cols), tried->work.grid_cols);
  tried->k = parts(tried->work.depth, tried->depth);
}

/* ---- Devices that differ -------------------------------------------------- */

/* Estimated time [s] if this device computed all of the call with tiles of this size, within its
 * own budget. */
static double time_alone(const choice *tried, int device, tsr_strategy *strategy) {
  tsr_c_block_question question = *tried->question;
  choice alone = *tried;
  question.order = &device;
  question.devices = 1;
  alone.question = &question;
  alone.work.grid_rows = alone.work.grid_cols = 1;
  alone.m = parts(tried->work.rows, tried->rows);
  alone.n = parts(tried->work.cols, tried->cols);
  set_rates(&alone);
  set_lookahead(&alone);
  double seconds = find_shape(&alone);
  *strategy = strategy_of(&alone, 0);
  return seconds;
}

/* The prediction for devices that differ, if each computes what it can: their rates add up, and the
 * rate of one is 1 / its time alone. The strategy has the C block of the device with the largest
 * budget. */
static tsr_c_block partition(const choice *tried, double tile) {
  tsr_c_block all = {.seconds = 0};
  size_t most = 0;
  double rate = 0;
  for (int i = 0; i < tried->question->devices; i++) {
    int device = tried->question->order[i];
    tsr_strategy one;
    rate += 1 / time_alone(tried, device, &one);
    if (tried->question->budget[device] <= most) continue;
    most = tried->question->budget[device];
    all.strategy = one;
  }
  all.strategy.tile = (int64_t)tile;
  all.strategy.grid_rows = tried->work.grid_rows;
  all.strategy.grid_cols = tried->work.grid_cols;
  all.seconds = rate > 0 ? 1 / rate : INFINITY;
  return all;
}

/* ---- Tiles ---------------------------------------------------------------- */

/* Tries one tile with each depth from 1 on. What is kept then differs in more than the shape of the
 * C block. */
static int try_tile(choice *tried, double tile, int most, int count, tsr_c_block *found) {
  set_tiles(tried, tile);
  if ((double)tried->m * tried->n * tried->k * tried->question->devices > TSR_TUNE_TIGHT_KERNELS)
    return count;
  if (!tried->question->base.partition) set_rates(tried);
  for (tried->d = 1; tried->d <= TSR_TUNE_TIGHT_DEPTH; tried->d++) {
    tsr_c_block one;
    if (tried->question->base.partition) {
      one = partition(tried, tile);
    } else {
      set_lookahead(tried);
      one.seconds = find_shape(tried);
      one.strategy = strategy_of(tried, tile);
    }
    if (isfinite(one.seconds)) count = keep(one, most, count, found);
  }
  return count;
}

int tsr_c_block_guess(const tsr_c_block_question *question, int grid_rows, int most,
                      tsr_c_block *found) {
  tsr_type type =
      question->base.lazy ? tsr_type_get(question->call->type)->wide : question->call->type;
  choice tried = {.question = question,
                  .work = work_of(question, grid_rows),
                  .element = tsr_type_get(type)->size};
  int count = 0;
  if (tried.work.grid_rows != grid_rows)
    return 0; /* with a triangle beside C there is only one grid */
  if (question->tile > 0) return try_tile(&tried, (double)question->tile, most, 0, found);
  for (double t = TSR_TUNE_TILE_MOST; t >= TSR_TUNE_TILE_LEAST; t *= TSR_TUNE_TILE_STEP)
    count = try_tile(&tried, t, most, count, found);
  return count;
}
