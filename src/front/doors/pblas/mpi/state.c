/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The state of a BLACS grid: kept on its communicator, agreed on by its processes; starting the
 * devices. */
#include "front/doors/pblas/mpi/state.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cluster/run/grid.h"

static MPI_Comm communicator_of(const tsr_pblas_grid *grid) {
  return MPI_Comm_f2c((MPI_Fint)grid->communicator);
}

static void free_communicator(MPI_Comm *comm) {
  if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
}

/* ---- Keeping ------------------------------------------------------------------ */

/* The state of a process that cannot allocate one. */
static tsr_pblas_state out_of_memory = {.phase = TSR_PBLAS_NONE, .why = TSR_WHY_NO_DEVICE};

/* MPI calls this when the communicator is freed, on all its processes. The devices stay started. */
static int forget(MPI_Comm comm, int key, void *attribute, void *extra) {
  tsr_pblas_state *state = attribute;
  (void)comm, (void)key, (void)extra;
  if (state == &out_of_memory) return MPI_SUCCESS;
  tsr_grid_destroy(state->grid);
  free_communicator(&state->across[0]);
  free_communicator(&state->across[1]);
  free_communicator(&state->all);
  tsr_dealloc(state);
  return MPI_SUCCESS;
}

/* The key of the attribute. A duplicate of the communicator does not get a copy of the state. */
static int key_of_states(void) {
  static int key = MPI_KEYVAL_INVALID;
  if (key == MPI_KEYVAL_INVALID) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
  return key;
}

static tsr_pblas_state *find(MPI_Comm comm) {
  void *kept = NULL;
  int found = 0;
  MPI_Comm_get_attr(comm, key_of_states(), &kept, &found);
  return found ? kept : NULL;
}

/* ---- Agreeing ----------------------------------------------------------------- */

/* Numbers the processes of a host that see the same devices, so that each takes its share. If the
 * user or the launcher shows each process its own devices, each is alone and takes them all. */
static void share_devices(MPI_Comm comm) {
  MPI_Comm host, same;
  int rank, ranks;
  int color = (int)(tsr_offload_visible() & 0x7fffffff);
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_split(host, color, 0, &same);
  MPI_Comm_rank(same, &rank);
  MPI_Comm_size(same, &ranks);
  MPI_Comm_free(&same);
  MPI_Comm_free(&host);
  tsr_offload_share_devices(rank, ranks);
}

/* The maximum of each fact over all processes: settings, devices and rates may differ between
 * processes, but decisions must not. */
static tsr_offload_facts agree(MPI_Comm comm, bool able) {
  enum { COUNT = sizeof(tsr_offload_facts) / sizeof(double) };
  tsr_offload_facts mine = tsr_offload_facts_get(), agreed;
  if (!able) mine.deviceless = 1;
  MPI_Allreduce(&mine, &agreed, COUNT, MPI_DOUBLE, MPI_MAX, comm);
  return agreed;
}

static void fill(tsr_pblas_state *state, const tsr_offload_facts *agreed) {
  bool possible = agreed->reluctance < 2 && agreed->deviceless == 0;
  state->phase = possible ? TSR_PBLAS_IDLE : TSR_PBLAS_NONE;
  state->why = agreed->reluctance < 2 ? TSR_WHY_NO_DEVICE : TSR_WHY_NEVER;
  state->all = state->across[0] = state->across[1] = MPI_COMM_NULL;
  tsr_pblas_price_init(&state->price, agreed);
}

static tsr_pblas_state *make(MPI_Comm comm) {
  tsr_pblas_state *made = tsr_alloc_zero(1, sizeof *made);
  share_devices(comm);
  tsr_offload_facts agreed = agree(comm, made != NULL);
  if (made != NULL) fill(made, &agreed);
  tsr_pblas_state *state = made != NULL ? made : &out_of_memory;
  MPI_Comm_set_attr(comm, key_of_states(), state);
  return state;
}

tsr_pblas_state *tsr_pblas_state_get(const tsr_pblas_grid *grid) {
  MPI_Comm comm = communicator_of(grid);
  int size = 0;
  if (comm == MPI_COMM_NULL) return NULL;
  MPI_Comm_size(comm, &size);
  if (size != grid->rows * grid->cols) return NULL;
  tsr_pblas_state *state = find(comm);
  return state != NULL ? state : make(comm);
}

double tsr_pblas_least(const tsr_pblas_grid *grid, double value) {
  double least = value;
  MPI_Allreduce(&value, &least, 1, MPI_DOUBLE, MPI_MIN, communicator_of(grid));
  return least;
}

/* ---- Starting ----------------------------------------------------------------- */

/* Makes state->all: the grid's processes ranked row by row. In the grid's own communicator the
 * program may have mapped them in another order. */
static void rank_by_rows(tsr_pblas_state *state, const tsr_pblas_grid *grid) {
  int place = grid->row * grid->cols + grid->col;
  MPI_Comm_split(communicator_of(grid), 0, place, &state->all);
  MPI_Comm_set_errhandler(state->all, MPI_ERRORS_RETURN);
}

static tsr_status multiply_zeros(tsr_context *context, const double *x, int64_t n, double *c) {
  const double one = 1, zero = 0;
  TSR_TRY(tsr_gemm_async(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, &one,
                         x, n, x, n, &zero, c, n));
  TSR_TRY(tsr_coherent(context, TSR_GENERAL, n, n, c, n, TSR_D));
  return tsr_sync(context);
}

/* Runs one small product, so that devices that cannot work fail before a C of the program is
 * touched. */
static tsr_status try_out(tsr_context *context) {
  enum { N = 32 };
  double *x = tsr_alloc_zero(2 * N * N, sizeof *x);
  if (x == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a product of %d", N);
  tsr_error error = {.status = TSR_OK};
  tsr_status status = multiply_zeros(context, x, N, x + N * N);
  if (status != TSR_OK) tsr_error_take(status, &error);
  status = tsr_release(context, N, 2 * N, x, N, TSR_D);
  tsr_dealloc(x);
  return error.status != TSR_OK ? tsr_error_put(&error) : status;
}

static tsr_context *start_here(void) {
  tsr_context *context = NULL;
  tsr_status status = tsr_offload_context(&context);
  if (status == TSR_OK) status = try_out(context);
  if (status == TSR_OK) return context;
  tsr_log(TSR_LOG_INFO, "products of a grid go to ScaLAPACK: %s", tsr_message());
  return NULL;
}

/* If one process has no context, tsr_grid_create fails on all. */
void tsr_pblas_state_start(tsr_pblas_state *state, const tsr_pblas_grid *grid) {
  rank_by_rows(state, grid);
  state->context = start_here();
  tsr_status status =
      tsr_grid_create(state->context, state->all, grid->rows, grid->cols, &state->grid);
  state->phase = status == TSR_OK ? TSR_PBLAS_READY : TSR_PBLAS_NONE;
  state->why = TSR_WHY_FAILED;
  if (status == TSR_OK && state->grid->model.host.up > 0)
    tsr_pblas_price_set_across(&state->price, state->grid->model.facts.network_bandwidth);
}

MPI_Comm tsr_pblas_across(tsr_pblas_state *state, const tsr_pblas_grid *grid, int direction) {
  MPI_Comm *across = &state->across[direction];
  int color = direction == 0 ? grid->col : grid->row;
  int place = direction == 0 ? grid->row : grid->col;
  if (*across != MPI_COMM_NULL) return *across;
  MPI_Comm_split(state->all, color, place, across);
  return *across;
}
