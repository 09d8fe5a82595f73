/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Schedules across processes: the verifier accepts every schedule that is made, and finds every
 * mistake that is then put into it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "cluster/plan/schedule.h"
#include "tessera_model.h"

enum { CASES = 3000 };

static uint64_t state_of_numbers;

static int64_t draw(int64_t least, int64_t most) {
  state_of_numbers = state_of_numbers * 6364136223846793005u + 1442695040888963407u;
  return least + (int64_t)((state_of_numbers >> 33) % (uint64_t)(most - least + 1));
}

static tsr_axis draw_axis(int64_t extent, int count) {
  return (tsr_axis){extent, draw(1, 12), draw(1, 12), (int)draw(0, count - 1), count};
}

typedef struct problem {
  tsr_distribution distribution;
  tsr_cut cut;
  bool moves[2];
} problem;

static problem draw_problem(void) {
  int rows = (int)draw(1, 4), cols = (int)draw(1, 4);
  int64_t k = draw(1, 80);
  problem p = {.distribution = {draw_axis(draw(1, 60), rows), draw_axis(draw(1, 60), cols),
                                draw_axis(k, cols), draw_axis(k, rows)},
               .cut = {.block = {draw(1, 30), draw(1, 30)},
                       .depth = draw(1, 40),
                       .first = draw(0, 20),
                       .lookahead = (int)draw(1, 5),
                       .together = draw(0, 1) == 0,
                       .at_once = draw(0, 1) == 0},
               .moves = {draw(0, 3) == 0, draw(0, 3) == 0}};
  if (draw(0, 4) == 0) p.cut.lookahead = TSR_LOOKAHEAD_MOST;
  for (int i = 0; i < 2; i++)
    if (draw(0, 1) == 0) p.cut.later[i] = draw(1, p.cut.block[i]);
  for (int i = 0; i < 2; i++)
    if (draw(0, 1) == 0) p.cut.held[i] = (int)draw(1, 2 * TSR_SLOTS_MOST);
  return p;
}

static void make(const problem *p, tsr_summa_schedule *s) {
  if (tsr_summa_schedule_make(&p->distribution, &p->cut, p->moves, s) != TSR_OK)
    fail_msg("%s", tsr_message());
}

static void expect_right(const tsr_summa_schedule *s) {
  tsr_text text = TSR_TEXT_INIT;
  if (tsr_summa_schedule_verify(s) == TSR_OK) return;
  tsr_summa_schedule_print(s, &text);
  fail_msg("%s\n%s", tsr_message(), text.bytes);
}

static void schedules_are_right(void **state) {
  (void)state;
  int several = 0, shared = 0;
  for (int i = 0; i < CASES; i++) {
    problem p = draw_problem();
    tsr_summa_schedule s;
    make(&p, &s);
    expect_right(&s);
    size_t sends = s.steps.count - (size_t)s.products - (size_t)(s.blocks[0] * s.blocks[1]) -
                   (size_t)(p.moves[0] + p.moves[1]);
    assert_true(sends <= 2 * (size_t)s.products);
    several += s.blocks[0] > 1 && s.blocks[1] > 1;
    shared += sends < 2 * (size_t)s.products; /* a panel served more than one product */
    tsr_summa_schedule_free(&s);
  }
  assert_true(several > CASES / 10 && shared > CASES / 4);
}

/* How many products must be complete before a step begins: up to the last one that it waits for. */
static int32_t products_awaited(const tsr_summa_schedule *s, const tsr_summa_step *step) {
  int32_t last = TSR_NO_SUMMA_STEP, products = 0;
  for (int i = 0; i < TSR_SUMMA_WAITS; i++) {
    int32_t at = step->after[i];
    if (at > last && s->steps.items[at].kind == TSR_SUMMA_MULTIPLY) last = at;
  }
  for (int32_t i = 0; i <= last; i++) products += s->steps.items[i].kind == TSR_SUMMA_MULTIPLY;
  return products;
}

/* With any number of slots, messages are at most `lookahead` products ahead of completed ones. */
static void messages_wait_for_products(void **state) {
  (void)state;
  for (int i = 0; i < CASES / 10; i++) {
    problem p = draw_problem();
    tsr_summa_schedule s;
    int32_t products = 0;
    make(&p, &s);
    for (size_t at = 0; at < s.steps.count; at++) {
      const tsr_summa_step *step = &s.steps.items[at];
      if (step->kind == TSR_SUMMA_SEND)
        assert_true(products - products_awaited(&s, step) <= p.cut.lookahead);
      products += step->kind == TSR_SUMMA_MULTIPLY;
    }
    tsr_summa_schedule_free(&s);
  }
}

