/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random sequences of calls over matrices that share memory, asynchronous and blocking, with
 * changes by the host, coherency, mappings and releases between them, against the same sequence on
 * the CPU. A sequence is its number: random_sequences --seed S --first N --count 1 --verbose.
 * random_sequences_refused is the same program, but others take devices' memory meanwhile: none of
 * it may fail, since all matrices are in host memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "refusals.h"
#include "turn.h"

typedef struct settings {
  const char *engine;
  int devices; /* at most */
  uint64_t seed;
  int64_t first, count;
  bool verbose, check; /* check: checking mode always */
  bool modelled;       /* devices are those of a machine string, not measured */
} settings;

typedef struct call {
  tsr_level3 what;
  part operand[3]; /* slow 0: none */
  double alpha[2], beta[2];
} call;

enum { MOST_CAPTURED = 6, MOST_FACTORS = 20 };

/* A sequence under way. */
typedef struct sequence {
  rng random, refusing;
  pool pool;
  tsr_context *context, *cpu;
  bool checks; /* checking mode */
  int steps;
  bool verbose, capturing;
  call captured[MOST_CAPTURED]; /* the asynchronous calls of the capture that is under way */
  int captured_count;
  int64_t info[MOST_FACTORS]; /* of the factorisations that may be under way */
  int factors;
  char failure[512];
} sequence;

static bool fail(sequence *s, const char *what, const char *why) {
  snprintf(s->failure, sizeof s->failure, "step %d, %s: %s", s->steps, what, why);
  return false;
}

static bool passed(sequence *s, const char *what, tsr_status status) {
  if (status == TSR_OK) return true;
  char why[400];
  snprintf(why, sizeof why, "%s: %s", tsr_status_name(status), tsr_message());
  return fail(s, what, why);
}

static int64_t between(sequence *s, int64_t least, int64_t most) {
  return rng_between(&s->random, least, most);
}

static bool chance(sequence *s, int percent) {
  return between(s, 0, 99) < percent;
}

static void *ours(const sequence *s, const part *x) {
  return pool_at(&s->pool, x->offset, false);
}

static void say(const sequence *s, const char *what, const part *x) {
  if (s->verbose)
    printf("  %3d %-12s %c %3" PRId64 " x %3" PRId64 " ld %3" PRId64 " at %" PRId64 "\n", s->steps,
           what, x->type, x->fast, x->slow, x->ld, x->offset);
}

/* ---- Calls ---------------------------------------------------------------- */

static tsr_op draw_op(sequence *s) {
  static const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};
  return ops[between(s, 0, 2)];
}

static tsr_type draw_type(sequence *s) {
  static const tsr_type types[2][2] = {{TSR_S, TSR_C}, {TSR_D, TSR_Z}};
  return types[s->pool.wide][chance(s, 30)];
}

static bool is_complex(tsr_type type) {
  return type == TSR_C || type == TSR_Z;
}

/* The arithmetic of a call; NULL: that of its context. */
static const char *draw_arithmetic(sequence *s) {
  static const char *const words[] = {"native", "emulated:16", "auto", "auto:1e-13"};
  return chance(s, 25) ? words[between(s, 0, 3)] : NULL;
}

static tsr_level3 draw_what(sequence *s) {
  tsr_level3 w = {.operation = (tsr_operation)between(s, 0, TSR_OPERATION_COUNT - 1),
                  .type = draw_type(s),
                  .layout = chance(s, 25) ? TSR_ROW_MAJOR : TSR_COL_MAJOR,
                  .side = chance(s, 50) ? TSR_LEFT : TSR_RIGHT,
                  .uplo = chance(s, 50) ? TSR_LOWER : TSR_UPPER,
                  .transa = draw_op(s),
                  .transb = draw_op(s),
                  .diag = TSR_UNIT,
                  .m = between(s, 1, 90),
                  .n = between(s, 1, 90),
                  .k = between(s, 0, 20) ? between(s, 1, 90) : 0};
  bool hermitian = w.operation == TSR_HEMM || w.operation == TSR_HERK || w.operation == TSR_HER2K;
  bool update = w.operation == TSR_SYRK || w.operation == TSR_SYR2K;
  if (hermitian) w.type = s->pool.wide ? TSR_Z : TSR_C;
  if ((hermitian || update) && w.transa != TSR_NO_TRANS)
    w.transa = hermitian ? TSR_CONJ_TRANS : TSR_TRANS;
  if (w.operation == TSR_TRMM && chance(s, 50)) w.diag = TSR_NON_UNIT;
  w.arithmetic = draw_arithmetic(s);
  return w;
}

