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
#include "plan/tuning.h"

/* What a plan tells of a place in the grid: when its kernels were done, for how long it was busy
 * with them, s, and how much it did. */
typedef struct tsr_share {
  double end, busy, flops;
} tsr_share;

/* A strategy, what its plan scores, and what the plan tells of the devices' shares. */
typedef struct tsr_candidate {
  double score; /* the less the better; INFINITY: it does not fit. First, for tsr_descent */
  tsr_strategy strategy;
  tsr_share share[TSR_MACHINE_DEVICES]; /* busy 0: unknown */
} tsr_candidate;

/* What was tried: strategies that make the same plan have the same digest. */
typedef struct tsr_tried {
  uint64_t digest;
  double score;
} tsr_tried;

/* What a candidate would need of the device that lacks most. */
typedef struct tsr_misfit {
  int device;
  size_t need, lack; /* bytes; need 0: there was none */
} tsr_misfit;

typedef struct tsr_search {
  const tsr_machine *machine;
  const tsr_call *call;
  const tsr_plan_options *options;
  tsr_problem problem; /* what strategies depend on */
  unsigned kinds;      /* bits by tsr_strategy_kind: those to choose from */
  tsr_forced forced;   /* knobs that the user named */
  const char *refused; /* why strategies that have a forced knob were void; NULL: none was */
  double heat;         /* as tsr_plan_heat has it */
  double began, spent, allowed; /* spent and allowed: seconds of a computer that plans */
  double enough;                /* seconds: a plan that takes no more is as good as any; 0: none */
  int order[TSR_MACHINE_DEVICES]; /* devices, the preferred ones first */
  const tsr_mapping *mapping;     /* that C follows, or NULL */
  tsr_plan *best;                 /* of all tried so far; NULL: none fits yet */
  tsr_candidate found;            /* whose plan it is */
  double runner_up;               /* seconds of the next best plan */
  tsr_misfit misfit; /* with residency: of the candidate that did not fit and lacks least */
  int candidates;    /* planned */
  TSR_VEC(tsr_tried) tried;
  tsr_plan *spare; /* its memory is for the next candidate; or NULL */
  tsr_graph graph; /* of the last candidate; its memory is for the next one */
} tsr_search;

static inline tsr_family tsr_search_family(const tsr_search *s) {
  return tsr_family_of(s->call->operation);
}

/* Whether more candidates should be tried: there is time, and something to gain. */
static inline bool tsr_search_in_time(const tsr_search *s) {
  return s->spent < s->allowed && (!s->best || s->best->seconds > s->enough);
}

/* ---- try.c ---- */

/* An empty plan for the call, with the memory of one that lost if there is any; NULL: out of
 * memory.
 */
tsr_plan *tsr_search_plan_new(tsr_search *s);

/* Plans and replays a strategy, unless one that makes the same plan was tried before, keeps the
 * plan if it is the best so far, and says in *made what it scores. A strategy that does not fit is
 * no error. */
tsr_status tsr_search_try(tsr_search *s, const tsr_strategy *strategy, tsr_candidate *made);

/* The same; *at becomes the candidate if that is better. */
tsr_status tsr_search_try_for(tsr_search *s, const tsr_strategy *strategy, tsr_candidate *at,
                              bool *better);

/* Keeps the better of a plan and the best one so far; frees the other. */
void tsr_search_keep(tsr_search *s, const tsr_candidate *candidate, tsr_plan *plan);

/* Sets how long candidates may be tried, and which time is as good as any, by the best plan. */
void tsr_search_set_allowed(tsr_search *s);
void tsr_search_set_enough(tsr_search *s);

/* ---- apart.c ---- */

/* Operands, as bits, whose kernels at their home had better use copies, of C a partial one. */
unsigned tsr_search_realigned(const tsr_search *s);

/* ---- order.c ---- */

/* Fills s->order. */
void tsr_search_order_devices(tsr_search *s);

