/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Measures kernels: rates by shape, in short runs and at the power limit; memory-bound kernels; the
 * time of a submission. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "probe/bench.h"

/* Areas (m = n) and values of k of the table of rates. area[i] = k[i] except in the first row: the
 * diagonal has the cubic products. */
static const int64_t real_points[] = {128, 256, 512, 1024, 2048, 4096, 8192};
static const int64_t real_ks[] = {64, 256, 512, 1024, 2048, 4096, 8192};
static const int64_t quick_points[] = {16, 64, 192};
enum { REAL = 7, QUICK = 3 };

/* For emulated devices [s]: one measurement, and one area at the power limit. */
static const double quick_time = 1e-3, quick_sustain = 5e-3;

typedef struct grid {
  const int64_t *areas, *ks;
  int count;
  double seconds;
} grid;

static grid grid_of(const tsr_bench *b) {
  return b->options->quick ? (grid){quick_points, quick_points, QUICK, quick_time}
                           : (grid){real_points, real_ks, REAL, TSR_TUNE_PROBE_KERNEL_TIME};
}

/* ---- Rates by shape ---- */

/* The rate [flops/s] of kernels that take each seconds when run one after another, without the
 * fixed cost of a kernel. */
static double rate_of(const tsr_bench *b, int device, tsr_type type, int64_t area, int64_t k,
                      double each) {
  double working = fmax(each - b->machine->device[device].kernel_latency, 0.3 * each);
  return tsr_kernel_flops(TSR_KERNEL_GEMM, type, area, area, k) / working;
}

/* Measures one point of the table: runs the kernel once to load its code, once to estimate its
 * time, then, unless that was long, as often as the limit [s] allows. */
static tsr_status measure_point(tsr_bench *b, tsr_type type, int64_t area, int64_t k, double limit,
                                double *flops) {
  tsr_kernel_args args = tsr_bench_product(b, 0, type, area, k);
  double once, each;
  TSR_TRY(tsr_bench_kernels(b, 0, &args, 1, false, &once));
  TSR_TRY(tsr_bench_kernels(b, 0, &args, 1, false, &once));
  int repeats = once < limit ? (int)(limit / once) : 1;
  int most = b->options->quick ? 4 : 60; /* more cannot be submitted while the blocker runs */
  if (repeats > most) repeats = most;
  each = once;
  if (once < 4 * limit) TSR_TRY(tsr_bench_kernels(b, 0, &args, repeats, once < 60e-6, &each));
  *flops = rate_of(b, 0, type, area, k, each);
  return TSR_OK;
}

/* The best rate in the table so far [flops/s]. */
static double best_of(const tsr_rates *rates) {
  double best = 0;
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++) best = fmax(best, rates->flops[i][j]);
  return best;
}

/* Whether the probe has no time for the kernel, times over: even at the best rate so far it takes
 * longer than PROBE_KERNEL_MOST. */
static bool takes_long(const tsr_rates *rates, tsr_type type, int64_t m, int64_t n, int64_t k,
                       int times) {
  double flops = times * tsr_kernel_flops(TSR_KERNEL_GEMM, type, m, n, k);
  return flops > TSR_TUNE_PROBE_KERNEL_MOST * best_of(rates);
}

/* The kernels of the first row are short on any device, and all are measured. */
static tsr_status measure_shapes(tsr_bench *b, const tsr_type_info *type, tsr_rates *rates) {
  grid g = grid_of(b);
  int64_t largest = tsr_bench_area(b, type->type, g.areas[g.count - 1]);
  rates->areas = rates->ks = g.count;
  for (int i = 0; i < g.count; i++)
    for (int j = 0; j < g.count; j++) {
      int64_t area = g.areas[i], k = g.ks[j];
      rates->area[i] = (double)area;
      rates->k[j] = (double)k;
      int64_t other = area > k ? area : k; /* A is area x k */
      bool fits = area <= largest && area * k <= largest * largest && other <= 2 * largest;
      if (fits && !(i > 0 && takes_long(rates, type->type, area, area, k, 1)))
        TSR_TRY(measure_point(b, type->type, area, k, g.seconds, &rates->flops[i][j]));
      else
        rates->flops[i][j] = i > 0 ? rates->flops[i - 1][j] : rates->flops[i][j - 1];
    }
  return TSR_OK;
}

