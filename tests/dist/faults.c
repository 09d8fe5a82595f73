/*
 * What goes wrong across processes, to be run by mpirun on any number of them: whatever one process
 * does, all get the same status with the same message, none hangs, and the grid goes on.
 * Also what the random driver has no eye for: composition, large messages, the helpers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "layout.h"

enum { PATIENCE = 600 /* s; a hang ends the program */, N = 24, BLOCK = 5 };

typedef struct world {
  int rank, size;
  tsr_context *cpu, *devices;
  tsr_grid *grid; /* with the CPU's context */
} world;

/* ---- Judging --------------------------------------------------------------- */

static char why[700];

/* Notes the first thing that is wrong here. */
static bool hold(bool right, const char *what, int line) {
  if (!right && why[0] == '\0')
    snprintf(why, sizeof why, "line %d: %s (%s)", line, what, tsr_message());
  return right;
}
#define HOLD(condition) hold(condition, #condition, __LINE__)

/* Whether all have the same number, or text. */
static bool all_same(const void *value, int bytes) {
  char first[600];
  memcpy(first, value, (size_t)bytes);
  MPI_Bcast(first, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  int same = memcmp(first, value, (size_t)bytes) == 0, all;
  MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all;
}

/* All have this status, and the same message, in which `part` is. */
static void expect(tsr_status status, tsr_status wanted, const char *part, int line) {
  char message[600] = "";
  snprintf(message, sizeof message, "%s", tsr_message());
  bool same = all_same(&status, sizeof status);
  hold(status == wanted, tsr_status_name(wanted), line);
  if (!hold(same, "the same status everywhere", line) || status == TSR_OK) return;
  hold(all_same(message, sizeof message), "the same message everywhere", line);
  hold(strstr(message, part) != NULL, part, line);
}
#define EXPECT(call, wanted, part) expect(call, wanted, part, __LINE__)

/* Processes in turn; of many, the first, the last and some between. */
static int next_of(const world *w, int who) {
  return who + (w->size > 4 ? 4 : 1);
}

/* ---- A small product ------------------------------------------------------- */

typedef struct call {
  tsr_grid *grid;
  tsr_op transa;
  int64_t m, ia;
  double alpha, beta;
  tsr_pmatrix a, b, c;
} call;

static bool call_create(tsr_grid *grid, tsr_op transa, call *x) {
  *x = (call){.grid = grid, .transa = transa, .m = N, .alpha = 1, .beta = 0};
  tsr_pmatrix *all[3] = {&x->a, &x->b, &x->c};
  for (int i = 0; i < 3; i++) {
    if (tsr_pmatrix_create(grid, TSR_D, N, N, BLOCK + i, BLOCK, 0, 0, all[i]) != TSR_OK)
      return false;
    int64_t rows, cols;
    if (tsr_pmatrix_extents(all[i], &rows, &cols) != TSR_OK) return false;
    for (int64_t at = 0; at < rows * cols; at++) ((double *)all[i]->data)[at] = 1;
  }
  return true;
}

static void call_destroy(call *x) {
  tsr_pmatrix_destroy(&x->a);
  tsr_pmatrix_destroy(&x->b);
  tsr_pmatrix_destroy(&x->c);
}

static tsr_status call_run(const call *x) {
  return tsr_pgemm(x->grid, x->transa, TSR_NO_TRANS, x->m, N, N, &x->alpha, &x->a, x->ia, 0, &x->b,
                   0, 0, &x->beta, &x->c, 0, 0);
}

/* Of matrices of ones the product is N everywhere. */
static bool is_right(const call *x) {
  int64_t rows, cols;
  if (tsr_pmatrix_extents(&x->c, &rows, &cols) != TSR_OK) return false;
  for (int64_t at = 0; at < rows * cols; at++)
    if (((double *)x->c.data)[at] != N) return false;
  return true;
}

/* After whatever was done, a call on the grid does what it should. */
static void goes_on(const world *w, tsr_grid *grid) {
  call x;
  (void)w;
  if (HOLD(call_create(grid, TSR_NO_TRANS, &x))) {
    EXPECT(call_run(&x), TSR_OK, "");
    HOLD(is_right(&x));
  }
  call_destroy(&x);
}

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
  MPI_Comm_free(&half); /* the grid has its own */
  EXPECT(status, TSR_OK, "");
  goes_on(w, grid);
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

/* One process changes something of the call. */
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
    void *larger = calloc((N + 8) * (N + 8), sizeof(double)), *kept = x.c.data;
    if (w->rank == w->size - 1) {
      change(&x, what);
      x.a.ld = x.b.ld = x.c.ld = N + 8; /* enough for any layout, as is the storage */
      x.a.data = x.b.data = x.c.data = larger;
    }
    EXPECT(call_run(&x), TSR_ERR_ARGUMENT, names[what]);
    if (w->rank != w->size - 1) HOLD(((double *)kept)[0] == 1);
    free(larger);
  }
  goes_on(w, w->grid);
}

