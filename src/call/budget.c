/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "call/budget.h"

#include <string.h>

#include "base/log.h"
#include "call/tuning.h"

static size_t *budget_of(tsr_plans *plans, int location) {
  return location < plans->budgets.devices ? &plans->planning.budget[location]
                                           : &plans->planning.ring;
}

void tsr_budget_begin(tsr_plans *plans, int devices, const size_t *bytes) {
  tsr_budgets *b = &plans->budgets;
  b->devices = devices;
  for (int l = 0; l <= devices; l++) *budget_of(plans, l) = b->wanted[l] = b->given[l] = bytes[l];
}

static bool is_less(tsr_plans *plans) {
  for (int l = 0; l <= plans->budgets.devices; l++)
    if (*budget_of(plans, l) < plans->budgets.wanted[l]) return true;
  return false;
}

void tsr_budget_shrink(tsr_plans *plans, int location, size_t bytes, int attempt) {
  tsr_budgets *b = &plans->budgets;
  double factor =
      attempt < TSR_TUNE_BUDGET_ATTEMPTS ? TSR_TUNE_BUDGET_SHRINK : TSR_TUNE_BUDGET_SHRINK_MORE;
  size_t less = (size_t)(factor * (double)bytes);
  pthread_mutex_lock(&plans->lock);
  size_t *budget = budget_of(plans, location);
  if (less < *budget) *budget = less;
  b->shrinks++;
  if (attempt == 0)
    b->patience = b->patience == 0                              ? TSR_TUNE_BUDGET_PATIENCE
                  : b->patience < TSR_TUNE_BUDGET_PATIENCE_MOST ? 2 * b->patience
                                                                : TSR_TUNE_BUDGET_PATIENCE_MOST;
  b->calls = 0;
  tsr_plans_note_settings(plans);
  pthread_mutex_unlock(&plans->lock);
  tsr_log(TSR_LOG_INFO, "location %d lacks memory for %zu bytes: planning again with %zu", location,
          bytes, less);
}

/* Raises each budget by a step, at most to what was asked for. The caller holds the lock. */
static void grow(tsr_plans *plans) {
  tsr_budgets *b = &plans->budgets;
  for (int l = 0; l <= b->devices; l++) {
    size_t *budget = budget_of(plans, l);
    double more = TSR_TUNE_BUDGET_GROWTH * (double)*budget;
    *budget = more < (double)b->wanted[l] ? (size_t)more : b->wanted[l];
  }
  b->calls = 0;
  tsr_plans_note_settings(plans);
}

void tsr_budget_call(tsr_plans *plans) {
  tsr_budgets *b = &plans->budgets;
  pthread_mutex_lock(&plans->lock);
  if (b->patience > 0 && ++b->calls > b->patience) {
    if (is_less(plans))
      grow(plans);
    else
      b->patience = 0;
  }
  pthread_mutex_unlock(&plans->lock);
}

long tsr_budget_mark(tsr_plans *plans) {
  pthread_mutex_lock(&plans->lock);
  long mark = is_less(plans) ? -1 : plans->budgets.shrinks;
  pthread_mutex_unlock(&plans->lock);
  return mark;
}

bool tsr_budget_restore_since(tsr_plans *plans, long mark) {
  pthread_mutex_lock(&plans->lock);
  bool any = mark != plans->budgets.shrinks;
  pthread_mutex_unlock(&plans->lock);
  if (any) tsr_budget_restore(plans);
  return any;
}

void tsr_budget_restore(tsr_plans *plans) {
  tsr_budgets *b = &plans->budgets;
  pthread_mutex_lock(&plans->lock);
  for (int l = 0; l <= b->devices; l++) *budget_of(plans, l) = b->wanted[l];
  b->patience = 0;
  tsr_plans_note_settings(plans);
  pthread_mutex_unlock(&plans->lock);
}

size_t tsr_budget_set(tsr_plans *plans, int device, size_t bytes) {
  tsr_budgets *b = &plans->budgets;
  pthread_mutex_lock(&plans->lock);
  size_t budget = bytes > 0 ? bytes : b->given[device];
  b->wanted[device] = plans->planning.budget[device] = budget;
  tsr_plans_note_settings(plans);
  pthread_mutex_unlock(&plans->lock);
  return budget;
}

size_t tsr_budget_get(tsr_plans *plans, int device) {
  pthread_mutex_lock(&plans->lock);
  size_t bytes = plans->planning.budget[device];
  pthread_mutex_unlock(&plans->lock);
  return bytes;
}