/* While a product runs, `lookahead` panels are on their way at most, and at some time so many are.
 */
static void lookahead_is_kept(void **state) {
  (void)state;
  for (int l = 1; l <= 4; l++) {
    tsr_axis x = {64, 4, 4, 0, 2};
    tsr_distribution distribution = {x, x, x, x};
    tsr_cut cut = {.block = {1 << 20, 1 << 20}, .depth = 4, .lookahead = l};
    bool moves[2] = {false, false};
    tsr_summa_schedule s;
    assert_int_equal(tsr_summa_schedule_make(&distribution, &cut, moves, &s), TSR_OK);
    expect_right(&s);
    int32_t sent = 0, products = 0, most = 0;
    for (size_t i = 0; i < s.steps.count; i++) {
      const tsr_summa_step *step = &s.steps.items[i];
      sent += step->kind == TSR_SUMMA_SEND && step->operand == TSR_SUMMA_A;
      products += step->kind == TSR_SUMMA_MULTIPLY;
      if (products > 0 && sent - products > most) most = sent - products;
    }
    assert_int_equal(most, l);
    assert_int_equal(products, 16);
    tsr_summa_schedule_free(&s);
  }
}

static void same_numbers_same_digest(void **state) {
  (void)state;
  for (int i = 0; i < 200; i++) {
    problem p = draw_problem(), q = p;
    tsr_summa_schedule s, t, u;
    make(&p, &s);
    make(&q, &t);
    assert_true(tsr_summa_schedule_digest(&s) == tsr_summa_schedule_digest(&t));
    q.cut.depth++;
    make(&q, &u);
    assert_true(tsr_summa_schedule_digest(&s) != tsr_summa_schedule_digest(&u));
    tsr_summa_schedule_free(&s);
    tsr_summa_schedule_free(&t);
    tsr_summa_schedule_free(&u);
  }
}

/* ---- Mistakes --------------------------------------------------------------- */

/* Puts a mistake into a schedule at a step. False: the step has no place for a mistake of this
 * kind. */
typedef bool (*mistake)(tsr_summa_schedule *s, tsr_summa_step *step);

/* Whether an earlier step fills the slot that this step fills. */
static bool fills_again(const tsr_summa_schedule *s, const tsr_summa_step *step) {
  for (const tsr_summa_step *x = s->steps.items; x < step; x++)
    if (x->kind == TSR_SUMMA_SEND && x->operand == step->operand && x->slot[0] == step->slot[0])
      return true;
  return false;
}

static bool overwrites_early(tsr_summa_schedule *s, tsr_summa_step *step) {
  if (step->kind != TSR_SUMMA_SEND || !fills_again(s, step)) return false;
  step->after[0] = TSR_NO_SUMMA_STEP;
  return true;
}

static bool does_not_wait(tsr_summa_schedule *s, tsr_summa_step *step) {
  (void)s;
  if (step->kind != TSR_SUMMA_MULTIPLY) return false;
  step->after[draw(0, 1)] = TSR_NO_SUMMA_STEP;
  return true;
}

static bool sends_another_panel(tsr_summa_schedule *s, tsr_summa_step *step) {
  if (step->kind != TSR_SUMMA_SEND || s->panels.count < 2) return false;
  step->panel = (step->panel + 1) % (int32_t)s->panels.count;
  return true;
}

static bool sends_another_block(tsr_summa_schedule *s, tsr_summa_step *step) {
  int32_t *block = &step->block[step->operand];
  if (step->kind != TSR_SUMMA_SEND || s->blocks[step->operand] < 2) return false;
  *block = (*block + 1) % s->blocks[step->operand];
  return true;
}

static bool sends_elsewhere(tsr_summa_schedule *s, tsr_summa_step *step) {
  if (step->kind != TSR_SUMMA_SEND || s->slots[step->operand] < 2) return false;
  step->slot[0] = (int16_t)((step->slot[0] + 1) % s->slots[step->operand]);
  return true;
}

