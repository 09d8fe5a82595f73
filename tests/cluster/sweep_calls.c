/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Sweeps the functions of tessera_mpi.h with failing allocations, on a grid of one process and on
 * model-only grids. faults.c and async.c test failures of one process among several. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sweep.h"
#include "tessera_mpi_model.h"

enum { N = 24, BLOCK = 5, COUNT = N * N };

static const double one = 1;

typedef struct world {
  const sweep_visit *visit;
  tsr_context *context; /* on emulated devices */
  tsr_grid *grid;       /* of this process alone, or model-only */
  tsr_pmatrix a, b, c;
  double full[COUNT];
  /* Made by visits, destroyed with the world: */
  tsr_grid *other;
  tsr_pmatrix matrix;
  tsr_pplan *plan;
  tsr_context *dealt;
  char *text;
  int number;
} world;

/* ---- The world ------------------------------------------------------------------- */

static tsr_options devices(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.engine = "host";
  options.devices = "2";
  options.machine = "host:200 gpu*2@nvlink:300 pcie:25 rate:1 net:10";
  options.memory = (size_t)16 << 20;
  options.check = 1;
  return options;
}

static bool is_model_only(const sweep_visit *v) {
  return v->setup != NULL && strcmp(v->setup, "model_only") == 0;
}

static void fill(tsr_pmatrix *x, double value) {
  for (int i = 0; i < COUNT; i++) ((double *)x->data)[i] = value;
}

static void make_matrix(world *w, double value, tsr_pmatrix *x) {
  if (!HOLD(tsr_pmatrix_create(w->grid, TSR_D, N, N, BLOCK, BLOCK, 0, 0, x) == TSR_OK)) abort();
  fill(x, value);
}

/* Makes the grid and its matrices: A and B of ones, C of twos. */
static void make_grid(world *w) {
  tsr_pmatrix *all[] = {&w->a, &w->b, &w->c};
  if (!is_model_only(w->visit)) {
    HOLD(tsr_grid_create(w->context, MPI_COMM_WORLD, 1, 1, &w->grid) == TSR_OK);
    for (int i = 0; i < 3; i++) make_matrix(w, i < 2 ? 1 : 2, all[i]);
    return;
  }
  HOLD(tsr_grid_imagine(w->context, 2, 2, &w->grid) == TSR_OK);
  for (int i = 0; i < 3; i++)
    *all[i] = (tsr_pmatrix){w->grid, TSR_D, 100 * N, 100 * N, BLOCK, BLOCK, 0, 0, 0, 0, 1, NULL};
}

static void *open_world(const sweep_visit *v, const char *setup) {
  (void)setup;
  world *w = calloc(1, sizeof *w);
  tsr_options options = devices();
  if (w == NULL) abort();
  w->visit = v;
  HOLD(tsr_context_create(&options, &w->context) == TSR_OK);
  HOLD(tsr_set_tile(w->context, 8) == TSR_OK);
  if (!v->bare) make_grid(w);
  return w;
}

/* Waits for what the call has begun; a model-only grid has nothing to wait for. */
static tsr_status settle(void *world_) {
  world *w = world_;
  if (w->grid == NULL || is_model_only(w->visit)) return TSR_OK;
  return CALLED(tsr_grid_sync)(w->grid);
}

static bool is_filled(const tsr_pmatrix *x, double value) {
  for (int i = 0; i < COUNT; i++)
    if (((double *)x->data)[i] != value) return false;
  return true;
}

static tsr_status multiply(world *w) {
  return CALLED(tsr_pgemm)(w->grid, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N, &one, &w->a, 0, 0, &w->b,
                           0, 0, &one, &w->c, 0, 0);
}

/* Checks that a product on the grid is right. */
static void check_works(world *w) {
  fill(&w->a, 1), fill(&w->b, 1), fill(&w->c, 3);
  HOLD(multiply(w) == TSR_OK);
  HOLD(is_filled(&w->c, 3 + N));
}

