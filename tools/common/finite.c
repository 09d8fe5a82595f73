/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "finite.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "parallel.h"

enum { SEGMENT = 256 };

typedef struct search {
  const matrix_view *matrix;
  bool by_columns; /* the columns are contiguous */
  bool *rows, *cols;
  pthread_mutex_t lock; /* protects rows, cols and found */
  nonfinite found;
} search;

static void note(search *s, int64_t row, int64_t col, double re, double im) {
  nonfinite *f = &s->found;
  bool earlier = f->count == 0 || row < f->row || (row == f->row && col < f->col);
  f->count++;
  if (s->rows) s->rows[row] = true;
  if (s->cols) s->cols[col] = true;
  if (!earlier) return;
  f->row = row;
  f->col = col;
  f->re = re;
  f->im = im;
}

static bool all_finite(const double *re, const double *im, int64_t count) {
  double sum = 0; /* 0 times a number is 0, unless it is no finite number */
  for (int64_t i = 0; i < count; i++) sum += 0 * re[i] + 0 * im[i];
  return sum == 0;
}

/* The same of fp16 as it is stored, whose conversion is slow: no exponent has all bits set. */
static bool all_finite_halves(const matrix_view *m, int64_t first, int64_t count) {
  const char *data = (const char *)m->data + 2 * first;
  bool finite = true;
  for (int64_t i = 0; i < count; i++) {
    uint16_t bits;
    memcpy(&bits, data + 2 * i, sizeof bits);
    finite = finite && (bits & 0x7c00) != 0x7c00;
  }
  return finite;
}

/* Looks at elements of a line from `from` on. */
static void search_segment(search *s, int64_t line, int64_t from, int64_t count) {
  double re[SEGMENT], im[SEGMENT];
  const matrix_view *m = s->matrix;
  int64_t step = s->by_columns ? m->col_stride : m->row_stride;
  if (m->type == TSR_H && all_finite_halves(m, line * step + from, count)) return;
  element_load(m->type, m->data, line * step + from, count, re, im);
  if (all_finite(re, im, count)) return;
  pthread_mutex_lock(&s->lock);
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(re[i]) || !isfinite(im[i]))
      note(s, s->by_columns ? from + i : line, s->by_columns ? line : from + i, re[i], im[i]);
  pthread_mutex_unlock(&s->lock);
}

static void search_lines(void *user, int64_t begin, int64_t end) {
  search *s = user;
  int64_t length = s->by_columns ? s->matrix->rows : s->matrix->cols;
  for (int64_t line = begin; line < end; line++)
    for (int64_t at = 0; at < length; at += SEGMENT)
      search_segment(s, line, at, length - at < SEGMENT ? length - at : SEGMENT);
}

nonfinite nonfinite_find(const matrix_view *matrix, bool *rows, bool *cols) {
  search s = {.matrix = matrix, .by_columns = matrix->row_stride == 1, .rows = rows, .cols = cols};
  pthread_mutex_init(&s.lock, NULL);
  parallel_for(s.by_columns ? matrix->cols : matrix->rows, 16, search_lines, &s);
  pthread_mutex_destroy(&s.lock);
  return s.found;
}

nonfinite nonfinite_find_edge(const matrix_view *product) {
  matrix_view row = *product, col = *product;
  if (row.rows > 1) row.rows = 1;
  if (col.cols > 1) col.cols = 1;
  nonfinite in_row = nonfinite_find(&row, NULL, NULL), in_col = nonfinite_find(&col, NULL, NULL);
  return in_row.count > 0 ? in_row : in_col;
}
