/* The native door: questions to a context that do not wait for calls. */
#include "front/context.h"
#include "base/thread.h"

static tsr_status check_output(const char *name, const void *output) {
  if (output != NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s is NULL; give the address of what is to be filled", name);
}

TSR_ENTRY(tsr_point, (context, point), tsr_context *context, uint64_t *point) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_output("point", point));
  *point = context->calls.runner != NULL ? tsr_runner_submitted(context->calls.runner) : 0;
  return TSR_OK;
}

TSR_ENTRY(tsr_passed, (context, point, passed), tsr_context *context, uint64_t point, int *passed) {
  return tsr_passed_between(context, 0, point, passed);
}

TSR_ENTRY(tsr_passed_between, (context, from, to, passed), tsr_context *context, uint64_t from,
          uint64_t to, int *passed) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_output("passed", passed));
  *passed = context->calls.runner == NULL || tsr_runner_over(context->calls.runner, from, to);
  return TSR_OK;
}

/* The caller holds both locks of the plans. */
static void describe(const tsr_context *context, tsr_context_facts *facts) {
  const tsr_plans *plans = context->plans;
  const tsr_machine *machine = plans->machine;
  *facts = (tsr_context_facts){.engine = context->engine != NULL ? context->engine->name : "cpu",
                               .devices = machine->devices,
                               .reproducible = plans->planning.reproducible,
                               .check = plans->check,
                               .plans = plans->digest,
                               .staging_rate = machine->lane_rate,
                               .network_bandwidth = machine->network.bandwidth,
                               .network_latency = machine->network.latency};
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

static tsr_status check_place(const tsr_machine *machine, const char *name, int place) {
  if (place == TSR_HOST || (place >= 0 && place < machine->devices)) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s is %d; give TSR_HOST or the number of one of the machine's %d devices", name,
                  place, machine->devices);
}

/* The caller holds the machine's lock. */
static tsr_status rate_of_copy(const tsr_machine *machine, int from, int to, size_t run,
                               double *rate) {
  TSR_TRY(check_place(machine, "from", from));
  TSR_TRY(check_place(machine, "to", to));
  int source = from == TSR_HOST ? machine->devices : from;
  int target = to == TSR_HOST ? machine->devices : to;
  *rate = tsr_link_rate(&machine->link[source][target], (double)run);
  return TSR_OK;
}

TSR_ENTRY(tsr_copy_rate, (context, from, to, run, rate), tsr_context *context, int from, int to,
          size_t run, double *rate) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_output("rate", rate));
  tsr_plans *plans = context->plans;
  pthread_rwlock_rdlock(&plans->machine_lock);
  tsr_status status = rate_of_copy(plans->machine, from, to, run, rate);
  pthread_rwlock_unlock(&plans->machine_lock);
  return status;
}
