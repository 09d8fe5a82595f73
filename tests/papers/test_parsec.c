/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The cut of Herault et al.: what their section III-B3 says of b, c, d and l, for random problems.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "papers/parsec.h"

static uint64_t seed = 7;

static int64_t draw(int64_t least, int64_t most) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return least + (int64_t)((seed >> 33) % (uint64_t)(most - least + 1));
}

static int64_t parts(int64_t extent, int64_t size) {
  return (extent + size - 1) / size;
}

/* Tiles that a device holds with this cut. */
static double tiles_of(const tsr_parsec_cut *cut, int64_t c, int64_t d) {
  return (double)cut->b * (double)c + (cut->lookahead + 1) * (double)(cut->b + c) * (double)d;
}

static void check_cut(const tsr_parsec_question *q, const tsr_parsec_cut *cut) {
  double slots = q->memory / ((double)q->tile * (double)q->tile * q->element);
  int64_t c = parts(cut->c, q->devices), m = parts(q->rows, q->tile), n = parts(q->cols, q->tile);
  int64_t k = parts(q->k, q->tile);
  assert_true(cut->b * cut->down >= m && cut->b * (cut->down - 1) < m);
  assert_true(cut->c * cut->across >= n && cut->c * (cut->across - 1) < n);
  assert_true(cut->d * cut->chunks >= k && cut->d * (cut->chunks - 1) < k);
  bool several = cut->down * cut->across > 1;
  assert_int_equal(cut->lookahead, q->lookahead > 0 ? q->lookahead : several ? 2 : 1);
  if (cut->everything) assert_true(!several && cut->chunks == 1);
  if (cut->everything) return;
  assert_true(tiles_of(cut, c, cut->d) <= slots);
  /* One part of k less would not fit: chunks are as deep as they can be evenly. */
  if (cut->chunks > 1) assert_true(tiles_of(cut, c, parts(k, cut->chunks - 1)) > slots);
}

static void random_cuts(void **state) {
  (void)state;
  int cut_up = 0, whole = 0, refused = 0;
  for (int i = 0; i < 20000; i++) {
    tsr_parsec_question q = {.rows = draw(1, 90000),
                             .cols = draw(1, 90000),
                             .k = draw(1, 200000),
                             .tile = draw(1, 3000),
                             .devices = (int)draw(1, 8),
                             .memory = (double)draw(1, 40) * 4e8,
                             .element = draw(0, 1) ? 8 : 4,
                             .lookahead = (int)draw(0, 3)};
    tsr_parsec_cut cut;
    if (!tsr_parsec_choose(&q, &cut)) {
      refused++;
      continue;
    }
    check_cut(&q, &cut);
    *(cut.everything ? &whole : &cut_up) += 1;
  }
  assert_true(cut_up > 1000 && whole > 100 && refused < 2000);
}

/* A tile that is larger than the memory cannot be helped. */
static void too_large_tiles(void **state) {
  (void)state;
  tsr_parsec_cut cut;
  tsr_parsec_question q = {50000, 50000, 50000, 20000, 2, 1e9, 8, 0};
  assert_false(tsr_parsec_choose(&q, &cut));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_cuts),
                                     cmocka_unit_test(too_large_tiles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
