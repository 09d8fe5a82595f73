/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The scheduler: turns a graph, whose tasks have an order and owners, into the commands of a plan.
 *
 * The scheduler takes one task after another. If a task reads an operand that its device lacks, the
 * scheduler adds copies that fetch the operand, piece by piece, for all devices that will read it.
 * Source: Uncut-GEMMs, algorithm 1, with the sizes of copies chosen apart from those of kernels.
 * scheduler.h lists the parts of the scheduler.
 */
#ifndef TSR_PLAN_SCHEDULE_SCHEDULE_H
#define TSR_PLAN_SCHEDULE_SCHEDULE_H

#include "blas/graph.h"
#include "plan/plan.h"
#include "plan/residency.h"
#include "plan/schedule/policy.h"

typedef struct tsr_schedule_options {
  int64_t piece; /* most bytes of a copy */
  bool by_eta;   /* a device next takes the group whose inputs arrive first; not with slots */
  int64_t lookahead[TSR_MACHINE_DEVICES]; /* with slots: how many tasks of the sequence before its
                                             use a tile should be copied to the device */
  tsr_policy policy;
  bool straight;        /* no forwarders */
  unsigned realigned;   /* bit x: kernels read copies of operand x even on its home device */
  const size_t *budget; /* bytes for each device */
  size_t ring;          /* bytes of all staging rings */
  const tsr_residency *residency; /* cached blocks at the start; NULL: no residency, and no block
                                     stays on devices */
} tsr_schedule_options;

/* Bytes: the memory of a tile is a multiple of this. */
enum { TSR_TILE_ALIGN = 512 };

/* Whether the tiles of a graph fit into the budgets. */
typedef enum tsr_fit {
  TSR_FITS_NOT, /* budgets are too small: the plan is void. With residency tiles never share memory,
                   and the plan's arena gives the bytes that each device would need */
  TSR_FITS_IN,  /* every tile has memory of its own */
  TSR_FITS_TIGHT /* tiles share memory */
} tsr_fit;

/* Makes the commands, buffers and queues of a plan for a graph. The plan's call and grid must be
 * set. Sets *fit; TSR_FITS_NOT is no error. TSR_ERR_MEMORY: no host memory. */
tsr_status tsr_schedule(const tsr_machine *machine, const tsr_graph *graph,
                        const tsr_schedule_options *options, tsr_plan *plan, tsr_fit *fit);

/* Bytes of memory for a tile of a matrix, rounded up; *ld: its leading dimension, which of lines
 * is in bytes. */
size_t tsr_tile_memory(const tsr_call *call, int matrix, int64_t rows, int64_t cols, int64_t *ld);

/* The least budget [bytes] of a device that holds `held` tiles of C at a time: memory for these and
 * for the two other operands of a task. */
size_t tsr_schedule_least_budget(const tsr_call *call, const tsr_graph *graph, int64_t held);

#endif
