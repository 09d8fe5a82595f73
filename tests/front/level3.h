/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Any operation through the function that has its name. */
#ifndef TSR_TESTS_LEVEL3_H
#define TSR_TESTS_LEVEL3_H

#include "front.h"

typedef struct level3_data {
  const void *alpha, *a, *b, *beta;
  void *c; /* the b of trmm and trsm */
} level3_data;

typedef enum level3_door {
  DOOR_BLOCKING,    /* tsr_syrk and so on */
  DOOR_ASYNC,       /* tsr_syrk_async, not waited for */
  DOOR_STRUCT,      /* tsr_level3_run */
  DOOR_STRUCT_ASYNC /* tsr_level3_run_async, not waited for */
} level3_door;

static inline tsr_status level3_named(tsr_context *t, const tsr_level3 *w, const level3_data *x,
                                      int async) {
#define PICK(name) (async ? name##_async : name)
  switch (w->operation) {
    case TSR_GEMM:
      return PICK(tsr_gemm)(t, w->type, w->layout, w->transa, w->transb, w->m, w->n, w->k, x->alpha,
                            x->a, w->lda, x->b, w->ldb, x->beta, x->c, w->ldc);
    case TSR_GEMMT:
      return PICK(tsr_gemmt)(t, w->type, w->layout, w->uplo, w->transa, w->transb, w->n, w->k,
                             x->alpha, x->a, w->lda, x->b, w->ldb, x->beta, x->c, w->ldc);
    case TSR_SYMM:
      return PICK(tsr_symm)(t, w->type, w->layout, w->side, w->uplo, w->m, w->n, x->alpha, x->a,
                            w->lda, x->b, w->ldb, x->beta, x->c, w->ldc);
    case TSR_HEMM:
      return PICK(tsr_hemm)(t, w->type, w->layout, w->side, w->uplo, w->m, w->n, x->alpha, x->a,
                            w->lda, x->b, w->ldb, x->beta, x->c, w->ldc);
    case TSR_SYRK:
      return PICK(tsr_syrk)(t, w->type, w->layout, w->uplo, w->transa, w->n, w->k, x->alpha, x->a,
                            w->lda, x->beta, x->c, w->ldc);
    case TSR_HERK:
      return PICK(tsr_herk)(t, w->type, w->layout, w->uplo, w->transa, w->n, w->k, x->alpha, x->a,
                            w->lda, x->beta, x->c, w->ldc);
    case TSR_SYR2K:
      return PICK(tsr_syr2k)(t, w->type, w->layout, w->uplo, w->transa, w->n, w->k, x->alpha, x->a,
                             w->lda, x->b, w->ldb, x->beta, x->c, w->ldc);
    case TSR_HER2K:
      return PICK(tsr_her2k)(t, w->type, w->layout, w->uplo, w->transa, w->n, w->k, x->alpha, x->a,
                             w->lda, x->b, w->ldb, x->beta, x->c, w->ldc);
    case TSR_TRMM:
      return PICK(tsr_trmm)(t, w->type, w->layout, w->side, w->uplo, w->transa, w->diag, w->m, w->n,
                            x->alpha, x->a, w->lda, x->c, w->ldc);
    case TSR_TRSM:
      return PICK(tsr_trsm)(t, w->type, w->layout, w->side, w->uplo, w->transa, w->diag, w->m, w->n,
                            x->alpha, x->a, w->lda, x->c, w->ldc);
    default:
      fail_msg("operation %d has no function", (int)w->operation);
      return TSR_ERR_INTERNAL;
  }
#undef PICK
}

static inline tsr_status level3_call(tsr_context *t, level3_door door, const tsr_level3 *w,
                                     const level3_data *x) {
  if (door == DOOR_BLOCKING || door == DOOR_ASYNC) return level3_named(t, w, x, door == DOOR_ASYNC);
  return (door == DOOR_STRUCT ? tsr_level3_run : tsr_level3_run_async)(t, w, x->alpha, x->a, x->b,
                                                                       x->beta, x->c);
}

#endif
