/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Timelines of grids: each process notes its own events; one process makes a trace of all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"
#include "cluster/run/async_queue.h"
#include "cluster/run/grid.h"

/* Each process of the grid has NUMBERS "pid"s in the trace. Its messages have number MESSAGES among
 * them; its context's have the lower ones. */
enum { NUMBERS = 2000, MESSAGES = 998 };

/* ---- Beginning ---------------------------------------------------------------- */

static void drop(tsr_grid_trace *trace) {
  TSR_VEC_FREE(&trace->events);
  trace->keeping = false;
}

TSR_ENTRY(tsr_grid_timeline_begin, (grid), tsr_grid *grid) {
  TSR_TRY(tsr_grid_check_real(grid));
  tsr_record record = tsr_record_begin(TSR_RECORD_TIMELINE);
  tsr_async_queue_drain(grid->queue);
  drop(&grid->trace);
  tsr_status status = tsr_timeline_begin(grid->context);
  TSR_TRY(tsr_agree(&grid->all, &record, status));
  TSR_TRY(tsr_mpi_check(MPI_Barrier(grid->all.comm), "MPI_Barrier"));
  grid->trace.zero = tsr_now();
  grid->trace.keeping = true;
  /* The context counts time from the first event that it notes. */
  return tsr_timeline_note(grid->context, "begin", 0);
}

/* ---- Ending ------------------------------------------------------------------- */

/* Ends this process's timeline and appends its events to *text. */
static tsr_status write_own(tsr_grid *grid, tsr_text *text) {
  char name[48], *devices = NULL;
  int base = NUMBERS * grid->all.rank;
  snprintf(name, sizeof name, "process (%d, %d), ", grid->me[0], grid->me[1]);
  TSR_TRY(tsr_timeline_end(grid->context, &devices));
  tsr_grid_trace_adopt(devices, base, name, text);
  free(devices);
  tsr_grid_trace_write(&grid->trace, base + MESSAGES, name, text);
  drop(&grid->trace);
  if (!text->broken) return TSR_OK;
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for a timeline");
}

/* begins[i]: where the text of process i begins in the joined text; begins[processes]: its end. */
static tsr_status place_texts(int processes, const int *lengths, int *begins) {
  int64_t at = 0;
  for (int i = 0; i < processes; i++) {
    begins[i] = (int)at;
    at += lengths[i];
    if (at >= INT32_MAX)
      return tsr_fail(TSR_ERR_MEMORY,
                      "the timelines of all processes exceed 2 GB; keep them for fewer "
                      "products");
  }
  begins[processes] = (int)at;
  return TSR_OK;
}

/* At the target: allocates memory for the texts of all processes, once their lengths are known. */
static tsr_status make_room(const tsr_peers *peers, const int *lengths, int **begins, char **all) {
  *begins = tsr_alloc(((size_t)peers->size + 1) * sizeof **begins);
  if (*begins == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for timelines");
  TSR_TRY(place_texts(peers->size, lengths, *begins));
  *all = tsr_alloc((size_t)(*begins)[peers->size] + 1);
  if (*all == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for timelines");
  (*all)[(*begins)[peers->size]] = '\0';
  return TSR_OK;
}

/* Joins the texts of all processes in *all, at process `target`; elsewhere *all stays NULL.
 * Collective. */
static tsr_status gather_texts(const tsr_peers *peers, int target, const tsr_text *mine,
                               int *lengths, int **begins, char **all) {
  bool here = peers->rank == target;
  int length = (int)mine->length;
  int code = MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, target, peers->comm);
  tsr_status status = tsr_mpi_check(code, "MPI_Gather");
  if (status == TSR_OK && here) status = make_room(peers, lengths, begins, all);
  TSR_TRY(tsr_agree(peers, NULL, status));
  code = MPI_Gatherv(mine->bytes, length, MPI_CHAR, *all, lengths, *begins, MPI_CHAR, target,
                     peers->comm);
  return tsr_agree(peers, NULL, tsr_mpi_check(code, "MPI_Gatherv"));
}

static tsr_status collect(const tsr_peers *peers, int target, const tsr_text *mine, char **all) {
  int *lengths = tsr_alloc_zero((size_t)peers->size, sizeof *lengths), *begins = NULL;
  tsr_status status =
      lengths != NULL ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for timelines");
  status = tsr_agree(peers, NULL, status);
  if (status == TSR_OK) status = gather_texts(peers, target, mine, lengths, &begins, all);
  tsr_dealloc(lengths);
  tsr_dealloc(begins);
  return status;
}

/* Makes the trace from its events. The caller frees *text with free(). */
static tsr_status wrap(const char *events, char **text) {
  tsr_text whole = TSR_TEXT_INIT;
  size_t length = strlen(events);
  if (length >= 2) length -= 2; /* the last comma, and the end of its line */
  tsr_text_add(&whole, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n%.*s\n]}\n", (int)length,
               events);
  tsr_status status = tsr_text_take(&whole, text);
  tsr_text_free(&whole);
  return status;
}

static tsr_status check(const tsr_grid *grid, int row, int col, char **text) {
  if (row < 0 || row >= grid->extent[0] || col < 0 || col >= grid->extent[1])
    return tsr_fail(
        TSR_ERR_ARGUMENT,
        "(%d, %d) is no process of the grid, which is %d x %d; give row and column of one", row,
        col, grid->extent[0], grid->extent[1]);
  if (text == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "text is NULL; give the address of a pointer");
  return TSR_OK;
}

TSR_ENTRY(tsr_grid_timeline_end, (grid, row, col, text), tsr_grid *grid, int row, int col,
          char **text) {
  TSR_TRY(tsr_grid_check_real(grid));
  tsr_record record = tsr_record_begin(TSR_RECORD_TIMELINE);
  tsr_record_add(&record, "", "row", row);
  tsr_record_add(&record, "", "col", col);
  tsr_async_queue_drain(grid->queue);
  TSR_TRY(tsr_agree(&grid->all, &record, check(grid, row, col, text)));
  tsr_text mine = TSR_TEXT_INIT;
  char *all = NULL, *made = NULL;
  int target = row * grid->extent[1] + col;
  tsr_status status = tsr_agree(&grid->all, NULL, write_own(grid, &mine));
  if (status == TSR_OK) status = collect(&grid->all, target, &mine, &all);
  if (status == TSR_OK) {
    if (all != NULL) status = wrap(all, &made);
    status = tsr_agree(&grid->all, NULL, status);
  }
  tsr_text_free(&mine);
  tsr_dealloc(all);
  if (status == TSR_OK) *text = made;
  return status;
}