static void one_makes_another_call(world *w) {
  call x;
  if (w->size == 1 || !HOLD(call_create(w->grid, TSR_NO_TRANS, &x))) return;
  bool other = w->rank == w->size - 1;
  EXPECT(
      other ? tsr_redistribute(w->grid, TSR_NO_TRANS, N, N, &x.a, 0, 0, &x.c, 0, 0) : call_run(&x),
      TSR_ERR_ARGUMENT, "the number of the function");
  call_destroy(&x);
  goes_on(w, w->grid);
}

/* One process, whichever it is, gives what makes no sense. */
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
        if (what == 5) y.a.type = TSR_H;
        if (what == 6) y.c.grid = NULL;
      }
      tsr_pmatrix_extents(&x.b, &rows, &cols);
      int has = rows > 0 && cols > 0;
      MPI_Bcast(&has, 1, MPI_INT, who, MPI_COMM_WORLD);
      if (what != 1 || has) { /* NULL is no error where nothing is */
        char process[32];
        snprintf(process, sizeof process, "process %d: ", who);
        EXPECT(call_run(&y), TSR_ERR_ARGUMENT, names[what]);
        HOLD(strncmp(tsr_message(), process, strlen(process)) == 0);
      }
      call_destroy(&x);
    }
  goes_on(w, w->grid);
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

/* Lets the nth allocation of process `who` fail, for all n, until the call does not meet it.
 * Returns how many allocations there were. */
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

/* With and without a matrix that moves first. */
static void no_memory_for_a_product(world *w) {
  for (int who = 0; who < w->size && w->size > 1; who = next_of(w, who))
    for (int moving = 0; moving < 2; moving++) {
      call x;
      if (!HOLD(call_create(w->grid, moving ? TSR_TRANS : TSR_NO_TRANS, &x))) return;
      FAIL_EACH(w, who, call_run(&x), HOLD(is_right(&x)));
      FAIL_EACH(w, who, tsr_redistribute(w->grid, TSR_TRANS, N, N, &x.a, 0, 0, &x.c, 0, 0), );
      call_destroy(&x);
    }
  goes_on(w, w->grid);
}

/* A context whose products fail: results must be reproducible, in memory for less than a tile. */
static tsr_context *without_room(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = "host";
  options.devices = "1";
  options.machine = "host:200 gpu*1@nvlink:300 pcie:25 rate:1";
  options.memory = 512;
  options.reproducible = 1;
  HOLD(tsr_context_create(&options, &context) == TSR_OK);
  return context;
}

