/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "machine/machine.h"
#include "tessera_model.h"

static tsr_machine *parse(const char *string) {
  tsr_machine *machine = NULL;
  if (tsr_machine_parse(string, &machine) != TSR_OK) fail_msg("%s", tsr_message());
  return machine;
}

static void curves(void **state) {
  (void)state;
  const tsr_curve curve = {3, {4096, 8192, 65536}, {20, 30, 54}}, none = {0};
  assert_true(tsr_curve_at(&none, 5) == 0);
  assert_true(tsr_curve_at(&curve, 1) == 20 && tsr_curve_at(&curve, 4096) == 20);
  assert_true(tsr_curve_at(&curve, 8192) == 30 && tsr_curve_at(&curve, 1e9) == 54);
  assert_true(fabs(tsr_curve_at(&curve, 4096 * sqrt(2)) - 25) < 1e-9);
  assert_true(fabs(tsr_curve_at(&curve, 16384) - 38) < 1e-9);
}

static void link_rates(void **state) {
  (void)state;
  const tsr_segments one = {8, 0}, long_one = {1e6, 0};
  tsr_link link = {.bandwidth = 50};
  assert_true(tsr_link_rate(&link, one) == 50);
  link.shape = (tsr_curve){2, {1024, 4096}, {10, 70}};
  assert_true(tsr_link_rate(&link, one) == 10);
  assert_true(tsr_link_rate(&link, long_one) == 50); /* never more than the link carries */
  link.bandwidth = 0;
  assert_true(tsr_link_rate(&link, long_one) == 0);
}

/* Short segments that are close together have rates of their own, up to the pitch of these. */
static void link_rates_of_close_segments(void **state) {
  (void)state;
  const tsr_segments one = {1024, 0}, close = {1024, 32768}, closer = {1024, 2048},
                     far = {1024, 32776};
  tsr_link link = {.bandwidth = 50, .shape = {2, {1024, 65536}, {10, 70}}};
  assert_true(tsr_link_rate(&link, close) == 10); /* as before there were rates of close ones */
  link.close = (struct tsr_close){32768, {2, {1024, 16384}, {20, 60}}};
  assert_true(tsr_link_rate(&link, close) == 20 && tsr_link_rate(&link, closer) == 20);
  assert_true(tsr_link_rate(&link, far) == 10 && tsr_link_rate(&link, one) == 10);
  assert_true(tsr_link_rate(&link, (tsr_segments){4096, 32768}) == 40);
  assert_true(tsr_link_rate(&link, (tsr_segments){16384, 32768}) == 50);
}

/* The rates of close segments are part of the digest, where there are any. */
static void digest_of_close_segments(void **state) {
  (void)state;
  tsr_machine *m = parse("host:100 gpu*2@nvlink:50 pcie:25");
  m->link[2][0].shape = (tsr_curve){2, {10, 20}, {1, 2}};
  uint64_t without = tsr_machine_digest(m);
  m->link[2][0].close.pitch = 32;
  assert_true(tsr_machine_digest(m) == without);
  m->link[2][0].close.shape = (tsr_curve){2, {10, 20}, {2, 3}};
  uint64_t with = tsr_machine_digest(m);
  assert_true(with != without);
  m->link[2][0].close.pitch = 64;
  assert_true(tsr_machine_digest(m) != with);
  m->link[2][0].close.pitch = 32;
  m->link[2][0].close.shape.rate[1] = 4;
  assert_true(tsr_machine_digest(m) != with);
  tsr_machine_destroy(m);
}

/* Seconds of a GEMM that only writes C. */
static double gemm_time(const tsr_machine *m, tsr_type type, int64_t rows, int64_t cols,
                        int64_t k) {
  return tsr_machine_kernel_time(m, 0, TSR_KERNEL_GEMM, type, rows, cols, k, false, false, 0);
}

static double wide_time(const tsr_machine *m, tsr_type type, int64_t rows, int64_t cols,
                        int64_t k) {
  return tsr_machine_kernel_time(m, 0, TSR_KERNEL_GEMM, type, rows, cols, k, true, false, 0);
}

/* A sum that is rounded to 16 bits is not cut, so an odd k makes its loads unaligned and the
 * product slow. */
static void odd_sums_in_16_bits_are_slow(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1 rate:60");
  assert_true(gemm_time(m, TSR_B, 4096, 4096, 4095) > 4 * gemm_time(m, TSR_B, 4096, 4096, 4096));
  assert_true(wide_time(m, TSR_B, 4096, 4096, 4095) <= wide_time(m, TSR_B, 4096, 4096, 4096));
  tsr_machine_destroy(m);
}

