/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "vectors.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "parallel.h"
#include "random.h"

enum { SEGMENT = 256, GROUP = 16 };

bool vectors_create(vectors *l, int64_t length) {
  size_t room = (size_t)(length > 0 ? length : 1);
  l->length = length;
  l->block = calloc(room * (2 * VECTORS + 2), sizeof(double));
  if (!l->block) return false;
  for (int v = 0; v < VECTORS; v++) {
    l->re[v] = l->block + room * (size_t)(2 * v);
    l->im[v] = l->block + room * (size_t)(2 * v + 1);
  }
  l->size = l->block + room * (2 * VECTORS);
  l->squares = l->size + room;
  return true;
}

void vectors_destroy(vectors *l) {
  free(l->block);
  l->block = NULL;
}

void vectors_randomise(vectors *x) {
  for (int v = 0; v < VECTORS; v++) {
    for (int64_t j = 0; j < x->length; j++) {
      /* Magnitudes in [0.5, 1]: no entry is near 0, which would hide an error in its column. */
      double u = random_uniform(7771, (uint64_t)(v * x->length + j));
      x->re[v][j] = u < 0.5 ? -1 + u : u;
    }
  }
  for (int64_t j = 0; j < x->length; j++) x->size[j] = 1;
}

void vectors_add(vectors *sum, const vectors *y, scalar factor) {
  for (int v = 0; v < VECTORS; v++) {
    for (int64_t i = 0; i < y->length; i++) {
      double re = y->re[v][i], im = y->im[v][i];
      sum->re[v][i] += factor.re * re - factor.im * im;
      sum->im[v][i] += factor.re * im + factor.im * re;
    }
  }
  double size = hypot(factor.re, factor.im);
  for (int64_t i = 0; i < y->length; i++) sum->size[i] += size * y->size[i];
}

/* ---- Segments of a row or a column ---- */

typedef enum diagonal {
  DIAGONAL_STORED,
  DIAGONAL_REAL, /* the imaginary parts count as 0 */
  DIAGONAL_ONE,
  DIAGONAL_ZERO
} diagonal;

/* A triangle of a matrix, or all of it (TSR_GENERAL); entries outside the triangle count as 0. */
typedef struct part {
  matrix_view view;
  tsr_uplo uplo;
  diagonal diagonal;
  const bool *skipped; /* columns that count as 0; NULL: none */
} part;

typedef struct segment {
  double re[SEGMENT], im[SEGMENT], size[SEGMENT];
} segment;

static void load_plain(const matrix_view *m, int64_t row, int64_t col, bool along_row,
                       int64_t count, segment *s) {
  int64_t first = row * m->row_stride + col * m->col_stride;
  int64_t stride = along_row ? m->col_stride : m->row_stride;
  if (stride == 1) {
    element_load(m->type, m->data, first, count, s->re, s->im);
  } else {
    for (int64_t i = 0; i < count; i++) {
      element_load(m->type, m->data, first + i * stride, 1, s->re + i, s->im + i);
    }
  }
  for (int64_t i = 0; m->conj && i < count; i++) s->im[i] = -s->im[i];
}

static void measure_segment(tsr_type type, int64_t count, segment *s) {
  bool is_complex = element_is_complex(type);
  for (int64_t i = 0; i < count; i++) {
    s->size[i] = is_complex ? hypot(s->re[i], s->im[i]) : fabs(s->re[i]);
  }
}

/* Zeroes entries outside the part and sets its diagonal. right: column - row of the first entry,
 * which changes by step from entry to entry. */
static void mask_segment(const part *p, int64_t right, int64_t step, int64_t count, segment *s) {
  for (int64_t i = 0; i < count; i++, right += step) {
    bool outside = p->uplo == TSR_LOWER ? right > 0 : right < 0;
    if (outside) s->re[i] = s->im[i] = 0;
    if (right != 0 || p->diagonal == DIAGONAL_STORED) continue;
    if (p->diagonal != DIAGONAL_REAL) s->re[i] = p->diagonal == DIAGONAL_ONE;
    s->im[i] = 0;
  }
}

/* Zeroes entries of a row, from column col on, that lie in skipped columns. */
static void skip_columns(const bool *skipped, int64_t col, int64_t count, segment *s) {
  for (int64_t i = 0; i < count; i++)
    if (skipped[col + i]) s->re[i] = s->im[i] = 0;
}

