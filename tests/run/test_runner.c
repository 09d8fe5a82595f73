/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The runner with plans made by hand. */
#include "run/rig.h"

#include <math.h>
#include <pthread.h>

#include "base/clock.h"
#include "cpu/blas.h"
#include "engine/host/host.h"
#include "run/inside.h"
#include "tessera_model.h"

static void run_one(int devices, int64_t n, bool staged, uint64_t delays, int cores) {
  rig r;
  rig_open(&r, devices, delays, cores);
  tsr_plan *plan = handmade_plan(devices, n, staged);
  for (unsigned i = 0; i < 3; i++) {
    problem p;
    problem_make(&p, n, i);
    tsr_job *job = submit(&r, plan, &p, false);
    assert_int_equal(tsr_job_wait(job), TSR_OK);
    assert_true(tsr_job_done(job));
    problem_check(&p);
    tsr_job_release(job);
    problem_free(&p);
  }
  handmade_free(plan);
  rig_close(&r);
}

static void runs_a_plan(void **state) {
  (void)state;
  for (int devices = 1; devices <= 8; devices *= 2) run_one(devices, 40, false, 0, 0);
}

static void runs_staging(void **state) {
  (void)state;
  for (int devices = 1; devices <= 8; devices *= 2) run_one(devices, 40, true, 0, 0);
}

static void runs_under_delays(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) run_one(3, 17, seed % 2 == 0, seed, 0);
}

/* As on a machine with many cores. */
static void runs_spinning(void **state) {
  (void)state;
  run_one(2, 24, true, 0, 1000);
}

static void runs_many_in_a_row(void **state) {
  (void)state;
  enum { CALLS = 200 };
  rig r;
  rig_open(&r, 2, 0, 0);
  tsr_plan *plans[2] = {handmade_plan(2, 8, false), handmade_plan(2, 12, true)};
  tsr_job *jobs[CALLS];
  problem *problems = calloc(CALLS, sizeof *problems);
  for (unsigned i = 0; i < CALLS; i++) {
    problem_make(&problems[i], i % 2 ? 12 : 8, i);
    jobs[i] = submit(&r, plans[i % 2], &problems[i], i % 5 == 0);
  }
  for (unsigned i = 0; i < CALLS; i++) {
    assert_int_equal(tsr_job_wait(jobs[i]), TSR_OK);
    problem_check(&problems[i]);
    tsr_job_release(jobs[i]);
    problem_free(&problems[i]);
  }
  free(problems);
  handmade_free(plans[0]);
  handmade_free(plans[1]);
  rig_close(&r);
}

/* ---- Two callers ---- */

typedef struct caller {
  rig *r;
  tsr_plan *plan;
  unsigned seed;
} caller;

static void *call_often(void *argument) {
  caller *c = argument;
  for (unsigned i = 0; i < 30; i++) {
    problem p;
    problem_make(&p, 16, c->seed + i);
    tsr_job *job = submit(c->r, c->plan, &p, false);
    assert_int_equal(tsr_job_wait(job), TSR_OK);
    problem_check(&p);
    tsr_job_release(job);
    problem_free(&p);
  }
  return NULL;
}

