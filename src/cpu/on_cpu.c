/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Most calls are one call of a routine of the CPU's BLAS. An operation that not every BLAS has
 * (gemmt), and a call that adds beta C once, after all products, are cut into squares of C: a
 * product goes to a square of its own, and is added to C then.
 */
#include "cpu/on_cpu.h"

#include <string.h>

#include "base/alloc.h"
#include "base/least.h"
#include "base/thread.h"
#include "blas/operation.h"
#include "cpu/blas.h"

static tsr_kernel_args kernel_of(const tsr_call *call, const tsr_binding *binding) {
  /* trmm works in place: the B of its kernel is C, to which nothing is added */
  bool overwrites = call->operation == TSR_TRMM;
  int b = overwrites ? TSR_C_ : TSR_B_;
  return (tsr_kernel_args){
      .kernel = tsr_operation_get(call->operation)->kernel,
      .type = call->type,
      .transa = call->transa,
      .transb = call->transb,
      .side = call->side,
      .uplo = call->uplo,
      .diag = call->diag,
      .m = call->m,
      .n = call->n,
      .k = call->k,
      .alpha = binding->alpha,
      .beta = overwrites ? (tsr_scalar){0, 0} : binding->beta,
      .a = binding->base[TSR_A],
      .b = binding->base[b],
      .c = binding->base[TSR_C_],
      .lda = call->operand[TSR_A].ld,
      .ldb = call->operand[b].ld,
      .ldc = call->operand[TSR_C_].ld,
  };
}

/* C = beta C. herk and her2k also make the diagonal real, so they run with k = 0, unless beta is 0
 * and all of C becomes zero. */
static tsr_status scale(const tsr_operation_info *info, tsr_kernel_args x) {
  if (info->real_beta && tsr_scalar_classify(x.beta) != TSR_ZERO) {
    x.k = 0;
    return tsr_cpu_kernel(&x);
  }
  x.kernel = TSR_KERNEL_SCALE;
  if (!tsr_operation_has_triangle(info)) x.uplo = TSR_GENERAL; /* uplo is the triangle of A */
  return tsr_cpu_kernel(&x);
}

/* ---- In squares of C ------------------------------------------------------ */

/* Orders of the square. Without memory for the large one there is the small one on the stack: a
 * call that takes over from devices may have written a part of C, and must not fail for memory. */
enum { LARGE = 128, SMALL = 16 };

/* C's new value is the sum of these products and beta C. */
typedef struct sum {
  tsr_kernel_args product[2]; /* GEMMs, with all of C as their c */
  int products;
  bool last;      /* beta C is added once, after all products */
  bool hermitian; /* C's diagonal is real */
  void *square;
  int64_t order; /* of the square */
} sum;

/* The address of row i (along) or column i of a stored matrix. */
static const void *moved(const tsr_kernel_args *x, const void *from, int64_t ld, bool along,
                         int64_t i) {
  size_t size = tsr_type_get(x->type)->size;
  return (const char *)from + (size_t)(along ? i : i * ld) * size;
}

/* The block of a product at row i and column j of C. */
static tsr_kernel_args block_of(const tsr_kernel_args *x, int64_t i, int64_t j, int64_t m,
                                int64_t n) {
  tsr_kernel_args block = *x;
  block.uplo = TSR_GENERAL;
  block.m = m;
  block.n = n;
  block.a = moved(x, x->a, x->lda, x->transa == TSR_NO_TRANS, i);
  block.b = moved(x, x->b, x->ldb, x->transb != TSR_NO_TRANS, j);
  block.c = (void *)moved(x, moved(x, x->c, x->ldc, true, i), x->ldc, false, j);
  return block;
}

static sum block_of_sum(const sum *s, int64_t i, int64_t j, int64_t m, int64_t n) {
  sum block = *s;
  for (int p = 0; p < s->products; p++) block.product[p] = block_of(&s->product[p], i, j, m, n);
  return block;
}

/* The imaginary parts of a Hermitian C's diagonal count as 0, whatever they are; those of products
 * may be rounding errors. */
static void make_diagonal_real(const tsr_kernel_args *x) {
  size_t part = tsr_type_get(x->type)->size / 2;
  for (int64_t i = 0; i < x->n; i++) {
    void *at = (void *)moved(x, moved(x, x->c, x->ldc, true, i), x->ldc, false, i);
    memset((char *)at + part, 0, part);
  }
}

/* C (of uplo, its triangle) = beta C + the products, which go to the square first. */
static tsr_status add_square(const sum *s, tsr_uplo uplo) {
  const tsr_kernel_args *x = &s->product[0];
  for (int p = 0; p < s->products; p++) {
    tsr_kernel_args product = s->product[p];
    product.beta = (tsr_scalar){p > 0, 0};
    product.c = s->square;
    product.ldc = s->order;
    TSR_TRY(tsr_cpu_kernel(&product));
  }
  bool real = s->hermitian && uplo != TSR_GENERAL;
  if (real) make_diagonal_real(x);
  tsr_kernel_args addition = {.kernel = TSR_KERNEL_ADD,
                              .type = x->type,
                              .uplo = uplo,
                              .m = x->m,
                              .n = x->n,
                              .alpha = {1, 0},
                              .beta = x->beta,
                              .a = s->square,
                              .lda = s->order,
                              .c = x->c,
                              .ldc = x->ldc};
  TSR_TRY(tsr_cpu_kernel(&addition));
  if (real) make_diagonal_real(x);
  return TSR_OK;
}

