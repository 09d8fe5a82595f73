/*
 * Steps: parameters of panels are changed one at a time, from the best plan so far. First each is
 * walked up or down from where it is, as long as that helps, since there may be time for few
 * candidates only; when no step helps any more, all values are tried.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "plan/search/search.h"

enum { STEPS = 11, OPTIONS = 12 };

/* Parameters that the search changes, in ascending order where they are walked; a value of -1 ends
 * a list, a 0 at its end stands for all there is. */
typedef struct parameter {
  size_t field;
  int64_t value[OPTIONS];
} parameter;

static const parameter parameters[STEPS] = {
    {offsetof(tsr_recipe, home_share), {100, 112, 125, 150, 175, 200, 250, 300, 400, 600, -1}},
    {offsetof(tsr_recipe, rows), {1, 2, 4, -1}},
    {offsetof(tsr_recipe, slab), {256, 512, 1024, 2048, 4096, 0, -1}},
    {offsetof(tsr_recipe, slab_most), {1024, 2048, 4096, 8192, 0, -1}},
    {offsetof(tsr_recipe, chunk_last), {256, 512, 1024, 2048, 4096, 0, -1}},
    {offsetof(tsr_recipe, chunk_first), {512, 1024, 2048, 0, -1}},
    {offsetof(tsr_recipe, piece), {4 << 20, 8 << 20, 16 << 20, 32 << 20, -1}},
    {offsetof(tsr_recipe, span), {1, 2, 4, 8, 16, 32, -1}},
    {offsetof(tsr_recipe, block), {1024, 2048, 4096, 512, 256, -1}},
    {offsetof(tsr_recipe, chunk), {512, 1024, 2048, 4096, 8192, 0, -1}},
    {offsetof(tsr_recipe, chunk_least), {0, 128, 256, 512, -1}},
};

static bool has_device_home(const tsr_search *s) {
  bool any = false;
  for (int x = 0; x < TSR_OPERANDS; x++)
    any |= tsr_is_device(s->machine, s->call->operand[x].location);
  return any;
}

/* Whether the family's panels depend on a parameter. Beside a triangle there are blocks and
 * stripes, and slabs if it began with some, else slabs; rank-k updates have the chunks of the last
 * slab in all. What a composed call leaves on devices those after it find in the parts that it was
 * cut to, so its rows are not in parts.
 */
static bool has_field(const tsr_search *s, size_t field) {
  bool is_block = field == offsetof(tsr_recipe, block) || field == offsetof(tsr_recipe, span);
  bool is_chunk = field == offsetof(tsr_recipe, chunk);
  bool is_any = field == offsetof(tsr_recipe, piece) || field == offsetof(tsr_recipe, chunk_least);
  bool is_slab = field == offsetof(tsr_recipe, slab) || field == offsetof(tsr_recipe, slab_most);
  switch (tsr_search_family(s)) {
    case TSR_TRIANGLE:
      return is_any || is_block || is_chunk || (is_slab && s->at.recipe.slab > 0);
    case TSR_RANK:
      return !is_block && !is_chunk && field != offsetof(tsr_recipe, chunk_first) &&
             field != offsetof(tsr_recipe, rows) &&
             field != offsetof(tsr_recipe, home_share); /* the replay deals */
    default:
      return field == offsetof(tsr_recipe, rows) ? s->options->residency == NULL : !is_block;
  }
}

static tsr_status try_value(tsr_search *s, size_t field, int64_t value, bool *better) {
  tsr_recipe r = s->at.recipe;
  int64_t *place = (int64_t *)((char *)&r + field);
  *better = false;
  s->last.score = s->at.score;
  if (*place == value || !has_field(s, field)) return TSR_OK;
  if (field == offsetof(tsr_recipe, slab_most) && (r.slab == 0 || value > s->call->k))
    return TSR_OK;
  if (field == offsetof(tsr_recipe, home_share) && !has_device_home(s)) return TSR_OK;
  *place = value;
  if (tsr_search_must_be_lazy(s, &r)) r.lazy = true;
  return tsr_search_try(s, &r, better);
}

