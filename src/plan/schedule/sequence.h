/*
 * The sequence: the order in which tasks are scheduled.
 *
 * Devices take turns, a task each, and a device whose tasks take longer waits for the others: the
 * staging threads and the ring, which devices share, serve them in this order. A device goes
 * through its groups in the order of the graph or, if asked to, takes next the group whose inputs
 * are expected first (Uncut-GEMMs, section III-G).
 *
 * Invariant: after a rewind every task comes once, and the tasks of a group come in their order. If
 * memory is tight, the order does not depend on what has been scheduled, and a rewind repeats it.
 */
#ifndef TSR_PLAN_SCHEDULE_SEQUENCE_H
#define TSR_PLAN_SCHEDULE_SEQUENCE_H

#include "plan/schedule/availability.h"
#include "plan/schedule/copies.h"

/* One device's way through its groups. */
typedef struct tsr_walk {
  int32_t *groups; /* its groups that are not begun, groups[next .. count) */
  int next, count;
  const tsr_group *group; /* present one, or NULL */
  size_t done;            /* of its tasks */
  double clock, last;     /* seconds, roughly, of its tasks so far, and of the last of them */
} tsr_walk;

typedef struct tsr_sequence {
  const tsr_problem *problem; /* borrowed, and so are the next two */
  const tsr_copies *copies;
  const tsr_availability *availability;
  bool tight;       /* memory is: devices take all their turns, and groups come as in the graph */
  int turn;         /* the device whose turn is next */
  int32_t *storage; /* of all walks' groups */
  tsr_walk walk[TSR_MACHINE_DEVICES];
} tsr_sequence;

/* Must be rewound before the first task. copies and availability say when the inputs of a group
 * could be there. TSR_ERR_MEMORY. */
tsr_status tsr_sequence_init(tsr_sequence *q, const tsr_problem *problem, const tsr_copies *copies,
                             const tsr_availability *availability);
void tsr_sequence_free(tsr_sequence *q);

/* Goes back to the first task. */
void tsr_sequence_rewind(tsr_sequence *q, bool tight);

/* The next task; NULL after the last one. */
const tsr_task *tsr_sequence_next(tsr_sequence *q);

#endif
