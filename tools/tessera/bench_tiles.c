/*
 * tessera bench tiles: the rate against the size of tiles, for data on devices, and the size that
 * a model would have chosen: Figures 3 and 4 of Choi, Nikolskiy and Stegailov, "Tuning of a
 * matrix-matrix multiplication algorithm for several GPUs connected by fast communication links".
 *
 * One context holds all the devices and the matrices; the grid says how many of them compute.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_trial.h"
#include "plot.h"

enum { MOST_SIZES = 16, MOST_COUNTS = 8, MOST_TILES = 32, MOST_HOMES = 2 };

/* Kernels of one size in a row of the product: beyond, planning and submission are all there is. */
enum { MOST_IN_A_ROW = 64 };

static const double tolerance = 0.03; /* of the best measured rate */

/* Seconds that a command counts for where plans are compared: of nearly equal predictions the
 * planner, too, takes the one with fewer commands. */
static const double per_command = 0.1e-6;

typedef enum tile_model { MODEL_REPLAY, MODEL_CHOI } tile_model;

typedef struct tiles_bench {
  bench_kind kind;
  int64_t sizes[MOST_SIZES], counts[MOST_COUNTS], tiles[MOST_TILES];
  int size_count, count_count, tile_count;
  const char *homes[MOST_HOMES];
  int home_count;
  int64_t repeat;
  tile_model model;
  const char *csv, *plot;
  bool predict;
  settings settings;
} tiles_bench;

/* The tile sizes of one product on one number of devices. */
typedef struct tiles_curve {
  int64_t n;
  const char *home;
  int devices, count;
  int64_t tile[MOST_TILES];
  bench_trial trial[MOST_TILES];
  int64_t chosen;       /* by the model; it may be none of the tiles */
  int marked, measured; /* index of the chosen one, and of the one that is best measured; or -1 */
} tiles_curve;

/* ---- What is asked for ---- */

typedef struct tiles_words {
  const char *type, *n, *devices, *tiles, *home, *model;
} tiles_words;

/* Powers of two and what lies half-way between them. */
static void set_usual_tiles(tiles_bench *b) {
  for (int64_t tile = 256; tile <= 8192; tile *= 2) {
    b->tiles[b->tile_count++] = tile;
    if (tile < 8192) b->tiles[b->tile_count++] = tile / 2 * 3;
  }
}

static int parse_list(const char *name, const char *text, int64_t *values, int room, int *count) {
  *count = options_whole_list(text, values, room);
  for (int i = 0; i < *count; i++) {
    if (values[i] < 1 || values[i] > INT32_MAX) *count = -1;
  }
  return *count < 1 ? tool_usage("--%s %s: must be whole numbers such as 1,2,4", name, text)
                    : TOOL_OK;
}

static int parse_model(const char *text, tile_model *model) {
  if (strcmp(text, "replay") != 0 && strcmp(text, "choi") != 0) {
    return tool_usage("--model %s: must be replay or choi", text);
  }
  *model = text[0] == 'c' ? MODEL_CHOI : MODEL_REPLAY;
  return TOOL_OK;
}

static int interpret(const tiles_words *words, tiles_bench *b) {
  b->kind.type = TSR_D;
  b->kind.transa = b->kind.transb = TSR_NO_TRANS;
  b->kind.alpha = b->kind.beta = (scalar){1, 0};
  int code = words->type ? parse_type("--type", words->type, &b->kind.type) : TOOL_OK;
  if (!code) code = parse_list("n", words->n, b->sizes, MOST_SIZES, &b->size_count);
  if (!code) code = parse_list("devices", words->devices, b->counts, MOST_COUNTS, &b->count_count);
  if (!code && words->tiles) {
    code = parse_list("tiles", words->tiles, b->tiles, MOST_TILES, &b->tile_count);
  } else {
    set_usual_tiles(b);
  }
  if (!code && words->model) code = parse_model(words->model, &b->model);
  if (!code && b->repeat < 1) code = tool_usage("--repeat must be at least 1");
  b->homes[b->home_count++] = words->home ? words->home : "0,0,0";
  if (!words->home) b->homes[b->home_count++] = "0,1,2";
  return code;
}

