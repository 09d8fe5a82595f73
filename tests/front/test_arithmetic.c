/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Emulated products: TESSERA_ARITHMETIC, the accuracy on hard data, and what is done natively. */
/* Slow: 24 s of a core. */
#include <math.h>

#include "arithmetic/moduli.h"
#include "call/plans.h"
#include "engine/engine.h"
#include "front.h"
#include "../arithmetic/hard_data.h"

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

/* A context that computes as `arithmetic` says. Real devices are not measured for it. */
static tsr_context *context_of(const char *arithmetic, const char *devices, size_t memory) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = front_engine();
  options.devices = devices;
  options.memory = memory;
  options.check = 1;
  options.arithmetic = arithmetic;
  if (!front_is_emulated()) options.machine = "host:200 gpu*1@nvswitch:300 pcie:25 rate:19";
  assert_ok(tsr_context_create(&options, &context));
  return context;
}

/* Skips the test where the engine has no kernels for residues, so that all products are native. */
static void needs_residues(void) {
  const tsr_engine *engine = tsr_engine_find(front_engine());
  if (engine != NULL && !engine->traits.forms) skip();
}

/* How many of `count` numbers of devices to try; there may be one real device only. */
static int tried(int count) {
  return front_is_emulated() ? count : 1;
}

typedef struct product {
  hard_product x;
  void *a, *b, *c, *old, *native;
  size_t bytes;
} product;

static void make(product *p, hard_family family, uint64_t seed) {
  hard_product *x = &p->x;
  size_t size = (hard_is_single(x->type) ? 4 : 8) * (size_t)hard_parts(x->type);
  bool plain_a = x->transa == TSR_NO_TRANS, plain_b = x->transb == TSR_NO_TRANS;
  x->lda = (plain_a ? x->m : x->k) + 5;
  x->ldb = (plain_b ? x->k : x->n) + 2;
  p->bytes = (size_t)(x->m * x->n) * size;
  x->a = p->a = malloc((size_t)(x->lda * (plain_a ? x->k : x->m)) * size);
  x->b = p->b = malloc((size_t)(x->ldb * (plain_b ? x->n : x->k)) * size);
  x->c = p->c = malloc(p->bytes);
  x->old = p->old = malloc(p->bytes);
  p->native = malloc(p->bytes);
  assert_true(p->a && p->b && p->c && p->old && p->native);
  hard_fill(family, x->type, false, x->transa, x->m, x->k, x->lda, seed, p->a);
  hard_fill(family, x->type, true, x->transb, x->n, x->k, x->ldb, seed, p->b);
  hard_fill(HARD_UNIFORM, x->type, true, TSR_NO_TRANS, x->n, x->m, x->m, seed + 9, p->old);
  memcpy(p->c, p->old, p->bytes);
  memcpy(p->native, p->old, p->bytes);
}

static void drop(product *p) {
  free(p->a), free(p->b), free(p->c), free(p->old), free(p->native);
}

static tsr_status multiply(tsr_context *context, const hard_product *x, void *c) {
  const double alpha[2] = {x->alpha, 0}, beta[2] = {x->beta, 0};
  const float single_alpha[2] = {(float)x->alpha, 0}, single_beta[2] = {(float)x->beta, 0};
  bool single = hard_is_single(x->type);
  return tsr_gemm(context, x->type, TSR_COL_MAJOR, x->transa, x->transb, x->m, x->n, x->k,
                  single ? (const void *)single_alpha : alpha, x->a, x->lda, x->b, x->ldb,
                  single ? (const void *)single_beta : beta, c, x->m);
}

/* Elements that are infinite or no numbers are so natively, too. */
static void check_kinds(const product *p) {
  assert_int_equal(hard_misplaced(p->x.type, p->x.m * p->x.n, p->c, p->native), 0);
}

/* The promise holds on every family of data, by any number of devices. */
static void the_promise_holds_on_hard_data(void **state) {
  (void)state;
  needs_residues();
  const char *const devices[] = {"1", "2", "3"};
  const tsr_type types[] = {TSR_D, TSR_S, TSR_Z, TSR_C};
  tsr_context *native = context_of("native", "1", 0);
  for (int d = 0; d < tried(3); d++) {
    tsr_context *context = context_of("emulated", devices[d], 0);
    for (int family = 0; family < HARD_FAMILIES; family++)
      for (int variant = 0; variant < 8; variant++) {
        tsr_op turned = variant & 4 ? TSR_CONJ_TRANS : TSR_TRANS;
        product p = {.x = {.type = types[variant / 2],
                           .transa = variant & 2 ? TSR_CONJ_TRANS : TSR_NO_TRANS,
                           .transb = variant & 1 ? turned : TSR_NO_TRANS,
                           .m = 40,
                           .n = 50,
                           .k = 60,
                           .alpha = variant & 2 ? -0.5 : 1,
                           .beta = variant & 1 ? 0.75 : 0}};
        make(&p, (hard_family)family, (uint64_t)(10 * d + variant));
        assert_ok(multiply(context, &p.x, p.c));
        assert_true(front_last_says(context, "emulated with"));
        assert_ok(multiply(native, &p.x, p.native));
        double worst = hard_worst(&p.x);
        if (worst > 1 && family != HARD_INFINITE && family != HARD_NAN)
          fail_msg("%s: error %g of the bound", hard_names[family], worst);
        check_kinds(&p);
        drop(&p);
      }
    tsr_context_destroy(context);
  }
  tsr_context_destroy(native);
}

