/* Rows of tessera bench composed, as a table, CSV and charts. */
#ifndef TESSERA_BENCH_COMPOSED_H
#define TESSERA_BENCH_COMPOSED_H

#include "bench_sweep.h"

typedef enum composed_variant { COMPOSED, SEPARATE, COMPOSED_VARIANTS } composed_variant;

typedef struct composed_row {
  composed_variant variant;
  tsr_type type;
  int64_t n;
  int devices;
  double cold, median; /* s */
  tsr_traffic moved;   /* by one warm run */
  bool good;           /* both results are right */
} composed_row;

void composed_print_head(void);
void composed_print(const composed_row *row);
int composed_write_csv(const char *path, const composed_row *rows, int count);

/* TFLOP/s, and bytes in each direction with their floor, against N: a line for each way and number
 * of devices. */
int composed_write_plot(const char *path, const composed_row *rows, int count);

#endif
