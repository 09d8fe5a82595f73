/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Writes the machine files of this folder: each starts from a machine string and is then given what
 * a string cannot say. machines/README.md tells where the figures come from. From the root:
 *
 *   cmake --build build --target make_machines && build/tests/make_machines machines
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "h200_emulated.h"
#include "machine/machine.h"

#define GIGA 1e9
#define TERA 1e12

static tsr_rates *rates_of(tsr_machine *machine, tsr_type type) {
  return &machine->rates[tsr_type_index(type)];
}

static void set_name(tsr_machine *machine, const char *name, const char *device) {
  snprintf(machine->name, sizeof machine->name, "%s", name);
  for (int i = 0; i < machine->devices; i++)
    snprintf(machine->device[i].name, sizeof machine->device[i].name, "%s", device);
}

/* ---- Four H200, and eight ---- */

/* Host to device under a running DGEMM, GB/s by the length of a copy's columns. Measured from
 * 4 KB; in proportion to the length below. */
static const tsr_curve h200_shape = {
    8,
    {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536},
    {2.5 * GIGA, 5 * GIGA, 10 * GIGA, 20 * GIGA, 33 * GIGA, 33 * GIGA, 47 * GIGA, 54 * GIGA},
};

/* The same for columns that begin at most 32 KiB apart, to the device and from it. The probe
 * measured them from 1 KB on a host with one H200; in proportion to the length below. */
static const struct tsr_close h200_close_in = {
    32768,
    {5, {512, 1024, 4096, 8192, 16384}, {10.5 * GIGA, 21 * GIGA, 39 * GIGA, 49 * GIGA, 54 * GIGA}},
};
static const struct tsr_close h200_close_out = {
    32768,
    {5, {512, 1024, 4096, 8192, 16384}, {10.5 * GIGA, 21 * GIGA, 38 * GIGA, 45 * GIGA, 54 * GIGA}},
};

/* The measured rates of n x n x n, TFLOP/s, each kernel less 2 us, for n = 512, 1024 .. 8192; but
 * fp16 at 512 is estimated, since submission bound its measurement. */
enum { SQUARES = 5 };
static const double h200_s[SQUARES] = {18.2, 36.2, 49.3, 50, 51};
static const double h200_t[SQUARES] = {37, 149, 308, 358, 391};
static const double h200_h[SQUARES] = {100, 384, 698, 726, 748};

static double keep_four_digits(double value) {
  double unit = pow(10, floor(log10(value)) - 3);
  return round(value / unit) * unit;
}

/* Other shapes in the proportion that fp64 has; the row of 128 in proportion to that of 512. */
static void set_from_squares(tsr_machine *machine, tsr_type type, const double *squares) {
  const tsr_rates *d = rates_of(machine, TSR_D);
  tsr_rates *rates = rates_of(machine, type);
  static const int column_of_square[SQUARES] = {2, 3, 4, 4, 5};
  static const double correction[SQUARES] = {1, 1, 1, 62.7 / 61.5, 1};
  *rates = *d;
  for (int i = 0; i < d->areas; i++) {
    int square = i == 0 ? 0 : i - 1, row = square + 1;
    double at_square = d->flops[row][column_of_square[square]] * correction[square];
    for (int j = 0; j < d->ks; j++)
      rates->flops[i][j] = keep_four_digits(squares[square] * TERA * d->flops[i][j] / at_square);
  }
  /* Held under the power limit: as much less than the best rate as fp64, 53 of 62.8 (estimated). */
  rates->sustained = keep_four_digits(squares[SQUARES - 1] * TERA * 53 / 62.8);
  tsr_rates_guess_hot(rates);
}

static void round_rates(tsr_rates *rates) {
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++) rates->flops[i][j] = keep_four_digits(rates->flops[i][j]);
}

