/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The arguments of every operation, wrong one by one: messages name the operation and the argument
 * as the BLAS does, the first wrong one counts, and nothing is touched. */
#include <stdbool.h>

#include "requests.h"

static tsr_context *context;
static double before[ROOM], zero[2];

static int make(void **state) {
  (void)state;
  front_clear_environment();
  context = front_context();
  front_fill(a, ROOM, 1), front_fill(b, ROOM, 2), front_fill(c, ROOM, 3);
  memcpy(before, c, sizeof c);
  return 0;
}

static int end(void **state) {
  (void)state;
  tsr_context_destroy(context);
  return 0;
}

static void refused(const request *x, const char *beginning) {
  for (int door = DOOR_BLOCKING; door <= DOOR_STRUCT_ASYNC; ++door) {
    tsr_status status = level3_call(context, (level3_door)door, &x->what, &x->data);
    if (status != TSR_ERR_ARGUMENT)
      fail_msg("%s by door %d: %s", beginning, door, tsr_status_name(status));
    if (strncmp(tsr_message(), beginning, strlen(beginning)) != 0)
      fail_msg("\"%s\" does not begin with \"%s\"", tsr_message(), beginning);
    assert_memory_equal(c, before, sizeof c);
  }
}

static void accepted(const request *x) {
  for (int door = DOOR_BLOCKING; door <= DOOR_STRUCT_ASYNC; ++door)
    assert_ok(level3_call(context, (level3_door)door, &x->what, &x->data));
  assert_ok(tsr_sync(context));
}

static void test_each(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
    char names[16][8], beginning[80];
    int count = split(lists[i].arguments, names);
    for (int n = 0; n < count; ++n) {
      request x = good(lists[i].operation);
      spoil(&x, names[n]);
      snprintf(beginning, sizeof beginning, "%s: %.7s = ", tsr_operation_name(x.what.operation),
               names[n]);
      refused(&x, beginning);
    }
  }
}

/* Of several wrong ones the first in the list is told. */
static void test_order(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
    char names[16][8], beginning[80];
    int count = split(lists[i].arguments, names);
    request x = good(lists[i].operation);
    for (int n = count - 1; n >= 0; --n) {
      spoil(&x, names[n]);
      snprintf(beginning, sizeof beginning, "%s: %.7s = ", tsr_operation_name(x.what.operation),
               names[n]);
      refused(&x, beginning);
    }
  }
}

static void test_types(void **state) {
  (void)state;
  static const char *const remedies[TSR_OPERATION_COUNT] = {
      [TSR_HEMM] = "use symm", [TSR_HERK] = "use syrk", [TSR_HER2K] = "use syr2k"};
  for (int o = TSR_GEMMT; o < TSR_OPERATION_COUNT; ++o)
    for (const char *type = "hbtsd"; *type; ++type) {
      int real = *type == 's' || *type == 'd';
      if (real && !remedies[o]) continue;
      request x = good((tsr_operation)o);
      x.what.type = (tsr_type)*type;
      char beginning[80];
      snprintf(beginning, sizeof beginning, "%s: type = %c: ", tsr_operation_name(x.what.operation),
               *type);
      refused(&x, beginning);
      assert_non_null(strstr(tsr_message(), real ? remedies[o] : "gemm"));
    }
}

static void test_transpositions(void **state) {
  (void)state;
  request x = good(TSR_SYRK);
  x.what.transa = TSR_CONJ_TRANS;
  refused(&x, "syrk: trans = 67: give TSR_NO_TRANS or TSR_TRANS");
  x.what.operation = TSR_SYR2K;
  refused(&x, "syr2k: trans = 67: ");
  x.what.operation = TSR_HERK, x.what.transa = TSR_TRANS;
  refused(&x, "herk: trans = 84: give TSR_NO_TRANS or TSR_CONJ_TRANS");
  x.what.operation = TSR_HER2K;
  refused(&x, "her2k: trans = 84: ");
}

