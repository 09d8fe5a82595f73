/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera plan: plans an operation and prints the plan, without running it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "operation.h"
#include "progress.h"
#include "tessera_papers.h"
#include "timeline.h"

typedef struct plan_request {
  tsr_level3 what;
  scalar alpha, beta;
  home homes[3];
  output timeline, picture;
  bool force, json, alone, details, commands, choi, uncut, paper, parsec;
  settings settings;
  tsr_choi_model choi_model;   /* of --model choi */
  tsr_uncut_model uncut_model; /* of --model uncut */
  tsr_parsec_cut parsec_cut;   /* of --model parsec */
  int64_t rule;                /* the tile of the model's own rule, whatever --tile says */
} plan_request;

typedef struct plan_words {
  operation_words operation;
  const char *alpha, *beta, *homes, *layout, *model;
  int64_t ld[3]; /* of A, B, C; 0: the smallest possible */
} plan_words;

/* Reads alpha or beta, which may also be "x": a value that is neither 0 nor 1. */
static int parse_class(const char *name, const char *text, scalar *value) {
  if (strcmp(text, "x") == 0) {
    *value = (scalar){0.5, 0};
    return TOOL_OK;
  }
  return parse_scalar(name, text, value);
}

static int parse_layout(const char *text, tsr_layout *layout) {
  if (strcmp(text, "col") != 0 && strcmp(text, "row") != 0) {
    return tool_usage("--layout %s: must be col or row", text);
  }
  *layout = text[0] == 'c' ? TSR_COL_MAJOR : TSR_ROW_MAJOR;
  return TOOL_OK;
}

static int parse_model(const char *text, plan_request *r) {
  r->choi = strcmp(text, "choi") == 0;
  r->uncut = strcmp(text, "uncut") == 0;
  r->parsec = strcmp(text, "parsec") == 0;
  if ((r->choi || r->uncut || r->parsec) && r->what.operation != TSR_GEMM) {
    return tool_usage("--model %s: its formula is for gemm; leave it out", text);
  }
  r->paper = strcmp(text, "paper") == 0;
  if (r->choi || r->uncut || r->parsec || r->paper || strcmp(text, "replay") == 0) return TOOL_OK;
  return tool_usage("--model %s: must be replay, choi, uncut, parsec or paper", text);
}

/* Sets the leading dimensions. tsr_level3 has that of the written operand in ldc, also where that
 * operand is B (trmm, trsm). */
static int interpret_lds(const plan_words *words, tsr_level3 *what) {
  const char *operands = operation_get(what->operation)->operands;
  int64_t *const lds[3] = {&what->lda, &what->ldb, &what->ldc};
  for (int i = 0; i < 3; i++) {
    const char *place = strchr(operands, 'A' + i);
    if (!words->ld[i]) continue;
    if (!place) {
      return tool_usage("--ld%c %lld: %s has no %c; leave it out", 'a' + i, (long long)words->ld[i],
                        tsr_operation_name(what->operation), 'A' + i);
    }
    *lds[place[1] ? i : 2] = words->ld[i];
  }
  return TOOL_OK;
}

static int interpret_scalars(const plan_words *words, plan_request *r) {
  int code = TOOL_OK;
  r->alpha = r->beta = (scalar){1, 0};
  if (words->alpha) code = parse_class("--alpha", words->alpha, &r->alpha);
  if (code || !words->beta) return code;
  if (!strchr(operation_get(r->what.operation)->operands, 'C')) {
    return tool_usage("--beta %s: %s has no beta; leave it out", words->beta,
                      tsr_operation_name(r->what.operation));
  }
  return parse_class("--beta", words->beta, &r->beta);
}

static int interpret_words(const plan_words *words, plan_request *r) {
  tsr_format format;
  const char *operands = operation_get(r->what.operation)->operands;
  int code = parse_layout(words->layout ? words->layout : "col", &r->what.layout);
  if (!code) code = interpret_scalars(words, r);
  if (!code) code = operation_refuse(&words->operation, r->what.operation);
  if (!code) code = operation_interpret(&words->operation, &r->what);
  if (!code) code = operation_check("TYPE", &r->what);
  if (!code) code = interpret_lds(words, &r->what);
  if (!code) {
    code = homes_parse_planned(operands, words->homes ? words->homes : "h", HOME_PINNED, r->homes);
  }
  if (!code && words->model) code = parse_model(words->model, r);
  if (!code && r->timeline.path) code = timeline_format(r->timeline.path, &format);
  const char *inputs[] = {r->settings.machine, NULL};
  const output outputs[] = {r->timeline, r->picture};
  return code ? code : output_check(outputs, 2, inputs, r->force);
}

