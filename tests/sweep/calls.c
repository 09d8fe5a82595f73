/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The level-3 BLAS: each routine by its name and as data, blocking and asynchronous, in all kinds
 * of memory. */
#include <string.h>

#include "call/plans.h"
#include "front/context.h"
#include "world.h"

static const double one[2] = {1, 0};
static const float single[2] = {1, 0};

/* alpha and beta, which are one. */
static const void *unit(const tsr_level3 *x) {
  bool wide = x->type == TSR_D || x->type == TSR_Z;
  return wide ? (const void *)one : (const void *)single;
}

#define PICK(name) (async ? CALLED(name##_async) : CALLED(name))

static tsr_status by_name(world *w, const tsr_level3 *x, bool async) {
  tsr_context *t = w->context;
  const void *a = w->matrix[A], *b = w->matrix[B], *s = unit(x);
  void *c = w->matrix[C];
  switch (x->operation) {
    case TSR_GEMM:
      return PICK(tsr_gemm)(t, x->type, x->layout, x->transa, x->transb, x->m, x->n, x->k, s, a,
                            x->lda, b, x->ldb, s, c, x->ldc);
    case TSR_GEMMT:
      return PICK(tsr_gemmt)(t, x->type, x->layout, x->uplo, x->transa, x->transb, x->n, x->k, s, a,
                             x->lda, b, x->ldb, s, c, x->ldc);
    case TSR_SYMM:
      return PICK(tsr_symm)(t, x->type, x->layout, x->side, x->uplo, x->m, x->n, s, a, x->lda, b,
                            x->ldb, s, c, x->ldc);
    case TSR_HEMM:
      return PICK(tsr_hemm)(t, x->type, x->layout, x->side, x->uplo, x->m, x->n, s, a, x->lda, b,
                            x->ldb, s, c, x->ldc);
    case TSR_SYRK:
      return PICK(tsr_syrk)(t, x->type, x->layout, x->uplo, x->transa, x->n, x->k, s, a, x->lda, s,
                            c, x->ldc);
    case TSR_HERK:
      return PICK(tsr_herk)(t, x->type, x->layout, x->uplo, x->transa, x->n, x->k, s, a, x->lda, s,
                            c, x->ldc);
    case TSR_SYR2K:
      return PICK(tsr_syr2k)(t, x->type, x->layout, x->uplo, x->transa, x->n, x->k, s, a, x->lda, b,
                             x->ldb, s, c, x->ldc);
    case TSR_HER2K:
      return PICK(tsr_her2k)(t, x->type, x->layout, x->uplo, x->transa, x->n, x->k, s, a, x->lda, b,
                             x->ldb, s, c, x->ldc);
    case TSR_TRMM:
      return PICK(tsr_trmm)(t, x->type, x->layout, x->side, x->uplo, x->transa, x->diag, x->m, x->n,
                            s, a, x->lda, c, x->ldc);
    case TSR_TRSM:
      return PICK(tsr_trsm)(t, x->type, x->layout, x->side, x->uplo, x->transa, x->diag, x->m, x->n,
                            s, a, x->lda, c, x->ldc);
    default:
      HOLD(!"the operation has a function");
      return TSR_ERR_INTERNAL;
  }
}

/* C is overwritten. */
static const double zeros[2] = {0, 0};

static tsr_status run_over(void *world_) {
  world *w = world_;
  const tsr_level3 *x = w->visit->what;
  return CALLED(tsr_level3_run)(w->context, x, unit(x), w->matrix[A], w->matrix[B], zeros,
                                w->matrix[C]);
}

static tsr_status as_data(world *w, const tsr_level3 *x, bool async) {
  return (async ? CALLED(tsr_level3_run_async) : CALLED(tsr_level3_run))(
      w->context, x, unit(x), w->matrix[A], w->matrix[B], unit(x), w->matrix[C]);
}

