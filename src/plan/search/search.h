/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Inside the search: what its files share. try.c plans and replays one strategy and keeps the best
 * plan. devices.c chooses how many devices to try. panels.c, slices.c, bands.c, tiles.c, c_block.c,
 * c_blocks.c and line_bands.c make first guesses. starts.c and turns.c improve them by descents
 * (base/descent.h), and shares.c learns from the replay how much of C each device should own.
 * search.c returns the best plan.
 */
#ifndef TSR_PLAN_SEARCH_SEARCH_H
#define TSR_PLAN_SEARCH_SEARCH_H

#include "blas/family.h"
#include "plan/mapping.h"
#include "plan/search/knobs.h"
#include "plan/tuning.h"

/* The prediction of a plan for one place of the grid of devices. end: when its last kernel ends, s
 * from the start of the plan (tiles: its last command). busy: the time of its kernels in sum, s.
 * flops: of these kernels. */
typedef struct tsr_place_prediction {
  double end, busy, flops;
} tsr_place_prediction;

/* A strategy with its score and with what its plan predicts for each place of the grid. */
typedef struct tsr_candidate {
  double score; /* the least is the best; INFINITY: the strategy cannot be used, most often because
                   it does not fit the budgets. tsr_descent wants this field first */
  tsr_strategy strategy;
  tsr_place_prediction share[TSR_MACHINE_DEVICES]; /* busy 0: unknown */
} tsr_candidate;

/* A strategy that was tried. Strategies that make the same plan have the same digest. */
typedef struct tsr_tried {
  uint64_t digest;
  double score;
} tsr_tried;

/* The device whose budget a candidate exceeds by most. */
typedef struct tsr_misfit {
  int device;
  size_t need, lack; /* bytes that the candidate needs there, and bytes beyond the budget; need 0:
                        no misfit is noted */
} tsr_misfit;

typedef struct tsr_search {
  const tsr_machine *machine;
  const tsr_call *call;
  const tsr_plan_options *options;
  tsr_search_problem problem; /* what strategies depend on */
  unsigned kinds;        /* the kinds of strategies to choose from: bits by tsr_strategy_kind */
  tsr_forced forced;     /* knobs that the user set */
  const char *refused;   /* why a strategy could not honour a forced knob; NULL: all could */
  double heat;           /* tsr_plan_heat of the call */
  double began;          /* tsr_now at the start of the search */
  double spent, allowed; /* planning time used and allowed, s; counted from the number of commands,
                            not measured (try.c) */
  double enough;         /* s: a plan predicted to take no longer ends the search; 0: none does */
  int order[TSR_MACHINE_DEVICES]; /* devices, the preferred ones first */
  int devices;                    /* the first ones of these may be used */
  bool exact;                     /* all of them have to be used, if the call fits */
  const tsr_mapping *mapping;     /* which device computes which block of C, or NULL */
  tsr_map_use map_use;            /* what became of the user's map */
  tsr_plan *best;                 /* the best plan so far; NULL: none fits yet */
  tsr_candidate found;            /* the candidate of `best` */
  double runner_up;               /* predicted time of the second best plan, s */
  tsr_misfit misfit; /* with residency: of the candidates that did not fit, the smallest misfit */
  int candidates;    /* how many were planned */
  TSR_VEC(tsr_tried) tried;
  tsr_plan *spare; /* a plan that lost: its memory serves the next candidate; or NULL */
  tsr_graph graph; /* of the last candidate: its memory serves the next one */
} tsr_search;

static inline tsr_family tsr_search_family(const tsr_search *s) {
  return tsr_family_of(s->call->operation);
}

/* Whether more candidates should be tried: planning time is left, and the best plan takes longer
 * than `enough`. */
static inline bool tsr_search_in_time(const tsr_search *s) {
  return s->spent < s->allowed && (!s->best || s->best->seconds > s->enough);
}

/* Planning time of a candidate with so many commands, s. It is computed, not measured: the same
 * call on the same machine must get the same plan, whatever else the computer does. */
static inline double tsr_search_cost(double commands) {
  return TSR_TUNE_COST_OF_CANDIDATE + TSR_TUNE_COST_OF_COMMAND * commands;
}

/* Whether all operands are in the memory of devices. */
static inline bool tsr_search_is_resident(const tsr_search *s) {
  bool all = true;
  for (int x = 0; x < TSR_OPERANDS; x++)
    all &= tsr_is_device(s->machine, s->call->operand[x].location);
  return all;
}

/* Whether devices compute a level-3 routine by products of blocks: where that was measured to be
 * faster. Reproducible plans do without, since they do not depend on measurements. */
static inline bool tsr_search_takes_blocks(const tsr_search *s, tsr_kernel kernel) {
  return !s->options->reproducible && tsr_machine_takes_blocks(s->machine, kernel, s->call->type);
}

/* ---- try.c ---- */

/* Whether C is added last also by a device that is its home and could add in place. */
bool tsr_search_is_lazy_everywhere(const tsr_search *s);

/* An empty plan for the call, in the memory of s->spare if there is one; NULL: no host memory. The
 * caller owns it. */