static void close_world(void *world_, const sweep_outcome *o) {
  world *w = world_;
  (void)o;
  if (w->grid != NULL && !is_model_only(w->visit)) check_works(w);
  free(w->text);
  tsr_pplan_destroy(w->plan);
  tsr_pmatrix_destroy(&w->matrix);
  if (!is_model_only(w->visit)) {
    tsr_pmatrix_destroy(&w->a);
    tsr_pmatrix_destroy(&w->b);
    tsr_pmatrix_destroy(&w->c);
  }
  tsr_grid_destroy(w->other);
  tsr_grid_destroy(w->grid);
  tsr_context_destroy(w->dealt);
  tsr_context_destroy(w->context);
  free(w);
}

/* ---- Contexts and grids ------------------------------------------------------------ */

static tsr_status context_create_dealt(void *world_) {
  world *w = world_;
  tsr_options options = devices();
  return CALLED(tsr_context_create_dealt)(MPI_COMM_WORLD, &options, &w->dealt, &w->number);
}

static void check_dealt(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((w->dealt != NULL) == (o->status == TSR_OK));
  HOLD(w->number == (o->status == TSR_OK));
}

static tsr_status grid_create(void *world_) {
  world *w = world_;
  return CALLED(tsr_grid_create)(w->context, MPI_COMM_WORLD, 0, 0, &w->other);
}

static tsr_status grid_imagine(void *world_) {
  world *w = world_;
  return CALLED(tsr_grid_imagine)(w->context, 2, 3, &w->other);
}

static void check_grid(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((w->other != NULL) == (o->status == TSR_OK));
}

static tsr_status grid_destroy(void *world_) {
  world *w = world_;
  tsr_pmatrix_destroy(&w->a);
  tsr_pmatrix_destroy(&w->b);
  tsr_pmatrix_destroy(&w->c);
  CALLED(tsr_grid_destroy)(w->grid);
  w->grid = NULL;
  return TSR_OK;
}

static tsr_status grid_suggest(void *world_) {
  world *w = world_;
  int rows = 0, cols = 0;
  tsr_status status =
      CALLED(tsr_grid_suggest)(w->context, 6, TSR_D, 4096, 4096, 4096, &rows, &cols);
  w->number = rows * cols;
  return status;
}

static void check_suggested(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD(w->number == (o->status == TSR_OK ? 6 : 0));
}

/* The functions that set or return a value allocate nothing. */
static tsr_status grid_orders(void *world_) {
  world *w = world_;
  int rows = 0, cols = 0, row = -1, col = -1;
  w->number = CALLED(tsr_grid_set_panels)(w->grid, 8, 1) == TSR_OK;
  w->number &= CALLED(tsr_grid_set_blocks)(w->grid, 16, 16) == TSR_OK;
  w->number &= CALLED(tsr_grid_set_cut)(w->grid, TSR_CUT_MODEL) == TSR_OK;
  w->number &= CALLED(tsr_grid_set_network)(w->grid, 1e9, 1e-6) == TSR_OK;
  tsr_ptraffic counted;
  if (!is_model_only(w->visit))
    w->number &= CALLED(tsr_grid_traffic)(w->grid, &counted, NULL) == TSR_OK;
  w->number &= CALLED(tsr_grid_place)(w->grid, &rows, &cols, &row, &col) == TSR_OK;
  w->number &= rows * cols > 0 && CALLED(tsr_grid_transport)(w->grid) != NULL;
  if (is_model_only(w->visit))
    w->number &= CALLED(tsr_grid_imagine_transport)(w->grid, 1e9, 0) == TSR_OK;
  return TSR_OK;
}

static void check_orders(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD(w->number == 1 && !o->failed);
}

/* ---- Matrices ------------------------------------------------------------------------ */

static tsr_status pmatrix_create(void *world_) {
  world *w = world_;
  return CALLED(tsr_pmatrix_create)(w->grid, TSR_D, N, N, BLOCK, BLOCK, 0, 0, &w->matrix);
}

static tsr_status pmatrix_create_irregular(void *world_) {
  static const int64_t ends[] = {1, BLOCK, N};
  world *w = world_;
  return CALLED(tsr_pmatrix_create_irregular)(w->grid, TSR_D, 3, ends, 3, ends, 0, 0, &w->matrix);
}

static void check_matrix(void *world_, const sweep_outcome *o) {
  world *w = world_;
  int64_t rows = 0, cols = 0;
  HOLD((w->matrix.data != NULL) == (o->status == TSR_OK));
  if (o->status == TSR_OK)
    HOLD(tsr_pmatrix_extents(&w->matrix, &rows, &cols) == TSR_OK && rows == N && cols == N);
}

