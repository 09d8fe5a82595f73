/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera plan pgemm: plans a product across processes on any grid, without starting processes. */
#include <stdlib.h>
#include <string.h>

#include "pgemm.h"
#include "timeline.h"

typedef struct plan_request {
  tsr_type type;
  tsr_op transa, transb;
  int64_t extents[3], grid[2], block;
  double beta;
  cut_options cut;
  bool json, details, commands, force;
  output timeline;
  settings settings;
} plan_request;

typedef struct plan_words {
  const char *grid, *transa, *transb, *beta;
} plan_words;

static int parse_beta(const char *text, double *beta) {
  *beta = text[0] == '0' ? 0 : text[0] == '1' ? 1 : 0.5;
  if (strchr("01x", text[0]) && text[0] && !text[1]) return TOOL_OK;
  return tool_usage("--beta %s: must be 0, 1 or x (any other)", text);
}

/* Refuses what an emulated product does not have: panels, blocks, and C that comes down from a
 * device while panels go on. */
static int refuse_cuts(const plan_request *r) {
  const cut_options *o = &r->cut;
  const struct {
    bool set;
    const char *name;
  } cuts[] = {{o->cut != NULL, "cut"},
              {o->depth > 0, "depth"},
              {o->lookahead > 0, "lookahead"},
              {o->blocks != NULL, "blocks"},
              {o->down > 0, "down"}};
  if (!r->settings.arithmetic || strncmp(r->settings.arithmetic, "emulated", 8) != 0)
    return TOOL_OK;
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
    if (cuts[i].set)
      return tool_usage(
          "--%s: an emulated product has whole rows and columns, which are not cut; leave it out, "
          "or --arithmetic %s",
          cuts[i].name, r->settings.arithmetic);
  return TOOL_OK;
}

static int interpret(const plan_words *words, plan_request *r) {
  if (!words->grid) return tool_usage("no grid of processes is given; give --grid 2x3");
  int code = parse_pair("--grid", words->grid, r->grid);
  if (!code && words->transa) code = parse_op("--transa", words->transa, &r->transa);
  if (!code && words->transb) code = parse_op("--transb", words->transb, &r->transb);
  if (!code) code = parse_beta(words->beta ? words->beta : "0", &r->beta);
  for (int i = 0; i < 2 && !code; i++)
    if (r->grid[i] > 1 << 20)
      code = tool_usage("--grid %s: must be at most 1048576 each", words->grid);
  if (!code && r->block < 1) code = tool_usage("--block: must be 1 or more");
  if (!code && r->timeline.path) code = timeline_is_json(r->timeline.path);
  if (!code) code = cut_check(&r->cut);
  if (!code) code = refuse_cuts(r);
  const char *inputs[] = {r->settings.machine, NULL};
  return code ? code : output_check(&r->timeline, 1, inputs, r->force);
}

