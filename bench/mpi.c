/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The benchmarks' driver for products across processes: reads cases, measures or predicts them, and
 * prints checked results, as driver.c does for one process. It is a program of its own, since it
 * needs MPI.
 */
#include "mpi.h"

#include <stdlib.h>
#include <string.h>

#include "timeline.h"

enum { MOST_CASES = 1024, MOST_WORDS = 32, CALL = 5 };

typedef struct driver {
  mpi_words defaults;
  output csv, timeline;
  bool predict, json, headed, force;
  mpi_case cases[MOST_CASES];
  int count;
} driver;

/* ---- Cases ---- */

/* Words that count only where something is measured. */
#define MEASURE_WORDS "processes transport repeat engine"

enum { WORD_ROWS = 20 };

static void words_table(mpi_words *w, option table[WORD_ROWS]) {
  const option rows[] = {
      {"grid", 0, OPTION_TEXT, &w->grid, "PxQ",
       "rows x columns of processes (default: by prediction)"},
      {"processes", 0, OPTION_WHOLE, &w->processes, "N",
       "use the first N of the processes that mpirun started (default: all)", 1, 1 << 20},
      {"block", 0, OPTION_WHOLE, &w->block, "N",
       "extent of the blocks in which matrices are distributed (256; predicted: 1024)", 1, 1 << 30},
      {"transport", 0, OPTION_TEXT, &w->transport, "auto|mpi|nccl",
       "how panels travel (default: TESSERA_TRANSPORT)"},
      {"repeat", 0, OPTION_WHOLE, &w->repeat, "N",
       "warm products, of which the median counts (default: 5)", 0, MPI_MOST_REPEATS},
      CUT_OPTIONS(&w->cut),
      {"up", 0, OPTION_NUMBER, &w->cut.up, "GB/S",
       "predict for panels that travel by NCCL, from host memory to a device at this rate", 0, 1e6},
      {"down", 0, OPTION_NUMBER, &w->cut.down, "GB/S",
       "with --up: rate at which a process writes C back to host memory while all do", 0, 1e6},
      SETTINGS_ENGINE(&w->settings),
      SETTINGS_DEVICES(&w->settings),
      SETTINGS_MACHINE(&w->settings),
      SETTINGS_MEMORY(&w->settings),
      {0}};
  _Static_assert(sizeof rows <= WORD_ROWS * sizeof *table, "more words than rows");
  memcpy(table, rows, sizeof rows);
}

static int check_words(const mpi_case *c, bool predict) {
  mpi_words words = c->words;
  option table[WORD_ROWS];
  const char *t = words.transport;
  words_table(&words, table);
  if (predict && !words.grid) return tool_usage("--grid is needed for a prediction, such as 2x3");
  if (predict && !words.settings.machine)
    return tool_usage("--machine is needed for a prediction, such as machines/v100x3-summit.json");
  if (predict)
    return options_refuse(table, MEASURE_WORDS, "does nothing in a prediction; leave it out");
  if (t && strcmp(t, "auto") != 0 && strcmp(t, "mpi") != 0 && strcmp(t, "nccl") != 0)
    return tool_usage("--transport %s: must be auto, mpi or nccl", t);
  if (words.cut.up > 0 || words.cut.down > 0)
    return tool_usage("--up and --down are for predictions; leave them out");
  return TOOL_OK;
}

