/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Faults across processes. If one process gives a wrong argument or lacks memory, all processes
 * must return the same status with the same message, none may hang, and the grid must still work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cases.h"

/* ---- Cases ----------------------------------------------------------------- */

static void shapes(world *w) {
  tsr_grid *grid = NULL;
  int rows = 0, cols = 0, row = -1, col = -1;
  EXPECT(tsr_grid_create(w->cpu, MPI_COMM_WORLD, w->size + 1, 1, &grid), TSR_ERR_ARGUMENT,
         "does not match the communicator");
  EXPECT(tsr_grid_create(w->cpu, MPI_COMM_WORLD, -1, 1, &grid), TSR_ERR_ARGUMENT, "-1 x 1");
  EXPECT(tsr_grid_create(w->cpu, MPI_COMM_WORLD, 0, w->size + 1, &grid), TSR_ERR_ARGUMENT,
         "does not match");
  HOLD(grid == NULL);
  EXPECT(tsr_grid_create(w->cpu, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  HOLD(tsr_grid_place(grid, &rows, &cols, &row, &col) == TSR_OK);
  HOLD(rows * cols == w->size && rows <= cols && row * cols + col == w->rank);
  for (int r = rows + 1; r * r <= w->size; r++) HOLD(w->size % r != 0);
  tsr_grid_destroy(grid);
  grid = NULL;
  EXPECT(tsr_grid_create(w->cpu, MPI_COMM_WORLD, w->size, 0, &grid), TSR_OK, "");
  tsr_grid_destroy(grid);
  HOLD(tsr_grid_create(w->cpu, MPI_COMM_NULL, 0, 0, &grid) == TSR_ERR_ARGUMENT);
  HOLD(tsr_grid_place(NULL, &rows, NULL, NULL, NULL) == TSR_ERR_ARGUMENT);
  tsr_grid_destroy(NULL);
}

static void grids_of_parts(world *w) {
  MPI_Comm half;
  tsr_grid *grid = NULL;
  MPI_Comm_split(MPI_COMM_WORLD, w->rank % 2, -w->rank, &half);
  tsr_status status = tsr_grid_create(w->cpu, half, 0, 0, &grid);
  MPI_Comm_free(&half); /* the grid has a copy */
  EXPECT(status, TSR_OK, "");
  goes_on(grid);
  tsr_grid_destroy(grid);
}

static void one_disagrees_on_a_grid(world *w) {
  tsr_grid *grid = NULL;
  int last = w->rank == w->size - 1;
  if (w->size == 1) return;
  EXPECT(tsr_grid_create(w->cpu, MPI_COMM_WORLD, last ? w->size : 1, last ? 1 : w->size, &grid),
         TSR_ERR_ARGUMENT, "rows is");
  EXPECT(tsr_grid_create(last ? NULL : w->cpu, MPI_COMM_WORLD, 0, 0, &grid), TSR_ERR_ARGUMENT,
         "context is NULL");
  EXPECT(tsr_grid_set_panels(w->grid, last ? 3 : 4, 0), TSR_ERR_ARGUMENT, "depth is 3");
  EXPECT(tsr_grid_set_panels(w->grid, 0, last ? 99 : 1), TSR_ERR_ARGUMENT, "lookahead is 99");
  HOLD(grid == NULL);
}

/* Changes an argument of the call on one process. */
static void change(call *x, int what) {
  switch (what) {
    case 0:
      x->m--;
      break;
    case 1:
      x->transa = TSR_TRANS;
      break;
    case 2:
      x->alpha = 2;
      break;
    case 3:
      x->beta = 2;
      break;
    case 4:
      x->a.mb++;
      break;
    case 5:
      x->b.inb = 2;
      break;
    case 6:
      x->c.n++;
      break;
    default:
      x->m--, x->ia = 1;
  }
}

static void one_disagrees_on_a_product(world *w) {
  static const char *const names[] = {"m is 23",          "transa is",  "the bits of alpha",
                                      "the bits of beta", "a->mb is 6", "b->inb is 2",
                                      "c->n is 25",       "m is 23"};
  if (w->size == 1) return;
  for (int what = 0; what < 8; what++) {
    call x;
    if (!HOLD(call_create(w->grid, TSR_NO_TRANS, &x))) return;
    double *larger = calloc(3 * (N + 8) * (N + 8), sizeof(double)), *kept = x.c.data;
    if (w->rank == w->size - 1) {
      change(&x, what);
      x.a.ld = x.b.ld = x.c.ld = N + 8; /* ld and storage suffice for every changed layout */
      x.a.data = larger;
      x.b.data = larger + (N + 8) * (N + 8);
      x.c.data = larger + 2 * (N + 8) * (N + 8);
    }
    EXPECT(call_run(&x), TSR_ERR_ARGUMENT, names[what]);
    if (w->rank != w->size - 1) HOLD(kept[0] == 1);
    free(larger);
  }
  goes_on(w->grid);
}

/* On one process the storage of C overlaps that of A, or of B. */
static void memory_is_shared(world *w) {
  for (int which = 0; which < 2; which++) {
    call x;
    if (!HOLD(call_create(w->grid, TSR_NO_TRANS, &x))) return;
    tsr_pmatrix *input = which ? &x.b : &x.a;
    double *both = calloc(2 * N * N, sizeof *both);
    if (w->rank == w->size - 1) {
      input->data = both;
      input->ld = x.c.ld = N;
      x.c.data = both + 1;
    }
    EXPECT(call_run(&x), TSR_ERR_ARGUMENT, which ? "and b, at" : "and a, at");
    x.alpha = 0; /* then A and B are not read, and may overlap C */
    EXPECT(call_run(&x), TSR_OK, "");
    free(both);
  }
  goes_on(w->grid);
}

static void one_makes_another_call(world *w) {
  call x;
  if (w->size == 1 || !HOLD(call_create(w->grid, TSR_NO_TRANS, &x))) return;
  bool other = w->rank == w->size - 1;
  EXPECT(
      other ? tsr_redistribute(w->grid, TSR_NO_TRANS, N, N, &x.a, 0, 0, &x.c, 0, 0) : call_run(&x),
      TSR_ERR_ARGUMENT, "the number of the function");
  call_destroy(&x);
  goes_on(w->grid);
}

/* Each process in turn gives a wrong argument. */
static void one_is_wrong(world *w) {
  for (int who = 0; who < w->size; who = next_of(w, who))
    for (int what = 0; what < 7; what++) {
      static const char *const names[] = {
          "a->ld is 0", "b->data is NULL",        "a->mb is 0", "c->row_source", "c has",
          "a->type is", "c->grid is another grid"};
      call x, y;
      if (!HOLD(call_create(w->grid, TSR_NO_TRANS, &x))) return;
      y = x;
      int64_t rows, cols;
      if (w->rank == who) {
        if (what == 0) y.a.ld = 0;
        if (what == 1) y.b.data = NULL;
        if (what == 2) y.a.mb = 0;
        if (what == 3) y.c.row_source = w->size;
        if (what == 4) y.c.m = y.c.n = N - 1;
        if (what == 5) y.a.type = TSR_T;
        if (what == 6) y.c.grid = NULL;
      }
      tsr_pmatrix_extents(&x.b, &rows, &cols);
      int has = rows > 0 && cols > 0;
      MPI_Bcast(&has, 1, MPI_INT, who, MPI_COMM_WORLD);
      if (what != 1 || has) { /* data may be NULL if the process has no elements */
        char process[32];
        snprintf(process, sizeof process, "process %d: ", who);
        EXPECT(call_run(&y), TSR_ERR_ARGUMENT, names[what]);
        HOLD(strncmp(tsr_message(), process, strlen(process)) == 0);
      }
      call_destroy(&x);
    }
  goes_on(w->grid);
}

static void not_on_the_grid(world *w) {
  call x;
  tsr_grid *other = NULL;
  EXPECT(tsr_grid_create(w->cpu, MPI_COMM_WORLD, 0, 0, &other), TSR_OK, "");
  if (!HOLD(call_create(w->grid, TSR_NO_TRANS, &x))) return;
  x.grid = other;
  EXPECT(call_run(&x), TSR_ERR_ARGUMENT, "a->grid is another grid");
  EXPECT(tsr_redistribute(other, TSR_NO_TRANS, N, N, &x.a, 0, 0, &x.c, 0, 0), TSR_ERR_ARGUMENT,
         "from->grid is another grid");
  EXPECT(tsr_gather(w->grid, w->size, 0, &x.a, NULL, N), TSR_ERR_ARGUMENT, "row_source");
  EXPECT(tsr_scatter(w->grid, 0, 0, NULL, N, &x.a), TSR_ERR_ARGUMENT, "from->data is NULL");
  EXPECT(tsr_scatter(w->grid, 0, 0, NULL, N, NULL), TSR_ERR_ARGUMENT, "to is NULL");
  HOLD(call_run(&(call){.grid = NULL}) == TSR_ERR_ARGUMENT);
  call_destroy(&x);
  tsr_grid_destroy(other);
}

/* ---- No memory -------------------------------------------------------------- */

/* Makes the call with the nth allocation of process `who` failing, for n = 1, 2, ... until the call
 * has fewer than n allocations and succeeds. undo: a statement after the call that succeeded. */
#define FAIL_EACH(w, who, call_, undo)                               \
  do {                                                               \
    int done = 0;                                                    \
    for (long n = 1; !done && n < 4000; n++) {                       \
      if ((w)->rank == (who)) tsr_alloc_fail_at(n);                  \
      tsr_status status_ = (call_);                                  \
      tsr_alloc_fail_at(0);                                          \
      done = status_ == TSR_OK;                                      \
      if (done && n == 1) HOLD(!"allocations are made");             \
      if (done) {                                                    \
        undo;                                                        \
      }                                                              \
      expect(status_, done ? TSR_OK : TSR_ERR_MEMORY, "", __LINE__); \
    }                                                                \
    HOLD(done);                                                      \
  } while (0)

static void no_memory_for_objects(world *w) {
  for (int who = 0; who < w->size; who = next_of(w, who)) {
    tsr_grid *grid = NULL;
    tsr_pmatrix x;
    FAIL_EACH(w, who, tsr_grid_create(w->cpu, MPI_COMM_WORLD, 0, 0, &grid), tsr_grid_destroy(grid));
    FAIL_EACH(w, who, tsr_pmatrix_create(w->grid, TSR_D, N, N, 3, 3, 0, 0, &x),
              tsr_pmatrix_destroy(&x));
  }
}

/* With and without an operand that is redistributed first. */
static void no_memory_for_a_product(world *w) {
  for (int who = 0; who < w->size && w->size > 1; who = next_of(w, who))
    for (int moving = 0; moving < 2; moving++) {
      call x;
      if (!HOLD(call_create(w->grid, moving ? TSR_TRANS : TSR_NO_TRANS, &x))) return;
      FAIL_EACH(w, who, call_run(&x), HOLD(is_right(&x)));
      FAIL_EACH(w, who, tsr_redistribute(w->grid, TSR_TRANS, N, N, &x.a, 0, 0, &x.c, 0, 0), );
      call_destroy(&x);
    }
  goes_on(w->grid);
}

/* Whether C is as call_create made it. */
static bool is_untouched(const call *x) {
  int64_t rows, cols;
  if (tsr_pmatrix_extents(&x->c, &rows, &cols) != TSR_OK) return false;
  for (int64_t at = 0; at < rows * cols; at++)
    if (((double *)x->c.data)[at] != 1) return false;
  return true;
}

/* The device of one process lacks memory: the CPU's BLAS computes that process's part. (Results
 * that must be reproducible: arithmetic.c.) */
static void no_memory_on_a_device(world *w) {
  tsr_context *poor = with_little_memory();
  for (int who = 0; who < w->size && w->size > 1; who = next_of(w, who)) {
    tsr_grid *grid = NULL;
    call x;
    EXPECT(tsr_grid_create(w->rank == who ? poor : w->devices, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK,
           "");
    EXPECT(tsr_grid_set_panels(grid, 1, 2), TSR_OK, "");
    if (!HOLD(call_create(grid, TSR_NO_TRANS, &x))) return;
    EXPECT(call_run(&x), TSR_OK, "");
    HOLD(is_right(&x));
    call_destroy(&x);
    tsr_grid_destroy(grid);
  }
  tsr_context_destroy(poor);
  goes_on(w->grid);
}

/* Native results that must be reproducible are refused on several processes, with the remedy, and C
 * stays as it was; C that is only scaled, and emulated products, are not. */
static void native_is_not_reproducible(world *w) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  tsr_grid *grid = NULL;
  call x;
  bool several = w->size > 1;
  options.engine = "host";
  options.machine = "host:200 gpu*2@nvlink:300 pcie:25 rate:1";
  options.reproducible = w->rank == w->size - 1 ? 1 : -1; /* it is enough that one wants it */
  HOLD(tsr_context_create(&options, &context) == TSR_OK);
  EXPECT(tsr_grid_create(context, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  if (!HOLD(call_create(grid, TSR_NO_TRANS, &x))) return;
  EXPECT(call_run(&x), several ? TSR_ERR_UNSUPPORTED : TSR_OK, "TESSERA_ARITHMETIC=emulated");
  HOLD(several ? is_untouched(&x) : is_right(&x));
  EXPECT(call_run_async(&x), several ? TSR_ERR_UNSUPPORTED : TSR_OK, "TESSERA_REPRODUCIBLE");
  EXPECT(tsr_grid_sync(grid), TSR_OK, "");
  HOLD(several ? is_untouched(&x) : is_right(&x));
  call_destroy(&x);
  if (!HOLD(call_create(grid, TSR_NO_TRANS, &x))) return;
  x.alpha = 0, x.beta = N;
  EXPECT(call_run(&x), TSR_OK, "");
  HOLD(is_right(&x));
  call_destroy(&x);
  goes_on(w->grid);
  tsr_grid_destroy(grid);
  tsr_context_destroy(context);
}

/* One allocation of one process fails, anywhere in planning and running: on all processes C is
 * right, or C is unchanged. kind & 1: reproducible, emulated; kind & 2: C is only scaled (alpha 0).
 */
static void nothing_is_lost(world *w) {
  static const int reproducible[2] = {-1, 1};
  for (int kind = 0; kind < 4; kind++) {
    tsr_options options = TSR_OPTIONS_DEFAULT;
    tsr_context *context = NULL;
    tsr_grid *grid = NULL;
    options.engine = "host";
    options.machine = "host:200 gpu*2@nvlink:300 pcie:25 rate:1";
    options.memory = (size_t)16 << 20;
    options.reproducible = reproducible[kind & 1];
    options.arithmetic = kind & 1 ? "emulated" : "native";
    HOLD(tsr_context_create(&options, &context) == TSR_OK);
    EXPECT(tsr_grid_create(context, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
    if (!(kind & 1)) { /* lines of emulated products are not cut */
      EXPECT(tsr_grid_set_panels(grid, 5, 2), TSR_OK, "");
      EXPECT(tsr_grid_set_blocks(grid, 7, 9), TSR_OK, "");
    }
    for (long n = 1; n < 900 && w->size > 1; n += 1 + n / 16) {
      call x;
      if (!HOLD(call_create(grid, TSR_NO_TRANS, &x))) return;
      if (kind & 2) x.alpha = 0, x.beta = N;
      if (w->rank == w->size - 1) tsr_alloc_fail_at(n);
      tsr_status status = call_run(&x);
      tsr_alloc_fail_at(0);
      HOLD(status == TSR_OK ? is_right(&x) : is_untouched(&x));
      expect(status, status == TSR_OK ? TSR_OK : TSR_ERR_MEMORY, "", __LINE__);
      call_destroy(&x);
    }
    goes_on(grid);
    tsr_grid_destroy(grid);
    tsr_context_destroy(context);
  }
}

/* From the nth on all allocations of one process fail. It goes on with its messages, so no process
 * hangs; all return the same status, and after TSR_OK C is right. */
static void memory_runs_out_midway(world *w) {
  tsr_grid *grid = NULL;
  EXPECT(tsr_grid_create(w->devices, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  EXPECT(tsr_grid_set_panels(grid, 3, 2), TSR_OK, "");
  for (long n = 1; n < 200; n += 3) {
    call x;
    if (!HOLD(call_create(grid, TSR_NO_TRANS, &x))) return;
    if (w->rank == w->size - 1) tsr_alloc_fail_from(n);
    tsr_status status = call_run(&x);
    tsr_alloc_fail_at(0);
    if (status == TSR_OK) HOLD(is_right(&x));
    expect(status, status == TSR_OK ? TSR_OK : TSR_ERR_MEMORY, "", __LINE__);
    call_destroy(&x);
  }
  goes_on(grid);
  tsr_grid_destroy(grid);
}

/* ---- The program ------------------------------------------------------------ */

int main(int argc, char **argv) {
  static const test_case cases[] = {
      {"shapes", shapes},
      {"native is not reproducible", native_is_not_reproducible},
      {"grids of parts", grids_of_parts},
      {"one disagrees on a grid", one_disagrees_on_a_grid},
      {"one disagrees on a product", one_disagrees_on_a_product},
      {"memory is shared", memory_is_shared},
      {"one makes another call", one_makes_another_call},
      {"one is wrong", one_is_wrong},
      {"not on the grid", not_on_the_grid},
      {"no memory for objects", no_memory_for_objects},
      {"no memory for a product", no_memory_for_a_product},
      {"no memory on a device", no_memory_on_a_device},
      {"nothing is lost", nothing_is_lost},
      {"memory runs out midway", memory_runs_out_midway},
  };
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