static void times_grow_with_the_work(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1 rate:60");
  const int64_t sizes[] = {1,   16,  63,   64,   100,  128,  200,  256,  511,
                           512, 700, 1024, 1500, 2048, 3000, 4096, 8192, 20000};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  for (int t = 0; t < TSR_TYPE_COUNT; t++) {
    tsr_type type = tsr_type_at(t)->type;
    for (int i = 0; i + 1 < SIZES; i++) {
      for (int j = 0; j < SIZES; j++) {
        int64_t a = sizes[i], b = sizes[i + 1], other = sizes[j];
        assert_true(gemm_time(m, type, a, other, 512) <= gemm_time(m, type, b, other, 512));
        assert_true(gemm_time(m, type, other, a, 512) <= gemm_time(m, type, other, b, 512));
        assert_true(wide_time(m, type, other, other, a) <= wide_time(m, type, other, other, b));
        if (a % 8 == 0 && b % 8 == 0)
          assert_true(gemm_time(m, type, other, other, a) <= gemm_time(m, type, other, other, b));
      }
    }
  }
  tsr_machine_destroy(m);
}

static void a_table_is_met_at_its_points(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1 rate:62.8 launch:2 hbm:4000");
  double n = 2048, t = gemm_time(m, TSR_D, 2048, 2048, 2048);
  assert_true(fabs(2 * n * n * n / (t - 2e-6) - 60e12) < 1e6);
  m->device[0].speed = 0.5;
  assert_true(fabs((gemm_time(m, TSR_D, 2048, 2048, 2048) - 2e-6) - 2 * (t - 2e-6)) < 1e-12);
  tsr_machine_destroy(m);
}

/* The same flops in one long row of blocks: bytes bind its time. */
static void narrow_kernels_are_slower(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1 rate:60");
  double square = gemm_time(m, TSR_D, 4096, 4096, 64),
         narrow = gemm_time(m, TSR_D, 1 << 20, 16, 64);
  assert_true(gemm_time(m, TSR_D, 1 << 21, 8, 4096) > 2 * gemm_time(m, TSR_D, 4096, 4096, 4096));
  assert_true(narrow >= 8.0 * (1 << 20) * (64 + 16) / 3000e9);
  assert_true(square > 0);
  tsr_machine_destroy(m);
}

/* The narrow rate holds in full if C is 8 times as long as wide, and the less the nearer C is to a
 * square. */
static void narrow_kernels_lose_what_was_measured(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1 rate:60");
  m->device[0].kernel_latency = 0;
  double at_256 = gemm_time(m, TSR_D, 8192, 256, 4096), across = at_256;
  double at_1024 = gemm_time(m, TSR_D, 8192, 1024, 4096);
  double near = gemm_time(m, TSR_D, 1024, 512, 4096), even = gemm_time(m, TSR_D, 512, 512, 4096);
  m->rates[tsr_type_index(TSR_D)].narrow = (tsr_curve){2, {256, 1024}, {0.8, 0.9}};
  assert_true(fabs(gemm_time(m, TSR_D, 8192, 256, 4096) / at_256 - 1 / 0.8) < 1e-9);
  assert_true(fabs(gemm_time(m, TSR_D, 256, 8192, 4096) / across - 1 / 0.8) < 1e-9);
  assert_true(fabs(gemm_time(m, TSR_D, 8192, 1024, 4096) / at_1024 - 1 / 0.9) < 1e-9);
  assert_true(fabs(gemm_time(m, TSR_D, 1024, 512, 4096) / near - 1 / 0.95) < 1e-9);
  assert_true(gemm_time(m, TSR_D, 512, 512, 4096) == even);
  tsr_rates *rates = &m->rates[tsr_type_index(TSR_D)]; /* at the power limit */
  const struct { double hot, kept; } limits[] = {{0.7, 0.7}, {0.85, 0.8}};
  for (int i = 0; i < 2; i++) {
    for (int a = 0; a < rates->areas; a++)
      for (int k = 0; k < rates->ks; k++) rates->hot[a][k] = limits[i].hot * rates->flops[a][k];
    double hot =
        tsr_machine_kernel_time(m, 0, TSR_KERNEL_GEMM, TSR_D, 8192, 256, 4096, false, false, 1);
    assert_true(fabs(hot / at_256 - 1 / limits[i].kept) < 1e-9);
  }
  tsr_machine_destroy(m);
}

/* Adding to C costs the time of reading C, except for kernels in place, which read C as an input
 * anyway. */
