/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The native door: events, and functions that describe a context without waiting for calls. */
#include "base/thread.h"
#include "front/ask/read.h"
#include "front/context.h"
#include "tessera_model.h"

static tsr_status check_output(const char *name, const void *output) {
  if (output != NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s is NULL; give the address of a variable to fill", name);
}

/* ---- Events ---- */

static tsr_status check_event(const tsr_context *context, const char *name,
                              const tsr_event *event) {
  if (event == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s is NULL; give an event that tsr_event_record filled",
                    name);
  if (event->context == context) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s was not recorded in this context; record it there with tsr_event_record",
                  name);
}

TSR_ENTRY(tsr_event_record, (context, event), tsr_context *context, tsr_event *event) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_output("event", event));
  uint64_t submitted =
      context->calls.runner != NULL ? tsr_runner_submitted(context->calls.runner) : 0;
  *event = (tsr_event){context, submitted};
  return TSR_OK;
}

/* The program may use the memory of the calls from now on. */
static int is_over(tsr_context *context, uint64_t from, uint64_t to) {
  if (context->calls.runner == NULL) return true;
  return tsr_runner_over(context->calls.runner, from, to) &&
         tsr_compose_try_event(&context->directory, to);
}

TSR_ENTRY(tsr_event_query, (context, event, complete), tsr_context *context, const tsr_event *event,
          int *complete) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_event(context, "event", event));
  TSR_TRY(check_output("complete", complete));
  *complete = is_over(context, 0, event->number);
  return TSR_OK;
}

TSR_ENTRY(tsr_event_query_between, (context, from, to, complete), tsr_context *context,
          const tsr_event *from, const tsr_event *to, int *complete) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_event(context, "from", from));
  TSR_TRY(check_event(context, "to", to));
  TSR_TRY(check_output("complete", complete));
  *complete = is_over(context, from->number, to->number);
  return TSR_OK;
}

TSR_ENTRY(tsr_event_wait, (context, event), tsr_context *context, const tsr_event *event) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_event(context, "event", event));
  if (context->calls.runner != NULL && event->number > 0)
    tsr_runner_await(context->calls.runner, event->number - 1);
  if (context->calls.runner != NULL) tsr_compose_note_event(&context->directory, event->number);
  return TSR_OK;
}

/* ---- Engine, budgets, rates ---- */

/* The caller holds the plans' machine_lock and lock. */
static void describe(const tsr_context *context, tsr_context_facts *facts) {
  const tsr_plans *plans = context->plans;
  const tsr_machine *machine = plans->machine;
  *facts = (tsr_context_facts){
      .engine = context->engine != NULL ? context->engine->name : "cpu",
      .devices = machine->devices,
      .reproducible = plans->planning.reproducible,
      .check = plans->check,
      .plans = plans->digest,
      .staging_rate = machine->thread_rate,
      .network_bandwidth = machine->network.bandwidth,
      .network_latency = machine->network.latency,
      .fabric = context->engine != NULL ? context->engine->traits.fabric : NULL,
      .residues = context->engine != NULL ? context->engine->traits.forms >> TSR_KERNEL_RESIDUES & 1
                                          : machine->devices > 0};
  for (int d = 0; d < machine->devices; d++)
    if (d == 0 || plans->planning.budget[d] < facts->memory)
      facts->memory = plans->planning.budget[d];
}

TSR_ENTRY(tsr_context_describe, (context, facts), tsr_context *context, tsr_context_facts *facts) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_output("facts", facts));
  tsr_plans *plans = context->plans;
  pthread_rwlock_rdlock(&plans->machine_lock);
  pthread_mutex_lock(&plans->lock);
  describe(context, facts);
  pthread_mutex_unlock(&plans->lock);
  pthread_rwlock_unlock(&plans->machine_lock);
  return TSR_OK;
}

tsr_status tsr_context_read(tsr_context *context, tsr_context_reader *reader, void *question) {
  TSR_TRY(tsr_context_check(context));
  tsr_plans *plans = context->plans;
  pthread_rwlock_rdlock(&plans->machine_lock);
  pthread_mutex_lock(&plans->lock);
  tsr_status status = reader(plans->machine, plans->planning.budget, question);
  pthread_mutex_unlock(&plans->lock);
  pthread_rwlock_unlock(&plans->machine_lock);
  return status;
}

static tsr_status check_place(const tsr_machine *machine, const char *name, int place) {
  if (place == TSR_HOST || (place >= 0 && place < machine->devices)) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s is %d; give TSR_HOST or the number of one of the machine's %d devices", name,
                  place, machine->devices);
}

/* The caller holds machine_lock. */
static tsr_status rate_of_copy(const tsr_machine *machine, int from, int to, tsr_segments runs,
                               double *rate) {
  TSR_TRY(check_place(machine, "from", from));
  TSR_TRY(check_place(machine, "to", to));
  int source = from == TSR_HOST ? machine->devices : from;
  int target = to == TSR_HOST ? machine->devices : to;
  *rate = tsr_link_rate(&machine->link[source][target], runs);
  return TSR_OK;
}

TSR_ENTRY(tsr_copy_rate, (context, from, to, run, pitch, rate), tsr_context *context, int from,
          int to, size_t run, size_t pitch, double *rate) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_output("rate", rate));
  tsr_plans *plans = context->plans;
  pthread_rwlock_rdlock(&plans->machine_lock);
  tsr_segments runs = {(double)run, (double)pitch};
  tsr_status status = rate_of_copy(plans->machine, from, to, runs, rate);
  pthread_rwlock_unlock(&plans->machine_lock);
  return status;
}
