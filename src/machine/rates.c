/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Times of copies, kernels and calls of the CPU's BLAS, from the rates of the machine. */
#include <math.h>
#include <string.h>

#include "machine/machine.h"
#include "machine/tuning.h"

/* ---- Links ---- */

double tsr_curve_at(const tsr_curve *curve, double size) {
  int last = curve->count - 1;
  if (last < 0) return 0;
  if (!(size > curve->size[0])) return curve->rate[0];
  if (size >= curve->size[last]) return curve->rate[last];
  int i = 1;
  while (size > curve->size[i]) i++;
  double part = log(size / curve->size[i - 1]) / log(curve->size[i] / curve->size[i - 1]);
  return curve->rate[i - 1] + part * (curve->rate[i] - curve->rate[i - 1]);
}

double tsr_link_rate(const tsr_link *link, tsr_segments segments) {
  if (link->bandwidth <= 0 || link->shape.count == 0) return link->bandwidth;
  bool close =
      link->close.shape.count > 0 && segments.pitch > 0 && segments.pitch <= link->close.pitch;
  const tsr_curve *shape = close ? &link->close.shape : &link->shape;
  return fmin(link->bandwidth, tsr_curve_at(shape, segments.length));
}

/* ---- Kernels ---- */

/*
 * The efficiency of a recent GPU, in TFLOP/s: cuBLAS DGEMM on an NVIDIA H200 (CUDA 13.0), whose
 * best rate is 62.8; 2 us of fixed cost are subtracted from each kernel. Measured: n x n x n for n
 * = 512 .. 8192, 2048 x 2048 x 256 .. 8192, 512 x 512 x 8192, 1024 x 1024 x 8192, 8192 x 8192 x
 * 256. The others are estimated from these. The row of 128 is a 14th of the row of 512: there the
 * time hardly depends on the area, since the thread blocks do not fill the device.
 */
enum { SHAPE_AREAS = 6, SHAPE_KS = 6 };
static const double shape_area[SHAPE_AREAS] = {128, 512, 1024, 2048, 4096, 8192};
static const double shape_k[SHAPE_KS] = {64, 256, 512, 1024, 2048, 8192};
static const double shape_best = 62.8;
static const double shape[SHAPE_AREAS][SHAPE_KS] = {
    {0.79, 1.86, 2.41, 2.84, 3.10, 3.36}, {11.0, 26.1, 33.8, 39.7, 43.4, 47.0},
    {19.0, 40.0, 48.5, 53.5, 55.7, 57.4}, {20.5, 41.5, 51.2, 56.7, 60.0, 62.0},
    {24.0, 48.0, 55.0, 59.0, 61.5, 62.8}, {28.0, 52.1, 57.0, 60.0, 62.0, 62.8},
};

void tsr_machine_set_rate(tsr_machine *machine, tsr_type type, double flops) {
  int index = tsr_type_index(type);
  if (index < 0) return;
  tsr_rates *rates = &machine->rates[index];
  *rates = (tsr_rates){.areas = SHAPE_AREAS, .ks = SHAPE_KS, .sustained = flops};
  memcpy(rates->area, shape_area, sizeof shape_area);
  memcpy(rates->k, shape_k, sizeof shape_k);
  for (int i = 0; i < SHAPE_AREAS; i++)
    for (int j = 0; j < SHAPE_KS; j++) rates->flops[i][j] = flops * (shape[i][j] / shape_best);
  tsr_rates_guess_hot(rates);
}

void tsr_rates_guess_hot(tsr_rates *rates) {
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++)
      rates->hot[i][j] = fmin(rates->flops[i][j], rates->sustained);
}

/* Finds the interval of ascending points that value is in: between *below and the next point.
 * Returns how far it is from *below, 0 to 1, in the logarithm. */
static double locate(const double *points, int count, double value, int *below) {
  *below = 0;
  if (count < 2 || !(value > points[0])) return 0;
  if (value >= points[count - 1]) {
    *below = count - 2;
    return 1;
  }
  while (value > points[*below + 1]) ++*below;
  return log(value / points[*below]) / log(points[*below + 1] / points[*below]);
}