/* Rows and columns of an operand, by the definition of the operation. */
static void extents(const tsr_level3 *w, int operand, int64_t *rows, int64_t *cols) {
  bool sided = w->operation == TSR_SYMM || w->operation == TSR_HEMM || w->operation == TSR_TRMM ||
               w->operation == TSR_TRSM;
  bool product = w->operation == TSR_GEMM || w->operation == TSR_GEMMT;
  int64_t m = w->operation == TSR_GEMM || sided ? w->m : w->n, n = w->n, k = w->k;
  int64_t order = w->side == TSR_LEFT ? w->m : w->n;
  int64_t shape[3][2] = {{m, k}, {product ? k : n, product ? n : k}, {m, n}};
  if (sided) shape[0][0] = shape[0][1] = order, shape[1][0] = m, shape[1][1] = n;
  tsr_op op = operand == 0 || !product ? w->transa : w->transb;
  bool turned = op != TSR_NO_TRANS && !sided && operand < 2;
  *rows = shape[operand][turned];
  *cols = shape[operand][!turned];
}

static bool has_operand(const tsr_level3 *w, int operand) {
  bool without_b = w->operation == TSR_SYRK || w->operation == TSR_HERK ||
                   w->operation == TSR_TRMM || w->operation == TSR_TRSM;
  return operand != 1 || !without_b;
}

static bool draw_operand(sequence *s, call *c, int operand) {
  int64_t rows, cols;
  c->operand[operand] = (part){0};
  if (!has_operand(&c->what, operand)) return true;
  extents(&c->what, operand, &rows, &cols);
  bool flipped = c->what.layout == TSR_ROW_MAJOR;
  int64_t fast = flipped ? cols : rows, slow = flipped ? rows : cols;
  return pool_draw(&s->pool, c->what.type, fast > 0 ? fast : 1, slow > 0 ? slow : 1, &s->random,
                   &c->operand[operand]);
}

/* Numbers that keep those in the pool small. */
static void draw_scalars(sequence *s, call *c) {
  static const double alphas[] = {0.25, -0.25, 0, 1}, betas[] = {0.5, 0, 1, -0.5};
  c->alpha[0] = alphas[chance(s, 85) ? between(s, 0, 1) : between(s, 0, 3)];
  c->beta[0] = betas[between(s, 0, 3)];
  bool whole = is_complex(c->what.type);
  c->alpha[1] = whole && c->what.operation != TSR_HERK && c->alpha[0] != 0 ? 0.125 : 0;
  bool real = c->what.operation == TSR_HERK || c->what.operation == TSR_HER2K;
  c->beta[1] = whole && !real && c->beta[0] == 0.5 ? 0.25 : 0;
}

static bool draw_call(sequence *s, call *c) {
  c->what = draw_what(s);
  draw_scalars(s, c);
  for (int tries = 0; tries < 20; ++tries) {
    bool fits = true;
    for (int i = 0; i < 3; ++i) fits = fits && draw_operand(s, c, i);
    for (int i = 0; i < 2 && fits; ++i)
      fits = c->operand[i].slow == 0 || !pool_share(&s->pool, &c->operand[i], &c->operand[2]);
    if (!fits) continue;
    c->what.lda = c->operand[0].ld;
    c->what.ldb = c->operand[1].ld;
    c->what.ldc = c->operand[2].ld;
    return true;
  }
  return false;
}

static const void *scalar(const sequence *s, const double value[2], float narrow[2]) {
  for (int i = 0; i < 2; ++i) narrow[i] = (float)value[i];
  return s->pool.wide ? (const void *)value : narrow;
}

