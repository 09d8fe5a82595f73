/*
 * The staging ring: pinned host memory, in parts of one size, that copies go through which a device
 * cannot make straight from or to the user's memory.
 *
 * Invariant: the parts are given out in turn. The first command that writes to a part waits for the
 * command that used the part last.
 */
#ifndef TSR_PLAN_SCHEDULE_RING_H
#define TSR_PLAN_SCHEDULE_RING_H

#include "plan/schedule/commands.h"
#include "plan/schedule/pieces.h"

typedef struct tsr_ring {
  tsr_commands *commands; /* borrowed */
  int host;               /* location of the ring */
  int32_t *last;          /* the command that used each part last, or TSR_NOTHING */
  int count;              /* of parts */
  int next;               /* how many were given out so far */
  size_t bytes;           /* of a part */
} tsr_ring;

/* TSR_ERR_MEMORY. */
tsr_status tsr_ring_init(tsr_ring *r, const tsr_problem *problem, tsr_commands *commands);
void tsr_ring_free(tsr_ring *r);

/* Gives out a part for a transfer, as a STAGE buffer. The next command, which must be the one that
 * writes to the buffer, will wait for the part's last user. TSR_NOTHING: no host memory. */
int32_t tsr_ring_take(tsr_ring *r, const tsr_transfer *c);

/* Notes the command that is the last to use the buffer. */
void tsr_ring_give_back(tsr_ring *r, int32_t buffer, int32_t command);

#endif