static int parse_request(int argc, char **argv, plan_request *r) {
  plan_words words = {0};
  const option table[] = {
      {"home", 0, OPTION_TEXT, &words.homes, "h,h,h",
       "where each operand is, or all: " HOMES_PLANNED " (default: h)"},
      OPERATION_SIDE(&words.operation),
      OPERATION_UPLO(&words.operation),
      OPERATION_TRANSA(&words.operation),
      OPERATION_TRANSB(&words.operation),
      OPERATION_DIAG(&words.operation),
      {"layout", 0, OPTION_TEXT, &words.layout, "col|row", "column- or row-major (default: col)"},
      {"lda", 0, OPTION_WHOLE, &words.ld[0], "N", "leading dimension of A (default: the least)"},
      {"ldb", 0, OPTION_WHOLE, &words.ld[1], "N", "of B"},
      {"ldc", 0, OPTION_WHOLE, &words.ld[2], "N", "of C"},
      {"alpha", 0, OPTION_TEXT, &words.alpha, "0|1|x",
       "class of alpha; x is any other (default: 1)"},
      {"beta", 0, OPTION_TEXT, &words.beta, "0|1|x", "class of beta (default: 1)"},
      {"model", 0, OPTION_TEXT, &words.model, "replay|choi|uncut|parsec|paper",
       "replay: plans replayed in virtual time decide; choi: the algorithm of Choi et al. with "
       "tiles "
       "by their model, whose times stand beside the replay's; uncut: square tiles by the "
       "penalties of Anastasiadis et al.; parsec: C blocks, k-panels and lookahead by the rules of "
       "Herault et al., with loads beside their equation (1); "
       "paper: as replay, with loads beside equation (1) of Herault et al. (default: replay)"},
      {"commands", 0, OPTION_FLAG, &r->commands, NULL, "print every command of the plan"},
      {"timeline", 0, OPTION_TEXT, &r->timeline.path, "FILE",
       "write queues over time: .svg a picture, .json for Perfetto"},
      {"machine-svg", 0, OPTION_TEXT, &r->picture.path, "FILE",
       "draw the machine, coloured by how busy the plan keeps each part"},
      {"details", 0, OPTION_FLAG, &r->details, NULL, "print cuts, links, channels and memory, too"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print JSON"},
      {"alone", 0, OPTION_FLAG, &r->alone, NULL,
       "with --json: plan no alternatives for the verdict, which takes less time"},
      OUTPUT_FORCE(&r->force),
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_DEVICES(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      SETTINGS_TILE(&r->settings),
      SETTINGS_ARITHMETIC(&r->settings),
      SETTINGS_REPRODUCIBLE(&r->settings),
      SETTINGS_CHECK(&r->settings),
      {0}};
  static const option_mode modes[] = {
      {"json", NULL, "commands details model=paper", "JSON has that always; leave it out"},
      {"!json", NULL, "alone", NULL},
      {"!timeline machine-svg", NULL, "force", "no file is written; leave it out"},
      {"engine=cpu", "machine",
       "devices memory tile arithmetic reproducible check timeline machine-svg",
       "there are no devices; leave it out, or name a --machine"},
      {0}};
  const option_command command = {
      "OP TYPE EXTENTS [options]",
      "Plans a level-3 operation and prints the plan and its predicted time. No data is touched,\n"
      "and with --machine no device is needed. Operations and their extents:\n\n"
      "  gemm M N K            C = alpha op(A) op(B) + beta C\n"
      "  gemmt N K             the same, one triangle of C\n"
      "  symm, hemm M N        C = alpha A B + beta C, A symmetric or Hermitian\n"
      "  syrk, herk N K        C = alpha A A^T + beta C, one triangle\n"
      "  syr2k, her2k N K      C = alpha A B^T + alpha B A^T + beta C, one triangle\n"
      "  trmm, trsm M N        B = alpha op(A) B, op(A) X = alpha B, A triangular\n\n"
      "Across processes: tessera plan pgemm --help.",
      "tessera plan gemm d 8192 8192 8192 --machine 'host:200 gpu*8@nvswitch:300 pcie:25/pair'\n"
      "  tessera plan trsm d 16384 8192 --uplo upper --home h,0 --machine 'host:200 "
      "gpu*4@nvlink:300'",
      table,
      1,
      5,
      .modes = modes};
  const char *arguments[5];
  int count;
  int code = options_parse(&command, argc, argv, arguments, &count);
  if (code != TOOL_OK) return code;
  code = operation_parse_call(arguments, count, &r->what);
  return code ? code : interpret_words(&words, r);
}

static int make_plan(const plan_request *r, tsr_context *context, tsr_plan **plan) {
  tsr_type type = r->what.type;
  scalar_value alpha = scalar_for(type, r->alpha), beta = scalar_for(type, r->beta);
  tsr_home homes[3];
  progress shown;
  for (int i = 0; i < 3; i++) homes[i] = home_for_library(r->homes[i]);
  progress_open(&shown, false);
  progress_phase(&shown, "planning", 0);
  tsr_status status = tsr_plan_level3(context, &r->what, &alpha, &beta, homes, plan);
  progress_close(&shown);
  return tool_status(status);
}

/* Refuses a call that the model of Choi et al. is not for: it has square matrices on devices. */
static int check_choi(const plan_request *r) {
  const tsr_level3 *what = &r->what;
  if (what->m != what->n || what->n != what->k) {
    return tool_usage(
        "--model choi: it is for square matrices, not %lld x %lld x %lld; give three "
        "equal extents, or leave it out",
        (long long)what->m, (long long)what->n, (long long)what->k);
  }
  for (int i = 0; i < 3; i++) {
    if (r->homes[i].kind != HOME_DEVICE) {
      return tool_usage(
          "--model choi: it is for matrices on devices, and %c is in host memory; give "
          "--home 0 or such, or leave it out",
          'A' + i);
    }
  }
  return TOOL_OK;
}

static int refuse_small(const plan_request *r, int devices) {
  long long tile = (long long)r->choi_model.tile, least = tile * devices;
  if (least <= r->what.n) return TOOL_OK;
  return tool_usage(
      "--model choi: tiles of %lld on %d device%s need extents of %lld or more, not "
      "%lld; give larger ones, or leave it out",
      tile, devices, devices == 1 ? "" : "s", least, (long long)r->what.n);
}

/* Forces the algorithm of Choi et al. with tiles of --tile, or of the extent that their rule gives:
 * a device holds two bands of A and of B, and takes each from its home. */
static int force_choi(plan_request *r, tsr_context *context, int devices) {
  char strategy[96];
  tsr_choi_model *m = &r->choi_model;
  int code = check_choi(r);
  if (!code) code = tool_status(tsr_plan_choi(context, r->what.type, r->what.n, 0, devices, m));
  r->rule = m->tile;
  if (!code && r->settings.tile > 0) {
    code =
        tool_status(tsr_plan_choi(context, r->what.type, r->what.n, r->settings.tile, devices, m));
  }
  if (!code) code = refuse_small(r, devices);
  if (code) return code;
  snprintf(strategy, sizeof strategy,
           "bands grid=%dx1 tile=%lld held=2 route=home relay=no order=given", devices,
           (long long)m->tile);
  return tool_status(tsr_set_strategy(context, strategy));
}

/* Forces square tiles of --tile, or of the extent that the penalties of Anastasiadis et al. give,
 * on the grid that they are for. */
static int force_uncut(plan_request *r, tsr_context *context, int devices) {
  char strategy[64];
  const tsr_level3 *what = &r->what;
  tsr_uncut_model *m = &r->uncut_model;
  int code = tool_status(tsr_plan_uncut(what->m, what->n, what->k, devices, 0, m));
  r->rule = m->tile;
  if (!code && r->settings.tile > 0) {
    code = tool_status(tsr_plan_uncut(what->m, what->n, what->k, devices, r->settings.tile, m));
  }
  if (code) return code;
  snprintf(strategy, sizeof strategy, "tiles grid=%dx%d tile=%lld", m->grid_rows, m->grid_cols,
           (long long)m->tile);
  return tool_status(tsr_set_strategy(context, strategy));
}

/* Forces the blocks of C, the chunks and the lookahead of Herault et al., with square tiles of
 * --tile or of the extent that they chose, on a grid of one row: devices share the columns of a
 * block. */
static int force_parsec(plan_request *r, tsr_context *context, int devices) {
  enum { TILE = 1024 }; /* their section V-A: from here on the rate is at its plateau */
  char strategy[128];
  const tsr_level3 *what = &r->what;
  tsr_parsec_cut *cut = &r->parsec_cut;
  int64_t tile = r->settings.tile > 0 ? r->settings.tile : TILE;
  int code = tool_status(
      tsr_plan_parsec(context, what->type, what->m, what->n, what->k, tile, devices, 0, cut));
  if (code) return code;
  int used = snprintf(strategy, sizeof strategy, "tiles grid=1x%d tile=%lld even=no", devices,
                      (long long)tile);
  if (!cut->everything)
    snprintf(strategy + used, sizeof strategy - (size_t)used,
             " cblock=%lld,%lld depth=%lld lookahead=%d", (long long)cut->b,
             (long long)((cut->c + devices - 1) / devices), (long long)cut->d,
             100 * cut->lookahead);
  return tool_status(tsr_set_strategy(context, strategy));
}

/* Refuses a product that is to be emulated, if the model has square tiles: these are native. */
static int refuse_emulated(const plan_request *r, tsr_context *context) {
  tsr_emulation_way how;
  const tsr_level3 *what = &r->what;
  int code =
      tool_status(tsr_emulation_find(context, what->type, what->m, what->n, what->k, 1, &how));
  if (code || how.products == NULL || how.faster) return code;
  return tool_usage("--model %s: its tiles are native, and the product is to be %s; leave one out",
                    r->parsec ? "parsec" : "uncut", how.arithmetic);
}

/* Forces what the model of a paper chooses, if --model names one. */
static int force_model(plan_request *r, tsr_context *context) {
  tsr_context_facts facts;
  if (!r->choi && !r->uncut && !r->parsec) return TOOL_OK;
  int code = tool_status(tsr_context_describe(context, &facts));
  if (code) return code;
  if (facts.devices == 0)
    return tool_usage("--model: there is no device; give --machine, or leave it out");
  if (!r->choi) code = refuse_emulated(r, context);
  if (code) return code;
  return (r->choi ? force_choi : r->uncut ? force_uncut : force_parsec)(r, context, facts.devices);
}

static int write_picture(const plan_request *r, const tsr_plan *plan) {
  char *text = NULL;
  int code = tool_status(tsr_plan_print(plan, TSR_MACHINE_SVG, &text));
  if (code == TOOL_OK) code = output_write(&r->picture, text, r->force);
  free(text);
  return code;
}

/* The first line of the text: what was asked for. */
static int show_call(const tsr_plan *plan) {
  char *text = NULL;
  int code = tool_status(tsr_plan_print(plan, TSR_TEXT, &text));
  if (code == TOOL_OK) printf("%.*s\n", (int)strcspn(text, "\n"), text);
  free(text);
  return code;
}

/* A time with as many digits as it is worth. */
static double worth(double seconds, int digits) {
  if (!(seconds > 0) || digits > 2) return seconds;
  double unit = pow(10, floor(log10(seconds)) - 1);
  return round(seconds / unit) * unit;
}

/* How the call is done, in a line. written: the routine's name of the matrix that is cut. */
static void show_choice(const tsr_prediction *p, char written) {
  printf("%s predicted on ", tool_seconds(worth(p->seconds, p->digits)));
  if (p->devices == 0) {
    printf("the CPU\n");
    return;
  }
  printf("%d GPU%s", p->devices, p->devices == 1 ? "" : "s");
  if (p->slices > 0)
    printf(", k in %d slices", p->slices);
  else if (p->devices > 1)
    printf(", %c in %d x %d parts", written, p->grid_rows, p->grid_cols);
  if (p->device_memory > 0) printf("; %s on each", tool_bytes((double)p->device_memory));
  if (p->staging_memory > 0) printf(", %s staging", tool_bytes((double)p->staging_memory));
  printf("\n");
}

static void show_time(const char *equation, const char *what, double seconds) {
  printf("  %-5s %-44s %s\n", equation, what, tool_seconds(seconds));
}

/* The model of Choi et al. beside the replay of the plan. */
static void show_choi(const tsr_choi_model *m, double replayed) {
  bool intense = m->intensity > m->balance;
  printf("model choi: tiles of %lld\n\n", (long long)m->tile);
  printf("  %-5s %-44s %.4g\n", "(2)", "k_BW, flops a byte", m->balance);
  printf("  %-5s %-44s %.4g\n", "(3)", "intensity of a kernel, flops a byte", m->intensity);
  printf("  %-5s %-44s %.4g\n", "(4)", "N_i exceeds, for kernels bound by arithmetic",
         m->least_intense);
  printf("  %-5s %-44s %.4g\n", intense ? "(12)" : "(13)", "N_i exceeds, for bands to come in time",
         intense ? m->least_math : m->least_memory);
  show_time("(6)", "T_math", m->math);
  show_time("(6)", "T_mem", m->memory);
  show_time("", "T_instructions", m->instructions);
  show_time("(1)", "T_GEMM", m->gemm);
  show_time("(9)", "T_transfer", m->transfer);
  show_time("(7)", "T_kernel", m->kernel);
  show_time("(8)", "T_task, of N / (N_i devices) kernels", m->task);
  show_time(intense ? "(14)" : "(15)", "T_task, if only kernels bind", m->task_closed);
  show_time("", "T_task, of (N / N_i)^2 / devices kernels", m->task_of_all);
  show_time("", "the plan below, replayed", replayed);
  printf("\n");
}

static int show_verdict(const plan_request *r, const tsr_plan *plan) {
  const char *operands = operation_get(r->what.operation)->operands;
  tsr_prediction prediction;
  int code = show_call(plan);
  if (code == TOOL_OK) code = tool_status(tsr_plan_predict(plan, &prediction));
  if (code != TOOL_OK) return code;
  show_choice(&prediction, operands[strlen(operands) - 1]);
  return tool_print_plan(plan, TSR_VERDICT);
}

static void show_uncut(const tsr_uncut_model *m) {
  printf("model uncut: tiles of %lld on a grid of %d x %d\n\n", (long long)m->tile, m->grid_rows,
         m->grid_cols);
  printf("  padding %.4f + overlap %.4f + latency %.4f = %.4f\n\n", m->padding, m->overlap,
         m->latency, m->total);
}

static void show_parsec(const tsr_parsec_cut *cut) {
  printf("model parsec: tiles of %lld (t); ", (long long)cut->tile);
  if (cut->everything)
    printf("everything fits, so nothing is cut\n\n");
  else
    printf(
        "%lld x %lld blocks of C of %lld x %lld tiles (X x Y; b x c),\n"
        "%lld chunks of %lld tiles (Z; d), %d on their way (l)\n\n",
        (long long)cut->down, (long long)cut->across, (long long)cut->b, (long long)cut->c,
        (long long)cut->chunks, (long long)cut->d, cut->lookahead);
}

static int show_text(const plan_request *r, const tsr_plan *plan) {
  tsr_prediction prediction;
  int code = r->choi ? tool_status(tsr_plan_predict(plan, &prediction)) : TOOL_OK;
  if (r->choi && code == TOOL_OK) show_choi(&r->choi_model, prediction.seconds);
  if (r->uncut) show_uncut(&r->uncut_model);
  if (r->parsec) show_parsec(&r->parsec_cut);
  if (code == TOOL_OK) code = show_verdict(r, plan);
  if (code != TOOL_OK || !r->details) return code;
  printf("\n");
  return tool_print_plan(plan, TSR_TEXT);
}

static void show_json_of_choi(const plan_request *r) {
  const tsr_choi_model *m = &r->choi_model;
  printf(
      "{\n  \"choi\": {\"tile\": %lld, \"rule\": %lld, \"k_bw\": %.9g, \"intensity\": %.9g, "
      "\"least_math\": %.9g, \"least_memory\": %.9g,\n"
      "    \"math_s\": %.9g, \"memory_s\": %.9g, \"instructions_s\": %.9g, \"gemm_s\": %.9g,\n"
      "    \"transfer_s\": %.9g, \"kernel_s\": %.9g, \"task_s\": %.9g, \"task_closed_s\": %.9g, "
      "\"task_of_all_s\": %.9g},",
      (long long)m->tile, (long long)r->rule, m->balance, m->intensity, m->least_math,
      m->least_memory, m->math, m->memory, m->instructions, m->gemm, m->transfer, m->kernel,
      m->task, m->task_closed, m->task_of_all);
}

static void show_json_of_uncut(const plan_request *r) {
  const tsr_uncut_model *m = &r->uncut_model;
  printf(
      "{\n  \"uncut\": {\"tile\": %lld, \"rule\": %lld, \"grid\": [%d, %d], \"padding\": %.9g, "
      "\"overlap\": %.9g, \"latency\": %.9g, \"total\": %.9g},",
      (long long)m->tile, (long long)r->rule, m->grid_rows, m->grid_cols, m->padding, m->overlap,
      m->latency, m->total);
}

static void show_json_of_parsec(const tsr_parsec_cut *cut) {
  printf(
      "{\n  \"parsec\": {\"tile\": %lld, \"b\": %lld, \"c\": %lld, \"d\": %lld, \"l\": %d, "
      "\"x\": %lld, \"y\": %lld, \"z\": %lld, \"everything\": %s},",
      (long long)cut->tile, (long long)cut->b, (long long)cut->c, (long long)cut->d, cut->lookahead,
      (long long)cut->down, (long long)cut->across, (long long)cut->chunks,
      cut->everything ? "true" : "false");
}

/* The plan's object; --model choi, uncut or parsec adds a member, which comes first. */
static int show_json(const plan_request *r, const tsr_plan *plan) {
  char *text = NULL;
  bool more = r->choi || r->uncut || r->parsec;
  int code = tool_status(tsr_plan_print(plan, r->alone ? TSR_JSON_ALONE : TSR_JSON, &text));
  if (code == TOOL_OK && r->choi) show_json_of_choi(r);
  if (code == TOOL_OK && r->uncut) show_json_of_uncut(r);
  if (code == TOOL_OK && r->parsec) show_json_of_parsec(&r->parsec_cut);
  if (code == TOOL_OK) fputs(text + more, stdout);
  free(text);
  return code;
}

static int show_plan(const plan_request *r, const tsr_plan *plan) {
  int code = r->json ? show_json(r, plan) : show_text(r, plan);
  if (code == TOOL_OK && r->commands && !r->json) {
    printf("\n");
    code = tool_print_plan(plan, TSR_COMMANDS);
  }
  if (code == TOOL_OK && (r->paper || r->parsec) && !r->json) {
    printf("\n");
    code = tool_print_plan(plan, TSR_LOADS);
  }
  if (code != TOOL_OK) return code;
  int drawn = r->timeline.path ? timeline_write(plan, &r->timeline, r->force) : TOOL_OK;
  int pictured = r->picture.path ? write_picture(r, plan) : TOOL_OK;
  return drawn ? drawn : pictured;
}

int command_plan(int argc, char **argv) {
  plan_request request = {.timeline = {"--timeline", NULL, OUTPUT_TEXT},
                          .picture = {"--machine-svg", NULL, OUTPUT_TEXT}};
  if (argc > 1 && strcmp(argv[1], "pgemm") == 0) return plan_pgemm(argc - 1, argv + 1);
  int code = parse_request(argc, argv, &request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code != TOOL_OK) return code;
  operation_complete(&request.what);
  tsr_context *context = NULL;
  tsr_plan *plan = NULL;
  code = settings_open(&request.settings, &context);
  if (!code) code = force_model(&request, context);
  if (!code) code = make_plan(&request, context, &plan);
  if (!code) code = show_plan(&request, plan);
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  return code;
}