/* Both threads run the same program, which is made before they begin. */
static void serves_two_threads(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 2, 0, 0);
  tsr_plan *plan = handmade_plan(2, 16, true);
  (void)handmade_program(plan);
  caller callers[2] = {{&r, plan, 1}, {&r, plan, 1000}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, call_often, &callers[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  handmade_free(plan);
  rig_close(&r);
}

/* ---- Failures ---- */

/* Each command and allocation fails once; nobody hangs, and the job tells. */
static void survives_failures(void **state) {
  (void)state;
  rig_needs_emulated_devices();
  for (int staged = 0; staged < 2; staged++) {
    bool failed = true;
    for (long n = 1; failed; n++) {
      assert_true(n < 200);
      rig r;
      rig_open(&r, 2, (uint64_t)n % 3, 0);
      tsr_plan *plan = handmade_plan(2, 8, staged);
      problem p;
      problem_make(&p, 8, 1);
      tsr_submission submission = {.program = handmade_program(plan),
                                   .binding = problem_binding(&p)};
      tsr_job *job = NULL;
      tsr_engine_host_fail_at(n);
      tsr_status status = tsr_runner_submit(r.runner, &submission, &job);
      if (status == TSR_OK) {
        status = tsr_job_wait(job);
        tsr_job_release(job);
        if (status != TSR_OK) assert_int_equal(status, TSR_ERR_DEVICE);
      } else {
        assert_int_equal(status, TSR_ERR_MEMORY);
        assert_true(submission.short_of >= 0);
      }
      tsr_engine_host_fail_at(0);
      failed = status != TSR_OK;
      if (!failed) problem_check(&p);
      if (failed) assert_true(strlen(tsr_message()) > 0);
      problem_free(&p);
      handmade_free(plan);
      rig_close(&r);
    }
  }
}

static void survives_lack_of_host_memory(void **state) {
  (void)state;
  tsr_status status = TSR_ERR_MEMORY;
  for (long n = 1; status != TSR_OK; n++) {
    assert_true(n < 500);
    rig r;
    rig_open(&r, 2, 0, 0);
    tsr_plan *plan = handmade_plan(2, 8, true);
    problem p;
    problem_make(&p, 8, 1);
    tsr_submission submission = {.binding = problem_binding(&p), .trace = true};
    tsr_job *job = NULL;
    tsr_alloc_fail_at(n);
    status = tsr_program_create(plan, handmade_place(plan));
    submission.program = *handmade_place(plan);
    if (status == TSR_OK) status = tsr_runner_submit(r.runner, &submission, &job);
    if (status == TSR_OK) {
      status = tsr_job_wait(job);
      tsr_job_release(job);
    }
    tsr_alloc_fail_at(0);
    if (status == TSR_OK) problem_check(&p);
    problem_free(&p);
    handmade_free(plan);
    rig_close(&r);
  }
}

static tsr_status short_of_memory(tsr_queue *queue, const tsr_kernel_args *args) {
  (void)queue, (void)args;
  return tsr_fail(TSR_ERR_MEMORY, "no workspace");
}

/* Lack of memory in the middle of a run is no TSR_ERR_MEMORY, which says that nothing was touched.
 */
static void tells_late_lack_of_memory(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 1, 0, 0);
  tsr_runner_destroy(r.runner);
  tsr_engine engine = *rig_engine();
  engine.kernel = short_of_memory;
  assert_int_equal(tsr_runner_create(&engine, r.state, 1, NULL, &r.runner), TSR_OK);
  tsr_plan *plan = handmade_plan(1, 8, false);
  problem p;
  problem_make(&p, 8, 1);
  tsr_job *job = submit(&r, plan, &p, false);
  assert_int_equal(tsr_job_wait(job), TSR_ERR_DEVICE);
  assert_string_equal(tsr_message(), "no workspace");
  tsr_job_release(job);
  problem_free(&p);
  handmade_free(plan);
  rig_close(&r);
}

static void refuses_what_does_not_fit(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 2, 0, 0);
  tsr_plan *plan = handmade_plan(2, 8, false);
  problem p;
  problem_make(&p, 8, 1);
  tsr_submission submission = {.program = handmade_program(plan), .binding = problem_binding(&p)};
  tsr_job *job = NULL;
  plan->arena[1] = (size_t)1 << 40;
  assert_int_equal(tsr_runner_submit(r.runner, &submission, &job), TSR_ERR_MEMORY);
  assert_int_equal(submission.short_of, 1);
  plan->arena[1] = 1 << 20;
  assert_int_equal(tsr_runner_submit(r.runner, &submission, &job), TSR_OK);
  tsr_job_release(job);
  tsr_runner_trim(r.runner);
  plan->machine_devices = 1;
  assert_int_not_equal(tsr_runner_submit(r.runner, &submission, &job), TSR_OK);
  plan->machine_devices = 2;
  problem_free(&p);
  handmade_free(plan);
  rig_close(&r);
}

/* ---- Traces ---- */

/* Emulated devices have the host's clock. The clocks of others are set by it, with an error that
 * has no bound on a busy machine: times of one queue alone are compared then. */
static void check_times(const tsr_plan *plan, const float *times, double seconds) {
  float queue_end[TSR_PLAN_QUEUES];
  bool one_clock = harness_emulates();
  for (int q = 0; q < TSR_PLAN_QUEUES; q++) queue_end[q] = one_clock ? 0 : -INFINITY;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    float begin = times[2 * i], end = times[2 * i + 1];
    assert_true(begin <= end && begin >= queue_end[c->queue]);
    queue_end[c->queue] = end;
    if (!one_clock) continue;
    assert_true(begin > 0 && end <= seconds + 1e-6);
    for (uint32_t w = 0; w < c->waits; w++)
      assert_true(begin >= times[2 * plan->waits.items[c->wait + w] + 1]);
  }
}