/* Interpolates in the logarithm of the rate: between two measured sizes a rate follows a power of
 * the size, and times keep growing with the work. */
static double log_mean(double a, double b, double part) {
  if (part == 0) return a;
  return part == 1 ? b : a * exp(part * log(b / a));
}

typedef const double rate_table[TSR_RATE_POINTS][TSR_RATE_POINTS];

static double rate_at(const tsr_rates *rates, rate_table flops, double area, double k) {
  int i, j;
  double p = locate(rates->area, rates->areas, area, &i), q = locate(rates->k, rates->ks, k, &j);
  int next_i = i + 1 < rates->areas ? i + 1 : i, next_j = j + 1 < rates->ks ? j + 1 : j;
  double low = log_mean(flops[i][j], flops[i][next_j], q);
  double high = log_mean(flops[next_i][j], flops[next_i][next_j], q);
  return log_mean(low, high, p);
}

double tsr_rates_of(const tsr_rates *rates, double m, double n, double k) {
  return rate_at(rates, rates->flops, sqrt(m * n), k);
}

/* Rate of an m x n product in short runs / rate of a square of the same area. At the power limit a
 * narrow product may be as fast as the square. */
static double narrowness(const tsr_rates *rates, double m, double n) {
  if (rates->narrow.count == 0 || m == n) return 1;
  double part = fmin(1, fabs(log(m / n)) / log(TSR_TUNE_NARROW_FULL));
  return 1 + part * (tsr_curve_at(&rates->narrow, fmin(m, n)) - 1);
}

/* Returns the elements of a and b that a kernel uses; *c: those of c. A triangle counts as half of
 * its square. */
static double count_elements(const tsr_kernel_info *kernel, double m, double n, double k,
                             double *c) {
  *c = m * n * (kernel->traits & TSR_TRIANGLE_OF_C ? 0.5 : 1);
  if (kernel->traits & TSR_IN_PLACE) return k * k / 2;
  if (kernel->traits & TSR_TRIANGLE_OF_A) return k * k / 2 + m * n;
  return kernel->access[1] == TSR_NONE ? m * k : m * k + k * n;
}

/* Bytes of an element of c. */
static double c_size(tsr_type type, bool wide) {
  const tsr_type_info *of = tsr_type_get(type);
  return (double)(wide ? tsr_type_get(of->wide)->size : of->size);
}

/* Bytes that a product moves at least. A narrow product uses each element only a few times, so its
 * time is bound by them (Choi et al., "Tuning of a matrix-matrix multiplication algorithm for
 * several GPUs", equations 1 and 5). */
static double product_bytes(tsr_kernel kernel, tsr_type type, double m, double n, double k,
                            bool wide, bool reads_c) {
  const tsr_kernel_info *info = tsr_kernel_get(kernel);
  const tsr_type_info *of = tsr_type_get(type);
  double c;
  double inputs = count_elements(info, m, n, k, &c);
  bool twice = reads_c || info->traits & TSR_IN_PLACE;
  return (double)of->size * inputs + c_size(type, wide) * c * (twice ? 2 : 1);
}

/* Bytes that a product reads of the old c. Measured rates are those of products that only write c.
 * Kernels read c at their end, when they multiply nothing, so adding to c costs the time of this
 * reading (NVIDIA H200, 16384 x 16384 x 1024, TFLOP/s without and with it: fp16 with sums in fp32
 * 551 and 444, TF32 309 and 263, fp32 51 and 49). */
static double reading_bytes(tsr_kernel kernel, tsr_type type, double m, double n, double k,
                            bool wide) {
  const tsr_kernel_info *info = tsr_kernel_get(kernel);
  double c;
  count_elements(info, m, n, k, &c);
  return info->traits & TSR_IN_PLACE ? 0 : c_size(type, wide) * c;
}

/* How often a kernel goes through its triangle for the lines beside it: once for every
 * TSR_TUNE_LINES_AT_ONCE lines. lines = m n / k. */
static double rounds_of(int64_t m, int64_t n, int64_t k) {
  return ceil((double)m * (double)n / (double)k / TSR_TUNE_LINES_AT_ONCE);
}

