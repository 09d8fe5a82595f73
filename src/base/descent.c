/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/descent.h"

#include <string.h>

static double score_of(const void *candidate) {
  return *(const double *)candidate;
}

/* Tries a value, and moves `at` to the new candidate if that one is better. *harm: its score is
 * worse. */
static tsr_status step_to(const tsr_descent *d, int turn, int64_t value, void *at, bool *better,
                          bool *harm) {
  TSR_TRY(d->try_value(d->state, turn, value, at, d->made));
  *better = score_of(d->made) < score_of(at);
  *harm = score_of(d->made) > score_of(at);
  if (*better) memcpy(at, d->made, d->size);
  return TSR_OK;
}

/* ---- Along a list of values ---- */

/* Tries the values from index `from` on in one direction, until the score gets worse. */
static tsr_status follow(const tsr_descent *d, int turn, const tsr_changes *s, int from,
                         int direction, void *at, bool *any) {
  bool better, harm = false;
  for (int v = from; v >= 0 && v < s->count && !harm && d->in_time(d->state); v += direction) {
    TSR_TRY(step_to(d, turn, s->value[v], at, &better, &harm));
    *any |= better;
  }
  return TSR_OK;
}

/* The place of a value in comparisons: a 0 behind other values stands for the largest one. */
static int64_t rank_of(const tsr_changes *s, int64_t value) {
  return value == 0 && s->value[0] != 0 ? INT64_MAX : value;
}

/* Walks upwards and, if that found nothing better, downwards. */
static tsr_status walk(const tsr_descent *d, int turn, const tsr_changes *s, void *at, bool *any) {
  int64_t now = rank_of(s, s->now);
  int below = 0, above;
  bool up = false;
  while (below < s->count && rank_of(s, s->value[below]) < now) below++;
  above = below < s->count && rank_of(s, s->value[below]) == now ? below + 1 : below;
  TSR_TRY(follow(d, turn, s, above, 1, at, &up));
  *any |= up;
  return up ? TSR_OK : follow(d, turn, s, below - 1, -1, at, any);
}

static tsr_status scan(const tsr_descent *d, int turn, const tsr_changes *s, void *at, bool *any) {
  bool better, harm;
  for (int v = 0; v < s->count && d->in_time(d->state); v++) {
    TSR_TRY(step_to(d, turn, s->value[v], at, &better, &harm));
    *any |= better;
  }
  return TSR_OK;
}

/* ---- Without a list ---- */

/* The next value in a direction (1 or -1). */
static int64_t next_of(tsr_change change, int64_t now, int direction) {
  if (change == TSR_CHANGE_UNIT) return now + direction;
  return direction > 0 ? now * 8 / 7 : now * 7 / 8;
}

/* Steps in one direction as long as the score gets better. */
static tsr_status step_while_better(const tsr_descent *d, int turn, int direction, void *at,
                                    bool *any) {
  bool better = true, harm;
  while (better && d->in_time(d->state)) {
    tsr_changes s = d->changes(d->state, turn, at);
    int64_t next = next_of(s.change, s.now, direction);
    if (next < 1 || next == s.now) break;
    TSR_TRY(step_to(d, turn, next, at, &better, &harm));
    *any |= better;
  }
  return TSR_OK;
}

/* Repeats the one change that the turn has, as long as the score gets better. */
static tsr_status repeat(const tsr_descent *d, int turn, void *at, bool *any) {
  bool better = true, harm;
  while (better && d->in_time(d->state)) {
    TSR_TRY(step_to(d, turn, 1, at, &better, &harm));
    *any |= better;
  }
  return TSR_OK;
}

/* ---- Turns and rounds ---- */

tsr_status tsr_descend_turn(const tsr_descent *d, int turn, bool walking, void *at, bool *any) {
  tsr_changes s = d->changes(d->state, turn, at);
  bool up = false, better, harm;
  switch (s.change) {
    case TSR_CHANGE_OTHER:
      TSR_TRY(step_to(d, turn, !s.now, at, &better, &harm));
      *any |= better;
      return TSR_OK;
    case TSR_CHANGE_WALK:
      return (walking ? walk : scan)(d, turn, &s, at, any);
    case TSR_CHANGE_SCAN:
      return scan(d, turn, &s, at, any);
    case TSR_CHANGE_UNIT:
    case TSR_CHANGE_RATIO:
      TSR_TRY(step_while_better(d, turn, 1, at, &up));
      *any |= up;
      return up ? TSR_OK : step_while_better(d, turn, -1, at, any);
    case TSR_CHANGE_AGAIN:
      return repeat(d, turn, at, any);
    default:
      return TSR_OK;
  }
}

tsr_status tsr_descend(const tsr_descent *d, void *at) {
  bool any, walking = true;
  while (d->in_time(d->state)) {
    any = false;
    for (int turn = 0; turn < d->turns && d->in_time(d->state); turn++)
      TSR_TRY(tsr_descend_turn(d, turn, walking, at, &any));
    if (!any && !walking) break;
    walking = any;
  }
  return TSR_OK;
}