static void measures_times(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 3, 5, 0);
  for (int staged = 0; staged < 2; staged++) {
    tsr_plan *plan = handmade_plan(3, 24, staged);
    problem p;
    problem_make(&p, 24, 9);
    tsr_job *job = submit(&r, plan, &p, true);
    assert_int_equal(tsr_job_wait(job), TSR_OK);
    problem_check(&p);
    float *times = tsr_job_take_times(job);
    assert_non_null(times);
    check_times(plan, times, tsr_job_seconds(job));
    tsr_dealloc(times);
    tsr_job_release(job);
    problem_free(&p);
    handmade_free(plan);
  }
  rig_close(&r);
}

/* ---- Users' streams and copies ---- */

static void minds_user_streams(void **state) {
  (void)state;
  rig_needs_emulated_devices(); /* any address is a stream of theirs */
  rig r;
  rig_open(&r, 3, 11, 0);
  int stream;
  assert_int_equal(tsr_runner_tie(r.runner, 3, &stream), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_runner_tie(r.runner, 2, &stream), TSR_OK);
  assert_int_equal(tsr_runner_tie(r.runner, 0, &stream), TSR_OK);
  tsr_plan *plan = handmade_plan(3, 16, true);
  for (unsigned i = 0; i < 5; i++) {
    problem p;
    problem_make(&p, 16, i);
    tsr_job *job = submit(&r, plan, &p, false);
    problem_check(&p); /* staging queues bring C home, for which no stream could wait */
    if (i == 2) assert_int_equal(tsr_runner_tie(r.runner, 0, NULL), TSR_OK);
    assert_int_equal(tsr_runner_join(r.runner), TSR_OK); /* it is behind the call */
    assert_int_equal(tsr_job_wait(job), TSR_OK);
    problem_check(&p);
    tsr_job_release(job);
    problem_free(&p);
  }
  handmade_free(plan);
  rig_close(&r);
}

static void copies_between_places(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 2, 0, 0);
  double data[64], back[64] = {0};
  for (int i = 0; i < 64; i++) data[i] = i;
  void *at[2];
  for (int d = 0; d < 2; d++)
    assert_int_equal(rig_engine()->alloc(r.state, d, sizeof data, &at[d]), TSR_OK);
  tsr_copy_args args = {at[0], data, 0, TSR_HOST, sizeof data, sizeof data, sizeof data, 1};
  assert_int_equal(tsr_runner_copy(r.runner, &args), TSR_OK);
  args = (tsr_copy_args){at[1], at[0], 1, 0, sizeof data, sizeof data, sizeof data, 1};
  assert_int_equal(tsr_runner_copy(r.runner, &args), TSR_OK);
  args = (tsr_copy_args){back, at[1], TSR_HOST, 1, sizeof data, sizeof data, sizeof data, 1};
  assert_int_equal(tsr_runner_copy(r.runner, &args), TSR_OK);
  assert_memory_equal(back, data, sizeof data);
  for (int d = 0; d < 2; d++) rig_engine()->free(r.state, d, at[d]);
  rig_close(&r);
}

/* An engine that notes which of its functions that may change a thread's current device run on the
 * caller's thread. */
static pthread_t watched;
static atomic_int visits, calls;

static void note_visit(void) {
  atomic_fetch_add(&calls, 1);
  if (pthread_equal(pthread_self(), watched)) atomic_fetch_add(&visits, 1);
}
static tsr_status spy_record(tsr_queue *queue, tsr_queue_event *event) {
  note_visit();
  return rig_engine()->record(queue, event);
}
static tsr_status spy_wait(tsr_queue *queue, tsr_queue_event *event) {
  note_visit();
  return rig_engine()->wait(queue, event);
}
static tsr_status spy_query(tsr_queue_event *event, bool *passed, double *seconds) {
  note_visit();
  return rig_engine()->query(event, passed, seconds);
}
static tsr_status spy_copy(tsr_queue *queue, const tsr_copy_args *args) {
  note_visit();
  return rig_engine()->copy(queue, args);
}
static tsr_status spy_kernel(tsr_queue *queue, const tsr_kernel_args *args) {
  note_visit();
  return rig_engine()->kernel(queue, args);
}