/* C = A B + C with the types spelled out. */
static tsr_status typed(world *w, tsr_type type) {
  tsr_context *t = w->context;
  const void *a = w->matrix[A], *b = w->matrix[B];
  void *c = w->matrix[C];
  switch (type) {
    case TSR_S:
      return CALLED(tsr_sgemm)(t, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N, 1, a, N, b, N,
                               1, c, N);
    case TSR_C:
      return CALLED(tsr_cgemm)(t, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N, single, a, N,
                               b, N, single, c, N);
    case TSR_Z:
      return CALLED(tsr_zgemm)(t, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N, one, a, N, b,
                               N, one, c, N);
    default:
      return CALLED(tsr_dgemm)(t, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N, 1, a, N, b, N,
                               1, c, N);
  }
}

/* ---- The visit ----------------------------------------------------------------- */

static const tsr_level3 *request_of(const world *w) {
  return w->visit->what;
}

static void expect(void *world_) {
  world *w = world_;
  world_expect(w, request_of(w), unit(request_of(w)), unit(request_of(w)));
}

static tsr_status named(void *w) {
  return by_name(w, request_of(w), false);
}

static tsr_status named_async(void *w) {
  return by_name(w, request_of(w), true);
}

static tsr_status run(void *w) {
  return as_data(w, request_of(w), false);
}

/* A part of an emulated product, which is all of it, planned before. Its parts with zeros are left
 * to native ones, which may fail when others have been written, if they must be reproducible. */
static void expect_emulated(void *world_) {
  world *w = world_;
  expect(w);
  bool exact = strstr(w->visit->setup, SETUP_EXACT) != NULL;
  HOLD(tsr_set_arithmetic(w->context, exact ? "native" : "emulated") == TSR_OK);
}

/* The certificate refuses the squares of C with the first row, and all sums are exact: a large
 * element of A meets zeros of B. */
static void expect_refused(void *world_) {
  world *w = world_;
  const tsr_level3 *x = request_of(w);
  double *a = w->was[A], *b = w->was[B];
  int parts = x->type == TSR_Z ? 2 : 1;
  a[0] = 0x1p60;
  for (int j = 0; j < N * parts; j++) b[j / parts * parts * N + j % parts] = 0;
  world_reset(w);
  world_expect(w, x, unit(x), w->visit->call == run_over ? zeros : unit(x));
  HOLD(tsr_set_arithmetic(w->context, "emulated") == TSR_OK);
}

static tsr_status run_part(void *world_) {
  world *w = world_;
  const tsr_level3 *x = request_of(w);
  tsr_emulation_way how;
  tsr_status status = CALLED(tsr_emulation_find)(w->context, x->type, x->m, x->n, x->k, 0, &how);
  double seconds = 0;
  if (status == TSR_OK)
    status = CALLED(tsr_emulation_predict)(w->context, &how, x, unit(x), unit(x), &seconds);
  if (status == TSR_OK) HOLD(seconds > 0);
  if (status == TSR_OK)
    status = CALLED(tsr_emulation_plan)(w->context, &how, x, unit(x), w->matrix[A], w->matrix[B],
                                        unit(x), w->matrix[C]);
  if (status != TSR_OK) return status;
  return CALLED(tsr_emulation_run)(w->context, &how, x, unit(x), w->matrix[A], w->matrix[B],
                                   unit(x), w->matrix[C]);
}

/* Two stripes of trsm, which share the inverses of A's blocks. */
static void expect_inverses(void *world_) {
  world *w = world_;
  expect(w);
  HOLD(tsr_set_strategy(w->context, "any/inverses=shared any/block=8 any/stripe=8") == TSR_OK);
}

static tsr_status run_async(void *w) {
  return as_data(w, request_of(w), true);
}

static tsr_status spelled(void *w) {
  return typed(w, request_of(w)->type);
}

/* Once a call was refused for want of memory the same call is made again, and does what it should.
 */