static void set_emulated(tsr_machine *machine, const emulated_rates *measured) {
  tsr_rates *rates = rates_of(machine, measured->type);
  rates->emulated.elements = measured->elements * GIGA;
  rates->emulated.sustained = measured->sustained * TERA;
  for (int i = 0; i < EMULATED_AREAS; i++)
    for (int j = 0; j < EMULATED_KS; j++)
      rates->emulated.flops[i][j] = measured->tflops[i][j] * TERA;
}

static void set_h200_rates(tsr_machine *machine) {
  tsr_rates *d = rates_of(machine, TSR_D);
  tsr_machine_set_rate(machine, TSR_D, 62.8 * TERA);
  round_rates(d);
  d->sustained = 53 * TERA;
  tsr_rates_guess_hot(d);
  set_from_squares(machine, TSR_S, h200_s);
  set_from_squares(machine, TSR_T, h200_t);
  set_from_squares(machine, TSR_H, h200_h);
  *rates_of(machine, TSR_C) = *rates_of(machine, TSR_S);
  *rates_of(machine, TSR_Z) = *rates_of(machine, TSR_D);
  *rates_of(machine, TSR_B) = *rates_of(machine, TSR_H);
  for (size_t i = 0; i < sizeof h200_emulated / sizeof *h200_emulated; i++)
    set_emulated(machine, &h200_emulated[i]);
}

/* Both directions of one PCIe link together carry 102 GB/s. */
static tsr_status add_h200_duplex(tsr_machine *machine) {
  /* The probe found 98 for an H100. */
  double both = strstr(machine->device[0].name, "H100") != NULL ? 98 * GIGA : 102 * GIGA;
  for (int i = 0; i < machine->devices; i++) {
    char name[32];
    snprintf(name, sizeof name, "gpu%d pcie", i);
    int channel = tsr_machine_add_channel(machine, name, both);
    for (int host = machine->devices; host < machine->devices + machine->nodes; host++) {
      TSR_TRY(tsr_machine_use_channel(machine, channel, host, i, 1));
      TSR_TRY(tsr_machine_use_channel(machine, channel, i, host, 1));
    }
  }
  return TSR_OK;
}

static tsr_status fill_h200(tsr_machine *machine) {
  for (int i = 0; i < machine->devices; i++)
    for (int host = machine->devices; host < machine->devices + machine->nodes; host++) {
      machine->link[host][i].shape = h200_shape;
      machine->link[i][host].shape = h200_shape;
      machine->link[host][i].close = h200_close_in;
      machine->link[i][host].close = h200_close_out;
    }
  set_h200_rates(machine);
  return add_h200_duplex(machine);
}

/* ---- H100 ---- */

/* Of a type: the best rate in short runs and the sustained one, TFLOP/s, by the dgemm, sgemm, cgemm
 * and zgemm of matrices on a GPU in docs/results/h100.md and h100x4.md and what their floors say of
 * the probe's rates. */
typedef struct h100_rate {
  tsr_type type;
  double best, sustained;
} h100_rate;

static const h100_rate h100_rates[] = {
    {TSR_S, 51.5, 51}, {TSR_D, 61, 52.5}, {TSR_C, 55, 53}, {TSR_Z, 60.7, 49.5}};

/* The H200 is the same chip with other memory: its tables, in proportion to the best rate. Types
 * that were not measured on an H100 stay as on an H200. */
static tsr_status fill_h100(tsr_machine *machine) {
  TSR_TRY(fill_h200(machine));
  for (size_t i = 0; i < sizeof h100_rates / sizeof *h100_rates; i++) {
    tsr_rates *rates = rates_of(machine, h100_rates[i].type);
    double factor = h100_rates[i].best * TERA / tsr_rates_greatest(rates, rates->flops);
    for (int a = 0; a < rates->areas; a++)
      for (int k = 0; k < rates->ks; k++)
        rates->flops[a][k] = keep_four_digits(rates->flops[a][k] * factor);
    rates->sustained = h100_rates[i].sustained * TERA;
    tsr_rates_guess_hot(rates);
  }
  return TSR_OK;
}

/* What the papers say, a string says. */
static tsr_status fill_nothing(tsr_machine *machine) {
  (void)machine;
  return TSR_OK;
}

