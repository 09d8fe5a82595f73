/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Calls that several processes decide on together: the facts of one process, and its share of
 * devices that several processes of a host see.
 */
#include <stdio.h>
#include <string.h>

#include "base/environment.h"
#include "base/log.h"
#include "front/offload/inside.h"
#include "front/tuning.h"

/* ---- Facts of a process ------------------------------------------------------- */

static double inverse(double rate) {
  return rate > 0 ? 1 / rate : 0;
}

static bool is_started(const tsr_offload_state *state) {
  return atomic_load(&state->phase) == TSR_PHASE_READY;
}

/* The number of processes that use one device. Unless devices are shared out, every process uses
 * all of them. */
static int sharers(const tsr_offload_state *state) {
  if (state->ranks <= 1) return 1;
  return state->own_devices > 0 ? (state->ranks + state->devices - 1) / state->devices
                                : state->ranks;
}

/* This process's part of a rate in tell_rates: of the guessed rate of all devices before they are
 * started, of the rate of the started devices afterwards. */
static double share_of(const tsr_offload_state *state) {
  bool of_all = state->own_devices > 0 && !is_started(state);
  return (of_all ? (double)state->own_devices / state->devices : 1) / sharers(state);
}

/* Fills in the rates. Staging threads of all processes share the host's memory, so each process
 * gets 1 / ranks of its rate. */
static void tell_rates(const tsr_offload_state *state, tsr_offload_facts *facts) {
  tsr_reach reach = is_started(state) ? state->reach : state->guess;
  double share = share_of(state);
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    facts->cpu_flops[i] = state->price.figure[i];
    facts->device_flop[i] = inverse(reach.flops[i] * share);
  }
  facts->cpu_latency = state->price.latency;
  facts->wire = inverse(state->network);
  facts->in = inverse(reach.in * share);
  facts->out = inverse(reach.out * share);
  facts->staging = inverse(reach.staging) * (state->ranks > 1 ? state->ranks : 1);
}

static double start_of(const tsr_offload_state *state) {
  if (is_started(state)) return 0;
  if (state->own_devices == 0) return state->start_seconds;
  return tsr_offload_start_seconds(state->options.engine, state->own_devices);
}

tsr_offload_facts tsr_offload_facts_get(void) {
  tsr_offload_state *state = tsr_offload_get();
  tsr_offload_facts facts = {.min_size = (double)state->min_size};
  pthread_mutex_lock(&state->lock);
  facts.reluctance = TSR_OFFLOAD_ALWAYS - state->mode;
  facts.deviceless = atomic_load(&state->phase) == TSR_PHASE_NONE;
  facts.start = start_of(state);
  if (facts.deviceless == 0) tell_rates(state, &facts);
  pthread_mutex_unlock(&state->lock);
  return facts;
}

tsr_status tsr_offload_context(tsr_context **context) {
  tsr_offload_state *state = tsr_offload_get();
  tsr_offload_start(state, true);
  pthread_mutex_lock(&state->lock);
  tsr_status status = TSR_OK;
  if (is_started(state))
    *context = state->context;
  else
    status = tsr_fail(TSR_ERR_ENGINE, "%s", state->error);
  pthread_mutex_unlock(&state->lock);
  return status;
}

/* ---- Shares of devices -------------------------------------------------------- */

static uint64_t digest_of(uint64_t before, const char *text) {
  return text != NULL ? tsr_cache_digest(before + 1, text, strlen(text)) : before;
}

uint64_t tsr_offload_visible(void) {
  const tsr_offload_state *state = tsr_offload_get();
  const char *named = state->own_devices == 0 ? state->options.devices : NULL;
  return digest_of(digest_of(0, tsr_environment_get("CUDA_VISIBLE_DEVICES")), named);
}

/* Writes a list as options.devices takes it: "2," or "2,3,", since "2" would be a count. */
static void write_list(int first, int count, char *text, size_t room) {
  size_t length = 0;
  for (int d = first; d < first + count && length < room; d++)
    length += (size_t)snprintf(text + length, room - length, "%d,", d);
}

/* The devices are shared out in the order of ranks, so that neighbours in rank get neighbouring
 * devices. */
void tsr_offload_take_share(tsr_offload_state *state, int rank, int ranks) {
  int devices = state->devices, first = (int)((int64_t)rank * devices / ranks);
  int count = (int)((int64_t)(rank + 1) * devices / ranks) - first;
  state->own_devices = count > 0 ? count : 1;
  state->ranks = ranks;
  write_list(first, state->own_devices, state->share, sizeof state->share);
  state->options.devices = state->share;
  if (ranks <= devices) return;
  if (state->options.memory == 0)
    state->options.memory = (size_t)(TSR_TUNE_MEMORY_SHARE * state->device_memory / sharers(state));
  tsr_log(TSR_LOG_INFO,
          "%d processes share %d devices, up to %d processes on each; run at most as many "
          "processes as there are devices",
          ranks, devices, sharers(state));
}

/* Whether processes have to share the devices out: emulated devices are each process's own. */
static bool are_devices_common(const tsr_offload_state *state) {
  return state->devices > 0 && !tsr_engine_emulates(state->options.engine);
}

void tsr_offload_share_devices(int rank, int ranks) {
  tsr_offload_state *state = tsr_offload_get();
  pthread_mutex_lock(&state->lock);
  bool first = state->ranks == 0, idle = atomic_load(&state->phase) == TSR_PHASE_IDLE;
  if (first && ranks > 1 && are_devices_common(state)) {
    state->ranks = ranks;
    if (idle && state->options.devices == NULL) tsr_offload_take_share(state, rank, ranks);
  }
  pthread_mutex_unlock(&state->lock);
}
