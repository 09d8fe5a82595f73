/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Products in residues: the arithmetic, its bound on hard data, and what does not depend on cuts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arithmetic/arithmetic.h"
#include "arithmetic/judgement.h"
#include "arithmetic/moduli.h"
#include "cpu/blas.h"
#include "hard_data.h"

/* ---- The arithmetic ------------------------------------------------------------ */

static void recovers(const tsr_moduli *m, int64_t high, int64_t low) {
  tsr_recovery r = tsr_recovery_start();
  for (int l = 0; l < m->count; l++) {
    int32_t p = m->modulus[l];
    int64_t sum = tsr_residue(high, p) * (int64_t)tsr_residue(INT64_C(1) << 31, p);
    tsr_recovery_add(&r, m, l, tsr_residue(tsr_residue(sum, p) + low, p));
  }
  tsr_pair pair = tsr_recovery_end(&r, m);
  quad error = (quad)pair.high + pair.low - ((quad)high * 0x1p31 + low);
  if (error != 0)
    fail_msg("%d moduli, %lld 2^31 + %lld: %g %g", m->count, (long long)high, (long long)low,
             pair.high, pair.low);
}

/* Integers from -P/2 to P/2 come back from their residues, whole. */
static void residues_give_integers_back(void **state) {
  (void)state;
  uint64_t random = 7;
  for (int count = TSR_MODULI_LEAST; count <= TSR_MODULI_MOST; count++) {
    tsr_moduli m;
    tsr_moduli_fill(count, &m);
    double most = fmin(m.root * m.root * 0x1p-31, 0x1p62);
    for (int i = 0; i < 200; i++) {
      int64_t high = most > 2 ? (int64_t)(2 * hard_uniform(&random) * (most - 2)) : 0;
      recovers(&m, high, (int64_t)(hard_next(&random) % 1000));
    }
    for (int64_t i = -300; i < 300; i++) recovers(&m, 0, i);
  }
}

static void moduli_are_coprime(void **state) {
  (void)state;
  tsr_moduli m;
  tsr_moduli_fill(TSR_MODULI_MOST, &m);
  for (int i = 0; i < m.count; i++)
    for (int j = 0; j < i; j++) {
      int32_t a = m.modulus[i], b = m.modulus[j];
      while (b != 0) {
        int32_t rest = a % b;
        a = b;
        b = rest;
      }
      assert_int_equal(a, 1);
    }
}

/* The moduli of a type have a product of 2 / u^2 or more, and one less has not. */
static void types_have_enough_moduli(void **state) {
  (void)state;
  const struct {
    tsr_type type;
    double u;
  } cases[] = {{TSR_S, 0x1p-24}, {TSR_D, 0x1p-53}};
  for (int i = 0; i < 2; i++) {
    tsr_moduli m;
    int count = tsr_moduli_of_type(cases[i].type);
    tsr_moduli_fill(count, &m);
    assert_true(m.root * m.root * (1 + 0x1p-19) >= 1 / (cases[i].u * cases[i].u));
    tsr_moduli_fill(count - 1, &m);
    assert_true(m.root * m.root < 1 / (cases[i].u * cases[i].u));
  }
  assert_int_equal(tsr_moduli_of_type(TSR_H), 0);
}

/* ---- Products ------------------------------------------------------------------ */

typedef struct product {
  hard_product x;
  tsr_line *rows;
  void *a, *b, *old, *c, *ra, *rb;
  int moduli;
  bool keeps, by_quantiles;
  tsr_uplo uplo;
  bool hermitian;
  bool refused;
} product;

static void *room(size_t bytes) {
  void *made = malloc(bytes + 64);
  assert_non_null(made);
  return made;
}

