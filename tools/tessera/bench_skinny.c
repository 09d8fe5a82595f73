/* tessera bench skinny: products with one short extent, done as the model says, against one device
 * and against the CPU's BLAS in the same run.
 *
 * The CPU's BLAS keeps its threads spinning for some time after a call: on every core, where they
 * would be in the way of what is timed next. So all that runs on devices is timed in a first pass
 * over the products, and what the CPU's BLAS does in a second. */
#include <math.h>
#include <stdlib.h>

#include "bench_check.h"
#include "bench_measure.h"
enum { MOST_EXTENTS = 16, MOST_CALLS = 101, OURS = 0, ONE, CPU, SIDES };

static const double SIDE_SECONDS = 1; /* calls of one side go on for so long */
static const double NOISE = 0.03;

/* One way of doing the products. */
typedef struct side {
  tsr_context *context; /* NULL: there is no such side here */
  bench_store store;
  bench_case work;
  double times[MOST_CALLS], spent;
  int calls;
} side;

/* What came of one product. */
typedef struct skinny_row {
  bench_row ours;
  bool on_devices;                    /* ours is planned for devices */
  double cold[SIDES], seconds[SIDES]; /* s, of the first call and the median; 0: not measured */
  double ratio;                       /* ours over the best of the two others */
} skinny_row;

typedef struct skinny_request {
  bench_kind kind;
  const char *type, *narrow, *wide;
  skinny_row *rows;
  int row_count;
  int64_t repeat;
  size_t limit;
  bool json;
  settings settings;
  side sides[SIDES];
  int measured, slower, wrong;
  double worst, worst_plan;
} skinny_request;

/* ---- Shapes ---- */

static double bytes_of(const skinny_request *r, bench_shape s) {
  double count = (double)s.m * (double)s.k + (double)s.k * (double)s.n + (double)s.m * (double)s.n;
  return count * (double)element_size(r->kind.type);
}

static void add_shape(skinny_request *r, int place, int64_t narrow, int64_t first, int64_t second) {
  bench_shape s = place == 0   ? (bench_shape){narrow, first, second}
                  : place == 1 ? (bench_shape){first, narrow, second}
                               : (bench_shape){first, second, narrow};
  if (bytes_of(r, s) > (double)r->limit) return;
  r->rows[r->row_count++] = (skinny_row){.ours = {.type = r->kind.type, .shape = s}};
}

static int make_shapes(skinny_request *r) {
  int64_t narrow[MOST_EXTENTS], wide[MOST_EXTENTS];
  int narrows = options_whole_list(r->narrow, narrow, MOST_EXTENTS);
  int wides = options_whole_list(r->wide, wide, MOST_EXTENTS);
  if (narrows < 0) return tool_usage("--short %s: must be extents such as 1,64,512", r->narrow);
  if (wides < 0) return tool_usage("--long %s: must be extents such as 4096,65536", r->wide);
  r->rows = calloc((size_t)(3 * narrows * wides * wides), sizeof *r->rows);
  if (!r->rows) return tool_fail("out of memory");
  for (int place = 0; place < 3; place++) {
    for (int i = 0; i < narrows; i++) {
      for (int j = 0; j < wides * wides; j++) {
        add_shape(r, place, narrow[i], wide[j / wides], wide[j % wides]);
      }
    }
  }
  if (r->row_count == 0) return tool_usage("--limit leaves no product");
  return TOOL_OK;
}

