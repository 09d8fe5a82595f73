#include "bench_case.h"

#include <math.h>
#include <stdlib.h>

#include "random.h"

enum { SAMPLES = 64 };

static const size_t FILL_PIECE = (size_t)64 << 20; /* bytes, through which a device is filled */

/* ---- Memory ---- */

static int64_t entries(const matrix_view *m) {
  return m->rows * m->cols;
}

static int allocate(bench_case *c, int index) {
  matrix_view *m = &c->stored[index];
  home where = c->kind->homes[index];
  size_t bytes = (size_t)entries(m) * element_size(m->type);
  void *pointer = NULL;
  if (bytes == 0) bytes = 1;
  if (where.kind == HOME_PINNED || where.kind == HOME_DEVICE) {
    int device = where.kind == HOME_DEVICE ? where.device : TSR_HOST;
    int code = tool_status(tsr_malloc(c->context, device, bytes, &pointer));
    if (code != TOOL_OK) return code;
  } else if (posix_memalign(&pointer, 4096, bytes) != 0) {
    return tool_fail("out of memory: a matrix needs %s", tool_bytes((double)bytes));
  }
  m->data = pointer;
  return TOOL_OK;
}

static void release(bench_case *c, int index) {
  void *pointer = (void *)c->stored[index].data;
  home where = c->kind->homes[index];
  if (!pointer) return;
  if (where.kind == HOME_PINNED || where.kind == HOME_DEVICE) {
    tsr_free(c->context, pointer);
  } else {
    free(pointer);
  }
}

static uint64_t seed_of(int index) {
  return 1000 + (uint64_t)index;
}

/* A device's memory is filled through a piece of host memory. */
static int fill_device(const bench_case *c, int index) {
  const matrix_view *m = &c->stored[index];
  size_t size = element_size(m->type);
  int64_t piece = (int64_t)(FILL_PIECE / size), count = entries(m);
  void *host;
  int code = tool_status(tsr_malloc(c->context, TSR_HOST, FILL_PIECE, &host));
  if (code != TOOL_OK) return code;
  for (int64_t first = 0; first < count && code == TOOL_OK; first += piece) {
    int64_t some = count - first < piece ? count - first : piece;
    random_fill(m->type, seed_of(index), first, some, host);
    code = tool_status(
        tsr_memcpy(c->context, (char *)m->data + (size_t)first * size, host, (size_t)some * size));
  }
  tsr_free(c->context, host);
  return code;
}

static int fill(const bench_case *c, int index) {
  const matrix_view *m = &c->stored[index];
  if (c->kind->homes[index].kind == HOME_DEVICE) return fill_device(c, index);
  random_fill(m->type, seed_of(index), 0, entries(m), (void *)m->data);
  return TOOL_OK;
}

/* ---- Making one ---- */

static matrix_view stored_matrix(tsr_type type, tsr_op op, int64_t rows, int64_t cols) {
  bool turned = op != TSR_NO_TRANS;
  return matrix_of(type, NULL, true, turned ? cols : rows, turned ? rows : cols);
}

static int64_t ld_of(const matrix_view *m) {
  return m->rows > 1 ? m->rows : 1;
}

static void describe_product(bench_case *c) {
  const bench_kind *kind = c->kind;
  c->alpha = scalar_for(kind->type, kind->alpha);
  c->beta = scalar_for(kind->type, kind->beta);
  c->product = (bench_product){.type = kind->type,
                               .transa = kind->transa,
                               .transb = kind->transb,
                               .m = c->shape.m,
                               .n = c->shape.n,
                               .k = c->shape.k,
                               .lda = ld_of(&c->stored[0]),
                               .ldb = ld_of(&c->stored[1]),
                               .ldc = ld_of(&c->stored[2]),
                               .alpha = &c->alpha,
                               .a = c->stored[0].data,
                               .b = c->stored[1].data,
                               .beta = &c->beta,
                               .c = (void *)c->stored[2].data};
}

int bench_case_create(const bench_kind *kind, bench_shape shape, tsr_context *context,
                      bench_case *c) {
  *c = (bench_case){.kind = kind, .shape = shape, .context = context};
  c->stored[0] = stored_matrix(kind->type, kind->transa, shape.m, shape.k);
  c->stored[1] = stored_matrix(kind->type, kind->transb, shape.k, shape.n);
  c->stored[2] = stored_matrix(kind->type, TSR_NO_TRANS, shape.m, shape.n);
  int code = TOOL_OK;
  for (int i = 0; i < 3 && code == TOOL_OK; i++) {
    code = allocate(c, i);
    if (code == TOOL_OK) code = fill(c, i);
  }
  if (code == TOOL_OK) {
    describe_product(c);
  } else {
    bench_case_destroy(c);
  }
  return code;
}

