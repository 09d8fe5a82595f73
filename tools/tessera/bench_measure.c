#include "bench_measure.h"

#include "bench_check.h"
enum { WARM_UPS = 2 };

/* ---- The rate that a device holds, in this run and on this data ---- */

static int hold_case(const bench_case *work, double seconds, double *rate) {
  double once = 0, begin, elapsed = 0;
  int code = bench_case_run(work, &once); /* not counted: plans, allocates */
  int calls = 0;
  begin = tool_now();
  do {
    if (code == TOOL_OK) code = bench_case_run(work, &once);
    calls++;
    elapsed = tool_now() - begin;
  } while (code == TOOL_OK && elapsed < seconds);
  const tsr_level3 *w = &work->product.what;
  *rate = calls * element_flops(w->type, w->m, w->n, w->k) / elapsed;
  return code;
}

static int hold_device(const bench_kind *given, tsr_context *context, int64_t n, double seconds,
                       double *rate) {
  const bench_shape shape = {n, n, n};
  bench_kind kind = *given;
  bench_store store;
  bench_case work;
  kind.operation = TSR_GEMM;
  kind.beta = (scalar){0, 0}; /* one kernel, in place, and nothing else */
  for (int i = 0; i < 3; i++) kind.homes[i] = (home){HOME_DEVICE, 0};
  bench_store_open(kind.type, context, NULL, false, &store);
  bench_store_expect(&store, shape);
  int code = bench_case_create(&kind, shape, &store, &work);
  if (code == TOOL_OK) code = hold_case(&work, seconds, rate);
  bench_store_close(&store);
  return code;
}

/* The product grows until one takes 10 ms. */
double bench_hold_rate(tsr_context *context, const bench_kind *kind, double seconds) {
  double rate = 0;
  int64_t n = 512;
  int code = hold_device(kind, context, n, 0, &rate);
  while (code == TOOL_OK && n < 8192 && element_flops(kind->type, n, n, n) / rate < 0.01) {
    n *= 2;
    code = hold_device(kind, context, n, 0, &rate);
  }
  if (code == TOOL_OK) code = hold_device(kind, context, n, seconds, &rate);
  return code == TOOL_OK ? rate : 0;
}

double bench_sustained_rate(const bench_kind *kind, const settings *given, double seconds) {
  settings alone = *given;
  tsr_context *context = NULL;
  double rate = 0;
  alone.devices = "1";
  if (seconds <= 0) return 0;
  int code = settings_open(&alone, &context);
  if (code == TOOL_OK && tsr_device_count(context) == 1) {
    rate = bench_hold_rate(context, kind, seconds);
  }
  tsr_context_destroy(context);
  return rate;
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