static tsr_status carry_out(const sequence *s, const call *c, bool twin, bool async) {
  float a[2], b[2];
  void *at[3];
  for (int i = 0; i < 3; ++i)
    at[i] = c->operand[i].slow > 0 ? pool_at(&s->pool, c->operand[i].offset, twin) : NULL;
  return (async ? tsr_level3_run_async : tsr_level3_run)(twin ? s->cpu : s->context, &c->what,
                                                         scalar(s, c->alpha, a), at[0], at[1],
                                                         scalar(s, c->beta, b), at[2]);
}

static bool do_call(sequence *s, bool async) {
  call c;
  if (!draw_call(s, &c)) return true;
  const char *name = tsr_operation_name(c.what.operation);
  if (s->verbose)
    printf("  %3d %s%s %c side %c uplo %c ops %c%c layout %c m %" PRId64 " n %" PRId64 " k %" PRId64
           " alpha %g,%g beta %g,%g\n",
           s->steps, name, async ? " async" : "", c.what.type, c.what.side, c.what.uplo,
           c.what.transa, c.what.transb, c.what.layout, c.what.m, c.what.n, c.what.k, c.alpha[0],
           c.alpha[1], c.beta[0], c.beta[1]);
  for (int i = 0; i < 3; ++i)
    if (c.operand[i].slow > 0) say(s, i == 2 ? "    C" : i ? "    B" : "    A", &c.operand[i]);
  if (s->capturing && async) s->captured[s->captured_count++] = c;
  return passed(s, name, carry_out(s, &c, true, false)) &&
         passed(s, name, carry_out(s, &c, false, async));
}

/* ---- Factorisations --------------------------------------------------------- */

/* The host writes a positive definite matrix, and says so. */
static bool make_definite(sequence *s, const part *x) {
  if (!passed(s, "sync", tsr_sync(s->context))) return false;
  pool_set_definite(&s->pool, x, &s->random);
  return passed(s, "invalidate",
                tsr_invalidate(s->context, x->fast, x->slow, ours(s, x), x->ld, x->type));
}

/* Draws the other operand of a call, which shares nothing with the matrix. */
static bool draw_other(sequence *s, call *c, int other, const part *x) {
  for (int tries = 0; tries < 20; ++tries)
    if (draw_operand(s, c, other) && !pool_share(&s->pool, &c->operand[other], x)) return true;
  return false;
}

/* C = a little A A^H + C on the devices: C stays positive definite. */
static bool do_update(sequence *s, const tsr_factor *f, const part *x) {
  call c = {.what = {.operation = is_complex(f->type) ? TSR_HERK : TSR_SYRK,
                     .type = f->type,
                     .layout = f->layout,
                     .uplo = f->uplo,
                     .transa = TSR_NO_TRANS,
                     .n = f->n,
                     .k = between(s, 1, 40)},
            .alpha = {0.25},
            .beta = {1}};
  c.operand[2] = *x;
  if (!draw_other(s, &c, 0, x)) return true;
  c.what.lda = c.operand[0].ld, c.what.ldc = x->ld;
  return passed(s, "update", carry_out(s, &c, true, false)) &&
         passed(s, "update", carry_out(s, &c, false, true));
}

/* A solve with the factor. */
static bool do_solve(sequence *s, const tsr_factor *f, const part *x) {
  call c = {.what = {.operation = TSR_TRSM,
                     .type = f->type,
                     .layout = f->layout,
                     .side = chance(s, 50) ? TSR_LEFT : TSR_RIGHT,
                     .uplo = f->uplo,
                     .transa = draw_op(s),
                     .diag = TSR_NON_UNIT},
            .alpha = {0.25}};
  int64_t others = between(s, 1, 90);
  c.what.m = c.what.side == TSR_LEFT ? f->n : others;
  c.what.n = c.what.side == TSR_LEFT ? others : f->n;
  c.operand[0] = *x;
  if (!draw_other(s, &c, 2, x)) return true;
  c.what.lda = x->ld, c.what.ldc = c.operand[2].ld;
  return passed(s, "solve", carry_out(s, &c, true, false)) &&
         passed(s, "solve", carry_out(s, &c, false, chance(s, 80)));
}

