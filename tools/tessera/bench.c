/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera bench: measures routines on this machine and prints them beside the floor and a peer. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "measure.h"

enum { MOST_SHAPES = 64, MOST_COUNTS = 16, MOST_TYPES = 7 };

typedef struct bench_request {
  bench_words words;
  const char *ops, *types, *n, *shape, *devices; /* the options as given */
  output csv, timeline;
  bool force, details;
  double rate_seconds;
  bool json;
  tsr_operation operations[TSR_OPERATION_COUNT];
  int64_t shapes[MOST_SHAPES][3];
  char counts[MOST_COUNTS][16]; /* numbers of devices; "": the planner chooses */
  int op_count, shape_count, count_count;
  bench_line *lines;
  int line_count;
  cJSON *rows;
} bench_request;

/* ---- Options ---- */

static int read_squares(bench_request *r) {
  int64_t extents[MOST_SHAPES];
  r->shape_count = options_whole_list(r->n, extents, MOST_SHAPES);
  for (int i = 0; i < r->shape_count; i++)
    for (int e = 0; e < 3; e++) r->shapes[i][e] = extents[i];
  if (r->shape_count > 0) return TOOL_OK;
  return tool_usage("--n %s: must be at most %d extents such as 4096,8192", r->n, MOST_SHAPES);
}

static int read_shapes(bench_request *r) {
  for (const char *at = r->shape; r->shape_count < MOST_SHAPES; at++) {
    long long m, n, k;
    int used = 0;
    if (sscanf(at, "%lldx%lldx%lld%n", &m, &n, &k, &used) != 3 || m < 0 || n < 0 || k < 0) break;
    int64_t *shape = r->shapes[r->shape_count++];
    shape[0] = m, shape[1] = n, shape[2] = k;
    at += used;
    if (!*at) return TOOL_OK;
    if (*at != ',') break;
  }
  return tool_usage("--shape %s: must be at most %d of MxNxK such as 8192x8192x1024", r->shape,
                    MOST_SHAPES);
}

static int read_counts(bench_request *r) {
  int64_t counts[MOST_COUNTS];
  r->count_count = r->devices ? options_whole_list(r->devices, counts, MOST_COUNTS) : 1;
  for (int i = 0; i < r->count_count && r->devices; i++) {
    if (counts[i] < 1 || counts[i] > 1000) r->count_count = -1;
    snprintf(r->counts[i], sizeof *r->counts, "%lld", (long long)counts[i] % 10000);
  }
  if (r->count_count > 0) return TOOL_OK;
  return tool_usage("--devices %s: must be numbers of 1 to 1000, such as 1,2,4", r->devices);
}

/* The peer if --peer is not given: cuBLASXt if there is a GPU, else the CPU's BLAS; NULL: none, for
 * emulated devices. */
static const char *usual_peer(const bench_request *r) {
  const char *engine = r->words.settings.engine;
  if (settings_emulated(&r->words.settings)) return NULL;
  if (engine && strcmp(engine, "cpu") == 0) return "blas";
  return bench_peer_has_gpu() ? "cublasxt" : "blas";
}

/* Adds the case of one number of devices, type, operation and shape. */
static int add_case(bench_request *r, const char *devices, char type, tsr_operation operation,
                    const int64_t shape[3]) {
  bench_line *line = &r->lines[r->line_count++];
  *line = (bench_line){.words = r->words};
  line->what = (tsr_level3){.operation = operation, .m = shape[0], .n = shape[1], .k = shape[2]};
  const char text[2] = {type, '\0'};
  line->words.operation = operation_pick(r->words.operation, operation, true);
  if (*devices) line->words.settings.devices = devices;
  int code = parse_type("--type", text, &line->what.type);
  if (!code) code = operation_check("--type", &line->what);
  if (!code) code = bench_line_interpret(line, false);
  return code;
}

