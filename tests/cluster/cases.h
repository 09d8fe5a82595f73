/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Shared by the programs of cases, which mpirun runs on any number of processes: checks whose
 * verdict is the same on all processes, and a small product. A case is a function that all
 * processes call.
 */
#ifndef TESTS_CLUSTER_CASES_H
#define TESTS_CLUSTER_CASES_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera_mpi_model.h"

enum { N = 24, BLOCK = 5 };

typedef struct world {
  int rank, size;
  tsr_context *cpu, *devices;
  tsr_grid *grid; /* of context `cpu` */
} world;

typedef struct test_case {
  const char *name;
  void (*run)(world *w);
} test_case;

/* Initialises MPI, runs the cases, and prints one line for each and the totals on process 0.
 * Returns the exit code. A program that hangs is ended after ten minutes. "--level 1" asks for
 * MPI_THREAD_FUNNELED in place of MPI_THREAD_MULTIPLE. */
int run_cases(int argc, char **argv, const test_case *cases, size_t count);

/* Notes the first condition of a case that is false on this process; returns `right`. */
bool hold(bool right, const char *what, int line);
#define HOLD(condition) hold(condition, #condition, __LINE__)

/* Collective. All processes have status `wanted` and the same message, which contains `part`. */
void expect(tsr_status status, tsr_status wanted, const char *part, int line);
#define EXPECT(call, wanted, part) expect(call, wanted, part, __LINE__)

/* The process after `who`, for cases that let each process fail in turn; on more than 4 processes
 * every fourth one. */
int next_of(const world *w, int who);

/* A context on one device, which has memory for less than a tile. */
tsr_context *with_little_memory(void);

/* C = alpha op(A) B + beta C, N x N; call_create fills all matrices with ones. Cases may change the
 * fields. */
typedef struct call {
  tsr_grid *grid;
  tsr_op transa;
  int64_t m, ia;
  double alpha, beta;
  tsr_pmatrix a, b, c;
} call;

bool call_create(tsr_grid *grid, tsr_op transa, call *x);
void call_destroy(call *x);
tsr_status call_run(const call *x);
tsr_status call_run_async(const call *x);

/* Whether every element of C is N, as the product of matrices of ones has it. */
bool is_right(const call *x);

/* Checks that a product on the grid still works. */
void goes_on(tsr_grid *grid);

#endif
