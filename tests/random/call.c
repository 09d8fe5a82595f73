/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "call.h"

/* One problem as arguments. */
typedef struct arguments {
  const problem *p;
  tsr_context *context;
  bool async;
  tsr_level3 what;
  unsigned char alpha[16], beta[16];
} arguments;

static void put_scalar(const problem *p, int which, unsigned char *at) {
  double re, im;
  problem_scalar(p, which, &re, &im);
  element_put(problem_scalar_type(p, which), at, re, im);
}

static arguments arguments_of(const problem *p, tsr_context *context, const operand set[3],
                              const char *arithmetic) {
  arguments a = {.p = p, .context = context, .async = p->mode == MODE_ASYNC};
  a.what = (tsr_level3){.operation = p->operation,
                        .type = (tsr_type)p->type,
                        .layout = (tsr_layout)p->layout,
                        .side = (tsr_side)p->side,
                        .uplo = (tsr_uplo)p->uplo,
                        .transa = (tsr_op)p->ta,
                        .transb = (tsr_op)p->tb,
                        .diag = (tsr_diag)p->diag,
                        .m = p->m,
                        .n = p->n,
                        .k = p->k,
                        .lda = set[0].ld,
                        .ldb = set[1].ld,
                        .ldc = set[2].ld,
                        .arithmetic = arithmetic};
  put_scalar(p, 0, a.alpha);
  put_scalar(p, 1, a.beta);
  return a;
}

static const void *beta_of(const arguments *a) {
  return problem_has_beta(a->p) ? a->beta : NULL;
}

/* ---- The functions of the operations' names; [1]: asynchronous ---- */

typedef tsr_status sided(tsr_context *, tsr_type, tsr_layout, tsr_side, tsr_uplo, int64_t, int64_t,
                         const void *, const void *, int64_t, const void *, int64_t, const void *,
                         void *, int64_t);
typedef tsr_status update(tsr_context *, tsr_type, tsr_layout, tsr_uplo, tsr_op, int64_t, int64_t,
                          const void *, const void *, int64_t, const void *, void *, int64_t);
typedef tsr_status update_two(tsr_context *, tsr_type, tsr_layout, tsr_uplo, tsr_op, int64_t,
                              int64_t, const void *, const void *, int64_t, const void *, int64_t,
                              const void *, void *, int64_t);
typedef tsr_status triangular(tsr_context *, tsr_type, tsr_layout, tsr_side, tsr_uplo, tsr_op,
                              tsr_diag, int64_t, int64_t, const void *, const void *, int64_t,
                              void *, int64_t);

static sided *const sideds[2][2] = {{tsr_symm, tsr_symm_async}, {tsr_hemm, tsr_hemm_async}};
static update *const updates[2][2] = {{tsr_syrk, tsr_syrk_async}, {tsr_herk, tsr_herk_async}};
static update_two *const update_twos[2][2] = {{tsr_syr2k, tsr_syr2k_async},
                                              {tsr_her2k, tsr_her2k_async}};
static triangular *const triangulars[2][2] = {{tsr_trmm, tsr_trmm_async},
                                              {tsr_trsm, tsr_trsm_async}};

static tsr_status call_product(const arguments *x, const void *a, const void *b, void *c) {
  const tsr_level3 *w = &x->what;
  if (w->operation == TSR_GEMM)
    return (x->async ? tsr_gemm_async : tsr_gemm)(x->context, w->type, w->layout, w->transa,
                                                  w->transb, w->m, w->n, w->k, x->alpha, a, w->lda,
                                                  b, w->ldb, x->beta, c, w->ldc);
  return (x->async ? tsr_gemmt_async : tsr_gemmt)(x->context, w->type, w->layout, w->uplo,
                                                  w->transa, w->transb, w->n, w->k, x->alpha, a,
                                                  w->lda, b, w->ldb, x->beta, c, w->ldc);
}

static tsr_status call_named(const arguments *x, const void *a, const void *b, void *c) {
  const tsr_level3 *w = &x->what;
  bool hermitian = problem_hermitian(x->p);
  switch (problem_kind_of(x->p)) {
    case KIND_SYMMETRIC:
      return sideds[hermitian][x->async](x->context, w->type, w->layout, w->side, w->uplo, w->m,
                                         w->n, x->alpha, a, w->lda, b, w->ldb, x->beta, c, w->ldc);
    case KIND_UPDATE:
      return updates[hermitian][x->async](x->context, w->type, w->layout, w->uplo, w->transa, w->n,
                                          w->k, x->alpha, a, w->lda, x->beta, c, w->ldc);
    case KIND_UPDATE_TWO:
      return update_twos[hermitian][x->async](x->context, w->type, w->layout, w->uplo, w->transa,
                                              w->n, w->k, x->alpha, a, w->lda, b, w->ldb, x->beta,
                                              c, w->ldc);
    case KIND_TRIANGULAR:
      return triangulars[w->operation == TSR_TRSM][x->async](
          x->context, w->type, w->layout, w->side, w->uplo, w->transa, w->diag, w->m, w->n,
          x->alpha, a, w->lda, c, w->ldc);
    default:
      return call_product(x, a, b, c);
  }
}