static bool multiplies_twice(tsr_summa_schedule *s, tsr_summa_step *step) {
  if (step->kind != TSR_SUMMA_MULTIPLY || step->first || step < s->steps.items + 2) return false;
  for (tsr_summa_step *other = step - 1; other >= s->steps.items; other--)
    if (other->kind == TSR_SUMMA_MULTIPLY) {
      *step = *other;
      step->first = false;
      return true;
    }
  return false;
}

static bool counts_beta_again(tsr_summa_schedule *s, tsr_summa_step *step) {
  (void)s;
  if (step->kind != TSR_SUMMA_MULTIPLY) return false;
  step->first = !step->first;
  return true;
}

static bool stays_out(tsr_summa_schedule *s, tsr_summa_step *step) {
  (void)s;
  if (step->kind != TSR_SUMMA_WRITE_BACK) return false;
  step->kind = TSR_SUMMA_MOVE;
  step->operand = 2;
  return true;
}

static bool written_back_early(tsr_summa_schedule *s, tsr_summa_step *step) {
  if (step->kind != TSR_SUMMA_WRITE_BACK || s->panels.count < 2) return false;
  tsr_summa_step kept = *step, *before = step - 1;
  if (before->kind != TSR_SUMMA_MULTIPLY) return false;
  *step = *before;
  *before = kept;
  return true;
}

static bool crowds(tsr_summa_schedule *s, tsr_summa_step *step) {
  (void)s;
  if (step->kind != TSR_SUMMA_MULTIPLY || step->after[2] == TSR_NO_SUMMA_STEP) return false;
  step->after[2] = TSR_NO_SUMMA_STEP;
  return true;
}

static bool panel_is_cut(tsr_summa_schedule *s, tsr_summa_step *step) {
  if (step->kind != TSR_SUMMA_MULTIPLY) return false;
  s->panels.items[step->panel].depth--;
  return true;
}

/* Later blocks are larger than the first one, for which memory was counted. */
static bool later_ones_are_large(tsr_summa_schedule *s, tsr_summa_step *step) {
  (void)step;
  for (int d = 0; d < 2; d++) {
    if (s->blocks[d] < 2) continue;
    s->cut.later[d] = s->cut.block[d] + 1;
    return true;
  }
  return false;
}

static void mistakes_are_found(void **state) {
  (void)state;
  static const mistake mistakes[] = {
      overwrites_early,   does_not_wait,    sends_another_panel, sends_another_block,
      sends_elsewhere,    multiplies_twice, counts_beta_again,   stays_out,
      written_back_early, crowds,           panel_is_cut,        later_ones_are_large,
  };
  for (size_t kind = 0; kind < sizeof mistakes / sizeof *mistakes; kind++) {
    int made = 0;
    for (int i = 0; i < CASES && made < 100; i++) {
      problem p = draw_problem();
      tsr_summa_schedule s;
      make(&p, &s);
      tsr_summa_step *step = &s.steps.items[draw(0, (int64_t)s.steps.count - 1)];
      bool spoilt = mistakes[kind](&s, step);
      if (spoilt && tsr_summa_schedule_verify(&s) != TSR_ERR_CHECK)
        fail_msg("mistake %zu, case %d was not found", kind, i);
      made += spoilt;
      tsr_summa_schedule_free(&s);
    }
    if (made < 30) fail_msg("mistake %zu was made %d times only", kind, made);
  }
}

/* Each allocation of one schedule fails in turn. */
static void starve(const problem *p) {
  for (long n = 1;; n++) {
    tsr_summa_schedule s;
    tsr_alloc_fail_at(n);
    tsr_status status = tsr_summa_schedule_make(&p->distribution, &p->cut, p->moves, &s);
    tsr_alloc_fail_at(0);
    if (status == TSR_OK) {
      tsr_summa_schedule_free(&s);
      assert_true(n > 2);
      return;
    }
    assert_int_equal(status, TSR_ERR_MEMORY);
  }
}

static void no_memory_is_told(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    problem p = draw_problem();
    starve(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(schedules_are_right),        cmocka_unit_test(lookahead_is_kept),
      cmocka_unit_test(messages_wait_for_products), cmocka_unit_test(same_numbers_same_digest),
      cmocka_unit_test(mistakes_are_found),         cmocka_unit_test(no_memory_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