static product usual_product(int64_t m, int64_t n, int64_t k) {
  return (product){.x = {.type = TSR_D,
                         .transa = TSR_NO_TRANS,
                         .transb = TSR_NO_TRANS,
                         .m = m,
                         .n = n,
                         .k = k,
                         .alpha = 1.25,
                         .beta = -1}};
}

/* The bits do not depend on how many devices compute. */
static void bits_do_not_depend_on_devices(void **state) {
  (void)state;
  needs_residues();
  const char *const devices[] = {"1", "2", "4", "8"};
  product p = usual_product(160, 230, 120);
  make(&p, HARD_UNIFORM, 5);
  for (int d = 0; d < tried(4); d++) {
    tsr_context *context = context_of("emulated", devices[d], 0);
    void *to = d == 0 ? p.native : p.c;
    memcpy(to, p.old, p.bytes);
    assert_ok(multiply(context, &p.x, to));
    assert_true(front_last_says(context, "emulated with 14 moduli."));
    if (d > 0) assert_memory_equal(p.native, p.c, p.bytes);
    tsr_context_destroy(context);
  }
  drop(&p);
}

static tsr_context *reproducible_context(const char *arithmetic, const char *devices,
                                         size_t memory) {
  setenv("TESSERA_REPRODUCIBLE", "1", 1);
  tsr_context *context = context_of(arithmetic, devices, memory);
  unsetenv("TESSERA_REPRODUCIBLE");
  return context;
}

/* Multiplies into *to, which holds the old C first; *plan: how. */
static void multiply_anew(tsr_context *context, const product *p, void *to, tsr_plan **plan) {
  memcpy(to, p->old, p->bytes);
  assert_ok(multiply(context, &p->x, to));
  assert_ok(tsr_plan_last(context, plan));
}

/* Checks that the product has the same bits, and leaves as many parts to native ones, on any number
 * of devices and with any budget that suffices. *refused: how many these are. */
static void check_reproducible(const product *p, int *refused) {
  static const char *const devices[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
  const size_t budgets[] = {0, 3000000, 2300000}; /* with the last, tiles share memory */
  for (int d = 0; d < tried(8); d++)
    for (int b = 0; b < (d % 3 == 0 ? 3 : 1); b++) {
      tsr_context *context = reproducible_context("emulated", devices[d], budgets[b]);
      bool first = d == 0 && b == 0;
      tsr_plan *plan;
      multiply_anew(context, p, first ? p->native : p->c, &plan);
      assert_true(tsr_call_has_form(&plan->call));
      if (first) *refused = tsr_plan_object_of(plan)->refused;
      assert_int_equal(tsr_plan_object_of(plan)->refused, *refused);
      if (!first) assert_memory_equal(p->native, p->c, p->bytes);
      tsr_plan_destroy(plan);
      tsr_context_destroy(context);
    }
}

/* Results that must be reproducible are so when they are emulated: where all of C is, by quantiles
 * or by overlaps, where none of it can be, and where parts of it are left to native products. */
static void reproducible_bits_are_the_same_everywhere(void **state) {
  (void)state;
  needs_residues();
  static const hard_family families[] = {HARD_UNIFORM, HARD_HILBERT, HARD_GRADED, HARD_UNIFORM};
  static const int expected[] = {0, 0, 9, 3}; /* there are three rows and columns of tiles of 128 */
  for (int i = 0; i < 4; i++)
    for (int t = 0; t < 2; t++) {
      int refused;
      product p = usual_product(300, 280, 150);
      p.x.type = t == 0 ? TSR_D : TSR_C;
      p.x.transa = t == 0 ? TSR_NO_TRANS : TSR_CONJ_TRANS;
      make(&p, families[i], 20 + (uint64_t)i);
      if (i == 3) hard_write(p.x.type, p.a, 290 * (t == 0 ? 1 : 2 * p.x.lda), INFINITY);
      check_reproducible(&p, &refused);
      assert_int_equal(refused, expected[i]);
      if (i < 3) assert_true(hard_worst(&p.x) <= 1);
      drop(&p);
    }
}

/* Which way is faster depends on the devices, so auto is native. A budget that is too small is an
 * error, since native products have other bits. */
static void reproducible_results_do_not_depend_on_rates_or_budgets(void **state) {
  (void)state;
  needs_residues();
  product p = usual_product(400, 410, 900);
  make(&p, HARD_UNIFORM, 27);
  tsr_context *context = reproducible_context("auto", "1", 0);
  assert_ok(multiply(context, &p.x, p.c));
  assert_false(front_last_says(context, "emulated with"));
  assert_true(front_last_says(context, "always where results are reproducible"));
  tsr_context_destroy(context);
  context = reproducible_context("emulated", "1", 3000000);
  assert_refused(multiply(context, &p.x, p.c), TSR_ERR_MEMORY, "give at least");
  tsr_context_destroy(context);
  drop(&p);
}

/* One element that is not finite costs a part of C, which is done natively; the verdict counts it.
 */
static void refused_parts_are_done_natively(void **state) {
  (void)state;
  needs_residues();
  product p = usual_product(200, 100, 60);
  make(&p, HARD_UNIFORM, 6);
  ((double *)p.a)[17] = INFINITY;
  tsr_context *context = context_of("emulated", front_is_emulated() ? "2" : "1", 0),
              *native = context_of("native", "1", 0);
  assert_ok(multiply(context, &p.x, p.c));
  assert_true(front_last_says(context, "computed natively"));
  assert_ok(multiply(native, &p.x, p.native));
  assert_false(front_last_says(native, "emulated with"));
  check_kinds(&p);
  assert_true(isinf(((double *)p.c)[17]) && isfinite(((double *)p.c)[18]));
  tsr_context_destroy(context);
  tsr_context_destroy(native);
  drop(&p);
}

/* Plans that the user made do the same, row-major ones, too. */
static void plans_of_users_are_emulated(void **state) {
  (void)state;
  enum { N = 60 };
  tsr_context *context = context_of("emulated", front_is_emulated() ? "2" : "1", 0);
  const tsr_home homes[3] = {{TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}};
  double alpha = 1, beta = 0;
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_gemm(context, TSR_D, TSR_ROW_MAJOR, TSR_TRANS, TSR_TRANS, N, N, N, &alpha, N,
                          N, &beta, N, homes, &plan));
  front_reference(N, 1, a, b, 0, expected);
  for (int broken = 0; broken < 2; broken++) {
    /* a and b are their own transposes in row-major order; so is c. */
    if (broken) a[5 + 7 * N] = NAN;
    assert_ok(tsr_plan_execute(plan, &alpha, a, b, &beta, c));
    for (int j = 0; j < N; j++)
      for (int i = 0; i < N; i++) {
        double is = c[i * N + j];
        assert_true(broken && i == 5 ? isnan(is) : is == expected[i + j * N]);
      }
  }
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(expected);
}

