/* tessera bench cpu: what our call adds to the CPU's BLAS, in paired runs. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "random.h"
#include "settings.h"

enum { MOST_SIZES = 32, MOST_PAIRS = 1000, CBLAS_COL_MAJOR = 102, CBLAS_NO_TRANS = 111 };

/* Source: cblas.h; declared here so that none is needed to build. */
typedef void (*cblas_dgemm_function)(int layout, int transa, int transb, int m, int n, int k,
                                     double alpha, const double *a, int lda, const double *b,
                                     int ldb, double beta, double *c, int ldc);
typedef void (*cblas_sgemm_function)(int layout, int transa, int transb, int m, int n, int k,
                                     float alpha, const float *a, int lda, const float *b, int ldb,
                                     float beta, float *c, int ldc);

typedef struct cpu_bench {
  tsr_type type;
  tsr_context *context;
  cblas_dgemm_function dgemm;
  cblas_sgemm_function sgemm;
  int n;
  void *a, *b, *c;
} cpu_bench;

/* The same library that Tessera finds, so that both share its threads. */
static int find_blas(cpu_bench *bench) {
  const char *named = getenv("TESSERA_CPU_BLAS");
  const char *const names[] = {named && *named ? named : "libopenblas.so.0", "libopenblas.so.0",
                               "libopenblas.so", "libblas.so.3"};
  const char *symbol = bench->type == TSR_D ? "cblas_dgemm" : "cblas_sgemm";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    void *function = library ? dlsym(library, symbol) : NULL;
    if (!function) continue;
    if (bench->type == TSR_D) memcpy(&bench->dgemm, &function, sizeof function);
    if (bench->type == TSR_S) memcpy(&bench->sgemm, &function, sizeof function);
    return TOOL_OK;
  }
  return tool_fail("no BLAS with %s: install libopenblas0, or name one with TESSERA_CPU_BLAS",
                   symbol);
}

static void call_direct(const cpu_bench *x) {
  if (x->type == TSR_D) {
    x->dgemm(CBLAS_COL_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, x->n, x->n, x->n, 1, x->a, x->n, x->b,
             x->n, 0.5, x->c, x->n);
  } else {
    x->sgemm(CBLAS_COL_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, x->n, x->n, x->n, 1, x->a, x->n, x->b,
             x->n, 0.5, x->c, x->n);
  }
}

static tsr_status call_ours(const cpu_bench *x) {
  if (x->type == TSR_D) {
    return tsr_dgemm(x->context, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, x->n, x->n, x->n, 1,
                     x->a, x->n, x->b, x->n, 0.5, x->c, x->n);
  }
  return tsr_sgemm(x->context, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, x->n, x->n, x->n, 1, x->a,
                   x->n, x->b, x->n, 0.5, x->c, x->n);
}

static double time_direct(const cpu_bench *x, int calls) {
  double begin = tool_now();
  for (int i = 0; i < calls; i++) call_direct(x);
  return (tool_now() - begin) / calls;
}

static int time_ours(const cpu_bench *x, int calls, double *seconds) {
  tsr_status status = TSR_OK;
  double begin = tool_now();
  for (int i = 0; i < calls && status == TSR_OK; i++) status = call_ours(x);
  *seconds = (tool_now() - begin) / calls;
  return tool_status(status);
}

/* Calls in one sample: short ones are timed many at a time. */
static int calls_for(const cpu_bench *x) {
  double once = time_direct(x, 3);
  double calls = 2e-3 / (once > 1e-9 ? once : 1e-9);
  return calls < 1 ? 1 : calls > 10000 ? 10000 : (int)calls;
}

/* Who goes first changes from pair to pair, and drift cancels. */
static int time_pair(const cpu_bench *x, int calls, bool ours_first, double *ours, double *direct) {
  int code = TOOL_OK;
  if (ours_first) code = time_ours(x, calls, ours);
  *direct = time_direct(x, calls);
  if (!ours_first) code = time_ours(x, calls, ours);
  return code;
}

static void print_size(const cpu_bench *x, double *ours, double *direct, double *ratios, int pairs,
                       bool json, bool first) {
  double our_median = tool_median(ours, pairs), direct_median = tool_median(direct, pairs);
  double ratio = tool_median(ratios, pairs);
  double low = ratios[pairs / 10], high = ratios[pairs - 1 - pairs / 10]; /* sorted by the median */
  double gflops = element_flops(x->type, x->n, x->n, x->n) * 1e-9;
  if (json) {
    printf(
        "%s  {\"type\": \"%c\", \"n\": %d, \"direct_s\": %.9g, \"tessera_s\": %.9g, "
        "\"ratio\": %.5f, \"ratio_p10\": %.5f, \"ratio_p90\": %.5f}",
        first ? "" : ",\n", (char)x->type, x->n, direct_median, our_median, ratio, low, high);
  } else {
    printf("%-4c %6d %12.2f %12.2f %11.2f %8.4f  (%.3f .. %.3f)\n", (char)x->type, x->n,
           direct_median * 1e6, our_median * 1e6, gflops / our_median, ratio, low, high);
  }
  fflush(stdout);
}