/* ---- All of them ---- */

/* A GPU of an eighth or so of the rate is filled by kernels of smaller extents, by the square root
 * of that: the efficiency of an H200 at so much larger ones. */
static tsr_status set_scaled_rates(tsr_machine *machine, tsr_type type, double rate) {
  static const double h200 = 62.8 * TERA;
  double scale = sqrt(h200 / rate);
  tsr_rates *rates = rates_of(machine, type);
  tsr_machine *model = NULL;
  TSR_TRY(tsr_machine_parse("gpu*1 rate:62.8 hbm:1e6", &model));
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++) {
      int64_t n = (int64_t)(scale * rates->area[i]), k = (int64_t)(scale * rates->k[j]);
      double time =
          tsr_machine_kernel_time(model, 0, TSR_KERNEL_GEMM, TSR_D, n, n, k, false, false, 0) -
          model->device[0].kernel_latency;
      double efficiency = 2.0 * (double)n * (double)n * (double)k / time / h200;
      rates->flops[i][j] = fmin(rate, keep_four_digits(rate * efficiency));
    }
  tsr_rates_guess_hot(rates);
  tsr_machine_destroy(model);
  return TSR_OK;
}

/* What the paper says of one process: half of a node. */
static tsr_status fill_summit(tsr_machine *machine) {
  TSR_TRY(set_scaled_rates(machine, TSR_D, 7.2 * TERA));
  TSR_TRY(set_scaled_rates(machine, TSR_Z, 7.2 * TERA));
  TSR_TRY(set_scaled_rates(machine, TSR_S, 14.4 * TERA));
  return set_scaled_rates(machine, TSR_C, 14.4 * TERA);
}

/* Table 1 of Choi et al. has only the peak in fp32, which both parts of a complex product have. */
static tsr_status fill_v100_choi(tsr_machine *machine) {
  TSR_TRY(set_scaled_rates(machine, TSR_S, 14.899 * TERA));
  return set_scaled_rates(machine, TSR_C, 14.899 * TERA);
}

static tsr_status fill_gtx1070(tsr_machine *machine) {
  TSR_TRY(set_scaled_rates(machine, TSR_S, 5.783 * TERA));
  return set_scaled_rates(machine, TSR_C, 5.783 * TERA);
}

/* Few units for fp64, which kernels of small extents fill. */
static tsr_status fill_rtx4090(tsr_machine *machine) {
  TSR_TRY(set_scaled_rates(machine, TSR_D, 1.2 * TERA));
  return set_scaled_rates(machine, TSR_Z, 1.2 * TERA);
}

/* GPUs of one socket have links of their own to each other, those of different sockets none. */
static tsr_status fill_summit_node(tsr_machine *machine) {
  const double rate = 50 * GIGA, latency = machine->link[machine->devices][0].latency;
  for (int a = 0; a < machine->devices; a++)
    for (int b = 0; b < machine->devices; b++)
      if (a != b && machine->device[a].host_node == machine->device[b].host_node)
        tsr_machine_set_link(machine, a, b, rate, latency);
  return fill_summit(machine);
}

/* ---- Nodes with AMD GPUs ---- */

/* The GPU links of a Frontier node between its eight dies (GCDs), of 50 GB/s each at their peak:
 * four between the two dies of a card, two or one between neighbours on different cards. A pair
 * that is not named has none. */
typedef struct gpu_links {
  int a, b, count;
} gpu_links;

static const gpu_links frontier_links[] = {
    {0, 1, 4}, {2, 3, 4}, {4, 5, 4}, {6, 7, 4}, {0, 6, 2}, {2, 4, 2},
    {0, 2, 1}, {1, 3, 1}, {1, 5, 1}, {3, 7, 1}, {4, 6, 1}, {5, 7, 1},
};