/* Loads count entries of a row or column; false: all lie outside the part, nothing is loaded. */
static bool load_segment(const part *p, int64_t row, int64_t col, bool along_row, int64_t count,
                         segment *s) {
  int64_t right = col - row, step = along_row ? 1 : -1, last = right + step * (count - 1);
  if (p->uplo == TSR_LOWER && right > 0 && last > 0) return false;
  if (p->uplo == TSR_UPPER && right < 0 && last < 0) return false;
  if (p->skipped && !along_row && p->skipped[col]) return false;
  load_plain(&p->view, row, col, along_row, count, s);
  if (p->skipped && along_row) skip_columns(p->skipped, col, count, s);
  if (p->uplo != TSR_GENERAL) mask_segment(p, right, step, count, s);
  measure_segment(p->view.type, count, s);
  return true;
}

/* ---- y = y + M x ---- */

typedef struct apply_job {
  const part *matrix;
  const vectors *x;
  vectors *y;
  pthread_mutex_t lock; /* protects y and failed when threads add to all of y (apply_columns) */
  bool failed;
} apply_job;

/* y[out] += (a segment of a row, from column col on) . x[col...] */
static void add_dots(const segment *s, const vectors *x, int64_t col, int64_t count, vectors *y,
                     int64_t out) {
  for (int v = 0; v < VECTORS; v++) {
    const double *xr = x->re[v] + col, *xi = x->im[v] + col;
    double re = 0, im = 0;
    for (int64_t j = 0; j < count; j++) {
      re += s->re[j] * xr[j] - s->im[j] * xi[j];
      im += s->re[j] * xi[j] + s->im[j] * xr[j];
    }
    y->re[v][out] += re;
    y->im[v][out] += im;
  }
  for (int64_t j = 0; j < count; j++) y->size[out] += s->size[j] * x->size[col + j];
}

/* y[out...] += (a segment of column col) * x[col] */
static void add_multiple(const segment *s, const vectors *x, int64_t col, int64_t count, vectors *y,
                         int64_t out) {
  for (int v = 0; v < VECTORS; v++) {
    double xr = x->re[v][col], xi = x->im[v][col];
    double *yr = y->re[v] + out, *yi = y->im[v] + out;
    for (int64_t i = 0; i < count; i++) {
      yr[i] += s->re[i] * xr - s->im[i] * xi;
      yi[i] += s->re[i] * xi + s->im[i] * xr;
    }
  }
  double size = x->size[col];
  for (int64_t i = 0; i < count; i++) y->size[out + i] += s->size[i] * size;
}

/* For a matrix with contiguous rows: one dot product for each row. */
static void apply_rows(void *user, int64_t begin, int64_t end) {
  apply_job *job = user;
  int64_t cols = job->matrix->view.cols;
  segment s;
  for (int64_t row = begin; row < end; row++) {
    for (int64_t col = 0; col < cols; col += SEGMENT) {
      int64_t count = cols - col < SEGMENT ? cols - col : SEGMENT;
      if (!load_segment(job->matrix, row, col, true, count, &s)) continue;
      add_dots(&s, job->x, col, count, job->y, row);
      for (int64_t j = 0; j < count; j++) job->y->squares[row] += s.size[j] * s.size[j];
    }
  }
}

/* Adds columns [begin, end) to y, segment by segment of y, so that a segment stays in the cache for
 * all columns. */
static void add_group(const apply_job *job, int64_t begin, int64_t end, vectors *y) {
  int64_t rows = job->matrix->view.rows;
  segment s;
  for (int64_t row = 0; row < rows; row += SEGMENT) {
    int64_t count = rows - row < SEGMENT ? rows - row : SEGMENT;
    for (int64_t col = begin; col < end; col++) {
      if (!load_segment(job->matrix, row, col, false, count, &s)) continue;
      add_multiple(&s, job->x, col, count, y, row);
      for (int64_t i = 0; i < count; i++) y->squares[row + i] += s.size[i] * s.size[i];
    }
  }
}

static void add_squares(vectors *sum, const vectors *y) {
  for (int64_t i = 0; i < y->length; i++) sum->squares[i] += y->squares[i];
}

/* For a matrix with contiguous columns: a thread goes through the columns of its range in order,
 * since the matrix may be a file that is larger than memory. */
static void apply_columns(void *user, int64_t begin, int64_t end) {
  apply_job *job = user;
  vectors y = {0};
  bool good = vectors_create(&y, job->y->length);
  for (int64_t col = begin; good && col < end; col += GROUP) {
    add_group(job, col, col + GROUP < end ? col + GROUP : end, &y);
  }
  pthread_mutex_lock(&job->lock);
  if (good) vectors_add(job->y, &y, (scalar){1, 0});
  if (good) add_squares(job->y, &y);
  job->failed = job->failed || !good;
  pthread_mutex_unlock(&job->lock);
  vectors_destroy(&y);
}