static void with_matrix(void *world_) {
  world *w = world_;
  make_matrix(w, 0, &w->matrix);
}

static tsr_status pmatrix_destroy(void *world_) {
  world *w = world_;
  int64_t rows = 0, cols = 0;
  tsr_status status = CALLED(tsr_pmatrix_extents)(&w->matrix, &rows, &cols);
  CALLED(tsr_pmatrix_destroy)(&w->matrix);
  return status;
}

/* Makes C newer on the devices than in host memory: N more than it was. */
static void after_product(void *world_) {
  world *w = world_;
  HOLD(tsr_pgemm_async(w->grid, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N, &one, &w->a, 0, 0, &w->b, 0, 0,
                       &one, &w->c, 0, 0) == TSR_OK);
}

/* Replaces C, whose newer copy is on the devices, by the transpose of A. */
static tsr_status redistribute(void *world_) {
  world *w = world_;
  return CALLED(tsr_redistribute)(w->grid, TSR_TRANS, N, N, &w->a, 0, 0, &w->c, 0, 0);
}

static tsr_status scatter(void *world_) {
  world *w = world_;
  for (int i = 0; i < COUNT; i++) w->full[i] = 1;
  return CALLED(tsr_scatter)(w->grid, 0, 0, w->full, N, &w->c);
}

/* A call that was refused has written nothing, and succeeds when it is repeated. */
static void check_replaced(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD(is_filled(&w->a, 1));
  if (sweep_done(o)) HOLD(is_filled(&w->c, 1));
  if (!sweep_refused(o) || o->synced != TSR_OK) return;
  HOLD(tsr_grid_sync(w->grid) == TSR_OK);
  HOLD(is_filled(&w->c, 2 + N) || is_filled(&w->c, 2));
  HOLD(w->visit->call(w) == TSR_OK);
  HOLD(is_filled(&w->c, 1));
}

static tsr_status gather(void *world_) {
  world *w = world_;
  return CALLED(tsr_gather)(w->grid, 0, 0, &w->c, w->full, N);
}

static void check_gathered(void *world_, const sweep_outcome *o) {
  world *w = world_;
  double wanted = o->status == TSR_OK ? 2 + N : 0;
  if (o->synced != TSR_OK || o->status == TSR_ERR_DEVICE) return;
  for (int i = 0; i < COUNT; i++)
    if (!HOLD(w->full[i] == wanted)) return;
}

/* ---- Products -------------------------------------------------------------------------- */

static tsr_status pgemm(void *world_) {
  return multiply(world_);
}

static tsr_status pgemm_async(void *world_) {
  world *w = world_;
  return CALLED(tsr_pgemm_async)(w->grid, TSR_TRANS, TSR_NO_TRANS, N, N, N, &one, &w->a, 0, 0,
                                 &w->b, 0, 0, &one, &w->c, 0, 0);
}

static void check_product(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD(is_filled(&w->a, 1) && is_filled(&w->b, 1));
  if (sweep_done(o)) HOLD(is_filled(&w->c, 2 + N));
  if (!sweep_refused(o)) return;
  HOLD(is_filled(&w->c, 2));
  HOLD(multiply(w) == TSR_OK);
  HOLD(is_filled(&w->c, 2 + N));
}

static void timed(void *world_) {
  world *w = world_;
  HOLD(tsr_grid_timeline_begin(w->grid) == TSR_OK);
  after_product(w);
}

static tsr_status timeline_begin(void *world_) {
  world *w = world_;
  return CALLED(tsr_grid_timeline_begin)(w->grid);
}

static tsr_status timeline_end(void *world_) {
  world *w = world_;
  return CALLED(tsr_grid_timeline_end)(w->grid, 0, 0, &w->text);
}

static void check_text(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((w->text != NULL) == (o->status == TSR_OK));
}

/* ---- Plans ------------------------------------------------------------------------------- */

static tsr_status pgemm_plan(void *world_) {
  world *w = world_;
  int64_t n = 100 * N;
  return CALLED(tsr_pgemm_plan)(w->grid, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, &one, &w->a, 0, 0,
                                &w->b, 0, 0, &one, &w->c, 0, 0, &w->plan);
}

