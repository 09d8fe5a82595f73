/* What budgets cost: a row a case, as a table, CSV or a chart. */
#ifndef TESSERA_BENCH_CAPS_ROWS_H
#define TESSERA_BENCH_CAPS_ROWS_H

#include "bench_case.h"

enum { CAPS_MOST_DEVICES = 32 };

/* What a device loads in one call, bytes. */
typedef struct caps_load {
  double host, peers;                 /* measured */
  double planned_host, planned_peers; /* by the plan */
  double bound;                       /* at least, whatever the plan */
} caps_load;

typedef struct caps_row {
  tsr_operation operation;
  tsr_type type;
  int64_t n;
  int devices;
  size_t cap;             /* asked for; 0: none */
  size_t budget;          /* the smallest device's, bytes */
  double seconds;         /* median */
  double tera;            /* TFLOP/s */
  double whole;           /* of the rate without a cap; 0: not known */
  double peak;            /* of what all devices sustain; 0: not known */
  double predicted, plan; /* s */
  int b, c, d;            /* 0: everything fits */
  double l;
  char equation;         /* case a, b or c of equation (1) of Herault et al., */
  double equation_bytes; /* and what it says for one device */
  caps_load loads[CAPS_MOST_DEVICES];
  bool checked, good;
} caps_row;

/* Fills whole of all rows by those without a cap, of the same operation on as many devices. */
void caps_compare(caps_row *rows, int count);

void caps_print_head(void);
void caps_print_row(const caps_row *row);
/* What each device loads, behind the table. */
void caps_print_loads(const caps_row *rows, int count);

/* A line for each device of each row. */
int caps_write_csv(const char *path, const caps_row *rows, int count);

/* The rate against the budget, a panel for each operation. */
int caps_write_plot(const char *path, const caps_row *rows, int count);

#endif
