#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sides.h"

/* A device that does one product over and over. */
typedef struct holder {
  tsr_context *context;
  bench_line line; /* one kernel, in place, and nothing else */
  bench_store store;
  bench_case work;
  char device[16];
  pthread_t thread;
  double seconds, rate; /* rate 0: it failed */
} holder;

/* The index-th of the devices that "0,2" or "2" names. */
static int device_number(const char *text, int index) {
  if (!text || !strchr(text, ',')) return index;
  if (strncmp(text, "..", 2) == 0) text += 2;
  while (index-- > 0) text = strchr(text, ',') + 1;
  return atoi(text);
}

static int open_holder(const bench_line *like, int index, holder *h) {
  *h = (holder){.line = {.what.type = like->what.type, .alpha = {1, 0}, .devices = 1}};
  const char *devices = like->words.settings.devices;
  snprintf(h->device, sizeof h->device, "%d,", device_number(devices, index));
  bench_words_begin(&h->line.words);
  h->line.words.home = "0";
  h->line.words.beta = "0";
  h->line.words.settings = like->words.settings;
  h->line.words.settings.devices = h->device;
  h->line.words.settings.memory = NULL;
  int code = settings_open(&h->line.words.settings, &h->context);
  if (code != TOOL_OK) return code;
  h->store = (bench_store){.type = like->what.type, .context = h->context};
  return tsr_device_count(h->context) == 1 ? TOOL_OK : TOOL_FAILED; /* else it is the CPU */
}

static void close_holder(holder *h) {
  bench_case_destroy(&h->work);
  if (h->context) bench_store_close(&h->store);
  tsr_context_destroy(h->context);
}

/* Gives it a product of that extent in place of the one before. The first call, which plans and
 * allocates, is over then. */
static int set_work(holder *h, int64_t n) {
  tsr_level3 *w = &h->line.what;
  double ignored;
  bench_store_close(&h->store);
  *w = (tsr_level3){.operation = TSR_GEMM, .type = w->type, .m = n, .n = n, .k = n};
  int code = bench_line_interpret(&h->line, false);
  if (!code) code = bench_case_expect(&h->line, false, &h->store);
  if (!code) code = bench_case_create(&h->line, &h->store, &h->work);
  return code ? code : bench_case_run(&h->work, &ignored);
}

static double hold_for(const bench_case *work, double seconds) {
  double begin = tool_now(), once, elapsed;
  int calls = 0;
  do {
    if (bench_case_run(work, &once) != TOOL_OK) return 0;
    calls++;
    elapsed = tool_now() - begin;
  } while (elapsed < seconds);
  return calls * bench_line_flops(work->line) / elapsed;
}

/* The first half of the time brings devices to a steady state. */
static void *hold(void *argument) {
  holder *h = argument;
  h->rate = hold_for(&h->work, h->seconds / 2);
  if (h->rate > 0) h->rate = hold_for(&h->work, h->seconds / 2);
  return NULL;
}

/* The product grows until one takes 10 ms; it is the device's work then. 0: the device does none.
 */
static int64_t choose_extent(holder *h) {
  for (int64_t n = 512;; n *= 2) {
    double rate = set_work(h, n) == TOOL_OK ? hold_for(&h->work, 0) : 0;
    if (rate == 0) return 0;
    if (n >= 8192 || bench_line_flops(&h->line) / rate >= 0.01) return n;
  }
}

/* The first device's choice is that of all. */
static int set_all(holder *holders, int devices) {
  int64_t n = choose_extent(&holders[0]);
  int code = n > 0 ? TOOL_OK : TOOL_FAILED;
  for (int d = 1; d < devices && code == TOOL_OK; d++) code = set_work(&holders[d], n);
  return code;
}

/* All of them at once; the mean. */
static double hold_all(holder *holders, int devices, double seconds) {
  double sum = 0;
  bool all = true;
  int started = 1;
  for (int d = 0; d < devices; d++) holders[d].seconds = seconds;
  while (started < devices &&
         pthread_create(&holders[started].thread, NULL, hold, &holders[started]) == 0)
    started++;
  hold(&holders[0]);
  for (int d = 0; d < started; d++) {
    if (d > 0) pthread_join(holders[d].thread, NULL);
    all = all && holders[d].rate > 0;
    sum += holders[d].rate;
  }
  return all && started == devices ? sum / devices : 0;
}

double bench_sustained_rate(const bench_line *line, double seconds) {
  int opened = 0, code = TOOL_OK, devices = line->devices > 1 ? line->devices : 1;
  holder *holders = calloc((size_t)devices, sizeof *holders);
  double rate = 0;
  while (holders && opened < devices && code == TOOL_OK) {
    code = open_holder(line, opened, &holders[opened]);
    opened++;
  }
  if (holders && code == TOOL_OK) code = set_all(holders, devices);
  if (holders && code == TOOL_OK) rate = hold_all(holders, devices, seconds);
  for (int d = 0; d < opened; d++) close_holder(&holders[d]);
  free(holders);
  return rate;
}
