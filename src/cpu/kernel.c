/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Kernels on the CPU. This file has GEMM; add.c and level3.c have the others. */
#include "arithmetic/cpu_residues.h"
#include "arithmetic/cpu_split.h"
#include "base/alloc.h"
#include "base/least.h"
#include "base/status.h"
#include "cpu/blas.h"
#include "cpu/inside.h"
#include "cpu/room.h"

static const tsr_scalar one = {1, 0};

static bool is_zero(tsr_scalar s) {
  return s.re == 0 && s.im == 0;
}

/* ---- GEMM of the library's own types, in pieces that its int can count ----- */

/* How many columns of a stored matrix one call may take: 1 if ld exceeds an int of the library,
 * which could not get from one column to the next. */
static int64_t columns_at_once(int64_t ld) {
  return ld > TSR_CPU_MOST ? 1 : INT64_C(1) << 30;
}

/* The leading dimension to pass to the library. If it exceeds an int, the matrix is a single
 * column, of which the leading dimension does not matter. */
static int64_t told_ld(int64_t ld, int64_t rows) {
  return ld > TSR_CPU_MOST ? rows : ld;
}

static void gemm_piece(const tsr_kernel_args *x, int64_t i, int64_t j, int64_t l, int64_t m,
                       int64_t n, int64_t k) {
  tsr_kernel_args part = tsr_kernel_part(x, m, n, k, i, j, l);
  tsr_type type = x->type == TSR_T ? TSR_S : x->type;
  tsr_cpu_gemm(type, x->transa, x->transb, m, n, k, x->alpha, part.a,
               told_ld(x->lda, x->transa == TSR_NO_TRANS ? m : k), part.b,
               told_ld(x->ldb, x->transb == TSR_NO_TRANS ? k : n), l == 0 ? x->beta : one, part.c,
               told_ld(x->ldc, m));
}

static void gemm(const tsr_kernel_args *x) {
  int64_t all = columns_at_once(1), a_step = columns_at_once(x->lda);
  int64_t b_step = columns_at_once(x->ldb);
  int64_t m_step = x->transa == TSR_NO_TRANS ? all : a_step;
  int64_t n_step = tsr_least(columns_at_once(x->ldc), x->transb == TSR_NO_TRANS ? b_step : all);
  int64_t k_step =
      tsr_least(x->transa == TSR_NO_TRANS ? a_step : all, x->transb == TSR_NO_TRANS ? all : b_step);
  for (int64_t j = 0; j < x->n; j += n_step)
    for (int64_t i = 0; i < x->m; i += m_step)
      for (int64_t l = 0; l < x->k; l += k_step)
        gemm_piece(x, i, j, l, tsr_least(m_step, x->m - i), tsr_least(n_step, x->n - j),
                   tsr_least(k_step, x->k - l));
}

/* ---- GEMM of 16-bit types, in blocks of float ------------------------------ */

enum { BLOCK = 512 }; /* order of the float blocks; three blocks (3 MiB) stay in a core's cache */

static void widen(tsr_type type, int64_t rows, int64_t columns, const uint16_t *from, int64_t ld,
                  float *to) {
  for (int64_t j = 0; j < columns; j++)
    for (int64_t i = 0; i < rows; i++) {
      uint16_t v = from[i + j * ld];
      to[i + j * rows] = type == TSR_H ? tsr_half_to_float(v) : tsr_bfloat_to_float(v);
    }
}

static void narrow(tsr_type type, int64_t rows, int64_t columns, const float *from, uint16_t *to,
                   int64_t ld) {
  for (int64_t j = 0; j < columns; j++)
    for (int64_t i = 0; i < rows; i++) {
      float v = from[i + j * rows];
      to[i + j * ld] = type == TSR_H ? tsr_float_to_half(v) : tsr_float_to_bfloat(v);
    }
}

/* Converts the block of op(matrix) at (row, column) to float, without transposing it. Returns the
 * leading dimension of the result. */
static int64_t widen_block(tsr_type type, tsr_op op, const void *from, int64_t ld, int64_t row,
                           int64_t column, int64_t rows, int64_t columns, float *to) {
  bool plain = op == TSR_NO_TRANS;
  widen(type, plain ? rows : columns, plain ? columns : rows,
        (const uint16_t *)from + tsr_kernel_offset(op, row, column, ld), ld, to);
  return plain ? rows : columns;
}

/* c += alpha op(a) op(b) for the block of C at (i, j). c is m x n floats, to which beta has been
 * applied already. */
static void half_products(const tsr_kernel_args *x, int64_t i, int64_t j, int64_t m, int64_t n,
                          float *c, int64_t ldc, float *work) {
  float *a = work, *b = work + BLOCK * BLOCK;
  for (int64_t l = 0; l < x->k; l += BLOCK) {
    int64_t k = tsr_least(BLOCK, x->k - l);
    int64_t lda = widen_block(x->type, x->transa, x->a, x->lda, i, l, m, k, a);
    int64_t ldb = widen_block(x->type, x->transb, x->b, x->ldb, l, j, k, n, b);
    tsr_cpu_gemm(TSR_S, x->transa, x->transb, m, n, k, x->alpha, a, lda, b, ldb, one, c, ldc);
  }
}

