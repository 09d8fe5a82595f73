/* tessera bench plan: what deciding costs, and what a warm call costs the thread that makes it. */
#include <stdlib.h>
#include <string.h>

#include "bench_case.h"

enum { MOST_SIZES = 32, MOST_REPEATS = 1000 };

typedef struct plan_bench {
  tsr_type type;
  int64_t sizes[MOST_SIZES], call_size, repeat;
  int count;
  bool json;
  settings settings;
} plan_bench;

static const char *const default_machines[] = {
    "host:200 gpu*4@nvswitch:300 pcie:50 rate:60",
    "host:200 gpu*8@nvswitch:300 pcie:25/pair rate:19",
};

/* ---- Planning ---- */

/* In a context of its own, so that no kept plan is found. */
static int plan_once(const plan_bench *bench, const char *machine, int64_t n, tsr_prediction *p) {
  settings with = bench->settings;
  tsr_context *context = NULL;
  tsr_plan *plan = NULL;
  const tsr_home homes[3] = {{TSR_PINNED, 0}, {TSR_PINNED, 0}, {TSR_PINNED, 0}};
  scalar_value one = scalar_for(bench->type, (scalar){1, 0});
  int64_t ld = n > 1 ? n : 1;
  with.machine = machine;
  if (machine) with.engine = with.devices = NULL; /* described machines need no engine */
  int code = settings_open(&with, &context);
  if (!code) {
    code = tool_status(tsr_plan_gemm(context, bench->type, TSR_COL_MAJOR, TSR_NO_TRANS,
                                     TSR_NO_TRANS, n, n, n, &one, ld, ld, &one, ld, homes, &plan));
  }
  if (!code) code = tool_status(tsr_plan_predict(plan, p));
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  return code;
}

static void print_plan_cost(const plan_bench *bench, const char *machine, int64_t n,
                            const tsr_prediction *p, double seconds) {
  /* Candidates have about as many commands as the one that was kept. */
  double work = (double)p->commands * p->candidates, each = work > 0 ? seconds / work : 0;
  double share = p->seconds > 0 ? seconds / p->seconds : 0;
  if (bench->json) {
    printf("{\"what\": \"plan\", \"machine\": \"%s\", \"n\": %lld, \"devices\": %d, ",
           machine ? machine : "", (long long)n, p->devices);
    printf("\"commands\": %lld, \"candidates\": %d, \"plan_s\": %.9g, \"per_command_s\": %.9g},\n",
           (long long)p->commands, p->candidates, seconds, each);
  } else {
    printf("%-50s %7lld %4d %9lld %6d %10.3f %12.3f %7.1f %%\n", machine ? machine : "this machine",
           (long long)n, p->devices, (long long)p->commands, p->candidates, seconds * 1e3,
           each * 1e6, 100 * share);
  }
}

static int measure_planning(const plan_bench *bench, const char *machine) {
  int repeat = bench->repeat < 9 ? (int)bench->repeat : 9;
  double seconds[9];
  int code = TOOL_OK;
  for (int i = 0; i < bench->count && code == TOOL_OK; i++) {
    tsr_prediction p = {0};
    for (int j = 0; j < repeat && code == TOOL_OK; j++) {
      code = plan_once(bench, machine, bench->sizes[i], &p);
      seconds[j] = p.plan_seconds;
    }
    if (code) break;
    print_plan_cost(bench, machine, bench->sizes[i], &p, tool_median(seconds, repeat));
  }
  return code;
}

static int measure_all_planning(const plan_bench *bench) {
  if (!bench->json) {
    printf("%-50s %7s %4s %9s %6s %10s %12s %9s\n", "machine", "N", "dev", "commands", "tried",
           "plan ms", "us/cmd/tried", "of call");
  }
  if (bench->settings.machine) return measure_planning(bench, bench->settings.machine);
  int code = TOOL_OK;
  for (size_t i = 0; i < sizeof default_machines / sizeof *default_machines && !code; i++) {
    code = measure_planning(bench, default_machines[i]);
  }
  return code;
}

/* ---- A warm call ---- */

/* How long tsr_gemm_async keeps its caller, and until tsr_sync returns. */
static int call_once(const bench_case *c, double *returns, double *whole) {
  const bench_product *p = &c->product;
  double begin = tool_now();
  tsr_status status =
      tsr_level3_run_async(c->context, &p->what, p->alpha, p->a, p->b, p->beta, p->c);
  *returns = tool_now() - begin;
  if (status == TSR_OK) status = tsr_sync(c->context);
  *whole = tool_now() - begin;
  return tool_status(status);
}

