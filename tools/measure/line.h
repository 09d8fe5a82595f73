/*
 * A case in words: "gemm d 8192 8192 8192 home=h,h,0 devices=4 peer=cublasxt". The operation, its
 * type and its extents come first, as tessera plan has them; words follow in any order.
 */
#ifndef TESSERA_MEASURE_LINE_H
#define TESSERA_MEASURE_LINE_H

#include "operation.h"

enum { BENCH_MOST_REPEATS = 1000 };

/* How a case is carried out. */
typedef enum bench_by {
  BENCH_CALL,  /* a blocking call */
  BENCH_PLAN,  /* planned once, then that plan again and again */
  BENCH_ASYNC, /* an asynchronous call, its result brought home, and everything forgotten */
  BENCH_DOOR,  /* the symbol of our BLAS door */
  BENCH_BYS
} bench_by;

/* The words as given. Not given: a text that is NULL, a number that is less than 0. */
typedef struct bench_words {
  operation_words operation;
  const char *alpha, *beta, *home, *by, *peer, *turn, *strategy;
  int64_t repeat, warm_up, peer_repeat;
  double settle, sample, seconds;
  settings settings;
} bench_words;

void bench_words_begin(bench_words *words); /* nothing is given */

/* Rows of an option table for them. */
#define BENCH_WORDS(w)                                                                           \
  {"home",      0,                                                                               \
   OPTION_TEXT, &(w)->home,                                                                      \
   "h,h,h",     "where A,B,C are: h pinned host, u pageable host, 0.. a device (default: h)"},   \
      OPERATION_SIDE(&(w)->operation), OPERATION_UPLO(&(w)->operation),                          \
      OPERATION_TRANSA(&(w)->operation), OPERATION_TRANSB(&(w)->operation),                      \
      OPERATION_DIAG(&(w)->operation),                                                           \
      {"alpha", 0, OPTION_TEXT, &(w)->alpha, "X", "factor of the product (default: 1)"},         \
      {"beta", 0, OPTION_TEXT, &(w)->beta, "Y", "factor of C (default: 1)"},                     \
      {"by",                                                                                     \
       0,                                                                                        \
       OPTION_TEXT,                                                                              \
       &(w)->by,                                                                                 \
       "call|plan|async|door",                                                                   \
       "a blocking call; a plan made before; an asynchronous call; the BLAS door (default: "     \
       "call)"},                                                                                 \
      {"repeat",                                                                                 \
       0,                                                                                        \
       OPTION_WHOLE,                                                                             \
       &(w)->repeat,                                                                             \
       "N",                                                                                      \
       "warm samples, of which the median counts; 0: the first call alone (default: 10)",        \
       0,                                                                                        \
       BENCH_MOST_REPEATS},                                                                      \
      {"warm-up",                                                                                \
       0,                                                                                        \
       OPTION_WHOLE,                                                                             \
       &(w)->warm_up,                                                                            \
       "N",                                                                                      \
       "calls behind the first one that do not count (default: 2)",                              \
       0,                                                                                        \
       BENCH_MOST_REPEATS},                                                                      \
      {"sample",                                                                                 \
       0,                                                                                        \
       OPTION_NUMBER,                                                                            \
       &(w)->sample,                                                                             \
       "S",                                                                                      \
       "a sample is as many calls as take so long (default: one call)",                          \
       0,                                                                                        \
       60},                                                                                      \
      {"seconds",                                                                                \
       0,                                                                                        \
       OPTION_NUMBER,                                                                            \
       &(w)->seconds,                                                                            \
       "S",                                                                                      \
       "no more samples but the last once they took so long (default: no limit)",                \
       0,                                                                                        \
       86400},                                                                                   \
      {"settle",                                                                                 \
       0,                                                                                        \
       OPTION_NUMBER,                                                                            \
       &(w)->settle,                                                                             \
       "S",                                                                                      \
       "calls for so long before the first sample (default: 0)",                                 \
       0,                                                                                        \
       3600},                                                                                    \
      {"peer",                                                                                   \
       0,                                                                                        \
       OPTION_TEXT,                                                                              \
       &(w)->peer,                                                                               \
       "cublasxt|blas|none",                                                                     \
       "measure this too: cuBLASXt in turn with our calls, or the CPU's BLAS"},                  \
      {"peer-repeat",                                                                            \
       0,                                                                                        \
       OPTION_WHOLE,                                                                             \
       &(w)->peer_repeat,                                                                        \
       "N",                                                                                      \
       "samples of the peer (default: 3; blas: as many as ours)",                                \
       1,                                                                                        \
       BENCH_MOST_REPEATS},                                                                      \
      {"turn",      0,                                                                           \
       OPTION_TEXT, &(w)->turn,                                                                  \
       "NAME",      "cases of one name, one after another in the list, are measured in turn"},   \
      {"strategy",     0,       OPTION_TEXT,                                                     \
       &(w)->strategy, "WORDS", "parts of the plan to force (docs/planner.md), between quotes"}, \
      SETTINGS_ENGINE(&(w)->settings), SETTINGS_DEVICES(&(w)->settings),                         \
      SETTINGS_MACHINE(&(w)->settings), SETTINGS_MEMORY(&(w)->settings),                         \
      SETTINGS_TILE(&(w)->settings), SETTINGS_REPRODUCIBLE(&(w)->settings),                      \
      SETTINGS_CHECK(&(w)->settings)

/* What the words mean. */
typedef struct bench_line {
  char *text;        /* the words' storage, to be freed; NULL: they are others' */
  const char *place; /* what messages call it; NULL: nothing */
  bool composed;     /* trsm and gemm on its result, n x n: measure/composed.c */
  tsr_level3 what;   /* complete, column-major; of a composed case, its gemm */
  scalar alpha, beta;
  home homes[3];
  char home[32]; /* "h,h,0" */
  bench_by by;
  const char *peer; /* NULL: none */
  int devices;      /* how many are asked for; 0: as many as help */
  bench_words words;
} bench_line;

/* Reads a line; words that it does not have are those of defaults. An exit code after a message. */
int bench_line_parse(const char *text, const bench_words *defaults, bool predict, bench_line *line);

/* Fills what the words mean; line->what has the operation, type and extents, words are set. */
int bench_line_interpret(bench_line *line, bool predict);

const char *bench_line_op(const bench_line *line); /* "gemm", "composed" */

/* The words that shape the call and its plan, as in "transa=T memory=16G"; room for
 * BENCH_SHAPING. */
enum { BENCH_SHAPING = 512 };
void bench_line_shaping(const bench_line *line, char text[BENCH_SHAPING]);

double bench_line_flops(const bench_line *line);

#endif
