/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "call/capture.h"

#include "base/alloc.h"

tsr_status tsr_capture_create(tsr_plans *owner, tsr_capture **capture) {
  tsr_capture *made = tsr_alloc_zero(1, sizeof *made);
  if (made == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a capture");
  made->owner = owner;
  tsr_plans_ref(owner);
  *capture = made;
  return TSR_OK;
}

void tsr_capture_free(tsr_capture *capture) {
  if (capture == NULL) return;
  for (size_t i = 0; i < capture->plans.count; i++) tsr_plan_unref(capture->plans.items[i]);
  TSR_VEC_FREE(&capture->plans);
  TSR_VEC_FREE(&capture->keys);
  TSR_VEC_FREE(&capture->steps);
  tsr_plans_unref(capture->owner);
  tsr_dealloc(capture);
}

void tsr_capture_note_step(tsr_plans *plans, const tsr_captured_step *step) {
  pthread_mutex_lock(&plans->lock);
  tsr_capture *s = plans->capturing;
  if (s != NULL && !TSR_VEC_PUSH(&s->steps, *step)) s->incomplete = true;
  pthread_mutex_unlock(&plans->lock);
}

static size_t find_key(const tsr_capture *s, const tsr_plan_key *key) {
  size_t i = 0;
  while (i < s->keys.count &&
         (s->keys.items[i].call != key->call || s->keys.items[i].settings != key->settings))
    i++;
  return i;
}

void tsr_capture_note_plan(tsr_plans *plans, const tsr_plan_key *key, const tsr_plan *plan) {
  pthread_mutex_lock(&plans->lock);
  tsr_capture *s = plans->capturing;
  if (s != NULL && find_key(s, key) == s->keys.count) {
    if (TSR_VEC_RESERVE(&s->plans, 1) && TSR_VEC_PUSH(&s->keys, *key)) {
      s->plans.items[s->plans.count++] = plan;
      tsr_plan_ref(plan);
    } else {
      s->incomplete = true;
    }
  }
  pthread_mutex_unlock(&plans->lock);
}

const tsr_plan *tsr_capture_find(tsr_plans *plans, const tsr_plan_key *key) {
  const tsr_plan *plan = NULL;
  pthread_mutex_lock(&plans->lock);
  const tsr_capture *s = plans->running;
  size_t i = s != NULL ? find_key(s, key) : 0;
  if (s != NULL && i < s->keys.count) plan = s->plans.items[i];
  if (plan != NULL) tsr_plan_ref(plan);
  pthread_mutex_unlock(&plans->lock);
  return plan;
}