/* Columns in the range of a thread: long enough that adding up the ranges' sums takes little
 * time. */
static int64_t columns_of_a_range(const matrix_view *m) {
  int64_t even = m->cols / (4 * parallel_workers()) / GROUP * GROUP;
  return even > 2 * GROUP ? even : 2 * GROUP;
}

static bool apply_part(const part *matrix, const vectors *x, vectors *y) {
  apply_job job = {.matrix = matrix, .x = x, .y = y};
  bool by_columns = matrix->view.row_stride == 1;
  pthread_mutex_init(&job.lock, NULL);
  if (by_columns) {
    parallel_for(matrix->view.cols, columns_of_a_range(&matrix->view), apply_columns, &job);
  } else {
    parallel_for(matrix->view.rows, 16, apply_rows, &job);
  }
  pthread_mutex_destroy(&job.lock);
  return !job.failed;
}

/* ---- Matrices with a structure ---- */

static tsr_uplo other(tsr_uplo uplo) {
  return uplo == TSR_LOWER ? TSR_UPPER : uplo == TSR_UPPER ? TSR_LOWER : uplo;
}

vectors_matrix vectors_matrix_op(vectors_matrix matrix, tsr_op op) {
  matrix.view = matrix_op(matrix.view, op);
  if (op != TSR_NO_TRANS) matrix.uplo = other(matrix.uplo);
  return matrix;
}

bool vectors_apply(const vectors_matrix *m, const vectors *x, vectors *y) {
  if (!vectors_create(y, m->view.rows)) return false;
  bool hermitian = m->structure == VECTORS_HERMITIAN;
  part stored = {m->view, m->uplo, DIAGONAL_STORED, m->skipped};
  if (m->structure == VECTORS_GENERAL) stored.uplo = TSR_GENERAL;
  if (m->structure == VECTORS_TRIANGULAR && m->unit) stored.diagonal = DIAGONAL_ONE;
  if (hermitian) stored.diagonal = DIAGONAL_REAL;
  if (!apply_part(&stored, x, y)) return false;
  if (m->structure != VECTORS_SYMMETRIC && !hermitian) return true;
  tsr_op op = hermitian ? TSR_CONJ_TRANS : TSR_TRANS;
  part mirrored = {matrix_op(m->view, op), other(m->uplo), DIAGONAL_ZERO, NULL};
  return apply_part(&mirrored, x, y);
}

/* ---- A triangle of a product ---- */

typedef struct triangle_job {
  const matrix_view *a, *b;
  tsr_uplo uplo;
  const vectors *x;
  vectors *y;
  pthread_mutex_t lock; /* protects y and failed */
  bool failed;
} triangle_job;

/* Adds to y the part of T x from indices [begin, end) of the product's sum. For the lower triangle,
 * y[i] = (row i of A) . (B[:,0] x[0] + ... + B[:,i] x[i]): the sum of columns grows with i, so that
 * no entry of A B is computed. */
static void sum_triangle(triangle_job *job, int64_t begin, int64_t end, vectors *sum, vectors *y) {
  int64_t n = job->x->length, count = end - begin;
  segment s;
  for (int64_t step = 0; step < n; step++) {
    int64_t i = job->uplo == TSR_LOWER ? step : n - 1 - step;
    load_plain(job->b, begin, i, false, count, &s);
    measure_segment(job->b->type, count, &s);
    add_multiple(&s, job->x, i, count, sum, 0);
    load_plain(job->a, i, begin, true, count, &s);
    measure_segment(job->a->type, count, &s);
    add_dots(&s, sum, 0, count, y, i);
  }
}

static void apply_triangle_range(void *user, int64_t begin, int64_t end) {
  triangle_job *job = user;
  vectors sum = {0}, y = {0};
  bool good = vectors_create(&sum, end - begin) && vectors_create(&y, job->x->length);
  if (good) sum_triangle(job, begin, end, &sum, &y);
  pthread_mutex_lock(&job->lock);
  if (good) vectors_add(job->y, &y, (scalar){1, 0});
  job->failed = job->failed || !good;
  pthread_mutex_unlock(&job->lock);
  vectors_destroy(&sum);
  vectors_destroy(&y);
}

bool vectors_apply_triangle(const matrix_view *a, const matrix_view *b, tsr_uplo uplo,
                            const vectors *x, vectors *y) {
  if (!vectors_create(y, a->rows)) return false;
  triangle_job job = {.a = a, .b = b, .uplo = uplo, .x = x, .y = y};
  pthread_mutex_init(&job.lock, NULL);
  parallel_for(a->cols, SEGMENT, apply_triangle_range, &job);
  pthread_mutex_destroy(&job.lock);
  return !job.failed;
}
