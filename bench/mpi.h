/* Cases across processes: "pgemm d 8192 8192 8192 processes=4 transport=nccl". */
#ifndef TESSERA_BENCH_MPI_H
#define TESSERA_BENCH_MPI_H

#include "elements.h"
#include "pgemm.h"

enum { MPI_MOST_REPEATS = 1000 };

/* The words as given. Not given: a text that is NULL, a number that is less than 0; of the cut, 0.
 */
typedef struct mpi_words {
  const char *grid, *transport;
  int64_t processes, block, repeat;
  cut_options cut;
  settings settings;
} mpi_words;

typedef struct mpi_case {
  char *text;     /* the words' storage, to be freed */
  char place[32]; /* what messages call it */
  tsr_type type;
  int64_t m, n, k; /* C = A B, in blocks that are dealt in turn */
  int64_t grid[2]; /* 0: by the model */
  int64_t block;
  mpi_words words;
} mpi_case;

typedef struct mpi_row {
  const mpi_case *c;
  int processes, rows, cols, devices;    /* devices of a process; 0: the CPU */
  const char *transport;                 /* how panels travelled */
  double first, median, predicted, peak; /* s; 0: not known; peak: flops/s of a device */
  tsr_pprediction p;                     /* when predicted is known */
  size_t memory;                         /* budget of a device, bytes */
  double network;                        /* bytes/s of a process; 0: not known */
  bool measured, good;
} mpi_row;

/* Measures the case, on the first so many processes of those that mpirun has started. Between
 * MPI_Init and MPI_Finalize, and collective; only the first process has the row. */
int mpi_measure(const mpi_case *c, const char *timeline, mpi_row *row);
/* What was kept for the next case. */
void mpi_measure_end(void);

/* Predicts it on a grid that is only imagined. No process, no device and no data. */
int mpi_predict(const mpi_case *c, mpi_row *row);

#endif