/* ---- Narrow kernels ---- */

/* Sums of times of kernels without their fixed cost [s]: by the table of rates, and measured. */
typedef struct pair {
  double expected, measured;
} pair;

static tsr_status measure_pair(tsr_bench *b, const tsr_rates *rates, const tsr_kernel_args *args,
                               pair *sum) {
  double m = (double)args->m, n = (double)args->n, k = (double)args->k, first, each;
  TSR_TRY(tsr_bench_kernels(b, 0, args, 1, false, &first));
  TSR_TRY(tsr_bench_kernels(b, 0, args, TSR_TUNE_PROBE_NARROW_REPEATS, false, &each));
  sum->measured += fmax(each - b->machine->device[0].kernel_latency, 0.3 * each);
  sum->expected += tsr_kernel_flops(TSR_KERNEL_GEMM, args->type, args->m, args->n, args->k) /
                   tsr_rates_of(rates, m, n, k);
  return TSR_OK;
}

/* *part: the fraction of the table's rate that a kernel with n = width reaches. The kernels have
 * two heights, because one height may happen to suit the number of multiprocessors, and A plain and
 * transposed. Square kernels are measured again between them, because the device is warmer than
 * when the table was measured. */
static tsr_status measure_width(tsr_bench *b, tsr_type type, const tsr_rates *rates, int64_t high,
                                int64_t width, double *part) {
  pair narrow = {0, 0}, square = {0, 0};
  int64_t k = high / 2;
  for (int i = 0; i < 4; i++) {
    tsr_kernel_args args = tsr_bench_product(b, 0, type, i % 2 ? high + high / 4 : high, k);
    args.n = width;
    args.transa = i < 2 ? TSR_NO_TRANS : TSR_TRANS;
    if (i >= 2) args.lda = k;
    TSR_TRY(measure_pair(b, rates, &args, &narrow));
    args = tsr_bench_product(b, 0, type, high / 4, k);
    TSR_TRY(measure_pair(b, rates, &args, &square));
  }
  *part = fmin(1, narrow.expected / narrow.measured * square.measured / square.expected);
  return TSR_OK;
}

/* A kernel is narrow if the shorter of m and n is at most a quarter of the other. */
enum { NARROW = 4 };

/* The height of narrow kernels, of at most so many columns: as high as fits and the probe has time
 * for. */
static int64_t height_of(const tsr_bench *b, tsr_type type, const tsr_rates *rates, int64_t most) {
  int64_t high = tsr_bench_area(b, type, (int64_t)rates->area[rates->areas - 1]);
  for (; high >= NARROW; high /= 2) {
    int64_t width = high / NARROW < most ? high / NARROW : most;
    if (!takes_long(rates, type, high, width, high / 2, TSR_TUNE_PROBE_NARROW_REPEATS)) break;
  }
  return high;
}

static tsr_status measure_narrow(tsr_bench *b, tsr_type type, tsr_rates *rates) {
  static const int64_t real_widths[] = {128, 256, 512, 1024}, quick_widths[] = {8, 16};
  const int64_t *widths = b->options->quick ? quick_widths : real_widths;
  int most = b->options->quick ? 2 : 4;
  int64_t high = height_of(b, type, rates, widths[most - 1]);
  rates->narrow.count = 0;
  for (int i = 0; i < most && NARROW * widths[i] <= high; i++, rates->narrow.count++) {
    rates->narrow.size[i] = (double)widths[i];
    TSR_TRY(measure_width(b, type, rates, high, widths[i], &rates->narrow.rate[i]));
  }
  return TSR_OK;
}

/* ---- Trapezoids ---- */

/* The k of the trapezoids, about that of k-panels. */
enum { TRAPEZOID_K = 1024 };

/* *part: the rate of a triangle by squares / that of a GEMM with as many elements of c, both
 * without their fixed cost, which is twice as much for the triangle. */
