#include "bench_sweep.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = TSR_OPERATION_COUNT * BENCH_MOST_SHAPES * BENCH_MOST_COUNTS };

/* ---- What is asked for ---- */

void bench_sweep_begin(bench_sweep *s) {
  *s = (bench_sweep){.home = "h,h,h", .effort = {10, 3}, .rate_seconds = 2};
}

static int interpret_homes(bench_sweep *s) {
  home homes[3];
  int code = homes_parse(s->home, HOME_PINNED, homes);
  for (int i = 0; i < s->kind_count && !code; i++) {
    memcpy(s->kinds[i].homes, homes, sizeof homes);
  }
  return code;
}

static int interpret_counts(const char *text, bench_sweep *s) {
  s->counts[0] = 0;
  s->count_count = text ? bench_parse_counts(text, s->counts) : 1;
  return s->count_count < 0 ? TOOL_USAGE : TOOL_OK;
}

static int check_repeat(const char *name, int64_t repeat) {
  if (repeat >= 1 && repeat <= BENCH_MOST_REPEATS) return TOOL_OK;
  return tool_usage("%s must be 1 to %d", name, BENCH_MOST_REPEATS);
}

int bench_sweep_interpret(bench_sweep *s, const char *devices) {
  int code = interpret_homes(s);
  if (!code) code = interpret_counts(devices, s);
  if (!code) code = check_repeat("--repeat", s->effort.repeat);
  if (!code) code = check_repeat("--peer-repeat", s->effort.peer_repeat);
  return code;
}

/* ---- All cases ---- */

typedef struct sweep_results {
  bench_row rows[MOST_ROWS];
  int count;
} sweep_results;

static int draw(const bench_sweep *s, const bench_case *c) {
  double ignored;
  int code = tool_status(tsr_timeline_begin(c->context));
  if (!code) code = bench_case_run(c, &ignored);
  return code ? code : bench_write_timeline(c->context, s->timeline);
}

static int measure(const bench_sweep *s, const bench_kind *kind, bench_store *store,
                   peer_library *p, double rate, bench_row *row) {
  bench_case c;
  int code = bench_case_create(kind, row->shape, store, &c);
  if (!code) code = bench_measure(&s->effort, &c, s->peer, p, rate, row);
  return code || !s->timeline ? code : draw(s, &c);
}

static void print_row(const bench_sweep *s, const bench_row *row) {
  if (s->json) return;
  if (s->named) printf("%-6s ", tsr_operation_name(row->operation));
  bench_print_row(row, s->peer != NULL);
}

static int measure_kind(const bench_sweep *s, const bench_kind *kind, bench_store *store,
                        int64_t devices, peer_library *p, double rate, sweep_results *results) {
  int code = TOOL_OK;
  for (int i = 0; i < s->shape_count && code == TOOL_OK; i++) {
    bench_row *row = &results->rows[results->count];
    *row = (bench_row){.operation = kind->operation,
                       .type = kind->type,
                       .shape = s->shapes[i],
                       .devices = (int)devices};
    snprintf(row->home, sizeof row->home, "%s", s->home);
    code = measure(s, kind, store, p, rate, row);
    if (code != TOOL_OK) break;
    results->count++;
    print_row(s, row);
  }
  return code;
}

/* A context for each number of devices, so that its first call is a cold one. */
static int measure_count(const bench_sweep *s, int64_t devices, double rate,
                         sweep_results *results) {
  settings with = s->settings;
  char text[32];
  tsr_context *context = NULL;
  peer_library *p = NULL;
  bench_store store;
  snprintf(text, sizeof text, "%lld", (long long)devices);
  if (devices > 0) with.devices = text;
  int code = settings_open(&with, &context);
  if (code != TOOL_OK) return code;
  int used = devices > 0 ? (int)devices : tsr_device_count(context);
  if (s->peer) p = peer_open(s->peer, used);
  bench_store_open(s->kinds[0].type, context, NULL, false, &store);
  for (int i = 0; i < s->shape_count; i++) bench_store_expect(&store, s->shapes[i]);
  for (int i = 0; i < s->kind_count && code == TOOL_OK; i++) {
    code = measure_kind(s, &s->kinds[i], &store, devices, p, rate, results);
  }
  bench_store_close(&store);
  peer_close(p);
  tsr_context_destroy(context);
  return code;
}

static int publish(const bench_sweep *s, const sweep_results *results) {
  int code = TOOL_OK;
  if (s->json) bench_print_json(results->rows, results->count);
  if (s->csv) code = bench_write_csv(s->csv, results->rows, results->count);
  if (!code && s->plot && results->count > 0) {
    code = bench_write_plot(s->plot, results->rows, results->count, NULL);
  }
  for (int i = 0; i < results->count && !code; i++) {
    if (!results->rows[i].good) code = tool_fail("a result is wrong: see 'check'");
  }
  return code;
}

static void print_head(const bench_sweep *s) {
  if (s->json) return;
  if (s->named) printf("%-6s ", "op");
  bench_print_head(s->peer != NULL);
}

static int measure_all(const bench_sweep *s, sweep_results *results) {
  double rates[BENCH_MOST_COUNTS];
  int code = TOOL_OK;
  for (int i = 0; i < s->count_count; i++) {
    rates[i] = bench_sustained_rate(&s->kinds[0], &s->settings, (int)s->counts[i], s->rate_seconds);
    if (!s->json) bench_print_rate(rates[i], (int)s->counts[i], s->rate_seconds);
  }
  print_head(s);
  for (int i = 0; i < s->count_count && code == TOOL_OK; i++) {
    code = measure_count(s, s->counts[i], rates[i], results);
  }
  /* What was measured before something failed is still worth having. */
  int published = publish(s, results);
  return code ? code : published;
}

int bench_sweep_run(const bench_sweep *s) {
  sweep_results *results = calloc(1, sizeof *results);
  if (!results) return tool_fail("out of memory");
  int code = measure_all(s, results);
  free(results);
  return code;
}
