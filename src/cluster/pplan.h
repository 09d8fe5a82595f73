/* The inside of a plan across processes. */
#ifndef TSR_CLUSTER_PPLAN_H
#define TSR_CLUSTER_PPLAN_H

#include "cluster/product.h"
#include "cluster/replay.h"
#include "cluster/summa.h"

struct tsr_pplan {
  tsr_product product;
  bool moves[2];
  tsr_summa_schedule schedule;
  tsr_costs costs;
  tsr_forecast forecast;
  int me[2];           /* the process that it is of */
  tsr_interval *times; /* [step] */
};

/* TSR_ERR_ARGUMENT for NULL. */
tsr_status tsr_pplan_check(const tsr_pplan *plan);

tsr_pprediction tsr_pplan_summary(const tsr_pplan *plan);

#endif