static tsr_status measure_trapezoid(tsr_bench *b, tsr_type type, int64_t order, double *part) {
  double first, gemm, squares, latency = b->machine->device[0].kernel_latency;
  tsr_kernel_args product = tsr_bench_product(b, 0, type, order, TRAPEZOID_K);
  product.transb = TSR_TRANS; /* as in rank-k updates */
  product.ldb = order;
  tsr_kernel_args triangle = product;
  product.n = order / 2;
  triangle.kernel = TSR_KERNEL_GEMMT;
  triangle.uplo = TSR_LOWER;
  triangle.blocks = tsr_kernel_square(type, order, order);
  TSR_TRY(tsr_bench_kernels(b, 0, &product, 1, false, &first));
  TSR_TRY(tsr_bench_kernels(b, 0, &triangle, 1, false, &first));
  TSR_TRY(tsr_bench_kernels(b, 0, &product, TSR_TUNE_PROBE_NARROW_REPEATS, false, &gemm));
  TSR_TRY(tsr_bench_kernels(b, 0, &triangle, TSR_TUNE_PROBE_NARROW_REPEATS, false, &squares));
  *part = fmax(gemm - latency, 0.5 * gemm) / fmax(squares - 2 * latency, 0.5 * squares);
  return TSR_OK;
}

/* Measures triangles in squares, at each order at which the engine cuts them so. */
static tsr_status measure_trapezoids(tsr_bench *b, tsr_type type, tsr_rates *rates) {
  rates->trapezoid.count = 0;
  if (!b->engine->traits.blocks) return TSR_OK;
  for (int64_t order = 512; order <= tsr_bench_area(b, type, 8192); order *= 2) {
    int i = rates->trapezoid.count;
    if (tsr_kernel_square(type, order, order) == 0) continue;
    if (takes_long(rates, type, order, order / 2, TRAPEZOID_K, TSR_TUNE_PROBE_NARROW_REPEATS))
      break;
    rates->trapezoid.size[i] = (double)order;
    TSR_TRY(measure_trapezoid(b, type, order, &rates->trapezoid.rate[i]));
    rates->trapezoid.count++;
  }
  return TSR_OK;
}

/* ---- At the power limit ---- */

/* How often each device runs a kernel; slower ones less often, so that all take about as long. */
typedef struct counts {
  int of[TSR_MAX_DEVICES];
  int most;
} counts;

static tsr_status submit_everywhere(tsr_bench *b, tsr_type type, int64_t n, const counts *times) {
  for (int i = 0; i < times->most; i++)
    for (int d = 0; d < b->devices; d++) {
      tsr_kernel_args args = tsr_bench_product(b, d, type, n, n);
      if (i < times->of[d]) TSR_TRY(b->engine->kernel(b->compute[d], &args));
    }
  return TSR_OK;
}

/* Submits equal kernels in two halves to all devices and measures the second half. It waits only
 * when all are submitted: a device that paused would cool down, and a device that waited for the
 * others would seem as slow as they are. */
static tsr_status time_halves(tsr_bench *b, tsr_type type, int64_t n, const counts *times,
                              tsr_queue_event **events, double *each) {
  double begin, end;
  for (int i = 0; i < 2 * b->devices; i++)
    TSR_TRY(b->engine->event_create(b->state, i / 2, true, &events[i]));
  for (int half = 0; half < 2; half++) {
    TSR_TRY(submit_everywhere(b, type, n, times));
    for (int d = 0; d < b->devices; d++)
      TSR_TRY(b->engine->record(b->compute[d], events[2 * d + half]));
  }
  for (int d = 0; d < b->devices; d++) {
    TSR_TRY(tsr_bench_await(b, events[2 * d], &begin));
    TSR_TRY(tsr_bench_await(b, events[2 * d + 1], &end));
    each[d] = fmax(end - begin, 1e-9) / times->of[d];
  }
  return TSR_OK;
}

/* Each device's number of kernels for that many seconds in two halves, from the time of one kernel
 * on each, after one that loads its code. */
