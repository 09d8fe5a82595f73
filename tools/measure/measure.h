/*
 * Measures cases: cold and warm calls, a peer's in the same run, the floor at this run's rate, and
 * whether the result is right; or predicts them.
 */
#ifndef TESSERA_MEASURE_MEASURE_H
#define TESSERA_MEASURE_MEASURE_H

#include "sides.h"

typedef struct bench_row {
  const bench_line *line;
  int devices;
  double cold, median, floor, predicted, plan; /* s; 0: not known */
  double returned;                             /* s, until an asynchronous call does; 0: none */
  double rate;                                 /* flops/s that a device sustains; 0: not known */
  double peer_s;                               /* 0: there is none */
  int peer_block;
  double times[BENCH_MOST_REPEATS], peer_times[BENCH_MOST_REPEATS], returns[BENCH_MOST_REPEATS];
  int count, peer_count;
  tsr_traffic moved, *loads; /* by the last call; loads: of load_count devices */
  int load_count;
  size_t budget; /* the least of a device, bytes */
  cJSON *facts;  /* the plan, as TSR_JSON prints it; NULL: there is none */
  bool checked, good;
} bench_row;

typedef struct bench_run {
  const bench_line *lines;
  int count;
  bool predict;
  double rate_seconds;
  const char *timeline; /* of one more call of the last case; NULL: none */
  /* Told of each row as it comes. An exit code: another than TOOL_OK ends the run. */
  int (*note)(void *user, const bench_row *row);
  void *user;
} bench_run;

/* A case that fails is told of and left out. The worst exit code; also when a result is wrong. */
int bench_run_all(const bench_run *run);

/* ---- Rows: rows.c ---- */

double bench_row_tera(const bench_row *row, double seconds); /* TFLOP/s */

void bench_print_head(bool peer);
void bench_print_row(const bench_row *row, bool peer);
cJSON *bench_row_json(const bench_row *row);

/* The line without its end; head: the names of the columns. For free(). */
char *bench_row_csv(const bench_row *row);
extern const char bench_csv_head[];

/* Adds a row at the end of a file, behind a head when that is new or empty. */
int bench_append_csv(const char *path, const bench_row *row);

#endif
