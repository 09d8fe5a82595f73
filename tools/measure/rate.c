/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sides.h"

/* A device that repeats one product for some seconds. */
typedef struct load {
  tsr_context *context;
  bench_line line; /* a product with all operands on the device: one kernel, no copy */
  bench_store store;
  bench_case work;
  char device[16];
  pthread_t thread;
  double seconds, rate; /* s to run; flops/s, 0: a call failed */
} load;

/* The number of device number `index` of those that "0,2" or "2" names. */
static int device_number(const char *text, int index) {
  if (!text || !strchr(text, ',')) return index;
  if (strncmp(text, "..", 2) == 0) text += 2;
  while (index-- > 0) text = strchr(text, ',') + 1;
  return atoi(text);
}

static int open_load(const bench_line *like, int index, load *l) {
  *l = (load){.line = {.what.type = like->what.type, .alpha = {1, 0}, .devices = 1}};
  const char *devices = like->words.settings.devices;
  snprintf(l->device, sizeof l->device, "%d,", device_number(devices, index));
  bench_words_begin(&l->line.words);
  l->line.words.home = "0";
  l->line.words.beta = "0";
  l->line.words.settings = like->words.settings;
  l->line.words.settings.devices = l->device;
  l->line.words.settings.memory = NULL;
  int code = settings_open(&l->line.words.settings, &l->context);
  if (code != TOOL_OK) return code;
  l->store = (bench_store){.type = like->what.type, .context = l->context};
  return tsr_device_count(l->context) == 1 ? TOOL_OK : TOOL_FAILED; /* no device: the CPU's BLAS */
}

static void close_load(load *l) {
  bench_case_destroy(&l->work);
  if (l->context) bench_store_close(&l->store);
  tsr_context_destroy(l->context);
}

/* Replaces the load's product by one of extent n and makes its first call, which plans and
 * allocates. */
static int set_work(load *l, int64_t n) {
  tsr_level3 *w = &l->line.what;
  double ignored;
  bench_store_close(&l->store);
  *w = (tsr_level3){.operation = TSR_GEMM, .type = w->type, .m = n, .n = n, .k = n};
  int code = bench_line_interpret(&l->line, false);
  if (!code) code = bench_case_expect(&l->line, false, &l->store);
  if (!code) code = bench_case_create(&l->line, &l->store, &l->work);
  return code ? code : bench_case_run(&l->work, &ignored);
}

static double rate_over(const bench_case *work, double seconds) {
  double begin = tool_now(), once, elapsed;
  int calls = 0;
  do {
    if (bench_case_run(work, &once) != TOOL_OK) return 0;
    calls++;
    elapsed = tool_now() - begin;
  } while (elapsed < seconds);
  return calls * bench_line_flops(work->line) / elapsed;
}

/* The load's thread: the first half of the time brings the device to a steady state, the second
 * half is measured. */
static void *run(void *argument) {
  load *l = argument;
  l->rate = rate_over(&l->work, l->seconds / 2);
  if (l->rate > 0) l->rate = rate_over(&l->work, l->seconds / 2);
  return NULL;
}

/* The smallest extent (a power of two, 512 to 8192) whose product takes at least 10 ms; 0: the
 * device can do no product. The load has that product afterwards. */
static int64_t choose_extent(load *l) {
  for (int64_t n = 512;; n *= 2) {
    double rate = set_work(l, n) == TOOL_OK ? rate_over(&l->work, 0) : 0;
    if (rate == 0) return 0;
    if (n >= 8192 || bench_line_flops(&l->line) / rate >= 0.01) return n;
  }
}

/* Gives all loads the extent that the first one chooses. */
static int set_all(load *loads, int devices) {
  int64_t n = choose_extent(&loads[0]);
  int code = n > 0 ? TOOL_OK : TOOL_FAILED;
  for (int d = 1; d < devices && code == TOOL_OK; d++) code = set_work(&loads[d], n);
  return code;
}

/* Runs all loads at once; the mean rate in flops/s, 0: one failed. */
static double run_all(load *loads, int devices, double seconds) {
  double sum = 0;
  bool all = true;
  int started = 1;
  for (int d = 0; d < devices; d++) loads[d].seconds = seconds;
  while (started < devices &&
         pthread_create(&loads[started].thread, NULL, run, &loads[started]) == 0)
    started++;
  run(&loads[0]);
  for (int d = 0; d < started; d++) {
    if (d > 0) pthread_join(loads[d].thread, NULL);
    all = all && loads[d].rate > 0;
    sum += loads[d].rate;
  }
  return all && started == devices ? sum / devices : 0;
}

double bench_sustained_rate(const bench_line *line, double seconds) {
  int opened = 0, code = TOOL_OK, devices = line->devices > 1 ? line->devices : 1;
  load *loads = calloc((size_t)devices, sizeof *loads);
  double rate = 0;
  while (loads && opened < devices && code == TOOL_OK) {
    code = open_load(line, opened, &loads[opened]);
    opened++;
  }
  if (loads && code == TOOL_OK) code = set_all(loads, devices);
  if (loads && code == TOOL_OK) rate = run_all(loads, devices, seconds);
  for (int d = 0; d < opened; d++) close_load(&loads[d]);
  free(loads);
  return rate;
}
