/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Cases that the random driver does not have: chains and failures of asynchronous products,
 * timelines, and devices that processes share out. With and without a thread of the grid: --level
 * as in the driver.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cases.h"

static const double one = 1, zero = 0;

static bool create(tsr_grid *grid, int64_t n, int64_t block, double value, tsr_pmatrix *x) {
  int64_t rows, cols;
  if (!HOLD(tsr_pmatrix_create(grid, TSR_D, n, n, block, block, 0, 0, x) == TSR_OK)) return false;
  tsr_pmatrix_extents(x, &rows, &cols);
  for (int64_t i = 0; i < rows * cols; i++) ((double *)x->data)[i] = value;
  return true;
}

static bool is_filled(const tsr_pmatrix *x, double value) {
  int64_t rows, cols;
  tsr_pmatrix_extents(x, &rows, &cols);
  for (int64_t i = 0; i < rows * cols; i++)
    if (((double *)x->data)[i] != value) return false;
  return true;
}

static tsr_status times(tsr_grid *grid, const tsr_pmatrix *a, const tsr_pmatrix *b, double beta,
                        const tsr_pmatrix *c, bool async) {
  int64_t n = a->m;
  return (async ? tsr_pgemm_async : tsr_pgemm)(grid, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, &one, a,
                                               0, 0, b, 0, 0, beta == 0 ? &zero : &one, c, 0, 0);
}

/* Each product reads the result of the product before, while the program sends messages of its own.
 */
