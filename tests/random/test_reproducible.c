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

/* The bytes of C's storage after the product, made with malloc. */
static unsigned char *bits_of(const problem *p, size_t *bytes) {
  tsr_context *context = NULL;
  operand o[3] = {0};
  unsigned char *c = NULL;
  tsr_status status = run_context(p, &context);
  for (int i = 0; status == TSR_OK && i < 3; ++i) {
    rng random = {p->seed + (uint64_t)i};
    status = make_operand(p, context, i, &random, &o[i]);
  }
  if (status == TSR_OK) status = multiply(p, context, o);
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
      p.devices = counts[v];
      p.machine = v % problem_machines();
      for (int o = 0; o < 3; ++o) {
        int64_t u = rng_between(&r, -4, p.devices - 1);
        p.home[o] = u == -4   ? HOME_HOST
                    : u == -3 ? HOME_PART
                    : u < 0   ? HOME_PINNED
                              : (char)('0' + u);
      }
      unsigned char *bits = bits_of(&p, &size);
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

/* The same plan on the same machine gives the same bits, also without the setting. */
static void test_same_plan_same_bits(void **state) {
  (void)state;
  for (int64_t i = 0; i < 10; ++i) {
    problem p = draw(1000 + i);
    size_t bytes;
    p.repro = 0, p.devices = 4;
    unsigned char *first = bits_of(&p, &bytes), *second = NULL;
    p.delay = 4321; /* another interleaving */
    second = bits_of(&p, &bytes);
    assert_non_null(first);
    assert_non_null(second);
    assert_memory_equal(first, second, bytes);
    free(first), free(second);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_same_plan_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
