#include "bench_store.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "elements.h"
#include "parallel.h"
#include "random.h"

enum { TRIANGLE = 3, CHUNK = 256, GRAIN = 1 << 18 };

static const size_t PAGE = (size_t)2 << 20;        /* of the larger kind */
static const size_t FILL_PIECE = (size_t)64 << 20; /* bytes, through which a device is filled */

uint64_t bench_store_seed(int operand) {
  return 1000 + (uint64_t)operand;
}

void bench_store_open(tsr_type type, tsr_context *context, bench_store *lender, bool emulated,
                      bench_store *store) {
  *store = (bench_store){.type = type, .context = context, .lender = lender, .emulated = emulated};
}

/* Whether its memory is the program's, pinned or not. */
static bool is_plain(const bench_store *store, const bench_buffer *buffer) {
  home_kind kind = buffer->where.kind;
  return kind == HOME_PAGEABLE || (kind == HOME_PINNED && store->registers && !buffer->borrowed);
}

static void give_back(const bench_store *store, const bench_buffer *buffer) {
  if (buffer->registered) tsr_unregister(store->context, buffer->data);
  if (buffer->borrowed) return;
  if (is_plain(store, buffer)) {
    free(buffer->data);
  } else {
    tsr_free(store->context, buffer->data);
  }
}

void bench_store_close(bench_store *store) {
  for (int i = 0; i < store->count; i++) give_back(store, &store->buffers[i]);
  store->count = 0;
}

static void raise_to(int64_t *most, int64_t count) {
  if (*most < count) *most = count;
}

void bench_store_expect(bench_store *store, bench_shape shape) {
  raise_to(&store->most[0], shape.m * shape.k);
  raise_to(&store->most[1], shape.k * shape.n);
  raise_to(&store->most[2], shape.m * shape.n);
  raise_to(&store->most[TRIANGLE], shape.m * shape.m);
  raise_to(&store->most[TRIANGLE], shape.n * shape.n);
}

/* ---- New buffers ---- */

static size_t bytes_of(const bench_store *store, int operand) {
  size_t bytes = (size_t)store->most[operand] * element_size(store->type);
  return bytes > 0 ? bytes : 1;
}

static int allocate(const bench_store *store, bench_buffer *buffer) {
  size_t bytes = bytes_of(store, buffer->operand);
  if (is_plain(store, buffer)) {
    if (posix_memalign(&buffer->data, PAGE, bytes) != 0) {
      return tool_fail("out of memory: a matrix needs %s", tool_bytes((double)bytes));
    }
    if (store->registers) (void)madvise(buffer->data, bytes, MADV_HUGEPAGE);
    return TOOL_OK;
  }
  int device = buffer->where.kind == HOME_DEVICE ? buffer->where.device : TSR_HOST;
  return tool_status(tsr_malloc(store->context, device, bytes, &buffer->data));
}

typedef struct triangle_job {
  const bench_buffer *buffer;
  tsr_type type;
  int64_t first;
  void *data;
} triangle_job;

/* Random elements, shifted by powers of two: no bit of them is lost but in the diagonal's. */
static void shape_triangle(void *user, int64_t begin, int64_t end) {
  const triangle_job *job = user;
  int64_t order = job->buffer->order;
  int less = -ilogb((double)(2 * order));
  double re[CHUNK], im[CHUNK];
  for (; begin < end; begin += CHUNK) {
    int64_t some = end - begin < CHUNK ? end - begin : CHUNK;
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

/* count elements of the buffer's matrix from first on. */
static void fill_piece(const bench_store *store, const bench_buffer *buffer, int64_t first,
                       int64_t count, void *data) {
  random_fill(store->type, bench_store_seed(buffer->operand), first, count, data);
  if (buffer->operand != TRIANGLE) return;
  triangle_job job = {buffer, store->type, first, data};
  parallel_for(count, GRAIN, shape_triangle, &job);
}

/* A device's memory is filled through a piece of host memory. */
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
  bool triangle = buffer->operand == TRIANGLE;
  int64_t count = triangle ? buffer->order * buffer->order : store->most[buffer->operand];
  if (buffer->where.kind == HOME_DEVICE) return fill_device(store, buffer, count);
  fill_piece(store, buffer, 0, count, buffer->data);
  return TOOL_OK;
}

static int pin(const bench_store *store, bench_buffer *buffer, size_t bytes) {
  int code = tool_status(tsr_register(store->context, buffer->data, bytes));
  buffer->registered = code == TOOL_OK;
  return code;
}

static int make(const bench_store *store, bench_buffer *buffer) {
  int code = allocate(store, buffer);
  if (code != TOOL_OK) return code;
  code = fill(store, buffer);
  bool pins = is_plain(store, buffer) && buffer->where.kind == HOME_PINNED;
  if (code == TOOL_OK && pins) code = pin(store, buffer, bytes_of(store, buffer->operand));
  if (code != TOOL_OK) give_back(store, buffer);
  return code;
}

static int get_of_lender(bench_store *lender, bench_buffer *buffer) {
  if (buffer->operand == TRIANGLE) {
    return bench_store_get_triangle(lender, buffer->order, buffer->where, &buffer->data);
  }
  return bench_store_get(lender, buffer->operand, buffer->where, &buffer->data);
}

static int borrow(bench_store *store, bench_buffer *buffer) {
  int code = get_of_lender(store->lender, buffer);
  buffer->borrowed = true;
  if (code == TOOL_OK && store->emulated && buffer->where.kind == HOME_PINNED) {
    code = pin(store, buffer, bytes_of(store->lender, buffer->operand));
  }
  return code;
}

/* ---- Finding one ---- */

static bool same_place(home a, home b) {
  return a.kind == b.kind && (a.kind != HOME_DEVICE || a.device == b.device);
}

static bench_buffer *find_buffer(bench_store *store, int operand, home where) {
  for (int i = 0; i < store->count; i++) {
    bench_buffer *b = &store->buffers[i];
    if (b->operand == operand && same_place(b->where, where)) return b;
  }
  return NULL;
}

static int add_buffer(bench_store *store, bench_buffer made, bool lent, void **data) {
  if (store->count == STORE_BUFFERS) return tool_fail("too many places for matrices");
  int code = lent ? borrow(store, &made) : make(store, &made);
  if (code != TOOL_OK) return code;
  store->buffers[store->count++] = made;
  *data = made.data;
  return TOOL_OK;
}

int bench_store_get(bench_store *store, int operand, home where, void **data) {
  const bench_buffer *found = find_buffer(store, operand, where);
  bool lent = store->lender && where.kind != HOME_DEVICE;
  if (!found) {
    return add_buffer(store, (bench_buffer){.where = where, .operand = operand}, lent, data);
  }
  *data = found->data;
  return TOOL_OK;
}

int bench_store_get_triangle(bench_store *store, int64_t order, home where, void **data) {
  bench_buffer *found = find_buffer(store, TRIANGLE, where);
  bool lent = store->lender && where.kind != HOME_DEVICE;
  if (!found) {
    bench_buffer made = {.where = where, .operand = TRIANGLE, .order = order};
    return add_buffer(store, made, lent, data);
  }
  bool other = found->order != order;
  found->order = order;
  *data = found->data;
  if (!other) return TOOL_OK;
  return lent ? get_of_lender(store->lender, found) : fill(store, found);
}