static int parse_request(int argc, char **argv, plan_request *r) {
  plan_words words = {0};
  const option table[] = {
      {"grid", 0, OPTION_TEXT, &words.grid, "PxQ", "rows x columns of processes (needed)"},
      {"block", 0, OPTION_WHOLE, &r->block, "N",
       "extent of the blocks in which matrices are distributed (default: 256)"},
      {"transa", 0, OPTION_TEXT, &words.transa, "N|T|C", "use A, transposed, conjugate transposed"},
      {"transb", 0, OPTION_TEXT, &words.transb, "N|T|C", "the same for B"},
      {"beta", 0, OPTION_TEXT, &words.beta, "0|1|x", "class of beta (default: 0)"},
      CUT_OPTIONS(&r->cut),
      {"up", 0, OPTION_NUMBER, &r->cut.up, "GB/S",
       "predict for panels that travel by NCCL, from host memory to a device at this rate"},
      {"down", 0, OPTION_NUMBER, &r->cut.down, "GB/S",
       "with --up: rate at which a process writes C back to host memory while all do "
       "(default: the machine's)"},
      {"commands", 0, OPTION_FLAG, &r->commands, NULL, "print every step of the schedule"},
      {"timeline", 0, OPTION_TEXT, &r->timeline.path, "FILE.json",
       "write a process's steps over time, for Perfetto"},
      {"details", 0, OPTION_FLAG, &r->details, NULL, "print times, bytes and cuts, too"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print JSON"},
      OUTPUT_FORCE(&r->force),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_DEVICES(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      SETTINGS_TILE(&r->settings),
      SETTINGS_ARITHMETIC(&r->settings),
      {0}};
  static const option_mode modes[] = {
      CUT_MODE,
      {"cut=paper", NULL, "arithmetic=emulated",
       "an emulated product has whole rows and columns, which are not cut; leave one of them out"},
      {"json", NULL, "commands details", "JSON has times, bytes and cuts always; leave it out"},
      {"!timeline", NULL, "force", "no file is written; leave it out"},
      {"!up", NULL, "down", "give --up, too"},
      {0}};
  const option_command command = {
      "TYPE M N K --grid PxQ [options]",
      "Plans C = op(A) op(B) + beta C over P x Q processes and predicts its time. No data, no MPI\n"
      "and no device is used. --machine describes the machine of one process.",
      "tessera plan pgemm d 200000 200000 200000 --grid 6x6 --machine machines/v100x3-summit.json",
      table,
      4,
      4,
      .modes = modes};
  const char *arguments[4];
  int code = options_parse(&command, argc, argv, arguments, NULL);
  if (code != TOOL_OK) return code;
  code = parse_type("TYPE", arguments[0], &r->type);
  for (int i = 0; i < 3 && !code; i++)
    if (options_whole_list(arguments[1 + i], &r->extents[i], 1) != 1)
      code = tool_usage("%c '%s': not a whole number; write it as 10000, 10k or 1e4", "MNK"[i],
                        arguments[1 + i]);
  return code ? code : interpret(&words, r);
}

static tsr_pmatrix matrix(tsr_grid *grid, const plan_request *r, tsr_op op, int64_t rows,
                          int64_t cols) {
  bool turned = op != TSR_NO_TRANS;
  return (tsr_pmatrix){.grid = grid,
                       .type = r->type,
                       .m = turned ? cols : rows,
                       .n = turned ? rows : cols,
                       .mb = r->block,
                       .nb = r->block,
                       .ld = 1};
}

static int make_plan(const plan_request *r, tsr_grid *grid, tsr_pplan **plan) {
  int64_t m = r->extents[0], n = r->extents[1], k = r->extents[2];
  scalar_value one = scalar_for(r->type, (scalar){1, 0}),
               beta = scalar_for(r->type, (scalar){r->beta, 0});
  tsr_pmatrix a = matrix(grid, r, r->transa, m, k), b = matrix(grid, r, r->transb, k, n);
  tsr_pmatrix c = matrix(grid, r, TSR_NO_TRANS, m, n);
  return tool_status(tsr_pgemm_plan(grid, r->transa, r->transb, m, n, k, &one, &a, 0, 0, &b, 0, 0,
                                    &beta, &c, 0, 0, plan));
}

static int print(const tsr_pplan *plan, tsr_format format) {
  char *text = NULL;
  int code = tool_status(tsr_pplan_print(plan, format, &text));
  if (!code) fputs(text, stdout);
  free(text);
  return code;
}

static int write_timeline(const plan_request *r, const tsr_pplan *plan) {
  char *text = NULL;
  int code = tool_status(tsr_pplan_print(plan, TSR_TIMELINE_JSON, &text));
  if (!code) code = output_write(&r->timeline, text, r->force);
  free(text);
  return code;
}

/* The first line of the text, which is what was asked for, and the verdict; --details: all. */
static int show_text(const plan_request *r, const tsr_pplan *plan) {
  char *text = NULL;
  int code = tool_status(tsr_pplan_print(plan, TSR_TEXT, &text));
  if (!code) printf("%.*s\n", (int)strcspn(text, "\n"), text);
  if (!code) code = print(plan, TSR_VERDICT);
  if (!code && r->details) printf("\n%s", text + strcspn(text, "\n") + 1);
  free(text);
  return code;
}

static int show(const plan_request *r, const tsr_pplan *plan) {
  int code = r->json ? print(plan, TSR_JSON) : show_text(r, plan);
  if (!code && r->commands && !r->json) {
    printf("\n");
    code = print(plan, TSR_COMMANDS);
  }
  return code || !r->timeline.path ? code : write_timeline(r, plan);
}

int pgemm_plan(int argc, char **argv) {
  plan_request r = {.transa = TSR_NO_TRANS,
                    .transb = TSR_NO_TRANS,
                    .block = 256,
                    .timeline = {"--timeline", NULL, OUTPUT_TEXT}};
  int code = parse_request(argc, argv, &r);
  if (code) return code == OPTIONS_HELPED ? TOOL_OK : code;
  tsr_context *context = NULL;
  tsr_grid *grid = NULL;
  tsr_pplan *plan = NULL;
  r.settings.engine = "cpu"; /* opens no devices, since it only plans */
  code = settings_open(&r.settings, &context);
  if (!code) code = tool_status(tsr_grid_imagine(context, (int)r.grid[0], (int)r.grid[1], &grid));
  if (!code) cut_warn(&r.cut, r.extents, r.grid);
  if (!code) code = cut_apply(&r.cut, grid);
  if (!code) code = make_plan(&r, grid, &plan);
  if (!code) code = show(&r, plan);
  tsr_pplan_destroy(plan);
  tsr_grid_destroy(grid);
  tsr_context_destroy(context);
  return code;
}
