/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory that is fast to copy, and what becomes of a call when there is none. */
#include "base/alloc.h"
#include "front.h"

enum { N = 40, BYTES = N * N * sizeof(double) };

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

static void test_copies(void **state) {
  (void)state;
  tsr_context *context = front_context();
  int last = tsr_device_count(context) - 1;
  double *from = front_matrix(N * N, 1), *to = calloc(N * N, sizeof *to);
  void *pinned, *first, *other;
  assert_ok(tsr_malloc(context, TSR_HOST, BYTES, &pinned));
  assert_ok(tsr_malloc(context, 0, BYTES, &first));
  assert_ok(tsr_malloc(context, last, BYTES, &other));
  assert_ok(tsr_memcpy(context, pinned, from, BYTES));
  assert_ok(tsr_memcpy(context, first, pinned, BYTES));
  assert_ok(tsr_memcpy(context, other, first, BYTES));
  assert_ok(tsr_memcpy(context, to, other, BYTES));
  front_assert_equal(to, from, N * N);
  assert_ok(tsr_memcpy(context, to, from, 0));
  tsr_free(context, pinned), tsr_free(context, first), tsr_free(context, other);
  tsr_context_destroy(context);
  free(from), free(to);
}

static void test_wrong_requests(void **state) {
  (void)state;
  tsr_context *context = front_context();
  void *p = NULL;
  assert_refused(tsr_malloc(context, 99, 8, &p), TSR_ERR_ARGUMENT, "99");
  assert_refused(tsr_malloc(context, -2, 8, &p), TSR_ERR_ARGUMENT, "-2");
  assert_int_equal(tsr_malloc(context, 0, (size_t)1 << 60, &p), TSR_ERR_MEMORY);
  assert_null(p);
  assert_int_equal(tsr_memcpy(context, NULL, &p, 8), TSR_ERR_ARGUMENT);
  assert_int_not_equal(tsr_unregister(context, &p), TSR_OK); /* never registered */
  front_assert_works(context);
  tsr_context_destroy(context);
}

static void test_register(void **state) {
  (void)state;
  tsr_context *context = front_context();
  double *a = aligned_alloc(4096, 4 * 4096), *b = front_matrix(N * N, 2);
  double *c = front_matrix(N * N, 3), *expected = front_matrix(N * N, 3);
  front_fill(a, N * N, 1);
  for (int round = 0; round < 3; ++round) {
    /* all of it, then a part, then none */
    size_t bytes = round == 0 ? 4 * 4096 : 4096;
    if (round < 2) assert_ok(tsr_register(context, a, bytes));
    assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
    front_reference(N, 1, a, b, 1, expected);
    front_assert_equal(c, expected, N * N);
    if (round < 2) assert_ok(tsr_unregister(context, a));
  }
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(expected);
}

/* ---- Finding ---- */

static void assert_home(tsr_context *context, const void *pointer, size_t bytes, tsr_memory memory,
                        int location) {
  tsr_home home;
  assert_ok(tsr_home_find(context, pointer, bytes, &home));
  assert_int_equal(home.memory, memory);
  assert_int_equal(home.location, location);
}

static void test_homes(void **state) {
  (void)state;
  tsr_context *context = front_context();
  int last = tsr_device_count(context) - 1;
  double *pageable = front_matrix(N * N, 1);
  void *pinned = NULL, *device = NULL;
  assert_ok(tsr_malloc(context, TSR_HOST, BYTES, &pinned));
  assert_ok(tsr_malloc(context, last, BYTES, &device));
  assert_home(context, pageable, BYTES, TSR_PAGEABLE, 0);
  assert_home(context, pinned, BYTES, TSR_PINNED, 0);
  assert_home(context, (char *)device + 8, BYTES - 8, TSR_DEVICE, last);
  assert_home(context, NULL, BYTES, TSR_PAGEABLE, 0);
  assert_home(context, device, 0, TSR_PAGEABLE, 0);
  assert_ok(tsr_register(context, pageable, BYTES));
  assert_home(context, pageable, BYTES, TSR_PINNED, 0);
  assert_home(context, pageable, BYTES + 100000, TSR_PAGEABLE, 0);
  assert_refused(tsr_home_find(context, pinned, BYTES, NULL), TSR_ERR_ARGUMENT, "home is NULL");
  assert_ok(tsr_unregister(context, pageable));
  tsr_context_destroy(context);
  free(pageable);
}

