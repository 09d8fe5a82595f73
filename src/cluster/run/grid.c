/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/run/grid.h"

#include <math.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "cluster/layout/view.h"
#include "cluster/plan/choose.h"
#include "cluster/plan/model.h"
#include "cluster/plan/shape.h"
#include "cluster/run/async_queue.h"
#include "cluster/run/launcher.h"
#include "cluster/transport/fabric.h"
#include "cluster/transport/panel_slots.h"

tsr_status tsr_grid_check(const tsr_grid *grid) {
  if (grid != NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "grid is NULL; make one with tsr_grid_create");
}

tsr_status tsr_grid_check_real(const tsr_grid *grid) {
  TSR_TRY(tsr_grid_check(grid));
  if (!grid->model_only) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "the grid is for plans alone and has no processes; make one with "
                  "tsr_grid_create");
}

/* ---- Shape ---------------------------------------------------------------- */

/* Sets the extents of the grid from those that the caller gave (0: not given). If neither is given,
 * *extent stays 0 and settle_shape() asks the model. */
static tsr_status shape(int size, int rows, int cols, int extent[2]) {
  if (rows < 0 || cols < 0)
    return tsr_fail(TSR_ERR_ARGUMENT, "the grid is %d x %d; give extents of at least 1, or 0", rows,
                    cols);
  if (rows == 0 && cols == 0) return TSR_OK;
  extent[0] = rows > 0 ? rows : size / cols;
  extent[1] = cols > 0 ? cols : size / rows;
  if ((int64_t)extent[0] * extent[1] == size) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "a grid of %d x %d does not match the communicator, which has %d processes; give "
                  "extents whose product is that number, or a communicator of the grid's processes",
                  extent[0], extent[1], size);
}

/* ---- Making --------------------------------------------------------------- */

static tsr_status check_mpi(MPI_Comm comm, tsr_grid **grid) {
  int begun = 0, ended = 0;
  if (MPI_Initialized(&begun) != MPI_SUCCESS || !begun || MPI_Finalized(&ended) != MPI_SUCCESS ||
      ended)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "MPI is not in use; call this between MPI_Init and "
                    "MPI_Finalize");
  if (comm == MPI_COMM_NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "comm is MPI_COMM_NULL; give the grid's communicator");
  if (grid == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "grid is NULL; give the address of a pointer");
  return TSR_OK;
}

