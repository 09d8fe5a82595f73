/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* With reproducible set, the bits of C depend on the problem alone: not on how many devices there
 * are, what machine they make, or where the operands are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "operand.h"
#include "run.h"

enum { PROBLEMS = 40 };

/* Each number of devices has another machine. */
static const int counts[] = {1, 2, 3, 4, 8};
enum { COUNTS = sizeof counts / sizeof *counts };

static tsr_status make_operand(const problem *p, tsr_context *context, int which, rng *random,
                               operand *o) {
  stored shape = problem_stored(p, which);
  return operand_create(p, context, which, &shape, CONTENT_RANDOM, random, o);
}

static tsr_status multiply(const problem *p, tsr_context *context, operand o[3]) {
  unsigned char alpha[16] = {0}, beta[16] = {0};
  double re, im;
  problem_scalar(p, 0, &re, &im), element_put(problem_scalar_type(p, 0), alpha, re, im);
  problem_scalar(p, 1, &re, &im), element_put(problem_scalar_type(p, 1), beta, re, im);
  return tsr_gemm(context, (tsr_type)p->type, (tsr_layout)p->layout, (tsr_op)p->ta, (tsr_op)p->tb,
                  p->m, p->n, p->k, alpha, operand_pointer(&o[0]), o[0].ld, operand_pointer(&o[1]),
                  o[1].ld, beta, operand_pointer(&o[2]), o[2].ld);
}

/* Whether all of the last call was emulated. */
static bool was_emulated(tsr_context *context) {
  tsr_plan *plan = NULL;
  char *text = NULL;
  if (tsr_plan_last(context, &plan) != TSR_OK) return false;
  bool is = tsr_plan_print(plan, TSR_VERDICT, &text) == TSR_OK && strstr(text, "moduli") != NULL &&
            strstr(text, "natively") == NULL;
  free(text);
  tsr_plan_destroy(plan);
  return is;
}

/* The bytes of C's storage after the product, made with malloc. *emulated: all of it was. */
static unsigned char *bits_of(const problem *p, size_t *bytes, bool *emulated) {
  tsr_context *context = NULL;
  operand o[3] = {0};
  unsigned char *c = NULL;
  tsr_status status = run_context(p, &context);
  for (int i = 0; status == TSR_OK && i < 3; ++i) {
    rng random = {p->seed + (uint64_t)i};
    status = make_operand(p, context, i, &random, &o[i]);
  }
  if (status == TSR_OK) status = multiply(p, context, o);
  if (status == TSR_OK) *emulated = was_emulated(context);
  if (status == TSR_OK) status = operand_fetch(&o[2], &c);
  if (status != TSR_OK) {
    char line[PROBLEM_LINE];
    problem_print(p, line);
    print_error("%s\n%s: %s\n", line, tsr_status_name(status), tsr_message());
  }
  *bytes = o[2].bytes;
  for (int i = 0; i < 3; ++i) operand_destroy(&o[i]);
  tsr_context_destroy(context);
  return c;
}

static problem draw(int64_t index) {
  problem_range range = {"host", 1, TSR_GEMM};
  problem p;
  problem_draw(77, index * PROBLEM_GROUP, &range, &p);
  p.memory = 0, p.repro = 1, p.alias = 0;
  p.mode = MODE_BLOCKING, p.calls = p.sets = 1, p.threads = THREADS_ONE;
  return p;
}

static void test_same_bits(void **state) {
  (void)state;
  rng r = {5};
  for (int64_t i = 0; i < PROBLEMS; ++i) {
    unsigned char *first = NULL;
    size_t bytes = 0;
    for (int v = 0; v < COUNTS; ++v) {
      problem p = draw(i);
      size_t size;
      bool emulated;
      p.devices = counts[v];
      p.machine = v % problem_machines();
      for (int o = 0; o < 3; ++o) {
        int64_t u = rng_between(&r, -4, p.devices - 1);
        p.home[o] = u == -4   ? HOME_HOST
                    : u == -3 ? HOME_PART
                    : u < 0   ? HOME_PINNED
                              : (char)('0' + u);
      }
      unsigned char *bits = bits_of(&p, &size, &emulated);
      assert_non_null(bits);
      if (!first) {
        first = bits, bytes = size;
        continue;
      }
      if (size != bytes || memcmp(first, bits, bytes) != 0) {
        char line[PROBLEM_LINE];
        problem_print(&p, line);
        fail_msg("other bits than on one device: %s", line);
      }
      free(bits);
    }
    free(first);
  }
}

/* Emulated products have the same bits with any budget and on any number of devices, unless parts
 * of C are left to native ones. */
static void test_emulated_same_bits(void **state) {
  (void)state;
  rng r = {6};
  int compared = 0;
  for (int64_t i = 0; i < PROBLEMS; ++i) {
    unsigned char *first = NULL;
    for (int v = 0; v < COUNTS; ++v) {
      problem p = draw(2000 + i);
      size_t bytes;
      bool emulated = false;
      p.repro = 0, p.tile = 0, p.moduli = 14, p.type = "sdcz"[i % 4];
      p.uneven = 0, p.strategy[0] = 0, p.devices = counts[v], p.machine = v % problem_machines();
      if (v > 0) p.memory = (size_t)rng_between(&r, 50000, 1000000);
      unsigned char *bits = bits_of(&p, &bytes, &emulated);
      assert_non_null(bits);
      if (v == 0 && emulated) first = bits;
      if (first && emulated && memcmp(first, bits, bytes) != 0) {
        char line[PROBLEM_LINE];
        problem_print(&p, line);
        fail_msg("other bits than with all memory: %s", line);
      }
      compared += first && emulated && v > 0;
      if (bits != first) free(bits);
    }
    free(first);
  }
  assert_true(compared > PROBLEMS);
}

/* The same plan on the same machine gives the same bits, also without the setting. */
static void test_same_plan_same_bits(void **state) {
  (void)state;
  for (int64_t i = 0; i < 10; ++i) {
    problem p = draw(1000 + i);
    size_t bytes;
    bool emulated;
    p.repro = 0, p.devices = 4;
    unsigned char *first = bits_of(&p, &bytes, &emulated), *second = NULL;
    p.delay = 4321; /* another interleaving */
    second = bits_of(&p, &bytes, &emulated);
    assert_non_null(first);
    assert_non_null(second);
    assert_memory_equal(first, second, bytes);
    free(first), free(second);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_emulated_same_bits),
      cmocka_unit_test(test_same_plan_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
