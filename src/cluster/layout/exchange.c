/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/layout/exchange.h"

#include "base/alloc.h"
#include "base/least.h"
#include "cluster/transport/wait.h"
#include "cluster/tuning.h"

/* ---- Memory --------------------------------------------------------------- */

/* How many processes an element is sent to. */
static int copies_of(const tsr_exchange *x) {
  int copies = 1;
  for (int d = 0; d < 2; d++)
    if (x->to.axis[d].everywhere) copies *= x->to.axis[d].count;
  return copies;
}

static void choose_window(tsr_exchange *x) {
  int64_t bytes = tsr_least((int64_t)TSR_TUNE_EXCHANGE_SHARE * x->peers->size, TSR_MESSAGE_MOST);
  int64_t elements = bytes / copies_of(x) / (int64_t)x->from.size;
  int64_t rows = x->from.axis[0].extent;
  x->window[0] = tsr_least(rows > 0 ? rows : 1, elements);
  x->window[1] = elements / x->window[0];
}

/* The most bytes that this process owns of any window of a view. */
static size_t buffer_bytes(const tsr_exchange *x, const tsr_view *view) {
  int64_t rows = tsr_least(x->window[0], tsr_view_local(view, 0));
  int64_t cols = tsr_least(x->window[1], tsr_view_local(view, 1));
  return (size_t)(rows * cols) * view->size;
}

tsr_status tsr_exchange_create(tsr_grid *grid, const tsr_peers *peers, const tsr_view *from,
                               const tsr_view *to, tsr_exchange *x) {
  *x = (tsr_exchange){.grid = grid, .peers = peers, .from = *from, .to = *to};
  choose_window(x);
  x->out = tsr_alloc(buffer_bytes(x, from) * (size_t)copies_of(x));
  x->in = tsr_alloc(buffer_bytes(x, to));
  x->count = tsr_alloc_zero(4 * (size_t)peers->size, sizeof *x->count);
  if (x->out != NULL && x->in != NULL && x->count != NULL) return TSR_OK;
  tsr_exchange_destroy(x);
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for messages of up to %lld bytes",
                  (long long)(x->window[0] * x->window[1] * copies_of(x) * (int64_t)from->size));
}

void tsr_exchange_destroy(tsr_exchange *x) {
  tsr_dealloc(x->out);
  tsr_dealloc(x->in);
  tsr_dealloc(x->count);
  x->out = x->in = NULL;
  x->count = NULL;
}

/* ---- One window ----------------------------------------------------------- */

typedef struct window {
  int64_t at[2], end[2];
} window;

/* Copies the elements of window *w that this process owns in view `mine` and the process at
 * coordinates `they` owns in view `other`: outward: from the matrix to the buffer; else from the
 * buffer to the matrix. Sender and receiver go through the same blocks in the same order. */
static void pack(const tsr_view *mine, const tsr_view *other, const int they[2], const window *w,
                 char *buffer, bool outward) {
  int64_t done = 0;
  for (tsr_span c = {w->at[1], 0};
       tsr_axis_common(&mine->axis[1], mine->me[1], &other->axis[1], they[1], w->end[1], &c);
       c.at = c.end)
    for (tsr_span r = {w->at[0], 0};
         tsr_axis_common(&mine->axis[0], mine->me[0], &other->axis[0], they[0], w->end[0], &r);
         r.at = r.end) {
      int64_t extent[2] = {r.end - r.at, c.end - c.at}, packed[2] = {1, extent[0]};
      char *here = tsr_view_at(mine, r.at, c.at), *there = buffer + done * (int64_t)mine->size;
      if (outward)
        tsr_block_copy(mine->size, extent, here, mine->stride, there, packed);
      else
        tsr_block_copy(mine->size, extent, there, packed, here, mine->stride);
      done += extent[0] * extent[1];
    }
}

/* How many elements pack() copies. */
static int64_t shared(const tsr_view *mine, const tsr_view *other, const int they[2],
                      const window *w) {
  int64_t count = 1;
  for (int d = 0; d < 2 && count > 0; d++)
    count *= tsr_axis_common_count(&mine->axis[d], mine->me[d], &other->axis[d], they[d], w->at[d],
                                   w->end[d]);
  return count;
}

/* Number i of the processes in the order in which they share the buffers: writes its coordinates in
 * the view to `they`, and returns its rank. */
static int peer_of(const tsr_view *view, int64_t i, int they[2]) {
  they[0] = (int)(i / view->axis[1].count);
  they[1] = (int)(i % view->axis[1].count);
  return they[0] * view->weight[0] + they[1] * view->weight[1];
}

/* Sets, for each process, the bytes that `mine` shares with it in the window and their offset in
 * the buffer. Returns the number of elements for all processes together. */
static int64_t count_all(const tsr_exchange *x, const tsr_view *mine, const tsr_view *other,
                         const window *w, int *counts, int *begins) {
  int64_t done = 0, size = (int64_t)x->from.size;
  for (int i = 0; i < x->peers->size; i++) {
    int they[2], peer = peer_of(other, i, they);
    int64_t count = shared(mine, other, they, w);
    counts[peer] = (int)(count * size);
    begins[peer] = (int)(done * size);
    done += count;
  }
  return done;
}

typedef struct packing {
  const tsr_exchange *x;
  const window *w;
  bool outward;
} packing;