static tsr_status rectangle(const sum *s) {
  const tsr_kernel_args *x = &s->product[0];
  if (!s->last) return tsr_cpu_kernel(x);
  for (int64_t j = 0; j < x->n; j += s->order)
    for (int64_t i = 0; i < x->m; i += s->order) {
      sum block =
          block_of_sum(s, i, j, tsr_least(s->order, x->m - i), tsr_least(s->order, x->n - j));
      TSR_TRY(add_square(&block, TSR_GENERAL));
    }
  return TSR_OK;
}

/* Computes the triangle as two triangles of half the order and the square between them, so that
 * most of the work is in a few large products. */
static tsr_status triangle(const sum *s, tsr_uplo uplo) {
  int64_t n = s->product[0].n, half = n / 2, rest = n - half;
  if (n <= s->order) return add_square(s, uplo);
  bool lower = uplo == TSR_LOWER;
  sum first = block_of_sum(s, 0, 0, half, half), second = block_of_sum(s, half, half, rest, rest);
  sum off = lower ? block_of_sum(s, half, 0, rest, half) : block_of_sum(s, 0, half, half, rest);
  TSR_TRY(triangle(&first, uplo));
  TSR_TRY(rectangle(&off));
  return triangle(&second, uplo);
}

/* The products of a rank-k update have the same op for both inputs, of which the right one is
 * transposed besides. */
static sum sum_of(const tsr_call *call, const tsr_kernel_args *x) {
  const tsr_operation_info *info = tsr_operation_get(call->operation);
  sum s = {.product = {*x, *x}, .products = 1, .last = tsr_call_adds_last(call)};
  for (int p = 0; p < 2; p++) {
    s.product[p].kernel = TSR_KERNEL_GEMM;
    s.product[p].uplo = TSR_GENERAL;
  }
  if (info->has.transb) return s;
  tsr_op other = info->hermitian ? TSR_CONJ_TRANS : TSR_TRANS;
  s.hermitian = info->hermitian;
  s.products = info->has.b ? 2 : 1;
  for (int p = 0; p < 2; p++)
    s.product[p].transb = x->transa == TSR_NO_TRANS ? other : TSR_NO_TRANS;
  if (!info->has.b) {
    s.product[0].b = x->a;
    s.product[0].ldb = x->lda;
    return s;
  }
  s.product[1].a = x->b, s.product[1].lda = x->ldb;
  s.product[1].b = x->a, s.product[1].ldb = x->lda;
  if (info->hermitian) s.product[1].alpha.im = -x->alpha.im;
  return s;
}

static tsr_status in_squares(const tsr_call *call, const tsr_kernel_args *x) {
  _Alignas(16) char small[SMALL * SMALL * 2 * sizeof(double)];
  void *large = tsr_alloc(LARGE * LARGE * tsr_type_get(x->type)->size);
  sum s = sum_of(call, x);
  s.square = large != NULL ? large : small;
  s.order = large != NULL ? LARGE : SMALL;
  bool whole = !tsr_operation_has_triangle(tsr_operation_get(call->operation));
  tsr_status status = whole ? rectangle(&s) : triangle(&s, call->uplo);
  tsr_dealloc(large);
  return status;
}

/* ---- Calls ---------------------------------------------------------------- */

static tsr_status compute(const tsr_call *call, tsr_kernel_args *x) {
  const tsr_operation_info *info = tsr_operation_get(call->operation);
  if (tsr_kernel_factors(x->kernel)) return tsr_cpu_kernel(x);
  if (tsr_call_scales_only(call)) return scale(info, *x);
  if (!info->in_blas || tsr_call_adds_last(call)) return in_squares(call, x);
  return tsr_cpu_kernel(x);
}

/* The BLAS works with the caller's rounding mode and traps, and leaves its flags, as it does when
 * the program calls it by itself; but what is promised for products in residues is promised with
 * sums that are rounded to nearest. */
tsr_status tsr_call_on_cpu(const tsr_call *call, const tsr_binding *binding) {
  int32_t info = 0;
  TSR_TRY(tsr_cpu_blas_load());
  tsr_kernel_args x = kernel_of(call, binding);
  x.verdict = &info;
  if (call->adds_last) return compute(call, &x);
  tsr_let_go();
  tsr_status status = compute(call, &x);
  tsr_take_back();
  if (status == TSR_OK && binding->info != NULL) *binding->info = info;
  return status;
}
