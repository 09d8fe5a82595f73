/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernels of the BLAS other than GEMM. Libraries differ in whether they read a matrix that a
 * scalar of 0 leaves out, and in what they write to the imaginary parts of a Hermitian diagonal.
 * Both are settled here, before the library is called.
 */
#include <string.h>

#include "cpu/inside.h"

static bool updates_hermitian(const tsr_kernel_args *x) {
  return x->kernel == TSR_KERNEL_HERK || x->kernel == TSR_KERNEL_HER2K;
}

static void clear_imaginary_diagonal(const tsr_kernel_args *x) {
  float *s = x->c;
  double *d = x->c;
  for (int64_t i = 0; i < x->n; i++) {
    int64_t at = 2 * (i + i * x->ldc) + 1;
    if (x->type == TSR_C)
      s[at] = 0;
    else
      d[at] = 0;
  }
}

/* c = beta c, when alpha or k is 0. With beta = 1 even the imaginary parts of a Hermitian diagonal
 * stay as they are, as in the reference BLAS. */
static void scale_only(const tsr_kernel_args *x) {
  tsr_kernel_args scale = tsr_kernel_without_inputs(x);
  if (tsr_scalar_classify(scale.beta) == TSR_ONE) return;
  if (updates_hermitian(x)) clear_imaginary_diagonal(x);
  tsr_cpu_scale(&scale);
}

/* Copies b to a matrix of the same extents: trmm of the library works in place. */
static void copy_b(const tsr_kernel_args *x, void *to, int64_t ld) {
  size_t size = tsr_type_get(x->type)->size;
  for (int64_t j = 0; j < x->n; j++)
    memcpy((char *)to + (size_t)(j * ld) * size, (const char *)x->b + (size_t)(j * x->ldb) * size,
           (size_t)x->m * size);
}

/* ---- trmm that adds to c ------------------------------------------------------ */

/* The order of triangles whose product with some lines is made in the room. */
enum { TRIANGLE = 512 };

static bool is_left(const tsr_kernel_args *x) {
  return x->side != TSR_RIGHT;
}

static const void *moved(const tsr_kernel_args *x, const void *from, int64_t row, int64_t column,
                         int64_t ld) {
  return (const char *)from + (size_t)(row + column * ld) * tsr_type_get(x->type)->size;
}

/* The part of b and c from `at` on along the order of a (along) or from line `at` on. */
static tsr_kernel_args part_of(const tsr_kernel_args *x, bool along, int64_t at, int64_t length) {
  tsr_kernel_args part = *x;
  bool rows = is_left(x) == along;
  *(rows ? &part.m : &part.n) = length;
  part.b = moved(x, x->b, rows ? at : 0, rows ? 0 : at, x->ldb);
  part.c = (void *)(uintptr_t)moved(x, x->c, rows ? at : 0, rows ? 0 : at, x->ldc);
  if (along) part.a = moved(x, x->a, at, at, x->lda);
  return part;
}

/* The products of some lines are made in the room and added. */
static tsr_status add_lines(const tsr_kernel_args *x, void *room) {
  tsr_kernel_args product = *x, sum = *x;
  copy_b(x, room, x->m);
  product.c = room;
  product.ldc = x->m;
  sum.kernel = TSR_KERNEL_ADD;
  sum.uplo = TSR_GENERAL;
  sum.alpha = (tsr_scalar){1, 0};
  sum.a = room;
  sum.lda = x->m;
  TSR_TRY(tsr_cpu_call(&product));
  tsr_cpu_add(&sum);
  return TSR_OK;
}

static tsr_status add_small_triangle(const tsr_kernel_args *x, int64_t order, void *room) {
  int64_t lines = is_left(x) ? x->n : x->m;
  int64_t most = (int64_t)(TSR_CPU_ROOM / ((size_t)order * tsr_type_get(x->type)->size));
  for (int64_t first = 0; first < lines; first += most) {
    int64_t some = lines - first < most ? lines - first : most;
    tsr_kernel_args part = part_of(x, false, first, some);
    TSR_TRY(add_lines(&part, room));
  }
  return TSR_OK;
}

/* The block beside the halves of the triangle, times one half of b, is added to the other half of
 * c. */
