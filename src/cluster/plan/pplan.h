/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The struct of a plan across processes, for the files of this folder and tests. */
#ifndef TSR_CLUSTER_PLAN_PPLAN_H
#define TSR_CLUSTER_PLAN_PPLAN_H

#include "cluster/plan/replay.h"
#include "cluster/run/product.h"
#include "cluster/run/summa.h"
#include "cluster/run/whole_lines.h"

struct tsr_pplan {
  tsr_product product;
  bool moves[2]; /* whether op(A), op(B) is redistributed first */
  tsr_summa_schedule schedule;
  tsr_costs costs;
  tsr_forecast forecast; /* of the slowest representative */
  int me[2];             /* its coordinates in the grid */
  tsr_interval *times;   /* [summa step]: its predicted times */
  /* How it is emulated, if how.products != NULL: then the schedule is what it is compared with. */
  tsr_emulation_way how;
  tsr_lines_forecast lines;
};

/* TSR_ERR_ARGUMENT for NULL. */
tsr_status tsr_pplan_check(const tsr_pplan *plan);

/* The plan's cut and prediction as the public struct. */
tsr_pprediction tsr_pplan_summary(const tsr_pplan *plan);

#endif
