/* tessera bench composed: a solve and a product of its result, composed on the devices and as two
 * separate calls: X = A^-1 B in place of B, then C = C - D X. */
#include <stdlib.h>
#include <string.h>

#include "bench_composed.h"
#include "bench_measure.h"
#include "bench_shapes.h"
#include "verify_level3.h"

enum {
  MOST_SIZES = 32,
  WARM_UPS = 2,
  MOST_ROWS = MOST_SIZES * BENCH_MOST_COUNTS * COMPOSED_VARIANTS
};

typedef struct composed_request {
  tsr_type type;
  bench_shape shapes[MOST_SIZES];
  int64_t counts[BENCH_MOST_COUNTS]; /* of devices; 0: all */
  int shape_count, count_count;
  int64_t repeat;
  const char *csv, *plot, *timeline;
  settings settings;
  composed_row rows[MOST_ROWS];
  int row_count;
} composed_request;

/* The matrices of one size, in pinned host memory. */
typedef struct composed_case {
  tsr_context *context;
  tsr_level3 solve, product;
  scalar_value one, minus_one;
  matrix_view a, b, c, d; /* b: becomes X */
} composed_case;

/* ---- Options ---- */

static int interpret(composed_request *r, const char *type, const char *n, const char *devices) {
  int code = type ? parse_type("--type", type, &r->type) : TOOL_OK;
  if (code) return code;
  if (!strchr("sdcz", (char)r->type)) return tool_usage("--type %s: trsm takes s, d, c or z", type);
  r->shape_count = bench_parse_squares(n, r->shapes, MOST_SIZES);
  r->count_count = devices ? bench_parse_counts(devices, r->counts) : 1;
  if (r->shape_count < 0 || r->count_count < 0) return TOOL_USAGE;
  if (r->repeat >= 1 && r->repeat <= BENCH_MOST_REPEATS) return TOOL_OK;
  return tool_usage("--repeat must be 1 to %d", BENCH_MOST_REPEATS);
}