/* Seconds of inverting a triangle of order k. */
static double inverting_time(const tsr_machine *machine, int index, tsr_type type, int64_t k) {
  return (TSR_TUNE_INVERSE_FIRST + TSR_TUNE_INVERSE_ROW * (double)k) /
         tsr_machine_speed(machine, index, type);
}

/* Seconds of solving by the inverse of a triangle: of the product with the inverse, and of copying
 * the lines back from where the product has put them. */
static double solving_time(const tsr_machine *machine, int index, tsr_type type, int64_t m,
                           int64_t n, int64_t k, double heat) {
  double back = tsr_kernel_bytes(TSR_KERNEL_SCALE, type, m, n, false, true) /
                machine->device[index].memory_rate;
  return back + tsr_machine_kernel_time(machine, index, TSR_KERNEL_GEMM, type, m, n, k, false,
                                        false, heat);
}

static bool inverts(tsr_kernel kernel, int64_t m, int64_t n, int64_t k) {
  return kernel == TSR_KERNEL_TRSM && k > 0 && tsr_kernel_inverts(k, m == k ? n : m);
}

/* Factor on the time of a GEMM whose k is no multiple of a load. It is 1 if tsr_kernel_align can
 * make the last few products a kernel of their own. It cannot where C is narrower than its sums. */
static double detour(tsr_kernel kernel, tsr_type type, int64_t k, bool wide) {
  bool whole = kernel == TSR_KERNEL_GEMM && tsr_kernel_rounds_sums(type, wide);
  return whole && k % tsr_kernel_granule(tsr_type_get(type)->size) != 0 ? TSR_TUNE_ODD_K_SLOWER : 1;
}

bool tsr_machine_takes_blocks(const tsr_machine *machine, tsr_kernel kernel, tsr_type type) {
  const tsr_rates *rates = &machine->rates[tsr_type_index(type)];
  if (kernel == TSR_KERNEL_GEMMT) return rates->trapezoid.count > 0;
  const struct tsr_routine *routine = &rates->routine[kernel];
  return routine->blocks > routine->vendor;
}

/* The two ways of a level-3 routine, and a trapezoid by squares, which is treated as a GEMM with as
 * many elements of c; other kernels have the first. */
typedef enum way { BY_VENDOR, BY_BLOCKS, BY_SQUARES } way;

/* Seconds of `computing`, the time of a GEMM of the same extents, for the kernel: by its part of a
 * GEMM's rate that was measured, on square matrices, but no less than a GEMM and what a routine
 * takes for each row of its triangle, however few lines are beside it. */
static double kernel_part(const tsr_rates *rates, tsr_kernel kernel, way by, tsr_type type,
                          double computing, int64_t m, int64_t n, int64_t k) {
  const tsr_kernel_info *info = tsr_kernel_get(kernel);
  const struct tsr_routine *routine = &rates->routine[kernel];
  double measured = by == BY_BLOCKS ? routine->blocks : routine->vendor;
  double serial = info->serial > 0 ? info->serial * (double)k * rounds_of(m, n, k) : 0;
  tsr_kernel_least few = tsr_kernel_least_of(kernel, type);
  double least = by == BY_VENDOR ? few.row * (double)k + few.products * computing : 0;
  if (measured <= 0) return fmax(computing / info->rate, least) + serial;
  return fmax(computing / measured, fmax(serial > 0 ? computing + serial : 0, least));
}

/* Whether the kernel is one GEMM with a triangle that is made whole: symm and hemm by blocks. (trmm
 * by blocks is several: levels_time.) */
static bool fills(tsr_kernel kernel, way by, int64_t k) {
  return by == BY_BLOCKS && tsr_kernel_fills(kernel) && k > 0;
}

/* Seconds of making a whole square of the triangle of order k, half of which is read. */
static double filling_time(const tsr_device *device, tsr_kernel kernel, tsr_type type, int64_t k) {
  double order = (double)k, block = fmin(order, tsr_kernel_block(kernel, type));
  double bytes = 1.5 * order * block * (double)tsr_type_get(type)->size;
  return device->kernel_latency * ceil(order / block) + bytes / device->memory_rate;
}

