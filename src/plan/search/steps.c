/*
 * Steps: parameters of panels are changed one at a time, from the best plan so far. First each is
 * walked up or down from where it is, as long as that helps, since there may be time for few
 * candidates only; when no step helps any more, all values are tried.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "plan/search/knobs.h"
#include "plan/search/search.h"

/* ---- One knob ---- */

/* Whether the search may change a knob where it is. Tiles have steps of their own (holds.c). */
static bool is_turned(const tsr_search *s, const tsr_knob *knob) {
  tsr_strategy_kind kind = s->at.strategy.kind;
  if (kind == TSR_TILES && knob->step != TSR_STEP_OTHER) return false;
  return knob->step != TSR_STEP_NONE && tsr_knob_has(knob, kind, tsr_search_family(s));
}

static tsr_status try_value(tsr_search *s, const tsr_knob *knob, int64_t value, bool *better) {
  tsr_strategy r = s->at.strategy;
  *better = false;
  s->last.score = s->at.score;
  if (tsr_knob_value(knob, &r) == value) return TSR_OK;
  if (knob->worth != NULL && !knob->worth(&s->problem, &r, value)) return TSR_OK;
  *tsr_knob_in(knob, &r) = value;
  if (tsr_strategy_must_be_lazy(&r, &s->problem)) r.lazy = true;
  return tsr_search_try(s, &r, better);
}

static tsr_status other(tsr_search *s, const tsr_knob *knob, bool *better) {
  return try_value(s, knob, !tsr_knob_value(knob, &s->at.strategy), better);
}

tsr_status tsr_search_other_lazy(tsr_search *s, bool *better) {
  int count;
  const tsr_knob *knobs = tsr_knobs(&count);
  *better = false;
  for (int i = 0; i < count; i++)
    if (knobs[i].field == offsetof(tsr_strategy, lazy)) return other(s, &knobs[i], better);
  return TSR_OK;
}

static int count_values(const tsr_knob *knob) {
  int count = 0;
  while (count < TSR_KNOB_VALUES && knob->value[count] >= 0) count++;
  return count;
}

/* A 0 behind other values stands for all there is. */
static int64_t rank_of(const tsr_knob *knob, int64_t value) {
  return value == 0 && knob->value[0] != 0 ? INT64_MAX : value;
}

/* Follows the values from one place on in one direction while that does no harm. */
static tsr_status follow(tsr_search *s, const tsr_knob *knob, int from, int direction, bool *any) {
  int count = count_values(knob);
  for (int v = from; v >= 0 && v < count && tsr_search_in_time(s); v += direction) {
    bool better;
    TSR_TRY(try_value(s, knob, knob->value[v], &better));
    *any |= better;
    if (s->last.score > s->at.score) break;
  }
  return TSR_OK;
}

static tsr_status walk(tsr_search *s, const tsr_knob *knob, bool *any) {
  int64_t now = rank_of(knob, tsr_knob_value(knob, &s->at.strategy));
  int below = 0, above, count = count_values(knob);
  while (below < count && rank_of(knob, knob->value[below]) < now) below++;
  above = below < count && rank_of(knob, knob->value[below]) == now ? below + 1 : below;
  bool up = false;
  TSR_TRY(follow(s, knob, above, 1, &up));
  *any |= up;
  return up ? TSR_OK : follow(s, knob, below - 1, -1, any);
}

static tsr_status scan(tsr_search *s, const tsr_knob *knob, bool *any) {
  bool better;
  for (int v = 0; v < count_values(knob) && tsr_search_in_time(s); v++) {
    TSR_TRY(try_value(s, knob, knob->value[v], &better));
    *any |= better;
  }
  return TSR_OK;
}

static tsr_status turn(tsr_search *s, const tsr_knob *knob, bool walking, bool *any) {
  bool better;
  if (knob->step != TSR_STEP_OTHER)
    return (walking && knob->step == TSR_STEP_WALK ? walk : scan)(s, knob, any);
  TSR_TRY(other(s, knob, &better));
  *any |= better;
  return TSR_OK;
}

/* The knob whose turn it is in a round; NULL: none of the strategy's has it. */
static const tsr_knob *knob_of_turn(const tsr_search *s, int turn) {
  int count;
  const tsr_knob *knobs = tsr_knobs(&count);
  for (int i = 0; i < count; i++)
    if (knobs[i].turn == turn && is_turned(s, &knobs[i])) return &knobs[i];
  return NULL;
}

/* ---- Grids ---- */

static tsr_status try_grid(tsr_search *s, int devices, int rows, bool *better) {
  tsr_strategy r = s->at.strategy;
  *better = false;
  if (rows == r.grid_rows) return TSR_OK;
  r.grid_rows = rows;
  r.grid_cols = devices / rows;
  memset(r.weight, 0, sizeof r.weight);
  return tsr_search_try(s, &r, better);
}

static tsr_status follow_grids(tsr_search *s, int devices, int direction, bool *any) {
  bool better = true;
  for (int rows = s->at.strategy.grid_rows + direction;
       better && rows >= 1 && rows <= devices && tsr_search_in_time(s); rows += direction) {
    if (devices % rows) continue;
    TSR_TRY(try_grid(s, devices, rows, &better));
    *any |= better;
  }
  return TSR_OK;
}

