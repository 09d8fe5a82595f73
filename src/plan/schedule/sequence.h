/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The sequence: the order in which tasks are scheduled.
 *
 * Devices take turns, one task each; a device whose tasks take longer gets fewer turns. The staging
 * threads and the ring, which devices share, serve the devices in this order. A device goes through
 * its groups of tasks in the order of the graph, or, with by_eta, in the order in which their
 * inputs are expected (Uncut-GEMMs, section III-G): task by task if the graph is one of those that
 * eta_order.h can order, else group by group where memory is not tight.
 *
 * Invariant: after a rewind every task comes once, after all tasks of groups that its group needs,
 * and, unless single tasks are ordered, the tasks of a group come in their order. If memory is
 * tight, the order does not depend on what has been scheduled, and a rewind repeats it.
 */
#ifndef TSR_PLAN_SCHEDULE_SEQUENCE_H
#define TSR_PLAN_SCHEDULE_SEQUENCE_H

#include "plan/schedule/availability.h"
#include "plan/schedule/eta_order.h"

/* One device's way through its groups. A group begins when all groups that it needs have been given
 * out, whole: by then the commands are scheduled for which its own have to wait. */
typedef struct tsr_walk {
  int32_t *groups; /* the device's groups; those not begun are groups[next .. count) */
  int next, count;
  const tsr_group *group; /* the group that has begun, or NULL */
  size_t done;            /* tasks of the group that were given out */
  double clock, last;     /* rough time [s] of all tasks so far, and of the last one */
} tsr_walk;

typedef struct tsr_sequence {
  const tsr_problem *problem; /* borrowed, and so are the next two */
  const tsr_copies *copies;
  const tsr_availability *availability;
  bool tight; /* memory is tight: devices take turns whatever their clocks, and groups keep the
                 graph's order */
  tsr_eta_order ordered; /* the order of single tasks; without tasks: the walks decide */
  size_t next;           /* the next one of them */
  int turn;              /* the device whose turn is next */
  int32_t *storage;      /* the groups of all walks */
  int32_t *met;     /* of each group: how many of its needs are known to be given out; ALL_GIVEN_OUT
                       (sequence.c): so is the group itself */
  size_t given_out; /* all groups before this one are */
  tsr_walk walk[TSR_MACHINE_DEVICES];
} tsr_sequence;

/* The caller must rewind the sequence before the first task. copies and availability tell when the
 * inputs of a group could arrive. TSR_ERR_MEMORY. */
tsr_status tsr_sequence_init(tsr_sequence *q, const tsr_problem *problem, const tsr_copies *copies,
                             const tsr_availability *availability);
void tsr_sequence_free(tsr_sequence *q);

/* Goes back to the first task. tight: memory is tight, the same each time. TSR_ERR_MEMORY. */
tsr_status tsr_sequence_rewind(tsr_sequence *q, bool tight);

/* The next task; NULL after the last one. */
const tsr_task *tsr_sequence_next(tsr_sequence *q);

#endif