static int parse_request(int argc, char **argv, tiles_bench *b) {
  tiles_words words = {.n = "16384", .devices = "1,2,4"};
  b->repeat = 5;
  const option table[] = {
      {"type", 0, OPTION_TEXT, &words.type, "s|d|c|z|h|b|t", "element type (default: d)"},
      {"n", 0, OPTION_TEXT, &words.n, "N,...", "square products (default: 16384)"},
      {"home", 0, OPTION_TEXT, &words.home, "0,0,0",
       "where A,B,C are (default: 0,0,0 and, of three devices or more, 0,1,2)"},
      {"devices", 0, OPTION_TEXT, &words.devices, "N,...",
       "numbers of devices that compute (default: 1,2,4)"},
      {"tiles", 0, OPTION_TEXT, &words.tiles, "T,...",
       "sizes of tiles (default: 256 to 8192, powers of two and half-way)"},
      {"model", 0, OPTION_TEXT, &words.model, "replay|choi",
       "who predicts the best size: plans in virtual time, or a formula (default: replay)"},
      {"repeat", 0, OPTION_WHOLE, &b->repeat, "N", "warm calls, of which the median counts (5)"},
      {"predict", 0, OPTION_FLAG, &b->predict, NULL, "only on the model: no device is needed"},
      {"csv", 0, OPTION_TEXT, &b->csv, "FILE", "write the results as CSV"},
      {"plot", 0, OPTION_TEXT, &b->plot, "FILE.svg", "draw them, the predicted size ringed"},
      SETTINGS_ENGINE(&b->settings),
      SETTINGS_MACHINE(&b->settings),
      SETTINGS_MEMORY(&b->settings),
      SETTINGS_CHECK(&b->settings),
      {0}};
  const option_command command = {
      "[options]",
      "The rate against the size of square tiles, for data on devices, and how far from the best\n"
      "the size is that the model predicts. Panels, which plans prefer, are left out.",
      "tessera bench tiles --type d --n 16384 --devices 1,2,4 --csv tiles.csv --plot tiles.svg",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  return code ? code : interpret(&words, b);
}

/* ---- Choosing ---- */

static bool is_worth_trying(int64_t tile, int64_t n) {
  return tile <= n && n / tile <= MOST_IN_A_ROW;
}

static void write_strategy(int devices, int64_t tile, char *strategy) {
  int rows, cols;
  bench_grid(devices, &rows, &cols);
  snprintf(strategy, BENCH_STRATEGY, "grid=%dx%d tile=%lld nblock=0,0,0 taper=0", rows, cols,
           (long long)tile);
}

/* What tiles are compared by; 0: not known. */
static double score_of(const bench_trial *t, bool measured) {
  if (measured) return t->measured;
  return t->prediction.seconds + per_command * (double)t->prediction.commands;
}

/* The tile with the least score of its kind, or -1. */
static int best_of(const tiles_curve *c, bool measured) {
  int best = -1;
  double least = INFINITY;
  for (int i = 0; i < c->count; i++) {
    double score = score_of(&c->trial[i], measured);
    if (!(score > 0) || score >= least) continue;
    best = i;
    least = score;
  }
  return best;
}

static int choose(const tiles_bench *b, tsr_context *context, tiles_curve *c) {
  c->measured = best_of(c, true);
  if (b->model == MODEL_REPLAY) {
    c->marked = best_of(c, false);
    c->chosen = c->marked >= 0 ? c->tile[c->marked] : 0;
    return TOOL_OK;
  }
  c->marked = -1;
  int code = tool_status(tsr_plan_choi_tile(context, b->kind.type, c->n, c->devices, &c->chosen));
  for (int i = 0; i < c->count && code == TOOL_OK; i++) {
    if (c->tile[i] == c->chosen) c->marked = i;
  }
  return code;
}

/* ---- Table ---- */

static double tera(const tiles_bench *b, const tiles_curve *c, double seconds) {
  return bench_tera(b->kind.type, (bench_shape){c->n, c->n, c->n}, seconds);
}

static void print_curve(const tiles_bench *b, const tiles_curve *c) {
  printf("%cgemm, N %lld, home %s, %d device%s\n", (char)b->kind.type, (long long)c->n, c->home,
         c->devices, c->devices == 1 ? "" : "s");
  printf("  %6s %12s %9s", "tile", "predicted ms", "TFLOP/s");
  if (!b->predict) printf(" %12s %9s", "measured ms", "TFLOP/s");
  printf("\n");
  for (int i = 0; i < c->count; i++) {
    double predicted = c->trial[i].prediction.seconds, measured = c->trial[i].measured;
    printf("  %6lld %12.3f %9.3f", (long long)c->tile[i], predicted * 1e3, tera(b, c, predicted));
    if (!b->predict) printf(" %12.3f %9.3f", measured * 1e3, tera(b, c, measured));
    printf("%s%s\n", i == c->marked ? "  <- predicted" : "",
           i == c->measured ? "  <- best measured" : "");
  }
}

static void print_verdict(const tiles_bench *b, const tiles_curve *c) {
  const char *name = b->model == MODEL_CHOI ? "choi" : "replay";
  printf("  %s predicts %lld", name, (long long)c->chosen);
  if (c->measured >= 0 && c->marked >= 0) {
    double below = 1 - c->trial[c->measured].measured / c->trial[c->marked].measured;
    printf("; best measured %lld; the predicted one is %.1f %% below it%s",
           (long long)c->tile[c->measured], 100 * below,
           below > tolerance ? " (MORE THAN 3 %)" : "");
  } else if (c->measured >= 0) {
    printf("; best measured %lld; the predicted one was not tried",
           (long long)c->tile[c->measured]);
  }
  printf("\n");
  fflush(stdout);
}

/* ---- CSV ---- */

static void write_curve(FILE *stream, const tiles_bench *b, const tiles_curve *c) {
  for (int i = 0; i < c->count; i++) {
    const bench_trial *t = &c->trial[i];
    fprintf(stream, "gemm,%c,%lld,\"%s\",%d,%lld,%.9g,%.9g,", (char)b->kind.type, (long long)c->n,
            c->home, c->devices, (long long)c->tile[i], t->prediction.floor_seconds,
            t->prediction.seconds);
    if (!b->predict) fprintf(stream, "%.9g,%.6g", t->measured, tera(b, c, t->measured));
    fprintf(stream, "%s,%d,%d\n", b->predict ? "," : "", i == c->marked, i == c->measured);
  }
}

static int write_csv(const tiles_bench *b, const tiles_curve *curves, int count) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return tool_fail("out of memory for %s", b->csv);
  fprintf(stream,
          "op,type,n,home,devices,tile,floor_s,predicted_s,measured_s,tflops,predicted_best,"
          "measured_best\n");
  for (int i = 0; i < count; i++) write_curve(stream, b, &curves[i]);
  int code =
      fclose(stream) == 0 ? tool_write_file(b->csv, text) : tool_fail("cannot write %s", b->csv);
  free(text);
  return code;
}