/* Draws the right-hand sides of a solver, which share nothing with the factor. */
static bool draw_sides(sequence *s, const tsr_factor *f, const part *x, int64_t count, part *b) {
  bool by_rows = f->layout == TSR_ROW_MAJOR;
  for (int tries = 0; tries < 20; ++tries)
    if (pool_draw(&s->pool, f->type, by_rows ? count : f->n, by_rows ? f->n : count, &s->random,
                  b) &&
        !pool_share(&s->pool, b, x))
      return true;
  return false;
}

/* Solves with the factor, or puts the inverse in its place, by a solver's routine. */
static bool do_solver(sequence *s, const tsr_factor *f, const part *x) {
  static const tsr_solver routines[] = {TSR_POTRS, TSR_TRTRS, TSR_POTRI, TSR_TRTRI};
  int64_t info[2] = {-1, -1};
  part b = {0};
  tsr_solve w = {.routine = routines[between(s, 0, 3)],
                 .type = f->type,
                 .layout = f->layout,
                 .uplo = f->uplo,
                 .trans = draw_op(s),
                 .diag = chance(s, 50) ? TSR_UNIT : TSR_NON_UNIT,
                 .n = f->n,
                 .nrhs = between(s, 1, 60),
                 .lda = f->lda,
                 .info = &info[0]};
  bool solves = w.routine == TSR_POTRS || w.routine == TSR_TRTRS;
  if (solves && !draw_sides(s, f, x, w.nrhs, &b)) return true;
  w.ldb = b.ld;
  say(s, solves ? "    solver" : "    inverse", solves ? &b : x);
  void *at = solves ? pool_at(&s->pool, b.offset, true) : NULL;
  if (!passed(s, "solver", tsr_solve_run(s->cpu, &w, pool_at(&s->pool, x->offset, true), at)))
    return false;
  w.info = &info[1];
  at = solves ? ours(s, &b) : NULL;
  if (!passed(
          s, "solver",
          (chance(s, 75) ? tsr_solve_run_async : tsr_solve_run)(s->context, &w, ours(s, x), at)))
    return false;
  return info[0] == info[1] || fail(s, "solver", "info differs");
}

/* Factors a matrix, which earlier calls on the devices may have written to. */
static bool do_factor(sequence *s) {
  tsr_factor f = {.routine = TSR_POTRF,
                  .type = draw_type(s),
                  .layout = chance(s, 25) ? TSR_ROW_MAJOR : TSR_COL_MAJOR,
                  .uplo = chance(s, 50) ? TSR_LOWER : TSR_UPPER,
                  .n = between(s, 1, 90)};
  int64_t twin = -1;
  part x;
  if (s->factors == MOST_FACTORS) return true;
  if (!pool_draw(&s->pool, f.type, f.n, f.n, &s->random, &x)) return true;
  say(s, "factor", &x);
  f.lda = x.ld;
  if (!make_definite(s, &x)) return false;
  if (chance(s, 50) && !do_update(s, &f, &x)) return false;
  f.info = &twin;
  if (!passed(s, "factor", tsr_factor_run(s->cpu, &f, pool_at(&s->pool, x.offset, true))))
    return false;
  f.info = &s->info[s->factors++];
  *f.info = -1;
  if (!passed(s, "factor",
              (chance(s, 80) ? tsr_factor_run_async : tsr_factor_run)(s->context, &f, ours(s, &x))))
    return false;
  if (twin != 0) return fail(s, "factor", "it is definite");
  if (chance(s, 30)) return true;
  return chance(s, 50) ? do_solve(s, &f, &x) : do_solver(s, &f, &x);
}

static bool are_factored(sequence *s) {
  for (int i = 0; i < s->factors; ++i)
    if (s->info[i] != 0) return fail(s, "factor", "info is not 0");
  s->factors = 0;
  return true;
}

/* ---- What is between them ------------------------------------------------- */

static bool draw_part(sequence *s, part *x) {
  return pool_draw(&s->pool, draw_type(s), between(s, 1, 90), between(s, 1, 100), &s->random, x);
}