static void adding_to_c_takes_what_reading_it_does(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1 rate:60 hbm:2000");
  const struct {
    tsr_kernel kernel;
    tsr_type type;
    bool wide;
    double bytes;
  } cases[] = {{TSR_KERNEL_GEMM, TSR_D, false, 8e6}, {TSR_KERNEL_GEMM, TSR_H, false, 2e6},
               {TSR_KERNEL_GEMM, TSR_H, true, 4e6},  {TSR_KERNEL_SYRK, TSR_D, false, 4e6},
               {TSR_KERNEL_SYMM, TSR_D, false, 8e6}, {TSR_KERNEL_TRSM, TSR_D, false, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double time[2];
    for (int reads = 0; reads < 2; reads++)
      time[reads] = tsr_machine_kernel_time(m, 0, cases[i].kernel, cases[i].type, 1000, 1000, 1000,
                                            cases[i].wide, reads, 0);
    assert_true(fabs(time[1] - time[0] - cases[i].bytes / 2000e9) < 1e-12);
  }
  tsr_machine_destroy(m);
}

static void memory_bound_kernels(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1 rate:60 hbm:1000 launch:3");
  double scale =
      tsr_machine_kernel_time(m, 0, TSR_KERNEL_SCALE, TSR_D, 1000, 1000, 0, false, true, 0);
  double zero =
      tsr_machine_kernel_time(m, 0, TSR_KERNEL_SCALE, TSR_D, 1000, 1000, 0, false, false, 0);
  double add = tsr_machine_kernel_time(m, 0, TSR_KERNEL_ADD, TSR_D, 1000, 1000, 0, false, true, 0);
  assert_true(fabs(scale - (3e-6 + 16e6 / 1000e9)) < 1e-12);
  assert_true(fabs(zero - (3e-6 + 8e6 / 1000e9)) < 1e-12);
  assert_true(fabs(add - (3e-6 + 24e6 / 1000e9)) < 1e-12);
  tsr_machine_destroy(m);
}

/* Time = flops / (part of the rate of a GEMM of the same extents), but at least some seconds for
 * each row of the triangle, + serial seconds for each row. */
static void level3_kernels_follow_gemm(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1 rate:60 hbm:100000 launch:3");
  for (int kernel = TSR_KERNEL_SYMM; kernel <= TSR_KERNEL_TRSM; kernel++)
    for (int t = 0; t < 4; t++) {
      tsr_type type = tsr_type_at(t)->type;
      double time = tsr_machine_kernel_time(m, 0, kernel, type, 1500, 1500, 1500, false, false, 0);
      double part = tsr_kernel_flops(kernel, type, 1500, 1500, 1500) /
                    tsr_kernel_flops(TSR_KERNEL_GEMM, type, 1500, 1500, 1500);
      double gemm = gemm_time(m, type, 1500, 1500, 1500) - m->device[0].kernel_latency;
      const tsr_kernel_info *info = tsr_kernel_get(kernel);
      tsr_kernel_least few = tsr_kernel_least_of(kernel, type);
      double least = few.row * 1500 + few.products * gemm * part;
      double want =
          m->device[0].kernel_latency + fmax(gemm * part / info->rate, least) + info->serial * 1500;
      assert_true(fabs(time - want) <= 1e-12 * want);
      assert_true(part == 0.5 || part == 1);
    }
  tsr_machine_destroy(m);
}

/* Measured on an H200: strmm of order 2048, symm of order 1024. By blocks they have no least
 * time. */
static void few_lines_take_the_time_of_the_rows(void **state) {
  (void)state;
  static const struct {
    tsr_kernel kernel;
    tsr_type type;
    int64_t order, lines;
    double seconds;
  } measured[] = {
      {TSR_KERNEL_TRMM, TSR_S, 2048, 128, 174e-6},  {TSR_KERNEL_TRMM, TSR_S, 2048, 512, 186e-6},
      {TSR_KERNEL_TRMM, TSR_S, 2048, 1024, 190e-6}, {TSR_KERNEL_SYMM, TSR_S, 1024, 1024, 195e-6},
      {TSR_KERNEL_SYMM, TSR_D, 1024, 512, 52e-6},   {TSR_KERNEL_SYMM, TSR_D, 1024, 1024, 77e-6}};
  tsr_machine *m = parse("gpu*1 rate:50,50 hbm:4000 launch:2");
  for (int t = 0; t < 2; t++) {
    struct tsr_routine *routine = m->rates[t].routine;
    routine[TSR_KERNEL_TRMM] = routine[TSR_KERNEL_SYMM] =
        (struct tsr_routine){0.55 + 0.25 * t, 0.95};
  }
  for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
    tsr_kernel kernel = measured[i].kernel;
    tsr_type type = measured[i].type;
    int64_t order = measured[i].order, lines = measured[i].lines;
    double left = tsr_machine_kernel_time(m, 0, kernel, type, order, lines, order, false, false, 0);
    double right =
        tsr_machine_kernel_time(m, 0, kernel, type, lines, order, order, false, false, 0);
    double blocks =
        tsr_machine_blocks_time(m, 0, kernel, type, order, lines, order, false, false, 0);
    assert_true(fabs(left - measured[i].seconds) < 0.12 * measured[i].seconds && left == right);
    assert_true(blocks < 0.9 * left);
  }
  tsr_machine_destroy(m);
}

/* By blocks symm takes a GEMM and the time of making a square of its triangle: of few lines, most
 * of the time. The square of order 4096 does not fit the memory for it, and is made of two. */