/* Flops/s in short runs. At the power limit, squares are as fast as one product. */
static double short_rate(const tsr_rates *rates, way by, int64_t m, int64_t n, int64_t k) {
  double elements = (double)m * (double)n;
  double rate = rate_at(rates, rates->flops, sqrt(elements), (double)k);
  if (by == BY_SQUARES) rate *= tsr_curve_at(&rates->trapezoid, sqrt(2 * elements));
  return rate * narrowness(rates, (double)m, (double)n);
}

/* Seconds of one or several GEMMs side by side, with so many rows of c in all. */
static double batch_time(const tsr_rates *rates, const tsr_device *device, tsr_type type,
                         int64_t rows, int64_t lines, int64_t k, double heat) {
  double area = sqrt((double)rows * (double)lines);
  double cool = rate_at(rates, rates->flops, area, (double)k);
  double hot = fmin(cool, rate_at(rates, rates->hot, area, (double)k));
  double flops = tsr_kernel_flops(TSR_KERNEL_GEMM, type, rows, lines, k);
  return device->kernel_latency + flops * ((1 - heat) / cool + heat / hot);
}

/* Seconds of trmm with a triangle of order k by products, without the kernel_latency: the squares
 * on its diagonal, which are made first, are one batch; then come, in a batch for each level, what
 * is beside pairs of squares, beside pairs of these, and so on. Kernels before or behind them read
 * the lines beside the triangle, to find elements that are not finite. Measured on an NVIDIA H200
 * with orders of 512 to 2048 and 512 to 8192 lines: 0.96 to 1.18 of this. */
static double levels_time(const tsr_machine *machine, const tsr_device *device, tsr_type type,
                          int64_t lines, int64_t k, bool reads_c, double heat) {
  const tsr_rates *rates = &machine->rates[tsr_type_index(type)];
  if (rates->areas == 0 || rates->ks == 0) return INFINITY;
  int64_t leaf = tsr_kernel_block(TSR_KERNEL_TRMM, type);
  if (leaf > k) leaf = k;
  double size = (double)tsr_type_get(type)->size, order = (double)k;
  double others = device->kernel_latency * (reads_c ? 3 : 2); /* make squares, mend, put */
  double bytes = size * (1.5 * order * (double)leaf + order * (double)lines);
  double seconds = others + bytes / device->memory_rate - device->kernel_latency;
  seconds += batch_time(rates, device, type, k, lines, leaf, heat);
  for (int64_t half = leaf; half < k; half *= 2)
    seconds += batch_time(rates, device, type, k / 2, lines, half, heat);
  seconds /= tsr_machine_speed(machine, (int)(device - machine->device), type);
  double old = reads_c ? size * order * (double)lines : 0;
  return seconds + old / device->memory_rate;
}

/* Seconds of a kernel that is not bound by memory, without the kernel_latency: flops / (rate of a
 * GEMM of the same extents x the kernel's part of that rate), or the time of its bytes if that is
 * longer. */
static double product_time(const tsr_machine *machine, const tsr_device *device, tsr_kernel kernel,
                           way by, tsr_type type, int64_t m, int64_t n, int64_t k, bool wide,
                           bool reads_c, double heat) {
  const tsr_rates *rates = &machine->rates[tsr_type_index(type)];
  if (rates->areas == 0 || rates->ks == 0) return INFINITY;
  double area = sqrt((double)m * (double)n);
  double flops = tsr_kernel_flops(kernel, type, m, n, k);
  double cool = short_rate(rates, by, m, n, k);
  double hot = fmin(cool, rate_at(rates, rates->hot, area, (double)k));
  double bytes = product_bytes(kernel, type, (double)m, (double)n, (double)k, wide, reads_c);
  double computing = flops * ((1 - heat) / cool + heat / hot);
  computing *= detour(kernel, type, k, wide);
  double speed = tsr_machine_speed(machine, (int)(device - machine->device), type);
  double filled = 0;
  if (fills(kernel, by, k)) filled = computing / speed + filling_time(device, kernel, type, k);
  computing = fmax(kernel_part(rates, kernel, by, type, computing, m, n, k) / speed, filled);
  if (reads_c)
    computing +=
        reading_bytes(kernel, type, (double)m, (double)n, (double)k, wide) / device->memory_rate;
  return fmax(computing, bytes / device->memory_rate);
}