/* ---- Chart ---- */

/* Of each curve: as measured, as predicted, and the ring. */
enum { PER_CURVE = 3, MOST_CURVES = MOST_HOMES * MOST_COUNTS };

static void add_points(const tiles_bench *b, const tiles_curve *c, bool measured, plot_series *s) {
  for (int i = 0; i < c->count; i++) {
    double seconds = measured ? c->trial[i].measured : c->trial[i].prediction.seconds;
    if (!(seconds > 0)) continue;
    s->x[s->count] = (double)c->tile[i];
    s->y[s->count++] = tera(b, c, seconds);
  }
}

static void add_ring(const tiles_bench *b, const tiles_curve *c, plot_series *s) {
  if (c->marked < 0) return;
  const bench_trial *t = &c->trial[c->marked];
  s->x[0] = (double)c->tile[c->marked];
  s->y[0] = tera(b, c, b->predict ? t->prediction.seconds : t->measured);
  s->count = 1;
}

/* points: room for MOST_TILES x and as many y of each series. */
static void draw_curve(const tiles_bench *b, const tiles_curve *c, int colour, double *points,
                       plot_series series[PER_CURVE]) {
  for (int i = 0; i < PER_CURVE; i++) {
    series[i] = (plot_series){.colour = colour, .x = points + 2 * i * MOST_TILES};
    series[i].y = series[i].x + MOST_TILES;
  }
  series[0].style = PLOT_SOLID;
  series[1].style = PLOT_DOTTED;
  series[2].style = PLOT_CIRCLES;
  const char *plural = c->devices == 1 ? "" : "s";
  snprintf(series[0].label, sizeof series[0].label, "%s, %d device%s", c->home, c->devices, plural);
  snprintf(series[1].label, sizeof series[1].label, "the same, predicted");
  if (b->predict) {
    snprintf(series[0].label, sizeof series[0].label, "%s", "");
    snprintf(series[1].label, sizeof series[1].label, "%s, %d device%s", c->home, c->devices,
             plural);
  }
  add_points(b, c, true, &series[0]);
  add_points(b, c, false, &series[1]);
  add_ring(b, c, &series[2]);
}