/* Three quarters of the peak of each link, with the latency of the links to the host. */
static tsr_status fill_frontier(tsr_machine *machine) {
  const double one = 0.75 * 50 * GIGA, latency = machine->link[machine->devices][0].latency;
  for (size_t i = 0; i < sizeof frontier_links / sizeof *frontier_links; i++) {
    const gpu_links *x = &frontier_links[i];
    tsr_machine_set_link(machine, x->a, x->b, x->count * one, latency);
    tsr_machine_set_link(machine, x->b, x->a, x->count * one, latency);
  }
  return TSR_OK;
}

/* ---- Where the figures come from: README.md ---- */

enum {
  MEASURED = TSR_ORIGIN_MEASURED,
  LOADED = TSR_ORIGIN_UNDER_LOAD,
  PUBLISHED = TSR_ORIGIN_PUBLISHED,
  EXTRAPOLATED = TSR_ORIGIN_EXTRAPOLATED,
  SHEET = TSR_ORIGIN_DATA_SHEET,
  ASSUMED = TSR_ORIGIN_ASSUMED
};

/* In the order of tsr_figure: kernels, host links, host memory, links between GPUs, sockets,
 * staging, CPU; 0: there is nothing of the kind. types: those whose kernels have another origin. */
typedef struct sources {
  unsigned char of[TSR_FIGURES];
  const char *types;
  unsigned char of_types;
} sources;

static void set_origins(tsr_machine *machine, const sources *from) {
  for (int i = 0; i < TSR_FIGURES; i++) machine->origins.of[i] = (tsr_origin)from->of[i];
  for (const char *t = from->types; t != NULL && *t != '\0'; t++)
    machine->origins.type[tsr_type_index((tsr_type)*t)] = (tsr_origin)from->of_types;
}

typedef struct recipe {
  const char *name, *device, *string;
  tsr_status (*fill)(tsr_machine *machine);
  const char *about;
  sources from;
} recipe;

#define H200_OTHERS "czb", EXTRAPOLATED /* c is as s, z as d, b as h */
#define H100_OTHERS "hbt", EXTRAPOLATED /* as on an H200 */

