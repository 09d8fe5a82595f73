/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Failures while panels travel from device to device. If a device of one process fails, all
 * processes must return that error and none may hang; if the transport cannot be used, MPI's must
 * be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "emulated.h"

/* Rows of the grid: 2 if the number of processes allows it. */
static int rows_of(const world *w) {
  return w->size > 2 && w->size % 2 == 0 ? 2 : 1;
}

static tsr_grid *make_grid(const world *w) {
  tsr_grid *grid = NULL;
  EXPECT(tsr_grid_create(w->devices, MPI_COMM_WORLD, rows_of(w), 0, &grid), TSR_OK, "");
  EXPECT(tsr_grid_set_panels(grid, 7, 2), TSR_OK, "");
  return grid;
}

static void panels_go_from_device_to_device(world *w) {
  tsr_grid *grid = make_grid(w);
  long before = emulated_carried();
  goes_on(grid);
  HOLD(w->size == 1 || emulated_carried() > before);
  HOLD(strcmp(tsr_grid_transport(grid), w->size == 1 ? "mpi" : "nccl") == 0);
  HOLD(strcmp(tsr_grid_transport(w->grid), "mpi") == 0);
  tsr_grid_destroy(grid);
}

/* Panels are uploaded by the links of both devices, and pieces overtake each other. A process may
 * have one way only while others have more. */
static void panels_come_up_by_all_links(world *w) {
  long overtaken = emulated_overtaken();
  for (int limited = 0; limited < 2 && w->size > 1; limited++) {
    emulated_limit_ways(limited && w->rank == 0 ? 1 : 0);
    tsr_grid *grid = make_grid(w);
    emulated_limit_ways(0);
    long before = emulated_onward();
    for (int i = 0; i < 4; i++) goes_on(grid);
    HOLD((emulated_onward() > before) == !(limited && w->rank == 0));
    tsr_grid_destroy(grid);
  }
  HOLD(w->size == 1 || emulated_overtaken() > overtaken);
}

/* The timeline has a track for each queue of the fabric. */
static void timelines_show_pieces(world *w) {
  static const char *const tracks[] = {"pieces across", "pieces up, way 0", "pieces up, way 1"};
  char *text = NULL;
  if (w->size == 1) return;
  tsr_grid *grid = make_grid(w);
  EXPECT(tsr_grid_timeline_begin(grid), TSR_OK, "");
  for (int i = 0; i < 4; i++) goes_on(grid);
  EXPECT(tsr_grid_timeline_end(grid, 0, 0, &text), TSR_OK, "");
  for (int i = 0; i < 3 && text != NULL; i++) HOLD(strstr(text, tracks[i]) != NULL);
  free(text);
  tsr_grid_destroy(grid);
}

/* How many operations this process gives to the fabric in one call. */
static long count_carried(tsr_grid *grid, const call *x) {
  long before = emulated_carried();
  (void)grid;
  EXPECT(call_run(x), TSR_OK, "");
  return emulated_carried() - before;
}

/* The nth operation of process `who` fails: that call and later ones return the error everywhere.
 */
static void one_fails(const world *w, int who, long n, int later) {
  tsr_grid *grid = make_grid(w);
  char process[32];
  call x;
  snprintf(process, sizeof process, "process %d: ", who);
  if (!HOLD(call_create(grid, TSR_NO_TRANS, &x))) return;
  if (w->rank == who) emulated_fail_at(n, later);
  tsr_status status = call_run(&x);
  emulated_fail_at(0, 0);
  expect(status, TSR_ERR_DEVICE, "the test lets the device fail", __LINE__);
  HOLD(strncmp(tsr_message(), process, strlen(process)) == 0);
  EXPECT(call_run(&x), TSR_ERR_DEVICE, "the test lets the device fail");
  HOLD(strncmp(tsr_message(), process, strlen(process)) == 0);
  call_destroy(&x);
  tsr_grid_destroy(grid);
}

/* Operations of each process fail in turn: later, when they are executed, or (uploads alone) at
 * once, when they are asked for. */
static void one_device_fails(world *w) {
  if (w->size == 1) return;
  for (int who = 0; who < w->size; who = next_of(w, who)) {
    tsr_grid *grid = make_grid(w);
    call x;
    if (!HOLD(call_create(grid, TSR_NO_TRANS, &x))) return;
    long count = count_carried(grid, &x);
    MPI_Bcast(&count, 1, MPI_LONG, who, MPI_COMM_WORLD);
    HOLD(count > 4);
    call_destroy(&x);
    tsr_grid_destroy(grid);
    for (long n = 1; n <= count; n += 1 + count / 12) one_fails(w, who, n, 1);
    one_fails(w, who, 1, 0);
  }
  goes_on(w->grid);
}

