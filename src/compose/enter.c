/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Finds a plan that uses cached blocks, allocates its memory and submits it. */
#include "call/retry.h"
#include "compose/inside.h"

tsr_status tsr_compose_find_plan(tsr_directory *directory, tsr_request *request,
                                 const tsr_found *found, const tsr_plan **plan) {
  size_t kept[TSR_MACHINE_DEVICES] = {0};
  pthread_mutex_lock(&directory->plans->lock);
  for (int d = 0; d < directory->devices; d++) kept[d] = directory->plans->planning.budget[d];
  pthread_mutex_unlock(&directory->plans->lock);
  for (int d = 0; d < directory->devices; d++) {
    size_t used = tsr_store_used(directory->store, d);
    size_t left = kept[d] > used ? kept[d] - used : 0;
    kept[d] -= left >> request->halvings;
  }
  request->residency = &found->seen;
  request->kept = kept;
  return tsr_request_find(directory->plans, request, plan);
}

/* ---- Its memory ----------------------------------------------------------- */

typedef struct taking {
  tsr_directory *directory;
  const tsr_plan *plan;
  const tsr_found *found;
  tsr_allocation *allocation;
  int reliefs, *short_of;
} taking;

static tsr_status take(void *taking_, tsr_shortage *shortage) {
  taking *t = taking_;
  tsr_status status =
      tsr_store_take(t->directory->store, t->found, t->plan, t->allocation, t->short_of);
  if (status == TSR_ERR_MEMORY) tsr_shortage_note(shortage, t->plan, *t->short_of);
  return status;
}

/* First waits for memory that was given back; then frees the arenas of calls that do not compose.
 */
static tsr_status relieve(void *taking_, const tsr_shortage *shortage, bool *helped) {
  taking *t = taking_;
  (void)shortage;
  *helped = t->reliefs < 2;
  if (t->reliefs == 0) tsr_compose_await_retired(t->directory);
  if (t->reliefs == 1) tsr_runner_trim(t->directory->calls->runner);
  t->reliefs++;
  return TSR_OK;
}

static void poison_new(const tsr_directory *directory, const tsr_plan *plan,
                       const tsr_allocation *allocation) {
  if (!directory->plans->check || directory->engine->poison == NULL) return;
  for (size_t i = 0; i < allocation->count; i++)
    if (plan->after->blocks.items[i].bytes > 0)
      directory->engine->poison(allocation->blocks[i], plan->after->blocks.items[i].bytes);
  for (int l = 0; l < TSR_MACHINE_LOCATIONS; l++)
    if (plan->arena[l] > 0) directory->engine->poison(allocation->arena[l], plan->arena[l]);
}

/* ---- Submission ------------------------------------------------------------ */

/* Submits the plan and notes it in the store, which from then on describes the devices as they will
 * be when the plan is complete. */
static tsr_status enter(tsr_directory *directory, const tsr_plan *plan, const tsr_binding *binding,
                        tsr_allocation *allocation, int *short_of, tsr_job **job) {
  poison_new(directory, plan, allocation);
  tsr_cached_memory cached = {allocation->blocks, allocation->entries, allocation->arena,
                              allocation->failures};
  tsr_status status = tsr_calls_submit(directory->calls, plan, binding, &cached, short_of, job);
  if (status != TSR_OK) {
    tsr_store_give(directory->store, plan, allocation);
    return status;
  }
  tsr_store_note(directory->store, plan, allocation, tsr_job_number(*job));
  return TSR_OK;
}

tsr_status tsr_compose_submit(tsr_directory *directory, const tsr_plan *plan,
                              const tsr_binding *binding, const tsr_found *found, int *short_of,
                              tsr_job **job) {
  tsr_allocation allocation;
  taking t = {directory, plan, found, &allocation, .short_of = short_of};
  tsr_trial trial = {.call = &t, .attempt = take, .relieve = relieve};
  tsr_store_reclaim(directory->store, tsr_runner_completed(directory->calls->runner));
  TSR_TRY(tsr_retry(&trial));
  allocation.failures = directory->failures;
  return enter(directory, plan, binding, &allocation, short_of, job);
}
