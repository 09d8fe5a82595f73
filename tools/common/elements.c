/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "elements.h"

#include <math.h>
#include <string.h>

#include "parallel.h"

enum { BUFFERED = 256, BLOCK = 64 };

size_t element_size(tsr_type type) {
  switch (type) {
    case TSR_S:
    case TSR_T:
      return 4;
    case TSR_D:
    case TSR_C:
      return 8;
    case TSR_Z:
      return 16;
    case TSR_H:
    case TSR_B:
      return 2;
  }
  return 0;
}

bool element_is_complex(tsr_type type) {
  return type == TSR_C || type == TSR_Z;
}

const char *element_name(tsr_type type) {
  switch (type) {
    case TSR_S:
      return "fp32";
    case TSR_T:
      return "tf32";
    case TSR_D:
      return "fp64";
    case TSR_C:
      return "complex fp32";
    case TSR_Z:
      return "complex fp64";
    case TSR_H:
      return "fp16";
    case TSR_B:
      return "bf16";
  }
  return "?";
}

double element_flops(tsr_type type, int64_t m, int64_t n, int64_t k) {
  return (element_is_complex(type) ? 8.0 : 2.0) * (double)m * (double)n * (double)k;
}

double element_sum_bound(tsr_type type, int64_t k) {
  double wide = type == TSR_D || type == TSR_Z ? 0x1p-53 : 0x1p-24;
  double inputs = type == TSR_T ? 0x1p-11 : 0; /* TF32 rounds A and B to 11 bits */
  return 4 * ((double)k + 4) * wide + 4 * inputs;
}

double element_store_rounding(tsr_type type) {
  return type == TSR_H ? 0x1p-11 : type == TSR_B ? 0x1p-8 : 0;
}

double element_bound(tsr_type type, int64_t k) {
  return element_sum_bound(type, k) + 4 * element_store_rounding(type);
}

/* ---- 16-bit types ---- */

static double half_to_double(uint16_t h) {
  int exponent = h >> 10 & 31;
  double fraction = h & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = fraction != 0 ? (double)NAN : (double)INFINITY;
  } else if (exponent == 0) {
    magnitude = ldexp(fraction, -24);
  } else {
    magnitude = ldexp(fraction + 1024, exponent - 25);
  }
  return h & 0x8000 ? -magnitude : magnitude;
}