static void squares_are_made_before_products(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1 rate:60 hbm:20000 launch:2");
  struct tsr_routine *routine = m->rates[tsr_type_index(TSR_D)].routine;
  routine[TSR_KERNEL_SYMM] = (struct tsr_routine){0.8, 0.95};
  assert_true(tsr_kernel_block(TSR_KERNEL_SYMM, TSR_D) == 2048);
  assert_true(tsr_kernel_block(TSR_KERNEL_HEMM, TSR_Z) == 1024);
  assert_true(tsr_kernel_block(TSR_KERNEL_TRSM, TSR_D) == 256);
  for (int64_t order = 1024; order <= 4096; order *= 2) {
    double block = fmin((double)order, 2048);
    double made = 1.5 * 8 * (double)order * block / 20000e9 + 2e-6 * (double)order / block;
    double gemm = gemm_time(m, TSR_D, order, 64, order);
    double time =
        tsr_machine_blocks_time(m, 0, TSR_KERNEL_SYMM, TSR_D, order, 64, order, false, false, 0);
    assert_true(fabs(time - gemm - made) < 1e-12);
    double many = gemm_time(m, TSR_D, order, 65536, order);
    time =
        tsr_machine_blocks_time(m, 0, TSR_KERNEL_SYMM, TSR_D, order, 65536, order, false, false, 0);
    assert_true(fabs(time - 2e-6 - (many - 2e-6) / 0.95) < 1e-9);
  }
  assert_true(
      isfinite(tsr_machine_blocks_time(m, 0, TSR_KERNEL_SYMM, TSR_D, 0, 0, 0, false, true, 0)));
  tsr_machine_destroy(m);
}

/* By blocks trmm takes the products of its levels, of which the first has the squares' zeros, too,
 * the time of making the squares, and of kernels that read the lines: one more if C is read. */
static void trmm_goes_through_levels(void **state) {
  (void)state;
  enum { LINES = 256 };
  const double latency = 2e-6;
  tsr_machine *m = parse("gpu*1 rate:60 hbm:20000 launch:2");
  m->rates[tsr_type_index(TSR_D)].routine[TSR_KERNEL_TRMM] = (struct tsr_routine){0.5, 0.95};
  assert_true(tsr_kernel_block(TSR_KERNEL_TRMM, TSR_D) == 512);
  assert_true(tsr_kernel_block(TSR_KERNEL_TRMM, TSR_C) == 256);
  for (int64_t order = 256; order <= 2048; order *= 2) {
    int64_t leaf = order < 512 ? order : 512;
    double bytes = 8 * (1.5 * (double)order * (double)leaf + LINES * (double)order);
    double want = 2 * latency + bytes / 20000e9 + gemm_time(m, TSR_D, order, LINES, leaf);
    for (int64_t half = leaf; half < order; half *= 2)
      want += gemm_time(m, TSR_D, order / 2, LINES, half);
    double time =
        tsr_machine_blocks_time(m, 0, TSR_KERNEL_TRMM, TSR_D, order, LINES, order, false, false, 0);
    double right =
        tsr_machine_blocks_time(m, 0, TSR_KERNEL_TRMM, TSR_D, LINES, order, order, false, false, 0);
    double adding =
        tsr_machine_blocks_time(m, 0, TSR_KERNEL_TRMM, TSR_D, order, LINES, order, false, true, 0);
    assert_true(fabs(time - want) < 1e-12 && time == right && adding > time + latency);
  }
  tsr_machine_destroy(m);
}

static double solve_time(const tsr_machine *m, int64_t rows, int64_t columns, int64_t order) {
  return tsr_machine_kernel_time(m, 0, TSR_KERNEL_TRSM, TSR_D, rows, columns, order, false, true,
                                 0);
}

/* The inverses were measured on an H100. Few lines, and lower or higher orders, are solved by
 * substitution. */
static void solves_by_an_inverse(void **state) {
  (void)state;
  static const struct {
    int64_t order;
    double seconds;
  } inverses[] = {{256, 21e-6}, {512, 40e-6}, {1024, 67e-6}};
  tsr_machine *m = parse("gpu*1 rate:62.8 hbm:4000 launch:2");
  for (int i = 0; i < 3; i++) {
    int64_t order = inverses[i].order;
    double left = solve_time(m, order, 4096, order), right = solve_time(m, 4096, order, order);
    double back = 16 * (double)order * 4096 / 4000e9;
    double inverse = left - gemm_time(m, TSR_D, order, 4096, order) - back;
    assert_true(fabs(inverse - inverses[i].seconds) < 0.15 * inverses[i].seconds);
    assert_true(fabs(left - right) <= 1e-12 * left);
  }
  assert_true(solve_time(m, 512, 1023, 512) > solve_time(m, 512, 1024, 512));
  assert_true(solve_time(m, 1025, 1025, 1025) > 1.5 * solve_time(m, 1024, 1024, 1024));
  assert_false(tsr_kernel_inverts(255, 4096) || tsr_kernel_inverts(1024, 1023));
  assert_false(tsr_kernel_inverts(1025, 4096) || tsr_kernel_inverts(256, 1000));
  assert_true(tsr_kernel_inverts(256, 1024) && tsr_kernel_inverts(1024, 1024));
  tsr_machine_destroy(m);
}