/* d = a b, then c = c + d a, of N x N matrices with leading dimension N. The second call needs what
 * the first has left on the devices. */
static void multiply_twice(tsr_context *context, int64_t n, const double *a, const double *b,
                           double *d, double *c) {
  double one = 1, zero = 0;
  assert_ok(tsr_gemm_async(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, &one,
                           a, n, b, n, &zero, d, n));
  assert_ok(tsr_gemm_async(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, &one,
                           d, n, a, n, &one, c, n));
  assert_ok(tsr_coherent(context, TSR_GENERAL, n, n, c, n, TSR_D));
  assert_ok(tsr_coherent(context, TSR_GENERAL, n, n, d, n, TSR_D));
  assert_ok(tsr_sync(context));
}

/* Rows with two elements, of which one is so small beside the other that their products with a
 * column cannot be promised where that has a 0 for the greater one. All sums are exact. */
static void fill_refused(int64_t n, double *a) {
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) a[i + j * n] = i == j ? 1024 : i + 1 == j ? 1 : 0;
}

/* Asynchronous calls are emulated. Products that are refused are native, and a dependent call finds
 * their results: of integers, which come out exact in both ways, without products that are refused
 * and with them. */
static void asynchronous_calls_are_emulated(void **state) {
  (void)state;
  needs_residues();
  enum { N = 150 };
  for (int refused = 0; refused < 2; refused++) {
    double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2);
    double *c = front_matrix(N * N, 3), *d = front_matrix(N * N, 4);
    double *native_c = front_matrix(N * N, 3), *native_d = front_matrix(N * N, 4);
    if (refused) fill_refused(N, a);
    for (int devices = 1; devices <= tried(3); devices++) {
      char text[2] = {(char)('0' + devices), '\0'};
      tsr_context *context = context_of("emulated", text, 0),
                  *native = context_of("native", "1", 0);
      multiply_twice(context, N, a, b, d, c);
      multiply_twice(native, N, a, b, native_d, native_c);
      tsr_plan *plan = NULL;
      assert_ok(tsr_gemm_async(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N,
                               (const double[]){1}, a, N, b, N, (const double[]){0}, d, N));
      assert_ok(tsr_sync(context));
      assert_ok(tsr_plan_last(context, &plan));
      tsr_plan_destroy(plan);
      assert_true(front_last_says(context, "emulated with 14 moduli"));
      assert_int_equal(front_last_says(context, "computed natively"), refused);
      assert_memory_equal(d, native_d, N * N * sizeof(double));
      assert_memory_equal(c, native_c, N * N * sizeof(double));
      tsr_context_destroy(context);
      tsr_context_destroy(native);
      memcpy(c, native_c, N * N * sizeof(double)); /* both go on from the same C */
    }
    free(a), free(b), free(c), free(d), free(native_c), free(native_d);
  }
}