static int make_cases(bench_request *r) {
  int types = 0, code = TOOL_OK;
  char letters[MOST_TYPES + 1] = "";
  for (const char *t = r->types; *t; t += t[1] == ',' ? 2 : 1) {
    if (types == MOST_TYPES || (t[1] && (t[1] != ',' || !t[2])))
      return tool_usage("--type %s: must be types such as d or s,d", r->types);
    letters[types++] = *t;
  }
  size_t room = (size_t)(types * r->count_count * r->op_count * r->shape_count);
  r->lines = calloc(room + 1, sizeof *r->lines);
  if (!r->lines) return tool_fail("out of memory");
  for (int t = 0; t < types; t++)
    for (int c = 0; c < r->count_count; c++)
      for (int o = 0; o < r->op_count; o++)
        for (int i = 0; i < r->shape_count && !code; i++)
          code = add_case(r, r->counts[c], letters[t], r->operations[o], r->shapes[i]);
  return !code && room == 0 ? tool_usage("--type: must be types such as d or s,d") : code;
}

/* Refuses a choice such as --side if none of the routines has it. If some have it, it counts for
 * those. */
static int check_choices(const bench_request *r) {
  operation_words left = r->words.operation;
  for (int i = 0; i < r->op_count; i++) left = operation_pick(left, r->operations[i], false);
  return operation_refuse(&left, r->operations[0]);
}

static int interpret(bench_request *r) {
  if (!r->n) r->n = "1024,2048,4096,8192";
  if (!r->words.peer) r->words.peer = usual_peer(r);
  if (r->rate_seconds < 0) r->rate_seconds = 2;
  r->op_count = operation_parse_list(r->ops, r->operations);
  int code = r->op_count < 0 ? TOOL_USAGE : r->shape ? read_shapes(r) : read_squares(r);
  if (!code) code = check_choices(r);
  if (!code) code = read_counts(r);
  if (!code) code = settings_check(&r->words.settings);
  if (!code) code = bench_check_outputs(&r->csv, &r->timeline, r->words.settings.machine, r->force);
  return code ? code : make_cases(r);
}

/* A chart is drawn from a CSV by the benchmarks in Python, which need matplotlib. */
static int refuse_plot(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--plot") == 0 || strncmp(argv[i], "--plot=", 7) == 0)
      return tool_usage(
          "--plot: this command draws nothing; write --csv FILE.csv, and the source folder's\n"
          "python3 bench/rates.py --from FILE.csv --plot FILE.svg draws it");
  return TOOL_OK;
}