static void scale_floats(int64_t m, int64_t n, tsr_scalar beta, float *c, int64_t ldc) {
  tsr_cpu_scale(&(tsr_kernel_args){
      .kernel = TSR_KERNEL_SCALE, .type = TSR_S, .m = m, .n = n, .beta = beta, .c = c, .ldc = ldc});
}

/* C is stored as float: products are added in place. */
static void half_block_wide(const tsr_kernel_args *x, int64_t i, int64_t j, int64_t n,
                            float *work) {
  int64_t m = tsr_least(BLOCK, x->m - i);
  float *c = (float *)x->c + i + j * x->ldc;
  scale_floats(m, n, x->beta, c, x->ldc);
  half_products(x, i, j, m, n, c, told_ld(x->ldc, m), work);
}

/* C has 16 bits: a float copy of the block takes the products. */
static void half_block(const tsr_kernel_args *x, int64_t i, int64_t j, int64_t n, float *work) {
  int64_t m = tsr_least(BLOCK, x->m - i);
  float *block = work + 2 * BLOCK * BLOCK;
  uint16_t *c = (uint16_t *)x->c + i + j * x->ldc;
  if (!is_zero(x->beta)) widen(x->type, m, n, c, x->ldc, block);
  scale_floats(m, n, x->beta, block, m);
  half_products(x, i, j, m, n, block, m, work);
  narrow(x->type, m, n, block, c, x->ldc);
}

static void gemm_half(const tsr_kernel_args *x, float *work) {
  int64_t columns = x->wide ? tsr_least(BLOCK, columns_at_once(x->ldc)) : BLOCK;
  for (int64_t j = 0; j < x->n; j += columns)
    for (int64_t i = 0; i < x->m; i += BLOCK) {
      int64_t n = tsr_least(columns, x->n - j);
      if (x->wide)
        half_block_wide(x, i, j, n, work);
      else
        half_block(x, i, j, n, work);
    }
}

/* ---- Any kernel ------------------------------------------------------------ */

/* A trapezoid is a product, too: all of c is computed. */
static bool is_product(const tsr_kernel_args *x) {
  return x->kernel == TSR_KERNEL_GEMM || x->kernel == TSR_KERNEL_GEMMT;
}

size_t tsr_cpu_kernel_room(const tsr_kernel_args *x) {
  bool half = x->type == TSR_H || x->type == TSR_B;
  bool converts = half && is_product(x);
  bool adds = x->kernel == TSR_KERNEL_TRMM && tsr_kernel_reads_c(x);
  _Static_assert(TSR_CPU_ROOM >= 3 * sizeof(float) * BLOCK * BLOCK, "three blocks do not fit");
  return converts || adds ? TSR_CPU_ROOM : 0;
}

/* Runs a kernel that multiplies (its inputs are read) with the library. */
static tsr_status multiply(const tsr_kernel_args *x, void *room) {
  int calls;
  tsr_status status = TSR_OK;
  TSR_TRY(tsr_cpu_room_enter(&calls));
  if (x->kernel == TSR_KERNEL_POTRF)
    status = tsr_cpu_potrf(x);
  else if (!is_product(x))
    status = tsr_cpu_level3(x, room);
  else if (tsr_cpu_kernel_room(x) > 0)
    gemm_half(x, room);
  else
    gemm(x);
  tsr_cpu_room_leave(calls);
  return status;
}

tsr_status tsr_cpu_kernel_in(const tsr_kernel_args *x, void *room) {
  TSR_TRY(tsr_kernel_check(x));
  if (x->m <= 0 || x->n <= 0) return TSR_OK;
  if (tsr_kernel_reads_inputs(x)) {
    if (x->kernel == TSR_KERNEL_RESIDUES || x->kernel == TSR_KERNEL_RESIDUE_GEMM)
      tsr_cpu_residues(x);
    else if (x->kernel == TSR_KERNEL_SPLIT || x->kernel == TSR_KERNEL_SPLIT_GEMM)
      tsr_cpu_split(x);
    else if (x->kernel != TSR_KERNEL_ADD)
      return multiply(x, room);
    else
      tsr_cpu_add(x);
  } else if (tsr_kernel_get(x->kernel)->traits) {
    return tsr_cpu_level3(x, room);
  } else {
    tsr_kernel_args scale = tsr_kernel_without_inputs(x);
    tsr_cpu_scale(&scale);
  }
  return TSR_OK;
}

tsr_status tsr_cpu_kernel(const tsr_kernel_args *x) {
  TSR_TRY(tsr_kernel_check(x));
  size_t bytes = tsr_kernel_reads_inputs(x) ? tsr_cpu_kernel_room(x) : 0;
  void *room = bytes > 0 ? tsr_alloc(bytes) : NULL;
  if (bytes > 0 && room == NULL)
    return tsr_fail(TSR_ERR_MEMORY,
                    "no host memory to convert tiles or to add to them on the CPU: free 3 MiB");
  tsr_status status = tsr_cpu_kernel_in(x, room);
  tsr_dealloc(room);
  return status;
}
