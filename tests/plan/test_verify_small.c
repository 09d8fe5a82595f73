/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans made by hand are accepted; each of many single mistakes is found, and the message names the
 * command that is wrong and why. */
#include "base/alloc.h"
#include "plan/mistakes.h"
#include "tessera_model.h"

/* ---- Right ones ---- */

static tsr_plan *relayed_double(void) {
  return plan_relayed(TSR_D);
}

static tsr_plan *relayed_half(void) {
  return plan_relayed(TSR_H);
}

static void accepts_right_plans(void **state) {
  (void)state;
  accept(relayed_double());
  accept(relayed_half());
  accept(plan_in_place());
  accept(plan_staged());
  accept(plan_scaled());
}

static void accepts_nothing_to_do(void **state) {
  (void)state;
  tsr_plan *cpu = small_plan(TSR_D, TSR_PAGEABLE, TSR_ONE, TSR_ONE);
  cpu->devices = 0;
  accept(cpu);
  tsr_plan *nothing = small_plan(TSR_D, TSR_PAGEABLE, TSR_ZERO, TSR_ONE);
  accept(nothing);
}

/* Where beta is 1, adding to what was fetched is the same as using beta. */
static void accepts_accumulating_with_beta_one(void **state) {
  (void)state;
  tsr_plan *plan = plan_in_place();
  plan->call.beta = TSR_ONE;
  plan->commands.items[1].flags = plan->commands.items[2].flags = TSR_FLAG_BETA_ONE;
  accept(plan);
}

/* ---- Wrong ones ---- */

