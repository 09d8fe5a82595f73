/* tessera plan: how a product would be done, without doing it. */
#include <stdlib.h>
#include <string.h>

#include "settings.h"

typedef struct plan_request {
  tsr_type type;
  tsr_layout layout;
  tsr_op transa, transb;
  int64_t m, n, k, ld[3]; /* ld 0: as small as can be */
  scalar alpha, beta;
  home homes[3];
  const char *timeline;
  bool json, commands, choi;
  settings settings;
} plan_request;

typedef struct plan_words {
  const char *alpha, *beta, *transa, *transb, *homes, *layout, *model;
} plan_words;

static int parse_extents(const char *const *words, plan_request *r) {
  int64_t *extents[3] = {&r->m, &r->n, &r->k};
  static const char *const names[3] = {"M", "N", "K"};
  for (int i = 0; i < 3; i++) {
    if (options_whole_list(words[i], extents[i], 1) != 1) {
      return tool_usage("%s '%s': not a whole number", names[i], words[i]);
    }
  }
  return TOOL_OK;
}

/* beta may also be "x": some value that is neither 0 nor 1. */
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
  if (r->choi || strcmp(text, "replay") == 0) return TOOL_OK;
  return tool_usage("--model %s: must be replay or choi", text);
}

static int interpret_words(const plan_words *words, plan_request *r) {
  tsr_format format;
  r->transa = r->transb = TSR_NO_TRANS;
  r->alpha = r->beta = (scalar){1, 0};
  int code = parse_layout(words->layout ? words->layout : "col", &r->layout);
  if (!code && words->alpha) code = parse_class("--alpha", words->alpha, &r->alpha);
  if (!code && words->beta) code = parse_class("--beta", words->beta, &r->beta);
  if (!code && words->transa) code = parse_op("--transa", words->transa, &r->transa);
  if (!code && words->transb) code = parse_op("--transb", words->transb, &r->transb);
  if (!code) code = homes_parse(words->homes ? words->homes : "h", HOME_PINNED, r->homes);
  if (!code && words->model) code = parse_model(words->model, r);
  if (!code && r->timeline) code = tool_timeline_format(r->timeline, &format);
  return code;
}