static uint16_t double_to_half(double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double magnitude = fabs(value);
  if (isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  int exponent = magnitude > 0 ? ilogb(magnitude) : -14;
  if (exponent < -14) exponent = -14;
  /* The significand in units of the last place. If rounding gives 2048, the sum below carries into
   * the exponent, which is the right result. */
  int units = (int)nearbyint(ldexp(magnitude, 10 - exponent));
  return sign | (uint16_t)(((exponent + 14) << 10) + units);
}

static float bits_to_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint16_t double_to_bfloat(double value) {
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  if (isnan(value)) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* ---- Loading and storing ---- */

static void load_pairs(const float *s, const double *d, int64_t count, double *re, double *im) {
  for (int64_t i = 0; i < count; i++) {
    re[i] = s ? (double)s[2 * i] : d[2 * i];
    im[i] = s ? (double)s[2 * i + 1] : d[2 * i + 1];
  }
}

/* Loads at most BUFFERED elements. They are copied first, since they may be unaligned in a file. */
static void load_buffered(tsr_type type, const void *from, int64_t count, double *re, double *im) {
  union {
    float s[2 * BUFFERED];
    double d[2 * BUFFERED];
    uint16_t h[BUFFERED];
  } copy;
  memcpy(&copy, from, (size_t)count * element_size(type));
  if (type == TSR_C) {
    load_pairs(copy.s, NULL, count, re, im);
    return;
  }
  if (type == TSR_Z) {
    load_pairs(NULL, copy.d, count, re, im);
    return;
  }
  memset(im, 0, (size_t)count * sizeof *im);
  if (type == TSR_D) {
    memcpy(re, copy.d, (size_t)count * sizeof *re);
  } else if (type == TSR_H) {
    for (int64_t i = 0; i < count; i++) re[i] = half_to_double(copy.h[i]);
  } else if (type == TSR_B) {
    for (int64_t i = 0; i < count; i++) re[i] = bits_to_float((uint32_t)copy.h[i] << 16);
  } else {
    for (int64_t i = 0; i < count; i++) re[i] = copy.s[i];
  }
}

void element_load(tsr_type type, const void *data, int64_t first, int64_t count, double *re,
                  double *im) {
  size_t size = element_size(type);
  for (int64_t done = 0; done < count; done += BUFFERED) {
    int64_t some = count - done < BUFFERED ? count - done : BUFFERED;
    load_buffered(type, (const char *)data + (size_t)(first + done) * size, some, re + done,
                  im + done);
  }
}

static void store_pairs(float *s, double *d, int64_t count, const double *re, const double *im) {
  for (int64_t i = 0; i < count; i++) {
    if (s) {
      s[2 * i] = (float)re[i];
      s[2 * i + 1] = (float)im[i];
    } else {
      d[2 * i] = re[i];
      d[2 * i + 1] = im[i];
    }
  }
}

void element_store(tsr_type type, void *data, int64_t first, int64_t count, const double *re,
                   const double *im) {
  void *to = (char *)data + (size_t)first * element_size(type);
  float *s = to;
  double *d = to;
  uint16_t *h = to;
  switch (type) {
    case TSR_D:
      memcpy(d, re, (size_t)count * sizeof *d);
      break;
    case TSR_C:
      store_pairs(s, NULL, count, re, im);
      break;
    case TSR_Z:
      store_pairs(NULL, d, count, re, im);
      break;
    case TSR_H:
      for (int64_t i = 0; i < count; i++) h[i] = double_to_half(re[i]);
      break;
    case TSR_B:
      for (int64_t i = 0; i < count; i++) h[i] = double_to_bfloat(re[i]);
      break;
    default:
      for (int64_t i = 0; i < count; i++) s[i] = (float)re[i];
  }
}

/* ---- Views ---- */

matrix_view matrix_of(tsr_type type, const void *data, bool column_major, int64_t rows,
                      int64_t cols) {
  return (matrix_view){type, data, rows, cols, column_major ? 1 : cols, column_major ? rows : 1,
                       false};
}

matrix_view matrix_op(matrix_view matrix, tsr_op op) {
  if (op == TSR_NO_TRANS) return matrix;
  return (matrix_view){matrix.type,
                       matrix.data,
                       matrix.cols,
                       matrix.rows,
                       matrix.col_stride,
                       matrix.row_stride,
                       matrix.conj != (op == TSR_CONJ_TRANS)};
}

typedef struct copy_job {
  matrix_view to, from;
} copy_job;

/* Copies columns [begin, end) of a source with row stride 1, in blocks of BLOCK rows, so that a
 * destination with another stride stays in the cache. */
static void copy_columns(void *user, int64_t begin, int64_t end) {
  const copy_job *job = user;
  const matrix_view *to = &job->to, *from = &job->from;
  double re[BLOCK], im[BLOCK];
  for (int64_t row = 0; row < from->rows; row += BLOCK) {
    int64_t some = from->rows - row < BLOCK ? from->rows - row : BLOCK;
    for (int64_t col = begin; col < end; col++) {
      element_load(from->type, from->data, row + col * from->col_stride, some, re, im);
      for (int64_t i = 0; from->conj && i < some; i++) im[i] = -im[i];
      if (to->row_stride == 1) {
        element_store(to->type, (void *)to->data, row + col * to->col_stride, some, re, im);
        continue;
      }
      for (int64_t i = 0; i < some; i++) {
        element_store(to->type, (void *)to->data, (row + i) * to->row_stride + col * to->col_stride,
                      1, re + i, im + i);
      }
    }
  }
}

void matrix_copy(matrix_view to, matrix_view from) {
  if (from.row_stride != 1) {
    to = matrix_op(to, TSR_TRANS);
    from = matrix_op(from, TSR_TRANS);
  }
  copy_job job = {to, from};
  parallel_for(from.cols, 64, copy_columns, &job);
}
