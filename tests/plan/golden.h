/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Golden plans: plans of a fixed list of calls, as digests and counts, compared with files that a
 * person has looked at. A digest covers what the runner would do: commands with their operands and
 * scalars, buffers, queues and dependencies. It covers no name, no predicted time and no address,
 * so that renaming leaves it.
 *
 *   golden_call.c      one call as a line of text, and its plan
 *   golden_cases.c     the list of calls
 *   golden_sequence.c  calls that start from what earlier ones left on the devices, and their list
 *   golden_lines.c     a plan as lines of text
 *   golden_file.c      files of digests and counts: writing, comparing
 *   golden_program.c   the options of a program that has goldens
 *   test_golden.c      the test; across processes: tests/cluster/golden.c
 *   golden_between.py  the long forms of two commits side by side
 *   scores.c           predicted times of what benchmarks are made of; compare_scores.py
 */
#ifndef TSR_TESTS_GOLDEN_H
#define TSR_TESTS_GOLDEN_H

#include "base/text.h"
#include "base/vec.h"
#include "tessera.h"

/* ---- Lines ---------------------------------------------------------------- */

/* What is to be digested, a line each, in an order that means something. */
typedef struct golden_lines {
  tsr_text text;
  TSR_VEC(size_t) ends; /* of each line, behind its line end */
} golden_lines;

/* Ends the line that was added to lines->text. */
void golden_line_end(golden_lines *lines);
void golden_lines_free(golden_lines *lines);

/* FNV-1a, going on from a digest; GOLDEN_BASIS to begin with. */
#define GOLDEN_BASIS UINT64_C(14695981039346656037)
uint64_t golden_digest(uint64_t before, const void *bytes, size_t count);

/* ---- Files ---------------------------------------------------------------- */

/* What is known of a case. Its short form in the file is the strategy, the share of the floor, and
 * the number and a digest of its lines; the first case of each family in a file has its counts,
 * too. */
typedef struct golden_result {
  const char *name, *family; /* family NULL: always short */
  golden_lines lines;
  uint64_t unordered;      /* a digest of what has no order, such as buffers */
  tsr_text strategy;       /* for people: never compared */
  tsr_text counts;         /* lines that begin with two blanks and a word */
  double predicted, floor; /* s; compared with a tolerance of 0.1 %; a negative floor: none */
  const char *aside;       /* printed where the case differs, and never compared; or NULL */
  bool refused;            /* the planner refuses the call: nothing else is known of it */
  bool wrong; /* the verifier refuses the plan: the case fails in all modes; aside says why */
} golden_result;

void golden_result_free(golden_result *result);
/* Of its lines and of what has no order. */
uint64_t golden_result_digest(const golden_result *result);

/* What a program of goldens does with the results. */
typedef enum golden_mode {
  GOLDEN_COMPARE,
  GOLDEN_WRITE,  /* the files anew */
  GOLDEN_SCORES, /* prints the predicted times as CSV, for compare_scores.py */
  GOLDEN_LONG,   /* prints the long forms of cases, and their lines */
  GOLDEN_LIST    /* prints the names of cases */
} golden_mode;

typedef struct golden_options {
  golden_mode mode;
  const char *only; /* cases whose names contain it; NULL: all */
} golden_options;
extern golden_options golden_asked;

/* A file of golden results, while they are compared with it or written to it. */
typedef struct golden_book golden_book;

/* path: in the source folder. */
golden_book *golden_open(const char *path);
/* Whether the case is asked for. */
bool golden_wants(const char *name);
void golden_note(golden_book *book, const golden_result *result);
/* How many cases differ, are missing in the file, or are in it and nowhere else; prints how. */
int golden_close(golden_book *book);

/* A path in the source folder; good until the next call. */
const char *golden_path(const char *path);

/* ---- The program ---------------------------------------------------------- */

/* Reads the options of the command line; false: something was wrong, or help was asked for. */
bool golden_interpret(int argc, char **argv);

#endif
