/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The benchmarks' driver: reads cases, measures or predicts them, and prints checked results. A
 * case is a line of words (tools/measure/line.h). The Python programs in this folder make lists of
 * cases and draw the results.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

enum { MOST_CASES = 4096, LONGEST = 4096 };

typedef struct driver {
  bench_words defaults;
  const char *cases;
  output csv, timeline;
  bool force, details;
  double rate_seconds; /* less than 0: not given */
  bool predict, json, headed;
  bench_line *lines;
  char (*places)[96];
  int count;
} driver;

/* ---- Cases ---- */

static int add_case(driver *d, const char *text, const char *source, int number) {
  bench_line *line = &d->lines[d->count];
  char *place = d->places[d->count];
  if (d->count == MOST_CASES) return tool_usage("at most %d cases", MOST_CASES);
  snprintf(place, sizeof *d->places, "%.80s:%d", source, number);
  tool_set_place(place);
  int code = bench_line_parse(text, &d->defaults, d->predict, line);
  tool_set_place(NULL);
  d->count++;
  line->place = place;
  return code;
}

/* Reads cases from a stream; empty lines and lines that begin with # are skipped. */
static int read_stream(driver *d, FILE *stream, const char *name) {
  char text[LONGEST];
  int code = TOOL_OK;
  for (int number = 1; !code && fgets(text, sizeof text, stream); number++) {
    if (strlen(text) + 1 == sizeof text) return tool_usage("%s:%d: too long", name, number);
    if (text[strspn(text, " \t\r\n")] == '\0' || text[0] == '#') continue;
    code = add_case(d, text, name, number);
  }
  return code;
}

static int read_file(driver *d) {
  bool standard = strcmp(d->cases, "-") == 0;
  FILE *stream = standard ? stdin : fopen(d->cases, "r");
  if (!stream) return tool_usage("--cases %s: %s", d->cases, strerror(errno));
  int code = read_stream(d, stream, standard ? "stdin" : d->cases);
  if (!standard) fclose(stream);
  return code;
}

static int read_cases(driver *d, const char *const *given, int count) {
  int code = d->cases ? read_file(d) : TOOL_OK;
  for (int i = 0; i < count && !code; i++) code = add_case(d, given[i], "case", i + 1);
  if (!code && d->count == 0)
    return tool_usage("no case is given; give cases between quotes, or a list with --cases");
  return code ? code : bench_check_outputs(&d->csv, &d->timeline, d->cases, d->force);
}

/* ---- Results ---- */

static int note(void *user, const bench_row *row) {
  driver *d = user;
  int code = TOOL_OK;
  if (d->json) {
    code = tool_print_json(bench_row_json(row), true);
    fflush(stdout);
  } else {
    if (!d->headed) bench_print_head();
    d->headed = true;
    bench_print_row(row);
    if (d->details) bench_print_details(row);
  }
  return !code && d->csv.path ? bench_append_csv(&d->csv, row) : code;
}

static int parse(int argc, char **argv, driver *d) {
  static const char *given[MOST_CASES];
  int count = 0;
  bench_words_begin(&d->defaults);
  d->rate_seconds = -1;
  enum { OWN = 8 };
  d->csv = (output){"--csv", NULL, OUTPUT_LINES};
  d->timeline = (output){"--timeline", NULL, OUTPUT_TEXT};
  option table[OWN + BENCH_WORD_ROWS] = {
      {"cases", 0, OPTION_TEXT, &d->cases, "FILE", "a list of cases, one on each line; -: stdin"},
      {"predict", 0, OPTION_FLAG, &d->predict, NULL,
       "predict times on --machine by replaying plans; nothing runs, and no device is needed"},
      {"csv", 0, OPTION_TEXT, &d->csv.path, "FILE", "add a line for each case to this file"},
      {"json", 0, OPTION_FLAG, &d->json, NULL, "print one JSON object per line, not the table"},
      {"timeline", 0, OPTION_TEXT, &d->timeline.path, "FILE.json",
       "write the timeline of one more call of the last case, for Perfetto"},
      {"rate-seconds", 0, OPTION_NUMBER, &d->rate_seconds, "S",
       "run kernels for S seconds to find the floor's rate (default: 2; 0: the machine's rate)", 0,
       600},
      {"details", 0, OPTION_FLAG, &d->details, NULL,
       "below each row: times predicted, of planning, of the floor and of the peer"},
      OUTPUT_FORCE(&d->force),
  };
  bench_words_table(&d->defaults, table + OWN);
  static const option_mode modes[] = {
      {"predict", NULL, BENCH_MEASURE_WORDS " timeline rate-seconds", NULL},
      {"json", NULL, "details", "JSON has all of it; leave it out"},
      {"!csv timeline", NULL, "force", "no file is written; leave it out"},
      {0}};
  const option_command command = {
      "[CASE...] [options]",
      "Measures cases: the first call, warm calls, the floor that no schedule can beat, the\n"
      "predicted time, and a peer. Every result is checked. A case is a line such as\n"
      "'gemm d 8192 8192 8192 home=h,h,0 devices=4'. Its words are the options from --home on,\n"
      "without dashes; an option given to the program holds for cases that do not have the word.\n"
      "'composed d 8192' is trsm and then gemm on its result, with by=call or by=async.",
      "tessera-bench 'gemm d 8192 8192 8192' 'syrk d 8192 8192' --devices 4 --csv here.csv\n"
      "  tessera-bench --cases list.txt --json --peer cublasxt",
      table,
      0,
      MOST_CASES,
      .modes = modes};
  int code = options_parse(&command, argc, argv, given, &count);
  return code ? code : read_cases(d, given, count);
}

int main(int argc, char **argv) {
  tool_hold_descriptors();
  driver d = {.lines = calloc(MOST_CASES, sizeof *d.lines),
              .places = calloc(MOST_CASES, sizeof *d.places)};
  tool_set_name("tessera-bench");
  int code = d.lines && d.places ? parse(argc, argv, &d) : tool_fail("out of memory");
  if (!code) {
    const bench_run run = {.lines = d.lines,
                           .count = d.count,
                           .predict = d.predict,
                           .rate_seconds = d.rate_seconds < 0 ? 2 : d.rate_seconds,
                           .timeline = d.timeline,
                           .force = d.force,
                           .note = note,
                           .user = &d};
    code = bench_run_all(&run);
  }
  for (int i = 0; i < d.count; i++) free(d.lines[i].text);
  free(d.lines);
  free(d.places);
  if (code == OPTIONS_HELPED) code = TOOL_OK;
  return fflush(stdout) == 0 ? code : tool_fail("cannot write to the standard output");
}
