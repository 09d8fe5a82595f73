#include "bench_measure.h"

#include <pthread.h>
#include <stdlib.h>

#include "bench_check.h"

enum { WARM_UPS = 2 };

/* ---- The rate that devices hold, in this run and on this data ---- */

/* A device that does one product over and over. */
typedef struct holder {
  tsr_context *context;
  bench_kind kind; /* one kernel, in place, and nothing else */
  bench_store store;
  bench_case work;
  pthread_t thread;
  double seconds, rate; /* rate 0: it failed */
} holder;

static int open_holder(const bench_kind *kind, const settings *given, int device, holder *h) {
  settings alone = *given;
  char name[16];
  snprintf(name, sizeof name, "%d,", device);
  alone.devices = name;
  *h = (holder){.kind = *kind};
  h->kind.operation = TSR_GEMM;
  h->kind.beta = (scalar){0, 0};
  for (int i = 0; i < 3; i++) h->kind.homes[i] = (home){HOME_DEVICE, 0};
  int code = settings_open(&alone, &h->context);
  if (code != TOOL_OK) return code;
  bench_store_open(kind->type, h->context, NULL, false, &h->store);
  return tsr_device_count(h->context) == 1 ? TOOL_OK : TOOL_FAILED; /* else it is the CPU */
}

static void close_holder(holder *h) {
  if (h->context) bench_store_close(&h->store);
  tsr_context_destroy(h->context);
}

/* Gives it a product of that extent in place of the one before. The first call, which plans and
 * allocates, is over then. */
static int set_work(holder *h, int64_t n) {
  const bench_shape shape = {n, n, n};
  double ignored;
  bench_store_close(&h->store);
  bench_store_open(h->kind.type, h->context, NULL, false, &h->store);
  bench_store_expect(&h->store, shape);
  int code = bench_case_create(&h->kind, shape, &h->store, &h->work);
  return code ? code : bench_case_run(&h->work, &ignored);
}

static double hold_for(const bench_case *work, double seconds) {
  const tsr_level3 *w = &work->product.what;
  double begin = tool_now(), once, elapsed;
  int calls = 0;
  do {
    if (bench_case_run(work, &once) != TOOL_OK) return 0;
    calls++;
    elapsed = tool_now() - begin;
  } while (elapsed < seconds);
  return calls * element_flops(w->type, w->m, w->n, w->k) / elapsed;
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
    if (n >= 8192 || element_flops(h->kind.type, n, n, n) / rate >= 0.01) return n;
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

static double sustained_rate(const bench_kind *kind, const settings *given, holder *holders,
                             int devices, double seconds) {
  double rate = 0;
  int opened = 0, code = TOOL_OK;
  while (opened < devices && code == TOOL_OK) {
    code = open_holder(kind, given, opened, &holders[opened]);
    opened++;
  }
  if (code == TOOL_OK) code = set_all(holders, devices);
  if (code == TOOL_OK) rate = hold_all(holders, devices, seconds);
  for (int d = 0; d < opened; d++) close_holder(&holders[d]);
  return rate;
}

double bench_sustained_rate(const bench_kind *kind, const settings *given, int devices,
                            double seconds) {
  if (seconds <= 0) return 0;
  if (devices < 1) devices = 1;
  holder *holders = calloc((size_t)devices, sizeof *holders);
  double rate = holders ? sustained_rate(kind, given, holders, devices, seconds) : 0;
  free(holders);
  return rate;
}

void bench_print_rate(double rate, int devices, double seconds) {
  if (rate <= 0) return;
  printf("kernels on this data: %.4g TFLOP/s, held by ", rate * 1e-12);
  if (devices > 1) {
    printf("each of %d devices at once", devices);
  } else {
    printf("a device");
  }
  printf(" for %s\n", tool_seconds(seconds));
}

/* ---- Timelines ---- */

int bench_write_timeline(tsr_context *context, const char *path) {
  char *text = NULL;
  int code = tool_status(tsr_timeline_end(context, &text));
  if (!code) code = tool_write_file(path, text);
  free(text);
  return code;
}

/* ---- The peer ---- */

/* One call, s; less than 0 when it cannot do the product. */
static double peer_time(peer_library *p, const bench_product *product) {
  double begin = tool_now();
  return peer_multiply(p, product) ? tool_now() - begin : -1;
}

/* The better of its block extents; 0 when it cannot do the product. Its calls are slow: one warms
 * up, and the best's counts as the first of those that are asked for. */
static int choose_block(peer_library *p, const bench_product *product, double *least) {
  int best = 0;
  peer_set_block(p, *peer_blocks());
  if (peer_time(p, product) < 0) return 0;
  for (const int *block = peer_blocks(); *block; block++) {
    peer_set_block(p, *block);
    double seconds = peer_time(p, product);
    if (seconds < 0) return 0;
    if (best != 0 && seconds >= *least) continue;
    best = *block;
    *least = seconds;
  }
  peer_set_block(p, best);
  return best;
}

/* ---- A case ---- */

/* Warm calls, with the peer's in turn, so that both see the same machine. */
static int time_warm(const bench_effort *effort, const bench_case *c, peer_library *p,
                     bench_row *row) {
  double ours[BENCH_MOST_REPEATS], theirs[BENCH_MOST_REPEATS], ignored;
  int code = TOOL_OK, done = 1;
  for (int i = 0; i < WARM_UPS && code == TOOL_OK; i++) code = bench_case_run(c, &ignored);
  row->peer_block = p ? choose_block(p, &c->product, &theirs[0]) : 0;
  for (int i = 0; i < effort->repeat && code == TOOL_OK; i++) {
    code = bench_case_run(c, &ours[i]);
    if (!row->peer_block || done >= effort->peer_repeat) continue;
    theirs[done++] = peer_time(p, &c->product);
  }
  if (code != TOOL_OK) return code;
  row->median = tool_median(ours, (int)effort->repeat);
  if (row->peer_block) row->peer_s = tool_median(theirs, done);
  return TOOL_OK;
}

void bench_fill_prediction(tsr_context *context, double rate, bench_row *row) {
  tsr_plan *plan = NULL;
  tsr_prediction p = {0};
  if (tsr_plan_last(context, &plan) == TSR_OK && tsr_plan_predict(plan, &p) == TSR_OK) {
    row->floor = p.floor_seconds;
    /* In short calls devices are cooler than when they were held at work. */
    if (rate > 0 && p.floor_seconds > 3e-3) (void)tsr_plan_floor(plan, rate, &row->floor);
    row->predicted = p.seconds;
    row->plan = p.plan_seconds;
  }
  tsr_plan_destroy(plan);
  if (row->devices == 0) row->devices = p.devices;
}

int bench_measure(const bench_effort *effort, const bench_case *c, const char *peer_name,
                  peer_library *peer, double rate, bench_row *row) {
  int code = bench_case_run(c, &row->cold);
  if (code == TOOL_OK) code = time_warm(effort, c, peer, row);
  if (code != TOOL_OK) return code;
  if (peer && row->peer_block) {
    snprintf(row->peer, sizeof row->peer, "%s", peer_name);
  } else if (peer) {
    tool_note("note: %s cannot do %s of this type", peer_name,
              tsr_operation_name(c->kind->operation));
  }
  bench_fill_prediction(c->context, rate, row);
  return bench_case_check(c, &row->good);
}