static int parse_request(int argc, char **argv, plan_request *r) {
  plan_words words = {0};
  const option table[] = {
      {"home", 0, OPTION_TEXT, &words.homes, "h,h,h",
       "where A,B,C are: h pinned host, u pageable host, m managed, 0.. a device"},
      {"transa", 0, OPTION_TEXT, &words.transa, "N|T|C",
       "A as it is, transposed, conjugate transposed"},
      {"transb", 0, OPTION_TEXT, &words.transb, "N|T|C", "the same for B"},
      {"layout", 0, OPTION_TEXT, &words.layout, "col|row", "column- or row-major (default: col)"},
      {"lda", 0, OPTION_WHOLE, &r->ld[0], "N", "leading dimension of A (default: the least)"},
      {"ldb", 0, OPTION_WHOLE, &r->ld[1], "N", "of B"},
      {"ldc", 0, OPTION_WHOLE, &r->ld[2], "N", "of C"},
      {"alpha", 0, OPTION_TEXT, &words.alpha, "0|1|x",
       "class of alpha; x is any other (default: 1)"},
      {"beta", 0, OPTION_TEXT, &words.beta, "0|1|x", "class of beta (default: 1)"},
      {"model", 0, OPTION_TEXT, &words.model, "replay|choi",
       "who chooses: plans in virtual time, or tiles by a formula (default: replay)"},
      {"commands", 0, OPTION_FLAG, &r->commands, NULL, "print every command of the plan"},
      {"timeline", 0, OPTION_TEXT, &r->timeline, "FILE",
       "write queues over time: .svg a picture, .json for Perfetto"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print for programs"},
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_DEVICES(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      SETTINGS_TILE(&r->settings),
      SETTINGS_REPRODUCIBLE(&r->settings),
      SETTINGS_CHECK(&r->settings),
      {0}};
  const option_command command = {
      "gemm TYPE M N K [options]",
      "Plans C = alpha op(A) op(B) + beta C and says how it would be done and how long it would\n"
      "take. No data is touched, and with --machine no device is needed.",
      "tessera plan gemm d 8192 8192 8192 --machine 'host:200 gpu*8@nvswitch:300 pcie:25/pair'",
      table,
      5,
      5};
  const char *arguments[5];
  int code = options_parse(&command, argc, argv, arguments, NULL);
  if (code != TOOL_OK) return code;
  if (strcmp(arguments[0], "gemm") != 0) {
    return tool_usage("cannot plan '%s'; gemm is what there is", arguments[0]);
  }
  code = parse_type("TYPE", arguments[1], &r->type);
  if (!code) code = parse_extents(arguments + 2, r);
  return code ? code : interpret_words(&words, r);
}

/* The least leading dimension of a matrix that op() makes rows x cols. */
static int64_t least_ld(tsr_layout layout, tsr_op op, int64_t rows, int64_t cols) {
  bool by_columns = layout == TSR_COL_MAJOR;
  int64_t ld = by_columns == (op == TSR_NO_TRANS) ? rows : cols;
  return ld > 1 ? ld : 1;
}

static void fill_lds(plan_request *r) {
  if (!r->ld[0]) r->ld[0] = least_ld(r->layout, r->transa, r->m, r->k);
  if (!r->ld[1]) r->ld[1] = least_ld(r->layout, r->transb, r->k, r->n);
  if (!r->ld[2]) r->ld[2] = least_ld(r->layout, TSR_NO_TRANS, r->m, r->n);
}

static int make_plan(const plan_request *r, tsr_context *context, tsr_plan **plan) {
  scalar_value alpha = scalar_for(r->type, r->alpha), beta = scalar_for(r->type, r->beta);
  tsr_home homes[3];
  for (int i = 0; i < 3; i++) homes[i] = home_for_library(r->homes[i]);
  return tool_status(tsr_plan_gemm(context, r->type, r->layout, r->transa, r->transb, r->m, r->n,
                                   r->k, &alpha, r->ld[0], r->ld[1], &beta, r->ld[2], homes, plan));
}

/* Tiles of the size that the formula of Choi et al. gives; k is the length of their bands. */
static int force_choi_tiles(const plan_request *r, tsr_context *context) {
  int64_t tile;
  char recipe[64];
  int code = tool_status(tsr_plan_choi_tile(context, r->type, r->k > 0 ? r->k : 1, 0, &tile));
  if (code != TOOL_OK) return code;
  if (!r->json) printf("model choi: tiles of %lld\n\n", (long long)tile);
  snprintf(recipe, sizeof recipe, "tile=%lld chunk=0,0,0 taper=0", (long long)tile);
  return tool_status(tsr_set_recipe(context, recipe));
}

static int show_plan(const plan_request *r, const tsr_plan *plan) {
  int code = tool_print_plan(plan, r->json ? TSR_JSON : TSR_TEXT);
  if (code == TOOL_OK && r->commands && !r->json) {
    printf("\n");
    code = tool_print_plan(plan, TSR_COMMANDS);
  }
  if (code == TOOL_OK && r->timeline) code = tool_write_timeline(plan, r->timeline);
  return code;
}

int command_plan(int argc, char **argv) {
  plan_request request = {0};
  int code = parse_request(argc, argv, &request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code != TOOL_OK) return code;
  fill_lds(&request);
  tsr_context *context = NULL;
  tsr_plan *plan = NULL;
  code = settings_open(&request.settings, &context);
  if (!code && request.choi) code = force_choi_tiles(&request, context);
  if (!code) code = make_plan(&request, context, &plan);
  if (!code) code = show_plan(&request, plan);
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  return code;
}