tsr_plan *tsr_search_plan_new(tsr_search *s);

/* Plans and replays a strategy, with the forced knobs set, and keeps the plan if it is the best so
 * far. A strategy that makes the same plan as an earlier one gets that one's score without being
 * planned again. *made: the candidate; its score is INFINITY if the strategy does not fit, which is
 * no error. */
tsr_status tsr_search_try(tsr_search *s, const tsr_strategy *strategy, tsr_candidate *made);

/* Tries a strategy like tsr_search_try. If the score is less than that of *at, *at becomes the new
 * candidate and *better is true. */
tsr_status tsr_search_try_for(tsr_search *s, const tsr_strategy *strategy, tsr_candidate *at,
                              bool *better);

/* Makes `plan` the best plan if its score is less than that of the best plan so far. Takes
 * ownership of `plan`; the memory of the plan that lost goes to s->spare. */
void tsr_search_keep(tsr_search *s, const tsr_candidate *candidate, tsr_plan *plan);

/* Set s->allowed and s->enough from the predicted time of the best plan, which there must be. */
void tsr_search_set_allowed(tsr_search *s);
void tsr_search_set_enough(tsr_search *s);

/* ---- realign.c ---- */

/* Operands, as bits, that kernels at the operand's home should not use in place: they read copies
 * of A and B, and write a partial C. */
unsigned tsr_search_realigned(const tsr_search *s);

/* ---- order.c ---- */

/* What makes one device better than another: its kernels, its copies, or both. */
typedef enum tsr_device_order {
  TSR_ORDER_BY_BOTH,
  TSR_ORDER_BY_KERNELS,
  TSR_ORDER_BY_LINKS
} tsr_device_order;

/* Fills s->order. */
void tsr_search_order_devices(tsr_search *s, tsr_device_order by);

/* Bytes/s from the host to `device` when the first `chosen` devices of s->order load, too: the
 * bandwidth of its link, or its part of the scarcest channel on the way. */
double tsr_search_shared_rate(const tsr_search *s, int device, int chosen);

/* ---- tiles.c ---- */

/* A strategy of square tiles on that many devices, in which a C block is one tile. */
tsr_strategy tsr_search_tiles(const tsr_search *s, int devices, int64_t tile);

/* The extent of tiles that the call or the user set or that reproducible results need; 0: the
 * search is free to choose. */
int64_t tsr_search_fixed_tile(const tsr_search *s);

/* The extent of tiles for reproducible results. It depends on the shape of the call alone, so that
 * the bits of C do not depend on the number of devices. */
int64_t tsr_search_tile_by_shape(const tsr_call *call);

/* The smallest extent of square tiles that is worth planning with: a power of two. */
int64_t tsr_search_least_tile(const tsr_call *call);

/* ---- devices.c ---- */

/* Searches for the best plan on all of the machine's devices, and on fewer unless the user fixed
 * their number. s->best stays NULL if no plan fits. */
tsr_status tsr_search_all(tsr_search *s);

/* ---- panels.c ---- */

/* A first guess at panels, or at stripes beside a triangle, on that many devices. */
tsr_strategy tsr_panels_guess(const tsr_search *s, int devices);

/* Sets the strategy's grid of that many devices. */
void tsr_panels_guess_grid(const tsr_call *call, int devices, tsr_strategy *strategy);

/* The share of C (slices: of k) of a device that is home to an operand, in percent of another
 * device's, rounded down to steps (HOME_SHARE_STEPS): a small difference is not worth parts of
 * different sizes. */
int64_t tsr_panels_guess_share(const tsr_search *s, int devices, bool slices);

/* Whether the call is taken for one update in a sequence of updates of C: a composed product whose
 * k is small beside m and n, so that C is much larger than A and B. */
bool tsr_panels_is_update(const tsr_search *s);

/* Panels on that many devices, cut like `other`, which may have another number of devices. */
tsr_strategy tsr_panels_like(const tsr_search *s, const tsr_strategy *other, int devices);

enum { TSR_PANEL_LIMITS = 5 };

/* Fills the list with variants of `at`, each cut for another resource that may limit the call
 * (links, kernels, ...), the more promising ones first. Returns how many. */
int tsr_panels_for_limits(const tsr_search *s, const tsr_strategy *at,
                          tsr_strategy list[TSR_PANEL_LIMITS]);

/* Whether shares of C should be learnt from the replay before panels are compared. */
bool tsr_panels_are_shared_anew(const tsr_search *s);

/* Makes of the stripes `at` wider ones with k-panels, whose kernels begin when the first k-panel of
 * A has arrived. *first: these are the better start of a descent. False: the operation has no such
 * stripes. */
bool tsr_stripes_with_k_panels(const tsr_search *s, const tsr_strategy *at, tsr_strategy *made,
                               bool *first);

/* Sets the knobs of a product's panels so that the leading block of C grows (knob `leading`).
 * False, and no change, where this gains nothing: it can gain if copies of A and B take about as
 * long as kernels, both come from the host, and neither is transposed, so that k-panels of A and
 * columns of B are long runs of memory. */
