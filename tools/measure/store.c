/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "store.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "elements.h"
#include "parallel.h"
#include "random.h"

enum { BUFFERED = 256, GRAIN = 1 << 18 };

static const size_t PAGE = (size_t)2 << 20;        /* bytes of a huge page */
static const size_t FILL_PIECE = (size_t)64 << 20; /* bytes of host memory to fill a device from */
/* Pinned buffers of this many bytes or more are allocated as ordinary memory, filled by all cores
 * and pinned then: a driver that allocates pinned memory touches its pages with one thread. */
static const size_t LARGE = (size_t)20 << 30;

uint64_t bench_store_seed(int operand) {
  return 1000 + (uint64_t)operand;
}

static size_t bytes_of(const bench_store *store, const bench_buffer *buffer) {
  size_t bytes = (size_t)buffer->most * element_size(store->type);
  return bytes > 0 ? bytes : 1;
}

/* Whether the buffer's memory comes from malloc, pinned later or not, and not from tsr_malloc. */
static bool is_plain(const bench_store *store, const bench_buffer *buffer) {
  home_kind kind = buffer->where.kind;
  return kind == HOME_PAGEABLE || (kind == HOME_PINNED && bytes_of(store, buffer) >= LARGE);
}

static void free_data(const bench_store *store, const bench_buffer *buffer) {
  if (buffer->registered) tsr_unregister(store->context, buffer->data);
  if (buffer->borrowed || !buffer->data) return;
  if (is_plain(store, buffer)) {
    free(buffer->data);
  } else {
    tsr_free(store->context, buffer->data);
  }
}

void bench_store_close(bench_store *store) {
  for (int i = 0; i < store->count; i++) free_data(store, &store->buffers[i]);
  store->count = 0;
}

void bench_store_drop_devices(bench_store *store) {
  for (int i = 0; i < store->count; i++) {
    if (store->buffers[i].where.kind != HOME_DEVICE) continue;
    free_data(store, &store->buffers[i]);
    store->buffers[i].data = NULL;
  }
}

/* ---- Finding a buffer ---- */

static bool same_place(home a, home b) {
  return a.kind == b.kind && (a.kind != HOME_DEVICE || a.device == b.device);
}

static bench_buffer *find_buffer(bench_store *store, int operand, home where) {
  for (int i = 0; i < store->count; i++) {
    bench_buffer *b = &store->buffers[i];
    if (b->operand == operand && same_place(b->where, where)) return b;
  }
  if (store->count == STORE_BUFFERS) return NULL;
  bench_buffer *fresh = &store->buffers[store->count++];
  *fresh = (bench_buffer){.where = where, .operand = operand};
  return fresh;
}

static bool is_lent(const bench_store *store, home where) {
  return store->lender && where.kind != HOME_DEVICE;
}

int bench_store_expect(bench_store *store, int operand, home where, int64_t elements) {
  bench_buffer *b = find_buffer(store, operand, where);
  if (!b) return tool_fail("the cases use more than %d buffers for matrices", STORE_BUFFERS);
  if (b->most < elements) b->most = elements;
  return is_lent(store, where) ? bench_store_expect(store->lender, operand, where, elements)
                               : TOOL_OK;
}

/* ---- New buffers ---- */

static int allocate(const bench_store *store, bench_buffer *buffer) {
  size_t bytes = bytes_of(store, buffer);
  if (!is_plain(store, buffer)) {
    int device = buffer->where.kind == HOME_DEVICE ? buffer->where.device : TSR_HOST;
    return tool_status(tsr_malloc(store->context, device, bytes, &buffer->data));
  }
  if (posix_memalign(&buffer->data, PAGE, bytes) != 0) {
    buffer->data = NULL;
    return tool_fail("out of memory: a matrix needs %s", tool_bytes((double)bytes));
  }
  if (bytes >= LARGE) (void)madvise(buffer->data, bytes, MADV_HUGEPAGE);
  return TOOL_OK;
}

typedef struct triangle_job {
  const bench_buffer *buffer;
  tsr_type type;
  int64_t first;
  void *data;
} triangle_job;

/* Turns random elements into a triangular matrix's: elements off the diagonal are scaled by a power
 * of two, which keeps all their bits; the diagonal becomes +1 or -1 plus at most 1 %. */