static int time_calls(const bench_case *c, int repeat, double *returns, double *whole) {
  double some_returns[MOST_REPEATS], some_whole[MOST_REPEATS];
  int code = TOOL_OK;
  for (int i = 0; i < 5 && !code; i++) code = call_once(c, returns, whole); /* warm-up */
  for (int i = 0; i < repeat && !code; i++) {
    code = call_once(c, &some_returns[i], &some_whole[i]);
  }
  if (code) return code;
  *returns = tool_median(some_returns, repeat);
  *whole = tool_median(some_whole, repeat);
  return TOOL_OK;
}

static int measure_call(const plan_bench *bench) {
  const bench_kind kind = {.type = bench->type,
                           .transa = TSR_NO_TRANS,
                           .transb = TSR_NO_TRANS,
                           .alpha = {1, 0},
                           .beta = {1, 0},
                           .homes = {{HOME_PINNED, 0}, {HOME_PINNED, 0}, {HOME_PINNED, 0}}};
  int64_t n = bench->call_size;
  double returns = 0, whole = 0;
  tsr_context *context = NULL;
  bench_store store = {0};
  bench_case c;
  settings here = bench->settings;
  here.machine = NULL; /* a call is made on the machine that is here */
  int code = settings_open(&here, &context);
  if (!code) {
    bench_store_open(bench->type, context, NULL, false, &store);
    bench_store_expect(&store, (bench_shape){n, n, n});
    code = bench_case_create(&kind, (bench_shape){n, n, n}, &store, &c);
  }
  if (!code) code = time_calls(&c, (int)bench->repeat, &returns, &whole);
  if (!code && bench->json) {
    printf(
        "{\"what\": \"call\", \"n\": %lld, \"devices\": %d, \"returns_s\": %.9g, \"whole_s\": "
        "%.9g}\n",
        (long long)n, tsr_device_count(context), returns, whole);
  } else if (!code) {
    printf(
        "\nwarm tsr_gemm_async, N = %lld, %d devices: returns after %.2f us, complete after "
        "%.2f us\n",
        (long long)n, tsr_device_count(context), returns * 1e6, whole * 1e6);
  }
  bench_store_close(&store);
  tsr_context_destroy(context);
  return code;
}

/* ---- Options ---- */

static int parse_request(int argc, char **argv, plan_bench *r) {
  const char *type = "d", *sizes = "4096,8192,16384,32768";
  r->repeat = 101;
  r->call_size = 1024;
  const option table[] = {
      {"type", 0, OPTION_TEXT, &type, "s|d|c|z|h|b|t", "element type (default: d)"},
      {"n", 0, OPTION_TEXT, &sizes, "N,...", "products to plan (default: 4096 to 32768)"},
      {"call-n", 0, OPTION_WHOLE, &r->call_size, "N", "extent of the warm calls (default: 1024)"},
      {"repeat", 0, OPTION_WHOLE, &r->repeat, "N", "warm calls (default: 101)"},
      {"json", 0, OPTION_FLAG, &r->json, NULL, "print for programs"},
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_DEVICES(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_TILE(&r->settings),
      {0}};
  const option_command command = {
      "[options]",
      "Times planning on described machines (no GPU is needed), then how long a warm asynchronous\n"
      "call keeps its thread on this machine.",
      "tessera bench plan --n 8192,32768 --machine 'host:200 gpu*8@nvswitch:300 pcie:25/pair'",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (!code) code = parse_type("--type", type, &r->type);
  if (code) return code;
  r->count = options_whole_list(sizes, r->sizes, MOST_SIZES);
  if (r->count < 0) return tool_usage("--n %s: must be extents such as 4096,8192", sizes);
  if (r->repeat < 1 || r->repeat > MOST_REPEATS) {
    return tool_usage("--repeat must be 1 to %d", MOST_REPEATS);
  }
  return TOOL_OK;
}

int bench_plan(int argc, char **argv) {
  plan_bench bench = {0};
  int code = parse_request(argc, argv, &bench);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code != TOOL_OK) return code;
  if (bench.json) printf("[");
  code = measure_all_planning(&bench);
  if (!code) code = measure_call(&bench);
  if (bench.json) printf("]\n");
  return code;
}