/* ---- One parameter ---- */

static int count_values(const parameter *p) {
  int count = 0;
  while (count < OPTIONS && p->value[count] >= 0) count++;
  return count;
}

/* A 0 behind other values stands for all there is. */
static int64_t rank_of(const parameter *p, int64_t value) {
  return value == 0 && p->value[0] != 0 ? INT64_MAX : value;
}

/* Follows the values from one place on in one direction while that does no harm. */
static tsr_status follow(tsr_search *s, const parameter *p, int from, int direction, bool *any) {
  int count = count_values(p);
  for (int v = from; v >= 0 && v < count && tsr_search_in_time(s); v += direction) {
    bool better;
    TSR_TRY(try_value(s, p->field, p->value[v], &better));
    *any |= better;
    if (s->last.score > s->at.score) break;
  }
  return TSR_OK;
}

/* Blocks, how many are copied together, and slabs of which the last one is as long as it happens to
 * be: some go better than others between them, so that a walk would stop too early. */
static bool is_rugged(const parameter *p) {
  return p->field == offsetof(tsr_recipe, span) || p->field == offsetof(tsr_recipe, block) ||
         p->field == offsetof(tsr_recipe, slab_most);
}

static tsr_status walk(tsr_search *s, const parameter *p, bool *any) {
  int64_t now = rank_of(p, *(const int64_t *)((const char *)&s->at.recipe + p->field));
  int below = 0, above, count = count_values(p);
  while (below < count && rank_of(p, p->value[below]) < now) below++;
  above = below < count && rank_of(p, p->value[below]) == now ? below + 1 : below;
  bool up = false;
  TSR_TRY(follow(s, p, above, 1, &up));
  *any |= up;
  return up ? TSR_OK : follow(s, p, below - 1, -1, any);
}

static tsr_status scan(tsr_search *s, const parameter *p, bool *any) {
  bool better;
  for (int v = 0; v < count_values(p) && tsr_search_in_time(s); v++) {
    TSR_TRY(try_value(s, p->field, p->value[v], &better));
    *any |= better;
  }
  return TSR_OK;
}

/* ---- Choices of two ---- */

static tsr_status try_order(tsr_search *s, bool *better) {
  tsr_recipe r = s->at.recipe;
  *better = false;
  if (r.tile == 0) return TSR_OK; /* a group for each device: there is one order */
  r.by_eta = !r.by_eta;
  return tsr_search_try(s, &r, better);
}

tsr_status tsr_search_other_lazy(tsr_search *s, bool *better) {
  tsr_recipe r = s->at.recipe;
  *better = false;
  r.lazy = !r.lazy;
  if ((r.lazy && !tsr_panels_may_be_lazy(s, &r)) || (!r.lazy && tsr_search_must_be_lazy(s, &r)))
    return TSR_OK;
  return tsr_search_try(s, &r, better);
}

/* Slabs in the first stripe only, while A arrives, or in all of them. */
static tsr_status try_slabs(tsr_search *s, bool *better) {
  tsr_recipe r = s->at.recipe;
  *better = false;
  if (tsr_search_family(s) != TSR_TRIANGLE || r.slab == 0 || r.tile > 0) return TSR_OK;
  r.slab_once = !r.slab_once;
  return tsr_search_try(s, &r, better);
}

static bool may_be_whole(const tsr_search *s, tsr_op op) {
  return tsr_search_family(s) == TSR_PRODUCT && s->at.recipe.tile == 0 && op != TSR_NO_TRANS &&
         s->options->residency == NULL;
}

/* Slabs of an A that is stored along k, and the devices' parts of a B that is stored along n, are
 * short columns, which links are slow at. */
static tsr_status try_whole_a(tsr_search *s, bool *better) {
  tsr_recipe r = s->at.recipe;
  *better = false;
  if (!may_be_whole(s, s->call->transa) || r.slab == 0) return TSR_OK;
  r.whole_a = !r.whole_a;
  return tsr_search_try(s, &r, better);
}