static void shape_triangle(void *user, int64_t begin, int64_t end) {
  const triangle_job *job = user;
  int64_t order = job->buffer->order;
  int less = -ilogb((double)(2 * order));
  double re[BUFFERED], im[BUFFERED];
  for (; begin < end; begin += BUFFERED) {
    int64_t some = end - begin < BUFFERED ? end - begin : BUFFERED;
    element_load(job->type, job->data, begin, some, re, im);
    for (int64_t i = 0; i < some; i++) {
      int64_t at = job->first + begin + i, row = at % order;
      bool on_diagonal = row == at / order;
      re[i] = ldexp(re[i], on_diagonal ? -6 : less);
      im[i] = ldexp(im[i], on_diagonal ? -6 : less);
      if (on_diagonal) re[i] += row % 2 ? -1 : 1;
    }
    element_store(job->type, job->data, begin, some, re, im);
  }
}

/* Fills data with `count` elements of the buffer's matrix, from number `first` on. */
static void fill_piece(const bench_store *store, const bench_buffer *buffer, int64_t first,
                       int64_t count, void *data) {
  random_fill(store->type, bench_store_seed(buffer->operand), first, count, data);
  if (buffer->operand != STORE_TRIANGLE) return;
  triangle_job job = {buffer, store->type, first, data};
  parallel_for(count, GRAIN, shape_triangle, &job);
}

/* Fills a buffer on a device in pieces of FILL_PIECE bytes, by way of host memory. */
static int fill_device(const bench_store *store, const bench_buffer *buffer, int64_t count) {
  size_t size = element_size(store->type);
  int64_t piece = (int64_t)(FILL_PIECE / size);
  void *host;
  int code = tool_status(tsr_malloc(store->context, TSR_HOST, FILL_PIECE, &host));
  if (code != TOOL_OK) return code;
  for (int64_t first = 0; first < count && code == TOOL_OK; first += piece) {
    int64_t some = count - first < piece ? count - first : piece;
    fill_piece(store, buffer, first, some, host);
    char *to = (char *)buffer->data + (size_t)first * size;
    code = tool_status(tsr_memcpy(store->context, to, host, (size_t)some * size));
  }
  tsr_free(store->context, host);
  return code;
}

static int fill(const bench_store *store, const bench_buffer *buffer) {
  bool triangle = buffer->operand == STORE_TRIANGLE;
  int64_t count = triangle ? buffer->order * buffer->order : buffer->most;
  if (buffer->where.kind == HOME_DEVICE) return fill_device(store, buffer, count);
  fill_piece(store, buffer, 0, count, buffer->data);
  return TOOL_OK;
}

static int pin(const bench_store *store, bench_buffer *buffer) {
  int code = tool_status(tsr_register(store->context, buffer->data, bytes_of(store, buffer)));
  buffer->registered = code == TOOL_OK;
  return code ? code : tool_status(tsr_sync(store->context)); /* waits until it is pinned */
}

/* Pins memory that the lender has pinned, if this store's context does not see that: its engine is
 * another one, or devices are emulated. */
static int pin_borrowed(const bench_store *store, bench_buffer *buffer) {
  tsr_home found;
  int code =
      tool_status(tsr_home_find(store->context, buffer->data, bytes_of(store, buffer), &found));
  return code || found.memory == TSR_PINNED ? code : pin(store, buffer);
}

static int make(const bench_store *store, bench_buffer *buffer) {
  bool pinned = buffer->where.kind == HOME_PINNED;
  if (buffer->borrowed) return pinned ? pin_borrowed(store, buffer) : TOOL_OK;
  int code = allocate(store, buffer);
  if (!code) code = fill(store, buffer);
  return !code && pinned && is_plain(store, buffer) ? pin(store, buffer) : code;
}

int bench_store_get(bench_store *store, int operand, home where, int64_t order, void **data) {
  bench_buffer *b = find_buffer(store, operand, where);
  if (!b) return tool_fail("the cases use more than %d buffers for matrices", STORE_BUFFERS);
  bool fresh = !b->data, other = b->order != order;
  int code = TOOL_OK;
  b->order = order;
  b->borrowed = is_lent(store, where);
  if (b->borrowed) code = bench_store_get(store->lender, operand, where, order, &b->data);
  if (!code && fresh) code = make(store, b);
  if (!code && !fresh && other && !b->borrowed) code = fill(store, b);
  if (code) {
    free_data(store, b);
    b->data = NULL;
    return code;
  }
  *data = b->data;
  return TOOL_OK;
}

int bench_store_renew(bench_store *store, int operand, home where) {
  return fill(store, find_buffer(store, operand, where));
}
