/*
 * Choosing by the model: how a product is cut. Cuts are replayed, and the one with the least
 * predicted time is taken; what the user set stays.
 */
#ifndef TSR_CLUSTER_CHOOSE_H
#define TSR_CLUSTER_CHOOSE_H

#include "cluster/replay.h"
#include "cluster/strategy.h"

/* What was chosen, and what it is predicted to take. */
typedef struct tsr_choice {
  tsr_cut cut;
  tsr_forecast forecast; /* of the process that takes longest */
} tsr_choice;

/* Choices that a grid keeps, since products come again. */
typedef struct tsr_choices tsr_choices;
tsr_status tsr_choices_create(tsr_choices **choices); /* TSR_ERR_MEMORY */
void tsr_choices_destroy(tsr_choices *choices);       /* NULL is accepted */

/* plan: products are planned, whatever that takes; else only where they take long. The same on all
 * processes. TSR_ERR_MEMORY. */
tsr_status tsr_choose_cut(const tsr_grid *grid, const tsr_job *job, bool plan, tsr_choice *choice);

/* A process that stands for all: of those with most of C, the first or another one. */
void tsr_representative(const tsr_deal *deal, int which, int me[2]);
enum { TSR_REPRESENTATIVES = 2 };

#endif