/* What the operation has no use for may hold anything. */
static void test_ignored(void **state) {
  (void)state;
  for (int o = 0; o < TSR_OPERATION_COUNT; ++o) {
    static const char *const fields[] = {"side", "uplo", "transa", "transb", "diag",
                                         "m",    "k",    "b",      "ldb",    "beta"};
    request x = good((tsr_operation)o);
    for (size_t f = 0; f < sizeof fields / sizeof *fields; ++f) {
      char list[160], word[16];
      snprintf(list, sizeof list, " %s ", lists[o].arguments);
      snprintf(word, sizeof word, " %s ", fields[f]);
      int rank_k = strstr(list, " trans ") && !strcmp(fields[f], "transa");
      if (!strstr(list, word) && !rank_k) spoil(&x, fields[f]);
    }
    if (x.data.beta != NULL) x.data.beta = zero;
    assert_ok(tsr_level3_run(context, &x.what, zero, a, x.data.b, x.data.beta, x.data.c));
  }
  memcpy(c, before, sizeof c);
}

/* op, side: least leading dimensions of A, B and C in the layout. */
static void test_leading_dimensions(void **state) {
  (void)state;
  static const struct {
    tsr_operation operation;
    char layout, side, transa, transb;
    int lda, ldb, ldc;
  } cases[] = {
      {TSR_GEMM, 'C', 'L', 'N', 'T', M, N, M},  {TSR_GEMM, 'R', 'L', 'N', 'T', K, K, N},
      {TSR_GEMM, 'C', 'L', 'C', 'N', K, K, M},  {TSR_GEMMT, 'C', 'L', 'N', 'N', N, K, N},
      {TSR_GEMMT, 'R', 'L', 'T', 'N', N, N, N}, {TSR_SYMM, 'C', 'L', 'N', 'N', M, M, M},
      {TSR_SYMM, 'C', 'R', 'N', 'N', N, M, M},  {TSR_HEMM, 'R', 'L', 'N', 'N', M, N, N},
      {TSR_HEMM, 'R', 'R', 'N', 'N', N, N, N},  {TSR_SYRK, 'C', 'L', 'N', 'N', N, 0, N},
      {TSR_SYRK, 'C', 'L', 'T', 'N', K, 0, N},  {TSR_HERK, 'R', 'L', 'N', 'N', K, 0, N},
      {TSR_HERK, 'R', 'L', 'C', 'N', N, 0, N},  {TSR_SYR2K, 'C', 'L', 'T', 'N', K, K, N},
      {TSR_HER2K, 'R', 'L', 'N', 'N', K, K, N}, {TSR_TRMM, 'C', 'L', 'T', 'N', M, 0, M},
      {TSR_TRMM, 'R', 'L', 'N', 'N', M, 0, N},  {TSR_TRSM, 'C', 'R', 'N', 'N', N, 0, M},
      {TSR_TRSM, 'R', 'R', 'C', 'N', N, 0, N},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const int least[3] = {cases[i].lda, cases[i].ldb, cases[i].ldc};
    request x = good(cases[i].operation);
    x.what.layout = (tsr_layout)cases[i].layout, x.what.side = (tsr_side)cases[i].side;
    x.what.transa = (tsr_op)cases[i].transa, x.what.transb = (tsr_op)cases[i].transb;
    x.what.lda = least[0], x.what.ldb = least[1], x.what.ldc = least[2];
    x.data = (level3_data){zero, NULL, NULL, one, in_place(x.what.operation) ? c : NULL};
    accepted(&x);
    memcpy(c, before, sizeof c);
    int64_t *lds[3] = {&x.what.lda, &x.what.ldb, &x.what.ldc};
    for (int o = 0; o < 3; ++o) {
      if (least[o] == 0) continue;
      char beginning[100];
      snprintf(beginning, sizeof beginning, "%s: ld%c = %d: it must be at least %d, the stored %s",
               tsr_operation_name(x.what.operation),
               o == 2 && in_place(x.what.operation) ? 'b' : "abc"[o], least[o] - 1, least[o],
               cases[i].layout == 'C' ? "rows" : "columns");
      --*lds[o], refused(&x, beginning), ++*lds[o];
    }
  }
}