bool tsr_panels_lead(const tsr_search *s, tsr_strategy *strategy);

/* Sets whether C is added last, and where. */
void tsr_panels_set_lazy(const tsr_search *s, tsr_strategy *strategy);

/* ---- slices.c ---- */

/* Whether a product's k may be cut over that many devices with profit: its partial sums, of the
 * size of C for each device, are smaller than A and B, and the user allows slices. */
bool tsr_slices_may_help(const tsr_search *s, int devices);

/* A first guess at slices on that many devices. */
tsr_strategy tsr_slices_guess(const tsr_search *s, int devices);

/* ---- bands.c ---- */

/* Whether bands are worth a try on that many devices: the user allows them, and all operands are on
 * devices, as the paper has it, or the product is computed in a form. */
bool tsr_bands_may_help(const tsr_search *s, int devices);

/* A first guess at bands on that many devices. */
tsr_strategy tsr_bands_guess(const tsr_search *s, int devices);

/* ---- line_bands.c ---- */

/* Tries bands for a product in a form that does not fit the budgets, or whose extent of tiles is
 * fixed. */
tsr_status tsr_line_bands_search(tsr_search *s, int devices);

/* A first guess at bands for a product in a form. False: the budgets are too small. */
bool tsr_line_bands_guess(const tsr_search *s, int devices, tsr_strategy *guess);

/* ---- least.c ---- */

/* Records and returns the error for a call that no tried plan fits the budgets of; the message
 * names a sufficient budget. */
tsr_status tsr_search_too_small(tsr_search *s);

/* ---- turns.c: what a descent changes ---- */

/* Improves a candidate, on the same number of devices, until no change helps or the time is used
 * up. */
tsr_status tsr_search_descend(tsr_search *s, tsr_candidate *at);

/* Improve one thing alone: the grid of the devices, or the shares of C. */
tsr_status tsr_search_descend_grid(tsr_search *s, tsr_candidate *at);
tsr_status tsr_search_descend_shares(tsr_search *s, tsr_candidate *at);

/* ---- starts.c: where descents begin ---- */

enum { TSR_SEARCH_STARTS = TSR_TUNE_STARTS };

/* Descends from each of `count` candidates, at least one, each on a thread of its own. */
tsr_status tsr_search_descend_all(tsr_search *s, const tsr_candidate *from, int count);

/* Tries variants of `at`, each cut for another resource that may limit the call. `at` becomes the
 * best candidate; good[0 .. *count) are variants that fit, the best first. */
tsr_status tsr_search_try_limits(tsr_search *s, tsr_candidate *at,
                                 tsr_candidate good[TSR_PANEL_LIMITS], int *count);

/* Descends from `at` and from its variants that are cut for other limits, all on the number of
 * devices of `at`. */
tsr_status tsr_search_from(tsr_search *s, const tsr_candidate *at);

/* Makes a search for another thread. It knows what was tried so far and makes plans of its own.
 * tsr_search_merge keeps the better plan of both searches and frees the memory of the branch. */
void tsr_search_branch(const tsr_search *s, tsr_search *branch);
void tsr_search_merge(tsr_search *s, tsr_search *branch);

/* ---- unlike.c ---- */

/* Whether devices differ in their speeds, memory rates, budgets, or links from the host. */
bool tsr_search_devices_differ(const tsr_search *s);

/* Searches plans on several choices of the devices, for machines whose devices differ. */
tsr_status tsr_search_unlike(tsr_search *s);

/* ---- factor.c ---- */

/* Finds a plan of a factorisation. s->best stays NULL if none fits. */
tsr_status tsr_factor_search(tsr_search *s);

/* ---- shares.c ---- */

/* Whether a device that is home to all operands computes each of its parts in one kernel, however
 * the parts of the others are cut. A device alone is cut as the knobs say. Its parts of a composed
 * call are those that later calls use; reproducible sums have the same order on all devices; and
 * with operands that are realigned it waits for copies as others do. */
bool tsr_search_is_whole_at_home(const tsr_search *s, const tsr_strategy *strategy);

/* Whether the strategy takes other devices to help the one that is home to all operands. */
bool tsr_search_leaves_home(const tsr_search *s, const tsr_strategy *strategy);

/* Sets made->share from the plan; plan NULL: leaves it. */
void tsr_shares_note(const tsr_search *s, const tsr_plan *plan, tsr_candidate *made);

/* Whether the candidate's shares of C may be changed. */
bool tsr_shares_are_free(const tsr_search *s, const tsr_candidate *at);

/* Makes the candidate's strategy with the shares of C that its replay suggests. False: the shares
 * are fixed, unknown, or already even enough. */
bool tsr_shares_learn(const tsr_search *s, const tsr_candidate *at, tsr_strategy *strategy);

/* ---- c_blocks.c ---- */

/* Tries C blocks for a call that does not fit the budgets. tile: the only extent of tiles to use;
 * 0: any. */
tsr_status tsr_c_blocks_search(tsr_search *s, int devices, int64_t tile);

#endif