static tsr_status count_kernels(tsr_bench *b, tsr_type type, int64_t n, double seconds,
                                counts *times) {
  *times = (counts){.most = 0};
  for (int d = 0; d < b->devices; d++) {
    tsr_kernel_args args = tsr_bench_product(b, d, type, n, n);
    double each;
    for (int i = 0; i < 2; i++) TSR_TRY(tsr_bench_kernels(b, d, &args, 1, false, &each));
    times->of[d] = (int)(seconds / 2 / each) + 1;
    if (times->of[d] > times->most) times->most = times->of[d];
  }
  return TSR_OK;
}

/* Runs n x n x n kernels on all devices at once for seconds. The first half of the time brings the
 * devices to a steady state; rate[d] [flops/s] is measured in the second. */
static tsr_status sustain(tsr_bench *b, tsr_type type, int64_t n, double seconds, double *rate) {
  tsr_queue_event *events[2 * TSR_MAX_DEVICES] = {NULL};
  counts times;
  TSR_TRY(count_kernels(b, type, n, seconds, &times));
  tsr_status status = time_halves(b, type, n, &times, events, rate);
  for (int i = 0; i < 2 * b->devices; i++)
    if (events[i] != NULL) b->engine->event_destroy(events[i]);
  for (int d = 0; d < b->devices && status == TSR_OK; d++)
    rate[d] = rate_of(b, d, type, n, n, rate[d]);
  return status;
}

/* Whether a device is about as fast as device 0. Emulated devices, which share the computer's
 * processors, differ by chance, and more. */
static bool is_like_first(const tsr_bench *b, const double *rate, int device) {
  double limit = b->options->quick ? TSR_TUNE_PROBE_SPEEDS_EMULATED : TSR_TUNE_PROBE_SPEEDS;
  return fabs(rate[device] / rate[0] - 1) <= limit;
}

/* The mean over the devices that are like device 0, whose rates by shape the machine has. */
static double mean_of(const tsr_bench *b, const double *rate) {
  double sum = 0;
  int count = 0;
  for (int d = 0; d < b->devices; d++) {
    if (!is_like_first(b, rate, d)) continue;
    sum += rate[d];
    count++;
  }
  return sum / count;
}

/* Sets the devices' speeds from the rates of long runs: 1 for those that are like device 0. The
 * speed is that of fp64; where a type has another ratio, as unlike models do, it has a factor of
 * its own. */
static void set_speeds(tsr_bench *b, tsr_type type, const double *rate) {
  for (int d = 0; d < b->devices; d++) {
    tsr_device *device = &b->machine->device[d];
    double speed = is_like_first(b, rate, d) ? 1 : rate[d] / mean_of(b, rate);
    bool same = fabs(speed / device->speed - 1) <= TSR_TUNE_PROBE_SPEEDS;
    if (type == TSR_D)
      device->speed = speed;
    else
      device->type_speed[tsr_type_index(type)] = same ? 0 : speed / device->speed;
  }
}

/* Whether the kernels of a row fit, and the probe has time for them. */
static bool can_sustain(const tsr_bench *b, tsr_type type, const tsr_rates *rates, int row) {
  int64_t n = (int64_t)rates->area[row];
  return tsr_bench_area(b, type, n) >= n && !takes_long(rates, type, n, n, n, 1);
}

/* The rows of the table to measure at the power limit. *last: the largest possible area. *first:
 * the smallest area, at least PROBE_HOT_AREA, whose kernel takes longer than submitting one to
 * every device. */
static void choose_rows(const tsr_bench *b, tsr_type type, const tsr_rates *rates, int *first,
                        int *last) {
  int row = rates->areas - 1;
  while (row > 0 && !can_sustain(b, type, rates, row)) row--;
  *first = *last = row;
  for (; row > 0 && rates->area[row] >= TSR_TUNE_PROBE_HOT_AREA; row--) {
    int64_t n = (int64_t)rates->area[row];
    double each = tsr_kernel_flops(TSR_KERNEL_GEMM, type, n, n, n) / rates->flops[row][row];
    if (each > TSR_TUNE_PROBE_SUBMISSION * b->devices) *first = row;
  }
}

