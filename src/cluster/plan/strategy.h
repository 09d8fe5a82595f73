/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A strategy: the knobs that the search turns to cut a product across processes (the table in
 * knobs.c explains each). The cut follows from the strategy and from the memory of the devices.
 */
#ifndef TSR_CLUSTER_PLAN_STRATEGY_H
#define TSR_CLUSTER_PLAN_STRATEGY_H

#include "cluster/plan/costs.h"

/* The least and the greatest depth of panels that is tried, and the greatest lookahead that is
 * tried if panels arrive in host memory. */
enum { TSR_DEPTH_LEAST = 256, TSR_DEPTH_MOST = 8192, TSR_HOST_LOOKAHEAD_MOST = 3 };

/* A product in the layout that SUMMA reads: what is to be cut. */
typedef struct tsr_arranged {
  tsr_distribution distribution;
  tsr_type type;
  bool reads_result; /* beta is not 0 */
  bool moves[2];     /* whether op(A), op(B) is redistributed first */
  double moved[2];   /* bytes that a process sends for that */
} tsr_arranged;

/* The table of knobs.c says what each field does, and its unit. */
typedef struct tsr_pstrategy {
  int64_t depth, first, lookahead;
  int64_t together, blocks, leading[2], later;
  int64_t keep;
} tsr_pstrategy;

/* leading[] is in eighths of a process's rows or columns of C; TSR_EIGHTHS: all of them. */
enum { TSR_EIGHTHS = 8 };

/* Whether the first row or column of blocks has a size of its own. */
static inline bool tsr_pstrategy_leads(const tsr_pstrategy *s) {
  return s->leading[0] < TSR_EIGHTHS || s->leading[1] < TSR_EIGHTHS;
}

/* The number of panels for a depth and first depth. */
typedef struct tsr_panel_count {
  int64_t depth, first, panels;
} tsr_panel_count;

enum { TSR_COUNTED = 16 };

/* The product that a strategy is sought for, and the state of the search. */
typedef struct tsr_pproblem {
  const tsr_grid *grid;
  const tsr_arranged *arranged;
  tsr_costs costs;
  double memory;     /* bytes of a device that may be used */
  double element;    /* bytes */
  int64_t most[2];   /* the most rows and columns of C that any process owns */
  double write_back; /* s of the write-back of all of C */
  double best;       /* predicted time of the best cut so far, s; INFINITY: none was found yet */
  bool any_memory;   /* cuts are accepted even if they exceed the memory */
  int counted;       /* panel counts computed so far */
  tsr_panel_count count[TSR_COUNTED]; /* the last ones, as a ring */
} tsr_pproblem;

/* TSR_ERR_MEMORY. */
tsr_status tsr_pproblem_make(const tsr_grid *grid, const tsr_arranged *arranged,
                             tsr_pproblem *problem);

/* Whether panels arrive in host memory; if not, in the first device's memory. */
static inline bool tsr_pproblem_uses_host(const tsr_pproblem *problem) {
  return problem->grid->model.host.up == 0;
}

/* Makes the cut of a strategy. *price: the fraction by which the cut must be faster to be worth its
 * memory, so that its score is predicted time * (1 + *price). INFINITY: the cut exceeds the memory,
 * or has so many products that a replay is not worth its time. TSR_ERR_MEMORY. */
tsr_status tsr_pstrategy_cut(tsr_pproblem *problem, const tsr_pstrategy *strategy, tsr_cut *cut,
                             double *price);

/* The cut of TSR_CUT_PARSEC. Where the device products need more memory than the paper counts, its
 * panels are less deep. TSR_ERR_MEMORY: not even one block of the distribution fits. */
tsr_status tsr_pproblem_parsec_cut(tsr_pproblem *problem, tsr_cut *cut);

#endif
