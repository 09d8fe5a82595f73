/* tessera bench: chooses what is measured. */
#include <string.h>

#include "options.h"

typedef struct benchmark {
  const char *name, *full_name, *help;
  int (*run)(int argc, char **argv);
} benchmark;

static const benchmark benchmarks[] = {
    {"gemm", "tessera bench gemm", "products: rate, floor, prediction, and a peer in the same run",
     bench_gemm},
    {"blas3", "tessera bench blas3", "level-3 routines, with cuBLASXt in the same run",
     bench_blas3},
    {"composed", "tessera bench composed",
     "a solve and a product of its result, composed and as separate calls", bench_composed},
    {"caps", "tessera bench caps", "large products with small budgets: rates, and what is loaded",
     bench_caps},
    {"regular", "tessera bench regular", "square products from host memory and from a device",
     bench_regular},
    {"irregular", "tessera bench irregular",
     "fat-thin and thin-fat products with operands in mixed places, in shards", bench_irregular},
    {"predicted", "tessera bench predicted",
     "such products on a machine that need not be here, beside what was measured", bench_predicted},
    {"skinny", "tessera bench skinny",
     "products with one short extent, against one device and against the CPU", bench_skinny},
    {"variants", "tessera bench variants", "transposed operands, odd sizes, and first calls",
     bench_variants},
    {"roofline", "tessera bench roofline", "draws measured points under the machine's roofs",
     bench_roofline},
    {"ablation", "tessera bench ablation", "what each technique is worth", bench_ablation},
    {"tiles", "tessera bench tiles", "the rate by the size of tiles, and predictions of the best",
     bench_tiles},
    {"pgemm", "tessera bench pgemm",
     "products across processes: weak and strong scaling, measured or predicted", bench_pgemm},
    {"cpu", "tessera bench cpu", "a call of ours against calling the CPU's BLAS directly",
     bench_cpu},
    {"doors", "tessera bench doors",
     "a call through the BLAS door against the CPU's BLAS called directly", bench_doors},
    {"plan", "tessera bench plan", "what planning costs, and what a warm call costs its thread",
     bench_plan},
};

enum { BENCHMARKS = sizeof benchmarks / sizeof *benchmarks };

/* "gemm, regular ... and plan" */
static const char *list_names(void) {
  static char text[240];
  int used = 0;
  for (int i = 0; i < BENCHMARKS; i++) {
    const char *before = i == 0 ? "" : i + 1 < BENCHMARKS ? ", " : " and ";
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", before, benchmarks[i].name);
  }
  return text;
}

static int print_help(void) {
  printf(
      "usage: tessera bench WHAT [options]\n\nMeasures, and says how far from the best possible "
      "it is.\n\nwhat:\n");
  for (int i = 0; i < BENCHMARKS; i++) {
    printf("  %-9s %s\n", benchmarks[i].name, benchmarks[i].help);
  }
  printf(
      "\n'tessera bench WHAT --help' tells more.\n\nexample:\n"
      "  tessera bench gemm --type d --n 4096,8192 --home h,h,h --devices 1,2,4\n");
  return TOOL_OK;
}

int command_bench(int argc, char **argv) {
  const char *names[BENCHMARKS + 1];
  if (argc < 2) return tool_usage("what should be measured? There are %s", list_names());
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return print_help();
  for (int i = 0; i < BENCHMARKS; i++) {
    if (strcmp(argv[1], benchmarks[i].name) == 0) {
      tool_set_name(benchmarks[i].full_name);
      return benchmarks[i].run(argc - 1, argv + 1);
    }
    names[i] = benchmarks[i].name;
  }
  names[BENCHMARKS] = NULL;
  const char *nearest = options_nearest(argv[1], names);
  if (nearest) return tool_usage("unknown benchmark '%s': did you mean '%s'?", argv[1], nearest);
  return tool_usage("unknown benchmark '%s': there are %s", argv[1], list_names());
}
