/* The results of tessera bench gemm: a row a case, as a table, CSV, JSON or a chart. */
#ifndef TESSERA_BENCH_ROWS_H
#define TESSERA_BENCH_ROWS_H

#include "bench_case.h"

typedef struct bench_row {
  tsr_type type;
  bench_shape shape;
  const char *home;
  int devices;                                 /* asked for */
  double cold, median, floor, predicted, plan; /* s; 0: unknown */
  const char *peer;                            /* NULL: none */
  double peer_s;
  int peer_block;
  bool good; /* the sampled entries are right */
} bench_row;

void bench_print_head(bool peer);
void bench_print_row(const bench_row *row, bool peer);
void bench_print_json(const bench_row *rows, int count);
int bench_write_csv(const char *path, const bench_row *rows, int count);

/* TFLOP/s against N, a line for each number of devices, with floor and peer. */
int bench_write_plot(const char *path, const bench_row *rows, int count);

#endif