/* The rates at the power limit of a row that was measured: at most level, and at most the rates in
 * short runs. */
static void set_hot(tsr_rates *rates, int row, double level) {
  for (int j = 0; j < rates->ks; j++) rates->hot[row][j] = fmin(rates->flops[row][j], level);
}

/* The rates at the power limit of a row with smaller kernels than were measured: they lose the same
 * fraction as the smallest measured ones. */
static void scale_hot(tsr_rates *rates, int row, double factor) {
  for (int j = 0; j < rates->ks; j++) rates->hot[row][j] = rates->flops[row][j] * fmin(factor, 1);
}

/* Measures rows first .. last at the power limit, in rounds over the rows, because devices get
 * warmer meanwhile and each row must have its share of that. level[i]: the mean rate of row i over
 * the devices that are like device 0; rate[d]: the rate of the last row on device d. */
static tsr_status sustain_areas(tsr_bench *b, tsr_type type, const tsr_rates *rates, int first,
                                int last, double *level, double *rate) {
  bool leading = type == TSR_D || type == TSR_S;
  double seconds = b->options->quick ? quick_sustain
                   : leading         ? TSR_TUNE_PROBE_SUSTAIN_LONG
                                     : TSR_TUNE_PROBE_SUSTAIN;
  for (int round = 0; round < TSR_TUNE_PROBE_HOT_ROUNDS; round++)
    for (int i = first; i <= last; i++) {
      double now[TSR_MAX_DEVICES] = {0};
      TSR_TRY(sustain(b, type, (int64_t)rates->area[i], seconds / TSR_TUNE_PROBE_HOT_ROUNDS, now));
      level[i] += mean_of(b, now) / TSR_TUNE_PROBE_HOT_ROUNDS;
      for (int d = 0; d < b->devices && i == last; d++)
        rate[d] += now[d] / TSR_TUNE_PROBE_HOT_ROUNDS;
    }
  return TSR_OK;
}

/* Fills in the rates at the power limit. The largest area gives the sustained rate and the devices'
 * speeds. */
static tsr_status measure_hot(tsr_bench *b, tsr_type type, tsr_rates *rates) {
  double rate[TSR_MAX_DEVICES] = {0}, level[TSR_RATE_POINTS] = {0};
  int first, last;
  choose_rows(b, type, rates, &first, &last);
  TSR_TRY(sustain_areas(b, type, rates, first, last, level, rate));
  rates->sustained = level[last];
  set_speeds(b, type, rate);
  double factor = level[first] / rates->flops[first][first];
  for (int i = 0; i < first; i++) scale_hot(rates, i, factor);
  for (int i = first; i < rates->areas; i++) set_hot(rates, i, level[i <= last ? i : last]);
  return TSR_OK;
}

/* ---- Level-3 routines ---- */

/* Orders of the triangles, and of the parts down to which emulated devices would halve them. */
static const int64_t real_orders[] = {1024, 2048, 4096}, quick_orders[] = {64, 96};
enum { REAL_ORDERS = 3, QUICK_ORDERS = 2, QUICK_BLOCK = 16 };

/* A routine on square matrices, with A on the left and lower. */
static tsr_kernel_args routine_of(const tsr_bench *b, tsr_kernel kernel, tsr_type type,
                                  int64_t order, int blocks) {
  tsr_kernel_args args = tsr_bench_product(b, 0, type, order, order);
  args.kernel = kernel;
  args.side = TSR_LEFT;
  args.uplo = TSR_LOWER;
  args.diag = TSR_NON_UNIT;
  args.blocks = blocks;
  return args;
}

/* Whether the BLAS has the routine in the type. */
static bool has_routine(tsr_kernel kernel, tsr_type type) {
  const tsr_kernel_info *info = tsr_kernel_get(kernel);
  bool blas = type == TSR_S || type == TSR_D || type == TSR_C || type == TSR_Z;
  bool fits = tsr_type_get(type)->complex_valued || !(info->traits & TSR_HERMITIAN);
  return blas && fits && tsr_kernel_is_routine(kernel);
}