/* A call that leaves its operands on devices is done natively where its residues do not fit beside
 * them. */
static void residues_do_not_fit_beside(void **state) {
  (void)state;
  needs_residues();
  const size_t budgets[] = {5000000, 1500000};
  product p = usual_product(220, 210, 200);
  make(&p, HARD_UNIFORM, 14);
  for (int i = 0; i < 2; i++) {
    tsr_context *context = context_of("emulated", "1", budgets[i]);
    memcpy(p.c, p.old, p.bytes);
    assert_ok(tsr_gemm_async(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, p.x.m,
                             p.x.n, p.x.k, &p.x.alpha, p.a, p.x.lda, p.b, p.x.ldb, &p.x.beta, p.c,
                             p.x.m));
    assert_ok(tsr_sync(context));
    assert_int_equal(front_last_says(context, "emulated with 14 moduli"), i == 0);
    assert_int_equal(front_last_says(context, "do not fit beside"), i == 1);
    assert_ok(tsr_coherent(context, TSR_GENERAL, p.x.m, p.x.n, p.c, p.x.m, TSR_D));
    assert_true(hard_worst(&p.x) <= 1);
    tsr_context_destroy(context);
  }
  drop(&p);
}

/* What is not emulated is computed natively, without an error. */
static void other_calls_are_native(void **state) {
  (void)state;
  enum { N = 50 };
  tsr_context *context = context_of("emulated", front_is_emulated() ? "2" : "1", 0);
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *old = front_matrix(N * N, 3), zero = 0, two = 2;
  assert_ok(tsr_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N, &zero, a,
                     N, b, N, &two, c, N));
  assert_false(front_last_says(context, "emulated with"));
  for (int i = 0; i < N * N; i++) assert_true(c[i] == 2 * old[i]);
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(old);
}

/* Where residues do not fit the budget together, they are dropped and made again, and the bits stay
 * the same: budgets of all residues, of some, and of little more than one part of C with its lines.
 */
static void bits_do_not_depend_on_budgets(void **state) {
  (void)state;
  needs_residues();
  const size_t budgets[] = {0, 400000, 120000, 60000};
  const tsr_type types[] = {TSR_D, TSR_S, TSR_Z, TSR_C};
  for (int variant = 0; variant < 8; variant++) {
    product p = usual_product(130, 120, 110);
    p.x.type = types[variant % 4];
    p.x.transa = variant & 1 ? TSR_TRANS : TSR_NO_TRANS;
    p.x.transb = variant & 4 ? TSR_CONJ_TRANS : TSR_NO_TRANS;
    make(&p, HARD_UNIFORM, 9 + (unsigned)variant);
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
      tsr_context *context =
          context_of("emulated", tried(2) > 1 && variant & 2 ? "2" : "1", budgets[i]);
      void *to = i == 0 ? p.native : p.c;
      memcpy(to, p.old, p.bytes);
      assert_ok(multiply(context, &p.x, to));
      assert_true(front_last_says(context, "emulated with"));
      if (i > 0) assert_memory_equal(p.native, p.c, p.bytes);
      tsr_context_destroy(context);
    }
    assert_true(hard_worst(&p.x) <= 1);
    drop(&p);
  }
}

/* Parts of C that are refused are done natively within the budget, too. */
static void refused_parts_fit_the_budget(void **state) {
  (void)state;
  needs_residues();
  product p = usual_product(220, 210, 200);
  make(&p, HARD_UNIFORM, 11);
  ((double *)p.a)[30] = NAN;
  tsr_context *context = context_of("emulated", "1", 400000),
              *native = context_of("native", "1", 0);
  assert_ok(multiply(context, &p.x, p.c));
  assert_true(front_last_says(context, "computed natively"));
  assert_ok(multiply(native, &p.x, p.native));
  check_kinds(&p);
  tsr_context_destroy(context);
  tsr_context_destroy(native);
  drop(&p);
}

/* A budget that does not hold three lines of residues leads to a native plan, in blocks. */
static void the_least_budgets_lead_to_native_plans(void **state) {
  (void)state;
  product p = usual_product(30, 20, 3000);
  make(&p, HARD_UNIFORM, 9);
  tsr_context *context = context_of("emulated", "1", 100000);
  assert_ok(multiply(context, &p.x, p.c));
  assert_false(front_last_says(context, "emulated with"));
  if (tsr_engine_find(front_engine())->traits.forms)
    assert_true(front_last_says(context, "not emulated: their residues need a budget of"));
  assert_true(hard_worst(&p.x) <= 1);
  tsr_context_destroy(context);
  drop(&p);
}

