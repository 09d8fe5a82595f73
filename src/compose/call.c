/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans and submits a call that uses cached blocks of earlier calls. */
#include "blas/family.h"
#include "call/retry.h"
#include "compose/inside.h"
#include "compose/tuning.h"
#include "plan/axes.h"

typedef struct composed {
  tsr_directory *directory;
  const tsr_call *call;
  const tsr_binding *binding;
  bool exchanged;
  tsr_region region[TSR_OPERANDS];
  tsr_use use[TSR_OPERANDS];
  tsr_found found;       /* by the last attempt */
  bool newer;            /* C is newer on the devices */
  bool alone;            /* the call must be carried out without cached blocks */
  bool on_cpu;           /* because the plan uses no device */
  bool short_of_staging; /* by the last attempt that failed: memory on the host to stage copies */
} composed;

/* Whether the call overwrites all of C without reading it. */
static bool replaces_c(const composed *x) {
  return x->use[TSR_C_].uplo == TSR_GENERAL && x->call->beta == TSR_ZERO &&
         !tsr_is_in_place(x->call->operation);
}

/* Writes back the triangles that the plan would not find, because the call uses more than them. */
static tsr_status settle_triangles(composed *x) {
  for (int i = 0; i < TSR_OPERANDS; i++)
    if (i != TSR_C_ || !replaces_c(x))
      TSR_TRY(tsr_compose_settle_triangles(x->directory, &x->region[i], &x->use[i]));
  return TSR_OK;
}

/* Writes back the entries that cross operands. Those that cross C, which are stale once the call is
 * submitted, are forgotten now, because the call must not fail after its submission. */
static tsr_status settle_crossings(composed *x) {
  for (int i = 0; i < TSR_OPERANDS; i++)
    TSR_TRY(tsr_compose_write_back_crossing(x->directory, &x->region[i], false));
  TSR_TRY(tsr_store_forget_crossing(x->directory->store, &x->region[TSR_C_]));
  tsr_compose_stamp(x->directory, &x->region[TSR_C_], 1);
  return TSR_OK;
}

static tsr_status find_plan(composed *x, const tsr_plan **plan) {
  tsr_mapping mapping;
  tsr_request request = {.call = x->call, .exchanged = x->exchanged};
  if (tsr_compose_mapping(x->directory, &x->region[TSR_C_], &mapping)) request.mapping = &mapping;
  return tsr_compose_find_plan(x->directory, &request, &x->found, plan);
}

static tsr_status submit(composed *x, const tsr_plan *plan, tsr_shortage *shortage) {
  tsr_directory *directory = x->directory;
  int short_of = -1;
  tsr_job *job;
  tsr_status status = tsr_compose_submit(directory, plan, x->binding, &x->found, &short_of, &job);
  tsr_shortage_note(shortage, plan, short_of);
  if (status != TSR_OK) return status;
  tsr_journal_entry entry = tsr_journal_call(&directory->journal, &plan->call, x->binding,
                                             x->exchanged, tsr_job_number(job), x->newer);
  entry.spent = tsr_job_is_tied(job); /* what the user's stream does next may change its matrices */
  tsr_compose_journal(directory, &entry);
  if (tsr_job_writes_back(job)) tsr_compose_note_write_back(directory, &x->region[TSR_C_], job);
  tsr_calls_keep(directory->calls, job);
  return TSR_OK;
}

static bool has_newer_c(const tsr_found *found) {
  for (size_t i = 0; i < found->seen.blocks.count; i++)
    if (found->seen.blocks.items[i].matrix == TSR_C_ && found->seen.blocks.items[i].newer.count > 0)
      return true;
  return false;
}

/* Plans with the cached blocks that are now in the store, and submits. */
static tsr_status attempt(void *composed_, tsr_shortage *shortage) {
  composed *x = composed_;
  const tsr_plan *plan;
  tsr_found_free(&x->found);
  TSR_TRY(tsr_store_look(x->directory->store, x->region, x->use, &x->found));
  x->newer = has_newer_c(&x->found);
  tsr_status status = find_plan(x, &plan);
  shortage->any = status == TSR_ERR_MEMORY; /* no plan fits beside the cached blocks */
  if (status != TSR_OK) return status;
  x->alone = x->on_cpu = plan->devices == 0;
  if (!x->alone) status = submit(x, plan, shortage);
  tsr_plan_unref(plan);
  return status;
}

