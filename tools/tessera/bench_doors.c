/*
 * tessera bench doors: what an unmodified program gains, and what deciding costs it. The same call
 * on malloc'ed matrices, in turn: the CPU's BLAS called directly, the symbol of our BLAS door, and
 * a plain call of the library.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "random.h"
#include "settings.h"

enum { MOST_SIZES = 32, MOST_REPEATS = 1000, WAYS = 3 };

/* Source: the reference BLAS; the lengths of the flags follow. */
typedef void (*gemm_function)(const char *transa, const char *transb, const int *m, const int *n,
                              const int *k, const void *alpha, const void *a, const int *lda,
                              const void *b, const int *ldb, const void *beta, void *c,
                              const int *ldc, size_t length_a, size_t length_b);

typedef enum way { DIRECT, DOOR, NATIVE } way;

typedef struct doors_bench {
  tsr_type type;
  int64_t sizes[MOST_SIZES], repeat;
  double settle; /* s */
  int count;
  bool json, native;
  gemm_function gemm[2]; /* DIRECT and DOOR */
  tsr_context *context;  /* NATIVE's; NULL: it is not asked for */
  int n;
  void *a, *b, *c;
} doors_bench;

/* ---- The ways ---- */

static int take_gemm(const char *library, tsr_type type, gemm_function *gemm) {
  char symbol[] = "?gemm_";
  symbol[0] = (char)type;
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void *function = handle ? dlsym(handle, symbol) : NULL;
  if (!function) return tool_fail("no %s in %s", symbol, library);
  memcpy(gemm, &function, sizeof function);
  return TOOL_OK;
}

/* The CPU's BLAS first: the door goes on to what is loaded. */
static int find_ways(doors_bench *x) {
  const char *named = getenv("TESSERA_CPU_BLAS");
  char path[PATH_MAX];
  int code = take_gemm(named && *named ? named : "libopenblas.so.0", x->type, &x->gemm[DIRECT]);
  if (!code) code = tool_find_doors(path);
  if (!code) code = take_gemm(path, x->type, &x->gemm[DOOR]);
  const settings by_environment = {0};
  if (!code && x->native) code = settings_open(&by_environment, &x->context);
  return code;
}

static int call(const doors_bench *x, way how) {
  const scalar_value one = scalar_for(x->type, (scalar){1, 0});
  const scalar_value half = scalar_for(x->type, (scalar){0.5, 0});
  int n = x->n;
  if (how == NATIVE) {
    return tool_status(tsr_gemm(x->context, x->type, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, n,
                                n, n, &one, x->a, n, x->b, n, &half, x->c, n));
  }
  x->gemm[how]("N", "N", &n, &n, &n, &one, x->a, &n, x->b, &n, &half, x->c, &n, 1, 1);
  return TOOL_OK;
}

/* ---- Measuring ---- */

static int time_calls(const doors_bench *x, way how, int calls, double *seconds) {
  int code = TOOL_OK;
  double begin = tool_now();
  for (int i = 0; i < calls && !code; i++) code = call(x, how);
  *seconds = (tool_now() - begin) / calls;
  return code;
}

/* Calls in one sample: short ones are timed many at a time. */
static int calls_for(double seconds) {
  static const double sample = 5e-3;
  double calls = sample / seconds;
  return calls < 1 ? 1 : calls > 100000 ? 100000 : (int)calls;
}

/* added: what the door takes longer, s a call. */
static void print_size(const doors_bench *x, double median[WAYS], double added, bool first) {
  double flops = element_flops(x->type, x->n, x->n, x->n);
  if (x->json) {
    printf(
        "%s  {\"type\": \"%c\", \"n\": %d, \"direct_s\": %.9g, \"door_s\": %.9g, "
        "\"native_s\": %.9g, \"added_s\": %.3g}",
        first ? "" : ",\n", (char)x->type, x->n, median[DIRECT], median[DOOR], median[NATIVE],
        added);
  } else {
    char native[24] = "-";
    if (x->context) snprintf(native, sizeof native, "%.3f", median[NATIVE] * 1e6);
    printf("%-4c %6d %14.3f %14.3f %14s %11.0f %8.3f %9.3f\n", (char)x->type, x->n,
           median[DIRECT] * 1e6, median[DOOR] * 1e6, native, added * 1e9,
           median[DIRECT] / median[DOOR], flops / median[DOOR] * 1e-12);
  }
  fflush(stdout);
}

