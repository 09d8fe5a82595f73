/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A runner on emulated devices, or those of the engine that TSR_TEST_ENGINE names, for tests with
 * plans made by hand.
 */
#ifndef TESTS_RUN_RIG_H
#define TESTS_RUN_RIG_H

#include "run/handmade.h"

#include "engine/harness.h"
#include "engine/host/host.h"
#include "run/inside.h"

typedef struct rig {
  tsr_engine_state *state;
  tsr_runner *runner;
  int devices;
} rig;

static inline const tsr_engine *rig_engine(void) {
  return tsr_engine_find(harness_name());
}

/* The state that pins problems. */
static tsr_engine_state *rig_pinning;

static inline void rig_pin(void *pointer, size_t bytes, bool on) {
  assert_int_equal(rig_engine()->pin(rig_pinning, pointer, bytes, on), TSR_OK);
}

/* Skips the test where there are fewer devices than it needs. */
static inline void rig_open_devices(rig *r, int devices, bool check, uint64_t delays) {
  tsr_engine_options options = {
      .count = devices, .emulated_memory = 64 << 20, .check = check, .delay_seed = delays};
  tsr_device_info info[TSR_MAX_DEVICES];
  tsr_status status = rig_engine()->open(&options, &r->state, info, &r->devices);
  if (status != TSR_OK && !harness_emulates()) {
    print_message("no %d devices of the engine %s: %s\n", devices, harness_name(), tsr_message());
    skip();
  }
  assert_int_equal(status, TSR_OK);
  rig_pinning = r->state;
  problem_pin = harness_emulates() ? NULL : rig_pin;
}

static inline void rig_open(rig *r, int devices, uint64_t delays, int cores) {
  rig_open_devices(r, devices, true, delays);
  tsr_runner_settings settings = {.cores = cores, .poison = true};
  assert_int_equal(tsr_runner_create(rig_engine(), r->state, r->devices, &settings, &r->runner),
                   TSR_OK);
}

/* For what only emulated devices can be told to do. */
static inline void rig_needs_emulated_devices(void) {
  if (!harness_emulates()) skip();
}

static inline void rig_close(rig *r) {
  tsr_runner_destroy(r->runner);
  rig_engine()->close(r->state);
}

static inline tsr_job *submit(rig *r, tsr_plan *plan, const problem *p, bool trace) {
  tsr_submission submission = {
      .program = handmade_program(plan), .binding = problem_binding(p), .trace = trace};
  tsr_job *job = NULL;
  assert_int_equal(tsr_runner_submit(r->runner, &submission, &job), TSR_OK);
  return job;
}

#endif
