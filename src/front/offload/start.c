/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The offload state of the process: its settings, starting the devices, forks, and the end of the
 * process. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "base/thread.h"
#include "cpu/blas.h"
#include "front/offload/inside.h"
#include "front/tuning.h"
#include "run/aside.h"

static tsr_offload_state global = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                   .changed = PTHREAD_COND_INITIALIZER};
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- Settings ---- */

static tsr_status read_mode(tsr_offload_mode *mode) {
  static const char *const names[] = {"never", "auto", "always"};
  const char *text = tsr_setting_text("TESSERA_OFFLOAD");
  *mode = TSR_OFFLOAD_AUTO;
  if (text == NULL) return TSR_OK;
  for (int i = TSR_OFFLOAD_NEVER; i <= TSR_OFFLOAD_ALWAYS; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    *mode = (tsr_offload_mode)i;
    return TSR_OK;
  }
  return tsr_fail(TSR_ERR_ARGUMENT, "TESSERA_OFFLOAD is \"%s\"; it may be never, auto or always",
                  text);
}

tsr_status tsr_offload_read_wishes(tsr_offload_wishes *wishes) {
  const char *least = tsr_setting_text("TESSERA_MIN_SIZE");
  wishes->min_size = -1;
  TSR_TRY(read_mode(&wishes->mode));
  if (least == NULL) return TSR_OK;
  return tsr_parse_int("TESSERA_MIN_SIZE", least, 0, INT32_MAX, &wishes->min_size);
}

static tsr_status read_settings(tsr_offload_state *state) {
  static const tsr_options all_default = TSR_OPTIONS_DEFAULT;
  tsr_offload_wishes wishes;
  state->options = all_default;
  tsr_status status = tsr_offload_read_wishes(&wishes);
  state->mode = wishes.mode;
  state->min_size = wishes.min_size;
  return status == TSR_OK ? tsr_context_read_settings(&state->options) : status;
}

/* ---- Prices ---- */

tsr_offload_price *tsr_offload_price_of(tsr_offload_state *state, tsr_operation operation) {
  if (!tsr_is_of_lapack(operation)) return &state->price;
  return &state->price_of_lapack[(int)operation - (int)TSR_OPERATION_COUNT];
}

/* ---- The least size that is priced ---- */

static double least_of(const tsr_offload_state *state, const tsr_type_info *type) {
  if (atomic_load(&state->phase) == TSR_PHASE_NONE) return HUGE_VAL;
  double n = (double)state->min_size;
  if (n >= 0) return n * n * n;
  if (state->mode == TSR_OFFLOAD_ALWAYS) return 0;
  return tsr_offload_cpu_flops(&state->price, type->type, TSR_TUNE_DOOR_LEAST) / type->flop_factor;
}

/* Without devices every call is small. Doors still have to ask then (unasked is 0), so that
 * tsr_offload_is_over sends them straight to the CPU's BLAS. */
void tsr_offload_set_least_of(tsr_offload_state *state, tsr_type type) {
  int index = tsr_type_index(type);
  double least = least_of(state, tsr_type_get(type));
  bool asks = tsr_offload_report_wanted() || least == HUGE_VAL;
  atomic_store_explicit(&state->least[index], least, memory_order_relaxed);
  atomic_store_explicit(&state->unasked[index], asks ? 0 : least, memory_order_relaxed);
}

static void set_least(tsr_offload_state *state) {
  for (int i = 0; i < TSR_TYPE_COUNT; i++) tsr_offload_set_least_of(state, tsr_type_at(i)->type);
}

void tsr_offload_give_up(tsr_offload_state *state, tsr_offload_why why, const char *error) {
  atomic_store(&state->why, why);
  atomic_store(&state->phase, TSR_PHASE_NONE);
  snprintf(state->error, sizeof state->error, "%s", error);
  set_least(state);
}

/* ---- Starting ---- */

/* Gives the planner the CPU's rates that the program's calls have shown. */
static void tell_cpu_rates(tsr_offload_state *state, tsr_context *context) {
  for (int i = 0; i < TSR_TYPE_COUNT; i++)
    context->plans->machine->cpu_flops[i] =
        tsr_offload_cpu_rate(&state->price, tsr_type_at(i)->type, HUGE_VAL);
  tsr_plans_note_settings(context->plans);
}

static tsr_status make_context(tsr_offload_state *state, tsr_context **context) {
  bool obey = state->mode == TSR_OFFLOAD_ALWAYS;
  TSR_TRY(tsr_context_create_quietly(&state->options, obey, context));
  /* options.devices is this process's share then, not devices that the user named: plans may use
   * fewer of them, or the CPU. */
  if (state->own_devices > 0) {
    (*context)->plans->planning.obey_devices = false;
    (*context)->plans->planning.no_cpu = obey;
  }
  if (tsr_device_count(*context) > 0) {
    tell_cpu_rates(state, *context);
    if (tsr_runner_reserve_rings((*context)->calls.runner, (*context)->plans->machine,
                                 (*context)->plans->planning.ring) != TSR_OK)
      tsr_log(TSR_LOG_INFO, "the staging rings are not allocated yet: %s", tsr_message());
    tsr_reach_of((*context)->plans->machine, &state->reach);
    return TSR_OK;
  }
  tsr_context_destroy(*context);
  return tsr_fail(TSR_ERR_ENGINE, "no device can be used");
}

