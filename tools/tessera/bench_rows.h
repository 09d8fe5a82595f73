/* Results: a row a case, as a table, CSV, JSON or a chart. */
#ifndef TESSERA_BENCH_ROWS_H
#define TESSERA_BENCH_ROWS_H

#include "bench_case.h"

typedef struct bench_row {
  tsr_operation operation;
  tsr_type type;
  bench_shape shape;
  char home[24];
  int devices;                                 /* asked for */
  double cold, median, floor, predicted, plan; /* s; 0: unknown */
  char peer[16];                               /* "": none */
  double peer_s;
  int peer_block;
  bool good; /* the result is right */
} bench_row;

void bench_print_head(bool peer);
void bench_print_row(const bench_row *row, bool peer);
void bench_print_json(const bench_row *rows, int count);
int bench_write_csv(const char *path, const bench_row *rows, int count);

/* Adds a row at the end, after a head when the file is new or empty. */
int bench_append_csv(const char *path, const bench_row *row);

/* The rows of a file in that form; *rows is made with realloc. More may be there already: *count is
 * moved on. Lines that are no rows of products are passed over, but a file without the head is
 * refused. */
int bench_read_csv(const char *path, bench_row **rows, int *count);

double bench_tera_rate(const bench_row *row, double seconds); /* TFLOP/s */
double bench_fraction(const bench_row *row);                  /* of the floor */
bool bench_same_case(const bench_row *a, const bench_row *b);

/* How a chart looks. */
typedef struct bench_look {
  const char *ours;         /* what the medians are called */
  bool points, peer_points; /* marks instead of lines: of everything, of the peer */
} bench_look;

/* TFLOP/s against N (of other shapes the cube root of M N K), a line for each number of devices,
 * with floor and peer; a panel for each operation, type and home. look: NULL is the usual one. */
int bench_write_plot(const char *path, const bench_row *rows, int count, const bench_look *look);

#endif