static void moduli_are_as_asked(void **state) {
  (void)state;
  needs_residues();
  product p = usual_product(40, 30, 80);
  make(&p, HARD_UNIFORM, 10);
  tsr_context *context = context_of("emulated:16", "1", 0);
  assert_ok(multiply(context, &p.x, p.c));
  assert_true(front_last_says(context, "emulated with 16 moduli"));
  assert_true(hard_worst(&p.x) <= 1);
  tsr_context_destroy(context);
  context = context_of("emulated:8", "1", 0);
  memcpy(p.c, p.old, p.bytes);
  assert_ok(multiply(context, &p.x, p.c));
  double worst = hard_worst(&p.x);
  assert_true(worst > 1 && worst < 1e8); /* six moduli less: up to 16^6 times the error */
  tsr_context_destroy(context);
  drop(&p);
}

/* An accuracy is reached with as few moduli as it needs, and nothing of usual data is refused. */
static void accuracies_are_as_asked(void **state) {
  (void)state;
  needs_residues();
  static const struct {
    const char *text;
    double accuracy;
  } asked[] = {{"emulated:1e-3", 1e-3},
               {"emulated:1e-6", 1e-6},
               {"emulated:1e-10", 1e-10},
               {"emulated:1e-15", 1e-15}};
  const int64_t ks[] = {50, 300, 3000};
  for (size_t s = 0; s < sizeof ks / sizeof *ks; s++) {
    product p = usual_product(24, 20, ks[s]);
    make(&p, HARD_UNIFORM, 17 + (unsigned)s);
    int before = 0;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
      char says[64];
      int moduli = tsr_moduli_for(p.x.type, asked[i].accuracy, ks[s]);
      snprintf(says, sizeof says, "emulated with %d moduli", moduli);
      tsr_context *context = context_of(asked[i].text, "1", 0);
      memcpy(p.c, p.old, p.bytes);
      assert_ok(multiply(context, &p.x, p.c));
      assert_true(front_last_says(context, says) && !front_last_says(context, "computed natively"));
      double bound = ((double)ks[s] + 2) * 0x1p-53;
      assert_true(hard_worst(&p.x) * bound <= fmax(asked[i].accuracy, bound));
      assert_true(moduli > before && moduli <= tsr_moduli_of_type(p.x.type));
      before = moduli;
      tsr_context_destroy(context);
    }
    drop(&p);
  }
}

static void settings_are_checked(void **state) {
  (void)state;
  const char *const wrong[] = {"fast",         "emulated:",      "emulated:3",     "emulated:17",
                               "emulated 14",  "emulated:1e1",   "emulated:-1e-5", "emulated:1",
                               "emulated:0.0", "emulated:1e-5x", "auto:",          "auto:12",
                               "auto:1",       "auto:0",         "auto:1e-5x",     "automatic",
                               "native:1e-5"};
  tsr_options options = front_options();
  tsr_context *context = NULL;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    setenv("TESSERA_ARITHMETIC", wrong[i], 1);
    assert_refused(tsr_context_create(&options, &context), TSR_ERR_ARGUMENT,
                   "TESSERA_ARITHMETIC is");
    unsetenv("TESSERA_ARITHMETIC");
    options.arithmetic = wrong[i];
    assert_refused(tsr_context_create(&options, &context), TSR_ERR_ARGUMENT, "arithmetic is");
    options.arithmetic = NULL;
  }
}

/* It may change between two calls; what is refused changes nothing. */
static void arithmetics_can_be_exchanged(void **state) {
  (void)state;
  needs_residues();
  product p = usual_product(30, 40, 50);
  make(&p, HARD_UNIFORM, 13);
  tsr_context *context = context_of("native", "1", 0);
  const char *const words[] = {"emulated", "native", "emulated:16", "emulated"};
  for (int i = 0; i < 4; i++) {
    assert_ok(tsr_set_arithmetic(context, words[i]));
    assert_refused(tsr_set_arithmetic(context, "best"), TSR_ERR_ARGUMENT, "arithmetic is");
    assert_ok(multiply(context, &p.x, p.c));
    assert_int_equal(front_last_says(context, "emulated with"), i != 1);
    assert_int_equal(front_last_says(context, "with 16 moduli"), i == 2);
  }
  assert_ok(tsr_set_arithmetic(context, NULL));
  assert_ok(multiply(context, &p.x, p.c));
  assert_false(front_last_says(context, "emulated with"));
  tsr_context_destroy(context);
  drop(&p);
}

/* The product as data, in the arithmetic given (NULL: its context's). */
static tsr_level3 described_by(const hard_product *x, const char *arithmetic) {
  return (tsr_level3){.operation = TSR_GEMM,
                      .type = x->type,
                      .layout = TSR_COL_MAJOR,
                      .transa = x->transa,
                      .transb = x->transb,
                      .m = x->m,
                      .n = x->n,
                      .k = x->k,
                      .lda = x->lda,
                      .ldb = x->ldb,
                      .ldc = x->m,
                      .arithmetic = arithmetic};
}