static int parse_request(int argc, char **argv, skinny_request *r) {
  r->type = "d";
  r->narrow = "1,64,512";
  r->wide = "4096,65536";
  r->repeat = 11;
  r->limit = (size_t)40000000000;
  const option table[] = {
      {"type", 0, OPTION_TEXT, &r->type, "s|d|c|z|h|b|t", "element type (default: d)"},
      {"short", 0, OPTION_TEXT, &r->narrow, "N,...", "extents of M, N or K in turn (1,64,512)"},
      {"long", 0, OPTION_TEXT, &r->wide, "N,...", "extents of the other two (4096,65536)"},
      {"limit", 0, OPTION_BYTES, &r->limit, "BYTES",
       "leave out products whose matrices need more than this (40G)"},
      {"repeat", 0, OPTION_WHOLE, &r->repeat, "N",
       "warm calls, fewer once they took a second; the median counts (11)"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print for programs"},
      {"engine", 0, OPTION_TEXT, &r->settings.engine, "host|cuda",
       "name the devices' engine, which takes the CPU out of the model's choice"},
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      {0}};
  const option_command command = {
      "[options]",
      "Times products with one short extent in pinned host memory, on the devices that the model\n"
      "chooses (or on the CPU, if it says so), on one device, and by the CPU's BLAS. All devices'\n"
      "calls come before all of the CPU's, so that rows appear late.",
      "tessera bench skinny --limit 8G",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (!code) code = parse_type("--type", r->type, &r->kind.type);
  if (!code && (r->repeat < 1 || r->repeat > MOST_CALLS)) {
    code = tool_usage("--repeat must be 1 to %d", MOST_CALLS);
  }
  if (code) return code;
  r->kind.transa = r->kind.transb = TSR_NO_TRANS;
  r->kind.alpha = r->kind.beta = (scalar){1, 0};
  for (int i = 0; i < 3; i++) r->kind.homes[i] = (home){HOME_PINNED, 0};
  return make_shapes(r);
}

/* ---- Sides ---- */

static int open_side(skinny_request *r, int which, const settings *with) {
  side *s = &r->sides[which];
  bench_store *lender = which == OURS ? NULL : &r->sides[OURS].store;
  int code = settings_open(with, &s->context);
  if (code != TOOL_OK) return code;
  bool emulated = which != CPU && settings_emulated(with);
  bench_store_open(r->kind.type, s->context, lender, emulated, &s->store);
  for (int i = 0; i < r->row_count; i++) bench_store_expect(&s->store, r->rows[i].ours.shape);
  return TOOL_OK;
}

static int open_devices(skinny_request *r) {
  settings one = r->settings;
  one.devices = "1";
  int code = open_side(r, OURS, &r->settings);
  if (code) return code;
  if (tsr_device_count(r->sides[OURS].context) > 0) return open_side(r, ONE, &one);
  tool_note("note: no device here; the CPU's BLAS is all there is to compare");
  return TOOL_OK;
}

/* Opening it measures the CPU's BLAS: not before the devices are done. */
static int open_cpu(skinny_request *r) {
  const settings cpu = {.engine = "cpu"};
  return open_side(r, CPU, &cpu);
}

static void close_sides(skinny_request *r) {
  for (int i = SIDES - 1; i >= 0; i--) { /* the lender last */
    bench_store_close(&r->sides[i].store);
    tsr_context_destroy(r->sides[i].context);
  }
}

/* ---- Timing ---- */

/* The first call warms up, unless it takes so long that this makes no difference. */
static int warm_up(side *s, double *cold) {
  double again;
  int code = bench_case_run(&s->work, cold);
  s->calls = 0;
  s->spent = 0;
  if (code == TOOL_OK && *cold < SIDE_SECONDS) return bench_case_run(&s->work, &again);
  s->times[s->calls++] = s->spent = *cold;
  return code;
}

static int start_side(const skinny_request *r, side *s, bench_shape shape, double *cold) {
  int code = bench_case_create(&r->kind, shape, &s->store, &s->work);
  return code ? code : warm_up(s, cold);
}

static int call_side(side *s) {
  if (s->spent >= SIDE_SECONDS) return TOOL_OK;
  int code = bench_case_run(&s->work, &s->times[s->calls]);
  if (code == TOOL_OK) s->spent += s->times[s->calls++];
  return code;
}

/* The sides that a pass is for; how many. */
static int choose_sides(const skinny_request *r, const skinny_row *row, bool on_devices,
                        int chosen[SIDES]) {
  const bool runs_on_devices[SIDES] = {[OURS] = row->on_devices, [ONE] = true};
  int count = 0;
  for (int i = 0; i < SIDES; i++) {
    if (r->sides[i].context && runs_on_devices[i] == on_devices) chosen[count++] = i;
  }
  return count;
}

/* The sides of a pass take turns, so that they see the same machine. */
static int time_sides(skinny_request *r, bool on_devices, skinny_row *row) {
  int chosen[SIDES], count = choose_sides(r, row, on_devices, chosen), code = TOOL_OK;
  for (int i = 0; i < count && !code; i++) {
    code = start_side(r, &r->sides[chosen[i]], row->ours.shape, &row->cold[chosen[i]]);
  }
  for (int j = 0; j < r->repeat && !code; j++) {
    for (int i = 0; i < count && !code; i++) code = call_side(&r->sides[chosen[i]]);
  }
  for (int i = 0; i < count && !code; i++) {
    side *s = &r->sides[chosen[i]];
    row->seconds[chosen[i]] = tool_median(s->times, s->calls);
  }
  return code;
}

/* ---- A product ---- */

/* A plan of its own, without a call: a cold call still has everything to do. */
static int plan_ours(const bench_case *work, bool *on_devices) {
  const bench_product *p = &work->product;
  tsr_plan *plan = NULL;
  tsr_prediction prediction = {0};
  tsr_home homes[3];
  for (int i = 0; i < 3; i++) homes[i] = home_for_library(work->kind->homes[i]);
  int code = tool_status(tsr_plan_level3(work->context, &p->what, p->alpha, p->beta, homes, &plan));
  if (code == TOOL_OK) code = tool_status(tsr_plan_predict(plan, &prediction));
  tsr_plan_destroy(plan);
  *on_devices = prediction.devices > 0;
  return code;
}

static int foresee_ours(skinny_request *r, skinny_row *row) {
  side *ours = &r->sides[OURS];
  bench_case work;
  if (tsr_device_count(ours->context) == 0) return TOOL_OK;
  int code = bench_case_create(&r->kind, row->ours.shape, &ours->store, &work);
  return code ? code : plan_ours(&work, &row->on_devices);
}

/* The check adds up in threads of its own, which end with it, and not in the CPU's BLAS. */
static int measure(skinny_request *r, bool on_devices, skinny_row *row) {
  side *ours = &r->sides[OURS];
  int code = time_sides(r, on_devices, row);
  if (code || row->on_devices != on_devices) return code;
  if (tsr_device_count(ours->context) > 0) bench_fill_prediction(ours->context, 0, &row->ours);
  return bench_case_check(&ours->work, &row->ours.good);
}

static void finish(skinny_request *r, skinny_row *row) {
  const double *seconds = row->seconds;
  double best = seconds[ONE] > 0 ? fmin(seconds[ONE], seconds[CPU]) : seconds[CPU];
  row->ratio = seconds[OURS] / best;
  r->measured++;
  r->slower += row->ratio > 1 + NOISE;
  r->wrong += !row->ours.good;
  r->worst = fmax(r->worst, row->ratio);
  r->worst_plan = fmax(r->worst_plan, row->ours.plan);
}

/* ---- Printing ---- */

static void print_head(void) {
  printf("%-4s %20s %3s %10s %10s %10s %10s %10s %10s %9s  check\n", "type", "m x n x k", "dev",
         "cold ms", "ours ms", "predict ms", "1 dev ms", "CPU ms", "ours/best", "plan ms");
}

static void print_row(const skinny_row *row) {
  const bench_row *o = &row->ours;
  char shape[64], one[32] = "-";
  snprintf(shape, sizeof shape, "%lldx%lldx%lld", (long long)o->shape.m, (long long)o->shape.n,
           (long long)o->shape.k);
  if (row->seconds[ONE] > 0) snprintf(one, sizeof one, "%.3f", row->seconds[ONE] * 1e3);
  printf("%-4c %20s %3d %10.3f %10.3f %10.3f %10s %10.3f %10.3f %9.3f  %s\n", (char)o->type, shape,
         o->devices, row->cold[OURS] * 1e3, row->seconds[OURS] * 1e3, o->predicted * 1e3, one,
         row->seconds[CPU] * 1e3, row->ratio, o->plan * 1e3, o->good ? "ok" : "WRONG");
  fflush(stdout);
}

static void print_json(const skinny_row *row, bool first) {
  const bench_row *o = &row->ours;
  printf("%s  {\"type\": \"%c\", \"m\": %lld, \"n\": %lld, \"k\": %lld, \"devices\": %d, ",
         first ? "" : ",\n", (char)o->type, (long long)o->shape.m, (long long)o->shape.n,
         (long long)o->shape.k, o->devices);
  printf("\"cold_s\": %.9g, \"median_s\": %.9g, \"predicted_s\": %.9g, ", row->cold[OURS],
         row->seconds[OURS], o->predicted);
  if (row->seconds[ONE] > 0) printf("\"one_device_s\": %.9g, ", row->seconds[ONE]);
  printf("\"cpu_s\": %.9g, \"ratio\": %.5g, \"plan_s\": %.9g, \"correct\": %s}", row->seconds[CPU],
         row->ratio, o->plan, o->good ? "true" : "false");
}

static void print_summary(const skinny_request *r) {
  printf(
      "\n%d products; against the best of one device and the CPU at worst %.3f times as long; "
      "slower by more than 3 %%: %d; planned in at most %.3f ms\n",
      r->measured, r->worst, r->slower, r->worst_plan * 1e3);
}

/* ---- The passes ---- */

static int measure_devices(skinny_request *r) {
  int code = open_devices(r);
  for (int i = 0; i < r->row_count && !code; i++) {
    code = foresee_ours(r, &r->rows[i]);
    if (!code) code = measure(r, true, &r->rows[i]);
  }
  return code;
}

/* Rows are complete now. */
static int measure_cpu(skinny_request *r) {
  int code = open_cpu(r);
  if (!code && !r->json) print_head();
  for (int i = 0; i < r->row_count && !code; i++) {
    skinny_row *row = &r->rows[i];
    code = measure(r, false, row);
    if (code) break;
    finish(r, row);
    if (r->json) print_json(row, i == 0);
    if (!r->json) print_row(row);
  }
  if (!r->json && r->measured > 0) print_summary(r);
  return code || r->wrong == 0 ? code : tool_fail("a result is wrong: see 'check'");
}

int bench_skinny(int argc, char **argv) {
  skinny_request request = {0};
  int code = parse_request(argc, argv, &request);
  if (code == TOOL_OK) {
    if (request.json) printf("[\n");
    code = measure_devices(&request);
    if (code == TOOL_OK) code = measure_cpu(&request);
    if (request.json) printf("\n]\n");
    close_sides(&request);
  }
  free(request.rows);
  return code == OPTIONS_HELPED ? TOOL_OK : code;
}
