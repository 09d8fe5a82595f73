/* tessera bench gemm: cold and warm times of products, next to the floor and a peer. */
#include <string.h>

#include "bench_sweep.h"

typedef struct bench_words {
  const char *type, *n, *shape, *devices, *transa, *transb, *alpha, *beta;
} bench_words;

static int interpret_kind(const bench_words *words, bench_kind *kind) {
  kind->type = TSR_D;
  kind->transa = kind->transb = TSR_NO_TRANS;
  kind->alpha = kind->beta = (scalar){1, 0};
  int code = TOOL_OK;
  if (words->type) code = parse_type("--type", words->type, &kind->type);
  if (!code && words->transa) code = parse_op("--transa", words->transa, &kind->transa);
  if (!code && words->transb) code = parse_op("--transb", words->transb, &kind->transb);
  if (!code && words->alpha) code = parse_scalar("--alpha", words->alpha, &kind->alpha);
  if (!code && words->beta) code = parse_scalar("--beta", words->beta, &kind->beta);
  return code;
}

static int interpret_shapes(const bench_words *words, bench_sweep *s) {
  if (words->n && words->shape) return tool_usage("--n and --shape: choose one");
  s->shape_count = words->shape ? bench_parse_shapes(words->shape, s->shapes, BENCH_MOST_SHAPES)
                                : bench_parse_squares(words->n ? words->n : "1024,2048,4096",
                                                      s->shapes, BENCH_MOST_SHAPES);
  return s->shape_count < 0 ? TOOL_USAGE : TOOL_OK;
}

static int interpret_words(const bench_words *words, bench_sweep *s) {
  int code = interpret_kind(words, &s->kinds[0]);
  s->kind_count = 1;
  if (!code) code = interpret_shapes(words, s);
  s->effort.peer_repeat = s->effort.repeat;
  if (!code) code = bench_sweep_interpret(s, words->devices);
  if (!code && s->peer && strcmp(s->peer, "cublasxt") != 0) {
    code = tool_usage("--peer %s: the peer that is known is cublasxt", s->peer);
  }
  return code;
}

static int parse_request(int argc, char **argv, bench_sweep *s) {
  bench_words words = {0};
  bench_sweep_begin(s);
  const option table[] = {
      {"type", 0, OPTION_TEXT, &words.type, "s|d|c|z|h|b|t", "element type (default: d)"},
      {"n", 0, OPTION_TEXT, &words.n, "N,...", "square products (default: 1024,2048,4096)"},
      {"shape", 0, OPTION_TEXT, &words.shape, "MxNxK,...", "products of other shapes"},
      BENCH_SWEEP_HOME(s),
      BENCH_SWEEP_DEVICES(&words.devices),
      {"transa", 0, OPTION_TEXT, &words.transa, "N|T|C",
       "A as it is, transposed, conjugate transposed"},
      {"transb", 0, OPTION_TEXT, &words.transb, "N|T|C", "the same for B"},
      {"alpha", 0, OPTION_TEXT, &words.alpha, "X", "factor of A B (default: 1)"},
      {"beta", 0, OPTION_TEXT, &words.beta, "Y", "factor of C (default: 1)"},
      BENCH_SWEEP_REPEAT(s),
      {"peer", 0, OPTION_TEXT, &s->peer, "cublasxt", "measure this too, call by call in turn"},
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
      {0}};
  const option_command command = {
      "[options]",
      "Times C = alpha op(A) op(B) + beta C on full-mantissa random matrices: the first call "
      "(cold),\n"
      "the median of repeated calls, the floor no schedule can beat, what was predicted, and a "
      "peer.",
      "tessera bench gemm --type d --n 4096,8192 --home h,h,h --devices 1,2,4 --csv gemm.csv",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  return code ? code : interpret_words(&words, s);
}

int bench_gemm(int argc, char **argv) {
  bench_sweep sweep;
  int code = parse_request(argc, argv, &sweep);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  return code ? code : bench_sweep_run(&sweep);
}