static part all_of(const sequence *s) {
  tsr_type type = s->pool.wide ? TSR_D : TSR_S;
  return (part){type, 0, s->pool.ld, s->pool.reals / s->pool.ld, s->pool.ld};
}

static bool compare(sequence *s, const char *what, const part *x) {
  int64_t where;
  char why[160];
  if (pool_equal(&s->pool, x, &where)) return true;
  snprintf(why, sizeof why, "number %" PRId64 " is %.9g, must be %.9g", where,
           pool_number(&s->pool, where, false), pool_number(&s->pool, where, true));
  return fail(s, what, why);
}

static bool do_coherent(sequence *s, bool wait) {
  static const tsr_uplo uplos[] = {TSR_GENERAL, TSR_LOWER, TSR_UPPER};
  part x;
  if (!draw_part(s, &x)) return true;
  say(s, wait ? "coherent" : "coherent async", &x);
  if (wait)
    return passed(
               s, "coherent",
               tsr_coherent(s->context, TSR_GENERAL, x.fast, x.slow, ours(s, &x), x.ld, x.type)) &&
           compare(s, "coherent", &x);
  return passed(s, "coherent async",
                tsr_coherent_async(s->context, uplos[between(s, 0, 2)], x.fast, x.slow, ours(s, &x),
                                   x.ld, x.type));
}

/* The host writes to all of a part, and says so. */
static bool do_change(sequence *s) {
  part x;
  if (!draw_part(s, &x)) return true;
  say(s, "change", &x);
  if (!passed(s, "sync", tsr_sync(s->context))) return false;
  pool_change(&s->pool, &x, &s->random);
  return passed(s, "invalidate",
                tsr_invalidate(s->context, x.fast, x.slow, ours(s, &x), x.ld, x.type));
}

/* Puts a part on a device and asks where it is: mapped there, and all of it there unless memory or
 * another call's leading dimension is in the way. */
static bool do_put(sequence *s, const part *x, int device) {
  int holder = -2, mapped = -2, current = -2;
  double there = -1;
  say(s, "put", x);
  if (!passed(s, "put",
              tsr_put_async(s->context, x->fast, x->slow, ours(s, x), x->ld, x->type, device)) ||
      !passed(s, "where",
              tsr_where(s->context, x->fast, x->slow, ours(s, x), x->ld, x->type, &holder, &there,
                        &mapped, &current)))
    return false;
  bool none = holder == -1 && there == 0 && current == 1;
  bool some = holder >= 0 && holder < tsr_device_count(s->context) && there > 0 && there <= 1;
  return passed(s, "what tsr_where says",
                mapped == device && (none || some) ? TSR_OK : TSR_ERR_CHECK);
}

static bool do_map(sequence *s) {
  part x;
  if (!draw_part(s, &x)) return true;
  int devices = tsr_device_count(s->context), p = (int)between(s, 1, devices);
  int q = (int)between(s, 1, devices / p);
  int64_t mb = between(s, 8, 60), nb = between(s, 8, 60);
  bool move = chance(s, 60);
  if (chance(s, 15)) return do_put(s, &x, (int)between(s, 0, devices - 1));
  say(s, move ? "distribute" : "map", &x);
  if (chance(s, 40))
    return passed(s, "map 1d",
                  (move ? tsr_distribute_1d_block_cyclic_async : tsr_map_1d_block_cyclic)(
                      s->context, x.fast, x.slow, ours(s, &x), x.ld, x.type, nb));
  if (chance(s, 50))
    return passed(s, "map",
                  (move ? tsr_distribute_block_cyclic_async : tsr_map_block_cyclic)(
                      s->context, x.fast, x.slow, ours(s, &x), x.ld, x.type, mb, nb, p, q,
                      (int)between(s, 0, devices - 1)));
  return passed(s, "map 2d",
                (move ? tsr_distribute_2d_block_cyclic_async : tsr_map_2d_block_cyclic)(
                    s->context, x.fast, x.slow, ours(s, &x), x.ld, x.type, mb, nb, p, q));
}

