/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The pinner: order, what it answers meanwhile, whom it holds up and whom not, and failures. */
#include "run/handmade.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "cpu/blas.h"
#include "engine/host/host.h"
#include "engine/host/internal.h"
#include "run/pinner.h"
#include "run/place.h"
#include "run/runner.h"
#include "tessera_model.h"

enum { BYTES = 8192, MOST_PINS = 64 };

/* ---- An engine whose pinning can be held and can fail ---- */

static atomic_int allowed, begun, ended; /* pinnings that may end; that have begun; have ended */
static atomic_int failing;               /* the number of the one that fails, from 1; 0: none */
static void *pinned_at[MOST_PINS];       /* in the order in which they began */

static tsr_status spy_pin(tsr_engine_state *state, void *pointer, size_t bytes, bool on) {
  if (!on) return tsr_engine_host.pin(state, pointer, bytes, false);
  int number = atomic_fetch_add(&begun, 1);
  assert_int_equal(number, atomic_load(&ended)); /* one at a time */
  if (number < MOST_PINS) pinned_at[number] = pointer;
  while (number >= atomic_load(&allowed)) tsr_sleep(50e-6);
  tsr_status status = number + 1 == atomic_load(&failing)
                          ? tsr_fail(TSR_ERR_MEMORY, "the system pins no more")
                          : tsr_engine_host.pin(state, pointer, bytes, true);
  atomic_fetch_add(&ended, 1);
  return status;
}

typedef struct rig {
  tsr_engine engine;
  tsr_engine_state *state;
  tsr_runner *runner;
  tsr_pinner *pinner;
  char *memory; /* three times BYTES */
} rig;

static void rig_open(rig *r, int may_end) {
  tsr_engine_options options = {.count = 2, .emulated_memory = 64 << 20, .check = true};
  tsr_device_info info[TSR_MAX_DEVICES];
  int devices;
  atomic_store(&allowed, may_end);
  atomic_store(&begun, 0), atomic_store(&ended, 0), atomic_store(&failing, 0);
  r->engine = tsr_engine_host;
  r->engine.pin = spy_pin;
  assert_int_equal(r->engine.open(&options, &r->state, info, &devices), TSR_OK);
  assert_int_equal(tsr_runner_create(&r->engine, r->state, devices, NULL, &r->runner), TSR_OK);
  assert_int_equal(tsr_pinner_create(&r->engine, r->state, NULL, &r->pinner), TSR_OK);
  r->memory = aligned_alloc(4096, 3 * BYTES);
  assert_non_null(r->memory);
}

static void rig_close(rig *r) {
  tsr_runner_destroy(r->runner);
  tsr_pinner_destroy(r->pinner);
  r->engine.close(r->state);
  free(r->memory);
}

static bool is_pinned(rig *r, const void *pointer) {
  tsr_place place;
  assert_int_equal(r->engine.where(r->state, pointer, &place), TSR_OK);
  return place.memory == TSR_PINNED;
}

/* ---- Alone ---- */

static void carries_out_in_order(void **state) {
  (void)state;
  enum { COUNT = 24, EACH = 3 * BYTES / COUNT };
  rig r;
  rig_open(&r, 0);
  for (int i = 0; i < COUNT; i++) /* in a mixed order of addresses */
    assert_int_equal(tsr_pinner_add(r.pinner, r.memory + i * 7 % COUNT * EACH, EACH), TSR_OK);
  assert_true(atomic_load(&ended) == 0);
  atomic_store(&allowed, MOST_PINS);
  assert_int_equal(tsr_pinner_settle(r.pinner), TSR_OK);
  assert_int_equal(atomic_load(&ended), COUNT);
  for (int i = 0; i < COUNT; i++) {
    assert_ptr_equal(pinned_at[i], r.memory + i * 7 % COUNT * EACH);
    assert_true(is_pinned(&r, pinned_at[i]));
    assert_int_equal(tsr_pinner_remove(r.pinner, pinned_at[i]), TSR_OK);
    assert_false(is_pinned(&r, pinned_at[i]));
  }
  rig_close(&r);
}

