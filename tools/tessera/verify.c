#include "verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parallel.h"
#include "random.h"

/* Vectors are looked at together, so that matrices are read once. */
enum { VECTORS = 3, SEGMENT = 256 };

/* The vectors, and for the bound: one of magnitudes (|x| is at most 1 in all of them), and the sums
 * of squares of the rows that they were multiplied with. */
typedef struct lanes {
  int64_t length;
  double *re[VECTORS], *im[VECTORS], *size, *squares;
  double *block;
} lanes;

static bool lanes_create(lanes *l, int64_t length) {
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

static void lanes_randomise(lanes *x) {
  for (int v = 0; v < VECTORS; v++) {
    for (int64_t j = 0; j < x->length; j++) {
      /* Away from 0, so that no column can hide. */
      double u = random_uniform(7771, (uint64_t)(v * x->length + j));
      x->re[v][j] = u < 0.5 ? -1 + u : u;
    }
  }
  for (int64_t j = 0; j < x->length; j++) x->size[j] = 1;
}

/* ---- y = M x ---- */

typedef struct apply_job {
  const matrix_view *matrix;
  const lanes *x;
  lanes *y;
} apply_job;

typedef struct segment {
  double re[SEGMENT], im[SEGMENT], size[SEGMENT];
} segment;

static void load_segment(const matrix_view *m, int64_t first, int64_t count, segment *s) {
  element_load(m->type, m->data, first, count, s->re, s->im);
  bool is_complex = element_is_complex(m->type);
  for (int64_t i = 0; i < count; i++) {
    if (m->conj) s->im[i] = -s->im[i];
    s->size[i] = is_complex ? hypot(s->re[i], s->im[i]) : fabs(s->re[i]);
  }
}

/* Rows are contiguous: a dot product for each. */
static void apply_rows(void *user, int64_t begin, int64_t end) {
  apply_job *job = user;
  const matrix_view *m = job->matrix;
  segment s;
  for (int64_t row = begin; row < end; row++) {
    for (int64_t col = 0; col < m->cols; col += SEGMENT) {
      int64_t count = m->cols - col < SEGMENT ? m->cols - col : SEGMENT;
      load_segment(m, row * m->row_stride + col, count, &s);
      for (int v = 0; v < VECTORS; v++) {
        const double *xr = job->x->re[v] + col, *xi = job->x->im[v] + col;
        double re = 0, im = 0;
        for (int64_t j = 0; j < count; j++) {
          re += s.re[j] * xr[j] - s.im[j] * xi[j];
          im += s.re[j] * xi[j] + s.im[j] * xr[j];
        }
        job->y->re[v][row] += re;
        job->y->im[v][row] += im;
      }
      for (int64_t j = 0; j < count; j++) {
        job->y->size[row] += s.size[j] * job->x->size[col + j];
        job->y->squares[row] += s.size[j] * s.size[j];
      }
    }
  }
}

/* Columns are contiguous: a thread owns SEGMENT rows and goes through their pieces of all columns.
 */
static void apply_columns(void *user, int64_t begin, int64_t end) {
  apply_job *job = user;
  const matrix_view *m = job->matrix;
  int64_t count = end - begin;
  segment s;
  for (int64_t col = 0; col < m->cols; col++) {
    load_segment(m, begin + col * m->col_stride, count, &s);
    for (int v = 0; v < VECTORS; v++) {
      double xr = job->x->re[v][col], xi = job->x->im[v][col];
      double *yr = job->y->re[v] + begin, *yi = job->y->im[v] + begin;
      for (int64_t i = 0; i < count; i++) {
        yr[i] += s.re[i] * xr - s.im[i] * xi;
        yi[i] += s.re[i] * xi + s.im[i] * xr;
      }
    }
    double size = job->x->size[col];
    for (int64_t i = 0; i < count; i++) {
      job->y->size[begin + i] += s.size[i] * size;
      job->y->squares[begin + i] += s.size[i] * s.size[i];
    }
  }
}

static bool apply(const matrix_view *matrix, const lanes *x, lanes *y) {
  if (!lanes_create(y, matrix->rows)) return false;
  apply_job job = {matrix, x, y};
  bool by_columns = matrix->row_stride == 1;
  parallel_for(matrix->rows, by_columns ? SEGMENT : 16, by_columns ? apply_columns : apply_rows,
               &job);
  return true;
}

/* sum = sum + factor y, magnitudes too. */
static void add_scaled(lanes *sum, const lanes *y, scalar factor) {
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

static bool is_zero(scalar value) {
  return value.re == 0 && value.im == 0;
}

/* alpha op(A) (op(B) x) + beta C0 x. What BLAS does not read is not read here either. */
static bool expect(const verify_problem *p, const lanes *x, lanes *sum) {
  if (!lanes_create(sum, p->c.rows)) return false;
  lanes bx = {0}, abx = {0}, c0x = {0};
  bool good = true;
  if (!is_zero(p->alpha) && p->a.cols > 0) {
    good = apply(&p->b, x, &bx) && apply(&p->a, &bx, &abx);
    if (good) add_scaled(sum, &abx, p->alpha);
  }
  if (good && !is_zero(p->beta)) {
    good = apply(&p->c0, x, &c0x);
    if (good) add_scaled(sum, &c0x, p->beta);
  }
  free(bx.block);
  free(abx.block);
  free(c0x.block);
  return good;
}

/*
 * What rounding may do to a row of C x. The sums of a row may all err in one direction: their bound
 * is linear. The rounding of what is stored meets signs of x that it knows nothing of, so that by
 * Hoeffding's inequality seven times the root of the sum of squares is exceeded once in 1e10 rows;
 * a linear bound would let a wrong entry of a 16-bit matrix pass.
 */
static double allowed_error(const verify_problem *p, const lanes *got, const lanes *wanted,
                            int64_t row) {
  /* The check's own sums, of n and of k terms in double, err too. */
  double own = ((double)p->c.cols + (double)p->a.cols + 8) * 0x1p-52;
  double stored = 7 * 1.25 * element_store_rounding(p->type) * sqrt(got->squares[row]);
  if (p->type == TSR_H) stored += (double)p->c.cols * 0x1p-25; /* subnormal numbers */
  return (element_sum_bound(p->type, p->a.cols) + own) * wanted->size[row] + stored;
}

static void compare(const verify_problem *p, const lanes *got, const lanes *wanted,
                    verify_result *result) {
  double worst = -1;
  for (int64_t i = 0; i < got->length; i++) {
    double allowed = allowed_error(p, got, wanted, i), scale = wanted->size[i];
    for (int v = 0; v < VECTORS; v++) {
      double error = hypot(got->re[v][i] - wanted->re[v][i], got->im[v][i] - wanted->im[v][i]);
      if (error == 0) continue;
      if (!(error <= allowed)) result->good = false; /* NaN is wrong too */
      double part = error / allowed;
      if (isnan(part)) part = INFINITY;
      if (part <= worst) continue;
      worst = part;
      result->residual = scale > 0 ? error / scale : error;
      result->bound = scale > 0 ? allowed / scale : 0;
    }
  }
}

bool verify_product(const verify_problem *p, verify_result *result) {
  lanes x = {0}, got = {0}, wanted = {0};
  *result = (verify_result){0, element_sum_bound(p->type, p->a.cols), true};
  bool good = lanes_create(&x, p->c.cols);
  if (good) {
    lanes_randomise(&x);
    good = apply(&p->c, &x, &got) && expect(p, &x, &wanted);
  }
  if (good) compare(p, &got, &wanted, result);
  free(x.block);
  free(got.block);
  free(wanted.block);
  return good;
}
