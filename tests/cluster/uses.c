/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Cases that the random driver does not have: composition with asynchronous calls of the context,
 * redistributions of several windows, scattering and gathering.
 */
#include <stdlib.h>
#include <string.h>

#include "cases.h"

/* Adds `by` to every element of this process on the devices, where the result stays. */
static void add_there(const world *w, const tsr_pmatrix *x, double by) {
  const double one = 1;
  double ones[2 * N];
  int64_t rows, cols;
  tsr_pmatrix_extents(x, &rows, &cols);
  for (int i = 0; i < 2 * N; i++) ones[i] = 1;
  HOLD(tsr_gemm_async(w->devices, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, rows, cols, 1,
                      &by, ones, rows > 0 ? rows : 1, ones + N, 1, &one, x->data, x->ld) == TSR_OK);
  HOLD(tsr_sync(w->devices) == TSR_OK); /* the array of ones ends with this function */
  tsr_invalidate(w->devices, 2 * N, 1, ones, 2 * N, TSR_D);
}

/* The sum of all elements of this process, computed on the devices. */
static double sum_there(const world *w, const tsr_pmatrix *x) {
  const double one = 1, zero = 0;
  double ones[N], sums[N] = {0}, sum = 0;
  int64_t rows, cols;
  tsr_pmatrix_extents(x, &rows, &cols);
  if (rows == 0 || cols == 0) return 0;
  for (int i = 0; i < N; i++) ones[i] = 1;
  HOLD(tsr_gemm_async(w->devices, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, rows, 1, cols,
                      &one, x->data, x->ld, ones, cols, &zero, sums, rows) == TSR_OK);
  HOLD(tsr_coherent(w->devices, TSR_GENERAL, rows, 1, sums, rows, TSR_D) == TSR_OK);
  HOLD(tsr_sync(w->devices) == TSR_OK);
  tsr_release(w->devices, rows, 1, sums, rows, TSR_D);
  tsr_release(w->devices, cols, 1, ones, cols, TSR_D);
  for (int64_t i = 0; i < rows; i++) sum += sums[i];
  return sum;
}

static void set_here(const tsr_pmatrix *x, double value) {
  int64_t rows, cols;
  tsr_pmatrix_extents(x, &rows, &cols);
  for (int64_t i = 0; i < rows * cols; i++) ((double *)x->data)[i] = value;
}

/* An operand is the result of an asynchronous call of the context, so host memory is older than the
 * devices' copy. After the product C is in host memory, and the program may change it there without
 * telling the library. */
