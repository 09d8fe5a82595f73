/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "gemm_blocks.h"

#include <math.h>

static size_t bytes_of(const gemm_job *job) {
  double m = (double)job->m, n = (double)job->n, k = (double)job->k;
  return (size_t)((m * k + k * n + m * n) * (double)element_size(job->type));
}

bool blocks_wanted(const gemm_job *job) {
  return tsr_device_count(job->context) == 0;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Extents of blocks, or the first indices of one. */
typedef struct blocks {
  int64_t m, n, k;
} blocks;

static const double LEAST = 256; /* elements; on smaller blocks the BLAS is slow */

/* Bytes that a disk could read in the time of one seek. */
static const double SEEK = 256e3;

/* Bytes that the disk moves, with seeks counted as SEEK bytes, for blocks of C of along x across
 * elements. A is read once for each column of blocks, B once for each row of them; each run of
 * `along` elements in a column of A or C costs a seek. For row-major files rows and columns are
 * exchanged, and A and B. */
static double price_of(double m, double n, double k, double along, double across, double size) {
  double seek = 1 + SEEK / (along * size);
  double a = m * k * ceil(n / across) * seek, c = m * n * seek, b = k * n * ceil(m / along);
  return (a + b + c) * size;
}

/* Chooses blocks of C and ranges of k that move the fewest bytes. room: elements in memory, half
 * for C, a quarter each for A and B. */
static blocks choose_split(const gemm_job *job, double room) {
  double m = (double)(job->column_major ? job->m : job->n);
  double n = (double)(job->column_major ? job->n : job->m);
  double along = m, best = INFINITY, size = (double)element_size(job->type);
  for (double rows = m; rows >= 1; rows = floor(rows / 2)) {
    double price = price_of(m, n, (double)job->k, rows, fmax(1, room / 2 / rows), size);
    if (price >= best) continue;
    best = price;
    along = rows;
  }
  along = fmax(along, fmin(m, LEAST));
  double across = fmax(room / 2 / along, LEAST);
  double depth = fmax(room / 4 / fmax(along, across), LEAST);
  if (job->column_major) return (blocks){(int64_t)along, (int64_t)across, (int64_t)depth};
  return (blocks){(int64_t)across, (int64_t)along, (int64_t)depth};
}

/* Blocks with all of k at once, for types whose sums would be rounded between two ranges of k. */
static blocks choose_whole(const gemm_job *job, double room) {
  double k = (double)job->k, side = fmax(sqrt(k * k + room) - k, LEAST);
  return (blocks){(int64_t)side, (int64_t)side, job->k};
}

/* Parts of a product, at most so many: enough to show how far it is. */
static const double PARTS = 50;

/* Elements of k in a part, at least. The BLAS itself adds a sum over a few hundred (OpenBLAS: 256
 * to 512) to C before it goes on, so parts of several of these cost it nothing. */
static const double DEPTH = 1024;

/* Columns of C in a part, at least (rows, if it is row-major): each part packs all of A again,
 * which then serves so many columns. 4096 make that less than 1 % of the part's time. */
static const double WIDTH = 4096;

/* Parts of a product in memory: ranges of k, or of the columns of C if k is small or if sums would
 * be rounded between two ranges. */
static blocks choose_parts(const gemm_job *job) {
  blocks all = {job->m, job->n, job->k};
  int64_t *across = job->column_major ? &all.n : &all.m;
  if (element_store_rounding(job->type) == 0 && (double)job->k >= 2 * DEPTH) {
    all.k = (int64_t)fmax(DEPTH, ceil((double)job->k / PARTS));
  } else {
    *across = (int64_t)fmax(WIDTH, ceil((double)*across / PARTS));
  }
  return all;
}

static blocks choose(const gemm_job *job, size_t limit) {
  if (bytes_of(job) <= limit) return choose_parts(job);
  double room = (double)limit / (double)element_size(job->type);
  bool rounds = element_store_rounding(job->type) > 0;
  blocks b = rounds ? choose_whole(job, room) : choose_split(job, room);
  return (blocks){smaller(b.m, job->m), smaller(b.n, job->n), smaller(b.k, job->k)};
}

/* The offset in elements of the element (row, col) of op(matrix). */
static int64_t place(const gemm_job *job, tsr_op op, int64_t row, int64_t col, int64_t ld) {
  bool along_column = job->column_major == (op == TSR_NO_TRANS);
  return along_column ? row + col * ld : row * ld + col;
}

static int multiply_block(gemm_job *job, const blocks *at, const blocks *extent) {
  int64_t lda = operand_ld(&job->a), ldb = operand_ld(&job->b);
  int64_t ldc = job->column_major ? job->m : job->n;
  size_t size = element_size(job->type);
  const char *a = operand_pointer(&job->a), *b = operand_pointer(&job->b);
  char *c = job->c_placed ? job->c_placed : job->c_file.data;
  scalar beta = at->k == 0 ? job->request.beta : (scalar){1, 0};
  scalar_value alpha_value = scalar_for(job->type, job->request.alpha);
  scalar_value beta_value = scalar_for(job->type, beta);
  a += (size_t)place(job, job->blas_transa, at->m, at->k, lda) * size;
  b += (size_t)place(job, job->blas_transb, at->k, at->n, ldb) * size;
  c += (size_t)place(job, TSR_NO_TRANS, at->m, at->n, ldc) * size;
  return tool_status(tsr_gemm(job->context, job->type,
                              job->column_major ? TSR_COL_MAJOR : TSR_ROW_MAJOR, job->blas_transa,
                              job->blas_transb, extent->m, extent->n, extent->k, &alpha_value, a,
                              lda, b, ldb, &beta_value, c, ldc));
}

/* Computes one block of C over all of k. *done: multiplications so far. */
static int compute_block(gemm_job *job, const blocks *step, blocks at, double *done) {
  blocks extent = {smaller(step->m, job->m - at.m), smaller(step->n, job->n - at.n), 0};
  double all = (double)job->m * (double)job->n * (double)job->k;
  int code = TOOL_OK;
  do { /* once even if k = 0, where C is scaled */
    extent.k = smaller(step->k, job->k - at.k);
    code = multiply_block(job, &at, &extent);
    *done += (double)extent.m * (double)extent.n * (double)extent.k;
    if (all > 0) progress_done(&job->progress, *done / all);
    at.k += step->k;
  } while (at.k < job->k && !code);
  return code;
}

int blocks_multiply(gemm_job *job, size_t limit) {
  blocks step = choose(job, limit);
  double done = 0;
  int code = TOOL_OK;
  for (int64_t j = 0; j < job->n && !code; j += step.n) {
    for (int64_t i = 0; i < job->m && !code; i += step.m) {
      code = compute_block(job, &step, (blocks){i, j, 0}, &done);
    }
  }
  return code;
}