static bool bring_all_home(sequence *s) {
  part all = all_of(s);
  return passed(s, "coherent",
                tsr_coherent_async(s->context, TSR_GENERAL, all.fast, all.slow, ours(s, &all),
                                   all.ld, all.type)) &&
         passed(s, "sync", tsr_sync(s->context)) && are_factored(s) && compare(s, "the end", NULL);
}

static bool do_release(sequence *s) {
  part x;
  if (!bring_all_home(s)) return false;
  if (chance(s, 50) || !draw_part(s, &x))
    return passed(s, "release all", tsr_release(s->context, 0, 0, NULL, 1, TSR_D));
  say(s, "release", &x);
  return passed(s, "release", tsr_release(s->context, x.fast, x.slow, ours(s, &x), x.ld, x.type));
}

/* ---- Captures ------------------------------------------------------------- */

/* What the host changes would not be changed again. */
static bool do_captured_step(sequence *s) {
  int64_t kind = between(s, 0, 99);
  s->steps++;
  if (kind < 70) return do_call(s, true);
  if (kind < 75) return do_call(s, false); /* carried out, but not kept */
  if (kind < 90) return do_coherent(s, chance(s, 50));
  return do_map(s);
}

static bool capture_steps(sequence *s, tsr_capture **capture) {
  bool right = passed(s, "capture begin", tsr_capture_begin(s->context));
  int count = right ? (int)between(s, 1, MOST_CAPTURED) : 0;
  s->capturing = right;
  s->captured_count = 0;
  for (int i = 0; i < count && right; ++i) right = do_captured_step(s);
  if (!s->capturing) return false;
  s->capturing = false;
  return passed(s, "capture end", tsr_capture_end(s->context, capture)) && right;
}

/* The same calls on what they have left, or on what the host has changed since. */
static bool run_again(sequence *s, tsr_capture *capture) {
  s->steps++;
  if (chance(s, 40) && !do_change(s)) return false;
  if (chance(s, 30) && !do_call(s, true)) return false;
  if (s->verbose) printf("  %3d the capture again\n", s->steps);
  for (int i = 0; i < s->captured_count; ++i)
    if (!passed(s, "capture", carry_out(s, &s->captured[i], true, false))) return false;
  return passed(s, "capture run", tsr_capture_run_async(capture));
}

static bool do_capture(sequence *s) {
  tsr_capture *capture = NULL;
  if (s->verbose) printf("  %3d capture\n", s->steps);
  bool right = capture_steps(s, &capture);
  for (int64_t i = between(s, 1, 2); i > 0 && right; --i) right = run_again(s, capture);
  tsr_capture_destroy(capture);
  return right;
}

/* ---- Steps ---------------------------------------------------------------- */

static long met; /* refusals */

/* Others take memory, or give it back. */
static void take_memory_away(sequence *s) {
  refusals r = refusals_draw(&s->refusing);
  if (rng_between(&s->refusing, 0, 2) == 0) r.nth = 0;
  met += refusals_set(r);
  if (s->verbose) printf("  --- refuse %ld,%ld\n", r.nth, r.count);
}

static bool step(sequence *s) {
  s->steps++;
  if (REFUSES) take_memory_away(s);
  int64_t kind = between(s, 0, 99);
  if (kind < 44) return do_call(s, true);
  if (kind < 50) return do_factor(s);
  if (kind < 55) return do_capture(s);
  if (kind < 65) return do_call(s, false);
  if (kind < 73) return do_coherent(s, true);
  if (kind < 80) return do_coherent(s, false);
  if (kind < 89) return do_change(s);
  if (kind < 96) return do_map(s);
  return do_release(s);
}

/* ---- Sequences ------------------------------------------------------------ */

static const char *draw_strategy(sequence *s) {
  static const char *const choices[] = {
      NULL, NULL, "any/kpanel=16 any/nblock=16,16,16 any/stripe=16 any/block=16 piece=2048",
      "any/kpanel=0 any/nblock=8,8,8 any/stripe=8 any/block=32 piece=512 any/c=last",
      "any/block=24 any/nblock=24,24,24 any/stripe=24"};
  return choices[between(s, 0, 4)];
}

