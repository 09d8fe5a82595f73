/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Emulated level-3 routines: the promise holds for each on hard data, against sums in twice the
 * precision of a double. */
/* Slow: 31 s of a core. */
#include <math.h>

#include "call/plans.h"
#include "engine/engine.h"
#include "front.h"
#include "tessera_model.h"
#include "../arithmetic/hard_data.h"

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

/* ---- Factors ---- */

typedef enum shape { PLAIN, SYMMETRIC, HERMITIAN, TRIANGULAR } shape;

/* op of a stored matrix, of which only the triangle uplo is used unless the shape is PLAIN. */
typedef struct factor {
  tsr_type type;
  const void *x;
  int64_t ld;
  tsr_op op;
  shape shape;
  tsr_uplo uplo;
  bool unit; /* its diagonal counts as 1 */
} factor;

static hard_complex element(const factor *f, int64_t i, int64_t j) {
  tsr_op op = f->op == TSR_CONJ_TRANS ? TSR_CONJ_TRANS : TSR_NO_TRANS;
  int64_t row = f->op == TSR_NO_TRANS ? i : j, col = f->op == TSR_NO_TRANS ? j : i;
  bool outside = f->shape != PLAIN && (f->uplo == TSR_LOWER ? row < col : row > col);
  if (outside && f->shape == TRIANGULAR) return (hard_complex){0, 0};
  if (f->unit && row == col) return (hard_complex){1, 0};
  if (outside) {
    int64_t other = row;
    row = col;
    col = other;
    op = f->shape == HERMITIAN ? TSR_CONJ_TRANS : TSR_NO_TRANS;
  }
  hard_complex value = hard_at(f->type, op, f->x, row + col * f->ld);
  if (f->shape == HERMITIAN && row == col) value.im = 0;
  return value;
}

/* A term of C: alpha times the sum over k elements of left(i, h) right(h, j). */
typedef struct term {
  factor left, right;
} term;

/* ---- Calls ---- */

typedef struct routine {
  const char *name;
  tsr_operation operation;
  int terms;   /* 2: syr2k and her2k */
  bool rank;   /* C has a triangle */
  shape shape; /* of A */
} routine;

enum { BLOCK = 16 }; /* of a triangle beside C */

static const routine routines[] = {
    {"gemmt", TSR_GEMMT, 1, true, PLAIN},     {"syrk", TSR_SYRK, 1, true, PLAIN},
    {"herk", TSR_HERK, 1, true, PLAIN},       {"syr2k", TSR_SYR2K, 2, true, PLAIN},
    {"her2k", TSR_HER2K, 2, true, PLAIN},     {"symm", TSR_SYMM, 1, false, SYMMETRIC},
    {"hemm", TSR_HEMM, 1, false, HERMITIAN},  {"trmm", TSR_TRMM, 1, false, TRIANGULAR},
    {"trsm", TSR_TRSM, 1, false, TRIANGULAR},
};
enum { ROUTINES = sizeof routines / sizeof *routines };

typedef struct call {
  const routine *routine;
  tsr_type type;
  tsr_uplo uplo;
  tsr_side side;
  tsr_op op;
  tsr_diag diag;
  int64_t m, n, k; /* k: of a sum; beside a triangle its order */
  int64_t ld;      /* of all matrices */
  double alpha, beta;
  void *a, *b, *c, *old;
} call;

static bool is_hermitian(const call *x) {
  tsr_operation o = x->routine->operation;
  return o == TSR_HERK || o == TSR_HER2K;
}

/* A scalar in the type, complex or real. */
static const void *scalar(tsr_type type, double value, double room[2]) {
  float *single = (float *)(void *)room;
  room[0] = room[1] = 0;
  if (hard_is_single(type))
    single[0] = (float)value, single[1] = 0;
  else
    room[0] = value;
  return room;
}