/* A process whose local products fail goes on with the messages, of which there are many. */
static void a_product_fails_midway(world *w) {
  tsr_context *poor = without_room();
  for (int who = 0; who < w->size; who = next_of(w, who)) {
    tsr_grid *grid = NULL;
    call x;
    char process[32];
    EXPECT(tsr_grid_create(w->rank == who ? poor : w->devices, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK,
           "");
    EXPECT(tsr_grid_set_panels(grid, 1, 2), TSR_OK, "");
    if (!HOLD(call_create(grid, TSR_NO_TRANS, &x))) return;
    snprintf(process, sizeof process, "process %d: ", who);
    int64_t rows, cols;
    tsr_pmatrix_extents(&x.c, &rows, &cols);
    int has = rows > 0 && cols > 0;
    MPI_Bcast(&has, 1, MPI_INT, who, MPI_COMM_WORLD);
    EXPECT(call_run(&x), has ? TSR_ERR_MEMORY : TSR_OK, process);
    HOLD(who > 0 || has);
    call_destroy(&x);
    tsr_grid_destroy(grid);
  }
  tsr_context_destroy(poor);
  goes_on(w, w->grid);
}

/* Memory runs out in one process at any place of planning and running: devices may do without, but
 * all say the same, and what is said to be right is. */
static void memory_runs_out_midway(world *w) {
  tsr_grid *grid = NULL;
  EXPECT(tsr_grid_create(w->devices, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  EXPECT(tsr_grid_set_panels(grid, 3, 2), TSR_OK, "");
  for (long n = 1; n < 200; n += 7) {
    call x;
    if (!HOLD(call_create(grid, TSR_NO_TRANS, &x))) return;
    if (w->rank == w->size - 1) tsr_alloc_fail_at(n);
    tsr_status status = call_run(&x);
    tsr_alloc_fail_at(0);
    if (status == TSR_OK) HOLD(is_right(&x));
    expect(status, status == TSR_OK ? TSR_OK : TSR_ERR_MEMORY, "", __LINE__);
    call_destroy(&x);
  }
  goes_on(w, grid);
  tsr_grid_destroy(grid);
}

/* ---- What the driver does not see ------------------------------------------- */

/* Adds to every element, on the devices: the result stays there. */
static void add_there(const world *w, const tsr_pmatrix *x, double by) {
  const double one = 1;
  double ones[2 * N];
  int64_t rows, cols;
  tsr_pmatrix_extents(x, &rows, &cols);
  for (int i = 0; i < 2 * N; i++) ones[i] = 1;
  HOLD(tsr_gemm_async(w->devices, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, rows, cols, 1,
                      &by, ones, rows > 0 ? rows : 1, ones + N, 1, &one, x->data, x->ld) == TSR_OK);
  HOLD(tsr_sync(w->devices) == TSR_OK); /* the ones are gone after this */
  tsr_invalidate(w->devices, 2 * N, 1, ones, 2 * N, TSR_D);
}

/* The sum over all elements here as the devices see them. */
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

/* Results of asynchronous calls are operands, host memory being older; C is at home afterwards, and
 * the program may change it without a word. */
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

/* The same for what is redistributed: of C, which devices have newer, all but the last row and
 * column is replaced by A, which they have newer as well. Devices then see the new C. */
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

/* Scattered from every process and gathered at every other one. */
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

/* More than goes in one window, by rows and by columns: to other blocks, and back. */
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

/* ---- The program ------------------------------------------------------------ */

static const struct {
  const char *name;
  void (*run)(world *w);
} cases[] = {
    {"shapes", shapes},
    {"grids of parts", grids_of_parts},
    {"one disagrees on a grid", one_disagrees_on_a_grid},
    {"one disagrees on a product", one_disagrees_on_a_product},
    {"one makes another call", one_makes_another_call},
    {"one is wrong", one_is_wrong},
    {"not on the grid", not_on_the_grid},
    {"no memory for objects", no_memory_for_objects},
    {"no memory for a product", no_memory_for_a_product},
    {"a product fails midway", a_product_fails_midway},
    {"memory runs out midway", memory_runs_out_midway},
    {"composition", composition},
    {"composition of moves", composition_of_moves},
    {"there and back", there_and_back},
    {"large messages", large_messages},
};

/* On process 0, with what the first process that is not content noted. */
static bool report(const world *w, const char *name) {
  int mine = why[0] != '\0' ? w->rank : w->size, first;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first < w->size) MPI_Bcast(why, sizeof why, MPI_CHAR, first, MPI_COMM_WORLD);
  if (w->rank == 0 && first == w->size) printf("ok %s\n", name);
  if (w->rank == 0 && first < w->size) printf("FAILED %s: process %d: %s\n", name, first, why);
  if (w->rank == 0) fflush(stdout);
  return first == w->size;
}

static bool open_world(world *w) {
  tsr_options cpu = TSR_OPTIONS_DEFAULT, devices = TSR_OPTIONS_DEFAULT;
  cpu.engine = "cpu";
  devices.engine = "host";
  devices.devices = "2";
  devices.machine = "host:200 gpu*2@nvlink:300 pcie:25 rate:1";
  devices.memory = (size_t)16 << 20;
  devices.check = 1;
  return tsr_context_create(&cpu, &w->cpu) == TSR_OK &&
         tsr_context_create(&devices, &w->devices) == TSR_OK;
}

int main(int argc, char **argv) {
  world w = {0};
  tsr_grid *none = NULL;
  alarm(PATIENCE);
  if (!open_world(&w)) return printf("no context: %s\n", tsr_message()), 1;
  bool refused = tsr_grid_create(w.cpu, MPI_COMM_WORLD, 0, 0, &none) == TSR_ERR_ARGUMENT;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &w.size);
  HOLD(refused);
  HOLD(tsr_grid_create(w.cpu, MPI_COMM_WORLD, 0, 0, &w.grid) == TSR_OK);
  int passed = 0, failed = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cases[i].run(&w);
    if (report(&w, cases[i].name))
      passed++;
    else
      failed++;
    why[0] = '\0';
  }
  tsr_grid_destroy(w.grid);
  if (w.rank == 0) printf("%d passed, %d failed\n", passed, failed);
  MPI_Finalize();
  tsr_context_destroy(w.cpu);
  tsr_context_destroy(w.devices);
  return failed > 0;
}
