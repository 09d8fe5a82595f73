/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls a routine by its Fortran BLAS signature, which the CPU's BLAS and our BLAS door share. The
 * lengths of the flags follow the arguments, as Fortran passes them. */
#include <string.h>

#include "peer.h"

typedef const char *flag;
typedef const int *whole;
typedef const void *values;

typedef void (*gemm)(flag transa, flag transb, whole m, whole n, whole k, values alpha, values a,
                     whole lda, values b, whole ldb, values beta, void *c, whole ldc, size_t,
                     size_t);
typedef void (*gemmt)(flag uplo, flag transa, flag transb, whole n, whole k, values alpha, values a,
                      whole lda, values b, whole ldb, values beta, void *c, whole ldc, size_t,
                      size_t, size_t);
typedef void (*symm)(flag side, flag uplo, whole m, whole n, values alpha, values a, whole lda,
                     values b, whole ldb, values beta, void *c, whole ldc, size_t, size_t);
typedef void (*syrk)(flag uplo, flag trans, whole n, whole k, values alpha, values a, whole lda,
                     values beta, void *c, whole ldc, size_t, size_t);
typedef void (*syr2k)(flag uplo, flag trans, whole n, whole k, values alpha, values a, whole lda,
                      values b, whole ldb, values beta, void *c, whole ldc, size_t, size_t);
typedef void (*trmm)(flag side, flag uplo, flag transa, flag diag, whole m, whole n, values alpha,
                     values a, whole lda, void *b, whole ldb, size_t, size_t, size_t, size_t);

void bench_blas_call(void *routine, const bench_product *x) {
  const tsr_level3 *w = &x->what;
  const char side = (char)w->side, uplo = (char)w->uplo, diag = (char)w->diag, ta = (char)w->transa,
             tb = (char)w->transb;
  const int m = (int)w->m, n = (int)w->n, k = (int)w->k, lda = (int)w->lda, ldb = (int)w->ldb,
            ldc = (int)w->ldc;
  union {
    void *routine;
    gemm gemm;
    gemmt gemmt;
    symm symm;
    syrk syrk;
    syr2k syr2k;
    trmm trmm;
  } f;
  memcpy(&f, &routine, sizeof routine); /* POSIX's way; ISO C has no cast for it */
  switch (w->operation) {
    case TSR_GEMM:
      f.gemm(&ta, &tb, &m, &n, &k, x->alpha, x->a, &lda, x->b, &ldb, x->beta, x->c, &ldc, 1, 1);
      break;
    case TSR_GEMMT:
      f.gemmt(&uplo, &ta, &tb, &n, &k, x->alpha, x->a, &lda, x->b, &ldb, x->beta, x->c, &ldc, 1, 1,
              1);
      break;
    case TSR_SYMM:
    case TSR_HEMM:
      f.symm(&side, &uplo, &m, &n, x->alpha, x->a, &lda, x->b, &ldb, x->beta, x->c, &ldc, 1, 1);
      break;
    case TSR_SYRK:
    case TSR_HERK:
      f.syrk(&uplo, &ta, &n, &k, x->alpha, x->a, &lda, x->beta, x->c, &ldc, 1, 1);
      break;
    case TSR_SYR2K:
    case TSR_HER2K:
      f.syr2k(&uplo, &ta, &n, &k, x->alpha, x->a, &lda, x->b, &ldb, x->beta, x->c, &ldc, 1, 1);
      break;
    default:
      f.trmm(&side, &uplo, &ta, &diag, &m, &n, x->alpha, x->a, &lda, x->c, &ldc, 1, 1, 1, 1);
  }
}
