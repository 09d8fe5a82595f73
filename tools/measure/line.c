/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "line.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 64, EXTENTS = 5 };

void bench_words_begin(bench_words *w) {
  *w = (bench_words){.repeat = -1, .warm_up = -1, .peer_repeat = -1};
  w->settle = w->sample = w->seconds = -1;
}

void bench_words_table(bench_words *w, option table[BENCH_WORD_ROWS]) {
  settings *with = &w->settings;
  const option rows[] = {
      {"home", 0, OPTION_TEXT, &w->home, "h,h,h",
       "where A,B,C are, or all: " HOMES_PINNED " (default: h)"},
      OPERATION_SIDE(&w->operation),
      OPERATION_UPLO(&w->operation),
      OPERATION_TRANSA(&w->operation),
      OPERATION_TRANSB(&w->operation),
      OPERATION_DIAG(&w->operation),
      {"alpha", 0, OPTION_TEXT, &w->alpha, "X", "factor of the product (default: 1)"},
      {"beta", 0, OPTION_TEXT, &w->beta, "Y", "factor of C (default: 1)"},
      {"by", 0, OPTION_TEXT, &w->by, "call|plan|async|door",
       "a blocking call; a plan made before; an asynchronous call with the write-back of its "
       "result; the BLAS door (default: call)"},
      {"repeat", 0, OPTION_WHOLE, &w->repeat, "N",
       "warm samples, of which the median counts; 0: the first call alone (default: 10)", 0,
       BENCH_MOST_REPEATS},
      {"warm-up", 0, OPTION_WHOLE, &w->warm_up, "N",
       "calls after the first one that do not count (default: 2)", 0, BENCH_MOST_REPEATS},
      {"sample", 0, OPTION_NUMBER, &w->sample, "S",
       "make as many calls in a sample as take S seconds (default: one call)", 0, 60},
      {"seconds", 0, OPTION_NUMBER, &w->seconds, "S",
       "after S seconds of samples take only the last one (default: no limit)", 0, 86400},
      {"settle", 0, OPTION_NUMBER, &w->settle, "S",
       "make calls for S seconds before the first sample (default: 0)", 0, 3600},
      {"peer", 0, OPTION_TEXT, &w->peer, "cublasxt|blas|none",
       "measure a peer, too: cuBLASXt in turn with our calls, or the CPU's BLAS (default: none)"},
      {"peer-repeat", 0, OPTION_WHOLE, &w->peer_repeat, "N",
       "samples of the peer (default: 3; blas: as many as ours)", 1, BENCH_MOST_REPEATS},
      {"digest", 0, OPTION_FLAG, &w->digest, NULL,
       "print a number of 64 bits that two results have in common only if all their bits agree"},
      {"turn", 0, OPTION_TEXT, &w->turn, "NAME",
       "measure consecutive cases with the same NAME in turn"},
      {"strategy", 0, OPTION_TEXT, &w->strategy, "WORDS",
       "knobs of the plan to force (tessera knobs), between quotes"},
      SETTINGS_ENGINE(with),
      SETTINGS_DEVICES(with),
      SETTINGS_MACHINE(with),
      SETTINGS_MEMORY(with),
      SETTINGS_TILE(with),
      SETTINGS_ARITHMETIC(with),
      SETTINGS_REPRODUCIBLE(with),
      SETTINGS_CHECK(with),
      {0}};
  _Static_assert(sizeof rows <= BENCH_WORD_ROWS * sizeof *table, "more words than rows");
  memcpy(table, rows, sizeof rows);
}

static const char *const by_names[BENCH_BYS] = {"call", "plan", "async", "door"};

const char *bench_line_op(const bench_line *line) {
  return line->composed ? "composed" : tsr_operation_name(line->what.operation);
}

double bench_line_flops(const bench_line *line) {
  const tsr_level3 *w = &line->what;
  double flops = operation_flops(w->operation, w->type, w->m, w->n, w->k);
  if (line->composed) flops += operation_flops(TSR_TRSM, w->type, w->m, w->n, w->k);
  return flops;
}