/* *seconds: of one after a first, which loads code. */
static tsr_status time_one(tsr_bench *b, const tsr_kernel_args *args, double *seconds) {
  double first;
  TSR_TRY(tsr_bench_kernels(b, 0, args, 1, false, &first));
  return tsr_bench_kernels(b, 0, args, TSR_TUNE_PROBE_ROUTINE_REPEATS, false, seconds);
}

/* Measures both ways in turn, so that they find the device equally warm: the times of all orders
 * together, each in units of a GEMM's time. */
static tsr_status measure_routine(tsr_bench *b, tsr_kernel kernel, tsr_type type,
                                  const tsr_rates *rates, struct tsr_routine *routine) {
  const int64_t *orders = b->options->quick ? quick_orders : real_orders;
  int count = b->options->quick ? QUICK_ORDERS : REAL_ORDERS, used = 0;
  int block = b->options->quick ? QUICK_BLOCK : tsr_kernel_block(kernel, type);
  double vendor = 0, blocks = 0;
  for (int i = 0; i < count; i++) {
    double gemm, by_vendor, by_blocks;
    int64_t n = orders[i];
    bool fits = tsr_bench_area(b, type, n) >= n;
    if (!fits || takes_long(rates, type, n, n, n, TSR_TUNE_PROBE_ROUTINE_REPEATS)) continue;
    tsr_kernel_args product = tsr_bench_product(b, 0, type, orders[i], orders[i]);
    tsr_kernel_args args = routine_of(b, kernel, type, orders[i], 0);
    TSR_TRY(time_one(b, &product, &gemm));
    TSR_TRY(time_one(b, &args, &by_vendor));
    args.blocks = block;
    TSR_TRY(time_one(b, &args, &by_blocks));
    double work = tsr_kernel_flops(kernel, type, orders[i], orders[i], orders[i]) /
                  tsr_kernel_flops(TSR_KERNEL_GEMM, type, orders[i], orders[i], orders[i]);
    vendor += by_vendor / (gemm * work);
    blocks += by_blocks / (gemm * work);
    used++;
  }
  if (used > 0) *routine = (struct tsr_routine){used / vendor, used / blocks};
  return TSR_OK;
}

/* What a solution leaves in C may be infinite, so the routines come last for a type. */
static tsr_status measure_routines(tsr_bench *b, tsr_type type, tsr_rates *rates) {
  if (!b->engine->traits.blocks) return TSR_OK;
  for (int i = 0; i < TSR_KERNEL_COUNT; i++)
    if (has_routine((tsr_kernel)i, type))
      TSR_TRY(measure_routine(b, (tsr_kernel)i, type, rates, &rates->routine[i]));
  return TSR_OK;
}

/* ---- Kernels bound by memory, and the cost of a kernel ---- */

static tsr_kernel_args addition(tsr_bench *b, int device, int64_t n) {
  tsr_kernel_args args = tsr_bench_product(b, device, TSR_D, n, n);
  args.kernel = TSR_KERNEL_ADD;
  args.beta = (tsr_scalar){1, 0};
  return args;
}

static tsr_status measure_memory(tsr_bench *b, int device) {
  int64_t n = tsr_bench_area(b, TSR_D, b->options->quick ? 256 : 8192), small = 16;
  double first, each, latency;
  tsr_kernel_args args = addition(b, device, small);
  TSR_TRY(tsr_bench_kernels(b, device, &args, 1, false, &first));
  TSR_TRY(tsr_bench_kernels(b, device, &args, b->options->quick ? 10 : 60, true, &latency));
  args = addition(b, device, n);
  TSR_TRY(tsr_bench_kernels(b, device, &args, 1, false, &first));
  TSR_TRY(tsr_bench_kernels(b, device, &args, 4, false, &each));
  double bytes = tsr_kernel_bytes(TSR_KERNEL_ADD, TSR_D, n, n, false, true);
  b->machine->device[device].kernel_latency = latency;
  b->machine->device[device].memory_rate = bytes / fmax(each - latency, 0.1 * each);
  return TSR_OK;
}

