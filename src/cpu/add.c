/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* ADD and SCALE on the CPU, of all of c or of a triangle of c: one loop for each pair of types of a
 * and c. */
#include <string.h>

#include "cpu/inside.h"

typedef void (*loop_function)(const tsr_kernel_args *x);

#define SAME(v) (v)

#define DEFINE_ADD(name, A, C, REAL, from_a, from_c, to_c)                       \
  static void name(const tsr_kernel_args *x) {                                   \
    REAL alpha = (REAL)x->alpha.re, beta = (REAL)x->beta.re;                     \
    for (int64_t j = 0; j < x->n; j++) {                                         \
      const A *a = (const A *)x->a + j * x->lda;                                 \
      C *c = (C *)x->c + j * x->ldc;                                             \
      int64_t first, end;                                                        \
      tsr_triangle_rows(x->uplo, j, x->m, &first, &end);                         \
      if (beta == 0)                                                             \
        for (int64_t i = first; i < end; i++) c[i] = to_c(alpha * from_a(a[i])); \
      else                                                                       \
        for (int64_t i = first; i < end; i++)                                    \
          c[i] = to_c(alpha * from_a(a[i]) + beta * from_c(c[i]));               \
    }                                                                            \
  }

/* Complex products are written out: the operators of C also treat infinities as the standard wants,
 * which costs time. */
#define DEFINE_ADD_COMPLEX(name, REAL)                                       \
  static void name(const tsr_kernel_args *x) {                               \
    REAL ar = (REAL)x->alpha.re, ai = (REAL)x->alpha.im;                     \
    REAL br = (REAL)x->beta.re, bi = (REAL)x->beta.im;                       \
    bool reads_c = br != 0 || bi != 0;                                       \
    for (int64_t j = 0; j < x->n; j++) {                                     \
      const REAL *a = (const REAL *)x->a + 2 * j * x->lda;                   \
      REAL *c = (REAL *)x->c + 2 * j * x->ldc;                               \
      int64_t first, end;                                                    \
      tsr_triangle_rows(x->uplo, j, x->m, &first, &end);                     \
      for (int64_t i = 2 * first; i < 2 * end; i += 2) {                     \
        REAL re = ar * a[i] - ai * a[i + 1], im = ar * a[i + 1] + ai * a[i]; \
        REAL cr = reads_c ? c[i] : 0, ci = reads_c ? c[i + 1] : 0;           \
        c[i] = reads_c ? re + (br * cr - bi * ci) : re;                      \
        c[i + 1] = reads_c ? im + (br * ci + bi * cr) : im;                  \
      }                                                                      \
    }                                                                        \
  }

#define DEFINE_SCALE(name, C, REAL, from_c, to_c)                             \
  static void name(const tsr_kernel_args *x) {                                \
    REAL beta = (REAL)x->beta.re;                                             \
    for (int64_t j = 0; j < x->n; j++) {                                      \
      C *c = (C *)x->c + j * x->ldc;                                          \
      int64_t first, end;                                                     \
      tsr_triangle_rows(x->uplo, j, x->m, &first, &end);                      \
      for (int64_t i = first; i < end; i++) c[i] = to_c(beta * from_c(c[i])); \
    }                                                                         \
  }

#define DEFINE_SCALE_COMPLEX(name, REAL)                 \
  static void name(const tsr_kernel_args *x) {           \
    REAL br = (REAL)x->beta.re, bi = (REAL)x->beta.im;   \
    for (int64_t j = 0; j < x->n; j++) {                 \
      REAL *c = (REAL *)x->c + 2 * j * x->ldc;           \
      int64_t first, end;                                \
      tsr_triangle_rows(x->uplo, j, x->m, &first, &end); \
      for (int64_t i = 2 * first; i < 2 * end; i += 2) { \
        REAL re = br * c[i] - bi * c[i + 1];             \
        c[i + 1] = br * c[i + 1] + bi * c[i];            \
        c[i] = re;                                       \
      }                                                  \
    }                                                    \
  }

DEFINE_ADD(add_s, float, float, float, SAME, SAME, SAME)
DEFINE_ADD(add_d, double, double, double, SAME, SAME, SAME)
DEFINE_ADD_COMPLEX(add_c, float)
DEFINE_ADD_COMPLEX(add_z, double)
DEFINE_ADD(add_h, uint16_t, uint16_t, float, tsr_half_to_float, tsr_half_to_float,
           tsr_float_to_half)
DEFINE_ADD(add_b, uint16_t, uint16_t, float, tsr_bfloat_to_float, tsr_bfloat_to_float,
           tsr_float_to_bfloat)
DEFINE_ADD(add_wide_h, float, uint16_t, float, SAME, tsr_half_to_float, tsr_float_to_half)
DEFINE_ADD(add_wide_b, float, uint16_t, float, SAME, tsr_bfloat_to_float, tsr_float_to_bfloat)

DEFINE_SCALE(scale_s, float, float, SAME, SAME)
DEFINE_SCALE(scale_d, double, double, SAME, SAME)
DEFINE_SCALE_COMPLEX(scale_c, float)
DEFINE_SCALE_COMPLEX(scale_z, double)
DEFINE_SCALE(scale_h, uint16_t, float, tsr_half_to_float, tsr_float_to_half)
DEFINE_SCALE(scale_b, uint16_t, float, tsr_bfloat_to_float, tsr_float_to_bfloat)

/* One row a type, in the order of tsr_type_index: s d c z h b t. */
static const struct {
  loop_function add, add_wide, scale, scale_wide;
} loops[TSR_TYPE_COUNT] = {
    {add_s, add_s, scale_s, scale_s},      {add_d, add_d, scale_d, scale_d},
    {add_c, add_c, scale_c, scale_c},      {add_z, add_z, scale_z, scale_z},
    {add_h, add_wide_h, scale_h, scale_s}, {add_b, add_wide_b, scale_b, scale_s},
    {add_s, add_s, scale_s, scale_s},
};

static void clear(const tsr_kernel_args *x, size_t size) {
  for (int64_t j = 0; j < x->n; j++) {
    int64_t first, end;
    tsr_triangle_rows(x->uplo, j, x->m, &first, &end);
    memset((char *)x->c + (size_t)(first + j * x->ldc) * size, 0, (size_t)(end - first) * size);
  }
}

void tsr_cpu_scale(const tsr_kernel_args *x) {
  const tsr_type_info *info = tsr_type_get(x->type);
  int index = tsr_type_index(x->type);
  if (!tsr_kernel_reads_c(x))
    clear(x, tsr_type_get(x->wide ? info->wide : info->type)->size);
  else if (tsr_scalar_classify(x->beta) != TSR_ONE)
    (x->wide ? loops[index].scale_wide : loops[index].scale)(x);
}

void tsr_cpu_add(const tsr_kernel_args *x) {
  int index = tsr_type_index(x->type);
  (x->wide ? loops[index].add_wide : loops[index].add)(x);
}