/* A call's own arithmetic goes before its context's, blocking and asynchronous, and is nobody
 * else's; NULL takes the context's. The text may be gone when the call is under way. */
static void calls_have_arithmetics_of_their_own(void **state) {
  (void)state;
  needs_residues();
  product p = usual_product(30, 40, 50);
  make(&p, HARD_UNIFORM, 15);
  tsr_context *context = context_of("emulated:15", "1", 0);
  const char *const words[] = {"native", "emulated:16", NULL, "emulated", "emulated:1e-6"};
  const int moduli[] = {0, 16, 15, 14, tsr_moduli_for(TSR_D, 1e-6, p.x.k)};
  for (int i = 0; i < 10; i++) {
    char text[32] = "", says[64];
    if (words[i / 2] != NULL) snprintf(text, sizeof text, "%s", words[i / 2]);
    tsr_level3 what = described_by(&p.x, words[i / 2] != NULL ? text : NULL);
    tsr_status (*run)(tsr_context *, const tsr_level3 *, const void *, const void *, const void *,
                      const void *, void *) = i % 2 ? tsr_level3_run_async : tsr_level3_run;
    memcpy(p.c, p.old, p.bytes);
    assert_ok(run(context, &what, &p.x.alpha, p.a, p.b, &p.x.beta, p.c));
    memset(text, 'x', sizeof text);
    if (i % 2) assert_ok(tsr_coherent(context, TSR_GENERAL, p.x.m, p.x.n, p.c, p.x.m, TSR_D));
    assert_ok(tsr_release(context, 0, 0, NULL, 1, TSR_D));
    assert_ok(tsr_sync(context));
    snprintf(says, sizeof says, "emulated with %d moduli", moduli[i / 2]);
    if (i % 2 == 0) assert_int_equal(front_last_says(context, says), moduli[i / 2] > 0);
    if (i % 2 == 0) assert_int_equal(front_last_says(context, "emulated with"), moduli[i / 2] > 0);
    if (i % 2) assert_memory_equal(p.native, p.c, p.bytes);
    memcpy(p.native, p.c, p.bytes);
  }
  tsr_level3 wrong = described_by(&p.x, "fast");
  memcpy(p.c, p.old, p.bytes);
  assert_refused(tsr_level3_run(context, &wrong, &p.x.alpha, p.a, p.b, &p.x.beta, p.c),
                 TSR_ERR_ARGUMENT, "arithmetic is \"fast\"");
  assert_memory_equal(p.c, p.old, p.bytes);
  tsr_context_destroy(context);
  drop(&p);
}

/* Plans and captures keep the arithmetic of their calls, whatever is set later. */
static void plans_and_captures_keep_their_arithmetics(void **state) {
  (void)state;
  needs_residues();
  product p = usual_product(30, 40, 50);
  make(&p, HARD_UNIFORM, 16);
  tsr_context *context = context_of("native", "1", 0);
  const tsr_home homes[3] = {{TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}};
  tsr_level3 eight = described_by(&p.x, "emulated:8"), usual = described_by(&p.x, NULL);
  tsr_plan *plan = NULL;
  tsr_capture *capture = NULL;
  assert_ok(tsr_plan_level3(context, &eight, &p.x.alpha, &p.x.beta, homes, &plan));
  assert_true(front_verdict_says(plan, "emulated with 8 moduli"));
  assert_ok(tsr_capture_begin(context));
  assert_ok(tsr_level3_run_async(context, &eight, &p.x.alpha, p.a, p.b, &p.x.beta, p.c));
  assert_ok(tsr_level3_run_async(context, &usual, &p.x.alpha, p.a, p.b, &p.x.beta, p.c));
  assert_ok(tsr_coherent_async(context, TSR_GENERAL, p.x.m, p.x.n, p.c, p.x.m, TSR_D));
  assert_ok(tsr_sync(context));
  assert_ok(tsr_capture_end(context, &capture));
  memcpy(p.native, p.c, p.bytes);
  assert_ok(tsr_set_arithmetic(context, "emulated:16"));
  memcpy(p.c, p.old, p.bytes);
  assert_ok(tsr_capture_run_async(capture));
  assert_ok(tsr_sync(context));
  assert_memory_equal(p.c, p.native, p.bytes);
  memcpy(p.c, p.old, p.bytes);
  assert_ok(tsr_plan_execute(plan, &p.x.alpha, p.a, p.b, &p.x.beta, p.c));
  assert_true(hard_worst(&p.x) > 1); /* eight moduli are less accurate than native products */
  tsr_capture_destroy(capture);
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  drop(&p);
}

/* An option goes before the setting, and the setting counts without one. */
static void options_go_before_settings(void **state) {
  (void)state;
  needs_residues();
  const char *const option[] = {NULL, "native"};
  product p = usual_product(30, 30, 70);
  make(&p, HARD_UNIFORM, 12);
  for (int i = 0; i < 2; i++) {
    setenv("TESSERA_ARITHMETIC", "emulated:15", 1);
    tsr_context *context = context_of(option[i], "1", 0);
    unsetenv("TESSERA_ARITHMETIC");
    assert_ok(multiply(context, &p.x, p.c));
    assert_int_equal(front_last_says(context, "emulated with 15 moduli"), i == 0);
    tsr_context_destroy(context);
  }
  drop(&p);
}