/* What is being registered counts as pinned, from its first to its last byte. */
static void answers_meanwhile(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 0);
  char *middle = r.memory + BYTES;
  tsr_place place;
  assert_int_equal(tsr_pinner_add(r.pinner, middle, BYTES), TSR_OK);
  assert_int_equal(tsr_pinner_where(r.pinner, middle + BYTES - 1, &place), TSR_OK);
  assert_true(place.memory == TSR_PINNED && place.begin == middle && place.bytes == BYTES);
  assert_int_equal(tsr_pinner_where(r.pinner, middle + BYTES, &place), TSR_OK);
  assert_int_equal(place.memory, TSR_PAGEABLE);
  assert_int_equal(tsr_pinner_where(r.pinner, middle - 1, &place), TSR_OK);
  assert_int_equal(place.memory, TSR_PAGEABLE);
  assert_false(is_pinned(&r, middle));
  atomic_store(&allowed, 1);
  assert_int_equal(tsr_pinner_settle(r.pinner), TSR_OK);
  assert_int_equal(tsr_pinner_where(r.pinner, middle, &place), TSR_OK);
  assert_true(place.memory == TSR_PINNED && is_pinned(&r, middle));
  rig_close(&r);
}

/* A matrix whose last columns are being registered is placed as partly pinned. */
static void places_operands_meanwhile(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 0);
  tsr_operand operand = {.rows = 32, .cols = 3 * BYTES / 256, .ld = 32};
  assert_int_equal(tsr_pinner_add(r.pinner, r.memory + BYTES, 2 * BYTES), TSR_OK);
  assert_int_equal(tsr_place_operand(r.pinner, 2, TSR_D, "a", r.memory, &operand), TSR_OK);
  assert_int_equal(operand.memory, TSR_PAGEABLE);
  assert_int_equal(operand.pinned_begin, BYTES);
  assert_int_equal(operand.pinned_end, 3 * BYTES);
  operand.cols = BYTES / 256;
  assert_int_equal(tsr_place_operand(r.pinner, 2, TSR_D, "a", r.memory + BYTES, &operand), TSR_OK);
  assert_int_equal(operand.memory, TSR_PINNED);
  atomic_store(&allowed, 1);
  rig_close(&r);
}

static void tells_what_is_touched(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 0);
  assert_int_equal(tsr_pinner_touching(r.pinner, r.memory, 3 * BYTES), 0);
  assert_int_equal(tsr_pinner_add(r.pinner, r.memory, BYTES), TSR_OK);
  assert_int_equal(tsr_pinner_add(r.pinner, r.memory + BYTES, BYTES), TSR_OK);
  assert_int_equal(tsr_pinner_touching(r.pinner, r.memory, 3 * BYTES), 2);
  assert_int_equal(tsr_pinner_touching(r.pinner, r.memory + 8, BYTES - 8), 1);
  assert_int_equal(tsr_pinner_touching(r.pinner, r.memory + BYTES - 1, 2), 2);
  assert_int_equal(tsr_pinner_touching(r.pinner, r.memory + 2 * BYTES, BYTES), 0);
  assert_int_equal(tsr_pinner_touching(r.pinner, r.memory, 0), 0);
  assert_int_equal(tsr_pinner_touching(r.pinner, NULL, BYTES), 0);
  atomic_store(&allowed, 1);
  tsr_pinner_await(r.pinner, 1);
  assert_int_equal(tsr_pinner_touching(r.pinner, r.memory, BYTES), 0);
  assert_int_equal(tsr_pinner_touching(r.pinner, r.memory, 3 * BYTES), 2);
  atomic_store(&allowed, 2);
  assert_int_equal(tsr_pinner_settle(r.pinner), TSR_OK);
  assert_int_equal(tsr_pinner_touching(r.pinner, r.memory, 3 * BYTES), 0);
  rig_close(&r);
}

static void refused(rig *r, void *pointer, size_t bytes, const char *mention) {
  assert_int_equal(tsr_pinner_add(r->pinner, pointer, bytes), TSR_ERR_ARGUMENT);
  if (!strstr(tsr_message(), mention)) fail_msg("\"%s\": no \"%s\"", tsr_message(), mention);
}