static int parse(int argc, char **argv, bench_request *r) {
  bench_words *w = &r->words;
  bench_words_begin(w);
  *r = (bench_request){.words = *w, .ops = "gemm", .types = "d", .rate_seconds = -1};
  r->csv = (output){"--csv", NULL, OUTPUT_LINES};
  r->timeline = (output){"--timeline", NULL, OUTPUT_TEXT};
  const option table[] = {
      {"op", 0, OPTION_TEXT, &r->ops, "OP,...",
       "of gemm, gemmt, symm, hemm, syrk, herk, syr2k, her2k, trmm, trsm (default: gemm)"},
      {"type", 0, OPTION_TEXT, &r->types, "T,...", "of s, d, c, z, h, b, t (default: d)"},
      {"n", 0, OPTION_TEXT, &r->n, "N,...", "all extents (default: 1024,2048,4096,8192)"},
      {"shape", 0, OPTION_TEXT, &r->shape, "MxNxK,...", "other shapes"},
      {"home", 0, OPTION_TEXT, &w->home, "h,h,h",
       "where A,B,C are, or all: " HOMES_PINNED " (default: h)"},
      {"devices", 0, OPTION_TEXT, &r->devices, "N,...",
       "numbers of devices (default: as many as help)"},
      OPERATION_SIDE(&w->operation),
      OPERATION_UPLO(&w->operation),
      OPERATION_TRANSA(&w->operation),
      OPERATION_TRANSB(&w->operation),
      OPERATION_DIAG(&w->operation),
      {"repeat", 0, OPTION_WHOLE, &w->repeat, "N", "warm calls, of which the median counts (10)", 1,
       BENCH_MOST_REPEATS},
      {"peer", 0, OPTION_TEXT, &w->peer, "cublasxt|blas|none",
       "measure this library, too (default: cublasxt if there is a GPU, else the CPU's BLAS)"},
      {"peer-repeat", 0, OPTION_WHOLE, &w->peer_repeat, "N", "calls of the peer (3)", 1,
       BENCH_MOST_REPEATS},
      {"rate-seconds", 0, OPTION_NUMBER, &r->rate_seconds, "S",
       "run kernels for S seconds to find the floor's rate on this data (2; 0: use the machine's)",
       0, 600},
      {"csv", 0, OPTION_TEXT, &r->csv.path, "FILE", "add a line for each row to this file"},
      {"timeline", 0, OPTION_TEXT, &r->timeline.path, "FILE.json",
       "write the timeline of one more call of the last row, for Perfetto"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print JSON instead of the table"},
      {"details", 0, OPTION_FLAG, &r->details, NULL,
       "below each row: times predicted, of planning, of the floor and of the peer"},
      OUTPUT_FORCE(&r->force),
      SETTINGS_ENGINE(&w->settings),
      SETTINGS_MACHINE(&w->settings),
      SETTINGS_MEMORY(&w->settings),
      SETTINGS_TILE(&w->settings),
      SETTINGS_ARITHMETIC(&w->settings),
      SETTINGS_REPRODUCIBLE(&w->settings),
      SETTINGS_CHECK(&w->settings),
      {0}};
  static const option_mode modes[] = {
      {"json", NULL, "details", "JSON has all of it; leave it out"},
      {"!csv timeline", NULL, "force", "no file is written; leave it out"},
      {"shape", NULL, "n", "choose one"},
      {"peer=none", NULL, "peer-repeat", "there is no peer; name one with --peer"},
      {"engine=cpu", NULL, "devices machine memory tile arithmetic reproducible check timeline",
       "there are no devices; leave it out"},
      {0}};
  const option_command command = {
      "[options]",
      "Measures how fast this machine is. Routines run on random matrices with full mantissas and\n"
      "alpha = beta = 1. Each row shows the first call (cold), the median of the later ones\n"
      "(warm), its rate, the floor (the least time that any schedule can take) as a part of it, "
      "and\n"
      "how many times as long a peer takes in the same run. Every result is checked. The source "
      "folder bench/ has more benchmarks, and bench/rates.py --from\n"
      "FILE.csv --plot FILE.svg draws what --csv FILE.csv keeps.",
      "tessera bench --op gemm,syrk --type d,s --n 4096,8192 --devices 1,2,4 --csv here.csv",
      table,
      0,
      0,
      .modes = modes};
  int code = refuse_plot(argc, argv);
  if (!code) code = options_parse(&command, argc, argv, NULL, NULL);
  return code ? code : interpret(r);
}

/* ---- Results ---- */

static int note(void *user, const bench_row *row) {
  bench_request *r = user;
  if (r->json) {
    cJSON_AddItemToArray(r->rows, bench_row_json(row));
  } else {
    bench_print_row(row);
    if (r->details) bench_print_details(row);
  }
  return r->csv.path ? bench_append_csv(&r->csv, row) : TOOL_OK;
}

int command_bench(int argc, char **argv) {
  bench_request *r = calloc(1, sizeof *r);
  if (!r) return tool_fail("out of memory");
  int code = parse(argc, argv, r);
  if (!code) {
    const bench_run run = {.lines = r->lines,
                           .count = r->line_count,
                           .rate_seconds = r->rate_seconds,
                           .timeline = r->timeline,
                           .force = r->force,
                           .note = note,
                           .user = r};
    if (r->json) r->rows = cJSON_CreateArray();
    if (!r->json) bench_print_head();
    code = bench_run_all(&run);
    int printed = r->json ? tool_print_json(r->rows, false) : TOOL_OK;
    if (!code) code = printed;
  }
  free(r->lines);
  free(r);
  return code == OPTIONS_HELPED ? TOOL_OK : code;
}
