/* tessera bench blas3: level-3 routines, next to the floor and a peer. */
#include <string.h>

#include "bench_sweep.h"

typedef struct blas3_words {
  const char *ops, *type, *n, *devices;
  operation_words operation;
} blas3_words;

static int interpret_kind(const tsr_level3 *what, bench_kind *kind) {
  *kind = (bench_kind){.operation = what->operation,
                       .type = what->type,
                       .side = what->side,
                       .uplo = what->uplo,
                       .transa = what->transa,
                       .transb = what->transb,
                       .diag = what->diag,
                       .alpha = {1, 0},
                       .beta = {1, 0},
                       .check_all = true};
  return operation_check("--type", what);
}

static int interpret_kinds(const blas3_words *words, bench_sweep *s) {
  tsr_operation operations[TSR_OPERATION_COUNT];
  tsr_level3 what = {.type = TSR_D};
  int code = words->type ? parse_type("--type", words->type, &what.type) : TOOL_OK;
  if (!code) code = operation_interpret(&words->operation, &what);
  if (code) return code;
  s->kind_count = operation_parse_list(words->ops, operations);
  if (s->kind_count < 0) return TOOL_USAGE;
  for (int i = 0; i < s->kind_count && !code; i++) {
    what.operation = operations[i];
    code = interpret_kind(&what, &s->kinds[i]);
  }
  return code;
}

static int interpret_peer(bench_sweep *s) {
  if (strcmp(s->peer, "none") == 0) {
    s->peer = NULL;
  } else if (strcmp(s->peer, "cublasxt") != 0) {
    return tool_usage("--peer %s: must be cublasxt or none", s->peer);
  }
  return TOOL_OK;
}

static int interpret_words(const blas3_words *words, bench_sweep *s) {
  int code = interpret_kinds(words, s);
  if (!code) {
    s->shape_count = bench_parse_squares(words->n, s->shapes, BENCH_MOST_SHAPES);
    if (s->shape_count < 0) code = TOOL_USAGE;
  }
  if (!code) code = interpret_peer(s);
  return code ? code : bench_sweep_interpret(s, words->devices);
}

static int parse_request(int argc, char **argv, bench_sweep *s) {
  blas3_words words = {.ops = "symm,syrk,syr2k,trmm,trsm,gemm", .n = "4096,8192"};
  bench_sweep_begin(s);
  s->peer = "cublasxt";
  s->named = true;
  const option table[] = {
      {"op", 0, OPTION_TEXT, &words.ops, "OP,...",
       "of gemm, gemmt, symm, hemm, syrk, herk, syr2k, her2k, trmm, trsm (default: "
       "symm,syrk,syr2k,trmm,trsm,gemm)"},
      {"type", 0, OPTION_TEXT, &words.type, "s|d|c|z", "element type (default: d)"},
      {"n", 0, OPTION_TEXT, &words.n, "N,...", "all extents (default: 4096,8192)"},
      BENCH_SWEEP_HOME(s),
      BENCH_SWEEP_DEVICES(&words.devices),
      OPERATION_SIDE(&words.operation),
      OPERATION_UPLO(&words.operation),
      OPERATION_TRANSA(&words.operation),
      OPERATION_TRANSB(&words.operation),
      OPERATION_DIAG(&words.operation),
      BENCH_SWEEP_REPEAT(s),
      {"peer", 0, OPTION_TEXT, &s->peer, "cublasxt|none",
       "measure this too, call by call in turn (default: cublasxt)"},
      {"peer-repeat", 0, OPTION_WHOLE, &s->effort.peer_repeat, "N", "calls of the peer (3)"},
      BENCH_SWEEP_RATE(s),
      BENCH_SWEEP_CSV(s),
      BENCH_SWEEP_PLOT(s),
      BENCH_SWEEP_TIMELINE(s),
      BENCH_SWEEP_JSON(s),
      SETTINGS_ENGINE(&s->settings),
      SETTINGS_MACHINE(&s->settings),
      SETTINGS_MEMORY(&s->settings),
      SETTINGS_TILE(&s->settings),
      SETTINGS_REPRODUCIBLE(&s->settings),
      SETTINGS_CHECK(&s->settings),
      {0}};
  const option_command command = {
      "[options]",
      "Times level-3 routines on square full-mantissa random matrices, with alpha = beta = 1, and "
      "a\n"
      "peer in the same run; flops are counted as BLAS does. The B of trmm and trsm lives where "
      "--home\n"
      "has C; their A has a diagonal near 1, so that calls can be repeated. Every result is "
      "checked on\n"
      "random vectors.",
      "tessera bench blas3 --op syrk,trsm --n 8192,16384 --devices 1,2,4 --csv blas3.csv",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  return code ? code : interpret_words(&words, s);
}

int bench_blas3(int argc, char **argv) {
  bench_sweep sweep;
  int code = parse_request(argc, argv, &sweep);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  return code ? code : bench_sweep_run(&sweep);
}