static void refuses_wrong_memory(void **state) {
  (void)state;
  rig r;
  rig_open(&r, MOST_PINS);
  void *device, *host;
  assert_int_equal(r.engine.alloc(r.state, 1, BYTES, &device), TSR_OK);
  assert_int_equal(r.engine.alloc(r.state, TSR_HOST, BYTES, &host), TSR_OK);
  refused(&r, NULL, BYTES, "NULL");
  refused(&r, r.memory, 0, "bytes is 0");
  refused(&r, r.memory, SIZE_MAX, "beyond");
  refused(&r, device, BYTES, "device 1");
  refused(&r, host, BYTES, "pinned already");
  assert_int_equal(tsr_pinner_add(r.pinner, r.memory + BYTES, BYTES), TSR_OK);
  refused(&r, r.memory, 3 * BYTES, "unregister");
  refused(&r, r.memory, BYTES + 1, "unregister");
  refused(&r, r.memory + 2 * BYTES - 1, BYTES, "unregister");
  refused(&r, r.memory + BYTES + 16, 16, "unregister");
  assert_int_equal(tsr_pinner_add(r.pinner, r.memory + 2 * BYTES, BYTES), TSR_OK);
  assert_int_equal(tsr_pinner_remove(r.pinner, r.memory), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_pinner_remove(r.pinner, r.memory + BYTES + 1), TSR_ERR_ARGUMENT);
  assert_non_null(strstr(tsr_message(), "no registered memory begins"));
  assert_int_equal(tsr_pinner_remove(r.pinner, r.memory + BYTES), TSR_OK);
  assert_int_equal(tsr_pinner_remove(r.pinner, r.memory + BYTES), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_pinner_settle(r.pinner), TSR_OK); /* refusals are no registrations */
  r.engine.free(r.state, 1, device), r.engine.free(r.state, TSR_HOST, host);
  rig_close(&r);
}

/* Without pinning of the engine's there is nothing to do, or it is said that it cannot be. */
static void minds_engines_that_cannot(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 0);
  tsr_pinner_destroy(r.pinner);
  r.engine.pin = NULL;
  assert_int_equal(tsr_pinner_create(&r.engine, r.state, NULL, &r.pinner), TSR_OK);
  assert_int_equal(tsr_pinner_add(r.pinner, r.memory, BYTES), TSR_ERR_UNSUPPORTED);
  tsr_pinner_destroy(r.pinner);
  assert_int_equal(tsr_pinner_create(NULL, NULL, NULL, &r.pinner), TSR_OK);
  assert_int_equal(tsr_pinner_add(r.pinner, r.memory, BYTES), TSR_OK);
  refused(&r, r.memory + 1, BYTES, "unregister");
  assert_int_equal(tsr_pinner_touching(r.pinner, r.memory, BYTES), 0);
  assert_int_equal(tsr_pinner_remove(r.pinner, r.memory), TSR_OK);
  assert_int_equal(tsr_pinner_remove(r.pinner, r.memory), TSR_ERR_ARGUMENT);
  rig_close(&r);
}

/* ---- Failures ---- */

/* The first one is told once; failed memory can be unregistered or registered again. */
static void tells_failures(void **state) {
  (void)state;
  rig r;
  rig_open(&r, MOST_PINS);
  atomic_store(&failing, 2);
  for (int i = 0; i < 3; i++)
    assert_int_equal(tsr_pinner_add(r.pinner, r.memory + i * BYTES, BYTES), TSR_OK);
  assert_int_equal(tsr_pinner_settle(r.pinner), TSR_ERR_MEMORY);
  assert_non_null(strstr(tsr_message(), "8192 bytes"));
  assert_non_null(strstr(tsr_message(), "the system pins no more"));
  assert_int_equal(tsr_pinner_settle(r.pinner), TSR_OK);
  assert_true(is_pinned(&r, r.memory) && is_pinned(&r, r.memory + 2 * BYTES));
  assert_false(is_pinned(&r, r.memory + BYTES));
  atomic_store(&failing, 4);
  assert_int_equal(tsr_pinner_add(r.pinner, r.memory + BYTES, BYTES), TSR_OK); /* again: fails */
  assert_int_equal(tsr_pinner_settle(r.pinner), TSR_ERR_MEMORY);
  assert_int_equal(tsr_pinner_remove(r.pinner, r.memory + BYTES), TSR_OK);
  assert_int_equal(tsr_pinner_remove(r.pinner, r.memory + BYTES), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_pinner_add(r.pinner, r.memory + BYTES, 64), TSR_OK); /* and well */
  assert_int_equal(tsr_pinner_settle(r.pinner), TSR_OK);
  assert_true(is_pinned(&r, r.memory + BYTES));
  rig_close(&r);
}