static const recipe recipes[] = {
    {"h200x1",
     "NVIDIA H200",
     "host:215,154 gpu*1:141 pcie:55 hbm:4000 lat:2 launch:2 cpu:470 staging:16@11/94",
     fill_h200,
     "one GPU of h200x4",
     {{MEASURED, MEASURED, MEASURED, 0, 0, MEASURED, MEASURED}, H200_OTHERS}},
    {"h200x4",
     "NVIDIA H200",
     "host:215,154 gpu*4:141@nvswitch:396 pcie:55 hbm:4000 lat:2 launch:2 cpu:470 staging:16@11/94",
     fill_h200,
     "all to all NVSwitch, one socket",
     {{MEASURED, MEASURED, MEASURED, MEASURED, 0, MEASURED, MEASURED}, H200_OTHERS}},
    {"h200x8",
     "NVIDIA H200",
     "host:430,308 gpu*8:141@nvswitch:396 pcie:55 hbm:4000 lat:2 launch:2 cpu:940 "
     "staging:32@11/188",
     fill_h200,
     "twice h200x4: matrices are interleaved over the memory of two sockets",
     {{MEASURED, MEASURED, EXTRAPOLATED, EXTRAPOLATED, 0, EXTRAPOLATED, EXTRAPOLATED},
      H200_OTHERS}},
    {"h200x8-narrow",
     "NVIDIA H200",
     "host:215,154 gpu*8:141@nvswitch:396 pcie:55 hbm:4000 lat:2 launch:2 cpu:470 staging:16@11/94",
     fill_h200,
     "h200x8 with the host memory of h200x4: matrices are in one socket's memory",
     {{MEASURED, MEASURED, EXTRAPOLATED, EXTRAPOLATED, 0, EXTRAPOLATED, EXTRAPOLATED},
      H200_OTHERS}},
    {"h200x8-sockets",
     "NVIDIA H200",
     "host*2:215,154 sockets:96 gpu*8:141@nvswitch:396 pcie:55 hbm:4000 lat:2 launch:2 cpu:940 "
     "staging:32@11/188",
     fill_h200,
     "h200x8 with its sockets told apart: --home says where matrices are (h0, h1, hi)",
     {{MEASURED, MEASURED, EXTRAPOLATED, EXTRAPOLATED, SHEET, EXTRAPOLATED, EXTRAPOLATED},
      H200_OTHERS}},
    {"h100x1",
     "NVIDIA H100",
     "host:200,143 gpu*1:80 pcie:54.5 hbm:2770 lat:2 launch:2 cpu:300 staging:8@7/42",
     fill_h100,
     "one GPU, a host of 16 cores",
     {{MEASURED, MEASURED, EXTRAPOLATED, 0, 0, MEASURED, EXTRAPOLATED}, H100_OTHERS}},
    {"h100x2",
     "NVIDIA H100",
     "host:200,143 gpu*2:80@nvlink:396 pcie:54.5 hbm:2770 lat:2 launch:2 cpu:600 staging:16@7/84",
     fill_h100,
     "NVLink between both, one socket of 32 cores",
     {{MEASURED, MEASURED, EXTRAPOLATED, EXTRAPOLATED, 0, EXTRAPOLATED, LOADED}, H100_OTHERS}},
    {"h100x4",
     "NVIDIA H100",
     "host:200,143 gpu*4:80@nvswitch:396 pcie:54.5 hbm:2770 lat:2 launch:2 cpu:600 "
     "staging:16@11/94",
     fill_h100,
     "all to all NVLink, one socket of 64 cores",
     {{MEASURED, MEASURED, MEASURED, EXTRAPOLATED, 0, EXTRAPOLATED, EXTRAPOLATED}, H100_OTHERS}},
    {"h100x8",
     "NVIDIA H100",
     "host:400,286 gpu*8:80@nvswitch:396 pcie:54.5 hbm:2770 lat:2 launch:2 cpu:1200 "
     "staging:32@11/188",
     fill_h100,
     "twice h100x4: matrices are interleaved over the memory of two sockets",
     {{MEASURED, MEASURED, EXTRAPOLATED, EXTRAPOLATED, 0, EXTRAPOLATED, EXTRAPOLATED},
      H100_OTHERS}},
    {"a100x4",
     "NVIDIA A100 40 GB",
     "host:150 gpu*4:40@nvlink:75 pcie:24 rate:17.2,17.2 rate.t:137 rate.h:275 hbm:1560 cpu:1500 "
     "staging:16@10/75",
     fill_nothing,
     "four NVLinks for each pair, no switch, PCIe 4, one socket",
     {{PUBLISHED, SHEET, SHEET, SHEET, 0, ASSUMED, ASSUMED}, "czhbt", SHEET}},
    {"rtx4090x1",
     "NVIDIA GeForce RTX 4090",
     "host:65 gpu*1:24 pcie:24 rate:1.2,62 rate.t:62 rate.h:124 rate.b:124 hbm:900 cpu:600 "
     "staging:4@10/30",
     fill_rtx4090,
     "a desktop: PCIe 4, two channels of DDR5",
     {{SHEET, SHEET, SHEET, 0, 0, ASSUMED, ASSUMED}, NULL, 0}},
    {"a100x8-sockets",
     "NVIDIA A100 80 GB",
     "host*2:150 sockets:50 gpu*8:80@nvswitch:250 pcie:24 rate:17.2,17.2 rate.t:137 rate.h:275 "
     "hbm:1800 cpu:3000 staging:16@10/100",
     fill_nothing,
     "two sockets told apart, a host link for each GPU, 80 GB",
     {{PUBLISHED, SHEET, SHEET, SHEET, SHEET, ASSUMED, ASSUMED}, "czhbt", SHEET}},
    {"a100x8",
     "NVIDIA A100 40 GB",
     "host:96 gpu*8:40@nvswitch:300 pcie:24/pair rate:17.2,17.2 rate.t:137 rate.h:275 hbm:1560 "
     "cpu:3000",
     fill_nothing,
     "two GPUs on each host link, 40 GB",
     {{PUBLISHED, PUBLISHED, PUBLISHED, PUBLISHED, 0, ASSUMED, ASSUMED}, "czhbt", SHEET}},
    {"v100x4-choi",
     "NVIDIA V100",
     "host:50 gpu*4:32@nvlink:48.33 pcie:12 rate:7.45,14.899 rate.h:104 hbm:900",
     fill_v100_choi,
     "NVLink 2; the paper has all matrices on GPUs",
     {{ASSUMED, ASSUMED, ASSUMED, PUBLISHED, 0, ASSUMED, ASSUMED}, "s", PUBLISHED}},
    {"gtx1070x4-choi",
     "NVIDIA GeForce GTX 1070",
     "host:50 gpu*4:8@nvswitch:8.55 pcie:12 rate:0.181,5.783 rate.t:5.783 rate.h:5.783 "
     "rate.b:5.783 "
     "hbm:256",
     fill_gtx1070,
     "PCIe 3; the paper has all matrices on GPUs",
     {{ASSUMED, ASSUMED, ASSUMED, PUBLISHED, 0, ASSUMED, ASSUMED}, "s", PUBLISHED}},
    {"v100x3-summit",
     "NVIDIA V100",
     "host:150 gpu*3:16@nvlink:50 pcie:50 rate:7.2,14.4 rate.h:100 hbm:900 net:12.5,2 "
     "staging:8@10/40",
     fill_summit,
     "one process of two in a node of Summit",
     {{ASSUMED, PUBLISHED, ASSUMED, SHEET, 0, ASSUMED, ASSUMED}, "d", PUBLISHED}},
    {"summit-node",
     "NVIDIA V100",
     "host*2:150 sockets:64 gpu*6:16 pcie:50 rate:7.2,14.4 rate.h:100 hbm:900 net:25,2 "
     "staging:16@10/80",
     fill_summit_node,
     "a whole node of Summit: two sockets, no links between their GPUs",
     {{ASSUMED, PUBLISHED, ASSUMED, SHEET, SHEET, ASSUMED, ASSUMED}, "d", PUBLISHED}},
    {"frontier-node",
     "AMD MI250X die",
     "host:180 gpu*8:64 pcie:28 rate:36,36 rate.t:36 rate.h:140 rate.b:140 hbm:1600 cpu:1600 "
     "staging:16@11/80 net:100,2",
     fill_frontier,
     "a node of Frontier: each MI250X is two devices",
     {{SHEET, SHEET, SHEET, SHEET, 0, ASSUMED, ASSUMED}, NULL, 0}},
    {"mi300x8",
     "AMD MI300X",
     "host:430,308 gpu*8:192@nvlink:48 pcie:55 rate:98,98 rate.t:330 rate.h:650 rate.b:650 "
     "hbm:5300 "
     "cpu:3000 staging:32@11/188",
     fill_nothing,
     "a link for each pair, matrices interleaved over the memory of two sockets",
     {{SHEET, EXTRAPOLATED, EXTRAPOLATED, SHEET, 0, EXTRAPOLATED, ASSUMED}, NULL, 0}},
};

static tsr_status write_recipe(const recipe *r, const char *folder) {
  char path[512];
  tsr_machine *machine = NULL;
  snprintf(path, sizeof path, "%s/%s.json", folder, r->name);
  TSR_TRY(tsr_machine_parse(r->string, &machine));
  set_name(machine, r->name, r->device);
  snprintf(machine->about, sizeof machine->about, "%s", r->about);
  set_origins(machine, &r->from);
  tsr_status status = r->fill(machine);
  if (status == TSR_OK) status = tsr_machine_check(machine);
  if (status == TSR_OK) status = tsr_machine_write(machine, path);
  tsr_machine_destroy(machine);
  return status;
}

int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
    if (write_recipe(&recipes[i], argc > 1 ? argv[1] : ".") == TSR_OK) continue;
    fprintf(stderr, "%s: %s\n", recipes[i].name, tsr_message());
    return 1;
  }
  return 0;
}