/* Matrices that are neither read nor written need no address. */
static void test_null_matrices(void **state) {
  (void)state;
  for (int o = 0; o < TSR_OPERATION_COUNT; ++o) {
    request x = good((tsr_operation)o);
    x.data.a = x.data.b = x.data.c = NULL;
    x.what.n = 0;
    accepted(&x); /* no C */
    x.what.n = N, x.data.alpha = zero;
    if (in_place(x.what.operation)) {
      refused(&x, x.what.operation == TSR_TRMM ? "trmm: b = NULL" : "trsm: b = NULL");
      continue;
    }
    accepted(&x); /* C stays as it is */
    x.data.alpha = one, x.what.k = 0;
    if (o != TSR_SYMM && o != TSR_HEMM) accepted(&x);
  }
}

/* ---- Operands that share memory ---- */

static double whole[ROOM]; /* a matrix of 16 x 16, in which both layouts have 16 in a line */

static double *part(int line, int at) {
  return whole + 2 * (16 * line + at);
}

/* The message names both. */
static void refused_together(const request *x, const char *name, const void *input) {
  char beginning[100];
  snprintf(beginning, sizeof beginning, "%s: %c = %p shares memory with %s = %p",
           tsr_operation_name(x->what.operation), in_place(x->what.operation) ? 'b' : 'c',
           x->data.c, name, input);
  refused(x, beginning);
}

static void accepted_together(const request *x) {
  accepted(x);
  assert_ok(tsr_release(context, 0, 0, NULL, 1, TSR_Z)); /* others call with other parts of it */
}

/* What is written may be in no input's place, nor partly there, but in another part of the same
 * matrix. */
static void test_shared_memory(void **state) {
  (void)state;
  for (int o = 0; o < 2 * TSR_OPERATION_COUNT; ++o) {
    request x = good((tsr_operation)(o / 2));
    bool has_b = strstr(lists[o / 2].arguments, " b ") && !in_place(x.what.operation);
    x.what.layout = o % 2 ? TSR_ROW_MAJOR : TSR_COL_MAJOR;
    x.what.m = x.what.n = x.what.k = 4;
    x.data.c = part(4, 4);
    for (int input = 0; input < 1 + has_b; ++input) {
      const char *name = input ? "b" : "a";
      const void **at = input ? &x.data.b : &x.data.a, *own = *at;
      for (int line = 2; line < 8; line++) *at = part(line, 4), refused_together(&x, name, *at);
      *at = part(4, 0), accepted_together(&x);
      *at = part(4, 1), refused_together(&x, name, *at);
      *at = part(0, 4), accepted_together(&x);
      *at = part(8, 4), accepted_together(&x);
      *at = (char *)part(4, 8) - 1, refused_together(&x, name, *at);
      *at = own;
    }
  }
}

/* Of a triangle what is read, or written, counts. */
static void test_triangles_of_a_square(void **state) {
  (void)state;
  request x = good(TSR_SYMM);
  x.what.side = TSR_RIGHT, x.what.m = 2, x.what.n = 4;
  x.data.a = part(0, 0), x.data.c = part(2, 0); /* two rows, from the third column on */
  accepted_together(&x);
  x.what.uplo = TSR_UPPER;
  refused_together(&x, "a", x.data.a);
  x = good(TSR_SYRK);
  x.what.transa = TSR_TRANS, x.what.n = 4, x.what.k = 1;
  x.data.c = part(0, 0), x.data.a = part(1, 0); /* a row, from the second column on */
  accepted_together(&x);
  x.what.uplo = TSR_UPPER;
  refused_together(&x, "a", x.data.a);
}