/* In a solve with one column the triangle is read once, and c is read and written. */
static void narrow_solves_are_bound_by_memory(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1 rate:60 hbm:1000 launch:3");
  m->device[0].speed = 1e6;
  double trsm =
      tsr_machine_kernel_time(m, 0, TSR_KERNEL_TRSM, TSR_D, 1000, 1, 1000, false, true, 0);
  double syrk =
      tsr_machine_kernel_time(m, 0, TSR_KERNEL_SYRK, TSR_D, 1000, 1000, 1, false, true, 0);
  assert_true(fabs(trsm - (3e-6 + 8 * (0.5e6 + 2e3) / 1000e9)) < 1e-12);
  assert_true(fabs(syrk - (3e-6 + 8 * (1e3 + 1e6) / 1000e9)) < 1e-12);
  assert_true(
      isfinite(tsr_machine_kernel_time(m, 0, TSR_KERNEL_TRMM, TSR_D, 0, 0, 0, false, true, 0)));
  tsr_machine_destroy(m);
}

static void absent_rates_are_infinite(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1");
  m->rates[tsr_type_index(TSR_H)] = (tsr_rates){0};
  m->cpu_flops[tsr_type_index(TSR_H)] = 0;
  assert_true(isinf(gemm_time(m, TSR_H, 10, 10, 10)));
  assert_true(isinf(tsr_machine_cpu_time(m, TSR_H, 10, 0)));
  assert_true(tsr_machine_cpu_time(m, TSR_D, 5e11, 0) == 1 + m->cpu_latency);
  tsr_machine_destroy(m);
}

static void selecting_devices(void **state) {
  (void)state;
  tsr_machine *m = parse("host*2:100 gpu*4@nvswitch:300 pcie:25/pair"), *s = NULL;
  const int devices[] = {3, 1};
  m->device[3].speed = 0.25;
  m->link[3][1].bandwidth = 111e9;
  assert_int_equal(tsr_machine_select(m, devices, 2, &s), TSR_OK);
  assert_int_equal(s->devices, 2);
  assert_int_equal(s->nodes, 2);
  assert_true(s->device[0].speed == 0.25);
  assert_int_equal(s->device[0].host_node, 3);
  assert_int_equal(s->device[1].host_node, 2);
  assert_true(s->link[0][1].bandwidth == 111e9);
  assert_true(s->link[3][0].bandwidth == 25e9);
  assert_int_equal(tsr_machine_check(s), TSR_OK);
  tsr_machine_destroy(s);
  s = NULL;
  assert_int_equal(tsr_machine_select(m, NULL, 0, &s), TSR_OK);
  assert_int_equal(s->devices, 0);
  assert_int_equal(s->channels, 0);
  assert_int_equal(tsr_machine_check(s), TSR_OK);
  tsr_machine_destroy(s);
  tsr_machine_destroy(m);
}

static void selecting_what_is_not_there(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*2"), *s = NULL;
  const int beyond[] = {2}, negative[] = {-1}, twice[] = {0, 0};
  assert_int_equal(tsr_machine_select(m, beyond, 1, &s), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_machine_select(m, negative, 1, &s), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_machine_select(m, twice, 2, &s), TSR_ERR_ARGUMENT);
  assert_non_null(strstr(tsr_message(), "twice"));
  assert_null(s);
  tsr_machine_destroy(m);
  tsr_machine_destroy(NULL);
}

static tsr_status select_all(const tsr_machine *m, tsr_machine **copy) {
  int all[TSR_MACHINE_DEVICES];
  for (int d = 0; d < m->devices; d++) all[d] = d;
  return tsr_machine_select(m, all, m->devices, copy);
}

static void copies_are_alike_and_apart(void **state) {
  (void)state;
  tsr_machine *m = parse("host*2:100 interleaved gpu*4@nvswitch:300 pcie:25/pair"), *copy = NULL;
  assert_int_equal(select_all(m, &copy), TSR_OK);
  assert_true(tsr_machine_digest(m) == tsr_machine_digest(copy));
  assert_string_equal(m->name, copy->name);
  copy->channel[0].uses[0].weight = 2;
  assert_true(tsr_machine_digest(m) != tsr_machine_digest(copy));
  tsr_machine_destroy(copy);
  tsr_machine_destroy(m);
}

static void set_emulated(tsr_machine *m, tsr_type type, double flops, double elements) {
  tsr_rates *rates = &m->rates[tsr_type_index(type)];
  rates->emulated.sustained = flops;
  rates->emulated.elements = elements;
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++) rates->emulated.flops[i][j] = flops;
}

/* With measured rates the times of products in residues follow from them: of fp64 with 14 moduli,
 * and in proportion with others. Without them they follow from the rate of fp16. */