/* What a chart is drawn from. */
typedef struct tiles_drawing {
  plot_panel panels[MOST_SIZES]; /* one for each size */
  char titles[MOST_SIZES][96];
  plot_series series[MOST_SIZES * MOST_CURVES * PER_CURVE];
  double points[MOST_SIZES * MOST_CURVES * PER_CURVE * 2 * MOST_TILES];
  int count;
} tiles_drawing;

/* The curves of one size come one after the other. */
static void add_curve(const tiles_bench *b, const tiles_curve *c, int index, tiles_drawing *d) {
  plot_series *series = &d->series[index * PER_CURVE];
  plot_panel *panel = d->count > 0 ? &d->panels[d->count - 1] : NULL;
  char *title = d->titles[d->count];
  if (index == 0 || c[-1].n != c->n) {
    snprintf(title, sizeof d->titles[0], "%cgemm, N = %lld; rings: as %s predicts",
             (char)b->kind.type, (long long)c->n,
             b->model == MODEL_CHOI ? "the formula" : "the model");
    panel = &d->panels[d->count++];
    *panel = (plot_panel){.title = title, .x_label = "tile", .y_label = "TFLOP/s"};
    panel->series = series;
  }
  draw_curve(b, c, panel->count / PER_CURVE, &d->points[index * PER_CURVE * 2 * MOST_TILES],
             series);
  panel->count += PER_CURVE;
}

static int write_plot(const tiles_bench *b, const tiles_curve *curves, int count) {
  tiles_drawing *d = calloc(1, sizeof *d);
  if (!d) return tool_fail("out of memory for %s", b->plot);
  for (int i = 0; i < count; i++) add_curve(b, &curves[i], i, d);
  int code = plot_write(b->plot, d->panels, d->count);
  free(d);
  return code;
}

/* ---- Running ---- */

static int try_tiles(const tiles_bench *b, const bench_kind *kind, tsr_context *context,
                     const bench_case *held, tiles_curve *c) {
  bench_shape shape = {c->n, c->n, c->n};
  int code = TOOL_OK;
  for (int i = 0; i < b->tile_count && code == TOOL_OK; i++) {
    if (!is_worth_trying(b->tiles[i], c->n)) continue;
    bench_trial *trial = &c->trial[c->count];
    c->tile[c->count] = b->tiles[i];
    write_strategy(c->devices, b->tiles[i], trial->strategy);
    code = bench_trial_run(context, kind, shape, held, (int)b->repeat, trial);
    c->count += code == TOOL_OK;
  }
  return code;
}

static int run_curve(const tiles_bench *b, const bench_kind *kind, tsr_context *context,
                     const bench_case *held, tiles_curve *c) {
  int code = try_tiles(b, kind, context, held, c);
  if (code == TOOL_OK) code = choose(b, context, c);
  if (code != TOOL_OK) return code;
  print_curve(b, c);
  print_verdict(b, c);
  bench_trial *checked = c->marked >= 0 ? &c->trial[c->marked] : NULL;
  if (!held || !checked) return TOOL_OK;
  code = bench_trial_check(held, checked);
  return code == TOOL_OK && !checked->good ? tool_fail("the result is wrong") : code;
}