static int measure(const cpu_bench *x, int pairs, bool json, bool first) {
  double ours[MOST_PAIRS], direct[MOST_PAIRS], ratios[MOST_PAIRS];
  double ignored;
  int code = time_ours(x, 1, &ignored); /* plans */
  int calls = calls_for(x);
  for (int i = 0; i < pairs && code == TOOL_OK; i++) {
    code = time_pair(x, calls, i % 2 == 0, &ours[i], &direct[i]);
    ratios[i] = ours[i] / direct[i];
  }
  if (code == TOOL_OK) print_size(x, ours, direct, ratios, pairs, json, first);
  return code;
}

static int measure_size(cpu_bench *x, int64_t n, int pairs, bool json, bool first) {
  size_t bytes = (size_t)n * (size_t)n * element_size(x->type);
  void *matrices[3] = {NULL, NULL, NULL};
  int code = TOOL_OK;
  for (int i = 0; i < 3 && code == TOOL_OK; i++) {
    if (posix_memalign(&matrices[i], 4096, bytes) != 0) {
      matrices[i] = NULL;
      code = tool_fail("out of memory for N = %lld", (long long)n);
    } else {
      random_fill(x->type, (uint64_t)i, 0, n * n, matrices[i]);
    }
  }
  x->n = (int)n;
  x->a = matrices[0];
  x->b = matrices[1];
  x->c = matrices[2];
  if (code == TOOL_OK) code = measure(x, pairs, json, first);
  for (int i = 0; i < 3; i++) free(matrices[i]);
  return code;
}

static int measure_sizes(cpu_bench *x, const int64_t *sizes, int count, int pairs, bool json) {
  if (json) {
    printf("[\n");
  } else {
    printf("%-4s %6s %12s %12s %11s %8s\n", "type", "N", "direct us", "tessera us", "GFLOP/s",
           "ratio");
  }
  int code = TOOL_OK;
  for (int i = 0; i < count && code == TOOL_OK; i++) {
    code = measure_size(x, sizes[i], pairs, json, i == 0);
  }
  if (json) printf("\n]\n");
  return code;
}

typedef struct cpu_request {
  tsr_type type;
  int64_t sizes[MOST_SIZES], pairs;
  int count;
  bool json;
} cpu_request;

static int parse_request(int argc, char **argv, cpu_request *r) {
  const char *type = "d", *sizes = "64,128,256,512,1024,2048,4096";
  r->pairs = 21;
  const option table[] = {
      {"type", 0, OPTION_TEXT, &type, "s|d", "element type (default: d)"},
      {"n", 0, OPTION_TEXT, &sizes, "N,...", "extents (default: 64 to 4096)"},
      {"repeat", 0, OPTION_WHOLE, &r->pairs, "N", "pairs of samples for each (default: 21)"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print for programs"},
      {0}};
  const option_command command = {
      "[options]",
      "Times our call with engine 'cpu' and the CPU's BLAS called directly, in turn, and prints "
      "the\n"
      "median of the ratios of the pairs: 1 means that Tessera costs nothing.",
      "tessera bench cpu --type d --n 64,256,1024,4096",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (!code) code = parse_type("--type", type, &r->type);
  if (code) return code;
  if (r->type != TSR_D && r->type != TSR_S) return tool_usage("--type %s: s or d here", type);
  r->count = options_whole_list(sizes, r->sizes, MOST_SIZES);
  for (int i = 0; i < r->count; i++) {
    if (r->sizes[i] < 1 || r->sizes[i] > 65536) r->count = -1;
  }
  if (r->count < 0) return tool_usage("--n %s: must be extents such as 64,256", sizes);
  if (r->pairs < 1 || r->pairs > MOST_PAIRS) {
    return tool_usage("--repeat must be 1 to %d", MOST_PAIRS);
  }
  return TOOL_OK;
}

int bench_cpu(int argc, char **argv) {
  cpu_request request = {0};
  int code = parse_request(argc, argv, &request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code != TOOL_OK) return code;
  cpu_bench bench = {.type = request.type};
  settings cpu = {.engine = "cpu"};
  code = find_blas(&bench);
  if (!code) code = settings_open(&cpu, &bench.context);
  if (!code) {
    code = measure_sizes(&bench, request.sizes, request.count, (int)request.pairs, request.json);
  }
  tsr_context_destroy(bench.context);
  return code;
}
