/* The probe's kernels: rates by shape, what devices sustain, memory-bound kernels, submission. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "run/probe_bench.h"

/* Points of the table of rates. The host engine's devices are small threads. */
static const int64_t real_points[] = {128, 256, 512, 1024, 2048, 4096, 8192};
static const int64_t real_ks[] = {64, 256, 512, 1024, 2048, 4096, 8192};
static const int64_t quick_points[] = {16, 64, 192};
enum { REAL = 7, QUICK = 3 };

static const double real_time = 6e-3, quick_time = 1e-3; /* of one measurement */
static const double hot_time = 15e-3, hot_least_area = 512, hot_least_k = 256;

typedef struct grid {
  const int64_t *areas, *ks;
  int count;
  double seconds;
} grid;

static grid grid_of(const tsr_bench *b) {
  return b->options->quick ? (grid){quick_points, quick_points, QUICK, quick_time}
                           : (grid){real_points, real_ks, REAL, real_time};
}

/* ---- Rates by shape ---- */

/* One point: once to load the kernel, then as often as the time allows. */
static tsr_status measure_point(tsr_bench *b, tsr_type type, int64_t area, int64_t k, double limit,
                                double *flops) {
  tsr_kernel_args args = tsr_bench_product(b, 0, type, area, k);
  double once, each, latency = b->machine->device[0].kernel_latency;
  TSR_TRY(tsr_bench_kernels(b, 0, &args, 1, false, &once));
  TSR_TRY(tsr_bench_kernels(b, 0, &args, 1, false, &once));
  int repeats = once < limit ? (int)(limit / once) : 1;
  int most = b->options->quick ? 4 : 60; /* more cannot be submitted while the blocker runs */
  if (repeats > most) repeats = most;
  TSR_TRY(tsr_bench_kernels(b, 0, &args, repeats, once < 60e-6, &each));
  *flops =
      tsr_kernel_flops(TSR_KERNEL_GEMM, type, area, area, k) / fmax(each - latency, 0.3 * each);
  return TSR_OK;
}

static tsr_status measure_type(tsr_bench *b, const tsr_type_info *type, tsr_rates *rates) {
  grid g = grid_of(b);
  int64_t largest = tsr_bench_area(b, type->type, g.areas[g.count - 1]);
  rates->areas = rates->ks = g.count;
  for (int i = 0; i < g.count; i++)
    for (int j = 0; j < g.count; j++) {
      int64_t area = g.areas[i], k = g.ks[j];
      rates->area[i] = (double)area;
      rates->k[j] = (double)k;
      int64_t other = area > k ? area : k; /* A is area x k */
      if (area <= largest && area * k <= largest * largest && other <= 2 * largest)
        TSR_TRY(measure_point(b, type->type, area, k, g.seconds, &rates->flops[i][j]));
      else
        rates->flops[i][j] = i > 0 ? rates->flops[i - 1][j] : rates->flops[i][j - 1];
    }
  return TSR_OK;
}

/* ---- Sustained ---- */

static double best_of(const tsr_rates *rates) {
  double best = 0;
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++) best = fmax(best, rates->flops[i][j]);
  return best;
}

static tsr_status submit_everywhere(tsr_bench *b, tsr_type type, int64_t n, int times) {
  for (int i = 0; i < times; i++)
    for (int d = 0; d < b->devices; d++) {
      tsr_kernel_args args = tsr_bench_product(b, d, type, n, n);
      TSR_TRY(b->engine->kernel(b->compute[d], &args));
    }
  return TSR_OK;
}

/* Large kernels on all devices at once: the first half of the time brings them to the rate that
 * their power limit allows, the second is measured. rate[d] of each device. */
static tsr_status sustain(tsr_bench *b, tsr_type type, double seconds, double *rate) {
  int64_t n = tsr_bench_area(b, type, b->options->quick ? 192 : 8192);
  double flops = tsr_kernel_flops(TSR_KERNEL_GEMM, type, n, n, n);
  double each = flops / best_of(&b->machine->rates[tsr_type_index(type)]);
  int times = (int)(seconds / 2 / each) + 1;
  double middle[TSR_MAX_DEVICES], end;
  TSR_TRY(submit_everywhere(b, type, n, times));
  for (int d = 0; d < b->devices; d++) TSR_TRY(tsr_bench_finish(b, d, b->compute[d], &middle[d]));
  TSR_TRY(submit_everywhere(b, type, n, times));
  for (int d = 0; d < b->devices; d++) {
    TSR_TRY(tsr_bench_finish(b, d, b->compute[d], &end));
    rate[d] = times * flops / fmax(end - middle[d], 1e-9);
  }
  return TSR_OK;
}

static double mean_of(const double *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += values[i];
  return sum / count;
}

/* Devices that differ by more than chance get a speed of their own. */
static void set_speeds(tsr_bench *b, const double *rate) {
  double mean = mean_of(rate, b->devices);
  bool differ = false;
  for (int d = 0; d < b->devices; d++) differ |= fabs(rate[d] / mean - 1) > 0.05;
  for (int d = 0; d < b->devices; d++) b->machine->device[d].speed = differ ? rate[d] / rate[0] : 1;
}