static void test_device_numbers(void **state) {
  (void)state;
  tsr_context *context = front_context();
  int number = -1;
  assert_ok(tsr_device_number(context, 0, &number));
  assert_int_equal(number, 0);
  assert_refused(tsr_device_number(context, 2, &number), TSR_ERR_ARGUMENT, "device is 2");
  assert_refused(tsr_device_number(context, -1, &number), TSR_ERR_ARGUMENT, "device is -1");
  assert_refused(tsr_device_number(context, 0, NULL), TSR_ERR_ARGUMENT, "number is NULL");
  tsr_context_destroy(context);
}

/* Every allocation of the library fails in turn: each is a status, and it then works again. */
static tsr_status make_and_multiply(const double *a, const double *b, double *c) {
  tsr_options options = front_options();
  tsr_context *context = NULL;
  tsr_status status = front_create(&options, &context);
  if (status != TSR_OK) return status;
  status = front_dgemm(context, N, 1, a, b, 0, c);
  tsr_context_destroy(context);
  return status;
}

static void test_each_allocation_fails(void **state) {
  (void)state;
  enum { MOST = 20000 };
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  front_reference(N, 1, a, b, 0, expected);
  assert_ok(make_and_multiply(a, b, c)); /* what is loaded once is loaded */
  long nth = 1, refused = 0;
  for (int passes = 0; nth < MOST && passes < 3; nth += 1 + nth / 200) {
    tsr_alloc_fail_at(nth);
    tsr_status status = make_and_multiply(a, b, c);
    tsr_alloc_fail_at(0);
    if (status == TSR_OK) {
      front_assert_equal(c, expected, N * N); /* it did without, or there were fewer */
      ++passes;
      continue;
    }
    passes = 0;
    ++refused;
    if (status != TSR_ERR_MEMORY)
      fail_msg("allocation %ld fails: %s: %s", nth, tsr_status_name(status), tsr_message());
    assert_true(strlen(tsr_message()) > 0);
  }
  assert_true(nth < MOST);
  assert_true(refused > 3);
  assert_ok(make_and_multiply(a, b, c));
  front_assert_equal(c, expected, N * N);
  free(a), free(b), free(c), free(expected);
}

/* The same inside one context, which must stay usable. */
static void test_each_allocation_of_a_call_fails(void **state) {
  (void)state;
  tsr_context *context = front_context();
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *was = front_matrix(N * N, 3), *expected = front_matrix(N * N, 3);
  front_reference(N, 1, a, b, 1, expected);
  for (long nth = 1, passes = 0; nth < 20000 && passes < 3; nth += 1 + nth / 200) {
    assert_ok(tsr_trim(context));
    tsr_alloc_fail_at(nth);
    /* another shape each time, so that no plan is kept */
    tsr_status status = tsr_dgemm(context, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N,
                                  1 + nth % N, N, 1, a, N, b, N, 1, c, N);
    tsr_alloc_fail_at(0);
    passes = status == TSR_OK ? passes + 1 : 0;
    if (status != TSR_OK) {
      assert_int_equal(status, TSR_ERR_MEMORY);
      front_assert_equal(c, was, N * N);
    } else {
      front_assert_equal(c, expected, N * (1 + nth % N));
      memcpy(c, was, BYTES);
    }
  }
  front_assert_works(context);
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(was), free(expected);
}

/* Staging memory of calls of many sizes, one after another: pieces that are free, but each too
 * small for the next call, give their memory back. */
static void test_staging_of_many_sizes(void **state) {
  (void)state;
  enum { LEAST = 140, MOST = 260 };
  const double one = 1, zero = 0;
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.check = 0; /* which would take longer than all else here */
  assert_ok(front_create_tiled(&options, 7, &context));
  double *a = front_matrix(MOST * 2, 1), *c = front_matrix((int64_t)MOST * MOST, 3);
  for (int64_t n = LEAST; n <= MOST; n += 2) {
    assert_ok(tsr_gemm_async(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, n, n, 2,
                             &one, a, n, a, 2, &zero, c, n));
    assert_ok(tsr_coherent(context, TSR_GENERAL, n, n, c, n, TSR_D));
    assert_ok(tsr_release(context, n, n, c, n, TSR_D));
    assert_ok(tsr_release(context, MOST * 2, 1, a, MOST * 2, TSR_D));
  }
  assert_true(c[0] == a[0] * a[0] + a[MOST] * a[1]);
  free(a);
  free(c);
  tsr_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_copies),
      cmocka_unit_test(test_wrong_requests),
      cmocka_unit_test(test_register),
      cmocka_unit_test(test_homes),
      cmocka_unit_test(test_device_numbers),
      cmocka_unit_test(test_each_allocation_fails),
      cmocka_unit_test(test_each_allocation_of_a_call_fails),
      cmocka_unit_test(test_staging_of_many_sizes),
  };
  return cmocka_run_group_tests(tests, clear, NULL);
}