static void make(product *p, hard_family family, uint64_t seed) {
  hard_product *x = &p->x;
  size_t size = tsr_type_get(x->type)->size;
  bool plain_a = x->transa == TSR_NO_TRANS, plain_b = x->transb == TSR_NO_TRANS;
  x->lda = (plain_a ? x->m : x->k) + 3;
  x->ldb = (plain_b ? x->k : x->n) + 1;
  x->a = p->a = room((size_t)(x->lda * (plain_a ? x->k : x->m)) * size);
  x->b = p->b = room((size_t)(x->ldb * (plain_b ? x->n : x->k)) * size);
  x->c = p->c = room((size_t)(x->m * x->n) * size);
  x->old = p->old = room((size_t)(x->m * x->n) * size);
  hard_fill(family, x->type, false, x->transa, x->m, x->k, x->lda, seed, p->a);
  hard_fill(family, x->type, true, x->transb, x->n, x->k, x->ldb, seed, p->b);
  hard_fill(HARD_UNIFORM, x->type, true, TSR_NO_TRANS, x->n, x->m, x->m, seed + 9, p->old);
  memcpy(p->c, p->old, (size_t)(x->m * x->n) * size);
  p->ra = room(tsr_form_bytes(tsr_residues_of(p->moduli), &(tsr_promise){.keeps_lines = p->keeps},
                              x->type, x->k, x->m));
  p->rb = room(tsr_form_bytes(tsr_residues_of(p->moduli), &(tsr_promise){.keeps_lines = p->keeps},
                              x->type, x->k, x->n));
}