static tsr_status open_peers(MPI_Comm comm, tsr_peers *peers) {
  *peers = (tsr_peers){.comm = MPI_COMM_NULL};
  TSR_TRY(tsr_mpi_check(MPI_Comm_dup(comm, &peers->comm), "MPI_Comm_dup"));
  MPI_Comm_set_errhandler(peers->comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(peers->comm, &peers->rank);
  MPI_Comm_size(peers->comm, &peers->size);
  return TSR_OK;
}

static tsr_status allocate(tsr_context *context, tsr_grid **grid) {
  if (context == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "context is NULL; make one with tsr_context_create");
  *grid = tsr_alloc_zero(1, sizeof **grid);
  return *grid != NULL ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for a grid");
}

/* Whether a thread of the grid may call MPI while the program's threads do. */
static bool may_be_threaded(void) {
  int provided = MPI_THREAD_SINGLE;
  return MPI_Query_thread(&provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE;
}

/* Checks the arguments and allocates the grid. Not collective. On failure *grid may point to a grid
 * in part, for drop(). */
static tsr_status begin(tsr_context *context, const tsr_peers *peers, int rows, int cols,
                        tsr_grid **grid) {
  int extent[2] = {0, 0};
  TSR_TRY(shape(peers->size, rows, cols, extent));
  TSR_TRY(allocate(context, grid));
  **grid = (tsr_grid){.context = context,
                      .all = *peers,
                      .work = {.comm = MPI_COMM_NULL},
                      .row = MPI_COMM_NULL,
                      .col = MPI_COMM_NULL,
                      .extent = {extent[0], extent[1]}};
  TSR_TRY(tsr_packers_create(&(*grid)->packers));
  TSR_TRY(tsr_choices_create(&(*grid)->choices));
  TSR_TRY(tsr_async_queue_create(may_be_threaded(), &(*grid)->queue));
  (*grid)->all.queue = (*grid)->queue;
  return TSR_OK;
}

/* Makes the communicators `work`, `row` and `col`. Collective. */
static tsr_status split(tsr_grid *grid) {
  MPI_Comm all = grid->all.comm;
  TSR_TRY(open_peers(all, &grid->work));
  TSR_TRY(
      tsr_mpi_check(MPI_Comm_split(all, grid->me[0], grid->me[1], &grid->row), "MPI_Comm_split"));
  return tsr_mpi_check(MPI_Comm_split(all, grid->me[1], grid->me[0], &grid->col), "MPI_Comm_split");
}

static void free_comm(MPI_Comm *comm) {
  if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
}

/* Frees the grid but not its communicators. */
static void drop_rest(tsr_grid *grid) {
  if (grid->transport_state != NULL) {
    tsr_panel_slots_free(grid->transport, grid->transport_state, &grid->slots);
    grid->transport->close(grid->transport_state);
  }
  tsr_model_free(&grid->model);
  tsr_choices_destroy(grid->choices);
  tsr_async_queue_destroy(grid->queue);
  TSR_VEC_FREE(&grid->trace.events);
  tsr_packers_destroy(grid->packers);
  tsr_dealloc(grid);
}

/* Frees the grid and its communicators but all.comm. */
static void drop(tsr_grid *grid) {
  if (grid == NULL) return;
  free_comm(&grid->row);
  free_comm(&grid->col);
  free_comm(&grid->work.comm);
  drop_rest(grid);
}

/* Asks the model for the shape if the caller gave none, and sets this process's coordinates. */
static tsr_status settle_shape(tsr_grid *grid) {
  if (grid->extent[0] == 0)
    TSR_TRY(tsr_shape_choose_any(&grid->model, grid->all.size, grid->extent));
  grid->me[0] = grid->all.rank / grid->extent[1];
  grid->me[1] = grid->all.rank % grid->extent[1];
  return TSR_OK;
}

/* Makes the rest of the grid. Each step is collective. */
static tsr_status complete(tsr_grid *grid) {
  TSR_TRY(tsr_model_agree(&grid->all, grid->context, &grid->model));
  TSR_TRY(tsr_agree(&grid->all, NULL, settle_shape(grid)));
  TSR_TRY(tsr_agree(&grid->all, NULL, split(grid)));
  return tsr_transport_open(grid);
}

TSR_ENTRY(tsr_grid_create, (context, comm, rows, cols, grid), tsr_context *context, MPI_Comm comm,
          int rows, int cols, tsr_grid **grid) {
  tsr_peers peers = {.comm = MPI_COMM_NULL};
  tsr_grid *made = NULL;
  TSR_TRY(check_mpi(comm, grid));
  TSR_TRY(tsr_launcher_check_grid(comm, rows, cols));
  TSR_TRY(open_peers(comm, &peers));
  tsr_record record = tsr_record_begin(TSR_RECORD_GRID);
  tsr_record_add(&record, "", "rows", rows);
  tsr_record_add(&record, "", "cols", cols);
  tsr_status status = tsr_agree(&peers, &record, begin(context, &peers, rows, cols, &made));
  if (status == TSR_OK) status = complete(made);
  if (status == TSR_OK) {
    *grid = made;
    return TSR_OK;
  }
  tsr_error error;
  tsr_error_take(status, &error);
  drop(made);
  free_comm(&peers.comm);
  return tsr_error_put(&error);
}

static tsr_status check_model_only(tsr_context *context, int rows, int cols, tsr_grid **grid) {
  if (grid == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "grid is NULL; give the address of a pointer");
  if (context == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "context is NULL; make one with tsr_context_create");
  if (rows >= 1 && cols >= 1 && (int64_t)rows * cols <= 1 << 20) return TSR_OK;
  return tsr_fail(
      TSR_ERR_ARGUMENT,
      "the grid is %d x %d; give extents of at least 1, and at most a million processes", rows,
      cols);
}

TSR_ENTRY(tsr_grid_imagine, (context, rows, cols, grid), tsr_context *context, int rows, int cols,
          tsr_grid **grid) {
  tsr_grid *made = NULL;
  TSR_TRY(check_model_only(context, rows, cols, grid));
  TSR_TRY(allocate(context, &made));
  *made = (tsr_grid){.context = context,
                     .model_only = true,
                     .all = {MPI_COMM_NULL, 0, rows * cols, NULL},
                     .work = {MPI_COMM_NULL, 0, rows * cols, NULL},
                     .row = MPI_COMM_NULL,
                     .col = MPI_COMM_NULL,
                     .extent = {rows, cols}};
  tsr_status status = tsr_model_alone(context, &made->model);
  if (status == TSR_OK)
    *grid = made;
  else
    drop_rest(made);
  return status;
}

TSR_ENTRY_VOID(tsr_grid_destroy, (grid), tsr_grid *grid) {
  int ended = 0;
  if (grid == NULL) return;
  if (!grid->model_only) MPI_Finalized(&ended);
  if (ended || grid->model_only) { /* MPI has freed the communicators, or the grid has none */
    drop_rest(grid);
    return;
  }
  MPI_Comm all = grid->all.comm;
  tsr_async_queue_drain(grid->queue);
  drop(grid);
  free_comm(&all);
}

/* ---- Asking and setting --------------------------------------------------- */

static void put(int *to, int value) {
  if (to != NULL) *to = value;
}

TSR_ENTRY(tsr_grid_place, (grid, rows, cols, row, col), const tsr_grid *grid, int *rows, int *cols,
          int *row, int *col) {
  TSR_TRY(tsr_grid_check(grid));
  put(rows, grid->extent[0]);
  put(cols, grid->extent[1]);
  put(row, grid->me[0]);
  put(col, grid->me[1]);
  return TSR_OK;
}

static tsr_status check_panels(int64_t depth, int lookahead) {
  if (depth < 0)
    return tsr_fail(TSR_ERR_ARGUMENT, "depth is %lld; give at least 1, or 0 for the model's",
                    (long long)depth);
  if (lookahead < 0 || lookahead > TSR_LOOKAHEAD_MOST)
    return tsr_fail(TSR_ERR_ARGUMENT, "lookahead is %d; give 1 to %d, or 0 for the model's",
                    lookahead, TSR_LOOKAHEAD_MOST);
  return TSR_OK;
}

/* tsr_agree; on a model-only grid the status as it is. */
static tsr_status agree_on(const tsr_grid *grid, const tsr_record *record, tsr_status status) {
  return grid->model_only ? status : tsr_agree(&grid->all, record, status);
}

/* The paper's rule chooses depth and blocks itself. */
static tsr_status check_wishes(const tsr_wishes *w) {
  bool set = w->depth > 0 || w->block[0] > 0 || w->block[1] > 0;
  if (w->rule != TSR_CUT_PARSEC || !set) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "TSR_CUT_PARSEC chooses depth and blocks, but depth %lld and blocks %lld x %lld "
                  "are set; set these to 0, or the rule to TSR_CUT_MODEL",
                  (long long)w->depth, (long long)w->block[0], (long long)w->block[1]);
}

/* Sets the grid's wishes if all processes make the same call, and no check failed. */
static tsr_status wish(tsr_grid *grid, const tsr_record *record, tsr_status status,
                       const tsr_wishes *wishes) {
  if (status == TSR_OK) status = check_wishes(wishes);
  TSR_TRY(agree_on(grid, record, status));
  grid->wishes = *wishes;
  return TSR_OK;
}

TSR_ENTRY(tsr_grid_set_panels, (grid, depth, lookahead), tsr_grid *grid, int64_t depth,
          int lookahead) {
  TSR_TRY(tsr_grid_check(grid));
  tsr_record record = tsr_record_begin(TSR_RECORD_PANELS);
  tsr_record_add(&record, "", "depth", depth);
  tsr_record_add(&record, "", "lookahead", lookahead);
  tsr_wishes wishes = grid->wishes;
  wishes.depth = depth;
  wishes.lookahead = lookahead;
  return wish(grid, &record, check_panels(depth, lookahead), &wishes);
}

static tsr_status check_blocks(int64_t rows, int64_t cols) {
  if (rows >= 0 && cols >= 0) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "blocks are %lld x %lld; give extents of at least 1, or 0 for the model's",
                  (long long)rows, (long long)cols);
}

