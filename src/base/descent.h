/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A descent: a local search from one candidate to better ones, which changes one thing at a time.
 *
 * Each thing that can be changed has a turn in each round. A round of walks comes first, since time
 * may suffice for few candidates only: a turn walks from the present value up or down as long as
 * the score gets no worse. If a round of walks has found nothing better, the next round tries all
 * values of each turn. If that finds nothing better either, the descent ends; else walks follow
 * again.
 */
#ifndef TSR_BASE_DESCENT_H
#define TSR_BASE_DESCENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum tsr_change {
  TSR_CHANGE_NONE,  /* the turn changes nothing here */
  TSR_CHANGE_OTHER, /* to the other one of two values, 0 and 1 */
  TSR_CHANGE_WALK,  /* up or down the list of values, as long as the score gets no worse */
  TSR_CHANGE_SCAN,  /* through the whole list, since a bad value may lie between two good ones */
  TSR_CHANGE_UNIT,  /* one more or one less, as long as the score gets better */
  TSR_CHANGE_RATIO, /* by 8/7 or 7/8, as long as the score gets better */
  TSR_CHANGE_AGAIN  /* the same change again (its value is 1), as long as the score gets better */
} tsr_change;

/* How a turn may change a candidate. */
typedef struct tsr_changes {
  tsr_change change;
  int64_t now;          /* the present value of the candidate */
  const int64_t *value; /* the list of WALK and SCAN, ascending for walks; a 0 behind other values
                           stands for the whole extent, the largest value */
  int count;
} tsr_changes;

/* The problem of a descent. Candidates are objects of the caller, of `size` bytes, that begin with
 * their score: a double, the less the better, INFINITY: not possible. The descent copies candidates
 * and reads nothing else of them. */
typedef struct tsr_descent {
  void *state; /* of the caller, for the functions below */
  size_t size;
  void *made;                         /* memory for one candidate */
  int turns;                          /* turns in a round */
  bool (*in_time)(const void *state); /* false: no time is left, the descent ends */
  /* How a turn may change the candidate `at`. */
  tsr_changes (*changes)(const void *state, int turn, const void *at);
  /* Makes the candidate `made`, which has `value` in that turn and otherwise equals `at`. A
   * candidate that is not worth trying gets the score of `at`. */
  tsr_status (*try_value)(void *state, int turn, int64_t value, const void *at, void *made);
} tsr_descent;

/* Moves `at` to the best candidate that the descent finds. A failure of try_value ends the descent
 * and is returned. */
tsr_status tsr_descend(const tsr_descent *descent, void *at);

/* A single turn: as in a round of walks, or (walking is false) with all values tried. *any becomes
 * true when `at` has moved, and stays as it was otherwise. */
tsr_status tsr_descend_turn(const tsr_descent *descent, int turn, bool walking, void *at,
                            bool *any);

#endif
