/*
 * tessera bench ablation: what each technique is worth. From a baseline, SUMMA, the techniques are
 * added one after the other, as in Figure 8 of Anastasiadis et al., "Uncut-GEMMs".
 *
 * The baseline is a plan too: it keeps a tile that it has fetched, and copies run beside kernels.
 * These two cannot be taken away from a plan, so they are no step here.
 */
#include <stdlib.h>
#include <string.h>

#include "bench_trial.h"
#include "plot.h"

enum { MOST_SIZES = 32, MOST_COUNTS = 16, STEPS = 8 };

/* A step adds words to those of the steps before; later words of a name win. */
static const struct {
  const char *name, *words;
} steps[STEPS] = {
    {"SUMMA", NULL}, /* baseline_words() */
    {"+ fastest link", "route=bandwidth"},
    {"+ ETA, broadcasts", "route=eta relay=yes piece=8M"},
    {"+ order by ETA", "order=eta"},
    {"+ C last", "c=last"},
    {"+ channels", "channels=count"},
    {"+ panels", NULL}, /* panel_words() */
    {"+ search", NULL}, /* nothing is forced */
};
enum { BASELINE = 0, PANELS = 6, SEARCH = 7 };

typedef struct ablation {
  bench_kind kind;
  int64_t sizes[MOST_SIZES], counts[MOST_COUNTS]; /* counts: of devices; 0: all there are */
  int size_count, count_count;
  int64_t repeat, tile;
  const char *home, *csv, *plot;
  bool predict;
  settings settings;
} ablation;

/* The steps of one size on one number of devices. */
typedef struct ablation_set {
  int64_t n;
  int devices;
  bench_trial step[STEPS];
} ablation_set;

/* ---- What is asked for ---- */

typedef struct ablation_words {
  const char *type, *n, *devices;
} ablation_words;

static bool all_in_range(const int64_t *values, int count, int64_t least, int64_t most) {
  for (int i = 0; i < count; i++) {
    if (values[i] < least || values[i] > most) return false;
  }
  return count > 0;
}

static int interpret(const ablation_words *words, ablation *a) {
  a->kind.type = TSR_D;
  a->kind.transa = a->kind.transb = TSR_NO_TRANS;
  a->kind.alpha = a->kind.beta = (scalar){1, 0};
  int code = words->type ? parse_type("--type", words->type, &a->kind.type) : TOOL_OK;
  if (code) return code;
  a->size_count = options_whole_list(words->n, a->sizes, MOST_SIZES);
  if (!all_in_range(a->sizes, a->size_count, 1, INT32_MAX)) {
    return tool_usage("--n %s: must be extents such as 8192,16384", words->n);
  }
  a->count_count = 1;
  if (words->devices) a->count_count = options_whole_list(words->devices, a->counts, MOST_COUNTS);
  if (words->devices && !all_in_range(a->counts, a->count_count, 1, 1000)) {
    return tool_usage("--devices %s: must be numbers such as 4 or 2,4", words->devices);
  }
  if (a->predict && !words->devices) return tool_usage("--predict: say for how many --devices");
  if (a->repeat < 1) return tool_usage("--repeat must be at least 1");
  return homes_parse(a->home, HOME_PINNED, a->kind.homes);
}