static const mistake mistakes[] = {
    /* form */
    {"queue out of range", plan_scaled, QUEUE, 1, 99, "command 1 (scale): is on queue 99 of 12"},
    {"kernel on a copy queue", plan_scaled, QUEUE, 1, 0, "command 1 (scale on device 0, queue in)"},
    {"copy on the wrong device", plan_scaled, QUEUE, 0, 5,
     "command 0 (copy of C from host 0 to "
     "device 0, queue in): this queue cannot"},
    {"copy the wrong way", plan_scaled, QUEUE, 2, 0, "command 2 (copy of C from device 0"},
    {"no such buffer", plan_scaled, BUFFER2, 1, 77, "buffer 2 is number 77, which does not exist"},
    {"buffer that has no use", plan_scaled, BUFFER1, 1, 3, "buffer 1 has no use here"},
    {"no such kernel", plan_scaled, KERNEL, 1, 99, "command 1 (unknown command on device 0"},
    {"two matrices", plan_staged, BUFFER1, 0, 4,
     "command 0 (copy of A from host 0 to device 0, "
     "queue in): its buffers 0 (A) and 4 (B) are not two of one matrix"},
    {"writing into A", plan_staged, BUFFER1, 2, 0,
     "command 2 (copy of A from host 0 to host 0, queue "
     "in): writes into the home of A"},
    {"outside of its buffer", plan_staged, COL0, 1, 1,
     "command 1 (copy of A from host 0 to host 0, "
     "queue staging 0): target: rows 0..7, columns 1..4 of A are not in buffer 6"},
    {"outside of the matrix", plan_staged, M, 0, 9,
     "source: rows 0..8, columns 0..3 of A are not in "
     "buffer 0"},
    {"no extent", plan_staged, N, 0, 0, "its extents are 8 x 0 x 0"},
    {"event missing", relayed_double, FLAGS, 2, 0,
     "command 3 (gemm on device 0, queue compute "
     "0): waits for command 2, which has no event"},
    {"waiting for a later one", relayed_double, WAIT0, 3, 6, "waits for command 6, a later one"},
    {"not pinned", plan_staged, PINNED_END, 0, 255,
     "command 0 (copy of A from host 0 to device 0, "
     "queue in): A is not pinned there"},
    {"managed", plan_staged, MEMORY, 0, TSR_MANAGED,
     "command 0 (copy of A from host 0 to device 0, queue in): "
     "A is not pinned there"},
    {"operand elsewhere", relayed_double, BUFFER0, 12, 3,
     "command 12 (gemm on device 1, queue "
     "compute 0): operand a: buffer 3 of A is at device 0"},
    {"operand of another matrix", relayed_double, BUFFER1, 3, 3,
     "operand b: columns of A cannot stand for columns of W"},
    {"rows do not agree", plan_in_place, ROW2, 2, 0,
     "command 2 (gemm on device 1, queue compute 0): operand a: columns from 4 of A do not meet "
     "rows from 0 of C"},
    {"k does not agree", plan_in_place, COL1, 4, 0,
     "operand a: rows from 4 of A do not meet columns from 0 of B"},
    {"added elsewhere", relayed_double, ROW0, 7, 0,
     "command 7 (add on device 0, queue add): operand a: rows from 0 of W do not meet rows from 4 "
     "of C"},
    {"alpha left out", relayed_double, FLAGS, 3, TSR_FLAG_ALPHA_ONE,
     "at the end, rows 0..3, columns 0..3 of C are wrong; command 6 (add on device 0, queue add) "
     "computed them last"},
    {"alpha twice", relayed_double, FLAGS, 6, TSR_FLAG_BETA,
     "at the end, rows 0..3, columns 0..3 of C are wrong; command 6 (add"},
    {"beta on W", relayed_double, FLAGS, 3, TSR_FLAG_BETA,
     "command 3 (gemm on device 0, queue compute 0): operand c: rows 0..7, columns 0..3 of W are "
     "not there"},
    {"not wide", relayed_half, FLAGS, 3, 0, "is not marked wide, but W is"},
    {"wide for nothing", relayed_double, FLAGS, 3, TSR_FLAG_WIDE, "is marked wide"},
    /* what is there */
    {"not there at all", relayed_double, COL0, 1, 0,
     "command 4 (gemm on device 0, queue compute 0): "
     "operand a: rows 0..7, columns 4..7 of A are not there when it runs"},
    {"partly there", relayed_double, M, 11, 7,
     "command 13 (gemm on device 1, queue compute 0): "
     "operand b: rows 7..7, columns 4..7 of B are not there when it runs"},
    {"copied in part", relayed_double, N, 1, 2,
     "command 4 (gemm on device 0, queue compute 0): "
     "operand a: rows 0..7, columns 6..7 of A are not there"},
    {"W never started", relayed_double, FLAGS, 3, TSR_FLAG_BETA_ONE,
     "command 3 (gemm on device 0, "
     "queue compute 0): operand c: rows 0..7, columns 0..3 of W are not there"},
    {"W started again", relayed_double, FLAGS, 4, TSR_FLAG_EVENT,
     "at the end, rows 0..3, columns 0..3 of C are wrong: k 0..3 is missing; command 6 (add"},
    {"part of k", plan_in_place, K, 4, 3,
     "at the end, rows 0..3, columns 0..7 of C are wrong: k 7..7 is missing; command 4 (gemm"},
    {"beta left out", relayed_double, FLAGS, 6, TSR_FLAG_ALPHA_ONE,
     "rows 0..3, columns 0..3 of C are wrong: beta C is missing; command 6 (add"},
    {"beta twice", plan_in_place, FLAGS, 5, TSR_FLAG_BETA,
     "at the end, rows 4..7, columns 0..7 of C are wrong; command 5 (gemm"},
    {"beta never", plan_in_place, FLAGS, 1, TSR_FLAG_BETA_ONE,
     "at the end, rows 0..3, columns 0..7 of C are wrong; command 4 (gemm"},
    {"home overwritten", plan_in_place, FLAGS, 1, 0,
     "rows 0..3, columns 0..7 of C are wrong: beta C is missing; command 4 (gemm"},
    {"C not brought home", plan_staged, N, 8, 7,
     "at the end, rows 0..7, columns 7..7 of C are wrong: they hold the original"},
    {"half of the tile added", relayed_double, M, 7, 3,
     "at the end, rows 7..7, columns 0..3 of C are wrong: they hold the original"},
    {"C read although beta is 0", plan_scaled, BETA_CLASS, 0, TSR_ZERO,
     "command 0 (copy of C from "
     "host 0 to device 0, queue in): reads C, which the call does not (beta is 0)"},
    {"A read although alpha is 0", plan_staged, ALPHA_CLASS, 0, TSR_ZERO,
     "command 0 (copy of A from "
     "host 0 to device 0, queue in): reads A, which the call does not"},
    /* order */
    {"kernel does not wait", relayed_double, WAITS, 3, 0,
     "command 3 (gemm on device 0, queue "
     "compute 0): operand a: reads rows 0..7, columns 0..3 of A without waiting for command 0 "
     "(copy "
     "of A from host 0 to device 0, queue in)"},
    {"relay does not wait", relayed_double, WAITS, 10, 0,
     "command 10 (copy of A from device 0 to "
     "device 1, queue peer to 1): source: reads rows 0..7, columns 4..7 of A without waiting for "
     "command 1"},
    {"brought home too early", relayed_double, WAIT0, 8, 5,
     "command 8 (copy of C from device 0 to "
     "host 0, queue out): source: reads rows 0..7, columns 0..3 of C without waiting for command "
     "6"},
    {"ring taken too early", plan_staged, WAITS, 4, 0,
     "command 4 (copy of B from host 0 to host 0, "
     "queue staging 1): buffer 7 takes memory without waiting for its use by command"},
    /* memory */
    {"too small", plan_staged, BYTES, 5, 511, "buffer 5 (C at device 0) has 511 bytes, too few"},
    {"ld too small", plan_staged, LD, 5, 7, "buffer 5: 8 x 8 (ld 7)"},
    {"outside of the arena", plan_staged, OFFSET, 5, 1032,
     "buffer 5 (C at device 0): bytes "
     "1032..1543 are not in the arena of 1536 bytes"},
    {"two in one place", plan_staged, OFFSET, 4, 8,
     "command 6 (gemm on device 0, queue compute 0): "
     "uses buffer 3, whose memory buffer 4 has taken from command 5"},
    {"at no location", plan_staged, PLACE, 4, 7,
     "buffer 4: there is no buffer of role 1 at "
     "location 7"},
    {"home elsewhere", plan_staged, PLACE, 1, 0, "buffer 1 is not the home of B"},
    {"arena beyond the budget", plan_staged, ARENA0, 0, 5000,
     "device 0: the plan needs 5000 bytes, its "
     "budget is 4096"},
    {"life misjudged", plan_staged, LAST, 4, 5,
     "buffer 4 is said to be used by commands 5 to 5, but "
     "is used by 5 to 6"},
};

