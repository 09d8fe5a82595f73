/* tessera bench gemm: cold and warm times of products, next to the floor and a peer. */
#include <stdlib.h>
#include <string.h>

#include "bench_measure.h"
#include "bench_shapes.h"

enum { MOST_SHAPES = 64 };

typedef struct bench_request {
  bench_kind kind;
  bench_shape shapes[MOST_SHAPES];
  int shape_count;
  int64_t counts[BENCH_MOST_COUNTS]; /* of devices; 0: as the model says */
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

static int interpret_shapes(const bench_words *words, bench_request *r) {
  if (words->n && words->shape) return tool_usage("--n and --shape: choose one");
  r->shape_count = words->shape ? bench_parse_shapes(words->shape, r->shapes, MOST_SHAPES)
                                : bench_parse_squares(words->n ? words->n : "1024,2048,4096",
                                                      r->shapes, MOST_SHAPES);
  return r->shape_count < 0 ? TOOL_USAGE : TOOL_OK;
}

static int interpret_counts(const char *text, bench_request *r) {
  r->counts[0] = 0;
  r->count_count = text ? bench_parse_counts(text, r->counts) : 1;
  return r->count_count < 0 ? TOOL_USAGE : TOOL_OK;
}

static int interpret_words(const bench_words *words, bench_request *r) {
  int code = interpret_kind(words, &r->kind);
  if (!code) code = interpret_shapes(words, r);
  if (!code) code = homes_parse(r->home, HOME_PINNED, r->kind.homes);
  for (int i = 0; i < 3 && !code; i++) {
    if (r->kind.homes[i].kind == HOME_MANAGED) code = tool_usage("--home m: no such memory here");
  }
  if (!code) code = interpret_counts(words->devices, r);
  if (!code && (r->repeat < 1 || r->repeat > BENCH_MOST_REPEATS)) {
    code = tool_usage("--repeat must be 1 to %d", BENCH_MOST_REPEATS);
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

/* ---- All cases ---- */

typedef struct bench_results {
  bench_row rows[MOST_SHAPES * BENCH_MOST_COUNTS];
  int count;
} bench_results;

static int measure(const bench_request *r, bench_shape shape, bench_store *store, peer_library *p,
                   double rate, bench_row *row) {
  const bench_effort effort = {r->repeat, r->repeat};
  bench_case c;
  int code = bench_case_create(&r->kind, shape, store, &c);
  return code ? code : bench_measure(&effort, &c, r->peer, p, rate, row);
}

static int measure_in(const bench_request *r, bench_store *store, int64_t devices, peer_library *p,
                      double rate, bench_results *results) {
  int code = TOOL_OK;
  for (int i = 0; i < r->shape_count; i++) bench_store_expect(store, r->shapes[i]);
  for (int i = 0; i < r->shape_count && code == TOOL_OK; i++) {
    bench_row *row = &results->rows[results->count];
    *row = (bench_row){.type = r->kind.type, .shape = r->shapes[i], .devices = (int)devices};
    snprintf(row->home, sizeof row->home, "%s", r->home);
    code = measure(r, r->shapes[i], store, p, rate, row);
    if (code != TOOL_OK) break;
    results->count++;
    if (!r->json) bench_print_row(row, r->peer != NULL);
  }
  return code;
}

/* A context for each number of devices, so that its first call is a cold one. */
static int measure_shapes(const bench_request *r, int64_t devices, double rate,
                          bench_results *results) {
  settings with = r->settings;
  char text[32];
  tsr_context *context = NULL;
  peer_library *p = NULL;
  bench_store store;
  snprintf(text, sizeof text, "%lld", (long long)devices);
  if (devices > 0) with.devices = text;
  int code = settings_open(&with, &context);
  if (code != TOOL_OK) return code;
  int used = devices > 0 ? (int)devices : tsr_device_count(context);
  if (r->peer) p = peer_open(r->peer, used);
  bench_store_open(r->kind.type, context, NULL, false, &store);
  code = measure_in(r, &store, devices, p, rate, results);
  bench_store_close(&store);
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
  double rate = bench_sustained_rate(&r->kind, &r->settings, r->rate_seconds);
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