/* A context that plans for one device of h200x4. memory: its budget, bytes; 0: the usual one. */
static tsr_context *described(const char *arithmetic, size_t memory) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = "host";
  options.devices = "1";
  options.machine = "h200x4";
  options.memory = memory;
  options.arithmetic = arithmetic;
  assert_ok(tsr_context_create(&options, &context));
  return context;
}

/* The plan of a resident product of n x n matrices. */
static tsr_plan *resident_plan(const char *arithmetic, tsr_type type, int64_t n) {
  tsr_context *context = described(arithmetic, 0);
  tsr_plan *plan = NULL;
  const tsr_home homes[3] = {{TSR_DEVICE, 0}, {TSR_DEVICE, 0}, {TSR_DEVICE, 0}};
  const float one_s[2] = {1}, zero_s[2] = {0};
  const double one[2] = {1}, zero[2] = {0};
  bool single = hard_is_single(type);
  assert_ok(tsr_plan_gemm(context, type, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n,
                          single ? (const void *)one_s : one, n, n,
                          single ? (const void *)zero_s : zero, n, homes, &plan));
  tsr_context_destroy(context);
  return plan;
}

static double predicted(const char *arithmetic, tsr_type type, int64_t n) {
  tsr_prediction prediction;
  tsr_plan *plan = resident_plan(arithmetic, type, n);
  assert_ok(tsr_plan_predict(plan, &prediction));
  tsr_plan_destroy(plan);
  return prediction.seconds;
}

/* A k that is longer than a part of an extent may be cannot be one part: the plan is native. */
static void the_longest_sums_are_native(void **state) {
  (void)state;
  const tsr_home homes[3] = {{TSR_PINNED, 0}, {TSR_PINNED, 0}, {TSR_PINNED, 0}};
  const int64_t ks[] = {TSR_MODULI_LONGEST, TSR_MODULI_LONGEST + 1};
  float one = 1, zero = 0;
  front_needs_emulated_devices();
  for (int i = 0; i < 2; i++) {
    tsr_context *context = described("emulated", 0);
    tsr_plan *plan = NULL;
    assert_ok(tsr_plan_gemm(context, TSR_S, TSR_COL_MAJOR, TSR_TRANS, TSR_NO_TRANS, 2, 3, ks[i],
                            &one, ks[i], ks[i], &zero, 2, homes, &plan));
    assert_int_equal(front_verdict_says(plan, "moduli"), i == 0);
    tsr_plan_destroy(plan);
    tsr_context_destroy(context);
  }
}

/* auto takes the plan that is predicted to be faster: a native one of a small product, an emulated
 * one of a large product of fp32. */
static void the_faster_plan_is_taken(void **state) {
  (void)state;
  front_needs_emulated_devices();
  const int64_t extents[] = {96, 8192};
  for (int i = 0; i < 2; i++) {
    double native = predicted("native", TSR_S, extents[i]);
    double emulated = predicted("emulated", TSR_S, extents[i]);
    double taken = predicted("auto", TSR_S, extents[i]);
    assert_true(i == 0 ? native < emulated : emulated < native);
    assert_true(taken == fmin(native, emulated));
  }
}

/* auto with an accuracy does the same with as few moduli as the accuracy needs, which may be faster
 * where as many as native accuracy needs are not. The verdict says both ways. */
static void the_faster_plan_of_an_accuracy_is_taken(void **state) {
  (void)state;
  front_needs_emulated_devices();
  const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  const int64_t extents[] = {1536, 2048, 512, 1024}; /* native is faster than all moduli */
  for (int i = 0; i < 4; i++) {
    char says[64];
    double native = predicted("native", types[i], extents[i]);
    double exact = predicted("emulated", types[i], extents[i]);
    double rough = predicted("emulated:1e-3", types[i], extents[i]);
    assert_true(rough < native && native < exact);
    assert_true(predicted("auto", types[i], extents[i]) == native);
    tsr_plan *plan = resident_plan("auto:1e-3", types[i], extents[i]);
    assert_true(plan->seconds == rough && plan->other.seconds == native);
    assert_int_equal(plan->call.arithmetic->number, tsr_moduli_for(types[i], 1e-3, extents[i]));
    assert_true(front_verdict_says(plan, "for an accuracy of 0.001. Natively the call is"));
    tsr_plan_destroy(plan);
    plan = resident_plan("auto:1e-300", types[i], extents[i]);
    assert_true(plan->seconds == native && plan->other.seconds == exact);
    snprintf(says, sizeof says, "are native: emulated ones with %d moduli",
             tsr_moduli_of_type(types[i]));
    assert_true(front_verdict_says(plan, says));
    tsr_plan_destroy(plan);
  }
}