static int parse_request(int argc, char **argv, ablation *a) {
  ablation_words words = {.n = "4096,8192,16384"};
  a->home = "h,h,h";
  a->repeat = 10;
  const option table[] = {
      {"type", 0, OPTION_TEXT, &words.type, "s|d|c|z|h|b|t", "element type (default: d)"},
      {"n", 0, OPTION_TEXT, &words.n, "N,...", "square products (default: 4096,8192,16384)"},
      {"home", 0, OPTION_TEXT, &a->home, "h,h,h",
       "where A,B,C are: h pinned host, u pageable host, 0.. a device"},
      {"devices", 0, OPTION_TEXT, &words.devices, "N,...", "numbers of devices (default: all)"},
      {"tiles", 0, OPTION_WHOLE, &a->tile, "T",
       "extent of the tiles before panels (default: an eighth of N, at most 2048)"},
      {"repeat", 0, OPTION_WHOLE, &a->repeat, "N", "warm calls, of which the median counts (10)"},
      {"predict", 0, OPTION_FLAG, &a->predict, NULL, "only on the model: no device is needed"},
      {"csv", 0, OPTION_TEXT, &a->csv, "FILE", "write the results as CSV"},
      {"plot", 0, OPTION_TEXT, &a->plot, "FILE.svg", "draw them as bars"},
      SETTINGS_ENGINE(&a->settings),
      SETTINGS_MACHINE(&a->settings),
      SETTINGS_MEMORY(&a->settings),
      SETTINGS_CHECK(&a->settings),
      {0}};
  const option_command command = {
      "[options]",
      "What each technique is worth: from SUMMA, where every device fetches all it needs from the\n"
      "operands' homes, the techniques of the planner are added one after the other. Caching, and\n"
      "overlap of copies with kernels, are inherent in plans: the baseline has both.",
      "tessera bench ablation --n 8192,16384 --devices 4 --csv ablation.csv --plot ablation.svg",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  return code ? code : interpret(&words, a);
}

/* ---- Words ---- */

static int64_t power_of_two_below(int64_t x) {
  int64_t power = 1;
  while (2 * power <= x) power *= 2;
  return power;
}

static int64_t between(int64_t x, int64_t least, int64_t most) {
  return x < least ? least : x > most ? most : x;
}

/* Tiles over the most square grid; a tile is one copy and one kernel. */
static void baseline_words(const ablation *a, int64_t n, int devices, char *text, size_t room) {
  int rows, cols;
  int64_t tile = a->tile ? a->tile : between(power_of_two_below(n / 8 + 1), 1, 2048);
  bench_grid(devices, &rows, &cols);
  snprintf(text, room,
           "grid=%dx%d tile=%lld nblock=0,0,0 taper=0 streams=1 piece=0 c=first order=given "
           "route=home relay=no channels=ignore",
           rows, cols, (long long)tile);
}

/* Shapes of copies and kernels apart: long panels, cut into kernels by columns. */
static void panel_words(int64_t n, char *text, size_t room) {
  long long slab = between(power_of_two_below(n / 16 + 1), 1, 512);
  snprintf(text, room, "kind=panels kpanel=%lld nblock=1024,4096,1024 taper=128", slab);
}

/* The words of a step and of those before it. */
static void strategy_of(const ablation *a, int64_t n, int devices, int step, char *strategy) {
  char words[BENCH_STRATEGY];
  strategy[0] = '\0';
  for (int i = 0; i <= step && step != SEARCH; i++) {
    snprintf(words, sizeof words, "%s", steps[i].words ? steps[i].words : "");
    if (i == BASELINE) baseline_words(a, n, devices, words, sizeof words);
    if (i == PANELS) panel_words(n, words, sizeof words);
    size_t used = strlen(strategy);
    snprintf(strategy + used, BENCH_STRATEGY - used, "%s%s", used ? " " : "", words);
  }
}

/* ---- Table ---- */

static double ratio(double before, double after) {
  return before > 0 && after > 0 ? before / after : 0;
}

static void print_head(const ablation *a, const ablation_set *set) {
  printf("%cgemm, N %lld, home %s, %d device%s\n", (char)a->kind.type, (long long)set->n, a->home,
         set->devices, set->devices == 1 ? "" : "s");
  printf("  %-20s %12s %7s %7s", "", "predicted ms", "step", "in all");
  if (!a->predict) printf(" %12s %7s %7s %9s  check", "measured ms", "step", "in all", "TFLOP/s");
  printf("\n");
}

static void print_step(const ablation *a, const ablation_set *set, int step) {
  const bench_trial *now = &set->step[step], *first = &set->step[0];
  const bench_trial *before = &set->step[step > 0 ? step - 1 : 0];
  double predicted = now->prediction.seconds;
  printf("  %-20s %12.3f %6.2fx %6.2fx", steps[step].name, predicted * 1e3,
         ratio(before->prediction.seconds, predicted), ratio(first->prediction.seconds, predicted));
  if (!a->predict) {
    double tera = bench_tera(a->kind.type, (bench_shape){set->n, set->n, set->n}, now->measured);
    printf(" %12.3f %6.2fx %6.2fx %9.3f  %s", now->measured * 1e3,
           ratio(before->measured, now->measured), ratio(first->measured, now->measured), tera,
           now->good ? "ok" : "WRONG");
  }
  printf("\n");
  fflush(stdout);
}

/* ---- CSV ---- */

static void write_step(FILE *stream, const ablation *a, const ablation_set *set, int step) {
  const bench_trial *now = &set->step[step], *first = &set->step[0];
  const bench_trial *before = &set->step[step > 0 ? step - 1 : 0];
  double predicted = now->prediction.seconds;
  fprintf(stream, "gemm,%c,%lld,\"%s\",%d,\"%s\",\"%s\",", (char)a->kind.type, (long long)set->n,
          a->home, set->devices, steps[step].name, now->strategy);
  fprintf(stream, "%.9g,%.9g,%.4f,%.4f,", now->prediction.floor_seconds, predicted,
          ratio(before->prediction.seconds, predicted),
          ratio(first->prediction.seconds, predicted));
  if (a->predict) {
    fprintf(stream, ",,\n");
  } else {
    fprintf(stream, "%.9g,%.4f,%.4f\n", now->measured, ratio(before->measured, now->measured),
            ratio(first->measured, now->measured));
  }
}

static int write_csv(const ablation *a, const ablation_set *sets, int count) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return tool_fail("out of memory for %s", a->csv);
  fprintf(stream,
          "op,type,n,home,devices,step,strategy,floor_s,predicted_s,predicted_step,"
          "predicted_in_all,measured_s,measured_step,measured_in_all\n");
  for (int i = 0; i < count; i++) {
    for (int s = 0; s < STEPS; s++) write_step(stream, a, &sets[i], s);
  }
  int code =
      fclose(stream) == 0 ? tool_write_file(a->csv, text) : tool_fail("cannot write %s", a->csv);
  free(text);
  return code;
}

