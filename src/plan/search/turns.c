/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a descent changes in a strategy, in this order: the shares of C, if they come first (tiles,
 * and rank-k updates, whose panels lie across a triangle and differ much); the grid of the devices;
 * each knob whose row of the table gives it a turn; the shares, otherwise.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/descent.h"
#include "plan/search/search.h"

enum { TURN_FIRST_SHARES, TURN_GRID, TURN_KNOBS, TURN_SHARES = TURN_KNOBS + TSR_KNOB_TURNS, TURNS };

typedef struct turner {
  tsr_search *search;
  int64_t divisors[TSR_MACHINE_DEVICES]; /* divisors of the number of devices, ascending */
  int count;
} turner;

static bool in_time(const void *state) {
  const turner *t = state;
  return tsr_search_in_time(t->search);
}

/* ---- Shares ---- */

static bool shares_come_first(const tsr_search *s, const tsr_candidate *at) {
  return at->strategy.kind == TSR_TILES || tsr_search_family(s) == TSR_RANK;
}

static tsr_changes changes_of_shares(const tsr_search *s, int turn, const tsr_candidate *at) {
  bool first = shares_come_first(s, at), here = first == (turn == TURN_FIRST_SHARES);
  if (!here || !tsr_shares_are_free(s, at)) return (tsr_changes){TSR_CHANGE_NONE};
  /* Tiles are shared out by the replayed times again and again, as long as that helps, and so is
   * the work between a home of all operands and the others. Panels are cut anew once a turn, since
   * the turns of other knobs move the shares again. */
  bool again = at->strategy.kind == TSR_TILES || tsr_search_is_whole_at_home(s, &at->strategy);
  return (tsr_changes){again ? TSR_CHANGE_AGAIN : TSR_CHANGE_OTHER};
}

static tsr_status try_shares(tsr_search *s, const tsr_candidate *at, tsr_candidate *made) {
  tsr_strategy strategy;
  if (tsr_shares_learn(s, at, &strategy)) return tsr_search_try(s, &strategy, made);
  made->score = at->score;
  return TSR_OK;
}

/* ---- Grids ---- */

/* Whether other grids are tried. Panels of other families lie side by side, and C blocks keep the
 * grid that they were guessed for. */
static bool has_grids(const tsr_search *s, const tsr_candidate *at) {
  return s->mapping == NULL && tsr_search_family(s) == TSR_PRODUCT &&
         at->strategy.kind != TSR_SLICES &&
         !(tsr_strategy_has_tiles(&at->strategy) && s->problem.tight);
}

static tsr_changes changes_of_grid(const turner *t, const tsr_candidate *at) {
  if (!has_grids(t->search, at)) return (tsr_changes){TSR_CHANGE_NONE};
  return (tsr_changes){TSR_CHANGE_WALK, at->strategy.grid_rows, t->divisors, t->count};
}

static tsr_status try_grid(tsr_search *s, int64_t rows, const tsr_candidate *at,
                           tsr_candidate *made) {
  tsr_strategy strategy = at->strategy;
  made->score = at->score;
  if (rows == strategy.grid_rows) return TSR_OK;
  strategy.grid_cols = tsr_strategy_devices(&strategy) / rows;
  strategy.grid_rows = rows;
  memset(strategy.weight, 0, sizeof strategy.weight);
  return tsr_search_try(s, &strategy, made);
}

/* ---- Knobs ---- */

/* The knob that has this turn; NULL: the strategy's kind has none there. */
static const tsr_knob *knob_of(const tsr_search *s, int turn, const tsr_candidate *at) {
  int count;
  const tsr_knob *knobs = tsr_knobs(&count);
  for (int i = 0; i < count; i++)
    if (knobs[i].turn == turn - TURN_KNOBS + 1 &&
        tsr_knob_has(&knobs[i], at->strategy.kind, tsr_search_family(s)))
      return &knobs[i];
  return NULL;
}

static int count_values(const tsr_knob *knob) {
  int count = 0;
  while (count < TSR_KNOB_VALUES && knob->value[count] >= 0) count++;
  return count;
}

static tsr_changes changes_of_knob(const tsr_search *s, int turn, const tsr_candidate *at) {
  const tsr_knob *knob = knob_of(s, turn, at);
  if (knob == NULL) return (tsr_changes){TSR_CHANGE_NONE};
  return (tsr_changes){knob->change, tsr_knob_value(knob, &at->strategy), knob->value,
                       count_values(knob)};
}

static tsr_status try_knob(tsr_search *s, int turn, int64_t value, const tsr_candidate *at,
                           tsr_candidate *made) {
  const tsr_knob *knob = knob_of(s, turn, at);
  tsr_strategy strategy = at->strategy;
  made->score = at->score;
  if (tsr_knob_value(knob, &strategy) == value) return TSR_OK;
  if (knob->worth != NULL && !knob->worth(&s->problem, &strategy, value)) return TSR_OK;
  *tsr_knob_in(knob, &strategy) = value;
  return tsr_search_try(s, &strategy, made);
}

/* ---- The descent ---- */

static tsr_changes changes(const void *state, int turn, const void *candidate) {
  const turner *t = state;
  if (turn == TURN_FIRST_SHARES || turn == TURN_SHARES)
    return changes_of_shares(t->search, turn, candidate);
  return turn == TURN_GRID ? changes_of_grid(t, candidate)
                           : changes_of_knob(t->search, turn, candidate);
}

static tsr_status try_value(void *state, int turn, int64_t value, const void *at, void *made) {
  turner *t = state;
  if (turn == TURN_FIRST_SHARES || turn == TURN_SHARES) return try_shares(t->search, at, made);
  if (turn == TURN_GRID) return try_grid(t->search, value, at, made);
  return try_knob(t->search, turn, value, at, made);
}

static tsr_descent descent_of(tsr_search *s, const tsr_candidate *at, turner *t,
                              tsr_candidate *made) {
  int devices = tsr_strategy_devices(&at->strategy);
  *t = (turner){.search = s};
  for (int rows = 1; rows <= devices; rows++)
    if (devices % rows == 0) t->divisors[t->count++] = rows;
  return (tsr_descent){t, sizeof *made, made, TURNS, in_time, changes, try_value};
}

tsr_status tsr_search_descend(tsr_search *s, tsr_candidate *at) {
  turner t;
  tsr_candidate made;
  tsr_descent d = descent_of(s, at, &t, &made);
  return tsr_descend(&d, at);
}

static tsr_status turn_once(tsr_search *s, int turn, tsr_candidate *at) {
  turner t;
  tsr_candidate made;
  bool any = false;
  tsr_descent d = descent_of(s, at, &t, &made);
  return tsr_descend_turn(&d, turn, true, at, &any);
}

tsr_status tsr_search_descend_grid(tsr_search *s, tsr_candidate *at) {
  return turn_once(s, TURN_GRID, at);
}

tsr_status tsr_search_descend_shares(tsr_search *s, tsr_candidate *at) {
  return turn_once(s, shares_come_first(s, at) ? TURN_FIRST_SHARES : TURN_SHARES, at);
}