static tsr_status run(tsr_context *context, const call *x) {
  double rooms[2][2];
  const void *alpha = scalar(x->type, x->alpha, rooms[0]),
             *beta = scalar(x->type, x->beta, rooms[1]);
  switch (x->routine->operation) {
    case TSR_GEMMT:
      return tsr_gemmt(context, x->type, TSR_COL_MAJOR, x->uplo, x->op, x->op, x->n, x->k, alpha,
                       x->a, x->ld, x->b, x->ld, beta, x->c, x->ld);
    case TSR_SYRK:
      return tsr_syrk(context, x->type, TSR_COL_MAJOR, x->uplo, x->op, x->n, x->k, alpha, x->a,
                      x->ld, beta, x->c, x->ld);
    case TSR_HERK:
      return tsr_herk(context, x->type, TSR_COL_MAJOR, x->uplo, x->op, x->n, x->k, alpha, x->a,
                      x->ld, beta, x->c, x->ld);
    case TSR_SYR2K:
      return tsr_syr2k(context, x->type, TSR_COL_MAJOR, x->uplo, x->op, x->n, x->k, alpha, x->a,
                       x->ld, x->b, x->ld, beta, x->c, x->ld);
    case TSR_SYMM:
      return tsr_symm(context, x->type, TSR_COL_MAJOR, x->side, x->uplo, x->m, x->n, alpha, x->a,
                      x->ld, x->b, x->ld, beta, x->c, x->ld);
    case TSR_HEMM:
      return tsr_hemm(context, x->type, TSR_COL_MAJOR, x->side, x->uplo, x->m, x->n, alpha, x->a,
                      x->ld, x->b, x->ld, beta, x->c, x->ld);
    case TSR_TRMM:
      return tsr_trmm(context, x->type, TSR_COL_MAJOR, x->side, x->uplo, x->op, x->diag, x->m, x->n,
                      alpha, x->a, x->ld, x->c, x->ld);
    case TSR_TRSM:
      return tsr_trsm(context, x->type, TSR_COL_MAJOR, x->side, x->uplo, x->op, x->diag, x->m, x->n,
                      alpha, x->a, x->ld, x->c, x->ld);
    default:
      return tsr_her2k(context, x->type, TSR_COL_MAJOR, x->uplo, x->op, x->n, x->k, alpha, x->a,
                       x->ld, x->b, x->ld, beta, x->c, x->ld);
  }
}

static tsr_op across(const call *x) {
  if (x->op != TSR_NO_TRANS) return TSR_NO_TRANS;
  return is_hermitian(x) ? TSR_CONJ_TRANS : TSR_TRANS;
}

/* Whether the old C is a factor, or (trsm) what the new one times A has to give. */
static bool is_in_place(const call *x) {
  return x->routine->shape == TRIANGULAR;
}

/* A and B beside each other; of trsm A and the solution. */
static term beside(const call *x) {
  bool solves = x->routine->operation == TSR_TRSM;
  const void *other = solves ? x->c : is_in_place(x) ? x->old : x->b;
  tsr_op op = is_in_place(x) ? x->op : TSR_NO_TRANS;
  factor a = {x->type, x->a, x->ld, op, x->routine->shape, x->uplo, x->diag == TSR_UNIT};
  factor b = {x->type, other, x->ld, TSR_NO_TRANS, PLAIN, x->uplo, false};
  return x->side == TSR_LEFT ? (term){a, b} : (term){b, a};
}

/* Term `number` of the call. */
static term term_of(const call *x, int number) {
  if (!x->routine->rank) return beside(x);
  const void *left = number == 0 ? x->a : x->b, *right = number == 0 ? x->b : x->a;
  factor l = {x->type, left, x->ld, x->op, PLAIN, x->uplo, false};
  factor r = {x->type, x->routine->terms == 2 ? right : x->a, x->ld, across(x), PLAIN, x->uplo,
              false};
  if (x->routine->operation == TSR_GEMMT)
    r = (factor){x->type, x->b, x->ld, x->op, PLAIN, x->uplo, false};
  return (term){l, r};
}

/* The products that are added to an element one after the other. */
static int64_t steps_of(const call *x) {
  return x->routine->rank ? x->routine->terms : (x->k + BLOCK - 1) / BLOCK;
}

/* An element's sum of products, and the sum of their magnitudes. */
static quad_complex sum_of(const call *x, int64_t i, int64_t j, quad *size) {
  hard_complex_sum sum = {0};
  for (int number = 0; number < x->routine->terms; number++) {
    term t = term_of(x, number);
    for (int64_t h = 0; h < x->k; h++)
      hard_add_elements(&sum, element(&t.left, i, h), element(&t.right, h, j));
  }
  *size = (quad)sum.size;
  bool real = is_hermitian(x) && i == j;
  return (quad_complex){hard_total(&sum.re), real ? 0 : hard_total(&sum.im)};
}

/* What the sum has to be but for the error, for trsm: alpha B; else the sum has to be this one's
 * difference from C. */