/* ---- Chart ---- */

/* Rates of a set's steps: bars as measured with a line as predicted, or bars as predicted. */
static void fill_group(const ablation *a, const ablation_set *set, double *values, plot_group *g) {
  bench_shape shape = {set->n, set->n, set->n};
  *g = (plot_group){.height = values, .line = a->predict ? NULL : values + STEPS};
  snprintf(g->label, sizeof g->label, "%lld on %d", (long long)set->n, set->devices);
  g->bound = bench_tera(a->kind.type, shape, set->step[SEARCH].prediction.floor_seconds);
  for (int s = 0; s < STEPS; s++) {
    double predicted = bench_tera(a->kind.type, shape, set->step[s].prediction.seconds);
    values[s] = a->predict ? predicted : bench_tera(a->kind.type, shape, set->step[s].measured);
    values[STEPS + s] = predicted;
  }
}

static int write_plot(const ablation *a, const ablation_set *sets, int count) {
  const char *names[STEPS];
  char title[96];
  double *values = calloc((size_t)count * 2 * STEPS, sizeof *values);
  plot_group *groups = calloc((size_t)count, sizeof *groups);
  for (int s = 0; s < STEPS; s++) names[s] = steps[s].name;
  for (int i = 0; i < count && values && groups; i++) {
    fill_group(a, &sets[i], values + (size_t)i * 2 * STEPS, &groups[i]);
  }
  snprintf(title, sizeof title, "%cgemm, home %s, %s", (char)a->kind.type, a->home,
           a->predict ? "predicted" : "measured (lines: predicted)");
  int code = values && groups
                 ? plot_write_bars(a->plot, title, "TFLOP/s", names, STEPS, groups, count)
                 : tool_fail("out of memory for %s", a->plot);
  free(values);
  free(groups);
  return code;
}