static void *start(void *argument) {
  tsr_offload_state *state = argument;
  tsr_context *context = NULL;
  double began = tsr_now();
  tsr_status status = make_context(state, &context);
  tsr_log(TSR_LOG_INFO, "starting devices took %.3f s; predicted were %.3f s", tsr_now() - began,
          state->start_seconds);
  pthread_mutex_lock(&state->lock);
  state->context = context;
  if (status == TSR_OK)
    atomic_store(&state->phase, TSR_PHASE_READY);
  else
    tsr_offload_give_up(state, TSR_WHY_NO_DEVICE, tsr_message());
  pthread_cond_broadcast(&state->changed);
  pthread_mutex_unlock(&state->lock);
  return NULL;
}

static bool start_thread(tsr_offload_state *state) {
  pthread_t thread;
  bool good = tsr_thread_start(start, state, &thread);
  if (good) pthread_detach(thread);
  return good;
}

/* The caller holds the lock. */
static void await_start(tsr_offload_state *state) {
  while (atomic_load(&state->phase) == TSR_PHASE_STARTING)
    pthread_cond_wait(&state->changed, &state->lock);
}

void tsr_offload_start(tsr_offload_state *state, bool await) {
  pthread_mutex_lock(&state->lock);
  if (atomic_load(&state->phase) == TSR_PHASE_IDLE) {
    atomic_store(&state->phase, TSR_PHASE_STARTING);
    if (!start_thread(state))
      tsr_offload_give_up(state, TSR_WHY_NO_DEVICE, "no thread can be created to start devices");
  }
  if (await) await_start(state);
  pthread_mutex_unlock(&state->lock);
}

/* ---- Forks ---- */

static void before_fork(void) {
  pthread_mutex_lock(&global.lock);
  tsr_offload_report_lock();
}

static void after_in_parent(void) {
  tsr_offload_report_unlock(false);
  pthread_mutex_unlock(&global.lock);
}

/* The child cannot use devices that the parent has started; devices that are not started yet the
 * child may start itself. */
static void after_in_child(void) {
  int phase = atomic_load(&global.phase);
  if (phase == TSR_PHASE_STARTING || phase == TSR_PHASE_READY)
    tsr_offload_give_up(&global, TSR_WHY_FORKED, "the devices are those of the parent process");
  tsr_offload_report_unlock(true);
  pthread_mutex_unlock(&global.lock);
}

/* ---- The beginning and the end ---- */

/* Waits for a start that is under way, since a runtime that starts while the process ends may crash
 * it. A context that is ready is not destroyed: the process's end frees it. */
static void at_exit(void) {
  tsr_held held;
  tsr_enter(&held);
  pthread_mutex_lock(&global.lock);
  await_start(&global);
  pthread_mutex_unlock(&global.lock);
  tsr_offload_report_write(&global);
  tsr_leave(&held);
}

/* Keeps the numbers of the guessed machine that prices need; the machine itself is not kept. */
static void take_machine(tsr_offload_state *state, const tsr_machine *machine, bool measured) {
  state->devices = machine->devices;
  if (machine->devices == 0) return;
  state->device_memory = machine->device[0].memory;
  state->network = machine->network.bandwidth;
  tsr_offload_price_init(&state->price, machine, !measured);
  for (int i = (int)TSR_OPERATION_COUNT; i < TSR_DOOR_OPERATIONS; i++)
    tsr_offload_price_init(tsr_offload_price_of(state, (tsr_operation)i), machine, !measured);
  tsr_reach_of(machine, &state->guess);
  state->start_seconds = tsr_offload_start_seconds(state->options.engine, machine->devices);
}

static tsr_status find_machine(tsr_offload_state *state) {
  tsr_machine *machine = NULL;
  bool measured;
  if (state->mode == TSR_OFFLOAD_NEVER) return TSR_OK;
  TSR_TRY(tsr_offload_guess(&state->options, &machine, &measured));
  if (machine != NULL) take_machine(state, machine, measured);
  tsr_machine_destroy(machine);
  return TSR_OK;
}

static tsr_status fill(void *argument) {
  tsr_offload_state *state = argument;
  tsr_offload_report_init();
  tsr_status status = read_settings(state);
  if (status == TSR_OK) status = find_machine(state);
  atomic_store(&state->phase, TSR_PHASE_IDLE);
  if (status != TSR_OK)
    tsr_offload_give_up(state, TSR_WHY_NO_DEVICE, tsr_message());
  else if (state->mode == TSR_OFFLOAD_NEVER)
    tsr_offload_give_up(state, TSR_WHY_NEVER, "TESSERA_OFFLOAD is never");
  else if (state->devices == 0)
    tsr_offload_give_up(state, TSR_WHY_NO_DEVICE, "no GPU was found");
  set_least(state);
  pthread_atfork(before_fork, after_in_parent, after_in_child);
  atexit(at_exit);
  return TSR_OK;
}

/* As in a public function, since doors ask for the state outside of any public function. A short
 * stack gets a thread of its own for this. */
static void init(void) {
  tsr_held held;
  tsr_enter(&held);
  if (!tsr_stack_is_short() || tsr_aside(fill, &global) != TSR_OK) (void)fill(&global);
  tsr_leave(&held);
}

tsr_offload_state *tsr_offload_get(void) {
  pthread_once(&once, init);
  return &global;
}