/* info: where that of the factorisation goes. */
static tsr_status call_factor(const arguments *x, bool named, void *c, int64_t *info) {
  const tsr_level3 *w = &x->what;
  const tsr_factor what = {.routine = TSR_POTRF,
                           .type = w->type,
                           .layout = w->layout,
                           .uplo = w->uplo,
                           .n = w->n,
                           .lda = w->ldc,
                           .info = info};
  if (named)
    return (x->async ? tsr_potrf_async : tsr_potrf)(x->context, w->type, w->layout, w->uplo, w->n,
                                                    c, w->ldc, info);
  return (x->async ? tsr_factor_run_async : tsr_factor_run)(x->context, &what, c);
}

static tsr_status call_data(const arguments *x, const void *a, const void *b, void *c) {
  return (x->async ? tsr_level3_run_async : tsr_level3_run)(x->context, &x->what, x->alpha, a, b,
                                                            beta_of(x), c);
}

/* ---- Plans ---- */

static tsr_home home_of(char letter) {
  if (letter == HOME_PINNED || letter == HOME_REGISTERED) return (tsr_home){TSR_PINNED, 0};
  if (letter >= '0' && letter <= '9') return (tsr_home){TSR_DEVICE, letter - '0'};
  return (tsr_home){TSR_PAGEABLE, 0};
}

static tsr_status make_plan(const arguments *x, bool named, tsr_plan **plan) {
  const tsr_level3 *w = &x->what;
  tsr_home homes[3];
  for (int i = 0; i < 3; ++i) homes[i] = home_of(x->p->home[i]);
  if (named && w->operation == TSR_GEMM)
    return tsr_plan_gemm(x->context, w->type, w->layout, w->transa, w->transb, w->m, w->n, w->k,
                         x->alpha, w->lda, w->ldb, x->beta, w->ldc, homes, plan);
  return tsr_plan_level3(x->context, w, x->alpha, beta_of(x), homes, plan);
}

static tsr_status call_plan(const arguments *x, bool named, const operand set[CALL_SETS][3]) {
  tsr_plan *plan = NULL;
  tsr_status status = make_plan(x, named, &plan);
  for (int i = 0; status == TSR_OK && i < x->p->calls; ++i) {
    const operand *one = set[i % x->p->sets];
    status = tsr_plan_execute(plan, x->alpha, operand_pointer(&one[0]), operand_pointer(&one[1]),
                              beta_of(x), operand_pointer(&one[2]));
  }
  tsr_plan_destroy(plan);
  return status;
}

/* ---- Calls ---- */

/* Results of asynchronous calls come home on request. */
static tsr_status bring_home(const arguments *x, const operand *c) {
  return tsr_coherent_async(x->context, TSR_GENERAL, c->shape.fast, c->shape.slow,
                            operand_pointer(c), c->ld, x->what.type);
}

/* Its memory will be something else's. */
static tsr_status let_go(const arguments *x, const operand *o) {
  const void *at = operand_pointer(o);
  if (at == NULL) return TSR_OK;
  return tsr_release(x->context, o->shape.fast, o->shape.slow, at, o->ld, x->what.type);
}

static tsr_status finish(const arguments *x, const operand set[CALL_SETS][3]) {
  tsr_status status = TSR_OK;
  int sets = x->p->sets < x->p->calls ? x->p->sets : x->p->calls;
  for (int i = 0; status == TSR_OK && i < sets; ++i) status = bring_home(x, &set[i][2]);
  tsr_status synced = tsr_sync(x->context);
  if (status == TSR_OK) status = synced;
  for (int i = 0; status == TSR_OK && i < 3 * sets; ++i) status = let_go(x, &set[i / 3][i % 3]);
  return status;
}

static tsr_status call_one(const arguments *x, bool named, const operand one[3], int64_t *info) {
  void *a = operand_pointer(&one[0]), *b = operand_pointer(&one[1]), *c = operand_pointer(&one[2]);
  if (problem_kind_of(x->p) == KIND_FACTOR) return call_factor(x, named, c, info);
  return (named ? call_named : call_data)(x, a, b, c);
}

static tsr_status call_all(const arguments *x, const operand set[CALL_SETS][3],
                           int64_t info[CALL_SETS]) {
  const problem *p = x->p;
  bool named = p->seed % 2 == 1 && x->what.arithmetic == NULL;
  if (p->mode == MODE_PLAN) return call_plan(x, named, set);
  tsr_status status = TSR_OK;
  for (int i = 0; status == TSR_OK && i < p->calls; ++i)
    status = call_one(x, named, set[i % p->sets], &info[i % p->sets]);
  tsr_status finished = x->async ? finish(x, set) : TSR_OK;
  return status != TSR_OK ? status : finished;
}

/* Flags that a product on the CPU may raise. With a budget, where devices' memory is refused, or a
 * promise is, the CPU may do what devices cannot. */
static int flags_of_cpu(const problem *p, bool refused) {
  bool only_devices =
      p->devices > 0 && p->memory == 0 && p->moduli == 0 && p->digits == 0 && !refused;
  return only_devices ? 0 : FE_INEXACT | FE_UNDERFLOW;
}

tsr_status call_run(const problem *p, tsr_context *context, const operand set[CALL_SETS][3],
                    bool refused, char changed[CALL_CHANGED], int64_t info[CALL_SETS]) {
  char arithmetic[PROBLEM_ARITHMETIC];
  arguments x = arguments_of(p, context, set[0], problem_arithmetic(p, arithmetic));
  float_modes_set(&p->modes);
  float_state before = float_state_get();
  tsr_status status = call_all(&x, set, info);
  changed[0] = '\0';
  (void)float_state_is(&before, flags_of_cpu(p, refused), changed, CALL_CHANGED);
  return status;
}
