/*
 * One way to cut a product across processes, as the search turns it. A strategy is a few knobs,
 * which the table of knobs.c explains; the cut follows from them and from the memory that there is.
 */
#ifndef TSR_CLUSTER_STRATEGY_H
#define TSR_CLUSTER_STRATEGY_H

#include "cluster/costs.h"

/* Panels of the least and of the greatest depth that are tried; and, if panels arrive in host
 * memory, of the deepest lookahead. */
enum { TSR_DEPTH_LEAST = 256, TSR_DEPTH_MOST = 8192, TSR_HOST_LOOKAHEAD_MOST = 3 };

/* What is to be cut. */
typedef struct tsr_job {
  tsr_deal deal;
  tsr_type type;
  bool reads_result; /* beta is not 0 */
  bool moves[2];
  double moved[2]; /* bytes that a process sends for that */
} tsr_job;

/* What each knob does, and in which unit, stands in the table of knobs.c. */
typedef struct tsr_pstrategy {
  int64_t depth, first, lookahead;
  int64_t together, blocks, leading[2], later;
  int64_t keep;
} tsr_pstrategy;

/* A leading block of this many eighths has all rows, or columns. */
enum { TSR_EIGHTHS = 8 };

/* Whether the first blocks have a size of their own. */
static inline bool tsr_pstrategy_leads(const tsr_pstrategy *s) {
  return s->leading[0] < TSR_EIGHTHS || s->leading[1] < TSR_EIGHTHS;
}

/* How many panels k has when it is cut so. */
typedef struct tsr_panel_count {
  int64_t depth, first, panels;
} tsr_panel_count;

enum { TSR_COUNTED = 16 };

/* What a strategy is wanted for. */
typedef struct tsr_pproblem {
  const tsr_grid *grid;
  const tsr_job *job;
  tsr_costs costs;
  double memory;   /* bytes of a device that may be used */
  double element;  /* bytes */
  int64_t most[2]; /* own rows and columns of C, at most */
  double home;     /* s that all of C takes home */
  double best;     /* predicted time of the best cut so far, s; INFINITY: there is none */
  bool any_memory; /* cuts are made whether they have room or not */
  int counted;
  tsr_panel_count count[TSR_COUNTED]; /* the last ones */
} tsr_pproblem;

tsr_status tsr_pproblem_make(const tsr_grid *grid, const tsr_job *job, tsr_pproblem *problem);

/* Whether panels arrive in host memory; else in memory of the first device. */
static inline bool tsr_pproblem_uses_host(const tsr_pproblem *problem) {
  return problem->grid->model.host.up == 0;
}

/* The cut of a strategy. *price: the part of its predicted time that the memory which it takes must
 * gain; INFINITY: the cut has no room, or its replay takes longer than it is worth. TSR_ERR_MEMORY.
 */
tsr_status tsr_pstrategy_cut(tsr_pproblem *problem, const tsr_pstrategy *strategy, tsr_cut *cut,
                             double *price);

/* The cut where results have the same bits whatever the machine: nothing is up to the model. */
tsr_cut tsr_pproblem_fixed_cut(const tsr_pproblem *problem);

#endif