static void check_plan(void *world_, const sweep_outcome *o) {
  world *w = world_;
  tsr_pprediction prediction;
  HOLD((w->plan != NULL) == (o->status == TSR_OK));
  if (o->status != TSR_OK) HOLD(pgemm_plan(w) == TSR_OK);
  HOLD(tsr_pplan_predict(w->plan, &prediction) == TSR_OK && prediction.seconds > 0);
}

static void planned(void *world_) {
  HOLD(pgemm_plan(world_) == TSR_OK);
}

static tsr_status pplan_predict(void *world_) {
  world *w = world_;
  tsr_pprediction prediction;
  tsr_status status = CALLED(tsr_pplan_predict)(w->plan, &prediction);
  CALLED(tsr_pplan_destroy)(w->plan);
  w->plan = NULL;
  return status;
}

static tsr_status print_as(world *w, tsr_format format) {
  return CALLED(tsr_pplan_print)(w->plan, format, &w->text);
}

static tsr_status pplan_print(void *w) {
  return print_as(w, TSR_TEXT);
}

static tsr_status pplan_print_json(void *w) {
  return print_as(w, TSR_JSON);
}

static tsr_status pplan_print_commands(void *w) {
  return print_as(w, TSR_COMMANDS);
}

static tsr_status pplan_print_timeline(void *w) {
  return print_as(w, TSR_TIMELINE_JSON);
}

/* ---- The launcher ------------------------------------------------------------------------ */

static tsr_status launcher(void *unused) {
  (void)unused;
  tsr_launcher_facts facts;
  CALLED(tsr_launcher_describe)(&facts);
  HOLD(facts.mpi[0] != '\0' && facts.error[0] == '\0');
  return TSR_OK;
}

/* ---- The program -------------------------------------------------------------------------- */

#define VISIT(before, call, after) \
  { #call, NULL, before, call, after, 0, false, "" }
#define IMAGINED(before, call, after) \
  { #call, NULL, before, call, after, 0, false, "model_only" }
#define BARE(call, after) \
  { #call, NULL, NULL, call, after, 0, true, "" }

static const sweep_visit visits[] = {
    BARE(launcher, NULL),
    BARE(context_create_dealt, check_dealt),
    BARE(grid_create, check_grid),
    BARE(grid_imagine, check_grid),
    BARE(grid_suggest, check_suggested),
    VISIT(NULL, grid_destroy, NULL),
    VISIT(NULL, grid_orders, check_orders),
    {"grid_orders of an model_only one", NULL, NULL, grid_orders, check_orders, 0, false,
     "model_only"},
    VISIT(NULL, pmatrix_create, check_matrix),
    VISIT(NULL, pmatrix_create_irregular, check_matrix),
    VISIT(with_matrix, pmatrix_destroy, NULL),
    VISIT(after_product, redistribute, check_replaced),
    {"redistribute of host memory", NULL, NULL, redistribute, check_replaced, 0, false, ""},
    VISIT(after_product, scatter, check_replaced),
    VISIT(after_product, gather, check_gathered),
    VISIT(NULL, pgemm, check_product),
    VISIT(NULL, pgemm_async, check_product),
    VISIT(NULL, timeline_begin, NULL),
    VISIT(timed, timeline_end, check_text),
    IMAGINED(NULL, pgemm_plan, check_plan),
    IMAGINED(planned, pplan_predict, NULL),
    IMAGINED(planned, pplan_print, check_text),
    IMAGINED(planned, pplan_print_json, check_text),
    IMAGINED(planned, pplan_print_commands, check_text),
    IMAGINED(planned, pplan_print_timeline, check_text),
    {0},
};

int main(int argc, char **argv) {
  static const sweep_rig rig = {open_world, settle, close_world};
  static const sweep_visit *const tables[] = {visits, NULL};
  static const sweep_way ways[] = {{"once", tsr_alloc_fail_at, false},
                                   {"on", tsr_alloc_fail_from, false}};
  static const char *const headers[] = {TESSERA_INCLUDE "tessera_mpi.h",
                                        TESSERA_INCLUDE "tessera_mpi_model.h", NULL};
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int code = sweep_main(argc, argv, &(sweep){headers, &rig, tables, ways, 2});
  MPI_Finalize();
  return code;
}
