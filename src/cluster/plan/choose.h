/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The choice of a cut by the model: candidate cuts are replayed, and the cut with the least
 * predicted time is taken. Values that the user set (tsr_wishes) are kept.
 */
#ifndef TSR_CLUSTER_PLAN_CHOOSE_H
#define TSR_CLUSTER_PLAN_CHOOSE_H

#include "cluster/plan/replay.h"
#include "cluster/plan/strategy.h"

/* The chosen cut and its prediction. */
typedef struct tsr_choice {
  tsr_cut cut;
  tsr_forecast forecast; /* the slowest representative's (tsr_representative) */
} tsr_choice;

/* The last choices of a grid, kept because programs repeat products. */
typedef struct tsr_choices tsr_choices;
tsr_status tsr_choices_create(tsr_choices **choices); /* TSR_ERR_MEMORY */
void tsr_choices_destroy(tsr_choices *choices);       /* NULL is accepted */

/* Chooses a cut. plan: true: the device products are planned, however long that takes; false: they
 * are planned only if the predicted time exceeds TSR_TUNE_WORTH_PLANNING, and a choice that the
 * grid has kept may be returned. All processes get the same choice. TSR_ERR_MEMORY. */
tsr_status tsr_choose_cut(const tsr_grid *grid, const tsr_arranged *arranged, bool plan,
                          tsr_choice *choice);

/* The coordinates of a process that is replayed in place of all. which = 0: the first process that
 * owns the most rows and columns of C; which = 1: the process half a grid away from it. */
void tsr_representative(const tsr_distribution *distribution, int which, int me[2]);
enum { TSR_REPRESENTATIVES = 2 };

#endif
