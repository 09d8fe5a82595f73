/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What might outlive a call: nothing of it is under way when it is over, whatever fails. */
#include "run/rig.h"

#include "base/clock.h"
#include "tessera_model.h"

/* An engine whose queues stand still until it was asked often whether an event has passed: whoever
 * does not wait finds them so. What else is wrong with it: */
enum {
  STARVES = 1,      /* from its first copy on it has no memory for events */
  STARVES_LATE = 2, /* from the first copy home on */
  LOST = 4,         /* it says that its device is lost, for longer than anybody would wait */
  SPLITS = 8        /* copies fail half-way */
};
enum { QUERIES = 300 };

static struct {
  atomic_int wrong, queries;
  atomic_bool starves, holds;
  double began;
} stall;

static void stall_begin(int wrong) {
  stall.wrong = wrong;
  atomic_store(&stall.queries, 0);
  atomic_store(&stall.holds, true);
  stall.began = tsr_now();
  tsr_engine_host_hold_queues(true);
}

static void stall_end(void) {
  stall.wrong = 0;
  atomic_store(&stall.starves, false);
  atomic_store(&stall.holds, false);
  tsr_engine_host_hold_queues(false);
}

static tsr_status stall_copy(tsr_queue *queue, const tsr_copy_args *args) {
  tsr_status status = tsr_engine_host.copy(queue, args);
  bool home = args->to_device == TSR_HOST;
  if (stall.wrong & (home ? STARVES | STARVES_LATE : STARVES)) atomic_store(&stall.starves, true);
  if (status != TSR_OK || !(stall.wrong & SPLITS)) return status;
  return tsr_fail(TSR_ERR_DEVICE, "the second half cannot be copied");
}

static tsr_status stall_record(tsr_queue *queue, tsr_queue_event *event) {
  if (atomic_load(&stall.starves)) tsr_alloc_fail_from(1);
  tsr_status status = tsr_engine_host.record(queue, event);
  tsr_alloc_fail_at(0);
  return status;
}

static tsr_status stall_query(tsr_queue_event *event, bool *passed, double *seconds) {
  static const double long_time = 5.5;
  bool lost = (stall.wrong & LOST) != 0;
  bool enough =
      lost ? tsr_now() - stall.began > long_time : atomic_fetch_add(&stall.queries, 1) > QUERIES;
  if (enough && atomic_exchange(&stall.holds, false)) tsr_engine_host_hold_queues(false);
  tsr_status status = tsr_engine_host.query(event, passed, seconds);
  return lost ? tsr_fail(TSR_ERR_DEVICE, "the device is lost") : status;
}

static tsr_engine stalling;

/* Only the engine of emulated devices can be told to hold its queues. */
static void rig_open_stalling(rig *r) {
  rig_needs_emulated_devices();
  rig_open(r, 1, 0, 0);
  tsr_runner_destroy(r->runner);
  stalling = tsr_engine_host;
  stalling.copy = stall_copy, stalling.record = stall_record, stalling.query = stall_query;
  assert_int_equal(tsr_runner_create(&stalling, r->state, 1, NULL, &r->runner), TSR_OK);
}

/* A run with a stall, which must be waited out; the runner then does the same plan as it should. */
static void waits_and_goes_on(rig *r, bool staged, int wrong, tsr_status wanted) {
  tsr_plan *plan = handmade_plan(1, 8, staged);
  problem p;
  problem_make(&p, 8, 1);
  double *was = malloc(64 * sizeof *was);
  memcpy(was, p.c, 64 * sizeof *was);
  stall_begin(wrong);
  tsr_job *job = submit(r, plan, &p, false);
  tsr_status status = tsr_job_wait(job);
  bool waited = !atomic_load(&stall.holds);
  stall_end();
  assert_int_equal(status, wanted);
  assert_true(waited);
  if (status == TSR_OK) problem_check(&p);
  tsr_job_release(job);
  memcpy(p.c, was, 64 * sizeof *was);
  job = submit(r, plan, &p, false);
  assert_int_equal(tsr_job_wait(job), TSR_OK);
  problem_check(&p);
  tsr_job_release(job);
  problem_free(&p);
  free(was);
  handmade_free(plan);
}

/* No job is over while its commands may still touch memory, though nothing marks their end. */
static void waits_without_events(void **state) {
  (void)state;
  rig r;
  rig_open_stalling(&r);
  for (int staged = 0; staged < 2; staged++) waits_and_goes_on(&r, staged, STARVES, TSR_ERR_DEVICE);
  waits_and_goes_on(&r, false, STARVES_LATE, TSR_OK); /* all that has to be done is in the queues */
  rig_close(&r);
}

static void waits_for_a_lost_device(void **state) {
  (void)state;
  rig r;
  rig_open_stalling(&r);
  waits_and_goes_on(&r, false, LOST, TSR_ERR_DEVICE);
  rig_close(&r);
}

/* A stream that does not wait for a job's last events must not go on before the job is over. */
static void keeps_streams_from_what_failed(void **state) {
  (void)state;
  rig r;
  int stream;
  rig_open_stalling(&r);
  assert_int_equal(tsr_runner_tie(r.runner, 0, &stream), TSR_OK);
  tsr_plan *plan = handmade_plan(1, 8, false);
  problem p;
  problem_make(&p, 8, 1);
  stall_begin(STARVES);
  tsr_job *job = submit(&r, plan, &p, false);
  bool waited = !atomic_load(&stall.holds), done = tsr_job_done(job);
  stall_end();
  assert_true(waited && done);
  assert_int_equal(tsr_job_wait(job), TSR_ERR_DEVICE);
  tsr_job_release(job);
  problem_free(&p);
  handmade_free(plan);
  rig_close(&r);
}

/* A single copy is complete when it returns, and over also where it failed half-way. */
static void waits_for_single_copies(void **state) {
  (void)state;
  rig r;
  void *at;
  double data[4] = {1, 2, 3, 4};
  rig_open_stalling(&r);
  assert_int_equal(tsr_engine_host.alloc(r.state, 0, sizeof data, &at), TSR_OK);
  tsr_copy_args args = {at, data, 0, TSR_HOST, sizeof data, sizeof data, sizeof data, 1};
  for (int splits = 0; splits < 2; splits++) {
    stall_begin(splits ? STARVES | SPLITS : STARVES);
    tsr_status status = tsr_runner_copy(r.runner, &args);
    bool waited = !atomic_load(&stall.holds);
    stall_end();
    assert_int_equal(status, splits ? TSR_ERR_DEVICE : TSR_OK);
    assert_true(waited);
    if (splits) assert_string_equal(tsr_message(), "the second half cannot be copied");
    assert_memory_equal(at, data, sizeof data);
    data[0] += 1;
  }
  tsr_engine_host.free(r.state, 0, at);
  rig_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waits_without_events),
      cmocka_unit_test(waits_for_a_lost_device),
      cmocka_unit_test(keeps_streams_from_what_failed),
      cmocka_unit_test(waits_for_single_copies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
