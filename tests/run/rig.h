/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A runner on emulated devices, for tests with plans made by hand. */
#ifndef TESTS_RUN_RIG_H
#define TESTS_RUN_RIG_H

#include "run/handmade.h"

#include "engine/host/host.h"
#include "run/inside.h"

typedef struct rig {
  tsr_engine_state *state;
  tsr_runner *runner;
  int devices;
} rig;

static inline void rig_open(rig *r, int devices, uint64_t delays, int cores) {
  tsr_engine_options options = {
      .count = devices, .emulated_memory = 64 << 20, .check = true, .delay_seed = delays};
  tsr_device_info info[TSR_MAX_DEVICES];
  assert_int_equal(tsr_engine_host.open(&options, &r->state, info, &r->devices), TSR_OK);
  tsr_runner_settings settings = {.cores = cores, .poison = true};
  assert_int_equal(tsr_runner_create(&tsr_engine_host, r->state, r->devices, &settings, &r->runner),
                   TSR_OK);
}

static inline void rig_close(rig *r) {
  tsr_runner_destroy(r->runner);
  tsr_engine_host.close(r->state);
}

static inline tsr_job *submit(rig *r, tsr_plan *plan, const problem *p, bool trace) {
  tsr_submission submission = {
      .program = handmade_program(plan), .binding = problem_binding(p), .trace = trace};
  tsr_job *job = NULL;
  assert_int_equal(tsr_runner_submit(r->runner, &submission, &job), TSR_OK);
  return job;
}

#endif