static void check_blocking(void *world_, const sweep_outcome *o) {
  world *w = world_;
  tsr_type type = request_of(w)->type;
  HOLD(o->synced == TSR_OK);
  bool says_so = strstr(o->said, "C is undefined") || strstr(o->said, "all devices of the context");
  if (o->status == TSR_ERR_DEVICE && !w->at_device[C]) HOLD(says_so);
  if (o->dead && w->at_device[C]) return; /* with the device its memory is lost */
  HOLD(world_inputs_kept(w));
  if (sweep_done(o)) HOLD(world_holds(w, C, type, w->expected));
  if (!sweep_refused(o)) return;
  HOLD(world_kept(w));
  HOLD(w->visit->call(w) == TSR_OK);
  HOLD(world_holds(w, C, type, w->expected));
}

/* Some squares of C were computed natively, after the others or beside them, unless all of C was.
 * Without devices that fail, what was left is computed whatever memory fails. */
static void check_refused(void *world_, const sweep_outcome *o) {
  world *w = world_;
  const tsr_plan *last = w->context->calls.last;
  bool emulated = last != NULL && tsr_call_has_form(&last->call);
  if (sweep_done(o) && emulated) HOLD(tsr_plan_object_of(last)->refused > 0);
  if (!o->failed) HOLD(emulated);
  if (!w->at_device[C] && !o->midway) HOLD(o->status != TSR_ERR_DEVICE);
  check_blocking(w, o);
}

static void check_async(void *world_, const sweep_outcome *o) {
  world *w = world_;
  tsr_type type = request_of(w)->type;
  if (o->dead) return;
  HOLD(world_inputs_kept(w));
  if (sweep_done(o)) world_comes_right(w, type);
  if (!sweep_refused(o)) return;
  HOLD(world_kept(w));
  HOLD(w->visit->call(w) == TSR_OK);
  world_comes_right(w, type);
}

/* ---- The calls ------------------------------------------------------------------ */

#define REQUEST(operation, type, uplo, transa)                                                     \
  &(const tsr_level3) {                                                                            \
    operation, type, TSR_COL_MAJOR, TSR_LEFT, uplo, transa, TSR_NO_TRANS, TSR_UNIT, N, N, N, N, N, \
        N                                                                                          \
  }
#define GEMM(type) REQUEST(TSR_GEMM, type, TSR_GENERAL, TSR_NO_TRANS)
#define GEMMT REQUEST(TSR_GEMMT, TSR_Z, TSR_LOWER, TSR_NO_TRANS)
#define SYMM REQUEST(TSR_SYMM, TSR_Z, TSR_UPPER, TSR_NO_TRANS)
#define HEMM REQUEST(TSR_HEMM, TSR_Z, TSR_LOWER, TSR_NO_TRANS)
#define SYRK REQUEST(TSR_SYRK, TSR_Z, TSR_LOWER, TSR_TRANS)
#define HERK REQUEST(TSR_HERK, TSR_Z, TSR_UPPER, TSR_NO_TRANS)
#define SYR2K REQUEST(TSR_SYR2K, TSR_Z, TSR_LOWER, TSR_NO_TRANS)
#define HER2K REQUEST(TSR_HER2K, TSR_Z, TSR_UPPER, TSR_CONJ_TRANS)
#define TRMM REQUEST(TSR_TRMM, TSR_Z, TSR_LOWER, TSR_NO_TRANS)
#define TRSM REQUEST(TSR_TRSM, TSR_Z, TSR_UPPER, TSR_TRANS)

#define BLOCKING(name, request, call, setup) \
  { name, request, expect, call, check_blocking, 0, false, setup }
#define ASYNC(name, request, call, setup) \
  { name, request, expect, call, check_async, 0, false, setup }

#define REFUSED(name, call, setup) \
  { name, GEMM(TSR_D), expect_refused, call, check_refused, 0, false, setup }