static void keeps_off_the_callers_thread(void **state) {
  (void)state;
  rig r;
  rig_open_devices(&r, 2, false, 0);
  tsr_engine spy = *rig_engine();
  spy.record = spy_record, spy.wait = spy_wait, spy.query = spy_query;
  spy.copy = spy_copy, spy.kernel = spy_kernel;
  watched = pthread_self();
  tsr_runner_settings settings = {.warm = true};
  assert_int_equal(tsr_runner_create(&spy, r.state, 2, &settings, &r.runner), TSR_OK);
  int stream;
  if (harness_emulates()) assert_int_equal(tsr_runner_tie(r.runner, 1, &stream), TSR_OK);
  tsr_plan *plan = handmade_plan(2, 16, true);
  problem p;
  problem_make(&p, 16, 1);
  tsr_job *job = submit(&r, plan, &p, true);
  assert_int_equal(tsr_job_wait(job), TSR_OK);
  problem_check(&p);
  tsr_job_release(job);
  assert_int_equal(tsr_runner_join(r.runner), TSR_OK);
  double one = 1;
  void *at;
  assert_int_equal(rig_engine()->alloc(r.state, 0, sizeof one, &at), TSR_OK);
  tsr_copy_args args = {at, &one, 0, TSR_HOST, sizeof one, sizeof one, sizeof one, 1};
  assert_int_equal(tsr_runner_copy(r.runner, &args), TSR_OK);
  assert_true(atomic_load(&calls) > 0);
  assert_int_equal(atomic_load(&visits), 0);
  rig_engine()->free(r.state, 0, at);
  problem_free(&p);
  handmade_free(plan);
  rig_close(&r);
}

/* ---- Jobs beside each other ---- */

/* An engine on which nothing passes before so many copies were asked for: a job that waits for the
 * end of an earlier one asks for none, and after a while all passes. */
static atomic_int asked, awaited;
static atomic_bool gave_up;
static double gate_closed, patience;

static tsr_status gate_copy(tsr_queue *queue, const tsr_copy_args *args) {
  atomic_fetch_add(&asked, 1);
  return rig_engine()->copy(queue, args);
}
static tsr_status gate_query(tsr_queue_event *event, bool *passed, double *seconds) {
  bool late = tsr_now() - gate_closed > patience;
  bool all = atomic_load(&asked) >= atomic_load(&awaited);
  if (late && !all) atomic_store(&gave_up, true);
  if (late || all) return rig_engine()->query(event, passed, seconds);
  *passed = false;
  return TSR_OK;
}

static tsr_job *submit_lodged(rig *r, tsr_plan *plan, const tsr_binding *binding, void **arena) {
  tsr_submission submission = {
      .program = handmade_program(plan), .binding = *binding, .cached = {.arenas = arena}};
  tsr_job *job = NULL;
  assert_int_equal(rig_engine()->alloc(r->state, 0, plan->arena[0], &arena[0]), TSR_OK);
  assert_int_equal(tsr_runner_submit(r->runner, &submission, &job), TSR_OK);
  return job;
}

static int count_copies(const tsr_plan *plan) {
  int copies = 0;
  for (size_t i = 0; i < plan->commands.count; i++)
    copies += plan->commands.items[i].kind == TSR_COMMAND_COPY;
  return copies;
}

enum { MOST_RUNS = TSR_RUN_JOBS };

/* Several runs; beside: whether the last one begins before the first one has ended. */
static void run_all(tsr_plan *const *plans, const tsr_binding *bindings, int count, bool beside) {
  rig r;
  rig_open(&r, 1, 0, 0);
  tsr_runner_destroy(r.runner);
  tsr_engine engine = *rig_engine();
  engine.copy = gate_copy, engine.query = gate_query;
  tsr_runner_settings settings = {.poison = false};
  assert_int_equal(tsr_runner_create(&engine, r.state, 1, &settings, &r.runner), TSR_OK);
  atomic_store(&asked, 0);
  atomic_store(&awaited, count * count_copies(plans[0]));
  atomic_store(&gave_up, false);
  gate_closed = tsr_now(), patience = beside ? 200 : 0.2;
  void *arenas[MOST_RUNS][TSR_MACHINE_LOCATIONS] = {{NULL}};
  tsr_job *jobs[MOST_RUNS];
  for (int i = 0; i < count; i++) jobs[i] = submit_lodged(&r, plans[i], &bindings[i], arenas[i]);
  for (int i = 0; i < count; i++) {
    assert_int_equal(tsr_job_wait(jobs[i]), TSR_OK);
    tsr_job_release(jobs[i]);
  }
  assert_true(atomic_load(&gave_up) == !beside);
  for (int i = 0; i < count; i++) rig_engine()->free(r.state, 0, arenas[i][0]);
  rig_close(&r);
}