/* Capacity of a channel that a device's host link would share with the devices chosen already. */
double tsr_search_shared_rate(const tsr_search *s, int device, int chosen);

/* ---- tiles.c ---- */

/* Square tiles on so many devices, C tile by C tile. */
tsr_strategy tsr_search_tiles(const tsr_search *s, int devices, int64_t tile);

/* The tiles that the user asked for, or that the shape alone gives; 0: as is best. */
int64_t tsr_search_told_tile(const tsr_search *s);

/* Tiles that depend on the shape alone, so that the bits do not depend on the devices. */
int64_t tsr_search_tile_by_shape(const tsr_call *call);

/* ---- devices.c ---- */

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

/* Panels that are otherwise as `at`, cut for each of the limits that may count, the more promising
 * ones first; how many there are. */
int tsr_panels_for_limits(const tsr_search *s, const tsr_strategy *at,
                          tsr_strategy list[TSR_PANEL_LIMITS]);

/* Whether shares of C should be learnt from the replay before panels are compared. */
bool tsr_panels_are_shared_anew(const tsr_search *s);

/* Wide stripes with k-panels, so that kernels can begin with what comes first; *first: they are the
 * better start. False: the operation has none. */
bool tsr_stripes_with_k_panels(const tsr_search *s, const tsr_strategy *at, tsr_strategy *made,
                               bool *first);

/* Makes a product's panels ones of which a leading block grows; false: these would be no better.
 * They may be where kernels and links need about as long for A and B, which come from the host, in
 * k_panels and columns that are long columns as they are stored. */
bool tsr_panels_lead(const tsr_search *s, tsr_strategy *r);

void tsr_panels_set_lazy(const tsr_search *s, tsr_strategy *r);

/* ---- least.c ---- */

/* The least square tiles that are worth planning with: a power of two. */
int64_t tsr_search_least_tile(const tsr_call *call);

/* The error when nothing fits the budgets: it names what would do. */
tsr_status tsr_search_too_small(tsr_search *s);

/* ---- turns.c: what a descent changes ---- */

/* From a candidate on as many devices, until nothing helps any more or time is up. */
tsr_status tsr_search_descend(tsr_search *s, tsr_candidate *at);

/* The same of one thing alone: the grid of the devices, or the shares of C by how long each device
 * took in the replay. */
tsr_status tsr_search_descend_grid(tsr_search *s, tsr_candidate *at);
tsr_status tsr_search_descend_shares(tsr_search *s, tsr_candidate *at);

/* ---- starts.c: where descents begin ---- */

enum { TSR_SEARCH_STARTS = TSR_TUNE_STARTS };

/* A descent from each of so many candidates, at least one, side by side. */
tsr_status tsr_search_descend_all(tsr_search *s, const tsr_candidate *from, int count);

/* Tries panels, or stripes, cut for each of the limits that may count. `at` moves to the best;
 * *count of them are put down, the best first. */
tsr_status tsr_search_try_limits(tsr_search *s, tsr_candidate *at,
                                 tsr_candidate good[TSR_PANEL_LIMITS], int *count);

/* Descents on as many devices as `at` has: from there, and from what is good for other limits. */
tsr_status tsr_search_from(tsr_search *s, const tsr_candidate *at);

/* ---- shares.c ---- */

/* Notes what a plan tells of the shares of C; NULL: nothing. */
void tsr_shares_note(const tsr_search *s, const tsr_plan *plan, tsr_candidate *made);

/* Whether shares are learnt at a candidate, and, if they would change, its strategy with others. */
bool tsr_shares_are_free(const tsr_search *s, const tsr_candidate *at);
bool tsr_shares_learn(const tsr_search *s, const tsr_candidate *at, tsr_strategy *strategy);

/* ---- c_blocks.c ---- */

/* First guesses, and what is done with them, for budgets that do not suffice for everything; tile:
 * the only one to use, or 0. */
tsr_status tsr_c_blocks_search(tsr_search *s, int devices, int64_t tile);

#endif