/* Packs or unpacks for processes number at .. at+count-1 (tsr_pack_work). */
static void pack_some(void *argument, int64_t at, int64_t count) {
  const packing *p = argument;
  const tsr_exchange *x = p->x;
  const tsr_view *mine = p->outward ? &x->from : &x->to, *other = p->outward ? &x->to : &x->from;
  const int *begins = x->count + (p->outward ? 1 : 3) * x->peers->size;
  for (int64_t i = at; i < at + count; i++) {
    int they[2], peer = peer_of(other, i, they);
    pack(mine, other, they, p->w, (p->outward ? x->out : x->in) + begins[peer], p->outward);
  }
}

static void pack_all(const tsr_exchange *x, const window *w, int64_t elements, bool outward) {
  packing p = {x, w, outward};
  tsr_packers_run(x->grid->packers, pack_some, &p, x->peers->size, (size_t)elements * x->from.size);
}

/* ---- Counts ----------------------------------------------------------------- */

/* Bytes that this process, which owns its part of `mine`, shares with the others, which own theirs
 * of `other`. */
static size_t with_others(const tsr_exchange *x, const tsr_view *mine, const tsr_view *other) {
  window all = {{0, 0}, {mine->axis[0].extent, mine->axis[1].extent}};
  int64_t count = 0;
  for (int i = 0; i < x->peers->size; i++) {
    int they[2], peer = peer_of(other, i, they);
    if (peer != x->peers->rank) count += shared(mine, other, they, &all);
  }
  return (size_t)count * mine->size;
}

static void plan_counts(const tsr_exchange *x) {
  tsr_traffic_add(&x->grid->planned.sent, with_others(x, &x->from, &x->to));
  tsr_traffic_add(&x->grid->planned.received, with_others(x, &x->to, &x->from));
}

/* Counts a window whose messages are complete. */
static void count_window(const tsr_exchange *x) {
  int size = x->peers->size;
  const int *out = x->count, *in = x->count + 2 * size;
  for (int i = 0; i < size; i++) {
    if (i == x->peers->rank) continue;
    tsr_traffic_add(&x->grid->counted.sent, (size_t)out[i]);
    tsr_traffic_add(&x->grid->counted.received, (size_t)in[i]);
  }
}

/* ---- Window by window ------------------------------------------------------- */

static window next_window(const tsr_exchange *x) {
  window w;
  for (int d = 0; d < 2; d++) {
    w.at[d] = x->at[d];
    w.end[d] = tsr_least(x->at[d] + x->window[d], x->from.axis[d].extent);
  }
  return w;
}

static void note(tsr_exchange *x, tsr_status status) {
  if (status == TSR_OK || x->status != TSR_OK) return;
  x->status = status;
  tsr_error_take(status, &x->error);
}

static void begin(tsr_exchange *x) {
  int size = x->peers->size, *out = x->count, *in = x->count + 2 * size;
  window w = next_window(x);
  int64_t packed = count_all(x, &x->from, &x->to, &w, out, out + size);
  pack_all(x, &w, packed, true);
  if (x->from.conjugate) tsr_block_conjugate(x->from.size, packed, x->out);
  count_all(x, &x->to, &x->from, &w, in, in + size);
  if (x->at[0] == 0 && x->at[1] == 0) plan_counts(x);
  x->request = MPI_REQUEST_NULL;
  int code = MPI_Ialltoallv(x->out, out, out + size, MPI_BYTE, x->in, in, in + size, MPI_BYTE,
                            x->peers->comm, &x->request);
  note(x, tsr_mpi_check(code, "MPI_Ialltoallv"));
  x->under_way = true;
}

static bool has_arrived(tsr_exchange *x) {
  int flag = 1;
  int code = MPI_Test(&x->request, &flag, MPI_STATUS_IGNORE);
  note(x, tsr_mpi_check(code, "MPI_Test"));
  return flag != 0 || code != MPI_SUCCESS;
}

/* Unpacks the messages of the window, and goes to the next one. */
static void end(tsr_exchange *x) {
  window w = next_window(x);
  const int *in = x->count + 2 * x->peers->size;
  int64_t bytes = 0;
  for (int i = 0; i < x->peers->size; i++) bytes += in[i];
  if (x->status == TSR_OK) pack_all(x, &w, bytes / (int64_t)x->from.size, false);
  if (x->status == TSR_OK) count_window(x);
  x->under_way = false;
  x->at[0] += x->window[0];
  if (x->at[0] < x->from.axis[0].extent) return;
  x->at[0] = 0;
  x->at[1] += x->window[1];
}

bool tsr_exchange_poll(tsr_exchange *x) {
  for (;;) {
    if (x->under_way && !has_arrived(x)) return false;
    if (x->under_way) end(x);
    if (x->at[1] >= x->from.axis[1].extent || x->from.axis[0].extent == 0) return true;
    begin(x);
  }
}

tsr_status tsr_exchange_result(const tsr_exchange *x) {
  return x->status == TSR_OK ? TSR_OK : tsr_error_put(&x->error);
}

tsr_status tsr_exchange_run(tsr_exchange *x) {
  tsr_wait wait = TSR_WAIT_INIT;
  while (!tsr_exchange_poll(x)) tsr_wait_step(&wait, true);
  return tsr_exchange_result(x);
}

double tsr_exchange_bytes(const tsr_view *from, int processes) {
  double elements = (double)from->axis[0].extent * (double)from->axis[1].extent;
  return elements * (double)from->size * (processes - 1) / ((double)processes * processes);
}