void bench_line_shaping(const bench_line *line, char text[BENCH_SHAPING]) {
  bench_words words = line->words;
  option table[BENCH_WORD_ROWS];
  size_t used = 0;
  bench_words_table(&words, table);
  text[0] = '\0';
  for (const option *row = table; row->kind != OPTION_END && used < BENCH_SHAPING; row++) {
    bool no_tile = row->target == &words.settings.tile && words.settings.tile == 0;
    const char *value = no_tile ? NULL : options_value(row);
    if (!value || !options_named(row,
                                 "side uplo transa transb diag alpha beta by strategy memory "
                                 "tile arithmetic reproducible check"))
      continue;
    used += (size_t)snprintf(text + used, BENCH_SHAPING - used, "%s%s%s%s", used ? " " : "",
                             row->name, *value ? "=" : "", value);
  }
}

/* ---- Interpreting words ---- */

/* The number of devices that "4", "0,2", "2," or "..4" names; 0: the planner chooses. */
static int count_devices(const char *text) {
  int count = 1;
  if (!text || !*text) return 0;
  if (strncmp(text, "..", 2) == 0) text += 2;
  if (!strchr(text, ',')) return atoi(text);
  for (const char *comma = strchr(text, ','); comma && comma[1]; comma = strchr(comma + 1, ','))
    count++;
  return count;
}

/* Writes the homes as text. Device d becomes d modulo the number of devices, so that one list of
 * homes serves any number of them. */
static void print_homes(bench_line *line) {
  size_t used = 0;
  for (int i = 0; i < 3; i++) {
    home *h = &line->homes[i];
    if (h->kind == HOME_DEVICE && line->devices > 0) h->device %= line->devices;
    char *to = line->home + used;
    size_t room = sizeof line->home - used;
    const char *comma = i > 0 ? "," : "";
    used += (size_t)(h->kind == HOME_DEVICE
                         ? snprintf(to, room, "%s%d", comma, h->device)
                         : snprintf(to, room, "%s%c", comma, h->kind == HOME_PINNED ? 'h' : 'u'));
  }
}

/* Reads the homes: one for each operand of the operation, or three as for gemm. */
static int read_homes(bench_line *line) {
  const char *text = line->words.home ? line->words.home : "h";
  const char *operands = operation_get(line->what.operation)->operands, *comma = strchr(text, ',');
  bool two = comma && !strchr(comma + 1, ',') && strlen(operands) == 2;
  int code = two ? homes_parse_of(operands, text, HOME_PINNED, line->homes)
                 : homes_parse(text, HOME_PINNED, line->homes);
  if (!code) print_homes(line);
  return code;
}

static int read_by(bench_line *line) {
  const char *text = line->words.by ? line->words.by : by_names[BENCH_CALL];
  for (int i = 0; i < BENCH_BYS; i++) {
    line->by = (bench_by)i;
    if (strcmp(text, by_names[i]) == 0) return TOOL_OK;
  }
  return tool_usage("--by %s: must be call, plan, async or door", text);
}

static int read_peer(bench_line *line) {
  const char *peer = line->words.peer;
  line->peer = peer && strcmp(peer, "none") != 0 ? peer : NULL;
  if (line->peer && strcmp(peer, "cublasxt") != 0 && strcmp(peer, "blas") != 0)
    return tool_usage("--peer %s: must be cublasxt, blas or none", peer);
  if (!line->peer && line->words.peer_repeat >= 0)
    return tool_usage("--peer-repeat %lld: there is no peer; name one with --peer",
                      (long long)line->words.peer_repeat);
  return TOOL_OK;
}

