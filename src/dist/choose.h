/* How a product is cut: blocks of C, depth of panels, lookahead. */
#ifndef TSR_DIST_CHOOSE_H
#define TSR_DIST_CHOOSE_H

#include "dist/grid.h"

/* What is to be cut. */
typedef struct tsr_job {
  tsr_deal deal;
  tsr_type type;
  bool reads_result; /* beta is not 0 */
  bool moves[2];
} tsr_job;

/* What the user set, and for the rest what the model says. */
tsr_status tsr_choose_cut(const tsr_grid *grid, const tsr_job *job, tsr_cut *cut, double *seconds);

#endif
