/* The CPU's BLAS: every kernel and type against naive loops, and extents beyond an int. */
#include "../engine/kernel_case.h"

#include <pthread.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/cpu_blas.h"
#include "base/status.h"

static void run_on_cpu(void *user, const kernel_case *test) {
  (void)user;
  assert_int_equal(tsr_cpu_kernel(&test->args), TSR_OK);
}

static void test_types(void **state) {
  (void)state;
  for (int t = 0; t < TSR_TYPE_COUNT; t++)
    cases_run(run_on_cpu, NULL, tsr_type_at(t)->type, 120, 40);
}

/* Several of the blocks in which 16-bit types are converted. */
static void test_long_half(void **state) {
  (void)state;
  cases_run(run_on_cpu, NULL, TSR_H, 4, 700);
  cases_run(run_on_cpu, NULL, TSR_B, 4, 700);
}

static void *run_some(void *argument) {
  float a[64], c[64];
  for (int i = 0; i < 64; i++) a[i] = 1;
  for (int repeat = 0; repeat < 200; repeat++) {
    tsr_kernel_args x = {.kernel = TSR_KERNEL_GEMM,
                         .type = TSR_S,
                         .transa = TSR_NO_TRANS,
                         .transb = TSR_NO_TRANS,
                         .m = 8,
                         .n = 8,
                         .k = 8,
                         .alpha = {1, 0},
                         .a = a,
                         .b = a,
                         .c = c,
                         .lda = 8,
                         .ldb = 8,
                         .ldc = 8};
    if (tsr_cpu_blas_load() != TSR_OK || tsr_cpu_kernel(&x) != TSR_OK || c[63] != 8)
      return argument;
  }
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  pthread_t threads[6];
  for (int i = 0; i < 6; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, run_some, &threads), 0);
  for (int i = 0; i < 6; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    assert_null(wrong);
  }
}

static void *reserve(size_t bytes) {
  void *p =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

/* Leading dimensions that an int cannot count, in memory of which only a few pages are touched. */
static void test_long_columns(void **state) {
  (void)state;
  const int64_t ld = (INT64_C(1) << 31) + 8;
  const size_t bytes = (size_t)ld * 3 * sizeof(float);
  float *a = reserve(bytes), *b = reserve(bytes), *c = reserve(bytes);
  if (!a || !b || !c) skip();
  for (int op = 0; op < 4; op++) {
    for (int j = 0; j < 2; j++)
      for (int i = 0; i < 2; i++) a[i + j * ld] = (float)(1 + i + 2 * j), b[i + j * ld] = 1;
    tsr_kernel_args x = {.kernel = TSR_KERNEL_GEMM,
                         .type = TSR_S,
                         .transa = op & 1 ? TSR_TRANS : TSR_NO_TRANS,
                         .transb = op & 2 ? TSR_TRANS : TSR_NO_TRANS,
                         .m = 2,
                         .n = 2,
                         .k = 2,
                         .alpha = {1, 0},
                         .a = a,
                         .b = b,
                         .c = c,
                         .lda = ld,
                         .ldb = ld,
                         .ldc = ld};
    assert_int_equal(tsr_cpu_kernel(&x), TSR_OK);
    assert_true(c[0] == (op & 1 ? 3 : 4) && c[1 + ld] == (op & 1 ? 7 : 6));
  }
  munmap(a, bytes);
  munmap(b, bytes);
  munmap(c, bytes);
}

static void test_out_of_memory(void **state) {
  (void)state;
  uint16_t e = tsr_float_to_half(1);
  tsr_kernel_args x = {.kernel = TSR_KERNEL_GEMM,
                       .type = TSR_H,
                       .transa = TSR_NO_TRANS,
                       .transb = TSR_NO_TRANS,
                       .m = 1,
                       .n = 1,
                       .k = 1,
                       .alpha = {1, 0},
                       .a = &e,
                       .b = &e,
                       .c = &e,
                       .lda = 1,
                       .ldb = 1,
                       .ldc = 1};
  tsr_alloc_fail_at(1);
  assert_int_equal(tsr_cpu_kernel(&x), TSR_ERR_MEMORY);
  tsr_alloc_fail_at(0);
  assert_int_equal(tsr_cpu_kernel(&x), TSR_OK);
}

static void test_table(void **state) {
  (void)state;
  assert_true(tsr_kernel_flops(TSR_KERNEL_GEMM, TSR_Z, 2, 3, 4) == 8 * 24);
  assert_true(tsr_kernel_bytes(TSR_KERNEL_ADD, TSR_H, 2, 3, true, true) == 6 * (4 + 2 + 2));
  assert_true(tsr_kernel_bytes(TSR_KERNEL_SCALE, TSR_D, 2, 3, false, false) == 6 * 8);
  assert_null(tsr_kernel_get(TSR_KERNEL_COUNT));
}

static int load(void **state) {
  (void)state;
  return tsr_cpu_blas_load() == TSR_OK && tsr_cpu_blas_name()[0] ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_types),         cmocka_unit_test(test_long_half),
      cmocka_unit_test(test_threads),       cmocka_unit_test(test_long_columns),
      cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_table),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
