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

/* The rows of an option table for them, with its end. */
enum { BENCH_WORD_ROWS = 28 };
void bench_words_table(bench_words *words, option table[BENCH_WORD_ROWS]);

/* What the words mean. */
typedef struct bench_line {
  char *text;        /* the words' storage, to be freed; NULL: they are others' */
  const char *place; /* what messages call it; NULL: nothing */
  bool composed;     /* trsm and gemm on its result, n x n */
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
