/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The time of copies between host memory and a device depends on how long the contiguous segments
 * are in host memory, and on how far apart. */
#include <math.h>

#include "plan/names.h"
#include "planning.h"

#define SHAPE "\"shape\": [[1024, 1e9], [4096, 4e9], [262144, 2e10]]"
#define CLOSE ", \"close\": {\"pitch\": 32768, \"shape\": [[1024, 6e9], [16384, 1.2e10]]}"
#define MACHINE(close)                                                                     \
  "{\"tessera_machine\": 1, \"nodes\": 1, "                                                \
  "\"devices\": [{\"name\": \"g\", \"memory\": 1e9, \"memory_rate\": 1e12}], \"links\": [" \
  "{\"from\": \"host0\", \"to\": \"gpu0\", \"bandwidth\": 2e10, " SHAPE close              \
  "}, "                                                                                    \
  "{\"from\": \"gpu0\", \"to\": \"host0\", \"bandwidth\": 2e10, " SHAPE close              \
  "}], "                                                                                   \
  "\"rates\": {\"d\": {\"sustained\": 1e12, \"area\": [512], \"k\": [512], \"flops\": "    \
  "[[1e12]]}}, "                                                                           \
  "\"staging\": {\"threads\": 2, \"thread_rate\": 1e10, \"rate\": 2e10}}"

static const char with_close[] = MACHINE(CLOSE), without_close[] = MACHINE("");

enum { N = 1024, TILE = 256, SIZE = 8 };

/* C = A B + C of N x N doubles in host memory, in tiles. */
static tsr_plan *plan_of(const tsr_machine *machine, tsr_layout layout, tsr_memory memory,
                         int64_t ld) {
  const double one[2] = {1, 0};
  const tsr_level3 what = {.operation = TSR_GEMM,
                           .type = TSR_D,
                           .layout = layout,
                           .transa = TSR_NO_TRANS,
                           .transb = TSR_NO_TRANS,
                           .m = N,
                           .n = N,
                           .k = N,
                           .lda = ld,
                           .ldb = ld,
                           .ldc = ld};
  tsr_call call;
  tsr_binding binding;
  bool exchanged;
  must(tsr_call_level3(&what, one, NULL, NULL, one, NULL, false, &call, &binding, &exchanged));
  planning_pin(machine, &call);
  for (int x = 0; x < TSR_OPERANDS; x++) {
    call.operand[x].memory = memory;
    if (memory == TSR_PAGEABLE) call.operand[x].pinned_end = 0;
  }
  tsr_plan_options options = planning_options(machine, TILE);
  tsr_plan *plan = NULL;
  must(tsr_plan_make(machine, &call, &options, &plan));
  return plan;
}

/* Checks the time of each copy over the link: its bytes / rate, where *rate* is that of segments as
 * long as a tile's column; 0: that of one segment, the link's bandwidth. Returns the plan's time.
 */
static double check_copies(const char *machine_text, tsr_layout layout, tsr_memory memory,
                           int64_t ld, double rate) {
  tsr_machine *machine = planning_machine(machine_text);
  tsr_plan *plan = plan_of(machine, layout, memory, ld);
  int copies = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_COPY) continue;
    const tsr_buffer *from = &plan->buffers.items[c->buffer[0]],
                     *to = &plan->buffers.items[c->buffer[1]];
    if (from->location == to->location) continue;
    double expected = (double)c->m * (double)c->n * SIZE / (rate > 0 ? rate : 2e10);
    double seconds = (double)c->end - (double)c->begin;
    assert_int_equal(c->m, TILE);
    if (fabs(seconds - expected) > 1e-3 * expected)
      fail_msg("ld %lld: a copy of %d x %d takes %g s instead of %g", (long long)ld, (int)c->m,
               (int)c->n, seconds, expected);
    copies++;
  }
  assert_true(copies >= 3 * (N / TILE));
  double seconds = plan->seconds;
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
  return seconds;
}

/* A column of a tile has 2 KiB. Between 1 and 4 KiB, and between 1 and 16 KiB, rates are linear in
 * the logarithm. */
static const double far_rate = 2.5e9, close_rate = 7.5e9;

static void columns_close_together_are_copied_faster(void **state) {
  (void)state;
  static const tsr_layout layouts[] = {TSR_COL_MAJOR, TSR_ROW_MAJOR};
  for (int i = 0; i < 2; i++) {
    double close = check_copies(with_close, layouts[i], TSR_PINNED, N, close_rate);
    double same = check_copies(with_close, layouts[i], TSR_PINNED, 4096, close_rate);
    double far = check_copies(with_close, layouts[i], TSR_PINNED, 4097, far_rate);
    assert_true(close == same && 2 * close < far);
  }
}

static void distance_does_not_matter_without_close(void **state) {
  (void)state;
  double close = check_copies(without_close, TSR_COL_MAJOR, TSR_PINNED, N, far_rate);
  double far = check_copies(without_close, TSR_COL_MAJOR, TSR_PINNED, 8192, far_rate);
  assert_true(close == far);
}

/* Pageable memory is copied by way of the ring, where a tile is contiguous: one segment. */
static void pieces_in_the_ring_are_one_segment(void **state) {
  (void)state;
  check_copies(with_close, TSR_COL_MAJOR, TSR_PAGEABLE, N, 0);
  check_copies(with_close, TSR_COL_MAJOR, TSR_PAGEABLE, 8192, 0);
}

/* The segments of a copy of whole columns of a matrix with or without gaps. */
static void whole_columns_are_one_segment(void **state) {
  (void)state;
  tsr_plan plan = {.call = {.type = TSR_D}, .machine_devices = 1};
  tsr_buffer buffers[2] = {{.rows = N, .cols = N, .ld = N, .location = 1},
                           {.rows = N, .cols = N, .ld = N + 2, .location = 0}};
  plan.buffers.items = buffers;
  plan.buffers.count = 2;
  tsr_command copy = {.kind = TSR_COMMAND_COPY, .buffer = {0, 1}, .m = N, .n = 10};
  tsr_segments segments = tsr_command_segments(&plan, &copy);
  assert_true(segments.length == N * 10 * SIZE && segments.pitch == 0);
  buffers[0].ld = N + 1;
  segments = tsr_command_segments(&plan, &copy);
  assert_true(segments.length == N * SIZE && segments.pitch == (N + 1) * SIZE);
  copy.buffer[0] = 1, copy.buffer[1] = 0; /* the host is the target */
  segments = tsr_command_segments(&plan, &copy);
  assert_true(segments.length == N * SIZE && segments.pitch == (N + 1) * SIZE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_close_together_are_copied_faster),
      cmocka_unit_test(distance_does_not_matter_without_close),
      cmocka_unit_test(pieces_in_the_ring_are_one_segment),
      cmocka_unit_test(whole_columns_are_one_segment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
