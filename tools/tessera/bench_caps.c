/* tessera bench caps: large products and routines with budgets far smaller than their matrices. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "bench_caps_rows.h"
#include "bench_check.h"
#include "bench_measure.h"
#include "bench_shapes.h"

enum { MOST_CAPS = 32, MOST_REPEATS = 100, SAMPLES = 2500 };
enum { MOST_ROWS = TSR_OPERATION_COUNT * BENCH_MOST_COUNTS * MOST_CAPS };

typedef struct caps_request {
  bench_kind kinds[TSR_OPERATION_COUNT];
  int kind_count;
  bench_shape shape;
  int64_t counts[BENCH_MOST_COUNTS];
  int count_count;
  size_t caps[MOST_CAPS];
  int cap_count;
  int64_t repeat, warm_ups;
  double rate_seconds;
  bool unchecked;
  const char *csv, *plot;
  settings settings;
} caps_request;

typedef struct caps_words {
  const char *routines, *type, *devices, *caps;
  int64_t n;
  operation_words operation;
} caps_words;

/* A run. */
typedef struct caps_run {
  const caps_request *request;
  tsr_context *base; /* one device: its store lends the matrices */
  bench_store store;
  double rate; /* flops/s that each device at hand sustains; 0: not known */
  caps_row *rows;
  int count;
} caps_run;

/* ---- What is asked for ---- */

static int parse_cap(const char *text, size_t *cap) {
  *cap = 0;
  if (strcmp(text, "0") == 0 || options_bytes(text, cap)) return TOOL_OK;
  return tool_usage("--caps %s: must be bytes such as 2G,16G, or 0 for no cap", text);
}

static int parse_caps(const char *text, caps_request *r) {
  char *words = strdup(text), *rest = NULL;
  if (!words) return tool_fail("out of memory");
  int code = TOOL_OK;
  for (char *word = strtok_r(words, ",", &rest); word && !code; word = strtok_r(NULL, ",", &rest)) {
    if (r->cap_count == MOST_CAPS) code = tool_usage("--caps: at most %d", MOST_CAPS);
    if (!code) code = parse_cap(word, &r->caps[r->cap_count++]);
  }
  free(words);
  if (!code && r->cap_count == 0) code = tool_usage("--caps: which budgets?");
  return code;
}

static int interpret_kind(const tsr_level3 *what, bench_kind *kind) {
  *kind = (bench_kind){.operation = what->operation,
                       .type = what->type,
                       .side = what->side,
                       .uplo = what->uplo,
                       .transa = what->transa,
                       .transb = what->transb,
                       .diag = what->diag,
                       .alpha = {1, 0},
                       .beta = {1, 0},
                       .check_all = what->operation != TSR_GEMM,
                       .samples = SAMPLES,
                       .no_peer = true};
  for (int i = 0; i < 3; i++) kind->homes[i] = (home){HOME_PINNED, 0};
  return operation_check("--type", what);
}

static int interpret_kinds(const caps_words *words, caps_request *r) {
  tsr_operation operations[TSR_OPERATION_COUNT];
  tsr_level3 what = {.type = TSR_D};
  int code = words->type ? parse_type("--type", words->type, &what.type) : TOOL_OK;
  if (!code) code = operation_interpret(&words->operation, &what);
  if (code) return code;
  r->kind_count = operation_parse_list(words->routines, operations);
  if (r->kind_count < 0) return TOOL_USAGE;
  for (int i = 0; i < r->kind_count && !code; i++) {
    what.operation = operations[i];
    code = interpret_kind(&what, &r->kinds[i]);
  }
  return code;
}

static int check_numbers(const caps_words *words, const caps_request *r) {
  if (words->n < 1) return tool_usage("--n must be 1 or more");
  if (r->repeat < 1 || r->repeat > MOST_REPEATS) {
    return tool_usage("--repeat must be 1 to %d", MOST_REPEATS);
  }
  for (int i = 0; i < r->count_count; i++) {
    if (r->counts[i] > CAPS_MOST_DEVICES) {
      return tool_usage("--devices: at most %d", CAPS_MOST_DEVICES);
    }
  }
  return TOOL_OK;
}