/* The ways take turns, so that all meet the same disturbances. */
static int measure(const doors_bench *x, bool first) {
  static double samples[WAYS][MOST_REPEATS], longer[MOST_REPEATS];
  double median[WAYS] = {0}, once = 0;
  int ways = x->context ? WAYS : NATIVE, repeat = (int)x->repeat, code = TOOL_OK;
  for (int how = 0; how < ways && !code; how++) code = call(x, (way)how); /* plans, wakes threads */
  if (!code) code = time_calls(x, DIRECT, 1, &once);
  int calls = calls_for(once);
  for (int i = 0; i < repeat && !code; i++)
    for (int how = 0; how < ways && !code; how++)
      code = time_calls(x, (way)how, calls, &samples[how][i]);
  /* Of neighbours, since what disturbs one mostly disturbs the other, too. */
  for (int i = 0; i < repeat; i++) longer[i] = samples[DOOR][i] - samples[DIRECT][i];
  for (int how = 0; how < ways; how++) median[how] = tool_median(samples[how], repeat);
  if (!code) print_size(x, median, tool_median(longer, repeat), first);
  return code;
}

/* Until devices that pay have been started: they are in the background, while calls go on. */
static int settle(const doors_bench *x) {
  double begin = tool_now();
  int code = TOOL_OK;
  while (!code && tool_now() - begin < x->settle) code = call(x, DOOR);
  return code;
}

static int measure_size(doors_bench *x, int64_t n, bool first) {
  void **const matrices[] = {&x->a, &x->b, &x->c};
  int code = TOOL_OK;
  x->n = (int)n;
  for (int i = 0; i < 3; i++) {
    *matrices[i] = malloc((size_t)(n * n) * element_size(x->type));
    if (!*matrices[i]) code = tool_fail("out of memory for N = %lld", (long long)n);
    if (*matrices[i]) random_fill(x->type, (uint64_t)i, 0, n * n, *matrices[i]);
  }
  if (!code) code = settle(x);
  if (!code) code = measure(x, first);
  for (int i = 0; i < 3; i++) free(*matrices[i]);
  return code;
}

static int measure_sizes(doors_bench *x) {
  int code = TOOL_OK;
  if (x->json) {
    printf("[\n");
  } else {
    printf("%-4s %6s %14s %14s %14s %11s %8s %9s\n", "type", "N", "direct us", "door us",
           "native us", "added ns", "gain", "TFLOP/s");
  }
  for (int i = 0; i < x->count && !code; i++) code = measure_size(x, x->sizes[i], i == 0);
  if (x->json) printf("\n]\n");
  return code;
}

/* ---- Options ---- */

static int parse_request(int argc, char **argv, doors_bench *x) {
  const char *type = "d", *sizes = "1,2,4,8,16,32,64,128,256,512,1024";
  x->repeat = 21;
  const option table[] = {
      {"type", 0, OPTION_TEXT, &type, "s|d|c|z", "element type (default: d)"},
      {"n", 0, OPTION_TEXT, &sizes, "N,...", "extents (default: 1 to 1024)"},
      {"repeat", 0, OPTION_WHOLE, &x->repeat, "N", "samples for each (default: 21)"},
      {"settle", 0, OPTION_NUMBER, &x->settle, "S",
       "seconds of calls through the door before each size (default: 0)"},
      {"native", 0, OPTION_FLAG, &x->native, NULL, "also a plain call of the library"},
      {"json", 0, OPTION_FLAG, &x->json, NULL, "print for programs"},
      {0}};
  const option_command command = {
      "[options]",
      "Times gemm on malloc'ed matrices: the CPU's BLAS called directly, through our BLAS door, "
      "and\n"
      "as a call of the library. What is not offloaded costs the nanoseconds of 'added'. Settings\n"
      "are those of the environment.",
      "tessera bench doors --native --settle 10 --repeat 5 --n 64,1024,8192,16384",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (!code) code = parse_type("--type", type, &x->type);
  if (code) return code;
  if (!strchr("sdcz", (int)x->type)) return tool_usage("--type %s: s, d, c or z here", type);
  x->count = options_whole_list(sizes, x->sizes, MOST_SIZES);
  for (int i = 0; i < x->count; i++)
    if (x->sizes[i] < 1 || x->sizes[i] > 65536) x->count = -1;
  if (x->count < 0) return tool_usage("--n %s: must be extents such as 64,256", sizes);
  if (x->repeat < 1 || x->repeat > MOST_REPEATS)
    return tool_usage("--repeat must be 1 to %d", MOST_REPEATS);
  return TOOL_OK;
}

int bench_doors(int argc, char **argv) {
  doors_bench bench = {0};
  int code = parse_request(argc, argv, &bench);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (!code) code = find_ways(&bench);
  if (!code) code = measure_sizes(&bench);
  tsr_context_destroy(bench.context);
  return code;
}
