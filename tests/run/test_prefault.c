/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Pages of a result that was never touched. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run/prefault.h"

enum { ROWS = 1024, COLS = 1024, LD = 4096 }; /* a column 8 KiB, beside it a gap of 24 */

static const size_t bytes = (size_t)LD * COLS * sizeof(double);

static char *fresh(void) {
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

static tsr_call call_with(tsr_operation operation, tsr_scalar_class beta, tsr_memory memory) {
  tsr_call call = {.operation = operation,
                   .type = TSR_D,
                   .uplo = TSR_LOWER,
                   .m = ROWS,
                   .n = COLS,
                   .k = 1,
                   .beta = beta};
  call.operand[TSR_C_] = (tsr_operand){.rows = ROWS, .cols = COLS, .ld = LD, .memory = memory};
  return call;
}

static bool is_there(char *memory, int64_t row, int64_t col) {
  unsigned char present = 0;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uintptr_t at = (uintptr_t)(memory + (size_t)(col * LD + row) * sizeof(double));
  assert_int_equal(mincore((void *)(at / page * page), 1, &present), 0);
  return (present & 1) != 0;
}

static void make_all(tsr_prefault *p) {
  while (tsr_prefault_step(p)) continue;
  assert_false(tsr_prefault_step(p));
}

static void makes_what_is_written(void **state) {
  (void)state;
  char *memory = fresh();
  tsr_call call = call_with(TSR_GEMM, TSR_ZERO, TSR_PAGEABLE);
  tsr_prefault p;
  memory[0] = 1;
  tsr_prefault_start(&p, &call, memory);
  make_all(&p);
  if (madvise(memory, 1, MADV_POPULATE_WRITE) != 0) skip(); /* an older kernel */
  for (int64_t col = 0; col < COLS; col++) {
    assert_true(is_there(memory, 0, col) && is_there(memory, ROWS - 1, col));
    assert_false(is_there(memory, ROWS + 512, col)); /* between columns */
  }
  assert_int_equal(memory[0], 1);
  munmap(memory, bytes);
}

static void keeps_to_the_triangle(void **state) {
  (void)state;
  char *memory = fresh();
  tsr_call call = call_with(TSR_SYRK, TSR_ZERO, TSR_PAGEABLE);
  tsr_prefault p;
  tsr_prefault_start(&p, &call, memory);
  make_all(&p);
  if (madvise(memory, 1, MADV_POPULATE_WRITE) != 0) skip();
  assert_true(is_there(memory, ROWS - 1, 0) && is_there(memory, ROWS - 1, COLS - 1));
  assert_false(is_there(memory, 0, COLS - 1)); /* above the diagonal */
  munmap(memory, bytes);
}

/* A C that is read, or was touched, or is not pageable. */
static void leaves_others_alone(void **state) {
  (void)state;
  const tsr_call calls[] = {call_with(TSR_GEMM, TSR_ONE, TSR_PAGEABLE),
                            call_with(TSR_GEMM, TSR_ZERO, TSR_PINNED),
                            call_with(TSR_TRMM, TSR_ZERO, TSR_PAGEABLE)};
  char *memory = fresh();
  tsr_prefault p;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    tsr_prefault_start(&p, &calls[i], memory);
    make_all(&p);
    assert_false(is_there(memory, 0, COLS / 2));
  }
  tsr_call call = call_with(TSR_GEMM, TSR_ZERO, TSR_PAGEABLE);
  memset(memory, 0, bytes);
  tsr_prefault_start(&p, &call, memory);
  assert_false(tsr_prefault_step(&p));
  munmap(memory, bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(makes_what_is_written),
      cmocka_unit_test(keeps_to_the_triangle),
      cmocka_unit_test(leaves_others_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