double tsr_machine_kernel_bytes(tsr_kernel kernel, tsr_type type, int64_t m, int64_t n, int64_t k,
                                bool wide, bool reads_c) {
  if (tsr_kernel_multiplies_forms(kernel) || tsr_kernel_makes_form(kernel)) return 0;
  if (tsr_kernel_get(kernel)->bound_by_memory)
    return tsr_kernel_bytes(kernel, type, m, n, wide, reads_c);
  return product_bytes(kernel, type, (double)m, (double)n, (double)k, wide, reads_c);
}

double tsr_machine_kernel_time(const tsr_machine *machine, int device, tsr_kernel kernel,
                               tsr_type type, int64_t m, int64_t n, int64_t k, bool wide,
                               bool reads_c, double heat) {
  const tsr_device *d = &machine->device[device];
  if (kernel == TSR_KERNEL_GEMMT) kernel = TSR_KERNEL_GEMM; /* of all of c */
  if (kernel == TSR_KERNEL_INVERT)
    return d->kernel_latency + inverting_time(machine, device, type, k);
  if (kernel == TSR_KERNEL_SOLVE) return solving_time(machine, device, type, m, n, k, heat);
  if (inverts(kernel, m, n, k))
    return inverting_time(machine, device, type, k) +
           solving_time(machine, device, type, m, n, k, heat);
  double working =
      tsr_kernel_get(kernel)->bound_by_memory
          ? tsr_kernel_bytes(kernel, type, m, n, wide, reads_c) / d->memory_rate
          : product_time(machine, d, kernel, BY_VENDOR, type, m, n, k, wide, reads_c, heat);
  return d->kernel_latency + working;
}

double tsr_machine_blocks_time(const tsr_machine *machine, int device, tsr_kernel kernel,
                               tsr_type type, int64_t m, int64_t n, int64_t k, bool wide,
                               bool reads_c, double heat) {
  const tsr_device *d = &machine->device[device];
  if (kernel == TSR_KERNEL_GEMMT) {
    if (tsr_kernel_square(type, m, n) == 0)
      return tsr_machine_kernel_time(machine, device, kernel, type, m, n, k, wide, reads_c, heat);
    /* A small kernel lists the squares. */
    return 2 * d->kernel_latency + product_time(machine, d, TSR_KERNEL_GEMM, BY_SQUARES, type,
                                                m - (n - 1) / 2, n, k, wide, reads_c, heat);
  }
  double working =
      kernel == TSR_KERNEL_TRMM && k > 0
          ? levels_time(machine, d, type, m * n / k, k, reads_c, heat)
          : product_time(machine, d, kernel, BY_BLOCKS, type, m, n, k, wide, reads_c, heat);
  return d->kernel_latency + working;
}

/* ---- Kernels on a form ---- */

/* The type whose products take a known part of the time of the unit's: bf16 itself, and for 8-bit
 * integers fp16, which the same units compute; the type's own real type on a machine whose 16-bit
 * rate is not known. */
static tsr_type like_unit(const tsr_machine *machine, const tsr_arithmetic *arithmetic,
                          tsr_type type, double *ratio) {
  bool integers = arithmetic->unit == TSR_UNIT_INT8;
  tsr_type like = integers ? TSR_H : TSR_B;
  bool known = machine->rates[tsr_type_index(like)].areas > 0;
  *ratio = known && integers ? TSR_TUNE_INTEGERS_OF_HALF : 1;
  if (known) return like;
  return type == TSR_Z ? TSR_D : type == TSR_C ? TSR_S : type;
}

/* The measured rates of the unit's kernels, which are of the products that are usual for the type;
 * NULL: nothing was measured. */