/* A product at its home, on each number of devices. */
static int run_home(const tiles_bench *b, bench_store *store, int64_t n, const char *places,
                    tiles_curve *curves, int *count) {
  bench_kind kind = b->kind;
  bench_case held = {0};
  int code = homes_parse(places, HOME_PINNED, kind.homes);
  if (code == TOOL_OK && !b->predict) {
    code = bench_case_create(&kind, (bench_shape){n, n, n}, store, &held);
  }
  for (int i = 0; i < b->count_count && code == TOOL_OK; i++) {
    tiles_curve *c = &curves[*count];
    *c = (tiles_curve){.n = n, .home = places, .devices = (int)b->counts[i]};
    code = run_curve(b, &kind, store->context, b->predict ? NULL : &held, c);
    *count += code == TOOL_OK;
  }
  return code;
}

static int run_sizes(const tiles_bench *b, tsr_context *context, tiles_curve *curves, int *count) {
  bench_store store;
  int code = TOOL_OK;
  bench_store_open(b->kind.type, context, NULL, false, &store);
  for (int i = 0; i < b->size_count; i++) {
    bench_store_expect(&store, (bench_shape){b->sizes[i], b->sizes[i], b->sizes[i]});
  }
  for (int i = 0; i < b->size_count && code == TOOL_OK; i++) {
    for (int h = 0; h < b->home_count && code == TOOL_OK; h++) {
      code = run_home(b, &store, b->sizes[i], b->homes[h], curves, count);
    }
  }
  bench_store_close(&store);
  return code;
}

/* Devices that compute or are homes. A home that goes without saying must not ask for more. */
static int devices_needed(tiles_bench *b) {
  int computing = 1, needed;
  for (int i = 0; i < b->count_count; i++) {
    if (b->counts[i] > computing) computing = (int)b->counts[i];
  }
  if (b->home_count == MOST_HOMES && computing < 3) b->home_count = 1;
  needed = computing;
  for (int h = 0; h < b->home_count; h++) {
    home places[3];
    if (homes_parse(b->homes[h], HOME_PINNED, places) != TOOL_OK) return -1;
    for (int i = 0; i < 3; i++) {
      if (places[i].kind == HOME_DEVICE && places[i].device >= needed)
        needed = places[i].device + 1;
    }
  }
  return needed;
}

static int run_all(const tiles_bench *b, int devices, tiles_curve *curves, int *count) {
  settings with = b->settings;
  tsr_context *context = NULL;
  char text[32];
  snprintf(text, sizeof text, "%d", devices);
  with.devices = text;
  int code = settings_open(&with, &context);
  if (code == TOOL_OK && !b->predict && tsr_device_count(context) == 0) {
    code = tool_fail("no device is here: --engine host emulates some, --predict needs none");
  }
  if (code == TOOL_OK) code = run_sizes(b, context, curves, count);
  tsr_context_destroy(context);
  return code;
}

static int publish(const tiles_bench *b, const tiles_curve *curves, int count) {
  int code = b->csv ? write_csv(b, curves, count) : TOOL_OK;
  if (!code && b->plot && count > 0) code = write_plot(b, curves, count);
  return code;
}

int bench_tiles(int argc, char **argv) {
  tiles_bench b = {0};
  int count = 0, code = parse_request(argc, argv, &b);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code != TOOL_OK) return code;
  int devices = devices_needed(&b);
  if (devices < 0) return TOOL_USAGE;
  size_t room = (size_t)b.size_count * MOST_CURVES;
  tiles_curve *curves = calloc(room, sizeof *curves);
  if (!curves) return tool_fail("out of memory");
  code = run_all(&b, devices, curves, &count);
  /* What was measured before something failed is still worth having. */
  int published = publish(&b, curves, count);
  free(curves);
  return code ? code : published;
}
