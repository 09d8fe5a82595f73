/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "blas/call.h"

#include "base/alloc.h"
#include "base/cpu_blas.h"
#include "base/thread.h"
#include "blas/operation.h"

int64_t tsr_operand_bytes(const tsr_operand *operand, tsr_type type) {
  if (operand->rows == 0 || operand->cols == 0) return 0;
  int64_t elements = (operand->cols - 1) * operand->ld + operand->rows;
  return elements * (int64_t)tsr_type_get(type)->size;
}

double tsr_call_flops(const tsr_call *call) {
  const tsr_operation_info *info = tsr_operation_get(call->operation);
  /* Multiply-adds as BLAS counts them: a triangle includes its diagonal. */
  double products = (double)call->m * (double)call->n * (double)call->k;
  if (info->triangle_of_c) products = 0.5 * (double)call->n * ((double)call->n + 1) * call->k;
  if (info->signature == TSR_SIGNATURE_RANK_K && info->has_b) products *= 2;
  if (info->signature == TSR_SIGNATURE_TRIANGULAR) products /= 2;
  return tsr_type_get(call->type)->flop_factor * products;
}

bool tsr_call_scales_only(const tsr_call *call) {
  return call->alpha == TSR_ZERO || call->k == 0;
}

bool tsr_call_is_staged(const tsr_call *call) {
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const tsr_operand *o = &call->operand[x];
    if (o->rows > 0 && (o->memory == TSR_PAGEABLE || o->memory == TSR_MANAGED)) return true;
  }
  return false;
}

bool tsr_call_is_empty(const tsr_call *call) {
  if (call->m == 0 || call->n == 0) return true;
  return tsr_call_scales_only(call) && call->beta == TSR_ONE;
}

/* ---- On the CPU ----------------------------------------------------------- */

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
  if (!info->triangle_of_c) x.uplo = TSR_GENERAL; /* uplo is the triangle of A */
  return tsr_cpu_kernel(&x);
}

/* gemmt: a triangle up to this order is cut out of a square product. */
enum { SQUARE = 128 };

/* The address of row i (along) or column i of a stored matrix. */
static const void *moved(const tsr_kernel_args *x, const void *from, int64_t ld, bool along,
                         int64_t i) {
  size_t size = tsr_type_get(x->type)->size;
  return (const char *)from + (size_t)(along ? i : i * ld) * size;
}

/* The block of the product at row i and column j of C. */
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

static tsr_status small_triangle(const tsr_kernel_args *x, void *square) {
  tsr_kernel_args product = *x, sum = *x;
  product.uplo = TSR_GENERAL;
  product.beta = (tsr_scalar){0, 0};
  product.c = square;
  product.ldc = SQUARE;
  TSR_TRY(tsr_cpu_kernel(&product));
  sum.kernel = TSR_KERNEL_ADD;
  sum.alpha = (tsr_scalar){1, 0};
  sum.a = square;
  sum.lda = SQUARE;
  return tsr_cpu_kernel(&sum);
}

/* Computes the triangle as two triangles of half the order and the square between them, so that
 * most of the work is in a few large products. */
static tsr_status triangle(const tsr_kernel_args *x, void *square) {
  if (x->n <= SQUARE) return small_triangle(x, square);
  int64_t half = x->n / 2, rest = x->n - half;
  bool lower = x->uplo == TSR_LOWER;
  tsr_kernel_args first = block_of(x, 0, 0, half, half);
  tsr_kernel_args second = block_of(x, half, half, rest, rest);
  tsr_kernel_args off = lower ? block_of(x, half, 0, rest, half) : block_of(x, 0, half, half, rest);
  first.uplo = second.uplo = x->uplo;
  TSR_TRY(triangle(&first, square));
  TSR_TRY(tsr_cpu_kernel(&off));
  return triangle(&second, square);
}

static tsr_status triangle_of_product(const tsr_kernel_args *x) {
  void *square = tsr_alloc(SQUARE * SQUARE * tsr_type_get(x->type)->size);
  if (!square) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a block of gemmt: free some");
  tsr_status status = triangle(x, square);
  tsr_dealloc(square);
  return status;
}

static tsr_status compute(const tsr_call *call, tsr_kernel_args *x) {
  if (tsr_call_scales_only(call)) return scale(tsr_operation_get(call->operation), *x);
  if (call->operation == TSR_GEMMT) return triangle_of_product(x);
  return tsr_cpu_kernel(x);
}

/* With the caller's rounding mode and traps, and leaving its flags, as a BLAS does that the program
 * calls by itself. */
tsr_status tsr_call_on_cpu(const tsr_call *call, const tsr_binding *binding) {
  TSR_TRY(tsr_cpu_blas_load());
  tsr_kernel_args x = kernel_of(call, binding);
  tsr_let_go();
  tsr_status status = compute(call, &x);
  tsr_take_back();
  return status;
}