/* Every allocation fails in turn, also those of the thread: a status, and it works again. */
static void survives_lack_of_host_memory(void **state) {
  (void)state;
  tsr_status status = TSR_ERR_MEMORY;
  for (long n = 1; status != TSR_OK; n++) {
    assert_true(n < 50);
    rig r;
    rig_open(&r, MOST_PINS);
    tsr_alloc_fail_at(n);
    status = tsr_pinner_add(r.pinner, r.memory, BYTES);
    if (status == TSR_OK) status = tsr_pinner_settle(r.pinner);
    tsr_alloc_fail_at(0);
    if (status != TSR_OK) assert_int_equal(status, TSR_ERR_MEMORY);
    if (status != TSR_OK) assert_int_equal(tsr_pinner_add(r.pinner, r.memory, BYTES), TSR_OK);
    assert_int_equal(tsr_pinner_settle(r.pinner), TSR_OK);
    assert_true(is_pinned(&r, r.memory));
    rig_close(&r);
  }
}

/* ---- The end ---- */

static void *allow_later(void *argument) {
  (void)argument;
  tsr_sleep(5e-3);
  atomic_store(&allowed, 1);
  return NULL;
}

/* What is under way ends, what is behind it never begins, and what is pinned is unpinned. */
static void ends_with_work_left(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 0);
  for (int i = 0; i < 3; i++)
    assert_int_equal(tsr_pinner_add(r.pinner, r.memory + i * BYTES, BYTES), TSR_OK);
  while (atomic_load(&begun) == 0) tsr_sleep(50e-6);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, allow_later, NULL), 0);
  tsr_pinner_destroy(r.pinner);
  pthread_join(thread, NULL);
  assert_int_equal(atomic_load(&begun), 1);
  assert_int_equal(atomic_load(&ended), 1);
  for (int i = 0; i < 3; i++) assert_false(is_pinned(&r, r.memory + i * BYTES));
  r.pinner = NULL;
  rig_close(&r);
}

static void ends_unused(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 0);
  assert_int_equal(tsr_pinner_settle(r.pinner), TSR_OK);
  rig_close(&r);
  tsr_pinner_destroy(NULL);
}

/* ---- With jobs ---- */

static tsr_job *submit(rig *r, tsr_plan *plan, const problem *p, uint64_t registration) {
  tsr_submission submission = {.program = handmade_program(plan),
                               .binding = problem_binding(p),
                               .pinner = r->pinner,
                               .registration = registration};
  tsr_job *job = NULL;
  assert_int_equal(tsr_runner_submit(r->runner, &submission, &job), TSR_OK);
  return job;
}

/* A job waits for its registration and for no later one; submitting waits for none. */
static void holds_up_jobs(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 0);
  tsr_plan *plan = handmade_plan(2, 16, true);
  problem p[3];
  tsr_job *jobs[3];
  for (unsigned i = 0; i < 3; i++) problem_make(&p[i], 16, i);
  for (int i = 0; i < 2; i++)
    assert_int_equal(tsr_pinner_add(r.pinner, p[i].a, 8 * 16 * 16), TSR_OK);
  for (unsigned i = 0; i < 3; i++)
    jobs[i] = submit(&r, plan, &p[i], tsr_pinner_touching(r.pinner, p[i].a, 8 * 16 * 16));
  tsr_sleep(20e-3);
  for (int i = 0; i < 3; i++) assert_false(tsr_job_done(jobs[i]));
  atomic_store(&allowed, 1);
  assert_int_equal(tsr_job_wait(jobs[0]), TSR_OK);
  problem_check(&p[0]);
  tsr_sleep(20e-3);
  assert_false(tsr_job_done(jobs[1]));
  assert_int_equal(atomic_load(&ended), 1);
  atomic_store(&allowed, 2);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(tsr_job_wait(jobs[i]), TSR_OK);
    problem_check(&p[i]);
    tsr_job_release(jobs[i]);
  }
  for (int i = 0; i < 2; i++) assert_int_equal(tsr_pinner_remove(r.pinner, p[i].a), TSR_OK);
  for (int i = 0; i < 3; i++) problem_free(&p[i]);
  handmade_free(plan);
  rig_close(&r);
}

