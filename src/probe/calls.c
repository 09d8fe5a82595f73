/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Measures what a call takes beyond its commands: a runner carries out calls with tiny matrices one
 * after another, and their times are compared with the replays of their plans. The replay
 * has submission and the latencies of links and kernels, so that these are not counted twice. The
 * runner's threads wait busily between the calls, as between the calls of a program that makes one
 * after another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "plan/plan.h"
#include "probe/bench.h"
#include "run/runner.h"

enum {
  ORDER = TSR_TUNE_PROBE_CALL_ORDER,
  CALLS = TSR_TUNE_PROBE_CALLS,
  MEMORY = 1 << 20 /* bytes of the device and of the ring that a plan may use */
};

/* The machine of which device 0 is the only one, and a runner for it. */
typedef struct caller {
  const tsr_bench *bench;
  tsr_machine *machine;
  tsr_runner *runner;
  char *pageable; /* three matrices */
} caller;

/* ---- The call ---- */

static const size_t matrix_bytes = sizeof(double) * ORDER * ORDER;

/* C = A B + C with all operands on the device, or all in pageable memory. */
static tsr_status make_call(const caller *c, bool staged, tsr_call *call, tsr_binding *binding) {
  static const tsr_level3 what = {.operation = TSR_GEMM,
                                  .type = TSR_D,
                                  .layout = TSR_COL_MAJOR,
                                  .side = TSR_LEFT,
                                  .uplo = TSR_GENERAL,
                                  .transa = TSR_NO_TRANS,
                                  .transb = TSR_NO_TRANS,
                                  .diag = TSR_NON_UNIT,
                                  .m = ORDER,
                                  .n = ORDER,
                                  .k = ORDER,
                                  .lda = ORDER,
                                  .ldb = ORDER,
                                  .ldc = ORDER};
  static const double one = 1;
  char *at[TSR_OPERANDS];
  bool exchanged;
  for (int x = 0; x < TSR_OPERANDS; x++)
    at[x] = staged ? c->pageable + (size_t)x * matrix_bytes : c->bench->buffer[0][x];
  TSR_TRY(tsr_call_level3(&what, &one, at[TSR_A], at[TSR_B_], &one, at[TSR_C_], true, call, binding,
                          &exchanged));
  for (int x = 0; x < TSR_OPERANDS; x++) {
    tsr_operand *o = &call->operand[x];
    o->memory = staged ? TSR_PAGEABLE : TSR_DEVICE;
    o->location = staged ? c->machine->device[0].host_node : 0;
    o->alignment = 4;
  }
  return TSR_OK;
}

/* ---- Its time ---- */

static int compare(const void *a_, const void *b_) {
  const double *a = a_, *b = b_;
  return (*a > *b) - (*a < *b);
}

static tsr_status call_once(const caller *c, tsr_program *program, const tsr_binding *binding,
                            double *seconds) {
  tsr_submission submission = {.program = program, .binding = *binding};
  tsr_job *job = NULL;
  double start = tsr_now();
  TSR_TRY(tsr_runner_submit(c->runner, &submission, &job));
  tsr_status status = tsr_job_wait(job);
  *seconds = tsr_now() - start;
  tsr_job_release(job);
  return status;
}

/* *seconds: the median of calls. The ones before them, which load the kernels and start threads, do
 * not count. */
static tsr_status time_calls(const caller *c, tsr_program *program, const tsr_binding *binding,
                             double *seconds) {
  enum { FIRST = 4 };
  double times[CALLS];
  int calls = c->bench->options->quick ? CALLS / 4 : CALLS;
  for (int i = 0; i < FIRST; i++) TSR_TRY(call_once(c, program, binding, &times[0]));
  for (int i = 0; i < calls; i++) TSR_TRY(call_once(c, program, binding, &times[i]));
  qsort(times, (size_t)calls, sizeof *times, compare);
  *seconds = times[calls / 2];
  return TSR_OK;
}

/* *beyond: how much longer the call takes than predicted, s. A measurement that was disturbed must
 * not make the machine invalid. */
static tsr_status measure(const caller *c, bool staged, double *beyond) {
  tsr_plan_options options = {.obey_devices = true, .budget = {MEMORY}, .ring = MEMORY};
  tsr_call call;
  tsr_binding binding;
  tsr_plan *plan = NULL;
  tsr_program *program = NULL;
  double seconds = 0;
  TSR_TRY(make_call(c, staged, &call, &binding));
  TSR_TRY(tsr_plan_make(c->machine, &call, &options, &plan));
  tsr_status status = tsr_program_create(plan, &program);
  if (status == TSR_OK) status = time_calls(c, program, &binding, &seconds);
  *beyond = fmin(fmax(seconds - plan->seconds, 0), TSR_MOST_START);
  tsr_program_destroy(program);
  tsr_plan_free(plan);
  return status;
}

/* ---- The runner ---- */

static tsr_status open_caller(const tsr_bench *b, caller *c) {
  tsr_runner_settings settings = {.near = b->near};
  *c = (caller){.bench = b, .pageable = tsr_alloc_zero(TSR_OPERANDS, matrix_bytes)};
  if (c->pageable == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to measure calls");
  TSR_TRY(tsr_machine_select(b->machine, (int[]){0}, 1, &c->machine));
  return tsr_runner_create(b->engine, b->state, 1, &settings, &c->runner);
}

static void close_caller(caller *c) {
  tsr_runner_destroy(c->runner);
  tsr_machine_destroy(c->machine);
  tsr_dealloc(c->pageable);
}

tsr_status tsr_probe_calls(tsr_bench *b) {
  caller c;
  double turnaround = 0, start = 0;
  tsr_status status = open_caller(b, &c);
  if (status == TSR_OK) status = measure(&c, false, &turnaround);
  if (status == TSR_OK) {
    c.machine->turnaround = turnaround;
    status = measure(&c, true, &start);
  }
  close_caller(&c);
  TSR_TRY(status);
  b->machine->turnaround = turnaround;
  b->machine->staging_start = start;
  return TSR_OK;
}