void bench_case_destroy(bench_case *c) {
  for (int i = 0; c->kind && i < 3; i++) release(c, i);
  *c = (bench_case){0};
}

/* ---- Running and checking ---- */

int bench_case_run(const bench_case *c, double *seconds) {
  const bench_product *p = &c->product;
  double begin = tool_now();
  tsr_status status = tsr_gemm(c->context, p->type, TSR_COL_MAJOR, p->transa, p->transb, p->m, p->n,
                               p->k, p->alpha, p->a, p->lda, p->b, p->ldb, p->beta, p->c, p->ldc);
  *seconds = tool_now() - begin;
  return tool_status(status);
}

typedef struct long_complex {
  long double re, im;
} long_complex;

/* Entry (row, col) of op(matrix), computed again. */
static long_complex entry(const bench_case *c, int index, tsr_op op, int64_t row, int64_t col) {
  const matrix_view *m = &c->stored[index];
  int64_t at = op == TSR_NO_TRANS ? row + col * m->rows : col + row * m->rows;
  double re, im;
  random_element(m->type, seed_of(index), at, &re, &im);
  if (op == TSR_CONJ_TRANS) im = -im;
  return (long_complex){re, im};
}

static long_complex times(long_complex x, long_complex y) {
  return (long_complex){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static long double size_of(long_complex x) {
  return hypotl(x.re, x.im);
}

/* The exact entry of the result, and the scale of its rounding errors. */
static long_complex expected_entry(const bench_case *c, int64_t row, int64_t col,
                                   long double *scale) {
  const bench_kind *kind = c->kind;
  long_complex sum = {0, 0};
  long double size = 0;
  for (int64_t l = 0; l < c->shape.k; l++) {
    long_complex x = entry(c, 0, kind->transa, row, l), y = entry(c, 1, kind->transb, l, col);
    long_complex product = times(x, y);
    sum = (long_complex){sum.re + product.re, sum.im + product.im};
    size += size_of(product);
  }
  long_complex alpha = {kind->alpha.re, kind->alpha.im}, beta = {kind->beta.re, kind->beta.im};
  long_complex old = times(beta, entry(c, 2, TSR_NO_TRANS, row, col));
  sum = times(alpha, sum);
  *scale = size_of(alpha) * size + size_of(old);
  return (long_complex){sum.re + old.re, sum.im + old.im};
}

static int check_entry(const bench_case *c, int64_t row, int64_t col, bool *good) {
  const matrix_view *m = &c->stored[2];
  size_t size = element_size(m->type);
  char raw[16];
  double re, im;
  tsr_status status = tsr_memcpy(
      c->context, raw, (const char *)m->data + (size_t)(row + col * m->rows) * size, size);
  if (status != TSR_OK) return tool_status(status);
  element_load(m->type, raw, 0, 1, &re, &im);
  long double scale;
  long_complex wanted = expected_entry(c, row, col, &scale);
  long double error = size_of((long_complex){wanted.re - re, wanted.im - im});
  if (!(error <= element_bound(m->type, c->shape.k) * scale)) *good = false;
  return TOOL_OK;
}

int bench_case_check(bench_case *c, bool *good) {
  double seconds;
  *good = true;
  if (entries(&c->stored[2]) == 0) return TOOL_OK;
  int code = fill(c, 2);
  if (code == TOOL_OK) code = bench_case_run(c, &seconds);
  for (int i = 0; i < SAMPLES && code == TOOL_OK; i++) {
    /* The corners first: edges are where tiles go wrong. */
    int64_t row = i == 1 || i == 3 ? c->shape.m - 1 : 0;
    int64_t col = i == 2 || i == 3 ? c->shape.n - 1 : 0;
    if (i > 3) {
      row = (int64_t)(random_uniform(31, (uint64_t)i) * (double)c->shape.m);
      col = (int64_t)(random_uniform(37, (uint64_t)i) * (double)c->shape.n);
    }
    code = check_entry(c, row, col, good);
  }
  return code;
}
