/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Overlap of matrices in memory, compared with the definition: the bytes of each matrix. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/overlap.h"
#include "chance.h"

enum { MEMORY = 1 << 12 };
static char memory[MEMORY];

/* ---- By the definition ---- */

static bool counts(const tsr_storage *s, int64_t i, int64_t j) {
  if (s->no_diagonal && i == j && s->uplo != TSR_GENERAL) return false;
  return s->uplo == TSR_GENERAL || (s->uplo == TSR_LOWER ? i >= j : i <= j);
}

static void mark(const tsr_storage *s, size_t size, char *marks) {
  memset(marks, 0, MEMORY);
  for (int64_t j = 0; j < s->cols; j++)
    for (int64_t i = 0; i < s->rows; i++)
      if (counts(s, i, j))
        memset(marks + ((const char *)s->base - memory) + (i + j * s->ld) * (int64_t)size, 1, size);
}

static bool share(const tsr_storage *x, const tsr_storage *y, size_t size) {
  static char marks[2][MEMORY];
  mark(x, size, marks[0]);
  mark(y, size, marks[1]);
  for (int i = 0; i < MEMORY; i++)
    if (marks[0][i] && marks[1][i]) return true;
  return false;
}

static void check(const tsr_storage *x, const tsr_storage *y, size_t size, bool shared) {
  for (int turned = 0; turned < 2; turned++)
    if (tsr_storage_overlap(turned ? y : x, turned ? x : y, size) != shared)
      fail_msg("%d x %d, ld %d, %c at %d and %d x %d, ld %d, %c at %d, of %d bytes: %s",
               (int)x->rows, (int)x->cols, (int)x->ld, (char)x->uplo,
               (int)((const char *)x->base - memory), (int)y->rows, (int)y->cols, (int)y->ld,
               (char)y->uplo, (int)((const char *)y->base - memory), (int)size,
               shared ? "they share memory" : "they do not");
}

/* ---- Random matrices ---- */

/* Small matrices, so that all ways to lie beside each other occur; each takes at most half of the
 * memory. */
static tsr_storage make(size_t size, int64_t ld) {
  static const tsr_uplo triangles[] = {TSR_GENERAL, TSR_LOWER, TSR_UPPER};
  tsr_storage s = {.uplo = triangles[between(0, 2)]};
  s.rows = between(1, between(0, 2) ? 5 : 1);
  s.cols = s.uplo == TSR_GENERAL ? between(1, 9) : s.rows;
  s.ld = ld >= s.rows && between(0, 1) ? ld : s.rows + between(0, 12);
  s.no_diagonal = s.uplo != TSR_GENERAL && between(0, 1);
  int64_t unit = between(0, 3) ? (int64_t)size : 1; /* 1: distances of part of an element, too */
  s.base = memory + unit * between(0, MEMORY / 4 / (int)unit / (int)between(1, 8));
  return s;
}

static void random_matrices(void **state) {
  (void)state;
  static const size_t sizes[] = {2, 4, 8, 16};
  int shared = 0, in_step = 0, rounds = 60000;
  for (int i = 0; i < rounds; i++) {
    size_t size = sizes[between(0, 3)];
    tsr_storage x = make(size, 0), y = make(size, x.ld);
    bool expected = share(&x, &y, size);
    shared += expected;
    in_step += x.ld == y.ld;
    check(&x, &y, size, expected);
  }
  assert_in_range(shared, rounds / 8, rounds - rounds / 8);
  assert_in_range(in_step, rounds / 8, rounds);
}

/* ---- Layouts of real programs ---- */

static tsr_storage at(const double *base, int64_t rows, int64_t cols, int64_t ld) {
  return (tsr_storage){.base = base, .rows = rows, .cols = cols, .ld = ld, .uplo = TSR_GENERAL};
}

static bool overlap(tsr_storage x, tsr_storage y) {
  bool one = tsr_storage_overlap(&x, &y, sizeof(double));
  assert_int_equal(tsr_storage_overlap(&y, &x, sizeof(double)), one);
  return one;
}

static void blocks_of_a_matrix(void **state) {
  (void)state;
  const double *m = NULL; /* no element is read, so any address does */
  int64_t ld = 1 << 20;
  m = (const double *)(uintptr_t)4096;
  assert_false(overlap(at(m, 64, ld, ld), at(m + 64, 64, ld, ld)));
  assert_true(overlap(at(m, 64, ld, ld), at(m + 63, 64, ld, ld)));
  assert_true(overlap(at(m, 64, ld, ld), at(m + 64, ld - 63, ld, ld))); /* the next column's */
  assert_false(overlap(at(m, ld, 64, ld), at(m + 64 * ld, ld, 64, ld)));
  assert_true(overlap(at(m, ld, 64, ld), at(m + 64 * ld - 1, 1, 1, 1)));
  assert_false(overlap(at(m, ld, 64, 2 * ld), at(m + ld, ld, 64, 2 * ld))); /* every other column */
  assert_false(overlap(at(m, ld, 1 << 19, 2 * ld), at(m + ld, ld, 300, 6 * ld)));
  assert_true(overlap(at(m, ld, 1 << 19, 2 * ld), at(m + ld, ld, 300, 5 * ld)));
}

static void triangles_of_a_square(void **state) {
  (void)state;
  const double *m = (const double *)(uintptr_t)4096;
  tsr_storage lower = at(m, 512, 512, 1000), upper = lower;
  lower.uplo = TSR_LOWER;
  upper.uplo = TSR_UPPER;
  assert_true(overlap(lower, upper));
  upper.no_diagonal = true;
  assert_false(overlap(lower, upper));
  upper.no_diagonal = false;
  upper.base = m + 1000; /* beside each other in 512 x 513 */
  assert_false(overlap(lower, upper));
  assert_false(overlap(at(m + 1000, 1, 511, 1000), lower));
  assert_true(overlap(at(m + 1000, 2, 511, 1000), lower));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_matrices),
      cmocka_unit_test(blocks_of_a_matrix),
      cmocka_unit_test(triangles_of_a_square),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