static void residues_take_the_measured_time(void **state) {
  (void)state;
  const int64_t n = 4096;
  const double flops = 2.0 * (double)(n * n * n), elements = (double)(n * n);
  tsr_machine *m = parse("host:100 gpu*2@nvswitch:300 pcie:25");
  double launches = 3 * m->device[0].kernel_latency;
  double guess = tsr_machine_form_gemm_time(m, 0, tsr_residues_of(14), TSR_D, n, n, n, false, 0);
  set_emulated(m, TSR_D, 7e13, 1e11);
  double gemm =
      tsr_machine_form_gemm_time(m, 0, tsr_residues_of(14), TSR_D, n, n, n, false, 0) - launches;
  double more =
      tsr_machine_form_gemm_time(m, 0, tsr_residues_of(16), TSR_D, n, n, n, false, 0) - launches;
  double making =
      tsr_machine_form_time(m, 0, tsr_residues_of(14), &(tsr_promise){0}, TSR_D, n, n) - launches;
  assert_true(fabs(gemm * 7e13 / flops - 1) < 1e-9 && fabs(gemm + launches - guess) > 1e-6);
  assert_true(fabs(more / gemm * 14 / 16 - 1) < 1e-9);
  assert_true(fabs(making * 1e11 / elements - 1) < 1e-9);
  assert_true(tsr_machine_form_limit(m, tsr_residues_of(7), TSR_D, 0) == 1.4e14);
  double reading = tsr_machine_form_gemm_time(m, 0, tsr_residues_of(14), TSR_D, n, n, n, true, 0) -
                   launches - gemm;
  assert_true(fabs(reading * m->device[0].memory_rate / (8 * elements) - 1) < 1e-6);
  m->rates[tsr_type_index(TSR_D)].emulated.sustained = 5e13; /* at the power limit */
  gemm = tsr_machine_form_gemm_time(m, 0, tsr_residues_of(14), TSR_D, n, n, n, false, 1) - launches;
  assert_true(fabs(gemm * 5e13 / flops - 1) < 1e-9);
  tsr_machine_destroy(m);
}

/* Different machines have different digests, so that no plan is used on another machine. */
static void digests_see_every_field(void **state) {
  (void)state;
  tsr_machine *m = parse("host:100 gpu*2@nvswitch:300 pcie:25");
  double *const numbers[] = {
      &m->device[1].speed,
      &m->device[1].type_speed[2],
      &m->device[0].memory,
      &m->device[0].memory_rate,
      &m->device[0].kernel_latency,
      &m->link[0][1].bandwidth,
      &m->link[2][1].latency,
      &m->channel[0].capacity,
      &m->channel[0].uses[1].weight,
      &m->rates[1].flops[2][3],
      &m->rates[0].sustained,
      &m->rates[2].area[0],
      &m->rates[1].emulated.flops[1][2],
      &m->rates[1].emulated.sustained,
      &m->rates[1].emulated.elements,
      &m->cpu_flops[1],
      &m->cpu_latency,
      &m->thread_rate,
      &m->staging_rate,
      &m->submit_copy,
      &m->submit_kernel,
      &m->submit_record,
      &m->submit_wait,
      &m->turnaround,
      &m->staging_start,
  };
  m->submit_record = m->submit_wait = m->turnaround = m->staging_start = 1e-6;
  m->device[1].type_speed[2] = 0.5;
  set_emulated(m, TSR_D, 7e13, 1e11);
  uint64_t digest = tsr_machine_digest(m);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    double kept = *numbers[i];
    *numbers[i] = kept * 1.5;
    assert_true(tsr_machine_digest(m) != digest);
    *numbers[i] = kept;
  }
  m->staging_threads++;
  assert_true(tsr_machine_digest(m) != digest);
  m->staging_threads--;
  m->name[0] = '!'; /* names do not change the digest */
  assert_true(tsr_machine_digest(m) == digest);
  tsr_machine_destroy(m);
}

static double use_of(const tsr_machine *m, const char *name, int from, int to) {
  for (int c = 0; c < m->channels; c++)
    for (int i = 0; strcmp(m->channel[c].name, name) == 0 && i < m->channel[c].count; i++) {
      const tsr_channel_use *use = &m->channel[c].uses[i];
      if (use->from == from && use->to == to) return use->weight;
    }
  return 0;
}

/* As @pcie would have them: over the host links, which copies from and to host memory use, too. */
static void devices_reach_each_other_over_host_links(void **state) {
  (void)state;
  tsr_machine *m = parse("host*2:100 sockets:10 gpu*4@none pcie:20");
  assert_false(tsr_machine_all_linked(m));
  assert_int_equal(tsr_machine_link_over_host(m), TSR_OK);
  assert_true(tsr_machine_all_linked(m));
  assert_int_equal(tsr_machine_check(m), TSR_OK);
  assert_true(m->link[0][1].bandwidth == 20e9 && m->link[1][2].bandwidth == 10e9);
  assert_true(use_of(m, "gpu0 host link out", 0, 1) == 1);
  assert_true(use_of(m, "gpu0 host link out", 0, 4) == 1);
  assert_true(use_of(m, "gpu1 host link in", 0, 1) == 1);
  assert_true(use_of(m, "gpu1 host link in", 5, 1) == 1);
  assert_true(use_of(m, "sockets 0 to 1", 1, 2) == 1 && use_of(m, "sockets 0 to 1", 0, 1) == 0);
  tsr_machine_destroy(m);
  m = parse("gpu*2@nvswitch:300 pcie:20"); /* faster links stay */
  assert_int_equal(tsr_machine_link_over_host(m), TSR_OK);
  assert_true(m->link[0][1].bandwidth == 300e9);
  assert_true(use_of(m, "gpu0 host link out", 0, 1) == 0);
  tsr_machine_destroy(m);
}