/* One point of the table at the power limit, which the device has been brought to. */
static tsr_status measure_hot(tsr_bench *b, tsr_type type, int i, int j, tsr_rates *rates) {
  tsr_kernel_args args =
      tsr_bench_product(b, 0, type, (int64_t)rates->area[i], (int64_t)rates->k[j]);
  double flops = tsr_kernel_flops(TSR_KERNEL_GEMM, type, args.m, args.n, args.k);
  double each = flops / rates->flops[i][j], latency = b->machine->device[0].kernel_latency;
  TSR_TRY(tsr_bench_kernels(b, 0, &args, (int)(hot_time / each) + 1, false, &each));
  rates->hot[i][j] = fmin(rates->flops[i][j], flops / fmax(each - latency, 0.3 * each));
  return TSR_OK;
}

/* The rates at the power limit, of kernels large enough to reach it; the largest first, since the
 * device comes from such. factor: of the mean device to the one that is measured. */
static tsr_status measure_all_hot(tsr_bench *b, tsr_type type, double factor, tsr_rates *rates) {
  tsr_rates_guess_hot(rates);
  if (b->options->quick) return TSR_OK;
  int64_t largest = tsr_bench_area(b, type, real_points[REAL - 1]);
  for (int i = rates->areas - 1; i >= 0 && rates->area[i] >= hot_least_area; i--)
    for (int j = rates->ks - 1; j >= 0 && rates->k[j] >= hot_least_k; j--) {
      if (rates->area[i] > (double)largest || rates->k[j] > (double)largest) continue;
      TSR_TRY(measure_hot(b, type, i, j, rates));
      rates->hot[i][j] = fmin(rates->hot[i][j] * factor, rates->flops[i][j]);
    }
  return TSR_OK;
}

static tsr_status measure_sustained(tsr_bench *b, const tsr_type_info *type, tsr_rates *rates) {
  double rate[TSR_MAX_DEVICES] = {1};
  bool leading = type->type == TSR_D || type->type == TSR_S;
  TSR_TRY(sustain(b, type->type, b->options->quick ? 5e-3 : leading ? 0.7 : 0.25, rate));
  if (type->type == TSR_D && !b->options->quick) set_speeds(b, rate);
  double mean = mean_of(rate, b->devices);
  rates->sustained = fmin(mean, best_of(rates));
  return measure_all_hot(b, type->type, mean / rate[0], rates);
}

/* ---- Kernels bound by memory, and the cost of a kernel ---- */

static tsr_kernel_args addition(tsr_bench *b, int64_t n) {
  tsr_kernel_args args = tsr_bench_product(b, 0, TSR_D, n, n);
  args.kernel = TSR_KERNEL_ADD;
  args.beta = (tsr_scalar){1, 0};
  return args;
}

static tsr_status measure_memory(tsr_bench *b) {
  int64_t n = tsr_bench_area(b, TSR_D, b->options->quick ? 256 : 8192), small = 16;
  double first, each, latency;
  tsr_kernel_args args = addition(b, small);
  TSR_TRY(tsr_bench_kernels(b, 0, &args, 1, false, &first));
  TSR_TRY(tsr_bench_kernels(b, 0, &args, b->options->quick ? 10 : 60, true, &latency));
  args = addition(b, n);
  TSR_TRY(tsr_bench_kernels(b, 0, &args, 1, false, &first));
  TSR_TRY(tsr_bench_kernels(b, 0, &args, 4, false, &each));
  double bytes = tsr_kernel_bytes(TSR_KERNEL_ADD, TSR_D, n, n, false, true);
  for (int d = 0; d < b->devices; d++) {
    b->machine->device[d].kernel_latency = latency;
    b->machine->device[d].memory_rate = bytes / fmax(each - latency, 0.1 * each);
  }
  return TSR_OK;
}

tsr_status tsr_probe_kernels(tsr_bench *b) {
  TSR_TRY(tsr_bench_fill(b, TSR_D));
  TSR_TRY(measure_memory(b));
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    const tsr_type_info *type = tsr_type_at(i);
    tsr_bench_progress(b, 0.4 + 0.5 * i / TSR_TYPE_COUNT, type->name);
    TSR_TRY(tsr_bench_fill(b, type->type));
    TSR_TRY(measure_type(b, type, &b->machine->rates[i]));
    TSR_TRY(measure_sustained(b, type, &b->machine->rates[i]));
  }
  return TSR_OK;
}

/* ---- Submission ---- */

tsr_status tsr_probe_submission(tsr_bench *b) {
  enum { COUNT = 100 };
  tsr_stream s;
  TSR_TRY(tsr_bench_fill(b, TSR_D));
  TSR_TRY(tsr_bench_stream(b, TSR_HOST, 0, 64 << 10, &s));
  s.copy.width = 512; /* of columns, as plans' copies are */
  s.copy.from_pitch = s.copy.to_pitch = 1024;
  s.copy.height = 32;
  double start = tsr_now();
  for (int i = 0; i < COUNT; i++) TSR_TRY(b->engine->copy(s.queue, &s.copy));
  b->machine->submit_copy = (tsr_now() - start) / COUNT;
  TSR_TRY(tsr_bench_finish(b, 0, s.queue, NULL));
  tsr_kernel_args args = tsr_bench_product(b, 0, TSR_D, 64, 64);
  TSR_TRY(b->engine->kernel(b->compute[0], &args)); /* the first of a shape costs more */
  TSR_TRY(tsr_bench_finish(b, 0, b->compute[0], NULL));
  start = tsr_now();
  for (int i = 0; i < COUNT; i++) TSR_TRY(b->engine->kernel(b->compute[0], &args));
  b->machine->submit_kernel = (tsr_now() - start) / COUNT;
  return tsr_bench_finish(b, 0, b->compute[0], NULL);
}
