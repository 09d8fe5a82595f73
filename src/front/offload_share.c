/*
 * Calls that several processes decide on together: what each can say of itself, and its share of
 * the devices of a host that several of them see.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "front/offload_inside.h"

/* As for a context that has its devices to itself. */
static const double share_of_memory = 0.8;

/* ---- What a process can say --------------------------------------------------- */

static double inverse(double rate) {
  return rate > 0 ? 1 / rate : 0;
}

static bool is_started(const tsr_offload_state *state) {
  return atomic_load(&state->phase) == TSR_PHASE_READY;
}

static tsr_reach reach_of(const tsr_offload_state *state) {
  return is_started(state) ? state->reach : state->guess;
}

static void tell_rates(const tsr_offload_state *state, tsr_offload_facts *facts) {
  tsr_reach reach = reach_of(state);
  double sharers = state->sharers > 1 ? state->sharers : 1;
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    facts->cpu_flops[i] = state->price.figure[i];
    facts->device_flop[i] = inverse(reach.flops[i]) * sharers;
  }
  facts->cpu_latency = state->price.latency;
  facts->in = inverse(reach.in) * sharers;
  facts->out = inverse(reach.out) * sharers;
  facts->staging = inverse(reach.staging) * sharers;
}

tsr_offload_facts tsr_offload_facts_get(void) {
  tsr_offload_state *state = tsr_offload_get();
  tsr_offload_facts facts = {.min_size = (double)state->min_size};
  pthread_mutex_lock(&state->lock);
  facts.reluctance = TSR_OFFLOAD_ALWAYS - state->mode;
  facts.deviceless = atomic_load(&state->phase) == TSR_PHASE_NONE;
  facts.start = is_started(state) ? 0 : state->start_seconds;
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

uint64_t tsr_offload_visible(void) {
  const char *list = getenv("CUDA_VISIBLE_DEVICES");
  return list != NULL ? tsr_cache_digest(1, list, strlen(list)) : 0;
}

/* "2," or "2,3,": as options.devices takes a list, since "2" would be a count. */
static void write_list(int first, int count, char *text, size_t room) {
  size_t length = 0;
  for (int d = first; d < first + count && length < room; d++)
    length += (size_t)snprintf(text + length, room - length, "%d,", d);
}

/* Neighbours in rank get neighbouring devices. */
void tsr_offload_take_share(tsr_offload_state *state, int rank, int ranks) {
  int devices = state->devices, first = (int)((int64_t)rank * devices / ranks);
  int count = (int)((int64_t)(rank + 1) * devices / ranks) - first;
  if (count < 1) count = 1;
  write_list(first, count, state->dealt, sizeof state->dealt);
  state->options.devices = state->dealt;
  if (tsr_offload_find_machine(state) != TSR_OK) state->options.devices = NULL;
  state->sharers = (ranks + devices - 1) / devices;
  if (state->sharers <= 1) return;
  if (state->options.memory == 0)
    state->options.memory = (size_t)(share_of_memory * state->device_memory / state->sharers);
  tsr_log(TSR_LOG_INFO,
          "%d processes share %d devices, up to %d of them each; run at most as many processes as "
          "there are devices",
          ranks, devices, state->sharers);
}

/* Each process has emulated devices of its own. */
static bool may_deal(const tsr_offload_state *state, int ranks) {
  const char *engine = state->options.engine;
  bool emulated = engine != NULL && strcmp(engine, "host") == 0;
  return ranks > 1 && !emulated && state->sharers == 0 && state->options.devices == NULL &&
         state->devices > 0 && atomic_load(&state->phase) == TSR_PHASE_IDLE;
}

void tsr_offload_deal(int rank, int ranks) {
  tsr_offload_state *state = tsr_offload_get();
  pthread_mutex_lock(&state->lock);
  if (may_deal(state, ranks)) tsr_offload_take_share(state, rank, ranks);
  pthread_mutex_unlock(&state->lock);
}