TSR_ENTRY(tsr_grid_set_blocks, (grid, rows, cols), tsr_grid *grid, int64_t rows, int64_t cols) {
  TSR_TRY(tsr_grid_check(grid));
  tsr_record record = tsr_record_begin(TSR_RECORD_BLOCKS);
  tsr_record_add(&record, "", "rows", rows);
  tsr_record_add(&record, "", "cols", cols);
  tsr_wishes wishes = grid->wishes;
  wishes.block[0] = rows;
  wishes.block[1] = cols;
  return wish(grid, &record, check_blocks(rows, cols), &wishes);
}

static tsr_status check_rule(tsr_cut_rule rule) {
  if (rule == TSR_CUT_MODEL || rule == TSR_CUT_PARSEC) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "rule is %d; give one of tsr_cut_rule", (int)rule);
}

TSR_ENTRY(tsr_grid_set_cut, (grid, rule), tsr_grid *grid, tsr_cut_rule rule) {
  TSR_TRY(tsr_grid_check(grid));
  tsr_record record = tsr_record_begin(TSR_RECORD_CUT);
  tsr_record_add(&record, "", "rule", (int64_t)rule);
  tsr_wishes wishes = grid->wishes;
  wishes.rule = rule;
  return wish(grid, &record, check_rule(rule), &wishes);
}