static void drop(product *p) {
  void *all[] = {p->a, p->b, p->old, p->c, p->ra, p->rb};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Makes the residues of `lines` lines from `first` on. */
static void convert(const product *p, bool second, int64_t first, int64_t lines) {
  const hard_product *x = &p->x;
  tsr_op op = second ? x->transb : x->transa;
  bool down = (op == TSR_NO_TRANS) == second;
  int64_t ld = second ? x->ldb : x->lda, size = (int64_t)tsr_type_get(x->type)->size;
  tsr_kernel_args args = {
      .kernel = TSR_KERNEL_RESIDUES,
      .type = x->type,
      .transa = down ? TSR_NO_TRANS : TSR_TRANS,
      .transb = op == TSR_CONJ_TRANS ? op : TSR_NO_TRANS,
      .m = x->k,
      .n = lines,
      .alpha = {1, 0},
      .a = (const char *)(second ? x->b : x->a) + first * size * (down ? ld : 1),
      .lda = ld,
      .c = second ? p->rb : p->ra,
      .ldc = tsr_residues_ld(x->k)};
  args.lines.arithmetic = tsr_residues_of(p->moduli);
  args.lines.keeps_lines = p->keeps;
  args.lines.of[2] = (tsr_lines_range){first, second ? x->n : x->m};
  assert_int_equal(tsr_cpu_kernel(&args), TSR_OK);
}

/* Multiplies a part of C. */
static bool multiply(const product *p, int64_t row, int64_t rows, int64_t col, int64_t cols) {
  const hard_product *x = &p->x;
  int64_t size = (int64_t)tsr_type_get(x->type)->size;
  int32_t verdict = 0;
  tsr_kernel_args args = {.kernel = TSR_KERNEL_RESIDUE_GEMM,
                          .type = x->type,
                          .transa = TSR_TRANS,
                          .transb = TSR_NO_TRANS,
                          .uplo = p->uplo,
                          .diag = p->hermitian ? TSR_UNIT : TSR_NON_UNIT,
                          .m = rows,
                          .n = cols,
                          .k = x->k,
                          .alpha = {x->alpha, 0},
                          .beta = {x->beta, 0},
                          .a = p->ra,
                          .b = p->rb,
                          .c = (char *)p->c + (row + col * x->m) * size,
                          .lda = tsr_residues_ld(x->k),
                          .ldb = tsr_residues_ld(x->k),
                          .ldc = x->m};
  args.lines = (tsr_lines_args){.arithmetic = tsr_residues_of(p->moduli),
                                .keeps_lines = p->keeps,
                                .tolerance = tsr_moduli_tolerance(x->type, p->moduli, x->k),
                                .overlaps = !p->by_quantiles,
                                .of = {{row, x->m}, {col, x->n}, {0, 0}}};
  args.verdict = &verdict;
  assert_int_equal(tsr_cpu_kernel(&args), TSR_OK);
  return verdict != 0;
}

static void run(product *p, hard_family family, uint64_t seed) {
  make(p, family, seed);
  convert(p, false, 0, p->x.m);
  convert(p, true, 0, p->x.n);
  p->refused = multiply(p, 0, p->x.m, 0, p->x.n);
}

static void check_untouched(const product *p) {
  size_t bytes = (size_t)(p->x.m * p->x.n) * tsr_type_get(p->x.type)->size;
  if (p->x.beta != 0) assert_memory_equal(p->c, p->old, bytes);
}

/* The sums that results are compared with are those of quadruple precision, to 2^-80 of the sum of
 * magnitudes: also of numbers whose products a double does not hold, and where these are few among
 * others. */
static void sums_are_as_in_quadruple_precision(void **state) {
  (void)state;
  int wide = 0;
  for (int family = 0; family < HARD_FAMILIES; family++)
    for (int variant = 0; variant < 40; variant++) {
      uint64_t random = (uint64_t)variant;
      hard_sum sum = {0};
      quad expected = 0, size = 0;
      for (int64_t h = 0; h < 90; h++) {
        tsr_type type = variant % 2 ? TSR_S : TSR_D;
        hard_family of = h % 10 > 0 && variant % 4 > 1 ? HARD_UNIFORM : (hard_family)family;
        double x = hard_element(of, type, false, variant, h, 90, &random);
        double y = hard_element(of, type, true, variant, h, 90, &random);
        hard_add(&sum, x, y);
        expected += (quad)x * (quad)y;
        size += hard_abs((quad)x * (quad)y);
      }
      wide += sum.wide;
      if (expected - expected != 0)
        assert_true(hard_total(&sum) - hard_total(&sum) != 0);
      else
        assert_true(hard_abs(hard_total(&sum) - expected) <= size * (quad)0x1p-80);
    }
  assert_true(wide > 40 && wide < 40 * HARD_FAMILIES / 2);
}

/* Where the accuracy is promised, it is kept; where it is not, C is as it was. */
static void the_bound_holds_on_hard_data(void **state) {
  (void)state;
  const int64_t ks[] = {2, 37, 200, 700};
  const tsr_type types[] = {TSR_D, TSR_S, TSR_Z, TSR_C};
  for (int family = 0; family < HARD_FAMILIES; family++)
    for (int variant = 0; variant < 32; variant++) {
      tsr_op turned = variant & 8 ? TSR_CONJ_TRANS : TSR_TRANS;
      product p = {.x = {.type = types[(variant & 1) + (variant >> 4 & 1) * 2],
                         .transa = variant & 2 ? turned : TSR_NO_TRANS,
                         .transb = variant & 4 ? turned : TSR_NO_TRANS,
                         .m = 19,
                         .n = 23,
                         .k = ks[variant / 4 % 4],
                         .alpha = variant & 8 ? -1.7 : 1,
                         .beta = variant & 4 ? 0.6 : 0}};
      p.moduli = tsr_moduli_of_type(p.x.type);
      run(&p, (hard_family)family, (uint64_t)variant);
      bool usual = p.x.k > 2 && (family == HARD_UNIFORM || family == HARD_INTEGER);
      double worst = p.refused ? 0 : hard_worst(&p.x);
      if (worst > 1 || (usual && p.refused))
        fail_msg("%s, variant %d: error %g of the bound, %s", hard_names[family], variant, worst,
                 p.refused ? "refused" : "promised");
      if (p.refused) check_untouched(&p);
      if (family == HARD_INFINITE || family == HARD_NAN) assert_true(p.refused || p.x.k < 40);
      drop(&p);
    }
}

/* Blocks that keep their lines give a C that keeps the bound, whatever the data are. */
static void refused_products_are_native(void **state) {
  (void)state;
  const tsr_type types[] = {TSR_D, TSR_S, TSR_Z, TSR_C};
  int refused = 0;
  for (int family = 0; family < HARD_FAMILIES; family++)
    for (int variant = 0; variant < 16; variant++) {
      product p = {.x = {.type = types[variant / 4],
                         .transa = variant & 2 ? TSR_CONJ_TRANS : TSR_NO_TRANS,
                         .transb = variant & 1 ? TSR_CONJ_TRANS : TSR_NO_TRANS,
                         .m = 17,
                         .n = 12,
                         .k = 50,
                         .alpha = variant & 1 ? -1.7 : 1,
                         .beta = variant & 2 ? 0.6 : 0},
                   .keeps = true};
      p.moduli = tsr_moduli_of_type(p.x.type);
      run(&p, (hard_family)family, (uint64_t)variant);
      double worst = family < HARD_INFINITE ? hard_worst(&p.x) : 0;
      if (worst > 1)
        fail_msg("%s, variant %d: error %g of the bound, %s", hard_names[family], variant, worst,
                 p.refused ? "native" : "emulated");
      refused += p.refused;
      drop(&p);
    }
  assert_true(refused > 16 && refused < 16 * HARD_FAMILIES);
}

/* Only the triangle is written, refused or not, and a Hermitian diagonal becomes real. */
static void triangles_are_kept(void **state) {
  (void)state;
  enum { N = 15 };
  for (int variant = 0; variant < 16; variant++) {
    bool lower = variant & 1, hermitian = variant & 4;
    product p = {.x = {.type = hermitian ? TSR_Z : TSR_D,
                       .transa = TSR_NO_TRANS,
                       .transb = TSR_CONJ_TRANS,
                       .m = N,
                       .n = N,
                       .k = 40,
                       .alpha = 1,
                       .beta = variant & 8 ? 2 : 0},
                 .keeps = true,
                 .moduli = 14,
                 .uplo = lower ? TSR_LOWER : TSR_UPPER,
                 .hermitian = hermitian};
    run(&p, variant & 2 ? HARD_SPREAD : HARD_UNIFORM, 8);
    assert_int_equal(p.refused, (variant & 2) != 0);
    int parts = hermitian ? 2 : 1;
    for (int j = 0; j < N; j++)
      for (int i = 0; i < N; i++)
        for (int part = 0; part < parts; part++) {
          int at = (i + j * N) * parts + part;
          bool same = ((double *)p.c)[at] == ((double *)p.old)[at];
          bool real = hermitian && i == j && part == 1;
          assert_int_equal(same, lower ? i < j : i > j);
          if (real) assert_true(((double *)p.c)[at] == 0);
        }
    drop(&p);
  }
}

/* With more moduli than the type's the residues promise more data. */
static void more_moduli_promise_more(void **state) {
  (void)state;
  int promised[TSR_MODULI_MOST + 1] = {0};
  for (int moduli = 7; moduli <= TSR_MODULI_MOST; moduli++)
    for (int family = 0; family < HARD_INFINITE; family++) {
      product p = {.x = {.type = TSR_S,
                         .transa = TSR_NO_TRANS,
                         .transb = TSR_NO_TRANS,
                         .m = 9,
                         .n = 11,
                         .k = 120,
                         .alpha = 1},
                   .by_quantiles = true,
                   .moduli = moduli};
      run(&p, (hard_family)family, 4);
      if (!p.refused) assert_true(hard_worst(&p.x) <= 1);
      promised[moduli] += !p.refused;
      drop(&p);
    }
  assert_true(promised[TSR_MODULI_MOST] > promised[7]);
}

/* Overlaps promise data for which quantiles promise nothing, and what they promise is kept. */
static void overlaps_promise_more(void **state) {
  (void)state;
  const tsr_type types[] = {TSR_D, TSR_S, TSR_Z, TSR_C};
  int promised[HARD_FAMILIES][2] = {0};
  for (int family = 0; family < HARD_INFINITE; family++)
    for (int variant = 0; variant < 24; variant++) {
      product p = {.x = {.type = types[variant % 4],
                         .transa = TSR_NO_TRANS,
                         .transb = variant & 4 ? TSR_CONJ_TRANS : TSR_NO_TRANS,
                         .m = 18,
                         .n = 33,
                         .k = 60 + 130 * (variant / 8),
                         .alpha = 1},
                   .by_quantiles = variant & 4};
      p.moduli = tsr_moduli_of_type(p.x.type) + 1;
      run(&p, (hard_family)family, (uint64_t)(variant / 8));
      if (!p.refused && hard_worst(&p.x) > 1)
        fail_msg("%s, variant %d: the bound is broken", hard_names[family], variant);
      promised[family][p.by_quantiles] += !p.refused;
      drop(&p);
    }
  assert_int_equal(promised[HARD_HILBERT][0], 12);
  assert_true(promised[HARD_SPARSE][0] > promised[HARD_SPARSE][1]);
}

/* Integers come back from the leading residues, too, and the leading bits are no more than they. */
static void leading_residues_are_enough(void **state) {
  (void)state;
  uint64_t random = 3;
  for (int count = TSR_MODULI_LEAST; count <= TSR_MODULI_MOST; count++) {
    tsr_moduli m;
    tsr_leading_moduli leading;
    tsr_moduli_fill(count, &m);
    tsr_leading_moduli_fill(count, &leading);
    int room = ilogb(m.root);
    for (int i = 0; i < 300; i++) {
      double x =
          i == 0 ? m.root : ldexp(2 * hard_uniform(&random), hard_next(&random) % (room + 1));
      int64_t integer = (int64_t)x;
      tsr_whole whole = {0};
      for (int l = 0; l < leading.count; l++)
        tsr_whole_add(&whole, &leading, l, tsr_residue(integer, m.modulus[l]));
      uint64_t size = (uint64_t)(integer < 0 ? -integer : integer);
      assert_true(tsr_whole_end(&whole, &leading) == size);
      if (i == 0) continue;
      double bits = tsr_leading_bits(size, room);
      assert_true(bits <= 127 && ldexp(bits, room - 7) <= (double)size);
      assert_true(size < 2 || ldexp(bits + 1, room - 7) >= (double)(size - 1));
    }
  }
}

/* Integers whose sums fit the type come out exact. */
static void integers_are_exact(void **state) {
  (void)state;
  product p = {.x = {.type = TSR_D,
                     .transa = TSR_NO_TRANS,
                     .transb = TSR_TRANS,
                     .m = 20,
                     .n = 10,
                     .k = 300,
                     .alpha = 1,
                     .beta = 0},
               .moduli = 14};
  run(&p, HARD_INTEGER, 11);
  assert_false(p.refused);
  for (int64_t j = 0; j < p.x.n; j++)
    for (int64_t i = 0; i < p.x.m; i++) {
      int64_t sum = 0;
      for (int64_t h = 0; h < p.x.k; h++)
        sum +=
            (int64_t)((double *)p.a)[i + h * p.x.lda] * (int64_t)((double *)p.b)[j + h * p.x.ldb];
      assert_true(((double *)p.c)[i + j * p.x.m] == (double)sum);
    }
  drop(&p);
}

/* The cut of rows and columns leaves the bits as they are. */
static void cuts_do_not_change_bits(void **state) {
  (void)state;
  product whole = {.x = {.type = TSR_D,
                         .transa = TSR_TRANS,
                         .transb = TSR_NO_TRANS,
                         .m = 30,
                         .n = 40,
                         .k = 90,
                         .alpha = 0.3,
                         .beta = -2},
                   .moduli = 14};
  product parts = whole;
  run(&whole, HARD_UNIFORM, 3);
  make(&parts, HARD_UNIFORM, 3);
  convert(&parts, false, 0, 7);
  convert(&parts, false, 7, 23);
  convert(&parts, true, 25, 15);
  convert(&parts, true, 0, 25);
  for (int64_t row = 0; row < 30; row += 10)
    for (int64_t col = 0; col < 40; col += 8) assert_false(multiply(&parts, row, 10, col, 8));
  assert_memory_equal(whole.c, parts.c, 30 * 40 * sizeof(double));
  assert_memory_equal(whole.ra, parts.ra,
                      tsr_form_bytes(tsr_residues_of(14), &(tsr_promise){0}, TSR_D, 90, 30));
  drop(&whole);
  drop(&parts);
}

/* A refused block of C with beta = 0 is 0, so that it holds something. */
static void refused_blocks_are_written(void **state) {
  (void)state;
  product p = {.x = {.type = TSR_S,
                     .transa = TSR_NO_TRANS,
                     .transb = TSR_NO_TRANS,
                     .m = 5,
                     .n = 6,
                     .k = 50,
                     .alpha = 1},
               .moduli = 7};
  make(&p, HARD_UNIFORM, 3);
  ((float *)p.a)[4] = INFINITY;
  convert(&p, false, 0, 5);
  convert(&p, true, 0, 6);
  assert_false(multiply(&p, 0, 4, 0, 6));
  assert_true(multiply(&p, 4, 1, 0, 6));
  for (int64_t j = 0; j < 6; j++) assert_true(((float *)p.c)[4 + j * 5] == 0);
  drop(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(residues_give_integers_back),
      cmocka_unit_test(moduli_are_coprime),
      cmocka_unit_test(types_have_enough_moduli),
      cmocka_unit_test(sums_are_as_in_quadruple_precision),
      cmocka_unit_test(the_bound_holds_on_hard_data),
      cmocka_unit_test(refused_products_are_native),
      cmocka_unit_test(triangles_are_kept),
      cmocka_unit_test(more_moduli_promise_more),
      cmocka_unit_test(overlaps_promise_more),
      cmocka_unit_test(leading_residues_are_enough),
      cmocka_unit_test(integers_are_exact),
      cmocka_unit_test(cuts_do_not_change_bits),
      cmocka_unit_test(refused_blocks_are_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