static void rejects_single_mistakes(void **state) {
  (void)state;
  reject_all(mistakes, sizeof mistakes / sizeof *mistakes);
}

static void rejects_what_comes_home_twice(void **state) {
  (void)state;
  tsr_plan *plan = relayed_double();
  add_copy(plan, queue_of(0, TSR_QUEUE_OUT), 5, TSR_C_, 2, 0, 2, 2, END);
  reject_with(plan,
              "command 18 (copy of C from device 0 to host 0, queue out): writes rows 2..3, "
              "columns 0..1 of C back a second time");
}

static void rejects_k_added_twice(void **state) {
  (void)state;
  tsr_plan *plan = plan_in_place();
  int parts[3] = {3, TSR_B_, TSR_C_};
  add_gemm(plan, 1, parts, TSR_FLAG_BETA_ONE, 0, 0, 2, 8, 8, 4, END);
  reject_with(plan,
              "at the end, rows 0..3, columns 0..7 of C are wrong: k 2..5 is there twice; command "
              "6 (gemm on device 1, queue compute 0) computed them last");
}

/* Overwriting what another queue still reads, and fetching C behind its final value. */
static void rejects_unordered_writes(void **state) {
  (void)state;
  tsr_plan *plan = relayed_double();
  add_copy(plan, queue_of(0, TSR_QUEUE_IN), TSR_A, 3, 0, 0, 8, 8, END);
  reject_with(plan,
              "command 18 (copy of A from host 0 to device 0, queue in): target: writes rows "
              "0..7, columns 0..7 of A without waiting for command");
  plan = relayed_double();
  add_copy(plan, queue_of(0, TSR_QUEUE_IN), TSR_C_, 5, 0, 0, 8, 4, 8, END);
  reject_with(plan,
              "command 18 (copy of C from host 0 to device 0, queue in): reads rows 0..7, "
              "columns 0..3 of C, which command 8 has written already");
}

/* Without links between the devices there is no relay. */
static void rejects_absent_links(void **state) {
  (void)state;
  tsr_machine *machine = small_machine();
  tsr_plan *plan = relayed_double();
  machine->link[0][1].bandwidth = 0;
  assert_int_equal(tsr_plan_verify(plan, machine, NULL), TSR_ERR_CHECK);
  assert_non_null(strstr(tsr_message(), "command 9 (copy of A from device 0 to device 1"));
  free(machine);
  plan_release(plan);
}

/* Out of memory at each of its allocations in turn, the verifier says so and leaks nothing. */
static void reports_lack_of_memory(void **state) {
  (void)state;
  tsr_plan *plan = relayed_double();
  tsr_status status = TSR_ERR_MEMORY;
  long allocation = 1;
  for (; status != TSR_OK && allocation < 10000; allocation++) {
    tsr_alloc_fail_at(allocation);
    status = tsr_plan_verify(plan, NULL, NULL);
    tsr_alloc_fail_at(0);
    assert_true(status == TSR_OK || status == TSR_ERR_MEMORY);
  }
  assert_int_equal(status, TSR_OK);
  assert_true(allocation > 20);
  plan_release(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepts_right_plans),
      cmocka_unit_test(accepts_nothing_to_do),
      cmocka_unit_test(accepts_accumulating_with_beta_one),
      cmocka_unit_test(rejects_single_mistakes),
      cmocka_unit_test(rejects_what_comes_home_twice),
      cmocka_unit_test(rejects_k_added_twice),
      cmocka_unit_test(rejects_unordered_writes),
      cmocka_unit_test(rejects_absent_links),
      cmocka_unit_test(reports_lack_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
