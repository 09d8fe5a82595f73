/* tessera bench pgemm: chooses between measuring and predicting, and reads the options. */
#include <string.h>

#include "matrices.h"
#include "measure.h"
#include "predict.h"
#include "roofline.h"

typedef struct bench_words {
  const char *type, *grids, *lookaheads, *networks, *cut, *mode, *processes, *transports;
} bench_words;

/* All ways share what they have in common. */
typedef struct bench_request {
  bool predict;
  measure_request measure;
  predict_request prediction;
  roofline_request roofline;
} bench_request;

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

static int interpret_prediction(const bench_words *words, predict_request *r) {
  int code = parse_grids(words->grids ? words->grids : "2x2,4x4,6x6,8x8,10x10,12x12", r);
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
  if (r->least < 1 || r->points < 2 || r->points > 50)
    return tool_usage("--least must be 1 or more, --points 2 to 50");
  return TOOL_OK;
}

static int parse_transports(const char *text, measure_request *r) {
  for (const char *at = text;;) {
    size_t length = strcspn(at, ",");
    if (r->transport_count == MEASURE_TRANSPORTS || length == 0 || length >= sizeof *r->transports)
      break;
    char *one = r->transports[r->transport_count++];
    memcpy(one, at, length);
    one[length] = '\0';
    if (strcmp(one, "auto") != 0 && strcmp(one, "mpi") != 0 && strcmp(one, "nccl") != 0) break;
    if (!at[length]) return TOOL_OK;
    at += length + 1;
  }
  return tool_usage("--transports %s: must be some of auto, mpi and nccl, such as nccl,mpi", text);
}

static int interpret_measurement(const bench_words *words, measure_request *r) {
  const char *mode = words->mode ? words->mode : "weak";
  if (strcmp(mode, "weak") != 0 && strcmp(mode, "strong") != 0)
    return tool_usage("--mode %s: must be weak or strong", mode);
  r->strong = mode[0] == 's';
  if (words->processes)
    r->count_count = options_whole_list(words->processes, r->counts, MEASURE_COUNTS);
  if (r->count_count < 0)
    return tool_usage("--processes %s: must be numbers such as 1,2,4", words->processes);
  if (r->n < 1) return tool_usage("--n: must be 1 or more");
  int code = words->transports ? parse_transports(words->transports, r) : TOOL_OK;
  if (!code) code = cut_check(&r->cut);
  return code ? code : settings_check(&r->settings);
}

static int interpret(const bench_words *words, bench_request *r) {
  int code = parse_type("--type", words->type ? words->type : "d", &r->measure.type);
  if (!code && !strchr("sdcz", (char)r->measure.type))
    code = tool_usage("--type %s: must be s, d, c or z", words->type);
  if (!code && r->measure.block < 0) code = tool_usage("--block: must be 1 or more");
  r->prediction.type = r->measure.type;
  r->prediction.tile = r->measure.block > 0 ? r->measure.block : 1024;
  if (r->measure.block == 0) r->measure.block = 256;
  r->prediction.csv = r->measure.csv;
  r->prediction.plot = r->measure.plot;
  r->prediction.settings = r->measure.settings;
  r->roofline.peak = 1000 * r->prediction.peak;
  r->roofline.network = r->measure.cut.network;
  r->roofline.settings = r->measure.settings;
  if (code || r->roofline.from) return code;
  if (r->roofline.plot) return tool_usage("--roofline needs --from, the points to draw");
  return r->predict ? interpret_prediction(words, &r->prediction)
                    : interpret_measurement(words, &r->measure);
}

