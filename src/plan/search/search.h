/*
 * Inside the search: what the files that look for the best strategy share. try.c tries
 * one and says which plan is the best so far; devices.c says on which devices;
 * panels.c, steps.c and holds.c know what to try; search.c makes of it a plan.
 */
#ifndef TSR_PLAN_SEARCH_SEARCH_H
#define TSR_PLAN_SEARCH_SEARCH_H

#include "blas/family.h"
#include "plan/mapping.h"
#include "plan/search/knobs.h"

/* When the kernels of a place in the grid were done, and for how long it was busy, s. */
typedef struct tsr_share {
  double end, busy;
} tsr_share;

/* A strategy and the score of its plan, INFINITY if it did not fit; and what that tells of shares.
 */
typedef struct tsr_trial {
  tsr_strategy strategy;
  double score;
  tsr_share share[TSR_MACHINE_DEVICES]; /* busy 0: unknown */
} tsr_trial;

/* What was tried: strategies that make the same plan have the same digest. */
typedef struct tsr_tried {
  uint64_t digest;
  double score;
} tsr_tried;

typedef struct tsr_search {
  const tsr_machine *machine;
  const tsr_call *call;
  const tsr_plan_options *options;
  tsr_problem problem;          /* what of these strategies depend on */
  unsigned kinds;               /* bits by tsr_strategy_kind: those to choose from */
  double began, spent, allowed; /* spent and allowed: seconds of a computer that plans */
  double enough;                /* seconds: a plan that takes no more is as good as any; 0: none */
  int order[TSR_MACHINE_DEVICES]; /* devices, the preferred ones first */
  const tsr_mapping *mapping;     /* that C follows, or NULL */
  tsr_plan *best;                 /* NULL: none fits yet */
  tsr_strategy best_strategy;
  tsr_plan *spare; /* its memory is for the next candidate; or NULL */
  tsr_graph graph; /* of the last candidate; its memory is for the next one */
  double best_score;
  double runner_up;
  int candidates;
  tsr_trial at; /* where the present climb has come to: the next candidates are its neighbours; one
                   with a lower score is better */
  tsr_trial last; /* what was tried last */
  TSR_VEC(tsr_tried) tried;
  double heat;
  tsr_forced forced;   /* knobs that the user named */
  const char *refused; /* why strategies that have a forced knob were void; NULL: none was */
} tsr_search;

static inline tsr_family tsr_search_family(const tsr_search *s) {
  return tsr_family_of(s->call->operation);
}

/* Whether more candidates should be tried: there is time, and something to gain. */
static inline bool tsr_search_in_time(const tsr_search *s) {
  return s->spent < s->allowed && (!s->best || s->best->seconds > s->enough);
}

/* Of those from least to most, which are powers of two, about the nearest to x. */
static inline int64_t tsr_power_of_two_near(double x, int64_t least, int64_t most) {
  int64_t p = least;
  while (p < most && (double)p * 1.5 < x) p *= 2;
  return p;
}

/* ---- try.c ---- */

/* An empty plan for the call, with the memory of one that lost if there is any; NULL: out of
 * memory.
 */
tsr_plan *tsr_search_plan_new(tsr_search *s);

/* Plans and replays a strategy, unless that was done before. *better: the climb has moved there. A
 * strategy that does not fit is no error. */
tsr_status tsr_search_try(tsr_search *s, const tsr_strategy *strategy, bool *better);

/* Keeps the better of a plan and the best one so far; frees the other. */
void tsr_search_keep(tsr_search *s, const tsr_strategy *r, double score, tsr_plan *plan);

/* Sets how long candidates may be tried, and which time is as good as any, by the best plan. */
void tsr_search_set_allowed(tsr_search *s);
void tsr_search_set_enough(tsr_search *s);

/* ---- apart.c ---- */

/* Operands, as bits, whose kernels at their home had better use copies, of C a partial one. */
unsigned tsr_search_apart(const tsr_search *s);

/* ---- devices.c ---- */

/* Fills s->order. */
void tsr_search_order_devices(tsr_search *s);

/* Capacity of a channel that a device's host link would share with the devices chosen already. */
double tsr_search_shared_rate(const tsr_search *s, int device, int chosen);

/* Square tiles on so many devices, C tile by C tile. */
tsr_strategy tsr_search_tiles(const tsr_search *s, int devices, int64_t tile);

/* The tiles that the user asked for, or that the shape alone gives; 0: as is best. */
int64_t tsr_search_told_tile(const tsr_search *s);

/* Looks for the best plan on all of the machine's devices, and on fewer unless they are to be
 * obeyed. s->best is NULL when none fits. */
tsr_status tsr_search_all(tsr_search *s);

/* ---- panels.c ---- */

/* A first guess at panels on so many devices. */
tsr_strategy tsr_panels_guess(const tsr_search *s, int devices);
void tsr_panels_guess_grid(const tsr_call *call, int devices, tsr_strategy *r);

/* A composed product whose C is much more than what is multiplied: calls like it will add to it. */
bool tsr_panels_one_of_many(const tsr_search *s);

/* Panels on so many devices that are cut as others were. */
tsr_strategy tsr_panels_like(const tsr_search *s, const tsr_strategy *other, int devices);

enum { TSR_PANEL_LIMITS = 5 };

/* Cuts the best panels so far for each of the limits that may count, and tries that; *count of them
 * are put down, the best first. */
tsr_status tsr_panels_try_limits(tsr_search *s, tsr_trial starts[TSR_PANEL_LIMITS], int *count);

/* Makes a product's panels ones of a corner of A and B that grows; false: these would be no better.
 * They may be where kernels and links need about as long for A and B, which come from the host, in
 * slabs and columns that are long columns as they are stored. */
bool tsr_panels_corner(const tsr_search *s, tsr_strategy *r);

void tsr_panels_set_lazy(const tsr_search *s, tsr_strategy *r);

/* ---- least.c ---- */

/* The least square tiles that are worth planning with: a power of two. */
int64_t tsr_search_least_tile(const tsr_call *call);

/* The error when nothing fits the budgets: it names the least that would do. */
tsr_status tsr_search_too_small(tsr_search *s);

/* ---- steps.c ---- */

/* The other choice of where C is added, if there is one. */
tsr_status tsr_search_other_lazy(tsr_search *s, bool *better);

/* Changes one parameter of panels on so many devices after the other while that helps and there is
 * time, from s->at. */
tsr_status tsr_panels_descend(tsr_search *s, int devices);

/* Changes one parameter after the other, from s->at on as many devices, until no step helps any
 * more or time is up. */
tsr_status tsr_search_climb(tsr_search *s);

/* ---- climbs.c ---- */

enum { TSR_SEARCH_CLIMBS = 5 };

/* A climb from each of so many starts, at least one. */
tsr_status tsr_search_climb_all(tsr_search *s, const tsr_trial *from, int count);

/* ---- shares.c ---- */

/* What the plan of a strategy tells of the shares of C, or nothing: NULL. */
void tsr_search_note_shares(tsr_search *s, const tsr_strategy *r, const tsr_plan *plan);

/* Panels dealt by how long each device's kernels took where the climb is: a little more to those
 * that were done early. */
tsr_status tsr_search_shares(tsr_search *s, bool *better);

/* ---- holds.c ---- */

/* Strategies for budgets that do not suffice for everything; tile: the only one to use, or 0. */
tsr_status tsr_holds_search(tsr_search *s, int devices, int64_t tile);

/* Changes one parameter after the other while that helps and there is time. */
tsr_status tsr_holds_descend(tsr_search *s);

#endif