static void add_beside(const tsr_kernel_args *x, const tsr_kernel_args *first,
                       const tsr_kernel_args *second, int64_t half, int64_t rest) {
  bool left = is_left(x), lower = x->uplo == TSR_LOWER;
  bool to_second = (lower == (x->transa == TSR_NO_TRANS)) == left;
  const tsr_kernel_args *to = to_second ? second : first, *from = to_second ? first : second;
  const void *off = moved(x, x->a, lower ? half : 0, lower ? 0 : half, x->lda);
  tsr_cpu_gemm(x->type, left ? x->transa : TSR_NO_TRANS, left ? TSR_NO_TRANS : x->transa, to->m,
               to->n, to_second ? half : rest, x->alpha, left ? off : from->b,
               left ? x->lda : x->ldb, left ? from->b : off, left ? x->ldb : x->lda,
               (tsr_scalar){1, 0}, to->c, x->ldc);
}

/* c = alpha op(a) b + beta c. The library's trmm only overwrites, so large triangles are halved
 * until their products fit the room. */
static tsr_status add_triangular(const tsr_kernel_args *x, void *room) {
  int64_t order = is_left(x) ? x->m : x->n, half = order / 2;
  if (order <= TRIANGLE) return add_small_triangle(x, order, room);
  tsr_kernel_args first = part_of(x, true, 0, half);
  tsr_kernel_args second = part_of(x, true, half, order - half);
  TSR_TRY(add_triangular(&first, room));
  TSR_TRY(add_triangular(&second, room));
  add_beside(x, &first, &second, half, order - half);
  return TSR_OK;
}

/* ---- INVERT and SOLVE ----------------------------------------------------------- */

/* The diagonal of c becomes 1, the first part of each element; imaginary parts are left. */
static void put_ones(const tsr_kernel_args *x) {
  const tsr_type_info *info = tsr_type_get(x->type);
  for (int64_t i = 0; i < x->n; i++) {
    char *element = (char *)x->c + (size_t)(i + i * x->ldc) * info->size;
    if (x->type == TSR_S || x->type == TSR_C)
      *(float *)(void *)element = 1;
    else
      *(double *)(void *)element = 1;
  }
}

/* c = identity, then c = inv(a) c. */
static tsr_status invert(const tsr_kernel_args *args) {
  tsr_kernel_args x = *args;
  x.kernel = TSR_KERNEL_TRSM;
  x.side = TSR_LEFT;
  x.transa = TSR_NO_TRANS;
  x.alpha = (tsr_scalar){1, 0};
  tsr_kernel_args zero = tsr_kernel_without_inputs(&x);
  tsr_cpu_scale(&zero);
  put_ones(&x);
  return tsr_cpu_call(&x);
}

/* c = alpha op(a) c, in place, since a is the inverse. Its diagonal holds ones if it has to. */
static tsr_status solve(const tsr_kernel_args *args) {
  tsr_kernel_args x = *args;
  x.kernel = TSR_KERNEL_TRMM;
  x.diag = TSR_NON_UNIT;
  return tsr_cpu_call(&x);
}

/* ---- Any of them ---------------------------------------------------------------- */

tsr_status tsr_cpu_level3(const tsr_kernel_args *args, void *room) {
  tsr_kernel_args x = *args;
  TSR_TRY(tsr_kernel_check_int(&x, "the CPU's BLAS"));
  if (!tsr_kernel_reads_inputs(&x)) {
    scale_only(&x);
    return TSR_OK;
  }
  if (x.kernel == TSR_KERNEL_INVERT) return invert(&x);
  if (x.kernel == TSR_KERNEL_SOLVE) return solve(&x);
  if (x.kernel == TSR_KERNEL_TRMM && tsr_kernel_reads_c(&x)) return add_triangular(&x, room);
  if (x.kernel == TSR_KERNEL_TRMM && x.b != x.c) copy_b(&x, x.c, x.ldc);
  if (!(tsr_kernel_get(x.kernel)->traits & TSR_TRIANGULAR) && !tsr_kernel_reads_c(&x)) {
    tsr_kernel_args zero = tsr_kernel_without_inputs(&x);
    tsr_cpu_scale(&zero);
    x.beta = (tsr_scalar){1, 0};
  }
  if (updates_hermitian(&x)) clear_imaginary_diagonal(&x);
  return tsr_cpu_call(&x);
}
