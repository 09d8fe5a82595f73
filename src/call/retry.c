/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "call/retry.h"

#include <string.h>

static bool may_shrink(const tsr_trial *t, const tsr_shortage *s) {
  if (t->shrinks >= t->most_shrinks || s->location < 0) return false;
  size_t former = t->wanted[s->location];
  if (former > 0 && s->bytes >= former) return false;
  return !t->staging_only || s->location == t->plans->budgets.devices;
}

/* *helped: the attempt, before which the mark was made, is worth repeating. If the caller's relief
 * freed memory, budgets that other calls had shrunk are restored as well, because they would now
 * find more, too. */
static tsr_status relieve(tsr_trial *t, const tsr_shortage *s, long mark, bool *helped) {
  *helped = false;
  if (s->any && t->relieve != NULL) TSR_TRY(t->relieve(t->call, s, helped));
  if (s->any && !*helped && may_shrink(t, s)) {
    tsr_budget_shrink(t->plans, s->location, s->bytes, t->shrinks++);
    t->wanted[s->location] = s->bytes;
    *helped = true;
  } else if (t->restores && t->shrinks == 0) {
    *helped |= tsr_budget_restore_since(t->plans, mark);
  }
  return TSR_OK;
}

tsr_status tsr_retry_again(tsr_trial *trial, const tsr_shortage *first, long mark) {
  tsr_shortage shortage = *first;
  tsr_status status = TSR_ERR_MEMORY;
  memset(trial->wanted, 0, sizeof trial->wanted);
  while (status == TSR_ERR_MEMORY) {
    bool again;
    if (shortage.location >= 0) trial->shortage = shortage;
    TSR_TRY(relieve(trial, &shortage, mark, &again));
    if (!again) break;
    shortage = (tsr_shortage){.location = -1};
    mark = trial->restores ? tsr_budget_mark(trial->plans) : 0;
    status = trial->attempt(trial->call, &shortage);
  }
  return status;
}