/* Where pinning fails the job runs nevertheless. */
static void runs_without(void **state) {
  (void)state;
  rig r;
  rig_open(&r, MOST_PINS);
  atomic_store(&failing, 1);
  tsr_plan *plan = handmade_plan(2, 16, false);
  problem p;
  problem_make(&p, 16, 5);
  assert_int_equal(tsr_pinner_add(r.pinner, p.a, 8 * 16 * 16), TSR_OK);
  tsr_job *job = submit(&r, plan, &p, 1);
  assert_int_equal(tsr_job_wait(job), TSR_OK);
  problem_check(&p);
  tsr_job_release(job);
  assert_int_equal(tsr_pinner_settle(r.pinner), TSR_ERR_MEMORY);
  problem_free(&p);
  handmade_free(plan);
  rig_close(&r);
}

/* That a job waits matters: emulated devices find copies of memory that is being pinned. */
static void finds_jobs_that_do_not_wait(void **state) {
  (void)state;
  rig r;
  rig_open(&r, MOST_PINS);
  tsr_plan *plan = handmade_plan(2, 16, false);
  problem p;
  problem_make(&p, 16, 5);
  tsr_engine_host_hold_pins(true);
  assert_int_equal(tsr_pinner_add(r.pinner, p.b, 8 * 16 * 16), TSR_OK);
  while (!host_being_pinned(r.state, (char *)p.b, 1)) tsr_sleep(50e-6);
  tsr_job *job = submit(&r, plan, &p, 0);
  assert_int_equal(tsr_job_wait(job), TSR_ERR_CHECK);
  assert_non_null(strstr(tsr_message(), "being pinned"));
  tsr_engine_host_hold_pins(false);
  tsr_job_release(job);
  assert_int_equal(tsr_pinner_settle(r.pinner), TSR_OK);
  problem_free(&p);
  handmade_free(plan);
  rig_close(&r);
}

/* ---- Several threads ---- */

typedef struct caller {
  rig *r;
  tsr_plan *plan;
  unsigned seed;
  int wrong;
} caller;

static void *register_often(void *argument) {
  caller *c = argument;
  for (unsigned i = 0; i < 25; i++) {
    problem p;
    problem_make(&p, 16, c->seed + i);
    size_t bytes = 8 * 16 * 16;
    c->wrong += tsr_pinner_add(c->r->pinner, p.a, bytes) != TSR_OK;
    if (i % 3 == 0) c->wrong += tsr_pinner_add(c->r->pinner, p.c, bytes) != TSR_OK;
    tsr_job *job = submit(c->r, c->plan, &p, tsr_pinner_touching(c->r->pinner, p.a, bytes));
    if (i % 4 == 0) c->wrong += tsr_pinner_settle(c->r->pinner) != TSR_OK;
    c->wrong += tsr_job_wait(job) != TSR_OK || p.c[0] != p.wanted[0];
    tsr_job_release(job);
    c->wrong += tsr_pinner_remove(c->r->pinner, p.a) != TSR_OK;
    if (i % 3 == 0) c->wrong += tsr_pinner_remove(c->r->pinner, p.c) != TSR_OK;
    problem_free(&p);
  }
  return NULL;
}

static void serves_several_threads(void **state) {
  (void)state;
  enum { THREADS = 3 };
  rig r;
  rig_open(&r, 10000);
  tsr_plan *plan = handmade_plan(2, 16, false);
  handmade_program(plan); /* made before the threads begin, which would each make one */
  caller callers[THREADS];
  pthread_t threads[THREADS];
  for (unsigned i = 0; i < THREADS; i++) {
    callers[i] = (caller){&r, plan, 1000 * i, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, register_often, &callers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(callers[i].wrong, 0);
  }
  handmade_free(plan);
  rig_close(&r);
}

int main(void) {
  assert_int_equal(tsr_cpu_blas_load(), TSR_OK);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(carries_out_in_order),
      cmocka_unit_test(answers_meanwhile),
      cmocka_unit_test(places_operands_meanwhile),
      cmocka_unit_test(tells_what_is_touched),
      cmocka_unit_test(refuses_wrong_memory),
      cmocka_unit_test(minds_engines_that_cannot),
      cmocka_unit_test(tells_failures),
      cmocka_unit_test(survives_lack_of_host_memory),
      cmocka_unit_test(ends_with_work_left),
      cmocka_unit_test(ends_unused),
      cmocka_unit_test(holds_up_jobs),
      cmocka_unit_test(runs_without),
      cmocka_unit_test(finds_jobs_that_do_not_wait),
      cmocka_unit_test(serves_several_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
