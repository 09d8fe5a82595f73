/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Cases across processes: "pgemm d 8192 8192 8192 processes=4 transport=nccl". */
#ifndef TESSERA_BENCH_MPI_H
#define TESSERA_BENCH_MPI_H

#include "elements.h"
#include "output.h"
#include "pgemm.h"

enum { MPI_MOST_REPEATS = 1000 };

/* The words as given. A word that is not given is NULL if it is a text, below 0 if it is a number,
 * and 0 in cut. */
typedef struct mpi_words {
  const char *grid, *transport;
  int64_t processes, block, repeat;
  cut_options cut;
  settings settings;
} mpi_words;

typedef struct mpi_case {
  char *text;     /* owns the words' storage, to be freed */
  char place[32]; /* the case's name in messages */
  tsr_type type;
  int64_t m, n, k; /* C = A B, distributed block-cyclically */
  int64_t grid[2]; /* rows x columns; 0: the planner chooses */
  int64_t block;
  mpi_words words;
} mpi_case;

typedef struct mpi_row {
  const mpi_case *c;
  int processes, rows, cols, devices;    /* devices of one process; 0: the CPU's BLAS */
  const char *transport;                 /* "mpi", "nccl", or "-" */
  double first, median, predicted, peak; /* s, 0: not known; peak: flops/s of a device */
  tsr_pprediction p;                     /* valid if predicted > 0 */
  moved_bytes *moved; /* in one warm product, by all processes; NULL: not measured. Owned */
  size_t memory;      /* bytes, the budget of a device */
  double network;     /* bytes/s of a process; 0: not known */
  bool measured, good;
} mpi_row;

/* Measures the case on the first words.processes of the processes that mpirun has started.
 * timeline: of one more product; NULL: none. Collective, between MPI_Init and MPI_Finalize; *row is
 * valid on the first process only. The same exit code on all. */
int mpi_measure(const mpi_case *c, const output *timeline, bool force, mpi_row *row);
/* Frees the context, grid and matrices that were kept for the next case. */
void mpi_measure_end(void);

/* Predicts the case on a model-only grid: no processes, devices or data are used. The exit code. */
int mpi_predict(const mpi_case *c, mpi_row *row);

#endif
