/* Measured weak and strong scaling of C = A B over the processes that mpirun starts. */
#ifndef TESSERA_PGEMM_MEASURE_H
#define TESSERA_PGEMM_MEASURE_H

#include "pgemm.h"

enum { MEASURE_COUNTS = 16, MEASURE_TRANSPORTS = 3, MEASURE_ROWS = 32 };

typedef struct measure_request {
  tsr_type type;
  int64_t n; /* extent: weak, of one process; strong, of all */
  bool strong;
  int64_t counts[MEASURE_COUNTS]; /* of processes */
  int count_count;                /* 0: 1, 2, 4 and so on */
  char transports[MEASURE_TRANSPORTS]
                 [8];  /* auto, mpi, nccl: one after the other on the same data */
  int transport_count; /* 0: as TESSERA_TRANSPORT says */
  int64_t block, repeat;
  cut_options cut;
  const char *csv, *plot;
  const char *timeline; /* of one more product of each, the last one's is kept */
  settings settings;
} measure_request;

typedef struct measure_row {
  int processes, rows, cols, devices; /* devices of a process; 0: the CPU */
  int64_t n;
  const char *transport;           /* how panels travel */
  bool failed;                     /* there is nothing but the number of processes and N */
  double first, median, predicted; /* s; predicted 0: not known */
  bool good;
} measure_row;

/* Between MPI_Init and MPI_Finalize. */
int measure_run(const measure_request *request);

#endif