static tsr_status try_whole_b(tsr_search *s, bool *better) {
  tsr_recipe r = s->at.recipe;
  *better = false;
  if (!may_be_whole(s, s->call->transb) || r.grid_cols == 1) return TSR_OK;
  r.whole_b = !r.whole_b;
  return tsr_search_try(s, &r, better);
}

/* Of rows in parts all of A first, or as much of it as of B. */
static tsr_status try_corner(tsr_search *s, bool *better) {
  tsr_recipe r = s->at.recipe;
  *better = false;
  if (r.tile > 0 || r.slab > 0 || r.rows < 2 || tsr_search_family(s) != TSR_PRODUCT) return TSR_OK;
  r.corner = !r.corner;
  return tsr_search_try(s, &r, better);
}

static tsr_status try_adder(tsr_search *s, bool *better) {
  tsr_recipe r = s->at.recipe;
  *better = false;
  if (!r.lazy || !tsr_is_device(s->machine, s->call->operand[TSR_C_].location)) return TSR_OK;
  r.add_at_home = !r.add_at_home;
  return tsr_search_try(s, &r, better);
}

/* ---- Grids ---- */

static tsr_status try_grid(tsr_search *s, int devices, int rows, bool *better) {
  tsr_recipe r = s->at.recipe;
  *better = false;
  if (rows == r.grid_rows) return TSR_OK;
  r.grid_rows = rows;
  r.grid_cols = devices / rows;
  memset(r.weight, 0, sizeof r.weight);
  return tsr_search_try(s, &r, better);
}

static tsr_status follow_grids(tsr_search *s, int devices, int direction, bool *any) {
  bool better = true;
  for (int rows = s->at.recipe.grid_rows + direction;
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

static tsr_status try_choices(tsr_search *s, bool *any) {
  static tsr_status (*const choices[])(tsr_search * s, bool *better) = {
      try_order, tsr_search_other_lazy, try_slabs, try_whole_a, try_whole_b, try_corner, try_adder};
  for (size_t i = 0; i < sizeof choices / sizeof *choices && tsr_search_in_time(s); i++) {
    bool better;
    TSR_TRY(choices[i](s, &better));
    *any |= better;
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
  TSR_TRY(try_choices(s, any));
  for (int i = 0; i < STEPS && s->at.recipe.tile == 0; i++)
    TSR_TRY((walking && !is_rugged(&parameters[i]) ? walk : scan)(s, &parameters[i], any));
  return is_rank ? TSR_OK : deal_again(s, any);
}

tsr_status tsr_search_climb(tsr_search *s) {
  bool any, walking = true;
  int devices = s->at.recipe.grid_rows * s->at.recipe.grid_cols;
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
  int rows = s->at.recipe.grid_rows;
  double least = s->at.score;
  bool any = false;
  TSR_TRY(walk_grids(s, devices, &any));
  if (s->at.recipe.grid_rows == rows) return TSR_OK;
  for (int i = 0; i < count && starts[i].score < good * least && tsr_search_in_time(s); i++) {
    tsr_recipe r = starts[i].recipe;
    r.grid_rows = s->at.recipe.grid_rows;
    r.grid_cols = s->at.recipe.grid_cols;
    TSR_TRY(tsr_search_try(s, &r, &any));
  }
  return TSR_OK;
}

static void add_start(const tsr_trial *from, tsr_trial list[TSR_SEARCH_CLIMBS], int *count) {
  for (int i = 0; i < *count; i++)
    if (tsr_recipe_same(&list[i].recipe, &from->recipe)) return;
  if (*count < TSR_SEARCH_CLIMBS) list[(*count)++] = *from;
}

/* Tries a recipe from which another climb may begin, wherever the search has come to. */
static tsr_status try_start(tsr_search *s, const tsr_recipe *r, tsr_trial list[TSR_SEARCH_CLIMBS],
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
  if (tsr_search_family(s) == TSR_PRODUCT && s->at.recipe.tile == 0) {
    tsr_recipe parted = s->at.recipe, corner = s->at.recipe;
    parted.rows = 2;
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