static tsr_status open_context(sequence *s, const settings *set) {
  char devices[16], machine[64];
  tsr_options options = TSR_OPTIONS_DEFAULT;
  s->checks = chance(s, 40) || set->check;
  snprintf(devices, sizeof devices, "%d", (int)between(s, 1, set->devices));
  snprintf(machine, sizeof machine, "host:200 gpu*%s@nvswitch:300 pcie:25/pair rate:19", devices);
  if (set->modelled) options.machine = machine;
  options.engine = set->engine;
  options.devices = devices;
  options.check = s->checks;
  const char *words = draw_strategy(s);
  int64_t tile = chance(s, 40) ? between(s, 8, 70) : 0;
  if (chance(s, 40)) tsr_host_delay((uint64_t)between(s, 1, 1000));
  if (chance(s, 25)) options.memory = (size_t)between(s, 300, 2000) << 10;
  options.arithmetic = chance(s, 25) ? "emulated" : "native";
  tsr_status status = tsr_context_create(&options, &s->context);
  tsr_host_delay(0);
  if (status == TSR_OK) status = tsr_set_tile(s->context, tile);
  return status == TSR_OK ? tsr_set_strategy(s->context, words) : status;
}

static bool run_steps(sequence *s) {
  int calls = (int)between(s, 3, 16);
  for (int i = 0; i < calls; ++i)
    if (!step(s)) return false;
  return bring_all_home(s);
}

static bool run(const settings *set, tsr_context *cpu, int64_t number) {
  sequence s = {.random = {(set->seed << 32) + (uint64_t)number * 0xD1342543DE82EF95u},
                .cpu = cpu,
                .verbose = set->verbose};
  s.refusing = (rng){s.random.state + 1};
  for (int i = 0; i < 4; ++i) (void)rng_next(&s.random), (void)rng_next(&s.refusing);
  bool right = passed(&s, "context", open_context(&s, set));
  if (right) {
    right = pool_make(chance(&s, 50) ? s.context : NULL, chance(&s, 60), &s.random, &s.pool);
    right = right ? run_steps(&s) : fail(&s, "memory", "none");
    met += refusals_set((refusals){0, 0});
    pool_free(&s.pool);
    tsr_context_destroy(s.context);
  }
  if (!right)
    printf("FAIL seed %" PRIu64 " sequence %" PRId64 "%s: %s\n", set->seed, number,
           s.checks ? " (checking)" : "", s.failure);
  return right;
}

static void read_settings(int argc, char **argv, settings *set) {
  for (int i = 1; i < argc; ++i) {
    const char *value = i + 1 < argc ? argv[i + 1] : "0";
    bool verbose = strcmp(argv[i], "--verbose") == 0, check = strcmp(argv[i], "--check") == 0;
    bool modelled = strcmp(argv[i], "--modelled") == 0;
    set->verbose |= verbose;
    set->check |= check;
    set->modelled |= modelled;
    if (verbose || check || modelled) continue;
    if (strcmp(argv[i], "--engine") == 0) set->engine = value;
    if (strcmp(argv[i], "--devices") == 0) set->devices = atoi(value);
    if (strcmp(argv[i], "--seed") == 0) set->seed = strtoull(value, NULL, 10);
    if (strcmp(argv[i], "--first") == 0) set->first = atoll(value);
    if (strcmp(argv[i], "--turns") == 0) set->first += turn_of_samples() * atoll(value);
    if (strcmp(argv[i], "--count") == 0) set->count = atoll(value);
    ++i;
  }
}

int main(int argc, char **argv) {
  settings set = {.engine = "host", .devices = 8, .seed = 1, .count = 100};
  read_settings(argc, argv, &set);
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *cpu;
  int64_t right = 0;
  options.engine = "cpu";
  if (tsr_context_create(&options, &cpu) != TSR_OK) {
    printf("FAIL %s\n", tsr_message());
    return 1;
  }
  for (int64_t i = set.first; i < set.first + set.count; ++i) right += run(&set, cpu, i);
  tsr_context_destroy(cpu);
  if (met > 0) printf("%ld allocations were refused\n", met);
  printf("%" PRId64 " passed, %" PRId64 " failed\n", right, set.count - right);
  return right == set.count ? 0 : 1;
}