static void one_plan_runs_beside_itself(void **state) {
  (void)state;
  rig_needs_emulated_devices(); /* the rig is opened after the problems are made */
  tsr_plan *plan = handmade_plan(1, 16, false);
  problem p[2];
  for (unsigned i = 0; i < 2; i++) problem_make(&p[i], 16, i);
  run_all((tsr_plan *[]){plan, plan},
          (tsr_binding[]){problem_binding(&p[0]), problem_binding(&p[1])}, 2, true);
  for (unsigned i = 0; i < 2; i++) {
    problem_check(&p[i]);
    problem_free(&p[i]);
  }
  handmade_free(plan);
}

/* One that takes long, such as a way home, holds up none of those after it for which there are sets
 * of events. */
static void many_runs_go_side_by_side(void **state) {
  (void)state;
  rig_needs_emulated_devices(); /* the rig is opened after the problems are made */
  tsr_plan *plans[MOST_RUNS];
  tsr_binding bindings[MOST_RUNS];
  problem p[MOST_RUNS];
  for (unsigned i = 0; i < MOST_RUNS; i++) {
    plans[i] = handmade_plan(1, 16, false);
    problem_make(&p[i], 16, i);
    bindings[i] = problem_binding(&p[i]);
  }
  run_all(plans, bindings, MOST_RUNS, true);
  for (unsigned i = 0; i < MOST_RUNS; i++) {
    problem_check(&p[i]);
    problem_free(&p[i]);
    handmade_free(plans[i]);
  }
}

/* Two C that lie in one matrix of so many rows, the second one from a row on. */
static void blocks(int64_t rows, int64_t row, bool beside) {
  enum { N = 16 };
  tsr_plan *plans[2];
  tsr_binding bindings[2];
  problem p[2];
  double *all = calloc((size_t)(rows * N), sizeof *all);
  for (unsigned i = 0; i < 2; i++) {
    plans[i] = handmade_plan(1, N, false);
    plans[i]->call.operand[TSR_C_].ld = plans[i]->buffers.items[TSR_C_].ld = rows;
    problem_make(&p[i], N, i);
    bindings[i] = problem_binding(&p[i]);
    bindings[i].base[TSR_C_] = all + i * row;
    for (int64_t j = 0; j < N * N && (i == 0 || row >= N); j++)
      all[i * row + j % N + j / N * rows] = p[i].c[j];
  }
  run_all(plans, bindings, 2, beside);
  for (unsigned i = 0; i < 2; i++) {
    for (int64_t j = 0; j < N * N && row >= N; j++)
      assert_true(all[i * row + j % N + j / N * rows] == p[i].wanted[j]);
    handmade_free(plans[i]);
    problem_free(&p[i]);
  }
  free(all);
}

/* Operands that are at home on a device. */
static void kernels_touch_homes(void **state) {
  (void)state;
  tsr_plan *plan = handmade_plan(1, 16, false);
  tsr_command *c = plan->commands.items;
  while (c->kind != TSR_COMMAND_KERNEL) c++;
  c->buffer[0] = TSR_A, c->buffer[2] = TSR_C_;
  c->waits = 0;
  plan->commands.items[0] = *c;
  plan->commands.count = 1;
  const tsr_program *program = handmade_program(plan);
  assert_int_equal(program->homes_read, 1 << TSR_A | 1 << TSR_C_);
  assert_int_equal(program->homes_written, 1 << TSR_C_);
  handmade_free(plan);
}

static void blocks_of_a_matrix_run_beside_each_other(void **state) {
  (void)state;
  rig_needs_emulated_devices(); /* the rig is opened after the problems are made */
  blocks(32, 16, true);
  blocks(40, 24, true);
  blocks(40, 15, false);
  blocks(20, 0, false);
}