/* ---- Running ---- */

static int run_steps(const ablation *a, tsr_context *context, const bench_case *c,
                     ablation_set *set) {
  bench_shape shape = {set->n, set->n, set->n};
  int code = TOOL_OK;
  for (int s = 0; s < STEPS && code == TOOL_OK; s++) {
    bench_trial *trial = &set->step[s];
    strategy_of(a, set->n, set->devices, s, trial->strategy);
    code = bench_trial_run(context, &a->kind, shape, c, (int)a->repeat, trial);
    if (code == TOOL_OK && c) code = bench_trial_check(c, trial);
    if (code == TOOL_OK) print_step(a, set, s);
  }
  return code;
}

static int run_set(const ablation *a, tsr_context *context, bench_store *store, ablation_set *set) {
  bench_case c = {0};
  int code = TOOL_OK;
  print_head(a, set);
  if (!a->predict) {
    code = bench_case_create(&a->kind, (bench_shape){set->n, set->n, set->n}, store, &c);
  }
  return code == TOOL_OK ? run_steps(a, context, a->predict ? NULL : &c, set) : code;
}

/* All sizes; *count is how many sets are complete. */
static int run_sizes(const ablation *a, tsr_context *context, int devices, ablation_set *sets,
                     int *count) {
  bench_store store;
  int code = TOOL_OK;
  bench_store_open(a->kind.type, context, NULL, false, &store);
  for (int i = 0; i < a->size_count; i++) {
    bench_store_expect(&store, (bench_shape){a->sizes[i], a->sizes[i], a->sizes[i]});
  }
  for (int i = 0; i < a->size_count && code == TOOL_OK; i++) {
    ablation_set *set = &sets[*count];
    *set = (ablation_set){.n = a->sizes[i], .devices = devices};
    code = run_set(a, context, &store, set);
    *count += code == TOOL_OK;
  }
  bench_store_close(&store);
  return code;
}

static int run_devices(const ablation *a, int64_t devices, ablation_set *sets, int *count) {
  settings with = a->settings;
  tsr_context *context = NULL;
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)devices);
  if (devices > 0) with.devices = text;
  int code = settings_open(&with, &context);
  int there = code == TOOL_OK ? tsr_device_count(context) : 0;
  if (code == TOOL_OK && !a->predict && there == 0) {
    code = tool_fail("no device is here: --engine host emulates some, --predict needs none");
  }
  if (code == TOOL_OK)
    code = run_sizes(a, context, devices > 0 ? (int)devices : there, sets, count);
  tsr_context_destroy(context);
  return code;
}

static int publish(const ablation *a, const ablation_set *sets, int count) {
  int code = TOOL_OK;
  if (a->csv) code = write_csv(a, sets, count);
  if (!code && a->plot && count > 0) code = write_plot(a, sets, count);
  for (int i = 0; i < count && !code; i++) {
    for (int s = 0; s < STEPS && !code; s++) {
      if (!sets[i].step[s].good) code = tool_fail("a result is wrong: see 'check'");
    }
  }
  return code;
}

int bench_ablation(int argc, char **argv) {
  ablation a = {0};
  int count = 0, code = parse_request(argc, argv, &a);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code != TOOL_OK) return code;
  ablation_set *sets = calloc((size_t)(a.size_count * a.count_count), sizeof *sets);
  if (!sets) return tool_fail("out of memory");
  for (int i = 0; i < a.count_count && code == TOOL_OK; i++) {
    code = run_devices(&a, a.counts[i], sets, &count);
  }
  /* What was measured before something failed is still worth having. */
  int published = publish(&a, sets, count);
  free(sets);
  return code ? code : published;
}
