/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A case as a line of words: "gemm d 8192 8192 8192 home=h,h,0 devices=4 peer=cublasxt". The
 * operation, its type and its extents come first, as in tessera plan; options without dashes follow
 * in any order.
 */
#ifndef TESSERA_MEASURE_LINE_H
#define TESSERA_MEASURE_LINE_H

#include "operation.h"

enum { BENCH_MOST_REPEATS = 1000 };

/* How a case is carried out. */
typedef enum bench_by {
  BENCH_CALL,  /* a blocking call */
  BENCH_PLAN,  /* a plan made once and executed for each sample */
  BENCH_ASYNC, /* an asynchronous call, the write-back of its result, and tsr_release */
  BENCH_DOOR,  /* the symbol of our BLAS door */
  BENCH_BYS
} bench_by;

/* The words as given. A word that is not given is NULL if it is a text, below 0 if it is a
 * number. */
typedef struct bench_words {
  operation_words operation;
  const char *alpha, *beta, *home, *by, *peer, *turn, *strategy;
  int64_t repeat, warm_up, peer_repeat;
  double settle, sample, seconds;
  bool digest;
  settings settings;
} bench_words;

void bench_words_begin(bench_words *words); /* sets all words to "not given" */

/* Fills an option table for the words, with its end. */
enum { BENCH_WORD_ROWS = 30 };

/* Words that count only where something is measured. */
#define BENCH_MEASURE_WORDS "by warm-up sample seconds settle peer peer-repeat digest turn engine"

void bench_words_table(bench_words *words, option table[BENCH_WORD_ROWS]);

/* A case: the meaning of its words. */
typedef struct bench_line {
  char *text;        /* owns the words' storage, to be freed; NULL: the storage is another's */
  const char *place; /* the case's name in messages; NULL: none */
  bool composed;     /* trsm, then gemm on its result, all matrices n x n */
  tsr_level3 what;   /* complete, column-major; for a composed case its gemm */
  scalar alpha, beta;
  home homes[3];
  char home[32]; /* "h,h,0" */
  bench_by by;
  const char *peer; /* NULL: none */
  int devices;      /* number of devices; 0: the planner chooses */
  bench_words words;
} bench_line;

/* Reads a line; words that it does not contain are taken from defaults. The exit code, after a
 * message if it fails. */
int bench_line_parse(const char *text, const bench_words *defaults, bool predict, bench_line *line);

/* Fills the fields that the words determine; the operation, type and extents in line->what and
 * line->words must be set. The exit code. */
int bench_line_interpret(bench_line *line, bool predict);

const char *bench_line_op(const bench_line *line); /* "gemm", "composed" */

/* Writes those words that determine the call and its plan, such as "transa=T memory=16G". */
enum { BENCH_SHAPING = 512 };
void bench_line_shaping(const bench_line *line, char text[BENCH_SHAPING]);

double bench_line_flops(const bench_line *line);

#endif