/* Evicts the entry used longest ago. If there is none, the call is to be carried out alone. Entries
 * are on devices: they stay if the host lacks memory. */
static tsr_status evict_oldest(void *composed_, const tsr_shortage *shortage, bool *any) {
  composed *x = composed_;
  *any = false;
  x->short_of_staging = shortage->location >= x->directory->devices;
  if (x->short_of_staging) return TSR_OK;
  TSR_TRY(tsr_compose_evict_oldest(x->directory, &x->found, any));
  x->alone = !*any;
  return TSR_OK;
}

/* A call that the CPU does needs only its operands at home, which the caller of tsr_compose_call
 * brings there. */
static tsr_status make_room(const composed *x) {
  return x->on_cpu ? TSR_OK : tsr_compose_evict_all(x->directory);
}

static tsr_status compose(composed *x) {
  TSR_TRY(tsr_compose_check(x->directory, x->region, TSR_OPERANDS));
  TSR_TRY(settle_crossings(x));
  TSR_TRY(settle_triangles(x));
  tsr_trial trial = {.call = x,
                     .attempt = attempt,
                     .relieve = evict_oldest,
                     .plans = x->directory->plans,
                     .most_shrinks = TSR_TUNE_STAGING_SHRINKS,
                     .staging_only = true};
  tsr_status status = tsr_retry(&trial);
  tsr_found_free(&x->found);
  x->alone |= status == TSR_ERR_MEMORY && x->short_of_staging;
  if (x->alone) return make_room(x);
  if (status == TSR_OK) tsr_compose_stamp(x->directory, x->region, TSR_OPERANDS);
  return status;
}

bool tsr_composes(const tsr_directory *directory, const tsr_call *call) {
  /* A reproducible result must not depend on which blocks are on which devices. */
  if (directory->plans->planning.reproducible) return false;
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (call->operand[x].rows > 0 && call->operand[x].location >= directory->devices) return true;
  return false;
}

tsr_status tsr_compose_call(tsr_directory *directory, const tsr_call *call,
                            const tsr_binding *binding, bool exchanged, bool *alone) {
  composed x = {.directory = directory, .call = call, .binding = binding, .exchanged = exchanged};
  tsr_compose_begin(directory);
  tsr_compose_regions(directory, call, binding, x.region);
  for (int i = 0; i < TSR_OPERANDS; i++)
    x.use[i] = (tsr_use){i == TSR_C_ ? TSR_CHANGED : TSR_READ_ONLY, tsr_call_triangle_of(call, i)};
  tsr_status status = tsr_compose_open(directory);
  if (status == TSR_OK) status = compose(&x);
  tsr_compose_end(directory);
  *alone = x.alone;
  return status;
}

void tsr_compose_note(tsr_directory *directory, const tsr_call *call, const tsr_binding *binding,
                      bool exchanged, const tsr_job *job) {
  tsr_region region[TSR_OPERANDS];
  uint64_t number = tsr_job_number(job);
  bool straight = tsr_job_is_straight(job);
  tsr_compose_regions(directory, call, binding, region);
  pthread_mutex_lock(&directory->lock);
  tsr_journal_entry entry =
      tsr_journal_call(&directory->journal, call, binding, exchanged, number, false);
  entry.spent = tsr_job_is_tied(job);
  const tsr_region *c = &entry.region[TSR_C_];
  tsr_compose_journal(directory, &entry);
  tsr_compose_journal_region(directory, TSR_JOURNAL_HOME, c, number, number, straight);
  tsr_compose_journal_region(directory, TSR_JOURNAL_COVER, c, number, number, straight);
  if (region[TSR_C_].base != NULL) tsr_compose_note_write_back(directory, &region[TSR_C_], job);
  pthread_mutex_unlock(&directory->lock);
}