static int interpret(const caps_words *words, caps_request *r) {
  int code = interpret_kinds(words, r);
  if (!code) code = parse_caps(words->caps, r);
  if (!code) {
    r->count_count = bench_parse_counts(words->devices, r->counts);
    if (r->count_count < 0) code = TOOL_USAGE;
  }
  r->shape = (bench_shape){words->n, words->n, words->n};
  return code ? code : check_numbers(words, r);
}

static int parse_request(int argc, char **argv, caps_request *r) {
  caps_words words = {
      .routines = "gemm", .devices = "1", .caps = "0,2G,4G,8G,16G,32G,64G,128G", .n = 70000};
  *r = (caps_request){.repeat = 1, .warm_ups = 1, .rate_seconds = 2};
  const option table[] = {
      {"routine", 0, OPTION_TEXT, &words.routines, "OP,...",
       "of gemm, gemmt, symm, hemm, syrk, herk, syr2k, her2k, trmm, trsm (default: gemm)"},
      {"type", 0, OPTION_TEXT, &words.type, "s|d|c|z|h|b|t", "element type (default: d)"},
      {"n", 0, OPTION_WHOLE, &words.n, "N", "all extents (default: 70000)"},
      {"devices", 0, OPTION_TEXT, &words.devices, "N,...", "numbers of devices (default: 1)"},
      {"caps", 0, OPTION_TEXT, &words.caps, "BYTES,...",
       "budgets of each device, 0 for what it has (default: 0,2G,4G,8G,16G,32G,64G,128G)"},
      OPERATION_SIDE(&words.operation),
      OPERATION_UPLO(&words.operation),
      OPERATION_TRANSA(&words.operation),
      OPERATION_TRANSB(&words.operation),
      OPERATION_DIAG(&words.operation),
      {"repeat", 0, OPTION_WHOLE, &r->repeat, "N", "calls, of which the median counts (1)"},
      {"warm-up", 0, OPTION_WHOLE, &r->warm_ups, "N",
       "calls before the first budget's, of each routine and number of devices (1)"},
      {"rate-seconds", 0, OPTION_NUMBER, &r->rate_seconds, "S",
       "hold devices at work so long for the peak (2; 0: leave it out)"},
      {"no-check", 0, OPTION_FLAG, &r->unchecked, NULL, "do not check results"},
      {"csv", 0, OPTION_TEXT, &r->csv, "FILE", "write the results as CSV, a line a device"},
      {"plot", 0, OPTION_TEXT, &r->plot, "FILE.svg", "draw the rate against the budget"},
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_TILE(&r->settings),
      SETTINGS_CHECK(&r->settings),
      {0}};
  const option_command command = {
      "[options]",
      "Times square routines in pinned host memory with budgets for the devices' memory, planned\n"
      "beforehand, against the rate without a cap and the one that a device sustains on data of "
      "its own,\n"
      "in the same run; and what each device loads from the host and from its peers, against the "
      "plan,\n"
      "equation (1) of Herault et al. and a lower bound. Products are checked at 2500 entries, "
      "others on\n"
      "random vectors. Three matrices of 70000 in fp64 are 118 GB, and are filled once.",
      "tessera bench caps --devices 1,2 --caps 0,4G,16G --csv caps.csv --plot caps.svg",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  return code ? code : interpret(&words, r);
}

/* ---- What a plan says ---- */

static double number_of(const cJSON *object, const char *name) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static void read_hold(const cJSON *plan, caps_row *row) {
  const cJSON *hold = cJSON_GetObjectItemCaseSensitive(plan, "hold");
  row->b = (int)number_of(hold, "b");
  row->c = (int)number_of(hold, "c");
  row->d = (int)number_of(hold, "d");
  row->l = number_of(hold, "l");
}

static void read_loads(const cJSON *plan, caps_row *row) {
  const cJSON *loads = cJSON_GetObjectItemCaseSensitive(plan, "loads");
  const cJSON *equation = cJSON_GetObjectItemCaseSensitive(plan, "equation");
  const cJSON *name = cJSON_GetObjectItemCaseSensitive(equation, "case");
  for (int d = 0; d < row->devices; d++) {
    const cJSON *load = cJSON_GetArrayItem(loads, d);
    row->loads[d].planned_host = number_of(load, "host");
    row->loads[d].planned_peers = number_of(load, "peers");
    row->loads[d].bound = number_of(load, "bound");
  }
  row->equation_bytes = number_of(equation, "bytes");
  row->equation = cJSON_IsString(name) ? name->valuestring[0] : '-';
}

static int read_plan(const tsr_plan *plan, caps_row *row) {
  char *text = NULL;
  int code = tool_status(tsr_plan_print(plan, TSR_JSON, &text));
  if (code) return code;
  cJSON *root = cJSON_Parse(text);
  free(text);
  if (!root) return tool_fail("a plan cannot be read");
  row->predicted = number_of(root, "predicted_s");
  row->plan = number_of(root, "plan_s");
  read_hold(root, row);
  read_loads(root, row);
  cJSON_Delete(root);
  return TOOL_OK;
}

/* Planned before it is timed: plans are made once for many calls. */
static int make_plan(const bench_case *c, tsr_plan **plan) {
  tsr_home homes[3];
  for (int i = 0; i < 3; i++) homes[i] = home_for_library(c->kind->homes[i]);
  return tool_status(
      tsr_plan_level3(c->context, &c->product.what, &c->alpha, &c->beta, homes, plan));
}

/* ---- A case ---- */

static int set_budgets(tsr_context *context, caps_row *row) {
  for (int d = 0; d < row->devices; d++) {
    size_t bytes = 0;
    int code = tool_status(tsr_set_budget(context, d, row->cap));
    if (!code) code = tool_status(tsr_get_budget(context, d, &bytes));
    if (code) return code;
    if (d == 0 || bytes < row->budget) row->budget = bytes;
  }
  return TOOL_OK;
}

/* Adds factor times what devices have loaded until now. */
static int add_loads(tsr_context *context, double factor, caps_row *row) {
  for (int d = 0; d < row->devices; d++) {
    tsr_traffic traffic;
    int code = tool_status(tsr_device_traffic(context, d, &traffic));
    if (code) return code;
    row->loads[d].host += factor * traffic.host_to_device;
    row->loads[d].peers += factor * traffic.device_to_device;
  }
  return TOOL_OK;
}

static int execute(const bench_case *c, tsr_plan *plan, double *seconds) {
  const bench_product *p = &c->product;
  double begin = tool_now();
  tsr_status status = tsr_plan_execute(plan, p->alpha, p->a, p->b, p->beta, p->c);
  *seconds = tool_now() - begin;
  return tool_status(status);
}

/* The last of the calls is checked. */
static int time_calls(const caps_request *r, const bench_case *c, tsr_plan *plan, caps_row *row) {
  double seconds[MOST_REPEATS];
  bench_check check = {0};
  int code = add_loads(c->context, -1.0 / (double)r->repeat, row);
  for (int i = 0; i < r->repeat && !code; i++) {
    bool checked = !r->unchecked && i + 1 == r->repeat;
    if (checked) code = bench_check_begin(c, &check);
    if (!code) code = execute(c, plan, &seconds[i]);
  }
  if (!code) code = add_loads(c->context, 1.0 / (double)r->repeat, row);
  if (!code) row->seconds = tool_median(seconds, (int)r->repeat);
  if (!code && !r->unchecked) code = bench_check_compare(&check, &row->good);
  row->checked = !r->unchecked;
  bench_check_end(&check);
  return code;
}

static int run_plan(const caps_run *run, const bench_case *c, bool first, tsr_plan *plan,
                    caps_row *row) {
  const caps_request *r = run->request;
  double ignored;
  int code = read_plan(plan, row);
  for (int64_t i = 0; first && i < r->warm_ups && !code; i++) code = execute(c, plan, &ignored);
  return code ? code : time_calls(r, c, plan, row);
}

/* first: of its routine on so many devices. */
static int measure(const caps_run *run, const bench_case *c, bool first, caps_row *row) {
  const tsr_level3 *w = &c->product.what;
  tsr_plan *plan = NULL;
  int code = set_budgets(c->context, row);
  if (!code) code = make_plan(c, &plan);
  if (!code) code = run_plan(run, c, first, plan, row);
  tsr_plan_destroy(plan);
  if (code) return code;
  row->tera = operation_flops(w->operation, w->type, w->m, w->n, w->k) / row->seconds * 1e-12;
  if (run->rate > 0) row->peak = row->tera * 1e12 / (run->rate * row->devices);
  return TOOL_OK;
}

static int measure_caps(caps_run *run, const bench_kind *kind, bench_store *store, int devices) {
  const caps_request *r = run->request;
  bench_case c;
  int code = bench_case_create(kind, r->shape, store, &c);
  for (int i = 0; i < r->cap_count && !code; i++) {
    caps_row *row = &run->rows[run->count];
    *row = (caps_row){.operation = kind->operation,
                      .type = kind->type,
                      .n = r->shape.n,
                      .devices = devices,
                      .cap = r->caps[i]};
    code = measure(run, &c, i == 0, row);
    if (code) break;
    run->count++;
    caps_compare(run->rows, run->count);
    caps_print_row(row);
  }
  return code;
}

/* ---- The run ---- */

static int open_context(const caps_request *r, int64_t devices, tsr_context **context) {
  settings with = r->settings;
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)devices);
  with.devices = text;
  int code = settings_open(&with, context);
  if (code || tsr_device_count(*context) == (int)devices) return code;
  return tool_fail("there are no %lld devices here (--engine host emulates some)",
                   (long long)devices);
}

