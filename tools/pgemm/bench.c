/* tessera bench pgemm: chooses between predicting and measuring, and reads the options. */
#include <string.h>

#include "predict.h"

typedef struct bench_words {
  const char *type, *grids, *lookaheads, *networks, *cut;
} bench_words;

static int parse_grids(const char *text, predict_request *r) {
  for (const char *at = text;;) {
    char one[32];
    size_t length = strcspn(at, ",");
    if (r->grid_count == PREDICT_GRIDS) return tool_usage("--grids: at most %d", PREDICT_GRIDS);
    if (length >= sizeof one) return tool_usage("--grids %s: must be PxQ,...", text);
    memcpy(one, at, length);
    one[length] = '\0';
    int code = parse_pair("--grids", one, r->grids[r->grid_count++]);
    if (code || !at[length]) return code;
    at += length + 1;
  }
}

static int parse_networks(const char *text, predict_request *r) {
  for (const char *at = text; r->network_count < PREDICT_VALUES;) {
    int used = 0;
    double *network = &r->networks[r->network_count++];
    if (sscanf(at, "%lf%n", network, &used) != 1 || !(*network > 0)) break;
    at += used;
    if (!*at) return TOOL_OK;
    if (*at++ != ',') break;
  }
  return tool_usage("--networks %s: must be GB/s, such as 12.5,5", text);
}

static int interpret(const bench_words *words, predict_request *r) {
  int code = parse_type("--type", words->type ? words->type : "d", &r->type);
  if (!code) code = parse_grids(words->grids ? words->grids : "2x2,4x4,6x6,8x8,10x10,12x12", r);
  if (!code && words->networks) code = parse_networks(words->networks, r);
  if (r->network_count == 0) r->network_count = 1; /* as the machine says */
  if (code) return code;
  const char *l = words->lookaheads ? words->lookaheads : "1,2";
  r->lookahead_count = options_whole_list(l, r->lookaheads, PREDICT_VALUES);
  for (int i = 0; i < r->lookahead_count; i++)
    if (r->lookaheads[i] > 16) r->lookahead_count = -1;
  if (r->lookahead_count < 1) return tool_usage("--lookaheads %s: must be 0 to 16 each", l);
  if (words->cut && strcmp(words->cut, "paper") != 0 && strcmp(words->cut, "model") != 0)
    return tool_usage("--cut %s: must be model or paper", words->cut);
  r->paper = words->cut && strcmp(words->cut, "paper") == 0;
  if (r->tile < 1 || r->least < 1 || r->points < 2 || r->points > 50)
    return tool_usage("--block and --least must be 1 or more, --points 2 to 50");
  return TOOL_OK;
}

int pgemm_bench(int argc, char **argv) {
  predict_request r = {.tile = 1024, .least = 50000, .points = 10, .memory = 256000000000};
  bench_words words = {0};
  bool predict = false;
  const option table[] = {
      {"predict", 0, OPTION_FLAG, &predict, NULL, "replay schedules; nothing is measured"},
      {"grids", 0, OPTION_TEXT, &words.grids, "PxQ,...",
       "grids of processes (default: 2x2 to 12x12)"},
      {"type", 0, OPTION_TEXT, &words.type, "s|d|c|z", "element type (default: d)"},
      {"block", 0, OPTION_WHOLE, &r.tile, "N",
       "blocks in which the matrices are dealt (default: 1024)"},
      {"least", 0, OPTION_WHOLE, &r.least, "N", "extent to begin with (default: 50000)"},
      {"points", 0, OPTION_WHOLE, &r.points, "N", "extents of each grid, about (default: 10)"},
      {"host-memory", 0, OPTION_BYTES, &r.memory, "BYTES",
       "of a process: the largest product fills 90 % of it (default: 256G)"},
      {"lookaheads", 0, OPTION_TEXT, &words.lookaheads, "N,...",
       "lookaheads; 0: by the model (default: 1,2)"},
      {"networks", 0, OPTION_TEXT, &words.networks, "GB/S,...",
       "rates of the network (default: as the machine says)"},
      {"cut", 0, OPTION_TEXT, &words.cut, "model|paper",
       "who chooses blocks and depth; paper: C in 3/4 of the devices' memory, deep chunks in the "
       "rest"},
      {"peak", 0, OPTION_NUMBER, &r.peak, "TFLOP/S",
       "of a device (default: large products on the machine)"},
      {"csv", 0, OPTION_TEXT, &r.csv, "FILE", "write the results as CSV"},
      {"plot", 0, OPTION_TEXT, &r.plot, "FILE.svg", "draw them"},
      SETTINGS_MACHINE(&r.settings),
      SETTINGS_DEVICES(&r.settings),
      SETTINGS_MEMORY(&r.settings),
      {0}};
  const option_command command = {
      "--predict [options]",
      "Weak scaling of C = A B over grids of processes, predicted for the machine of one process.",
      "tessera bench pgemm --predict --machine machines/v100x3-summit.json --plot weak.svg",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (code) return code == OPTIONS_HELPED ? TOOL_OK : code;
  code = interpret(&words, &r);
  return code ? code : predict_run(&r);
}