static void composition(world *w) {
  tsr_grid *grid = NULL;
  EXPECT(tsr_grid_create(w->devices, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  for (int trans = 0; trans < 2; trans++) {
    call x;
    if (!HOLD(call_create(grid, trans ? TSR_TRANS : TSR_NO_TRANS, &x))) return;
    add_there(w, &x.a, 1);
    x.alpha = 0.5;
    EXPECT(call_run(&x), TSR_OK, "");
    HOLD(is_right(&x));
    set_here(&x.c, 2);
    x.alpha = 0, x.beta = N / 2;
    EXPECT(call_run(&x), TSR_OK, "");
    HOLD(is_right(&x));
    HOLD(tsr_sync(w->devices) == TSR_OK);
    tsr_release(w->devices, 0, 0, NULL, 1, TSR_D);
    call_destroy(&x);
  }
  tsr_grid_destroy(grid);
}

/* The same for a redistribution from A to all of C but its last row and column, while the devices
 * have newer copies of both. Afterwards the devices see the new C. */
static void composition_of_moves(world *w) {
  tsr_grid *grid = NULL;
  call x;
  EXPECT(tsr_grid_create(w->devices, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  if (!HOLD(call_create(grid, TSR_NO_TRANS, &x))) return;
  add_there(w, &x.a, 1);
  add_there(w, &x.c, 2);
  EXPECT(tsr_redistribute(grid, TSR_NO_TRANS, N - 1, N - 1, &x.a, 0, 0, &x.c, 0, 0), TSR_OK, "");
  double here = sum_there(w, &x.c), all;
  MPI_Allreduce(&here, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  HOLD(all == 2 * (N - 1) * (N - 1) + 3 * (2 * N - 1));
  tsr_release(w->devices, 0, 0, NULL, 1, TSR_D);
  call_destroy(&x);
  tsr_grid_destroy(grid);
}

/* A matrix is scattered from each process and gathered at each other one. */
static void there_and_back(world *w) {
  enum { ROWS = 37, COLS = 21, LD = 40 };
  int rows, cols, row, col;
  tsr_grid_place(w->grid, &rows, &cols, &row, &col);
  for (int from = 0; from < w->size; from++) {
    int to = (from * 5 + 1) % w->size;
    double *full = calloc(LD * COLS, sizeof *full), *back = calloc(LD * COLS, sizeof *back);
    tsr_pmatrix x;
    HOLD(tsr_pmatrix_create(w->grid, TSR_D, ROWS, COLS, 4, 3, rows - 1, 0, &x) == TSR_OK);
    for (int i = 0; i < LD * COLS; i++) full[i] = w->rank == from ? i : -1;
    EXPECT(tsr_scatter(w->grid, from / cols, from % cols, w->rank == from ? full : NULL, LD, &x),
           TSR_OK, "");
    EXPECT(tsr_gather(w->grid, to / cols, to % cols, &x, back, w->rank == to ? LD : 0), TSR_OK, "");
    for (int i = 0; i < LD * COLS; i++) HOLD(back[i] == (w->rank == to && i % LD < ROWS ? i : 0));
    tsr_pmatrix_destroy(&x);
    free(full);
    free(back);
  }
}

static void fill(const tsr_pmatrix *x, bool clear, bool check, int rank) {
  int64_t rows, cols;
  tsr_pmatrix_extents(x, &rows, &cols);
  for (int64_t i = 0; i < rows * cols; i++) {
    double *to = (double *)x->data + i;
    if (check) HOLD(*to == (double)i + rank * 1e9);
    if (!check) *to = clear ? 0 : (double)i + rank * 1e9;
  }
}

/* Redistributions to other blocks and back, of matrices larger than a window in rows or in columns.
 */
static void large_messages(world *w) {
  static const int64_t extents[2][2] = {{2200001, 3}, {1501, 2203}};
  for (int e = 0; e < 2 && w->size <= 2; e++) {
    int64_t m = extents[e][0] * (e == 0 ? w->size : 1), n = extents[e][1] * (e == 1 ? w->size : 1);
    tsr_pmatrix x, y, z;
    HOLD(tsr_pmatrix_create(w->grid, TSR_D, m, n, 1000, 700, 0, 0, &x) == TSR_OK);
    HOLD(tsr_pmatrix_create(w->grid, TSR_D, m, n, 1000, 700, 0, 0, &z) == TSR_OK);
    HOLD(tsr_pmatrix_create(w->grid, TSR_D, n, m, 64, 999, 0, 0, &y) == TSR_OK);
    fill(&x, false, false, w->rank);
    fill(&z, true, false, w->rank);
    EXPECT(tsr_redistribute(w->grid, TSR_TRANS, n, m, &x, 0, 0, &y, 0, 0), TSR_OK, "");
    EXPECT(tsr_redistribute(w->grid, TSR_TRANS, m, n, &y, 0, 0, &z, 0, 0), TSR_OK, "");
    fill(&z, false, true, w->rank);
    tsr_pmatrix_destroy(&x);
    tsr_pmatrix_destroy(&y);
    tsr_pmatrix_destroy(&z);
  }
}

/* ---- Irregular blocks --------------------------------------------------------- */

/* A matrix of ones in blocks of any extents, times itself; and lists that are refused. */
static void irregular_blocks(world *w) {
  static const int64_t ends[] = {1, 2, 9, 11, 20, N}, falls[] = {1, 3, 3, N}, empty[] = {0, N};
  call x = {.transa = TSR_NO_TRANS, .m = N, .alpha = 1};
  tsr_pmatrix *const all[3] = {&x.a, &x.b, &x.c}, none = {0};
  double full[N * N];
  x.grid = w->grid;
  for (int i = 0; i < 3; i++) {
    if (!HOLD(tsr_pmatrix_create_irregular(w->grid, TSR_D, 6, ends, 6 - i, ends + i, 0, 0,
                                           all[i]) == TSR_OK))
      return;
    set_here(all[i], 1);
  }
  HOLD(x.a.m == N && x.a.n == N && x.a.row_ends != ends);
  EXPECT(call_run(&x), TSR_OK, "");
  HOLD(is_right(&x));
  EXPECT(tsr_gather(w->grid, 0, 0, &x.c, full, N), TSR_OK, "");
  for (int i = 0; i < N * N && w->rank == 0; i++) HOLD(full[i] == N);
  call_destroy(&x);
  tsr_pmatrix y = none;
  EXPECT(tsr_pmatrix_create_irregular(w->grid, TSR_D, 4, falls, 1, &ends[5], 0, 0, &y),
         TSR_ERR_ARGUMENT, "row_ends[2] is 3 and the block begins at 3");
  EXPECT(tsr_pmatrix_create_irregular(w->grid, TSR_D, 6, ends, 2, empty, 0, 0, &y),
         TSR_ERR_ARGUMENT, "col_ends[0] is 0");
  EXPECT(tsr_pmatrix_create_irregular(w->grid, TSR_D, 2, NULL, 6, ends, 0, 0, &y), TSR_ERR_ARGUMENT,
         "row_ends is NULL");
  EXPECT(tsr_pmatrix_create_irregular(w->grid, TSR_D, -1, ends, 6, ends, 0, 0, &y),
         TSR_ERR_ARGUMENT, "row_ends has -1 blocks");
  y = (tsr_pmatrix){.grid = w->grid,
                    .type = TSR_D,
                    .m = N + 1,
                    .n = N,
                    .nb = 4,
                    .ld = N + 1,
                    .row_ends = ends,
                    .row_blocks = 6};
  HOLD(tsr_pmatrix_extents(&y, NULL, NULL) == TSR_ERR_ARGUMENT &&
       strstr(tsr_message(), "the last of 6 entries of matrix->row_ends is 24") != NULL);
  /* Lists that differ between processes are found. */
  int64_t other[] = {1, 2, 9, 11, 20 - (w->rank > 0), N};
  if (w->size > 1)
    EXPECT(tsr_pmatrix_create_irregular(w->grid, TSR_D, 6, other, 6, ends, 0, 0, &y),
           TSR_ERR_ARGUMENT, "row_ends");
}

/* ---- Counts ------------------------------------------------------------------ */

/* Indices of 0 .. N-1 that a coordinate owns of blocks of BLOCK. */
static int64_t owned(int count, int me) {
  int64_t sum = 0;
  for (int64_t i = 0; i < N; i++) sum += i / BLOCK % count == me;
  return sum;
}

/* What a process receives of a product whose layouts agree: its rows of A and its columns of B, but
 * for what it has; each panel is sent once. Its devices get what they multiply at least once:
 * panels that travel from device to device come from host memory at their owner alone. */
static void counts(world *w) {
  tsr_grid *grid = NULL;
  tsr_ptraffic before, after, planned;
  call x = {.transa = TSR_NO_TRANS, .m = N, .alpha = 1};
  tsr_pmatrix *const all[3] = {&x.a, &x.b, &x.c};
  int extent[2], me[2];
  EXPECT(tsr_grid_create(w->devices, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  x.grid = grid;
  for (int i = 0; i < 3; i++) {
    if (!HOLD(tsr_pmatrix_create(grid, TSR_D, N, N, BLOCK, BLOCK, 0, 0, all[i]) == TSR_OK)) return;
    set_here(all[i], 1);
  }
  tsr_grid_place(grid, &extent[0], &extent[1], &me[0], &me[1]);
  int64_t rows = owned(extent[0], me[0]), cols = owned(extent[1], me[1]);
  HOLD(tsr_grid_traffic(grid, &before, NULL) == TSR_OK);
  EXPECT(call_run(&x), TSR_OK, "");
  HOLD(is_right(&x));
  HOLD(tsr_grid_traffic(grid, &after, &planned) == TSR_OK);
  double of_a = (double)(rows * (N - owned(extent[1], me[1]))) * sizeof(double);
  double of_b = (double)(cols * (N - owned(extent[0], me[0]))) * sizeof(double);
  HOLD(after.received - before.received == of_a + of_b);
  HOLD(after.received == planned.received && after.sent == planned.sent);
  double own_a = (double)(rows * owned(extent[1], me[1])) * sizeof(double);
  double own_b = (double)(cols * owned(extent[0], me[0])) * sizeof(double);
  HOLD(after.sent - before.sent == (extent[1] > 1 ? own_a : 0) + (extent[0] > 1 ? own_b : 0));
  bool by_host = w->size == 1 || strcmp(tsr_grid_transport(grid), "mpi") == 0;
  double least = by_host ? (double)(rows * N + cols * N) * sizeof(double) : own_a + own_b;
  HOLD(rows == 0 || cols == 0 || after.from_host - before.from_host >= least);
  HOLD(after.to_host - before.to_host >= (double)(rows * cols) * sizeof(double));
  call_destroy(&x);
  tsr_grid_destroy(grid);
  EXPECT(tsr_grid_traffic(NULL, &after, NULL), TSR_ERR_ARGUMENT, "grid");
}

/* ---- The program ------------------------------------------------------------ */

int main(int argc, char **argv) {
  static const test_case cases[] = {
      {"composition", composition},
      {"composition of moves", composition_of_moves},
      {"there and back", there_and_back},
      {"large messages", large_messages},
      {"counts", counts},
      {"irregular blocks", irregular_blocks},
  };
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
