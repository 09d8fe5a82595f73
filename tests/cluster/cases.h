/*
 * What programs of cases share, to be run by mpirun on any number of processes: judging that is the
 * same on all of them, and a small product. Each case is a function that all processes call.
 */
#ifndef TESTS_DIST_CASES_H
#define TESTS_DIST_CASES_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera_mpi_model.h"

enum { N = 24, BLOCK = 5 };

typedef struct world {
  int rank, size;
  tsr_context *cpu, *devices;
  tsr_grid *grid; /* with the CPU's context */
} world;

typedef struct test_case {
  const char *name;
  void (*run)(world *w);
} test_case;

/* Initialises MPI, runs the cases, prints one line for each on process 0 and the sum; the exit
 * code. A program that hangs is ended after ten minutes. "--level 1" asks for MPI_THREAD_FUNNELED
 * in place of MPI_THREAD_MULTIPLE. */
int run_cases(int argc, char **argv, const test_case *cases, size_t count);

/* Notes the first thing that is wrong here. */
bool hold(bool right, const char *what, int line);
#define HOLD(condition) hold(condition, #condition, __LINE__)

/* All have this status, and the same message, in which `part` is. */
void expect(tsr_status status, tsr_status wanted, const char *part, int line);
#define EXPECT(call, wanted, part) expect(call, wanted, part, __LINE__)

/* Processes in turn; of many, the first and some others. */
int next_of(const world *w, int who);

/* A context on one device that has memory for less than a tile; with reproducible 1 the CPU's BLAS
 * may not stand in for it. */
tsr_context *without_room(int reproducible);

/* C = alpha op(A) B + beta C, N x N, of matrices of ones; the fields may be changed. */
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

/* Of matrices of ones the product is N everywhere. */
bool is_right(const call *x);

/* After whatever was done, a call on the grid does what it should. */
void goes_on(tsr_grid *grid);

#endif