static tsr_status measure_type(tsr_bench *b, const tsr_type_info *type) {
  tsr_rates *rates = &b->machine->rates[tsr_type_index(type->type)];
  TSR_TRY(tsr_bench_fill(b, type->type));
  TSR_TRY(measure_shapes(b, type, rates));
  TSR_TRY(measure_narrow(b, type->type, rates));
  TSR_TRY(measure_trapezoids(b, type->type, rates));
  TSR_TRY(measure_hot(b, type->type, rates));
  TSR_TRY(measure_routines(b, type->type, rates));
  return tsr_probe_residues(b, type->type);
}

/* fp64 goes first, since its rates say which devices are unlike. */
tsr_status tsr_probe_kernels(tsr_bench *b) {
  TSR_TRY(tsr_bench_fill(b, TSR_D));
  for (int d = 0; d < b->devices; d++) TSR_TRY(measure_memory(b, d));
  tsr_bench_progress(b, 0.4, tsr_type_get(TSR_D)->name);
  TSR_TRY(measure_type(b, tsr_type_get(TSR_D)));
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    const tsr_type_info *type = tsr_type_at(i);
    if (type->type == TSR_D) continue;
    tsr_bench_progress(b, 0.4 + 0.5 * (i + 1) / (TSR_TYPE_COUNT + 1), type->name);
    TSR_TRY(measure_type(b, type));
  }
  return TSR_OK;
}

/* ---- Submission ---- */

enum { COUNT = 100 };

/* An event of the first queue for which the second one waits, over and over. */
static tsr_status measure_events(tsr_bench *b, tsr_queue *first, tsr_queue *second,
                                 tsr_queue_event *event) {
  double start = tsr_now();
  for (int i = 0; i < COUNT; i++) TSR_TRY(b->engine->record(first, event));
  double recorded = tsr_now();
  for (int i = 0; i < COUNT; i++) TSR_TRY(b->engine->wait(second, event));
  b->machine->submit_record = fmin((recorded - start) / COUNT, TSR_MOST_START);
  b->machine->submit_wait = fmin((tsr_now() - recorded) / COUNT, TSR_MOST_START);
  return TSR_OK;
}

static tsr_status time_events(tsr_bench *b, tsr_queue *first, tsr_queue *second) {
  tsr_queue_event *event;
  TSR_TRY(b->engine->event_create(b->state, 0, false, &event));
  tsr_status status = measure_events(b, first, second, event);
  if (status == TSR_OK) status = tsr_bench_finish(b, 0, second, NULL);
  b->engine->event_destroy(event);
  return status;
}

tsr_status tsr_probe_submission(tsr_bench *b) {
  tsr_stream s;
  TSR_TRY(tsr_bench_fill(b, TSR_D));
  TSR_TRY(tsr_bench_stream(b, TSR_HOST, 0, 64 << 10, &s));
  s.copy.width = 512; /* strided, as most copies of plans are */
  s.copy.from_pitch = s.copy.to_pitch = 1024;
  s.copy.height = 32;
  double start = tsr_now();
  for (int i = 0; i < COUNT; i++) TSR_TRY(b->engine->copy(s.queue, &s.copy));
  b->machine->submit_copy = (tsr_now() - start) / COUNT;
  TSR_TRY(tsr_bench_finish(b, 0, s.queue, NULL));
  tsr_kernel_args args = tsr_bench_product(b, 0, TSR_D, 64, 64);
  TSR_TRY(b->engine->kernel(b->compute[0], &args)); /* the first of a shape takes longer */
  TSR_TRY(tsr_bench_finish(b, 0, b->compute[0], NULL));
  start = tsr_now();
  for (int i = 0; i < COUNT; i++) TSR_TRY(b->engine->kernel(b->compute[0], &args));
  b->machine->submit_kernel = (tsr_now() - start) / COUNT;
  TSR_TRY(tsr_bench_finish(b, 0, b->compute[0], NULL));
  return time_events(b, s.queue, b->compute[0]);
}