static quad_complex rest_of(const call *x, int64_t i, int64_t j) {
  bool solves = x->routine->operation == TSR_TRSM;
  double scale = solves ? x->alpha : x->beta;
  if (scale == 0 || (is_in_place(x) && !solves)) return (quad_complex){0, 0};
  hard_complex old = hard_at(x->type, TSR_NO_TRANS, x->old, i + j * x->ld);
  if (is_hermitian(x) && i == j) old.im = 0;
  return (quad_complex){(quad)scale * (quad)old.re, (quad)scale * (quad)old.im};
}

/* The error of an element / its bound: that of GEMM, where a sum has the products of all terms, and
 * C is rounded with each step. Of trsm the backward error. */
static double error_of(const call *x, int64_t i, int64_t j) {
  double u = hard_is_single(x->type) ? 0x1p-24 : 0x1p-53;
  double smallest = hard_is_single(x->type) ? 0x1p-149 : 0x1p-1074;
  bool solves = x->routine->operation == TSR_TRSM;
  quad size, alpha = solves ? 1 : (quad)x->alpha, steps = (quad)(double)(steps_of(x) + 1);
  quad_complex sum = sum_of(x, i, j, &size), rest = rest_of(x, i, j);
  hard_complex c =
      solves ? (hard_complex){0, 0} : hard_at(x->type, TSR_NO_TRANS, x->c, i + j * x->ld);
  quad products = (quad)(double)(x->k * x->routine->terms + 2);
  quad bound =
      (quad)u * (products * hard_abs(alpha) * size + (solves ? 0 : steps * hard_wide_size(rest)));
  if (solves) rest = (quad_complex){-rest.re, -rest.im};
  quad_complex off = {(quad)c.re - (alpha * sum.re + rest.re),
                      (quad)c.im - (alpha * sum.im + rest.im)};
  if (!(fabs((double)hard_wide_size(off)) < INFINITY)) return INFINITY;
  return (double)(hard_wide_size(off) / (bound + steps * (quad)smallest)) /
         (hard_parts(x->type) == 2 ? 2.8284 : 1);
}

static bool is_written(const call *x, int64_t i, int64_t j) {
  if (!x->routine->rank) return true;
  return x->uplo == TSR_LOWER ? i >= j : i <= j;
}

/* The largest error / its bound. What is outside of the triangle must be as it was. */
static double worst_of(const call *x) {
  size_t size = (hard_is_single(x->type) ? 4 : 8) * (size_t)hard_parts(x->type);
  double worst = 0;
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->m; i++) {
      size_t at = (size_t)(i + j * x->ld) * size;
      if (is_written(x, i, j))
        worst = fmax(worst, error_of(x, i, j));
      else
        assert_memory_equal((char *)x->c + at, (char *)x->old + at, size);
    }
  return worst;
}

static void fill(const call *x, hard_family family, int64_t most, uint64_t seed) {
  bool rank = x->routine->rank, turned = x->routine->operation == TSR_GEMMT;
  hard_family of_c = is_in_place(x) ? family : HARD_UNIFORM;
  hard_fill(family, x->type, false, rank ? x->op : TSR_NO_TRANS, rank ? x->n : x->k, x->k, x->ld,
            seed, x->a);
  hard_fill(family, x->type, turned || !rank, rank ? x->op : TSR_NO_TRANS, x->n, rank ? x->k : x->m,
            x->ld, seed + 1, x->b);
  hard_fill(of_c, x->type, true, TSR_NO_TRANS, most, x->ld, x->ld, seed + 9, x->old);
}

static void make(call *x, hard_family family, uint64_t seed) {
  size_t size = (hard_is_single(x->type) ? 4 : 8) * (size_t)hard_parts(x->type);
  int64_t most = x->n > x->k ? x->n : x->k;
  most = x->m > most ? x->m : most;
  x->ld = most + 3;
  void **all[] = {&x->a, &x->b, &x->c, &x->old};
  for (int i = 0; i < 4; i++) {
    *all[i] = malloc((size_t)(x->ld * most) * size);
    assert_non_null(*all[i]);
  }
  fill(x, family, most, seed);
  memcpy(x->c, x->old, (size_t)(x->ld * most) * size);
}

static void drop(const call *x) {
  free(x->a), free(x->b), free(x->c), free(x->old);
}

/* ---- Tests ---- */

static tsr_context *context_with(const char *arithmetic, const char *devices, size_t memory,
                                 bool reproducible) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = front_engine();
  options.devices = devices;
  options.check = 1;
  options.memory = memory;
  options.reproducible = reproducible;
  options.arithmetic = arithmetic;
  if (!front_is_emulated()) options.machine = "host:200 gpu*1@nvswitch:300 pcie:25 rate:19";
  assert_ok(tsr_context_create(&options, &context));
  return context;
}