static int interpret(mpi_case *c, const char *const call[CALL], bool predict) {
  const mpi_words *w = &c->words;
  int64_t *const extents[] = {&c->m, &c->n, &c->k};
  int code = TOOL_OK;
  if (strcmp(call[0], "pgemm") != 0)
    return tool_usage("OP %s: must be pgemm; give pgemm TYPE M N K", call[0]);
  code = parse_type("TYPE", call[1], &c->type);
  if (!code && !strchr("sdczhb", (char)c->type))
    code = tool_usage("TYPE %s: must be s, d, c, z, h or b", call[1]);
  for (int i = 0; i < 3 && !code; i++)
    if (options_whole_list(call[2 + i], extents[i], 1) != 1 || *extents[i] < 1)
      code = tool_usage("%c '%s': not a whole number of 1 or more", "MNK"[i], call[2 + i]);
  if (!code && w->grid) code = parse_pair("--grid", w->grid, c->grid);
  for (int i = 0; i < 2 && !code; i++)
    if (c->grid[i] > 1 << 15) code = tool_usage("--grid %s: must be at most 32768 each", w->grid);
  c->block = w->block > 0 ? w->block : predict ? 1024 : 256;
  if (!code) code = check_words(c, predict);
  if (!code) code = cut_check(&w->cut);
  return code ? code : settings_check(&w->settings);
}

static int add_case(driver *d, const char *text) {
  mpi_case *c = &d->cases[d->count];
  char *argv[MOST_WORDS + 1] = {(char *)"case"};
  const char *call[CALL];
  *c = (mpi_case){.text = strdup(text), .words = d->defaults};
  if (!c->text) return tool_fail("out of memory");
  snprintf(c->place, sizeof c->place, "case %d", ++d->count);
  tool_set_place(c->place);
  option table[WORD_ROWS];
  words_table(&c->words, table);
  const option_command command = {
      "pgemm TYPE M N K [WORD=VALUE...]", "", "", table, CALL, CALL, true};
  int count = options_split(c->text, argv + 1, MOST_WORDS);
  int code = count < 0 ? tool_usage("a quote is open, or there are more than %d words", MOST_WORDS)
                       : options_parse(&command, count + 1, argv, call, NULL);
  if (code == OPTIONS_HELPED) code = tool_usage("a case cannot contain --help");
  if (!code) code = interpret(c, call, d->predict);
  tool_set_place(NULL);
  return code;
}

static const char csv_head[] =
    "type,processes,rows,cols,devices,m,n,k,first_s,median_s,predicted_s,gflops,right,transport";

/* Checks the files that the first process is to write, before anything is measured. */
static int check_outputs(const driver *d) {
  const output outputs[] = {d->csv, d->timeline};
  const char *inputs[] = {d->defaults.settings.machine, NULL};
  int code = d->timeline.path ? timeline_is_json(d->timeline.path) : TOOL_OK;
  if (!code) code = output_check(outputs, 2, inputs, d->force);
  return code ? code : output_lines_check(&d->csv, csv_head);
}

static int parse(int argc, char **argv, driver *d) {
  static const char *given[MOST_CASES];
  int count = 0;
  mpi_words *w = &d->defaults;
  w->processes = w->block = w->repeat = -1;
  enum { OWN = 5 };
  d->csv = (output){"--csv", NULL, OUTPUT_LINES};
  d->timeline = (output){"--timeline", NULL, OUTPUT_TEXT};
  option table[OWN + WORD_ROWS] = {
      {"predict", 0, OPTION_FLAG, &d->predict, NULL,
       "predict times by replaying schedules on --grid; needs no mpirun and no device"},
      {"csv", 0, OPTION_TEXT, &d->csv.path, "FILE", "add a line for each case to this file"},
      {"json", 0, OPTION_FLAG, &d->json, NULL, "print one JSON object per line, not the table"},
      {"timeline", 0, OPTION_TEXT, &d->timeline.path, "FILE.json",
       "write the timeline of one more product of the last case, of all processes, for Perfetto"},
      OUTPUT_FORCE(&d->force),
  };
  words_table(w, table + OWN);
  static const option_mode modes[] = {
      CUT_MODE,
      {"predict", NULL, MEASURE_WORDS, NULL},
      {"predict", NULL, "timeline", "tessera plan pgemm writes one"},
      {"!predict", NULL, "up down", "they are for predictions; leave them out"},
      {"!up", NULL, "down", "give --up, too"},
      {"!csv timeline", NULL, "force", "no file is written; leave it out"},
      {0}};
  const option_command command = {
      "CASE... [options]",
      "Measures products C = A B across the processes that mpirun has started, or predicts them.\n"
      "A case is a line such as 'pgemm d 8192 8192 8192 processes=4 transport=mpi'. Its words are\n"
      "the options from --grid on, without dashes; an option given to the program holds for cases\n"
      "that do not have the word. The processes of a node share out its devices. Some elements of\n"
      "each process's part of C are checked.",
      "mpirun -n 4 tessera-bench-mpi 'pgemm d 16384 16384 16384 block=1024' --csv here.csv\n"
      "  tessera-bench-mpi --predict --machine machines/v100x3-summit.json 'pgemm d 99328 99328 "
      "99328 grid=4x4'",
      table,
      1,
      MOST_CASES,
      .modes = modes};
  int code = options_parse(&command, argc, argv, given, &count);
  for (int i = 0; i < count && !code; i++) code = add_case(d, given[i]);
  return code || (!d->predict && !is_first()) ? code : check_outputs(d);
}

