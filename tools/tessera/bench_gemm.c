/* tessera bench gemm: cold and warm times of products, next to the floor and a peer. */
#include <stdlib.h>
#include <string.h>

#include "bench_rows.h"

enum { MOST_SHAPES = 64, MOST_COUNTS = 16, MOST_REPEATS = 1000, WARM_UPS = 2 };

typedef struct bench_request {
  bench_kind kind;
  bench_shape shapes[MOST_SHAPES];
  int shape_count;
  int64_t counts[MOST_COUNTS]; /* of devices; 0: as the model says */
  int count_count;
  int64_t repeat;
  double rate_seconds;
  const char *home, *peer, *csv, *plot;
  bool json;
  settings settings;
} bench_request;

/* ---- What is asked for ---- */

typedef struct bench_words {
  const char *type, *n, *shape, *devices, *transa, *transb, *alpha, *beta;
} bench_words;

static int parse_squares(const char *text, bench_request *r) {
  int64_t extents[MOST_SHAPES];
  int count = options_whole_list(text, extents, MOST_SHAPES);
  if (count < 0) return tool_usage("--n %s: must be extents such as 4096,8192", text);
  for (int i = 0; i < count; i++) {
    r->shapes[i] = (bench_shape){extents[i], extents[i], extents[i]};
  }
  r->shape_count = count;
  return TOOL_OK;
}

static int parse_shapes(const char *text, bench_request *r) {
  const char *at = text;
  while (r->shape_count < MOST_SHAPES) {
    long long m, n, k;
    int used = 0;
    if (sscanf(at, "%lldx%lldx%lld%n", &m, &n, &k, &used) != 3 || m < 0 || n < 0 || k < 0) break;
    r->shapes[r->shape_count++] = (bench_shape){m, n, k};
    at += used;
    if (!*at) return TOOL_OK;
    if (*at != ',') break;
    at++;
  }
  return tool_usage("--shape %s: must be MxNxK,... such as 8192x8192x1024", text);
}

static int interpret_kind(const bench_words *words, bench_kind *kind) {
  kind->type = TSR_D;
  kind->transa = kind->transb = TSR_NO_TRANS;
  kind->alpha = kind->beta = (scalar){1, 0};
  int code = TOOL_OK;
  if (words->type) code = parse_type("--type", words->type, &kind->type);
  if (!code && words->transa) code = parse_op("--transa", words->transa, &kind->transa);
  if (!code && words->transb) code = parse_op("--transb", words->transb, &kind->transb);
  if (!code && words->alpha) code = parse_scalar("--alpha", words->alpha, &kind->alpha);
  if (!code && words->beta) code = parse_scalar("--beta", words->beta, &kind->beta);
  return code;
}

static int interpret_counts(const char *text, bench_request *r) {
  if (!text) {
    r->counts[0] = 0;
    r->count_count = 1;
    return TOOL_OK;
  }
  r->count_count = options_whole_list(text, r->counts, MOST_COUNTS);
  for (int i = 0; i < r->count_count; i++) {
    if (r->counts[i] < 1 || r->counts[i] > 1000) r->count_count = -1;
  }
  if (r->count_count < 0) return tool_usage("--devices %s: must be numbers such as 1,2,4", text);
  return TOOL_OK;
}

static int interpret_words(const bench_words *words, bench_request *r) {
  int code = interpret_kind(words, &r->kind);
  if (!code && words->n && words->shape) code = tool_usage("--n and --shape: choose one");
  if (!code && words->shape) {
    code = parse_shapes(words->shape, r);
  } else if (!code) {
    code = parse_squares(words->n ? words->n : "1024,2048,4096", r);
  }
  if (!code) code = homes_parse(r->home, HOME_PINNED, r->kind.homes);
  for (int i = 0; i < 3 && !code; i++) {
    if (r->kind.homes[i].kind == HOME_MANAGED) code = tool_usage("--home m: no such memory here");
  }
  if (!code) code = interpret_counts(words->devices, r);
  if (!code && (r->repeat < 1 || r->repeat > MOST_REPEATS)) {
    code = tool_usage("--repeat must be 1 to %d", MOST_REPEATS);
  }
  if (!code && r->peer && strcmp(r->peer, "cublasxt") != 0) {
    code = tool_usage("--peer %s: the peer that is known is cublasxt", r->peer);
  }
  return code;
}