static const struct tsr_emulated *measured_rates(const tsr_machine *machine,
                                                 const tsr_arithmetic *arithmetic, tsr_type type) {
  const struct tsr_emulated *emulated = &machine->rates[tsr_type_index(type)].emulated;
  return arithmetic->unit == TSR_UNIT_INT8 && emulated->sustained > 0 ? emulated : NULL;
}

/* How fast a device is in products of the unit beside the one of the table. */
static double unit_speed(const tsr_machine *machine, int device, const tsr_arithmetic *arithmetic,
                         tsr_type type) {
  double ratio;
  return tsr_machine_speed(machine, device, like_unit(machine, arithmetic, type, &ratio));
}

/* A line is read for its greatest magnitude, for its sums and to be converted; its parts are
 * written, and the line itself if it is kept. */
double tsr_machine_form_time(const tsr_machine *machine, int device,
                             const tsr_arithmetic *arithmetic, const tsr_promise *promise,
                             tsr_type type, int64_t k, int64_t lines) {
  const tsr_device *d = &machine->device[device];
  const struct tsr_emulated *emulated = &machine->rates[tsr_type_index(type)].emulated;
  double size = (double)tsr_type_get(type)->size, elements = (double)k * (double)lines;
  int parts = tsr_arithmetic_planes(arithmetic, type) * arithmetic->part_bytes;
  double by_memory = elements * (3 * size + parts) / d->memory_rate;
  bool measured = arithmetic->unit == TSR_UNIT_INT8 && emulated->elements > 0;
  double working = measured
                       ? elements / emulated->elements * tsr_arithmetic_share(arithmetic, type) /
                             unit_speed(machine, device, arithmetic, type)
                       : by_memory;
  double kept = promise->keeps_lines ? elements * size / d->memory_rate : 0;
  return tsr_form_latency(d) + working + kept;
}

/* Seconds by the rate of 16-bit products. Each product of the unit writes sums of 4 bytes, which
 * are read and reduced to one byte; recovering reads these. */
static double guess_form_gemm(const tsr_machine *machine, const tsr_device *d,
                              const tsr_arithmetic *arithmetic, tsr_type type, int64_t m, int64_t n,
                              int64_t k, bool reads_c, double heat) {
  double ratio, size = (double)tsr_type_get(type)->size;
  tsr_type like = like_unit(machine, arithmetic, type, &ratio);
  bool wide = tsr_type_get(like)->wide != like;
  double one =
      product_time(machine, d, TSR_KERNEL_GEMM, BY_VENDOR, like, m, n, k, wide, false, heat);
  int products = tsr_arithmetic_products(arithmetic, type);
  double bytes = (double)m * (double)n * (6.0 * products + size * (reads_c ? 2 : 1));
  return products * one / (ratio * TSR_TUNE_INTEGERS_REACHED) + bytes / d->memory_rate;
}

/* Seconds by measured rates, which are those of products that only write c. */
static double measured_form_gemm(const tsr_machine *machine, int device,
                                 const tsr_arithmetic *arithmetic, tsr_type type, int64_t m,
                                 int64_t n, int64_t k, bool reads_c, double heat) {
  const tsr_rates *rates = &machine->rates[tsr_type_index(type)];
  double cool = rate_at(rates, rates->emulated.flops, sqrt((double)m * (double)n), (double)k);
  double hot = fmin(cool, rates->emulated.sustained);
  double flops =
      tsr_kernel_flops(TSR_KERNEL_GEMM, type, m, n, k) * tsr_arithmetic_share(arithmetic, type);
  double reading = reads_c ? (double)tsr_type_get(type)->size * (double)m * (double)n : 0;
  return flops * ((1 - heat) / cool + heat / hot) / unit_speed(machine, device, arithmetic, type) +
         reading / machine->device[device].memory_rate;
}