const sweep_visit call_visits[] = {
    BLOCKING("gemm", GEMM(TSR_D), named, ""),
    BLOCKING("gemmt", GEMMT, named, ""),
    BLOCKING("symm", SYMM, named, ""),
    BLOCKING("hemm", HEMM, named, ""),
    BLOCKING("syrk", SYRK, named, ""),
    BLOCKING("herk", HERK, named, ""),
    BLOCKING("syr2k", SYR2K, named, ""),
    BLOCKING("her2k", HER2K, named, ""),
    BLOCKING("trmm", TRMM, named, ""),
    BLOCKING("trsm", TRSM, named, ""),
    {"trsm that shares inverses", TRSM, expect_inverses, named, check_blocking, 0, false, ""},
    ASYNC("gemm_async", GEMM(TSR_D), named_async, ""),
    ASYNC("gemmt_async", GEMMT, named_async, ""),
    ASYNC("symm_async", SYMM, named_async, ""),
    ASYNC("hemm_async", HEMM, named_async, ""),
    ASYNC("syrk_async", SYRK, named_async, ""),
    ASYNC("herk_async", HERK, named_async, ""),
    ASYNC("syr2k_async", SYR2K, named_async, ""),
    ASYNC("her2k_async", HER2K, named_async, ""),
    ASYNC("trmm_async", TRMM, named_async, ""),
    ASYNC("trsm_async", TRSM, named_async, ""),
    {"trsm_async that shares inverses", TRSM, expect_inverses, named_async, check_async, 0, false,
     ""},
    BLOCKING("sgemm", GEMM(TSR_S), spelled, ""),
    BLOCKING("dgemm", GEMM(TSR_D), spelled, ""),
    BLOCKING("cgemm", GEMM(TSR_C), spelled, ""),
    BLOCKING("zgemm", GEMM(TSR_Z), spelled, ""),
    BLOCKING("level3_run in half precision", GEMM(TSR_H), run, ""),
    BLOCKING("level3_run by the CPU", GEMMT, run, SETUP_CPU),
    BLOCKING("level3_run in half precision by the CPU", GEMM(TSR_B), run, SETUP_CPU),
    BLOCKING("level3_run where little fits", GEMM(TSR_D), run, SETUP_TIGHT),
    BLOCKING("level3_run, reproducible", GEMM(TSR_D), run, SETUP_EXACT),
    BLOCKING("level3_run with a timeline and progress", GEMM(TSR_D), run,
             SETUP_TRACE SETUP_PROGRESS),
    BLOCKING("level3_run of pinned memory", SYRK, run, SETUP_PINNED),
    BLOCKING("level3_run of a device's memory", GEMM(TSR_D), run, SETUP_DEVICE),
    {"emulation_run", GEMM(TSR_D), expect_emulated, run_part, check_blocking, 0, false, ""},
    {"emulation_run, reproducible", GEMM(TSR_Z), expect_emulated, run_part, check_blocking, 0,
     false, SETUP_EXACT},
    REFUSED("refused", run, ""),
    REFUSED("refused, over C", run_over, ""),
    REFUSED("refused, reproducible", run, SETUP_EXACT),
    REFUSED("refused, over C, reproducible", run_over, SETUP_EXACT),
    REFUSED("refused in a device's memory", run, SETUP_DEVICE),
    REFUSED("refused in a device's memory, over C", run_over, SETUP_DEVICE),
    REFUSED("refused in mixed places", run, SETUP_MIXED),
    REFUSED("refused in pinned memory", run, SETUP_PINNED),
    {"refused_async", GEMM(TSR_D), expect_refused, run_async, check_async, 0, false, ""},
    ASYNC("level3_run_async", GEMM(TSR_S), run_async, ""),
    ASYNC("level3_run_async by the CPU", GEMM(TSR_D), run_async, SETUP_CPU),
    ASYNC("level3_run_async where little fits", GEMM(TSR_D), run_async, SETUP_TIGHT),
    ASYNC("level3_run_async, reproducible", GEMM(TSR_D), run_async, SETUP_EXACT),
    ASYNC("level3_run_async with a timeline", GEMM(TSR_D), run_async, SETUP_TRACE),
    ASYNC("level3_run_async of pinned memory", TRSM, run_async, SETUP_PINNED),
    ASYNC("level3_run_async of a device's memory", GEMM(TSR_D), run_async, SETUP_DEVICE),
    {0},
};
