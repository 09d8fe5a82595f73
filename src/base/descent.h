/*
 * A descent: from a candidate to better ones, one thing changed at a time.
 *
 * Whatever can be changed has a turn in each round. First each is walked up or down from where it
 * is, as long as that does no harm, since there may be time for few candidates only; when a round
 * of walks has led nowhere, all values are tried, and when that leads nowhere either the descent
 * ends.
 */
#ifndef TSR_BASE_DESCENT_H
#define TSR_BASE_DESCENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum tsr_change {
  TSR_CHANGE_NONE,  /* not changed */
  TSR_CHANGE_OTHER, /* to the other one of two values, 0 and 1 */
  TSR_CHANGE_WALK,  /* up or down the values, as long as that does no harm */
  TSR_CHANGE_SCAN,  /* through all values, since there may be bad ones between two good ones */
  TSR_CHANGE_UNIT,  /* one more or one less, as long as that helps */
  TSR_CHANGE_RATIO, /* by 8/7 or 7/8, as long as that helps */
  TSR_CHANGE_AGAIN  /* there is one way to change it, which is taken as long as that helps */
} tsr_change;

/* What a turn may change at a candidate. */
typedef struct tsr_changes {
  tsr_change change;
  int64_t now;          /* where the candidate is */
  const int64_t *value; /* WALK and SCAN: ascending for walks; a 0 at the end is all there is */
  int count;
} tsr_changes;

/* Candidates are objects of the caller's, of `size` bytes, that begin with their score (a double,
 * the less the better, INFINITY: not possible). The engine copies them and looks at nothing else.
 */
typedef struct tsr_descent {
  void *state;
  size_t size;
  void *made; /* room for a candidate */
  int turns;  /* in a round */
  bool (*in_time)(const void *state);
  tsr_changes (*changes)(const void *state, int turn, const void *at);
  /* Makes the candidate that has `value` in that turn, and is otherwise as `at`. One that is not
   * worth trying gets the score of `at`. */
  tsr_status (*try_value)(void *state, int turn, int64_t value, const void *at, void *made);
} tsr_descent;

/* Moves `at` to the best candidate that the descent finds. */
tsr_status tsr_descend(const tsr_descent *descent, void *at);

/* A single turn: walked, or with all values tried. *any is set when `at` has moved. */
tsr_status tsr_descend_turn(const tsr_descent *descent, int turn, bool walking, void *at,
                            bool *any);

#endif