static tsr_status check_network(double bandwidth, double latency) {
  if (bandwidth > 0 && latency >= 0 && bandwidth < 1e30 && latency < 1e30) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "the network has %g bytes/s and %g s; give more than 0, and 0 or more", bandwidth,
                  latency);
}

TSR_ENTRY(tsr_grid_set_network, (grid, bandwidth, latency), tsr_grid *grid, double bandwidth,
          double latency) {
  TSR_TRY(tsr_grid_check(grid));
  tsr_record record = tsr_record_begin(TSR_RECORD_NETWORK);
  tsr_record_add_bytes(&record, "bandwidth", &bandwidth, sizeof bandwidth);
  tsr_record_add_bytes(&record, "latency", &latency, sizeof latency);
  TSR_TRY(agree_on(grid, &record, check_network(bandwidth, latency)));
  grid->model.facts.network_bandwidth = bandwidth;
  grid->model.facts.network_latency = latency;
  grid->model.facts.network_assumed = 0;
  return TSR_OK;
}

static tsr_status check_model_transport(const tsr_grid *grid, double up, double down) {
  TSR_TRY(tsr_grid_check(grid));
  if (!grid->model_only)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "a transport can be described only for a grid made with tsr_grid_imagine, and "
                    "this grid has real processes, whose transport is %s",
                    tsr_grid_transport(grid));
  if (!(up >= 0 && up < 1e30))
    return tsr_fail(TSR_ERR_ARGUMENT, "up is %g bytes/s; give 0 or more", up);
  if (!(down >= 0 && down < 1e30))
    return tsr_fail(TSR_ERR_ARGUMENT, "down is %g bytes/s; give 0 or more", down);
  if (down > 0 && up == 0)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "down is %g, and up is 0; give both, or neither: with MPI the rates are the "
                    "machine's",
                    down);
  if (up == 0 || grid->model.facts.devices > 0) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "up is %g, and the machine has no devices; give 0, or make the grid with a "
                  "context whose machine has devices",
                  up);
}

TSR_ENTRY(tsr_grid_imagine_transport, (grid, up, down), tsr_grid *grid, double up, double down) {
  TSR_TRY(check_model_transport(grid, up, down));
  tsr_host_rates host = {.up = up, .down = down};
  int devices = grid->model.facts.devices,
      ways = devices < TSR_FABRIC_WAYS ? devices : TSR_FABRIC_WAYS;
  if (up > 0) {
    TSR_TRY(tsr_model_runs(grid->model.planner, ways, 0, host.up_by_run));
    TSR_TRY(tsr_model_runs(grid->model.planner, ways, TSR_UP_CLOSE, host.up_close_by_run));
  }
  for (int i = 0; i < TSR_UP_RUNS; i++) {
    host.up_by_run[i] = fmin(host.up_by_run[i], up);
    host.up_close_by_run[i] = fmin(host.up_close_by_run[i], up);
  }
  grid->model.host = host;
  return TSR_OK;
}

static tsr_status check_suggestion(tsr_context *context, int processes, tsr_type type,
                                   const int *rows, const int *cols) {
  if (context == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "context is NULL; make one with tsr_context_create");
  if (processes < 1)
    return tsr_fail(TSR_ERR_ARGUMENT, "processes is %d; give at least 1", processes);
  if (!tsr_pmatrix_has_type(type))
    return tsr_fail(TSR_ERR_ARGUMENT, "type is %d; give TSR_S, TSR_D, TSR_C, TSR_Z, TSR_H or TSR_B",
                    (int)type);
  if (rows == NULL || cols == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "rows or cols is NULL; give the addresses of two numbers");
  return TSR_OK;
}

TSR_ENTRY(tsr_grid_suggest, (context, processes, type, m, n, k, rows, cols), tsr_context *context,
          int processes, tsr_type type, int64_t m, int64_t n, int64_t k, int *rows, int *cols) {
  tsr_model model;
  int extent[2];
  TSR_TRY(check_suggestion(context, processes, type, rows, cols));
  if (m < 0 || n < 0 || k < 0)
    return tsr_fail(TSR_ERR_ARGUMENT, "the product is %lld x %lld x %lld; give at least 0",
                    (long long)m, (long long)n, (long long)k);
  TSR_TRY(tsr_model_alone(context, &model));
  bool empty = m == 0 || n == 0 || k == 0;
  tsr_status status = empty ? tsr_shape_choose_any(&model, processes, extent)
                            : tsr_shape_choose(&model, processes, type, m, n, k, extent);
  tsr_model_free(&model);
  TSR_TRY(status);
  *rows = extent[0];
  *cols = extent[1];
  return TSR_OK;
}