static atomic_int queues_made, queues_allowed;

static tsr_status count_queue(tsr_engine_state *state, int device, tsr_queue_role role,
                              void *native, tsr_queue **queue) {
  if (atomic_fetch_add(&queues_made, 1) >= atomic_load(&queues_allowed))
    return tsr_fail(TSR_ERR_MEMORY, "no more queues");
  return rig_engine()->queue_create(state, device, role, native, queue);
}

/* A warm runner has the usual queues before its first plan, or is not made. */
static void makes_queues_early(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 3, 0, 0);
  tsr_runner_destroy(r.runner);
  tsr_engine engine = *rig_engine();
  engine.queue_create = count_queue;
  tsr_runner_settings settings = {.warm = true};
  tsr_runner *none = NULL;
  atomic_store(&queues_allowed, 5);
  assert_int_equal(tsr_runner_create(&engine, r.state, 3, &settings, &none), TSR_ERR_MEMORY);
  assert_string_equal(tsr_message(), "no more queues");
  assert_null(none);
  atomic_store(&queues_made, 0);
  atomic_store(&queues_allowed, 12);
  assert_int_equal(tsr_runner_create(&engine, r.state, 3, &settings, &r.runner), TSR_OK);
  assert_int_equal(atomic_load(&queues_made), 12);
  rig_close(&r);
}

static _Atomic size_t most_taken;
static atomic_int taken, given_back;

static tsr_status count_alloc(tsr_engine_state *state, int device, size_t bytes, void **pointer) {
  if (bytes > atomic_load(&most_taken)) return tsr_fail(TSR_ERR_MEMORY, "no more memory");
  atomic_fetch_add(&taken, 1);
  return rig_engine()->alloc(state, device, bytes, pointer);
}

static void count_free(tsr_engine_state *state, int device, void *pointer) {
  atomic_fetch_add(&given_back, 1);
  rig_engine()->free(state, device, pointer);
}

/* A warm runner that is told what is free takes an eighth of it, until it is trimmed; it is made
 * also when it gets none. */
static void tries_memory_early(void **state) {
  (void)state;
  const size_t room[] = {8 << 20, 8 << 20, 8 << 10};
  for (int refused = 0; refused < 2; refused++) {
    rig r;
    rig_open(&r, 3, 0, 0);
    tsr_runner_destroy(r.runner);
    tsr_engine engine = *rig_engine();
    engine.alloc = count_alloc, engine.free = count_free;
    tsr_runner_settings settings = {.warm = true, .free_memory = room};
    atomic_store(&taken, 0);
    atomic_store(&given_back, 0);
    atomic_store(&most_taken, refused ? 1 << 10 : 1 << 20);
    assert_int_equal(tsr_runner_create(&engine, r.state, 3, &settings, &r.runner), TSR_OK);
    assert_int_equal(atomic_load(&taken), refused ? 1 : 3);
    assert_int_equal(atomic_load(&given_back), 0);
    tsr_runner_trim(r.runner);
    assert_int_equal(atomic_load(&given_back), refused ? 1 : 3);
    rig_close(&r);
  }
}

int main(void) {
  assert_int_equal(tsr_cpu_blas_load(), TSR_OK);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_a_plan),
      cmocka_unit_test(runs_staging),
      cmocka_unit_test(runs_under_delays),
      cmocka_unit_test(runs_spinning),
      cmocka_unit_test(runs_many_in_a_row),
      cmocka_unit_test(serves_two_threads),
      cmocka_unit_test(survives_failures),
      cmocka_unit_test(survives_lack_of_host_memory),
      cmocka_unit_test(tells_late_lack_of_memory),
      cmocka_unit_test(refuses_what_does_not_fit),
      cmocka_unit_test(measures_times),
      cmocka_unit_test(minds_user_streams),
      cmocka_unit_test(copies_between_places),
      cmocka_unit_test(keeps_off_the_callers_thread),
      cmocka_unit_test(one_plan_runs_beside_itself),
      cmocka_unit_test(many_runs_go_side_by_side),
      cmocka_unit_test(blocks_of_a_matrix_run_beside_each_other),
      cmocka_unit_test(kernels_touch_homes),
      cmocka_unit_test(makes_queues_early),
      cmocka_unit_test(tries_memory_early),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
