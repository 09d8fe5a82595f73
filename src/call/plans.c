/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "call/plans.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"

/* ---- References ----------------------------------------------------------- */

void tsr_plans_ref(tsr_plans *plans) {
  atomic_fetch_add(&plans->references, 1);
}

void tsr_plans_unref(tsr_plans *plans) {
  if (atomic_fetch_sub(&plans->references, 1) != 1) return;
  tsr_machine_destroy(plans->machine);
  tsr_machine_destroy(plans->linked);
  pthread_rwlock_destroy(&plans->machine_lock);
  pthread_mutex_destroy(&plans->lock);
  tsr_dealloc(plans->strategy);
  tsr_dealloc(plans);
}

/* ---- Plans ---------------------------------------------------------------- */

tsr_plan_object *tsr_plan_object_of(const tsr_plan *plan) {
  return (tsr_plan_object *)((char *)plan - offsetof(tsr_plan_object, plan));
}

tsr_status tsr_plan_object_create(tsr_plans *owner, tsr_plan *made, bool exchanged,
                                  const tsr_plan **handle) {
  tsr_plan_object *object = tsr_alloc_zero(1, sizeof *object);
  if (object == NULL) {
    tsr_plan_free(made);
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  }
  tsr_plan_move(made, &object->plan);
  atomic_store(&object->references, 1);
  tsr_plans_ref(owner);
  object->owner = owner;
  object->exchanged = exchanged;
  object->moved = tsr_plan_traffic(&object->plan);
  tsr_status status = TSR_OK;
  if (object->plan.devices > 0 && owner->run)
    status = tsr_program_create(&object->plan, &object->program);
  if (status == TSR_OK)
    *handle = &object->plan;
  else
    tsr_plan_unref(&object->plan);
  return status;
}

void tsr_plan_ref(const tsr_plan *plan) {
  atomic_fetch_add(&tsr_plan_object_of(plan)->references, 1);
}

void tsr_plan_unref(const tsr_plan *plan) {
  if (plan == NULL) return;
  tsr_plan_object *object = tsr_plan_object_of(plan);
  if (atomic_fetch_sub(&object->references, 1) != 1) return;
  tsr_plans *owner = object->owner;
  tsr_program_destroy(object->program);
  tsr_plan_clear(&object->plan);
  tsr_dealloc(object->times);
  tsr_dealloc(object->alternatives);
  tsr_dealloc(object);
  tsr_plans_unref(owner);
}

/* ---- Beginning and end ---------------------------------------------------- */

tsr_status tsr_plans_create(tsr_context *context, tsr_plans **plans) {
  tsr_plans *made = tsr_alloc_zero(1, sizeof *made);
  if (made == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a context");
  atomic_store(&made->references, 1);
  atomic_store(&made->context, context);
  pthread_rwlock_init(&made->machine_lock, NULL);
  pthread_mutex_init(&made->lock, NULL);
  tsr_status status = tsr_cache_create(tsr_plan_ref, tsr_plan_unref, &made->cache);
  if (status == TSR_OK)
    *plans = made;
  else
    tsr_plans_unref(made);
  return status;
}

void tsr_plans_close(tsr_plans *plans) {
  tsr_cache_destroy(plans->cache);
  plans->cache = NULL;
  atomic_store(&plans->context, NULL);
  tsr_plans_unref(plans);
}

/* ---- Settings ------------------------------------------------------------- */

void tsr_plans_note_settings(tsr_plans *plans) {
  const tsr_plan_options *p = &plans->planning;
  uint64_t words[] = {tsr_machine_digest(plans->machine),
                      p->reproducible,
                      p->obey_devices,
                      p->no_cpu,
                      (uint64_t)p->tile,
                      p->ring,
                      p->devices};
  plans->digest = tsr_cache_digest(0, words, sizeof words);
  plans->digest = tsr_cache_digest(plans->digest, p->budget, sizeof p->budget);
  if (p->strategy != NULL)
    plans->digest = tsr_cache_digest(plans->digest, p->strategy, strlen(p->strategy));
}

/* A plan on all devices is found again when they all work again. */
void tsr_plans_use(tsr_plans *plans, uint32_t devices) {
  pthread_mutex_lock(&plans->lock);
  plans->planning.devices = devices == plans->all_devices ? 0 : devices;
  tsr_plans_note_settings(plans);
  atomic_store(&plans->devices, devices);
  pthread_mutex_unlock(&plans->lock);
}

tsr_status tsr_plans_force(tsr_plans *plans, const char *strategy) {
  char *words = strategy != NULL ? tsr_strdup(strategy) : NULL;
  if (strategy != NULL && words == NULL)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for a strategy");
  pthread_mutex_lock(&plans->lock);
  char *former = plans->strategy;
  plans->strategy = words;
  plans->planning.strategy = words;
  tsr_plans_note_settings(plans);
  pthread_mutex_unlock(&plans->lock);
  tsr_dealloc(former);
  return TSR_OK;
}

tsr_status tsr_plans_planning(tsr_plans *plans, tsr_plan_options *options, char **strategy) {
  pthread_mutex_lock(&plans->lock);
  *options = plans->planning;
  bool forced = options->strategy != NULL;
  /* A copy: another thread may force another strategy meanwhile. */
  *strategy = forced ? tsr_strdup(options->strategy) : NULL;
  pthread_mutex_unlock(&plans->lock);
  options->strategy = *strategy;
  if (forced && *strategy == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a strategy");
  return TSR_OK;
}

int tsr_plans_rings(tsr_plans *plans) {
  pthread_rwlock_rdlock(&plans->machine_lock);
  int rings = tsr_machine_rings(plans->machine);
  pthread_rwlock_unlock(&plans->machine_lock);
  return rings > 0 ? rings : 1;
}

bool tsr_plans_interleaved(tsr_plans *plans) {
  pthread_rwlock_rdlock(&plans->machine_lock);
  bool interleaved = plans->machine->interleaved && plans->machine->nodes > 1;
  pthread_rwlock_unlock(&plans->machine_lock);
  return interleaved;
}

void tsr_plans_interleave(tsr_plans *plans, tsr_operand *operand) {
  if (operand->memory == TSR_DEVICE) return;
  pthread_rwlock_rdlock(&plans->machine_lock);
  if (plans->machine->interleaved)
    operand->location = tsr_machine_host(plans->machine, TSR_INTERLEAVED);
  pthread_rwlock_unlock(&plans->machine_lock);
}

void tsr_plans_exchange_machine(tsr_plans *plans, tsr_machine *machine, tsr_machine *linked) {
  pthread_rwlock_wrlock(&plans->machine_lock);
  tsr_machine *former = plans->machine, *former_linked = plans->linked;
  plans->machine = machine;
  plans->linked = linked;
  pthread_mutex_lock(&plans->lock);
  tsr_plans_note_settings(plans);
  pthread_mutex_unlock(&plans->lock);
  pthread_rwlock_unlock(&plans->machine_lock);
  tsr_machine_destroy(former);
  tsr_machine_destroy(former_linked);
  tsr_cache_clear(plans->cache);
}