static int parse_request(int argc, char **argv, composed_request *r) {
  const char *type = NULL, *n = "8192,16384,32768", *devices = NULL;
  r->type = TSR_D;
  r->repeat = 5;
  const option table[] = {
      {"type", 0, OPTION_TEXT, &type, "s|d|c|z", "element type (default: d)"},
      {"n", 0, OPTION_TEXT, &n, "N,...", "all extents (default: 8192,16384,32768)"},
      BENCH_SWEEP_DEVICES(&devices),
      {"repeat", 0, OPTION_WHOLE, &r->repeat, "N", "warm runs, of which the median counts (5)"},
      BENCH_SWEEP_CSV(r),
      BENCH_SWEEP_PLOT(r),
      {"timeline", 0, OPTION_TEXT, &r->timeline, "FILE.json",
       "what one more composed run of the last extent did over time, for Perfetto"},
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      SETTINGS_TILE(&r->settings),
      SETTINGS_CHECK(&r->settings),
      {0}};
  const option_command command = {
      "[options]",
      "Times X = A^-1 B (trsm: left, lower, in place of B) and then C = C - D X (gemm), n x n in\n"
      "pinned host memory, in two ways in turn: composed (asynchronous calls, X and C brought "
      "home\n"
      "at the end, everything forgotten) and separate (two blocking calls). Bytes are those of "
      "one\n"
      "warm run; the floor is A's triangle, B, C and D in once, X and C out once. Both results of\n"
      "both ways are checked on random vectors.",
      "tessera bench composed --n 8192,16384 --devices 1,2,4 --csv composed.csv",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  return code ? code : interpret(r, type, n, devices);
}

/* ---- A case ---- */

static int get(bench_store *store, int operand, int64_t n, matrix_view *view) {
  void *data;
  int code = bench_store_get(store, operand, (home){HOME_PINNED, 0}, &data);
  if (!code) *view = matrix_of(store->type, data, true, n, n);
  return code;
}

static int get_triangle(bench_store *store, int64_t n, matrix_view *view) {
  void *data;
  int code = bench_store_get_triangle(store, n, (home){HOME_PINNED, 0}, &data);
  if (!code) *view = matrix_of(store->type, data, true, n, n);
  return code;
}

static int make_case(bench_store *store, tsr_type type, bench_shape shape, composed_case *c) {
  const bench_kind solve = {.operation = TSR_TRSM,
                            .type = type,
                            .side = TSR_LEFT,
                            .uplo = TSR_LOWER,
                            .transa = TSR_NO_TRANS,
                            .diag = TSR_NON_UNIT},
                   product = {.operation = TSR_GEMM,
                              .type = type,
                              .transa = TSR_NO_TRANS,
                              .transb = TSR_NO_TRANS};
  *c = (composed_case){.context = store->context,
                       .solve = bench_describe(&solve, shape),
                       .product = bench_describe(&product, shape),
                       .one = scalar_for(type, (scalar){1, 0}),
                       .minus_one = scalar_for(type, (scalar){-1, 0})};
  int code = get_triangle(store, shape.n, &c->a);
  if (!code) code = get(store, 0, shape.n, &c->d);
  if (!code) code = get(store, 1, shape.n, &c->b);
  if (!code) code = get(store, 2, shape.n, &c->c);
  return code;
}

typedef tsr_status (*level3_call)(tsr_context *context, const tsr_level3 *what, const void *alpha,
                                  const void *a, const void *b, const void *beta, void *c);

static tsr_status call_both(const composed_case *c, level3_call call) {
  void *x = (void *)c->b.data;
  tsr_status status = call(c->context, &c->solve, &c->one, c->a.data, NULL, &c->one, x);
  if (status != TSR_OK) return status;
  return call(c->context, &c->product, &c->minus_one, c->d.data, x, &c->one, (void *)c->c.data);
}

static tsr_status bring_home(const composed_case *c, const matrix_view *m) {
  return tsr_coherent_async(c->context, TSR_GENERAL, m->rows, m->cols, m->data, m->rows, m->type);
}

static tsr_status run_composed(const composed_case *c) {
  tsr_status status = call_both(c, tsr_level3_run_async);
  if (status == TSR_OK) status = bring_home(c, &c->b);
  if (status == TSR_OK) status = bring_home(c, &c->c);
  tsr_status synced = tsr_sync(c->context);
  tsr_status released = tsr_release(c->context, 0, 0, NULL, 1, c->b.type);
  if (status == TSR_OK) status = synced;
  return status == TSR_OK ? released : status;
}

static int run(const composed_case *c, composed_variant variant, double *seconds) {
  double begin = tool_now();
  tsr_status status = variant == COMPOSED ? run_composed(c) : call_both(c, tsr_level3_run);
  *seconds = tool_now() - begin;
  return tool_status(status);
}

/* ---- Checking ---- */

static verify_call solve_call(const composed_case *c) {
  return (verify_call){.what = c->solve, .alpha = {1, 0}, .stored = {c->a, c->b, c->b}};
}

/* Of C = C - D X what is known before X is: alpha is 0. */
static verify_call product_call(const composed_case *c) {
  return (verify_call){.what = c->product, .beta = {1, 0}, .stored = {c->d, c->b, c->c}};
}

/* The rest of it: sums = sums - D X x. */
static bool subtract_product(const composed_case *c, verify_sums *sums) {
  const lanes_matrix d = {.view = c->d}, x = {.view = c->b};
  lanes inner = {0}, outer = {0};
  bool done = lanes_apply(&x, &sums->x, &inner) && lanes_apply(&d, &inner, &outer);
  if (done) lanes_add(&sums->wanted, &outer, (scalar){-1, 0});
  lanes_destroy(&inner);
  lanes_destroy(&outer);
  return done;
}

static bool compare(const composed_case *c, verify_sums *solved, verify_sums *multiplied,
                    bool *good) {
  verify_call solve = solve_call(c), product = product_call(c);
  verify_result x, updated;
  if (!verify_result_of(&solve, solved, &x) || !subtract_product(c, multiplied) ||
      !verify_result_of(&product, multiplied, &updated)) {
    return false;
  }
  *good = x.good && updated.good;
  return true;
}

static int check(const composed_case *c, composed_variant variant, bool *good) {
  verify_call solve = solve_call(c), product = product_call(c);
  verify_sums solved = {0}, multiplied = {0};
  double ignored;
  bool room = verify_expect(&solve, &solved) && verify_expect(&product, &multiplied);
  int code = room ? run(c, variant, &ignored) : TOOL_OK;
  if (!code && room) room = compare(c, &solved, &multiplied, good);
  verify_end(&solved);
  verify_end(&multiplied);
  return code || room ? code : tool_fail("out of memory for the check");
}

/* ---- Measuring ---- */

static int count_bytes(const composed_case *c, composed_variant variant, tsr_traffic *moved) {
  tsr_traffic before = {0}, after = {0};
  double ignored;
  int code = tool_status(tsr_context_traffic(c->context, &before));
  if (!code) code = run(c, variant, &ignored);
  if (!code) code = tool_status(tsr_context_traffic(c->context, &after));
  *moved = (tsr_traffic){after.host_to_device - before.host_to_device,
                         after.device_to_host - before.device_to_host,
                         after.device_to_device - before.device_to_device,
                         after.within_devices - before.within_devices, after.plans - before.plans};
  return code;
}

/* The ways in turn, so that both see the same machine. */
static int measure_case(const composed_case *c, int64_t repeat,
                        composed_row rows[COMPOSED_VARIANTS]) {
  double times[COMPOSED_VARIANTS][BENCH_MOST_REPEATS], ignored;
  int code = TOOL_OK;
  for (int v = 0; v < COMPOSED_VARIANTS && !code; v++) {
    code = run(c, (composed_variant)v, &rows[v].cold);
    for (int i = 1; i < WARM_UPS && !code; i++) code = run(c, (composed_variant)v, &ignored);
    if (!code) code = count_bytes(c, (composed_variant)v, &rows[v].moved);
  }
  for (int64_t i = 0; i < repeat && !code; i++) {
    for (int v = 0; v < COMPOSED_VARIANTS && !code; v++) {
      code = run(c, (composed_variant)v, &times[v][i]);
    }
  }
  for (int v = 0; v < COMPOSED_VARIANTS && !code; v++) {
    rows[v].median = tool_median(times[v], (int)repeat);
    code = check(c, (composed_variant)v, &rows[v].good);
  }
  return code;
}

static int draw(const composed_case *c, const char *path) {
  double ignored;
  int code = tool_status(tsr_timeline_begin(c->context));
  if (!code) code = run(c, COMPOSED, &ignored);
  return code ? code : bench_write_timeline(c->context, path);
}

static int measure_size(composed_request *r, bench_shape shape, int devices, bench_store *store) {
  composed_row *rows = &r->rows[r->row_count];
  composed_case c;
  for (int v = 0; v < COMPOSED_VARIANTS; v++) {
    rows[v] = (composed_row){
        .variant = (composed_variant)v, .type = r->type, .n = shape.n, .devices = devices};
  }
  int code = make_case(store, r->type, shape, &c);
  if (!code) code = measure_case(&c, r->repeat, rows);
  if (!code && r->timeline) code = draw(&c, r->timeline);
  if (code) return code;
  r->row_count += COMPOSED_VARIANTS;
  for (int v = 0; v < COMPOSED_VARIANTS; v++) composed_print(&rows[v]);
  return TOOL_OK;
}

/* A context for each number of devices; the host's matrices are the lender's. */
static int measure_count(composed_request *r, int64_t count, bench_store *lender) {
  settings with = r->settings;
  char text[32];
  tsr_context *context = NULL;
  bench_store store;
  snprintf(text, sizeof text, "%lld", (long long)count);
  if (count > 0) with.devices = text;
  int code = settings_open(&with, &context);
  if (code) return code;
  bench_store_open(r->type, context, lender, settings_emulated(&with), &store);
  for (int i = 0; i < r->shape_count; i++) bench_store_expect(&store, r->shapes[i]);
  for (int i = 0; i < r->shape_count && !code; i++) {
    code = measure_size(r, r->shapes[i], tsr_device_count(context), &store);
  }
  bench_store_close(&store);
  tsr_context_destroy(context);
  return code;
}

static int measure_all(composed_request *r) {
  tsr_context *owner = NULL;
  bench_store lender;
  int code = settings_open(&r->settings, &owner);
  if (code) return code;
  bench_store_open(r->type, owner, NULL, false, &lender);
  for (int i = 0; i < r->shape_count; i++) bench_store_expect(&lender, r->shapes[i]);
  composed_print_head();
  for (int i = 0; i < r->count_count && !code; i++) {
    code = measure_count(r, r->counts[i], &lender);
  }
  bench_store_close(&lender);
  tsr_context_destroy(owner);
  return code;
}

/* What was measured before something failed is still worth having. */
static int publish(const composed_request *r) {
  int code = r->csv ? composed_write_csv(r->csv, r->rows, r->row_count) : TOOL_OK;
  if (!code && r->plot && r->row_count > 0) {
    code = composed_write_plot(r->plot, r->rows, r->row_count);
  }
  for (int i = 0; i < r->row_count && !code; i++) {
    if (!r->rows[i].good) code = tool_fail("a result is wrong: see 'check'");
  }
  return code;
}

int bench_composed(int argc, char **argv) {
  composed_request *r = calloc(1, sizeof *r);
  if (!r) return tool_fail("out of memory");
  int code = parse_request(argc, argv, r);
  if (code == TOOL_OK) {
    code = measure_all(r);
    int published = publish(r);
    if (!code) code = published;
  }
  free(r);
  return code == OPTIONS_HELPED ? TOOL_OK : code;
}