static void expect_wrong(const tsr_machine *machine, const char *field) {
  assert_int_equal(tsr_machine_check(machine), TSR_ERR_MACHINE);
  if (strstr(tsr_message(), field) == NULL) fail_msg("%s: not about %s", tsr_message(), field);
}

static void checks_of_numbers(void **state) {
  (void)state;
  tsr_machine *m = parse("host:100 gpu*2@nvswitch:300 pcie:25");
  m->link[2][0].shape = (tsr_curve){2, {10, 20}, {1, 2}};
  m->link[2][0].close = (struct tsr_close){32, {2, {10, 20}, {2, 3}}};
  m->rates[1].narrow = (tsr_curve){2, {256, 512}, {0.9, 1}};
  const struct {
    double *number;
    double wrong;
    const char *field;
  } cases[] = {
      {&m->device[1].speed, 0, "devices[1].speed"},
      {&m->device[1].speed, NAN, "devices[1].speed"},
      {&m->device[0].memory, -1, "devices[0].memory"},
      {&m->device[0].memory_rate, 0, "devices[0].memory_rate"},
      {&m->device[0].kernel_latency, -1e-6, "devices[0].kernel_latency"},
      {&m->link[0][1].bandwidth, -1, "link gpu0 -> gpu1.bandwidth"},
      {&m->link[0][1].bandwidth, INFINITY, "link gpu0 -> gpu1.bandwidth"},
      {&m->link[0][1].bandwidth, 0, "absent link"},
      {&m->link[1][1].bandwidth, 5, "gpu1 -> gpu1"},
      {&m->link[2][0].latency, NAN, "link host0 -> gpu0.latency"},
      {&m->link[2][0].shape.size[1], 10, "ascending"},
      {&m->link[2][0].shape.rate[1], 0, "shape rate"},
      {&m->link[2][0].close.shape.size[0], 20, "close.shape size has 20 behind 20"},
      {&m->link[2][0].close.shape.rate[0], -1, "host0 -> gpu0.close.shape rate is -1"},
      {&m->link[2][0].close.pitch, 0, "host0 -> gpu0.close.pitch is 0"},
      {&m->link[2][0].close.pitch, NAN, "host0 -> gpu0.close.pitch"},
      {&m->link[2][0].close.pitch, 16, "segments of 20 bytes, longer than its pitch of 16"},
      {&m->channel[0].capacity, 0, "channel \"host0 memory\".capacity"},
      {&m->channel[0].uses[1].weight, -1, "uses[1].weight"},
      {&m->rates[1].flops[2][3], 0, "rates.d.flops"},
      {&m->rates[1].area[1], 5, "rates.d.area"},
      {&m->rates[1].k[0], 0, "rates.d.k"},
      {&m->rates[1].narrow.size[1], 256, "narrow size"},
      {&m->rates[1].narrow.rate[0], 0, "narrow rate"},
      {&m->rates[1].sustained, 0, "rates.d.sustained"},
      {&m->cpu_flops[0], -1, "cpu.flops"},
      {&m->cpu_latency, -1, "cpu.latency"},
      {&m->thread_rate, 0, "staging.thread_rate"},
      {&m->staging_rate, 0, "staging.rate"},
      {&m->submit_copy, -1, "submit.copy"},
      {&m->submit_kernel, NAN, "submit.kernel"},
      {&m->submit_record, -1, "submit.record"},
      {&m->submit_wait, 2, "submit.wait is 2; it must be 0 to 1, in seconds"},
      {&m->turnaround, NAN, "submit.turnaround"},
      {&m->staging_start, 30, "staging.start"},
  };
  assert_int_equal(tsr_machine_check(m), TSR_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double kept = *cases[i].number;
    *cases[i].number = cases[i].wrong;
    expect_wrong(m, cases[i].field);
    *cases[i].number = kept;
  }
  assert_int_equal(tsr_machine_check(m), TSR_OK);
  tsr_machine_destroy(m);
}