static int parse(int argc, char **argv, bench_request *r) {
  bench_words words = {0};
  measure_request *m = &r->measure;
  predict_request *p = &r->prediction;
  const option table[] = {
      {"type", 0, OPTION_TEXT, &words.type, "s|d|c|z", "element type (default: d)"},
      {"mode", 0, OPTION_TEXT, &words.mode, "weak|strong",
       "the extent grows with the processes, or stays (default: weak)"},
      {"n", 0, OPTION_WHOLE, &m->n, "N",
       "extent: weak, of one process; strong, of all (default: 8192)"},
      {"processes", 0, OPTION_TEXT, &words.processes, "N,...",
       "numbers of processes (default: 1, 2, 4 up to those of mpirun)"},
      {"block", 0, OPTION_WHOLE, &m->block, "N",
       "blocks in which the matrices are dealt (default: 256; predicted 1024)"},
      {"repeat", 0, OPTION_WHOLE, &m->repeat, "N", "warm products, of which the median counts (5)"},
      {"transports", 0, OPTION_TEXT, &words.transports, "auto|mpi|nccl,...",
       "how panels travel: each in turn, on the same data (default: as TESSERA_TRANSPORT says)"},
      CUT_OPTIONS(&m->cut),
      {"predict", 0, OPTION_FLAG, &r->predict, NULL,
       "replay schedules in place of measuring; without MPI and devices, and with:"},
      {"grids", 0, OPTION_TEXT, &words.grids, "PxQ,...",
       "grids of processes (default: 2x2 to 12x12)"},
      {"least", 0, OPTION_WHOLE, &p->least, "N", "extent to begin with (default: 50000)"},
      {"points", 0, OPTION_WHOLE, &p->points, "N", "extents of each grid, about (default: 10)"},
      {"host-memory", 0, OPTION_BYTES, &p->memory, "BYTES",
       "of a process: the largest product fills 90 % of it (default: 256G)"},
      {"lookaheads", 0, OPTION_TEXT, &words.lookaheads, "N,...",
       "lookaheads; 0: by the model (default: 1,2)"},
      {"networks", 0, OPTION_TEXT, &words.networks, "GB/S,...",
       "rates of the network (default: as the machine says)"},
      {"cut", 0, OPTION_TEXT, &words.cut, "model|paper",
       "who chooses blocks and depth; paper: C in 3/4 of the devices' memory, deep chunks in the "
       "rest"},
      {"peak", 0, OPTION_NUMBER, &p->peak, "TFLOP/S",
       "of a device, of a process with --from (default: large products on the machine)"},
      {"from", 0, OPTION_TEXT, &r->roofline.from, "CSV,...",
       "compare what was measured with the roofs of computing and of the network"},
      {"roofline", 0, OPTION_TEXT, &r->roofline.plot, "FILE.svg", "draw that"},
      {"csv", 0, OPTION_TEXT, &m->csv, "FILE", "write the results as CSV"},
      {"plot", 0, OPTION_TEXT, &m->plot, "FILE.svg", "draw them"},
      {"timeline", 0, OPTION_TEXT, &m->timeline, "FILE.json",
       "measured: what one more product, the last, did over time in all processes, for Perfetto"},
      SETTINGS_ENGINE(&m->settings),
      SETTINGS_MACHINE(&m->settings),
      SETTINGS_DEVICES(&m->settings),
      SETTINGS_MEMORY(&m->settings),
      {0}};
  const option_command command = {
      "[options]",
      "Scaling of C = A B across processes: measured under mpirun, on random matrices, with some\n"
      "elements of each process checked; or predicted for grids of a machine's processes.",
      "mpirun -n 4 tessera bench pgemm --n 8192\n"
      "  tessera bench pgemm --predict --machine machines/v100x3-summit.json --plot weak.svg",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  return code ? code : interpret(&words, r);
}

static bool is_asked(int argc, char **argv, const char *word) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], word) == 0) return true;
  return false;
}

/* The first process says what is wrong; the others, which would say the same, are told. */
static int measure(int argc, char **argv, bench_request *r) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int code = is_first() ? parse(argc, argv, r) : TOOL_OK;
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!code && !is_first()) code = parse(argc, argv, r);
  if (!code) code = measure_run(&r->measure);
  MPI_Finalize();
  return code;
}

/* What is predicted or read, and help, need no MPI. */
static bool needs_no_mpi(int argc, char **argv) {
  static const char *const words[] = {"--predict", "--from", "--help", "-h"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (is_asked(argc, argv, words[i])) return true;
  return false;
}

int pgemm_bench(int argc, char **argv) {
  bench_request r = {.measure = {.n = 8192, .repeat = 5},
                     .prediction = {.least = 50000, .points = 10, .memory = 256000000000}};
  int code;
  if (needs_no_mpi(argc, argv)) {
    code = parse(argc, argv, &r);
    if (!code) code = r.roofline.from ? roofline_run(&r.roofline) : predict_run(&r.prediction);
  } else {
    code = measure(argc, argv, &r);
  }
  return code == OPTIONS_HELPED ? TOOL_OK : code;
}