static int measure_count(caps_run *run, int64_t devices) {
  const caps_request *r = run->request;
  tsr_context *context = NULL;
  bench_store store;
  run->rate = bench_sustained_rate(&r->kinds[0], &r->settings, (int)devices, r->rate_seconds);
  bench_print_rate(run->rate, (int)devices, r->rate_seconds);
  int code = open_context(r, devices, &context);
  if (code == TOOL_OK) {
    caps_print_head();
    bool emulated = settings_emulated(&r->settings);
    bench_store_open(r->kinds[0].type, context, &run->store, emulated, &store);
    bench_store_expect(&store, r->shape);
    for (int i = 0; i < r->kind_count && !code; i++) {
      code = measure_caps(run, &r->kinds[i], &store, (int)devices);
    }
    bench_store_close(&store);
  }
  tsr_context_destroy(context);
  return code;
}

static int begin(const caps_request *r, caps_run *run) {
  *run = (caps_run){.request = r};
  run->rows = calloc(MOST_ROWS, sizeof *run->rows);
  if (!run->rows) return tool_fail("out of memory");
  int code = open_context(r, 1, &run->base);
  if (code) return code;
  bench_store_open(r->kinds[0].type, run->base, NULL, settings_emulated(&r->settings), &run->store);
  run->store.registers = true;
  bench_store_expect(&run->store, r->shape);
  return TOOL_OK;
}

static int publish(const caps_run *run) {
  const caps_request *r = run->request;
  int code = TOOL_OK;
  if (run->count > 0) caps_print_loads(run->rows, run->count);
  if (r->csv) code = caps_write_csv(r->csv, run->rows, run->count);
  if (!code && r->plot && run->count > 0) code = caps_write_plot(r->plot, run->rows, run->count);
  for (int i = 0; i < run->count && !code; i++) {
    if (run->rows[i].checked && !run->rows[i].good) code = tool_fail("a result is wrong");
  }
  return code;
}

static int run_all(caps_run *run) {
  const caps_request *r = run->request;
  int code = TOOL_OK;
  for (int i = 0; i < r->count_count && !code; i++) code = measure_count(run, r->counts[i]);
  /* What was measured before something failed is still worth having. */
  int published = publish(run);
  return code ? code : published;
}

int bench_caps(int argc, char **argv) {
  caps_request request;
  caps_run run = {0};
  int code = parse_request(argc, argv, &request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code) return code;
  code = begin(&request, &run);
  if (!code) code = run_all(&run);
  bench_store_close(&run.store);
  tsr_context_destroy(run.base);
  free(run.rows);
  return code;
}