/* ---- Results ---- */

static double gflops(const mpi_row *row) {
  double seconds = row->measured ? row->median : row->predicted;
  return 1e-9 * element_flops(row->c->type, row->c->m, row->c->n, row->c->k) / seconds;
}

static const char *time_text(double seconds) {
  return seconds > 0 ? tool_seconds(seconds) : "-";
}

/* In 80 columns. by: how panels travel. */
static void print_row(const mpi_row *row, bool head) {
  const mpi_case *c = row->c;
  char grid[24], call[72];
  if (head)
    printf("%-20s %-5s %3s %-4s %7s %7s %9s %12s %s\n", "call", "grid", "dev", "by", "first",
           "warm", "predicted", "rate", "check");
  snprintf(grid, sizeof grid, "%dx%d", row->rows, row->cols);
  int used = snprintf(call, sizeof call, "%cpgemm %lld", (char)c->type, (long long)c->m);
  if (c->n != c->m || c->k != c->m)
    snprintf(call + used, sizeof call - (size_t)used, "x%lldx%lld", (long long)c->n,
             (long long)c->k);
  printf("%-20s %-5s %3d %-4s %7s %7s %9s %12s %s\n", call, grid, row->devices, row->transport,
         time_text(row->measured ? row->first : 0), time_text(row->measured ? row->median : 0),
         time_text(row->predicted), tool_rate(1e9 * gflops(row)),
         !row->measured ? "-"
         : row->good    ? "ok"
                        : "WRONG");
  fflush(stdout);
}

static int append_csv(const output *csv, const mpi_row *row) {
  char line[512];
  const mpi_case *c = row->c;
  snprintf(line, sizeof line, "%c,%d,%d,%d,%d,%lld,%lld,%lld,%.6g,%.6g,%.6g,%.5g,%d,%s",
           (char)c->type, row->processes, row->rows, row->cols, row->devices, (long long)c->m,
           (long long)c->n, (long long)c->k, row->first, row->median, row->predicted, gflops(row),
           row->good, row->transport);
  return output_lines_add(csv, csv_head, line);
}

static void add_number(cJSON *o, const char *name, double value) {
  cJSON_AddNumberToObject(o, name, value);
}

static void add_prediction(cJSON *o, const mpi_row *row) {
  const tsr_pprediction *p = &row->p;
  add_number(o, "predicted_s", row->predicted);
  add_number(o, "peak", row->peak);
  add_number(o, "memory", (double)row->memory);
  add_number(o, "network", row->network);
  add_number(o, "lookahead", p->lookahead);
  add_number(o, "blocks_down", p->blocks_down);
  add_number(o, "blocks_across", p->blocks_across);
  add_number(o, "block_rows", (double)p->block_rows);
  add_number(o, "depth", (double)p->depth);
  add_number(o, "fill", p->fill);
  add_number(o, "starved", p->starved);
  add_number(o, "changing", p->changing);
  add_number(o, "received_bytes", p->received);
  add_number(o, "sent_bytes", p->sent);
}