double tsr_machine_form_gemm_time(const tsr_machine *machine, int device,
                                  const tsr_arithmetic *arithmetic, tsr_type type, int64_t m,
                                  int64_t n, int64_t k, bool reads_c, double heat) {
  const tsr_device *d = &machine->device[device];
  bool measured = measured_rates(machine, arithmetic, type) != NULL;
  return tsr_form_latency(d) +
         (measured ? measured_form_gemm(machine, device, arithmetic, type, m, n, k, reads_c, heat)
                   : guess_form_gemm(machine, d, arithmetic, type, m, n, k, reads_c, heat));
}

double tsr_rates_greatest(const tsr_rates *rates,
                          const double flops[TSR_RATE_POINTS][TSR_RATE_POINTS]) {
  double best = 0;
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++) best = fmax(best, flops[i][j]);
  return best;
}

/* Between the best rate of short runs and the sustained one. */
static double limit_between(double best, double sustained, double heat) {
  if (sustained <= 0 || sustained > best) return best;
  return best - heat * (best - sustained);
}

double tsr_machine_form_limit(const tsr_machine *machine, const tsr_arithmetic *arithmetic,
                              tsr_type type, double heat) {
  const tsr_rates *rates = &machine->rates[tsr_type_index(type)];
  const struct tsr_emulated *emulated = measured_rates(machine, arithmetic, type);
  if (emulated != NULL)
    return limit_between(tsr_rates_greatest(rates, emulated->flops), emulated->sustained, heat) /
           tsr_arithmetic_share(arithmetic, type);
  double ratio;
  tsr_type like = like_unit(machine, arithmetic, type, &ratio);
  double flops = tsr_type_get(type)->flop_factor / 2.0; /* that two of the unit stand for */
  return tsr_machine_rate_limit(machine, like, heat) * ratio * flops /
         tsr_arithmetic_products(arithmetic, type);
}

double tsr_machine_best_rate(const tsr_machine *machine, tsr_type type) {
  const tsr_rates *rates = &machine->rates[tsr_type_index(type)];
  return tsr_rates_greatest(rates, rates->flops);
}

/* A call with few seconds of kernels, or with kernels for a small share of its time, leaves a
 * device below its power limit. */
double tsr_machine_heat(double seconds, double duty) {
  if (seconds < TSR_TUNE_SUSTAINED_AFTER) return 0;
  return fmin(1, fmax(0, (duty - TSR_TUNE_COOL_BELOW) / (1 - TSR_TUNE_COOL_BELOW)));
}

double tsr_machine_rate_limit(const tsr_machine *machine, tsr_type type, double heat) {
  return limit_between(tsr_machine_best_rate(machine, type),
                       machine->rates[tsr_type_index(type)].sustained, heat);
}

/* The best rate of a table with no longer k: between two points of the table a rate is no better
 * than at the better one (rate_at). */
static double best_of_k(const tsr_rates *rates, rate_table flops, double k) {
  double best = 0;
  for (int i = 0; i < rates->areas; i++) {
    best = fmax(best, rate_at(rates, flops, rates->area[i], k));
    for (int j = 0; j < rates->ks && rates->k[j] <= k; j++) best = fmax(best, flops[i][j]);
  }
  return best;
}

double tsr_machine_rate_limit_of_k(const tsr_machine *machine, tsr_type type, double k,
                                   double heat) {
  const tsr_rates *rates = &machine->rates[tsr_type_index(type)];
  double cool = best_of_k(rates, rates->flops, k), narrow = 1;
  for (int i = 0; i < rates->narrow.count; i++) narrow = fmax(narrow, rates->narrow.rate[i]);
  cool *= narrow;
  double hot = fmin(cool, best_of_k(rates, rates->hot, k));
  return cool > 0 && hot > 0 ? 1 / ((1 - heat) / cool + heat / hot) : 0;
}

/* CPU_READS: a copy reads and writes, so the CPU reads memory about twice as fast as all staging
 * threads together copy it. */
double tsr_machine_cpu_time(const tsr_machine *machine, tsr_type type, double flops, double bytes) {
  double rate = machine->cpu_flops[tsr_type_index(type)],
         memory = TSR_TUNE_CPU_READS * machine->staging_rate;
  if (rate <= 0) return INFINITY;
  return machine->cpu_latency + fmax(flops / rate, memory > 0 ? bytes / memory : 0);
}
