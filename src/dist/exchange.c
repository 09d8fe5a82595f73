#include "dist/exchange.h"

#include "base/alloc.h"

/* What all processes together move at once, bytes for each of them. */
static const int64_t share = 16 << 20;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* ---- Memory --------------------------------------------------------------- */

static void choose_window(tsr_exchange *x) {
  int64_t bytes = least(share * x->peers->size, TSR_MESSAGE_MOST);
  int64_t elements = bytes / (int64_t)x->from.size;
  int64_t rows = x->from.axis[0].extent;
  x->window[0] = least(rows > 0 ? rows : 1, elements);
  x->window[1] = elements / x->window[0];
}

/* The most that this process has of any window. */
static size_t buffer_bytes(const tsr_exchange *x, const tsr_view *view) {
  int64_t rows = least(x->window[0], tsr_view_local(view, 0));
  int64_t cols = least(x->window[1], tsr_view_local(view, 1));
  return (size_t)(rows * cols) * view->size;
}

tsr_status tsr_exchange_create(const tsr_peers *peers, const tsr_view *from, const tsr_view *to,
                               tsr_exchange *x) {
  *x = (tsr_exchange){.peers = peers, .from = *from, .to = *to};
  choose_window(x);
  x->out = tsr_alloc(buffer_bytes(x, from));
  x->in = tsr_alloc(buffer_bytes(x, to));
  x->count = tsr_alloc_zero(4 * (size_t)peers->size, sizeof *x->count);
  if (x->out != NULL && x->in != NULL && x->count != NULL) return TSR_OK;
  tsr_exchange_destroy(x);
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for messages of up to %lld bytes",
                  (long long)(x->window[0] * x->window[1] * (int64_t)from->size));
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

/* Copies what this process, seen by `mine`, shares in the window with the process at coordinates
 * `they` of `other`, to or from a buffer; returns how many elements. Both sides go through the same
 * blocks in the same order. */
static int64_t pack(const tsr_view *mine, const tsr_view *other, const int they[2], const window *w,
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
  return done;
}

/* How many elements that are. */
static int64_t shared(const tsr_view *mine, const tsr_view *other, const int they[2],
                      const window *w) {
  int64_t count = 1;
  for (int d = 0; d < 2 && count > 0; d++)
    count *= tsr_axis_common_count(&mine->axis[d], mine->me[d], &other->axis[d], they[d], w->at[d],
                                   w->end[d]);
  return count;
}

/* Packs for every process, noting bytes and where they begin. */
static int64_t pack_all(tsr_exchange *x, const window *w, int *counts, int *begins) {
  const tsr_view *to = &x->to;
  int64_t done = 0, size = (int64_t)x->from.size;
  for (int i = 0; i < to->axis[0].count; i++)
    for (int j = 0; j < to->axis[1].count; j++) {
      int they[2] = {i, j}, peer = i * to->weight[0] + j * to->weight[1];
      int64_t count = pack(&x->from, to, they, w, x->out + done * size, true);
      counts[peer] = (int)(count * size);
      begins[peer] = (int)(done * size);
      done += count;
    }
  return done;
}

/* What will come, in the order of coordinates. */
static void expect_all(const tsr_exchange *x, const window *w, int *counts, int *begins) {
  const tsr_view *from = &x->from;
  int64_t done = 0, size = (int64_t)x->from.size;
  for (int i = 0; i < from->axis[0].count; i++)
    for (int j = 0; j < from->axis[1].count; j++) {
      int they[2] = {i, j}, peer = i * from->weight[0] + j * from->weight[1];
      int64_t count = shared(&x->to, from, they, w);
      counts[peer] = (int)(count * size);
      begins[peer] = (int)(done * size);
      done += count;
    }
}

static void unpack_all(tsr_exchange *x, const window *w, const int *begins) {
  const tsr_view *from = &x->from;
  for (int i = 0; i < from->axis[0].count; i++)
    for (int j = 0; j < from->axis[1].count; j++) {
      int they[2] = {i, j}, peer = i * from->weight[0] + j * from->weight[1];
      pack(&x->to, from, they, w, x->in + begins[peer], false);
    }
}

static tsr_status move(tsr_exchange *x, const window *w) {
  int size = x->peers->size, *out = x->count, *in = x->count + 2 * size;
  int64_t packed = pack_all(x, w, out, out + size);
  if (x->from.conjugate) tsr_block_conjugate(x->from.size, packed, x->out);
  expect_all(x, w, in, in + size);
  int code = MPI_Alltoallv(x->out, out, out + size, MPI_BYTE, x->in, in, in + size, MPI_BYTE,
                           x->peers->comm);
  TSR_TRY(tsr_mpi_check(code, "MPI_Alltoallv"));
  unpack_all(x, w, in + size);
  return TSR_OK;
}

tsr_status tsr_exchange_run(tsr_exchange *x) {
  int64_t rows = x->from.axis[0].extent, cols = x->from.axis[1].extent;
  tsr_status status = TSR_OK;
  for (int64_t j = 0; j < cols; j += x->window[1])
    for (int64_t i = 0; i < rows; i += x->window[0]) {
      window w = {{i, j}, {least(i + x->window[0], rows), least(j + x->window[1], cols)}};
      tsr_status moved = move(x, &w);
      if (status == TSR_OK) status = moved;
    }
  return status;
}