static tsr_context *context_of(const char *arithmetic, const char *devices) {
  return context_with(arithmetic, devices, 0, false);
}

static call call_of(const routine *what, int variant) {
  const tsr_type types[] = {TSR_D, TSR_S, TSR_Z, TSR_C};
  bool hermitian =
      what->operation == TSR_HERK || what->operation == TSR_HER2K || what->operation == TSR_HEMM;
  call x = {.routine = what,
            .type = types[hermitian ? 2 + variant % 2 : variant % 4],
            .uplo = variant & 4 ? TSR_LOWER : TSR_UPPER,
            .op = variant & 2 ? TSR_TRANS : TSR_NO_TRANS,
            .m = 41,
            .n = 41,
            .k = 60,
            .alpha = variant & 1 ? -0.5 : 1,
            .beta = variant & 8 ? 0.75 : 0};
  if (hermitian && x.op == TSR_TRANS) x.op = TSR_CONJ_TRANS;
  if (what->rank) return x;
  x.m = 47;
  x.side = variant & 8 ? TSR_LEFT : TSR_RIGHT;
  x.k = variant & 8 ? x.m : x.n;
  bool unit = what->operation == TSR_TRSM || (what->operation == TSR_TRMM && variant & 1);
  x.diag = unit ? TSR_UNIT : TSR_NON_UNIT;
  x.beta = variant & 1 ? -2 : 0;
  return x;
}

/* Whether the routine is tried on the data: not with elements that are not finite; native blocks on
 * a diagonal not on data whose products underflow; and trsm only on triangles whose solutions do
 * not overflow. */
static bool suits(const routine *what, hard_family family) {
  if (family == HARD_INFINITE || family == HARD_NAN) return false;
  if (what->shape != PLAIN && family == HARD_SUBNORMAL) return false;
  return what->operation != TSR_TRSM || family == HARD_UNIFORM || family == HARD_GRADED ||
         family == HARD_CANCELLING || family == HARD_HILBERT || family == HARD_SPARSE;
}

/* Every routine on every family of finite data, with one device and three. */
static void the_promise_holds(void **state) {
  (void)state;
  const tsr_engine *engine = tsr_engine_find(front_engine());
  if (engine != NULL && !engine->traits.forms) skip();
  for (int d = 0; d < (front_is_emulated() ? 2 : 1); d++) {
    tsr_context *context = context_of("emulated", d == 0 ? "1" : "3");
    assert_ok(tsr_set_strategy(context, "any/block=16"));
    int refused = 0, calls = 0;
    for (int i = 0; i < ROUTINES; i++)
      for (int family = 0; family < HARD_FAMILIES; family++)
        for (int variant = 0; variant < 16; variant++) {
          if (!suits(&routines[i], (hard_family)family) || (variant + family) % 2 == d) continue;
          call x = call_of(&routines[i], variant);
          make(&x, (hard_family)family, (uint64_t)(20 * d + variant));
          assert_ok(run(context, &x));
          double worst = worst_of(&x);
          if (worst > 1)
            fail_msg("%s, %s, variant %d: error %g of the bound", routines[i].name,
                     hard_names[family], variant, worst);
          assert_true(front_last_says(context, "emulated with"));
          refused += front_last_says(context, "computed natively");
          calls++;
          drop(&x);
        }
    assert_true(refused > calls / 8 && refused < calls * 7 / 8);
    tsr_context_destroy(context);
  }
}

/* ---- The same bits ---- */

static size_t bytes_of_c(const call *x) {
  return (size_t)(x->ld * x->n) * (hard_is_single(x->type) ? 4 : 8) * (size_t)hard_parts(x->type);
}

/* Facts of a call: in residues; some part natively; tiles shared memory; bytes of device 0. */
typedef struct outcome {
  bool emulated, refused, tight;
  size_t memory;
} outcome;

/* Computes the call anew in a context, which is destroyed. */
static outcome run_anew(tsr_context *context, const call *x) {
  tsr_plan *plan;
  memcpy(x->c, x->old, bytes_of_c(x));
  assert_ok(run(context, x));
  assert_ok(tsr_plan_last(context, &plan));
  outcome found = {front_last_says(context, "emulated with"),
                   front_last_says(context, "computed natively"), plan->blocking.rows > 0,
                   plan->arena[0]};
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  return found;
}

