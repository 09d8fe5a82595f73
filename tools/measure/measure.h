/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Measures cases: cold and warm calls, a peer in the same run, the floor at the rate that kernels
 * sustain in this run, and a check of the result. Or predicts cases without running them.
 */
#ifndef TESSERA_MEASURE_MEASURE_H
#define TESSERA_MEASURE_MEASURE_H

#include "output.h"
#include "sides.h"

typedef struct bench_row {
  const bench_line *line;
  int devices;
  double cold, median, floor, predicted, plan; /* s; 0: not known */
  double returned;                             /* s until an asynchronous call returns; else 0 */
  double rate;                                 /* flops/s that a device sustains; 0: not known */
  double joules;                               /* that the devices used for a call; 0: not known */
  uint64_t digest;
  double peer_s;  /* s, the peer's median; 0: no peer */
  int peer_block; /* the peer's block extent; 0: it has none */
  double times[BENCH_MOST_REPEATS], peer_times[BENCH_MOST_REPEATS], returns[BENCH_MOST_REPEATS];
  int count, peer_count;
  tsr_traffic moved, *loads; /* of the last call: in all, and of each of load_count devices */
  int load_count;
  size_t budget; /* bytes, the smallest budget of a device */
  cJSON *facts;  /* the plan as TSR_JSON prints it; NULL: none */
  bool checked, good;
} bench_row;

typedef struct bench_run {
  const bench_line *lines;
  int count;
  bool predict;
  double rate_seconds;
  output timeline; /* of one more call of the last case */
  bool force;      /* replace the timeline's file */
  /* Called with each row as soon as it is measured. Returns an exit code. */
  int (*note)(void *user, const bench_row *row);
  void *user;
} bench_run;

/* Measures or predicts all cases. A case that fails prints a message, and the next one follows. The
 * worst exit code; a wrong result counts as a failure. */
int bench_run_all(const bench_run *run);

/* ---- Rows: rows.c ---- */

double bench_row_tera(const bench_row *row, double seconds); /* TFLOP/s */

/* A table of 80 columns: the first call (cold), the median of the later ones or the predicted time
 * (warm), its rate, the floor as a part of it, and how many times as long the peer takes.
 * bench_print_details: a line or two below a row, with the other times. */
void bench_print_head(void);
void bench_print_row(const bench_row *row);
void bench_print_details(const bench_row *row);
cJSON *bench_row_json(const bench_row *row);

/* The row as a line of CSV without its newline, to be freed; NULL: out of memory. bench_csv_head:
 * the names of the columns. */
char *bench_row_csv(const bench_row *row);
extern const char bench_csv_head[];

/* Checks the files that a benchmark is to write, before it begins. input: a file that it reads, or
 * NULL. The exit code. */
int bench_check_outputs(const output *csv, const output *timeline, const char *input, bool force);

/* Adds a row to a CSV file; a new or empty file gets the head first. The exit code. */
int bench_append_csv(const output *csv, const bench_row *row);

#endif