static cJSON *row_json(const mpi_row *row) {
  const char type[2] = {(char)row->c->type, '\0'};
  cJSON *o = cJSON_CreateObject();
  cJSON_AddStringToObject(o, "case", row->c->place);
  cJSON_AddStringToObject(o, "type", type);
  add_number(o, "processes", row->processes);
  add_number(o, "rows", row->rows);
  add_number(o, "cols", row->cols);
  add_number(o, "devices", row->devices);
  add_number(o, "m", (double)row->c->m);
  add_number(o, "n", (double)row->c->n);
  add_number(o, "k", (double)row->c->k);
  cJSON_AddStringToObject(o, "transport", row->transport);
  add_number(o, "gflops", gflops(row));
  if (row->predicted > 0) add_prediction(o, row);
  if (!row->measured) return o;
  add_number(o, "first_s", row->first);
  add_number(o, "median_s", row->median);
  cJSON_AddBoolToObject(o, "correct", row->good);
  if (row->moved)
    cJSON_AddItemToObject(o, "moved", moved_json(row->moved, row->processes, row->cols));
  return o;
}

static int note(driver *d, const mpi_row *row) {
  bool head = !d->headed;
  int code = TOOL_OK;
  d->headed = true;
  if (d->json) {
    code = tool_print_json(row_json(row), true);
    fflush(stdout);
  } else {
    print_row(row, head);
  }
  if (!code && d->csv.path) code = append_csv(&d->csv, row);
  if (!code && row->measured && !row->good) code = tool_fail("the result is wrong");
  return code;
}

/* Measures or predicts all cases, also those after a case that failed; the worst exit code. */
static int do_all(driver *d) {
  int worst = TOOL_OK;
  for (int i = 0; i < d->count; i++) {
    const output *timeline = i + 1 == d->count && d->timeline.path ? &d->timeline : NULL;
    mpi_row row;
    if (d->count > 1) tool_set_place(d->cases[i].place);
    int code = d->predict ? mpi_predict(&d->cases[i], &row)
                          : mpi_measure(&d->cases[i], timeline, d->force, &row);
    if (!code && (d->predict || is_first())) code = note(d, &row);
    free(row.moved);
    if (!d->predict) code = all_agree(code);
    if (code > worst) worst = code;
  }
  tool_set_place(NULL);
  return worst;
}

/* Reads the options first on process 0, which prints any error; the others read them only if they
 * are right, so that an error is printed once. */
static int measure(int argc, char **argv, driver *d) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int code = is_first() ? parse(argc, argv, d) : TOOL_OK;
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!code && !is_first()) code = parse(argc, argv, d);
  if (!code) code = do_all(d);
  mpi_measure_end();
  MPI_Finalize();
  return code;
}

int main(int argc, char **argv) {
  tool_hold_descriptors();
  driver *d = calloc(1, sizeof *d);
  bool alone = false;
  tool_set_name("tessera-bench-mpi");
  if (!d) return tool_fail("out of memory");
  for (int i = 1; i < argc; i++) /* neither predictions nor help need MPI */
    alone = alone || strcmp(argv[i], "--predict") == 0 || strcmp(argv[i], "--help") == 0;
  int code = TOOL_OK;
  if (alone) {
    code = parse(argc, argv, d);
    if (!code) code = do_all(d);
  } else {
    code = measure(argc, argv, d);
  }
  for (int i = 0; i < d->count; i++) free(d->cases[i].text);
  free(d);
  if (code == OPTIONS_HELPED) code = TOOL_OK;
  return fflush(stdout) == 0 ? code : tool_fail("cannot write to the standard output");
}