static void test_no_operation(void **state) {
  (void)state;
  request x = good((tsr_operation)99);
  assert_refused(tsr_level3_run(context, &x.what, one, a, b, one, c), TSR_ERR_ARGUMENT,
                 "operation = 99");
  x.what.operation = (tsr_operation)-1;
  assert_refused(tsr_level3_run_async(context, &x.what, one, a, b, one, c), TSR_ERR_ARGUMENT,
                 "operation = -1");
  assert_refused(tsr_level3_run(context, NULL, one, a, b, one, c), TSR_ERR_ARGUMENT, "what = NULL");
  assert_refused(tsr_level3_run(NULL, &x.what, one, a, b, one, c), TSR_ERR_ARGUMENT, "context");
  assert_null(tsr_operation_name((tsr_operation)99));
  assert_null(tsr_operation_name((tsr_operation)-1));
  assert_null(tsr_operation_name(TSR_OPERATION_COUNT));
  assert_memory_equal(c, before, sizeof c);
}

/* Plans have the same arguments without matrices. */
static void test_plans(void **state) {
  (void)state;
  tsr_home homes[3] = {{TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}};
  tsr_plan *plan = NULL;
  request x = good(TSR_TRSM);
  x.what.ldc = M - 1;
  assert_refused(tsr_plan_level3(context, &x.what, one, NULL, homes, &plan), TSR_ERR_ARGUMENT,
                 "trsm: ldb = 4");
  x = good(TSR_HERK);
  assert_refused(tsr_plan_level3(context, &x.what, one, NULL, homes, &plan), TSR_ERR_ARGUMENT,
                 "herk: beta");
  assert_refused(tsr_plan_level3(context, NULL, one, one, homes, &plan), TSR_ERR_ARGUMENT, "what");
  assert_null(plan);
}

/* A plan that is run says what is wrong by the operation's names, too. */
static void test_running_plans(void **state) {
  (void)state;
  tsr_home homes[3] = {{TSR_PAGEABLE, 0}, {TSR_DEVICE, 77}, {TSR_PAGEABLE, 0}}; /* there is no B */
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *cpu;
  tsr_plan *plan;
  options.engine = "cpu";
  assert_ok(tsr_context_create(&options, &cpu));
  request x = good(TSR_TRMM);
  assert_ok(tsr_plan_level3(cpu, &x.what, one, NULL, homes, &plan));
  assert_refused(tsr_plan_execute(plan, one, NULL, NULL, NULL, c), TSR_ERR_ARGUMENT, "a is NULL");
  assert_refused(tsr_plan_execute(plan, one, a, NULL, NULL, NULL), TSR_ERR_ARGUMENT, "b is NULL");
  assert_refused(tsr_plan_execute(plan, one, c, NULL, NULL, c), TSR_ERR_ARGUMENT, "shares memory");
  assert_refused(tsr_plan_execute(plan, zero, a, NULL, NULL, c), TSR_ERR_ARGUMENT, "alpha is 0");
  assert_memory_equal(c, before, sizeof c);
  assert_ok(tsr_plan_execute(plan, one, a, NULL, NULL, c));
  tsr_plan_destroy(plan);
  memcpy(c, before, sizeof c);
  x = good(TSR_HER2K);
  homes[1] = homes[0];
  assert_ok(tsr_plan_level3(cpu, &x.what, one, one, homes, &plan));
  assert_refused(tsr_plan_execute(plan, one, a, NULL, one, c), TSR_ERR_ARGUMENT, "b is NULL");
  assert_refused(tsr_plan_execute(plan, one, a, b, NULL, c), TSR_ERR_ARGUMENT, "beta is NULL");
  assert_refused(tsr_plan_execute(plan, one, a, c, one, c), TSR_ERR_ARGUMENT,
                 "shares memory with b");
  assert_memory_equal(c, before, sizeof c);
  tsr_plan_destroy(plan);
  tsr_context_destroy(cpu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_transpositions),
      cmocka_unit_test(test_ignored),
      cmocka_unit_test(test_leading_dimensions),
      cmocka_unit_test(test_null_matrices),
      cmocka_unit_test(test_shared_memory),
      cmocka_unit_test(test_no_operation),
      cmocka_unit_test(test_plans),
      cmocka_unit_test(test_triangles_of_a_square),
      cmocka_unit_test(test_running_plans),
  };
  return cmocka_run_group_tests(tests, make, end);
}