static int parse_request(int argc, char **argv, bench_request *r) {
  bench_words words = {0};
  r->home = "h,h,h";
  r->repeat = 10;
  r->rate_seconds = 1;
  const option table[] = {
      {"type", 0, OPTION_TEXT, &words.type, "s|d|c|z|h|b|t", "element type (default: d)"},
      {"n", 0, OPTION_TEXT, &words.n, "N,...", "square products (default: 1024,2048,4096)"},
      {"shape", 0, OPTION_TEXT, &words.shape, "MxNxK,...", "products of other shapes"},
      {"home", 0, OPTION_TEXT, &r->home, "h,h,h",
       "where A,B,C are: h pinned host, u pageable host, 0.. a device"},
      {"devices", 0, OPTION_TEXT, &words.devices, "N,...",
       "numbers of devices (default: by model)"},
      {"transa", 0, OPTION_TEXT, &words.transa, "N|T|C",
       "A as it is, transposed, conjugate transposed"},
      {"transb", 0, OPTION_TEXT, &words.transb, "N|T|C", "the same for B"},
      {"alpha", 0, OPTION_TEXT, &words.alpha, "X", "factor of A B (default: 1)"},
      {"beta", 0, OPTION_TEXT, &words.beta, "Y", "factor of C (default: 1)"},
      {"repeat", 0, OPTION_WHOLE, &r->repeat, "N", "warm calls, of which the median counts (10)"},
      {"peer", 0, OPTION_TEXT, &r->peer, "cublasxt", "measure this too, call by call in turn"},
      {"rate-seconds", 0, OPTION_NUMBER, &r->rate_seconds, "S",
       "hold a device at work so long for the floor's rate on this data (1; 0: the machine's)"},
      {"csv", 0, OPTION_TEXT, &r->csv, "FILE", "write the results as CSV"},
      {"plot", 0, OPTION_TEXT, &r->plot, "FILE.svg", "draw them"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print for programs instead of the table"},
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      SETTINGS_TILE(&r->settings),
      SETTINGS_REPRODUCIBLE(&r->settings),
      {0}};
  const option_command command = {
      "[options]",
      "Times C = alpha op(A) op(B) + beta C on full-mantissa random matrices: the first call "
      "(cold),\n"
      "the median of repeated calls, the floor no schedule can beat, what was predicted, and a "
      "peer.",
      "tessera bench gemm --type d --n 4096,8192 --home h,h,h --devices 1,2,4 --csv gemm.csv",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  return code ? code : interpret_words(&words, r);
}

/* ---- The rate that a device holds, in this run and on this data ---- */

static int hold_device(const bench_request *r, tsr_context *context, int64_t n, double seconds,
                       double *rate) {
  bench_kind kind = r->kind;
  bench_case work;
  double once = 0;
  kind.beta = (scalar){0, 0}; /* one kernel, in place, and nothing else */
  for (int i = 0; i < 3; i++) kind.homes[i] = (home){HOME_DEVICE, 0};
  int code = bench_case_create(&kind, (bench_shape){n, n, n}, context, &work);
  if (code != TOOL_OK) return code;
  code = bench_case_run(&work, &once); /* not counted: plans, allocates */
  double begin = tool_now(), elapsed = 0;
  int calls = 0;
  do {
    if (code == TOOL_OK) code = bench_case_run(&work, &once);
    calls++;
    elapsed = tool_now() - begin;
  } while (code == TOOL_OK && elapsed < seconds);
  *rate = calls * element_flops(kind.type, n, n, n) / elapsed;
  bench_case_destroy(&work);
  return code;
}

/* Flops/s of one device; 0 when it cannot be told. The product grows until one takes 10 ms. */
static double sustained_rate(const bench_request *r) {
  settings alone = r->settings;
  tsr_context *context = NULL;
  double rate = 0;
  alone.devices = "1";
  if (r->rate_seconds <= 0) return 0;
  int code = settings_open(&alone, &context);
  if (code == TOOL_OK && tsr_device_count(context) == 1) {
    int64_t n = 512;
    code = hold_device(r, context, n, 0, &rate);
    while (code == TOOL_OK && n < 8192 && element_flops(r->kind.type, n, n, n) / rate < 0.01) {
      n *= 2;
      code = hold_device(r, context, n, 0, &rate);
    }
    if (code == TOOL_OK) code = hold_device(r, context, n, r->rate_seconds, &rate);
  }
  tsr_context_destroy(context);
  return code == TOOL_OK ? rate : 0;
}

/* ---- A case ---- */

static double peer_time(peer_library *p, const bench_product *product) {
  double begin = tool_now();
  return peer_multiply(p, product) ? tool_now() - begin : -1;
}

/* The better of its block extents; 0 when it cannot do the product. */
static int choose_block(peer_library *p, const bench_product *product) {
  int best = 0;
  double least = 0;
  for (const int *block = peer_blocks(); *block; block++) {
    peer_set_block(p, *block);
    double warm_up = peer_time(p, product), seconds = peer_time(p, product);
    if (warm_up < 0 || seconds < 0) return 0;
    if (best == 0 || seconds < least) {
      best = *block;
      least = seconds;
    }
  }
  peer_set_block(p, best);
  return best;
}

/* Warm calls, with the peer's in turn, so that both see the same machine. */
static int time_warm(const bench_request *r, const bench_case *c, peer_library *p, bench_row *row) {
  double ours[MOST_REPEATS], theirs[MOST_REPEATS];
  int code = TOOL_OK, count = (int)r->repeat;
  double ignored;
  for (int i = 0; i < WARM_UPS && code == TOOL_OK; i++) code = bench_case_run(c, &ignored);
  row->peer_block = p ? choose_block(p, &c->product) : 0;
  if (p && row->peer_block == 0) tool_note("note: %s cannot do this product", r->peer);
  for (int i = 0; i < count && code == TOOL_OK; i++) {
    code = bench_case_run(c, &ours[i]);
    if (row->peer_block) theirs[i] = peer_time(p, &c->product);
  }
  if (code != TOOL_OK) return code;
  row->median = tool_median(ours, count);
  if (row->peer_block) {
    row->peer = r->peer;
    row->peer_s = tool_median(theirs, count);
  }
  return TOOL_OK;
}

/* The library's floor, raised to what this run's kernels need on this data. */
static void fill_prediction(tsr_context *context, double rate, bench_row *row) {
  tsr_plan *plan = NULL;
  tsr_prediction p = {0};
  if (tsr_plan_last(context, &plan) == TSR_OK && tsr_plan_predict(plan, &p) == TSR_OK) {
    row->floor = p.floor_seconds;
    row->predicted = p.seconds;
    row->plan = p.plan_seconds;
  }
  tsr_plan_destroy(plan);
  if (row->devices == 0) row->devices = p.devices;
  double flops = element_flops(row->type, row->shape.m, row->shape.n, row->shape.k);
  if (rate > 0 && row->devices > 0) {
    double needed = flops / (rate * row->devices);
    if (needed > row->floor) row->floor = needed;
  }
}

static int measure(const bench_request *r, bench_shape shape, tsr_context *context, peer_library *p,
                   double rate, bench_row *row) {
  bench_case c;
  int code = bench_case_create(&r->kind, shape, context, &c);
  if (code != TOOL_OK) return code;
  code = bench_case_run(&c, &row->cold);
  if (code == TOOL_OK) code = time_warm(r, &c, p, row);
  if (code == TOOL_OK) fill_prediction(context, rate, row);
  if (code == TOOL_OK) code = bench_case_check(&c, &row->good);
  bench_case_destroy(&c);
  return code;
}

/* ---- All cases ---- */

typedef struct bench_results {
  bench_row rows[MOST_SHAPES * MOST_COUNTS];
  int count;
} bench_results;

/* A context for each number of devices, so that its first call is a cold one. */
static int measure_shapes(const bench_request *r, int64_t devices, double rate,
                          bench_results *results) {
  settings with = r->settings;
  char text[32];
  tsr_context *context = NULL;
  peer_library *p = NULL;
  snprintf(text, sizeof text, "%lld", (long long)devices);
  if (devices > 0) with.devices = text;
  int code = settings_open(&with, &context);
  if (code != TOOL_OK) return code;
  int used = devices > 0 ? (int)devices : tsr_device_count(context);
  if (r->peer) p = peer_open(r->peer, used);
  for (int i = 0; i < r->shape_count && code == TOOL_OK; i++) {
    bench_row *row = &results->rows[results->count];
    *row = (bench_row){
        .type = r->kind.type, .shape = r->shapes[i], .home = r->home, .devices = (int)devices};
    code = measure(r, r->shapes[i], context, p, rate, row);
    if (code != TOOL_OK) break;
    results->count++;
    if (!r->json) bench_print_row(row, r->peer != NULL);
  }
  peer_close(p);
  tsr_context_destroy(context);
  return code;
}

static int publish(const bench_request *r, const bench_results *results) {
  int code = TOOL_OK;
  if (r->json) bench_print_json(results->rows, results->count);
  if (r->csv) code = bench_write_csv(r->csv, results->rows, results->count);
  if (!code && r->plot && results->count > 0) {
    code = bench_write_plot(r->plot, results->rows, results->count);
  }
  for (int i = 0; i < results->count && !code; i++) {
    if (!results->rows[i].good) code = tool_fail("a result is wrong: see 'check'");
  }
  return code;
}

static int measure_all(const bench_request *r, bench_results *results) {
  double rate = sustained_rate(r);
  if (!r->json && rate > 0) {
    printf("kernels on this data: %.4g TFLOP/s, held by a device for %s\n", rate * 1e-12,
           tool_seconds(r->rate_seconds));
  }
  if (!r->json) bench_print_head(r->peer != NULL);
  int code = TOOL_OK;
  for (int i = 0; i < r->count_count && code == TOOL_OK; i++) {
    code = measure_shapes(r, r->counts[i], rate, results);
  }
  /* What was measured before something failed is still worth having. */
  int published = publish(r, results);
  return code ? code : published;
}

int bench_gemm(int argc, char **argv) {
  bench_request request = {0};
  int code = parse_request(argc, argv, &request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code != TOOL_OK) return code;
  bench_results *results = calloc(1, sizeof *results);
  if (!results) return tool_fail("out of memory");
  code = measure_all(&request, results);
  free(results);
  return code;
}