static void chains(world *w) {
  enum { LINKS = 5 };
  for (int kind = 0; kind < 2; kind++) {
    tsr_grid *grid = NULL;
    tsr_pmatrix x[LINKS], identity;
    EXPECT(tsr_grid_create(kind ? w->devices : w->cpu, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
    if (!create(grid, N, 3, 0, &identity)) return;
    for (int i = 0; i < LINKS; i++)
      if (!create(grid, N, BLOCK, i == 0, &x[i])) return;
    EXPECT(tsr_grid_set_blocks(grid, 5, 4), TSR_OK, "");
    for (int i = 1; i < LINKS; i++) {
      double sum = 0, mine = 1;
      EXPECT(times(grid, &x[i - 1], &x[0], 0, &x[i], true), TSR_OK, "");
      MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      HOLD(sum == w->size);
    }
    EXPECT(tsr_grid_sync(grid), TSR_OK, "");
    double value = 1;
    for (int i = 1; i < LINKS; i++) HOLD(is_filled(&x[i], value *= N));
    EXPECT(tsr_grid_sync(grid), TSR_OK, ""); /* with nothing to wait for */
    for (int i = 0; i < LINKS; i++) tsr_pmatrix_destroy(&x[i]);
    tsr_pmatrix_destroy(&identity);
    tsr_grid_destroy(grid);
  }
}

/* A blocking product, a redistribution, and tsr_grid_destroy wait for asynchronous products. */
static void others_wait(world *w) {
  tsr_grid *grid = NULL;
  tsr_pmatrix a, b, c, d;
  int64_t rows, cols;
  EXPECT(tsr_grid_create(w->devices, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  if (!create(grid, N, BLOCK, 1, &a) || !create(grid, N, BLOCK, 1, &b) ||
      !create(grid, N, BLOCK, 0, &c) || !create(grid, N, 2, 0, &d))
    return;
  EXPECT(times(grid, &a, &b, 0, &c, true), TSR_OK, "");
  EXPECT(times(grid, &a, &c, 0, &b, false), TSR_OK, "");
  HOLD(is_filled(&b, N * N));
  EXPECT(times(grid, &a, &b, 0, &c, true), TSR_OK, "");
  EXPECT(tsr_redistribute(grid, TSR_NO_TRANS, N, N, &c, 0, 0, &d, 0, 0), TSR_OK, "");
  HOLD(is_filled(&d, (double)N * N * N));
  EXPECT(times(grid, &a, &a, 1, &c, true), TSR_OK, "");
  tsr_pmatrix_extents(&c, &rows, &cols);
  int64_t elements = rows * cols;
  tsr_grid_destroy(grid);
  for (int64_t i = 0; i < elements; i++) HOLD(((double *)c.data)[i] == (double)N * N * N + N);
  tsr_free(w->devices, a.data);
  tsr_free(w->devices, b.data);
  tsr_free(w->devices, c.data);
  tsr_free(w->devices, d.data);
}

/* Panels of several pieces, packed by several threads. Each product has larger panels than the one
 * before, which is still under way when the slots must grow. */
static void large_panels(world *w) {
  static const int64_t extents[] = {500, 1100, 1500};
  tsr_grid *grid = NULL;
  tsr_pmatrix x[3][3];
  if (w->size > 4) return;
  EXPECT(tsr_grid_create(w->cpu, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  EXPECT(tsr_grid_set_panels(grid, 1500, 2), TSR_OK, "");
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (!create(grid, extents[i], 200, j < 2, &x[i][j])) return;
  for (int i = 0; i < 3; i++)
    EXPECT(times(grid, &x[i][0], &x[i][1], 0, &x[i][2], true), TSR_OK, "");
  EXPECT(tsr_grid_sync(grid), TSR_OK, "");
  for (int i = 0; i < 3; i++) HOLD(is_filled(&x[i][2], (double)extents[i]));
  for (int i = 0; i < 9; i++) tsr_pmatrix_destroy(&x[i / 3][i % 3]);
  tsr_grid_destroy(grid);
}

/* ---- Failures ----------------------------------------------------------------------- */

static void wrong_calls_are_refused_at_once(world *w) {
  tsr_pmatrix a, c;
  bool last = w->rank == w->size - 1;
  if (!create(w->grid, N, BLOCK, 1, &a) || !create(w->grid, N, BLOCK, 0, &c)) return;
  tsr_pmatrix bad = a;
  if (last) bad.mb = 0;
  EXPECT(times(w->grid, &bad, &a, 0, &c, true), TSR_ERR_ARGUMENT, "a->mb is 0");
  if (w->size > 1) {
    EXPECT(times(w->grid, &a, &a, 0, &c, last), TSR_ERR_ARGUMENT, "asynchronous");
    EXPECT(last ? tsr_grid_sync(w->grid) : times(w->grid, &a, &a, 0, &c, true), TSR_ERR_ARGUMENT,
           "the number of the function");
    EXPECT(tsr_grid_set_blocks(w->grid, last, 0), TSR_ERR_ARGUMENT, "rows is 1");
    EXPECT(tsr_grid_set_network(w->grid, last ? 2e9 : 1e9, 0), TSR_ERR_ARGUMENT, "bandwidth");
  }
  EXPECT(tsr_grid_set_blocks(w->grid, -1, 0), TSR_ERR_ARGUMENT, "-1 x 0");
  EXPECT(tsr_grid_set_network(w->grid, -1, 0), TSR_ERR_ARGUMENT, "network");
  EXPECT(times(w->grid, &a, &a, 0, &c, true), TSR_OK, "");
  EXPECT(tsr_grid_sync(w->grid), TSR_OK, "");
  HOLD(is_filled(&c, N));
  HOLD(tsr_grid_sync(NULL) == TSR_ERR_ARGUMENT);
  tsr_pmatrix_destroy(&a);
  tsr_pmatrix_destroy(&c);
}

/* A call fails because one process has no memory. Later calls, some of them larger, still work. */
static void no_memory_in_between(world *w) {
  tsr_grid *grid = NULL;
  tsr_pmatrix small[2], large[2];
  if (w->size == 1) return;
  EXPECT(tsr_grid_create(w->cpu, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  if (!create(grid, N, BLOCK, 1, &small[0]) || !create(grid, N, BLOCK, 0, &small[1]) ||
      !create(grid, 4 * N, BLOCK, 1, &large[0]) || !create(grid, 4 * N, BLOCK, 0, &large[1]))
    return;
  for (long n = 1; n < 40; n += 3) {
    EXPECT(times(grid, &small[0], &small[0], 0, &small[1], true), TSR_OK, "");
    if (w->rank == w->size - 1) tsr_alloc_fail_at(n);
    tsr_status status = times(grid, &large[0], &large[0], 0, &large[1], true);
    tsr_alloc_fail_at(0);
    expect(status, status == TSR_OK ? TSR_OK : TSR_ERR_MEMORY, "", __LINE__);
    EXPECT(times(grid, &small[0], &small[0], 0, &small[1], true), TSR_OK, "");
    EXPECT(times(grid, &large[0], &large[0], 0, &large[1], true), TSR_OK, "");
    EXPECT(tsr_grid_sync(grid), TSR_OK, "");
    HOLD(is_filled(&small[1], N) && is_filled(&large[1], 4 * N));
  }
  for (int i = 0; i < 2; i++) {
    tsr_pmatrix_destroy(&small[i]);
    tsr_pmatrix_destroy(&large[i]);
  }
  tsr_grid_destroy(grid);
}

/* ---- Timelines, and shares of devices ------------------------------------------------- */

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at++) count++;
  return count;
}

static void timelines(world *w) {
  tsr_grid *grid = NULL;
  tsr_pmatrix a, c;
  int rows, cols, row, col;
  EXPECT(tsr_grid_create(w->devices, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  tsr_grid_place(grid, &rows, &cols, &row, &col);
  if (!create(grid, N, BLOCK, 1, &a) || !create(grid, N, BLOCK, 0, &c)) return;
  char *text = (char *)"untouched";
  EXPECT(tsr_grid_timeline_end(grid, 0, 0, &text), TSR_ERR_ARGUMENT, "no timeline");
  EXPECT(tsr_grid_timeline_begin(grid), TSR_OK, "");
  EXPECT(times(grid, &a, &a, 0, &c, true), TSR_OK, "");
  EXPECT(tsr_grid_timeline_end(grid, rows, 0, &text), TSR_ERR_ARGUMENT, "no process");
  HOLD(strcmp(text, "untouched") == 0);
  EXPECT(tsr_grid_timeline_end(grid, rows - 1, cols - 1, &text), TSR_OK, "");
  HOLD((text != NULL) == (row == rows - 1 && col == cols - 1));
  if (text != NULL) {
    HOLD(count_of(text, ", messages\"}") == w->size);
    HOLD(count_of(text, "measured: device 0\"}") >= 1);
    HOLD(w->size == 1 || count_of(text, "\"name\":\"panel 0\"") >= 2);
    size_t length = strlen(text);
    HOLD(strcmp(text + length - 5, "}\n]}\n") == 0);
  }
  free(text);
  EXPECT(tsr_grid_sync(grid), TSR_OK, "");
  tsr_pmatrix_destroy(&a);
  tsr_pmatrix_destroy(&c);
  tsr_grid_destroy(grid);
}

/* The processes of a node share out its devices; all processes are on one node here. */
static void devices_are_shared_out(world *w) {
  static const int counts[] = {1, 4, 9};
  for (int i = 0; i < 3; i++) {
    tsr_options options = TSR_OPTIONS_DEFAULT;
    tsr_context *context = NULL;
    char machine[64];
    int sharing = 0, devices, sum;
    snprintf(machine, sizeof machine, "host:200 gpu*%d@nvlink:300 pcie:25 rate:1", counts[i]);
    options.engine = "host";
    options.machine = machine;
    options.memory = 1 << 20;
    EXPECT(tsr_context_create_dealt(MPI_COMM_WORLD, &options, &context, &sharing), TSR_OK, "");
    devices = tsr_device_count(context);
    MPI_Allreduce(&devices, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    HOLD(counts[i] >= w->size ? sum == counts[i] && sharing == 1
                              : devices == 1 && sharing * counts[i] >= w->size - counts[i] + 1);
    tsr_grid *grid = NULL;
    EXPECT(tsr_grid_create(context, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
    goes_on(grid);
    tsr_grid_destroy(grid);
    tsr_context_destroy(context);
  }
  tsr_options cpu = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  cpu.engine = "cpu";
  EXPECT(tsr_context_create_dealt(MPI_COMM_WORLD, &cpu, &context, NULL), TSR_OK, "");
  HOLD(tsr_device_count(context) == 0);
  tsr_context_destroy(context);
  context = NULL;
  cpu.engine = "toaster";
  EXPECT(tsr_context_create_dealt(MPI_COMM_WORLD, &cpu, &context, NULL), TSR_ERR_ENGINE, "toaster");
  HOLD(context == NULL);
}

int main(int argc, char **argv) {
  static const test_case cases[] = {
      {"chains", chains},
      {"others wait", others_wait},
      {"large panels", large_panels},
      {"wrong calls are refused at once", wrong_calls_are_refused_at_once},
      {"no memory in between", no_memory_in_between},
      {"timelines", timelines},
      {"devices are shared out", devices_are_shared_out},
  };
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
