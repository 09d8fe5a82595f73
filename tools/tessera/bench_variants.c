/* tessera bench variants: transposed operands and odd sizes against NN, and what a first call of a
 * kind costs more than a warm one. */
#include <math.h>
#include <stdlib.h>

#include "bench_check.h"
#include "bench_measure.h"
#include "bench_shapes.h"

enum { MOST_SIZES = 32, KINDS = 4 };

static const double NEAR = 1.05; /* how much longer than NN a variant may take */

typedef struct variants_request {
  bench_home home;
  bench_shape shapes[MOST_SIZES];
  int shape_count;
  int64_t repeat;
  const char *type, *n, *homes;
  tsr_type as_type;
  bool json;
  settings settings;
  int slower, measured;
  double worst, worst_cold;
  double first_rate; /* of NN at the first size */
} variants_request;

typedef struct variant {
  char name[4]; /* "NT" */
  tsr_op transa, transb;
} variant;

static const variant variants[KINDS] = {{"NN", TSR_NO_TRANS, TSR_NO_TRANS},
                                        {"NT", TSR_NO_TRANS, TSR_TRANS},
                                        {"TN", TSR_TRANS, TSR_NO_TRANS},
                                        {"TT", TSR_TRANS, TSR_TRANS}};

static int parse_request(int argc, char **argv, variants_request *r) {
  r->type = "d";
  r->n = "8192,8191,10007";
  r->homes = "h,h,h";
  r->repeat = 10;
  const option table[] = {
      {"type", 0, OPTION_TEXT, &r->type, "s|d|c|z|h|b|t", "element type (default: d)"},
      {"n", 0, OPTION_TEXT, &r->n, "N,...", "extents (default: 8192,8191,10007)"},
      {"home", 0, OPTION_TEXT, &r->homes, "h,h,h",
       "where A,B,C are: h pinned host, u pageable host, 0.. a device"},
      {"repeat", 0, OPTION_WHOLE, &r->repeat, "N", "warm calls, of which the median counts (10)"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print for programs"},
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_DEVICES(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      {0}};
  const option_command command = {
      "[options]",
      "Times square products with operands as they are and transposed, in turn, against NN at the\n"
      "same extent; and each kind's first call, in a context that has done others, against its\n"
      "warm ones.",
      "tessera bench variants --n 8192,8191,10007 --devices 4",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (!code) code = parse_type("--type", r->type, &r->as_type);
  if (code) return code;
  r->shape_count = bench_parse_squares(r->n, r->shapes, MOST_SIZES);
  if (r->shape_count < 0 || bench_parse_homes(r->homes, &r->home, 1) < 0) return TOOL_USAGE;
  if (r->repeat < 1 || r->repeat > BENCH_MOST_REPEATS) {
    return tool_usage("--repeat must be 1 to %d", BENCH_MOST_REPEATS);
  }
  return TOOL_OK;
}

/* ---- Measuring ---- */

static bench_kind kind_of(const variants_request *r, const variant *v) {
  bench_kind kind = {.type = r->as_type,
                     .transa = v->transa,
                     .transb = v->transb,
                     .alpha = {1, 0},
                     .beta = {1, 0}};
  for (int i = 0; i < 3; i++) kind.homes[i] = r->home.homes[i];
  return kind;
}

/* A call of another kind, so that the context is up: half the extent of the first size. */
static int bring_up(const variants_request *r, bench_store *store) {
  int64_t n = (r->shapes[0].n + 1) / 2;
  bench_kind kind = kind_of(r, &variants[0]);
  bench_case c;
  double ignored;
  int code = bench_case_create(&kind, (bench_shape){n, n, n}, store, &c);
  for (int i = 0; i < 2 && !code; i++) code = bench_case_run(&c, &ignored);
  return code;
}

/* All variants of one size: first calls, then warm ones in turn, so that drift strikes all alike.
 */
static int time_variants(const variants_request *r, const bench_case cases[KINDS],
                         bench_row rows[KINDS]) {
  double *times = calloc((size_t)(KINDS * r->repeat), sizeof *times), ignored;
  int code = times ? TOOL_OK : tool_fail("out of memory");
  for (int v = 0; v < KINDS && !code; v++) {
    code = bench_case_run(&cases[v], &rows[v].cold);
    if (!code) bench_fill_prediction(cases[v].context, 0, &rows[v]);
    if (!code) code = bench_case_run(&cases[v], &ignored);
  }
  for (int64_t i = 0; i < r->repeat && !code; i++) {
    for (int v = 0; v < KINDS && !code; v++) {
      code = bench_case_run(&cases[v], &times[v * r->repeat + i]);
    }
  }
  for (int v = 0; v < KINDS && !code; v++) {
    rows[v].median = tool_median(times + v * r->repeat, (int)r->repeat);
  }
  free(times);
  return code;
}

static int measure_size(const variants_request *r, bench_shape shape, bench_store *store,
                        bench_row rows[KINDS]) {
  bench_kind kinds[KINDS];
  bench_case cases[KINDS];
  int code = TOOL_OK;
  for (int v = 0; v < KINDS && !code; v++) {
    kinds[v] = kind_of(r, &variants[v]);
    rows[v] = (bench_row){.type = r->as_type, .shape = shape};
    code = bench_case_create(&kinds[v], shape, store, &cases[v]);
  }
  if (!code) code = time_variants(r, cases, rows);
  for (int v = 0; v < KINDS && !code; v++) code = bench_case_check(&cases[v], &rows[v].good);
  return code;
}

/* ---- Printing ---- */

static void print_head(void) {
  printf("%-4s %-3s %7s %-8s %3s %10s %10s %9s %7s %10s %10s %6s %12s  check\n", "type", "op", "N",
         "home", "dev", "cold ms", "warm ms", "TFLOP/s", "time/NN", "rate/first", "floor ms",
         "of it", "cold-warm ms");
}

static void print_row(const variants_request *r, const bench_row *row, const char *name,
                      double against, double rate) {
  printf("%-4c %-3s %7lld %-8s %3d %10.3f %10.3f %9.3f %7.3f %10.3f %10.3f %6.3f %12.3f  %s\n",
         (char)row->type, name, (long long)row->shape.n, r->home.text, row->devices,
         row->cold * 1e3, row->median * 1e3, bench_tera_rate(row, row->median), against, rate,
         row->floor * 1e3, bench_fraction(row), (row->cold - row->median) * 1e3,
         row->good ? "ok" : "WRONG");
  fflush(stdout);
}

static void print_json(const variants_request *r, const bench_row *row, const char *name,
                       double against, double rate) {
  printf("%s  {\"type\": \"%c\", \"op\": \"%s\", \"n\": %lld, \"home\": \"%s\", \"devices\": %d, ",
         r->measured > 0 ? ",\n" : "", (char)row->type, name, (long long)row->shape.n, r->home.text,
         row->devices);
  printf("\"cold_s\": %.9g, \"median_s\": %.9g, \"floor_s\": %.9g, \"time_over_nn\": %.5g, ",
         row->cold, row->median, row->floor, against);
  printf("\"rate_over_first\": %.5g, \"plan_s\": %.9g, \"correct\": %s}", rate, row->plan,
         row->good ? "true" : "false");
}

static bool note_size(variants_request *r, const bench_row rows[KINDS]) {
  bool good = true;
  if (r->measured == 0) r->first_rate = bench_tera_rate(&rows[0], rows[0].median);
  for (int v = 0; v < KINDS; v++) {
    const bench_row *row = &rows[v];
    double against = row->median / rows[0].median;
    double rate = bench_tera_rate(row, row->median) / r->first_rate;
    if (r->json) print_json(r, row, variants[v].name, against, rate);
    if (!r->json) print_row(r, row, variants[v].name, against, rate);
    r->measured++;
    r->slower += against > NEAR;
    r->worst = fmax(r->worst, against);
    r->worst_cold = fmax(r->worst_cold, row->cold - row->median);
    good = good && row->good;
  }
  return good;
}

static int measure_all(variants_request *r, bench_store *store) {
  bench_row rows[KINDS];
  bool good = true;
  for (int i = 0; i < r->shape_count; i++) bench_store_expect(store, r->shapes[i]);
  int code = bring_up(r, store);
  if (!code && !r->json) print_head();
  for (int i = 0; i < r->shape_count && !code; i++) {
    code = measure_size(r, r->shapes[i], store, rows);
    if (!code) good = note_size(r, rows) && good;
  }
  if (!r->json && r->measured > 0) {
    printf(
        "\nagainst NN at the same extent at worst %.3f times as long, by more than 5 %%: %d; a "
        "first call costs at most %.3f ms more than a warm one\n",
        r->worst, r->slower, r->worst_cold * 1e3);
  }
  return code || good ? code : tool_fail("a result is wrong: see 'check'");
}

int bench_variants(int argc, char **argv) {
  variants_request request = {0};
  tsr_context *context = NULL;
  bench_store store;
  int code = parse_request(argc, argv, &request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (!code) code = settings_open(&request.settings, &context);
  if (code != TOOL_OK) return code;
  bench_store_open(request.as_type, context, NULL, false, &store);
  if (request.json) printf("[\n");
  code = measure_all(&request, &store);
  if (request.json) printf("\n]\n");
  bench_store_close(&store);
  tsr_context_destroy(context);
  return code;
}