/* Calls with different accuracies have plans of their own, also the second time, and each keeps
 * what it promises. Native kernels of this machine are slow, so that auto emulates. */
static void accuracies_of_the_faster_way_are_kept(void **state) {
  (void)state;
  needs_residues();
  front_needs_emulated_devices();
  const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  const double accuracies[] = {1e-4, 1e-2, 0};
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.machine =
      "host:200 gpu*1@nvlink:300 pcie:25 rate:0.001,0.001 rate.c:0.001 rate.z:0.001 rate.h:400";
  options.devices = "1";
  assert_ok(tsr_context_create(&options, &context));
  for (int i = 0; i < 4; i++) {
    product p = usual_product(20, 16, 200);
    p.x.type = types[i];
    make(&p, HARD_UNIFORM, 30 + (uint64_t)i);
    for (int a = 0; a < 6; a++) {
      char arithmetic[32] = "auto", says[64];
      double accuracy = accuracies[a % 3], unit = hard_is_single(types[i]) ? 0x1p-24 : 0x1p-53;
      double bound = ((double)p.x.k + 2) * unit * (hard_parts(types[i]) == 2 ? 2.83 : 1);
      if (accuracy > 0) snprintf(arithmetic, sizeof arithmetic, "auto:%g", accuracy);
      int moduli =
          accuracy > 0 ? tsr_moduli_for(types[i], accuracy, p.x.k) : tsr_moduli_of_type(types[i]);
      assert_ok(tsr_set_arithmetic(context, arithmetic));
      memcpy(p.c, p.old, p.bytes);
      assert_ok(multiply(context, &p.x, p.c));
      snprintf(says, sizeof says, "emulated with %d moduli", moduli);
      assert_true(front_last_says(context, says));
      assert_true(hard_worst(&p.x) * bound <= fmax(accuracy, bound));
    }
    drop(&p);
  }
  tsr_context_destroy(context);
}

/* Where emulated products are predicted to be faster, too. */
static void the_faster_trsm_is_native(void **state) {
  (void)state;
  front_needs_emulated_devices();
  enum { N = 8192 };
  const char *const words[] = {"auto", "emulated"};
  for (int i = 0; i < 2; i++) {
    tsr_context *context = described(words[i], (size_t)64 << 30);
    tsr_plan *plan = NULL;
    const tsr_level3 solve = {.operation = TSR_TRSM,
                              .type = TSR_S,
                              .layout = TSR_COL_MAJOR,
                              .side = TSR_LEFT,
                              .uplo = TSR_LOWER,
                              .transa = TSR_NO_TRANS,
                              .diag = TSR_NON_UNIT,
                              .m = N,
                              .n = N,
                              .lda = N,
                              .ldc = N};
    const tsr_home homes[3] = {{TSR_PINNED, 0}, {TSR_PINNED, 0}, {TSR_PINNED, 0}};
    float one = 1;
    assert_ok(tsr_plan_level3(context, &solve, &one, &one, homes, &plan));
    assert_true(front_verdict_says(plan, "emulated with") == (i == 1));
    assert_true(front_verdict_says(plan, "native, as with \"auto\" always") == (i == 0));
    tsr_plan_destroy(plan);
    tsr_context_destroy(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_promise_holds_on_hard_data),
      cmocka_unit_test(bits_do_not_depend_on_devices),
      cmocka_unit_test(reproducible_bits_are_the_same_everywhere),
      cmocka_unit_test(reproducible_results_do_not_depend_on_rates_or_budgets),
      cmocka_unit_test(refused_parts_are_done_natively),
      cmocka_unit_test(plans_of_users_are_emulated),
      cmocka_unit_test(asynchronous_calls_are_emulated),
      cmocka_unit_test(residues_do_not_fit_beside),
      cmocka_unit_test(other_calls_are_native),
      cmocka_unit_test(bits_do_not_depend_on_budgets),
      cmocka_unit_test(refused_parts_fit_the_budget),
      cmocka_unit_test(the_least_budgets_lead_to_native_plans),
      cmocka_unit_test(moduli_are_as_asked),
      cmocka_unit_test(accuracies_are_as_asked),
      cmocka_unit_test(settings_are_checked),
      cmocka_unit_test(arithmetics_can_be_exchanged),
      cmocka_unit_test(calls_have_arithmetics_of_their_own),
      cmocka_unit_test(plans_and_captures_keep_their_arithmetics),
      cmocka_unit_test(options_go_before_settings),
      cmocka_unit_test(the_longest_sums_are_native),
      cmocka_unit_test(the_faster_plan_is_taken),
      cmocka_unit_test(the_faster_plan_of_an_accuracy_is_taken),
      cmocka_unit_test(accuracies_of_the_faster_way_are_kept),
      cmocka_unit_test(the_faster_trsm_is_native),
  };
  cmocka_set_test_filter(getenv("TSR_TEST_ONLY")); /* a pattern of names; none: all */
  return cmocka_run_group_tests(tests, clear, NULL);
}