static void checks_of_counts(void **state) {
  (void)state;
  tsr_machine *m = parse("host:100 gpu*2@nvswitch:300 pcie:25");
  m->link[2][0].shape = (tsr_curve){2, {10, 20}, {1, 2}};
  m->link[2][0].close = (struct tsr_close){32, {2, {10, 20}, {2, 3}}};
  const struct {
    int *number, wrong;
    const char *field;
  } cases[] = {
      {&m->devices, -1, "devices"},
      {&m->devices, 33, "devices"},
      {&m->nodes, 0, "nodes"},
      {&m->nodes, 9, "nodes"},
      {&m->device[0].host_node, 1, "host_node"},
      {&m->link[2][0].shape.count, 13, "shape"},
      {&m->link[2][0].shape.count, 0, "host0 -> gpu0 has close, but no shape"},
      {&m->link[2][0].close.shape.count, 13, "close.shape"},
      {&m->channel[1].count, 0, "no uses"},
      {&m->channel[1].uses[0].from, 3, "uses[0]"},
      {&m->channel[1].uses[0].to, -1, "uses[0]"},
      {&m->rates[1].areas, 9, "rates.d"},
      {&m->rates[1].ks, 0, "rates.d"},
      {&m->rates[1].narrow.count, 13, "narrow"},
      {&m->staging_threads, 0, "staging.threads"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int kept = *cases[i].number;
    *cases[i].number = cases[i].wrong;
    expect_wrong(m, cases[i].field);
    *cases[i].number = kept;
  }
  memset(m->rates, 0, sizeof m->rates);
  expect_wrong(m, "rates is empty");
  tsr_machine_destroy(m);
}

static void unreachable_devices(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*2");
  m->channel[0].count = 2; /* keep the uses of gpu0 */
  m->link[2][1].bandwidth = 0;
  expect_wrong(m, "gpu1 cannot be reached");
  tsr_machine_destroy(m);
  m = NULL;
  assert_int_equal(tsr_machine_create(&m), TSR_OK);
  expect_wrong(m, "nodes");
  m->nodes = 1;
  expect_wrong(m, "no device");
  tsr_machine_destroy(m);
}

static void channels_run_out(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1");
  int last = 0;
  while (last >= 0 && m->channels < 1000)
    last = tsr_machine_add_channel(m, "a name that is much too long for its room", 1);
  assert_int_equal(m->channels, TSR_MACHINE_CHANNELS);
  assert_int_equal(tsr_machine_use_channel(m, last, 0, 1, 1), TSR_ERR_MACHINE);
  tsr_machine_destroy(m);
}

static void allocations_may_fail(void **state) {
  (void)state;
  tsr_machine *m = parse("host:100 gpu*3@nvswitch:300 pcie:25/2");
  tsr_status status = TSR_ERR_MEMORY;
  for (long n = 1; status != TSR_OK; n++) {
    tsr_machine *copy = NULL;
    tsr_alloc_fail_at(n);
    status = select_all(m, &copy);
    if (status != TSR_OK) assert_null(copy);
    tsr_machine_destroy(copy);
  }
  tsr_alloc_fail_at(0);
  tsr_machine_destroy(m);
}

static void printing_fits_every_machine(void **state) {
  (void)state;
  static const char *const strings[] = {"host:100 cpu:5", "gpu*1",
                                        "host*8:9 gpu*32@nvswitch:3 pcie:2"};
  for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
    tsr_machine *m = parse(strings[i]);
    tsr_text text = TSR_TEXT_INIT;
    tsr_machine_print_tables(m, &text);
    assert_false(text.broken);
    assert_non_null(strstr(text.bytes, strings[i]));
    assert_non_null(strstr(text.bytes, "staging: "));
    tsr_text_free(&text);
    tsr_machine_destroy(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(curves),
      cmocka_unit_test(link_rates),
      cmocka_unit_test(link_rates_of_close_segments),
      cmocka_unit_test(digest_of_close_segments),
      cmocka_unit_test(times_grow_with_the_work),
      cmocka_unit_test(odd_sums_in_16_bits_are_slow),
      cmocka_unit_test(a_table_is_met_at_its_points),
      cmocka_unit_test(narrow_kernels_are_slower),
      cmocka_unit_test(narrow_kernels_lose_what_was_measured),
      cmocka_unit_test(adding_to_c_takes_what_reading_it_does),
      cmocka_unit_test(memory_bound_kernels),
      cmocka_unit_test(level3_kernels_follow_gemm),
      cmocka_unit_test(few_lines_take_the_time_of_the_rows),
      cmocka_unit_test(squares_are_made_before_products),
      cmocka_unit_test(trmm_goes_through_levels),
      cmocka_unit_test(solves_by_an_inverse),
      cmocka_unit_test(narrow_solves_are_bound_by_memory),
      cmocka_unit_test(absent_rates_are_infinite),
      cmocka_unit_test(selecting_devices),
      cmocka_unit_test(selecting_what_is_not_there),
      cmocka_unit_test(copies_are_alike_and_apart),
      cmocka_unit_test(digests_see_every_field),
      cmocka_unit_test(residues_take_the_measured_time),
      cmocka_unit_test(devices_reach_each_other_over_host_links),
      cmocka_unit_test(checks_of_numbers),
      cmocka_unit_test(checks_of_counts),
      cmocka_unit_test(unreachable_devices),
      cmocka_unit_test(channels_run_out),
      cmocka_unit_test(allocations_may_fail),
      cmocka_unit_test(printing_fits_every_machine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
