/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A Cholesky factorisation by halves, for the kernels of the CPU and of GPUs: A11 = L11 L11^H,
 * L21 = A21 L11^-H, A22 - L21 L21^H = L22 L22^H, or the same of the upper triangle.
 */
#ifndef TSR_ARITHMETIC_HALVES_H
#define TSR_ARITHMETIC_HALVES_H

#include "arithmetic/kernel.h"

typedef struct tsr_halves {
  tsr_kernel_args first, solve, update, second; /* in this order */
} tsr_halves;

/* The kernels into which POTRF of more than one column is halved, at that row and column. */
static inline tsr_halves tsr_halves_of(const tsr_kernel_args *x, int64_t half) {
  bool lower = x->uplo == TSR_LOWER, real = !tsr_type_get(x->type)->complex_valued;
  tsr_op turned = real ? TSR_TRANS : TSR_CONJ_TRANS;
  int64_t rest = x->n - half, size = (int64_t)tsr_type_get(x->type)->size;
  char *off = (char *)x->c + (lower ? half : half * x->ldc) * size;
  tsr_halves h = {.first = *x, .second = *x};
  h.first.m = h.first.n = half;
  h.second.m = h.second.n = rest;
  h.second.c = (char *)x->c + half * (x->ldc + 1) * size;
  h.solve = (tsr_kernel_args){.kernel = TSR_KERNEL_TRSM,
                              .type = x->type,
                              .transa = turned,
                              .transb = TSR_NO_TRANS,
                              .side = lower ? TSR_RIGHT : TSR_LEFT,
                              .uplo = x->uplo,
                              .diag = TSR_NON_UNIT,
                              .m = lower ? rest : half,
                              .n = lower ? half : rest,
                              .alpha = {1, 0},
                              .a = x->c,
                              .c = off,
                              .lda = x->ldc,
                              .ldc = x->ldc};
  h.update = (tsr_kernel_args){.kernel = real ? TSR_KERNEL_SYRK : TSR_KERNEL_HERK,
                               .type = x->type,
                               .transa = lower ? TSR_NO_TRANS : turned,
                               .uplo = x->uplo,
                               .m = rest,
                               .n = rest,
                               .k = half,
                               .alpha = {-1, 0},
                               .beta = {1, 0},
                               .a = off,
                               .c = h.second.c,
                               .lda = x->ldc,
                               .ldc = x->ldc};
  return h;
}

#endif