static void check_same(const call *x, const void *first, const char *where) {
  if (memcmp(first, x->c, bytes_of_c(x)) != 0)
    fail_msg("%s, k = %d: other bits %s", x->routine->name, (int)x->k, where);
}

static void *copy_of_c(const call *x) {
  void *copy = malloc(bytes_of_c(x));
  assert_non_null(copy);
  memcpy(copy, x->c, bytes_of_c(x));
  return copy;
}

/* Where the residues of a rank-k update do not fit the budget together they are dropped and made
 * again, with the bits of all memory. */
static void bits_of_updates_do_not_depend_on_budgets(void **state) {
  (void)state;
  const tsr_engine *engine = tsr_engine_find(front_engine());
  if (engine != NULL && !engine->traits.forms) skip();
  const int percent[] = {90, 50, 20};
  for (int i = 0; i < ROUTINES; i++)
    for (int variant = 0; variant < 16 && routines[i].rank; variant += 3) {
      call x = call_of(&routines[i], variant);
      make(&x, HARD_UNIFORM, (uint64_t)variant);
      outcome all = run_anew(context_with("emulated", "1", 0, false), &x);
      void *first = copy_of_c(&x);
      assert_true(all.emulated && !all.refused && !all.tight);
      for (int b = 0; b < 3; b++)
        for (int devices = 1; devices <= (front_is_emulated() ? 2 : 1); devices++) {
          size_t budget = all.memory * (size_t)percent[b] / 100;
          outcome found =
              run_anew(context_with("emulated", devices == 1 ? "1" : "2", budget, false), &x);
          assert_true(found.emulated && !found.refused && (found.tight || devices > 1));
          check_same(&x, first, "with a smaller budget");
        }
      free(first);
      drop(&x);
    }
}

static tsr_context *reproducible_context(const char *arithmetic, const char *devices, size_t memory,
                                         int64_t tile) {
  tsr_context *context = context_with(arithmetic, devices, memory, true);
  assert_ok(tsr_set_tile(context, tile));
  return context;
}

/* Checks that a call whose squares are of `tile` elements has the same bits, and is refused or not,
 * on any number of devices and with three budgets. Returns whether it is refused. */
static bool check_reproducible(const char *arithmetic, const call *x, int64_t tile) {
  static const char *const devices[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
  const int percent[] = {0, 85, 60};
  outcome all = run_anew(reproducible_context(arithmetic, "1", 0, tile), x);
  void *first = copy_of_c(x);
  for (int d = 0; d < (front_is_emulated() ? 8 : 1); d++)
    for (int b = 0; b < (d % 3 == 0 ? 3 : 1); b++) {
      size_t budget = all.memory * (size_t)percent[b] / 100;
      outcome found = run_anew(reproducible_context(arithmetic, devices[d], budget, tile), x);
      assert_true(found.emulated == all.emulated && found.refused == all.refused);
      assert_true(d > 0 || found.tight == (b > 0));
      check_same(x, first, devices[d]);
    }
  free(first);
  assert_int_equal(all.emulated, strcmp(arithmetic, "native") != 0);
  return all.refused;
}

/* Reproducible results have the same bits on any number of devices and with any budget that
 * suffices: where all of C is emulated, where nothing of it can be, and where parts of it are
 * left to native products. */
static void reproducible_bits_are_the_same_everywhere(void **state) {
  (void)state;
  const tsr_engine *engine = tsr_engine_find(front_engine());
  if (engine != NULL && !engine->traits.forms) skip();
  static const hard_family families[] = {HARD_UNIFORM, HARD_SPREAD, HARD_SPARSE, HARD_GRADED};
  int refusals = 0, calls = 0;
  for (int i = 0; i < ROUTINES; i++)
    for (int variant = 0; variant < 16; variant += 3) {
      call x = call_of(&routines[i], variant);
      hard_family family = families[variant % 4];
      make(&x, suits(&routines[i], family) ? family : HARD_SPARSE, (uint64_t)variant);
      refusals += check_reproducible("emulated", &x, 8);
      check_reproducible("native", &x, 8);
      calls++;
      drop(&x);
    }
  assert_true(refusals > calls / 8 && refusals < calls * 7 / 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_promise_holds),
                                     cmocka_unit_test(bits_of_updates_do_not_depend_on_budgets),
                                     cmocka_unit_test(reproducible_bits_are_the_same_everywhere)};
  return cmocka_run_group_tests(tests, clear, NULL);
}