/* Panels of other families lie side by side. */
static bool has_grids(const tsr_search *s) {
  return s->mapping == NULL && tsr_search_family(s) == TSR_PRODUCT;
}

static tsr_status walk_grids(tsr_search *s, int devices, bool *any) {
  bool up = false;
  if (!has_grids(s)) return TSR_OK;
  TSR_TRY(follow_grids(s, devices, 1, &up));
  *any |= up;
  return up ? TSR_OK : follow_grids(s, devices, -1, any);
}

static tsr_status scan_grids(tsr_search *s, int devices, bool *any) {
  bool better;
  for (int rows = 1; has_grids(s) && rows <= devices && tsr_search_in_time(s); rows++) {
    if (devices % rows) continue;
    TSR_TRY(try_grid(s, devices, rows, &better));
    *any |= better;
  }
  return TSR_OK;
}

/* ---- All of them ---- */

static tsr_status turn_all(tsr_search *s, bool walking, bool *any) {
  for (int i = 1; i <= TSR_KNOB_TURNS && tsr_search_in_time(s); i++) {
    const tsr_knob *knob = knob_of_turn(s, i);
    if (knob != NULL) TSR_TRY(turn(s, knob, walking, any));
  }
  return TSR_OK;
}

static tsr_status deal_again(tsr_search *s, bool *any) {
  bool better = false;
  if (tsr_search_in_time(s)) TSR_TRY(tsr_search_shares(s, &better));
  *any |= better;
  return TSR_OK;
}

/* Each of them once. Panels of a triangle differ so much that they are dealt anew at first. */
static tsr_status go_round(tsr_search *s, int devices, bool walking, bool *any) {
  bool is_rank = tsr_search_family(s) == TSR_RANK;
  *any = false;
  if (is_rank) TSR_TRY(deal_again(s, any));
  TSR_TRY((walking ? walk_grids : scan_grids)(s, devices, any));
  TSR_TRY(turn_all(s, walking, any));
  return is_rank ? TSR_OK : deal_again(s, any);
}

tsr_status tsr_search_climb(tsr_search *s) {
  bool any, walking = true;
  int devices = s->at.strategy.grid_rows * s->at.strategy.grid_cols;
  while (tsr_search_in_time(s)) {
    TSR_TRY(go_round(s, devices, walking, &any));
    if (!any && !walking) break;
    walking = any;
  }
  return TSR_OK;
}

/* Which limit counts depends on the grid, too: on another one the other good starts are tried. */
static tsr_status choose_grid(tsr_search *s, int devices, const tsr_trial *starts, int count) {
  static const double good = 1.1;
  int rows = s->at.strategy.grid_rows;
  double least = s->at.score;
  bool any = false;
  TSR_TRY(walk_grids(s, devices, &any));
  if (s->at.strategy.grid_rows == rows) return TSR_OK;
  for (int i = 0; i < count && starts[i].score < good * least && tsr_search_in_time(s); i++) {
    tsr_strategy r = starts[i].strategy;
    r.grid_rows = s->at.strategy.grid_rows;
    r.grid_cols = s->at.strategy.grid_cols;
    TSR_TRY(tsr_search_try(s, &r, &any));
  }
  return TSR_OK;
}

static void add_start(const tsr_trial *from, tsr_trial list[TSR_SEARCH_CLIMBS], int *count) {
  for (int i = 0; i < *count; i++)
    if (tsr_strategy_same(&list[i].strategy, &from->strategy)) return;
  if (*count < TSR_SEARCH_CLIMBS) list[(*count)++] = *from;
}

/* Tries a strategy from which another climb may begin, wherever the search has come to. */
static tsr_status try_start(tsr_search *s, const tsr_strategy *r, tsr_trial list[TSR_SEARCH_CLIMBS],
                            int *count) {
  bool fits;
  s->at.score = INFINITY;
  TSR_TRY(tsr_search_try(s, r, &fits));
  if (fits) add_start(&s->at, list, count);
  s->at = list[0];
  return TSR_OK;
}

/* The best so far, the same with rows in parts, if they may be, and with a corner that grows, and
 * what is good for another limit. */
static tsr_status climb_from_all(tsr_search *s, const tsr_trial *starts, int count) {
  tsr_trial list[TSR_SEARCH_CLIMBS] = {s->at};
  int listed = 1;
  if (s->options->residency != NULL || !tsr_search_in_time(s)) return tsr_search_climb(s);
  if (tsr_search_family(s) == TSR_PRODUCT && s->at.strategy.kind != TSR_TILES) {
    tsr_strategy parted = s->at.strategy, corner = s->at.strategy;
    parted.row_parts = 2;
    TSR_TRY(try_start(s, &parted, list, &listed));
    if (tsr_panels_corner(s, &corner)) TSR_TRY(try_start(s, &corner, list, &listed));
  }
  for (int i = 0; i < count; i++) add_start(&starts[i], list, &listed);
  return tsr_search_climb_all(s, list, listed);
}

tsr_status tsr_panels_descend(tsr_search *s, int devices) {
  int count;
  tsr_trial starts[TSR_PANEL_LIMITS];
  TSR_TRY(tsr_panels_try_limits(s, starts, &count));
  TSR_TRY(choose_grid(s, devices, starts, count));
  return climb_from_all(s, starts, count);
}