/* Refuses words that would have no effect in this case. */
static int refuse(bench_line *line, bool predict) {
  bench_words *w = &line->words;
  if (w->repeat == 0 && w->warm_up >= 0)
    return tool_usage("--warm-up %lld: does nothing with --repeat 0, which takes the first call",
                      (long long)w->warm_up);
  option table[BENCH_WORD_ROWS];
  int code = TOOL_OK;
  bench_words_table(w, table);
  if (predict)
    code = options_refuse(table, BENCH_MEASURE_WORDS, "does nothing in a prediction; leave it out");
  if (!code && predict && !w->settings.machine)
    return tool_usage("--machine is needed for a prediction, such as machines/h200x8.json");
  if (!code && line->composed)
    code =
        options_refuse(table, "home side uplo transa transb diag alpha beta peer strategy sample",
                       "a composed case has no such choice; leave it out");
  if (!code && line->composed && (predict || line->by == BENCH_PLAN || line->by == BENCH_DOOR))
    return tool_usage("a composed case can only be measured, with by=call or by=async");
  if (!code && line->by == BENCH_DOOR)
    code = options_refuse(
        table, "engine devices machine memory strategy arithmetic reproducible check digest",
        "the door takes its settings from the environment; leave it out");
  if (!code && line->by == BENCH_DOOR && w->settings.tile > 0)
    return tool_usage("--tile: the door takes its settings from the environment; leave it out");
  if (!code && line->by == BENCH_DOOR && !strchr("sdcz", (char)line->what.type))
    return tool_usage("--by door: the BLAS has only the types s, d, c and z");
  return code;
}

static int read_scalars(bench_line *line) {
  const bench_words *w = &line->words;
  bool has_beta = strchr(operation_get(line->what.operation)->operands, 'C');
  line->alpha = line->beta = (scalar){1, 0};
  int code = w->alpha ? parse_scalar("--alpha", w->alpha, &line->alpha) : TOOL_OK;
  if (!code && w->beta && !has_beta)
    return tool_usage("--beta %s: %s has no beta; leave it out", w->beta, bench_line_op(line));
  return code || !w->beta ? code : parse_scalar("--beta", w->beta, &line->beta);
}

int bench_line_interpret(bench_line *line, bool predict) {
  const operation_words *words = &line->words.operation;
  int code = operation_refuse(words, line->what.operation);
  line->what.layout = TSR_COL_MAJOR;
  line->devices = count_devices(line->words.settings.devices);
  if (!code) code = operation_interpret(words, &line->what);
  if (!code) code = operation_check("TYPE", &line->what);
  if (!code) code = read_scalars(line);
  if (!code) code = read_homes(line);
  if (!code) code = read_by(line);
  if (!code) code = read_peer(line);
  if (!code) code = refuse(line, predict);
  operation_complete(&line->what);
  return code;
}

/* ---- Lines ---- */

static int parse_composed(const char *const *words, int count, tsr_level3 *what) {
  int code = count < 2 ? tool_usage("too few words: give composed TYPE N") : TOOL_OK;
  if (!code) code = parse_type("TYPE", words[1], &what->type);
  if (!code && (count != 3 || options_whole_list(words[2], &what->n, 1) != 1))
    code = tool_usage("composed TYPE N: give one extent, a whole number");
  if (!code && !strchr("sdcz", (char)what->type))
    code = tool_usage("TYPE %s: trsm takes s, d, c or z", words[1]);
  what->m = what->k = what->n;
  return code;
}

int bench_line_parse(const char *text, const bench_words *defaults, bool predict,
                     bench_line *line) {
  char *argv[MOST_WORDS + 1] = {(char *)"case"};
  const char *call[EXTENTS];
  int found;
  *line = (bench_line){.text = strdup(text), .words = *defaults};
  if (!line->text) return tool_fail("out of memory");
  option table[BENCH_WORD_ROWS];
  bench_words_table(&line->words, table);
  const option_command command = {
      "OP TYPE EXTENTS [WORD=VALUE...]", "", "", table, 1, EXTENTS, true};
  int count = options_split(line->text, argv + 1, MOST_WORDS);
  int code = count < 0 ? tool_usage("a quote is open, or there are more than %d words", MOST_WORDS)
                       : options_parse(&command, count + 1, argv, call, &found);
  if (code) return code == OPTIONS_HELPED ? tool_usage("a case cannot contain --help") : code;
  line->composed = strcmp(call[0], "composed") == 0;
  code = line->composed ? parse_composed(call, found, &line->what)
                        : operation_parse_call(call, found, &line->what);
  return code ? code : bench_line_interpret(line, predict);
}