/* An operation of one process fails while rates are measured: the grid uses MPI then. */
static void rates_cannot_be_measured(world *w) {
  if (w->size == 1) return;
  long before = emulated_carried();
  tsr_grid_destroy(make_grid(w));
  long count = emulated_carried() - before;
  MPI_Bcast(&count, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  HOLD(count > 8);
  for (long n = 1; n <= count; n += 1 + count / 10)
    for (int later = 0; later < 2; later++) {
      if (w->rank == 0) emulated_fail_at(n, later);
      tsr_grid *grid = make_grid(w);
      emulated_fail_at(0, 0);
      HOLD(strcmp(tsr_grid_transport(grid), "mpi") == 0);
      goes_on(grid);
      tsr_grid_destroy(grid);
    }
}

/* Recording of events fails, while rates are measured and while panels travel: products are right,
 * and no operation is left when the fabric is closed. */
static void events_cannot_be_recorded(world *w) {
  if (w->size == 1) return;
  long left = emulated_left();
  for (int who = 0; who < w->size; who = next_of(w, who)) {
    if (w->rank == who) emulated_lose_events(1);
    tsr_grid *grid = make_grid(w);
    HOLD(strcmp(tsr_grid_transport(grid), "nccl") == 0);
    for (int i = 0; i < 3; i++) goes_on(grid);
    tsr_grid_destroy(grid);
    emulated_lose_events(0);
  }
  HOLD(emulated_left() == left);
}

/* The next tsr_grid_sync returns the failure of an asynchronous call, on all processes. */
static void sync_returns_failures(world *w) {
  tsr_grid *grid = make_grid(w);
  call x;
  if (w->size == 1 || !HOLD(call_create(grid, TSR_NO_TRANS, &x))) return;
  if (w->rank == 0) emulated_fail_at(2, 1);
  EXPECT(tsr_pgemm_async(grid, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N, &x.alpha, &x.a, 0, 0, &x.b, 0,
                         0, &x.beta, &x.c, 0, 0),
         TSR_OK, "");
  EXPECT(tsr_grid_sync(grid), TSR_ERR_DEVICE, "process 0: the test lets the device fail");
  emulated_fail_at(0, 0);
  EXPECT(tsr_grid_sync(grid), TSR_OK, "");
  call_destroy(&x);
  tsr_grid_destroy(grid);
}

static void settings(world *w) {
  tsr_grid *grid = NULL;
  setenv("TESSERA_TRANSPORT", "mpi", 1);
  grid = make_grid(w);
  HOLD(strcmp(tsr_grid_transport(grid), "mpi") == 0);
  goes_on(grid);
  tsr_grid_destroy(grid);
  grid = NULL;
  setenv("TESSERA_TRANSPORT", "nccl", 1);
  EXPECT(tsr_grid_create(w->cpu, MPI_COMM_WORLD, rows_of(w), 0, &grid),
         w->size == 1 ? TSR_OK : TSR_ERR_UNSUPPORTED, "the engine is cpu");
  tsr_grid_destroy(grid);
  setenv("TESSERA_TRANSPORT", "pigeons", 1);
  EXPECT(tsr_grid_create(w->devices, MPI_COMM_WORLD, rows_of(w), 0, &grid), TSR_ERR_ARGUMENT,
         "it may be auto, mpi or nccl");
  setenv("TESSERA_TRANSPORT", w->rank == w->size - 1 ? "mpi" : "auto", 1);
  EXPECT(tsr_grid_create(w->devices, MPI_COMM_WORLD, rows_of(w), 0, &grid),
         w->size == 1 ? TSR_OK : TSR_ERR_ARGUMENT, "TESSERA_TRANSPORT (auto, mpi, nccl) is 1");
  if (w->size == 1) tsr_grid_destroy(grid);
  unsetenv("TESSERA_TRANSPORT");
}

/* If two processes have the same device, or one process has none, panels go by MPI; if NCCL is
 * forced, the grid is refused. */
static void a_device_for_each(world *w) {
  tsr_grid *grid = NULL;
  if (w->size == 1) return;
  emulated_share_device(1);
  grid = make_grid(w);
  HOLD(strcmp(tsr_grid_transport(grid), "mpi") == 0);
  goes_on(grid);
  tsr_grid_destroy(grid);
  setenv("TESSERA_TRANSPORT", "nccl", 1);
  EXPECT(tsr_grid_create(w->devices, MPI_COMM_WORLD, rows_of(w), 0, &grid), TSR_ERR_UNSUPPORTED,
         "processes 0 and 1 have the same first device");
  unsetenv("TESSERA_TRANSPORT");
  emulated_share_device(0);
  EXPECT(tsr_grid_create(w->rank == 1 ? w->cpu : w->devices, MPI_COMM_WORLD, rows_of(w), 0, &grid),
         TSR_OK, "");
  HOLD(strcmp(tsr_grid_transport(grid), "mpi") == 0);
  goes_on(grid);
  tsr_grid_destroy(grid);
}

int main(int argc, char **argv) {
  static const test_case cases[] = {
      {"panels go from device to device", panels_go_from_device_to_device},
      {"panels come up by all links", panels_come_up_by_all_links},
      {"timelines show pieces", timelines_show_pieces},
      {"one device fails", one_device_fails},
      {"rates cannot be measured", rates_cannot_be_measured},
      {"events cannot be recorded", events_cannot_be_recorded},
      {"sync returns failures", sync_returns_failures},
      {"settings", settings},
      {"a device for each", a_device_for_each},
  };
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
