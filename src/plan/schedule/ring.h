/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A ring: memory in parts of one size that copies pass through. Staging rings are pinned host
 * memory, one on each node that is near a device; a copy goes through the ring near the device if
 * the device cannot copy straight from or to the user's memory. Devices that pass on what crosses
 * from socket to socket have rings, too (forwarders.h).
 *
 * A transfer that is larger than a part goes through the ring in pieces (mover.c): a ring is as
 * large as the options say, whatever the transfers.
 *
 * Invariant: the parts are given out in turn. The first command that writes to a part waits for the
 * part's last user.
 */
#ifndef TSR_PLAN_SCHEDULE_RING_H
#define TSR_PLAN_SCHEDULE_RING_H

#include "plan/schedule/commands.h"
#include "plan/schedule/pieces.h"

typedef struct tsr_ring {
  tsr_commands *commands; /* borrowed */
  int location;
  uint8_t role;   /* tsr_buffer_role of the parts */
  size_t begin;   /* bytes from the start of the arena at the location */
  int32_t *last;  /* the command that used each part last, or TSR_NOTHING */
  int count;      /* number of parts */
  int next;       /* parts given out so far */
  size_t bytes;   /* bytes of a part */
  size_t largest; /* bytes of the largest transfer, rounded up */
} tsr_ring;

/* The staging rings, by tsr_problem.ring_of. */
typedef struct tsr_rings {
  const tsr_problem *problem; /* borrowed */
  tsr_ring of[TSR_MACHINE_NODES];
} tsr_rings;

/* Makes the staging rings: sets the size of a part and the number of parts from the options.
 * TSR_ERR_MEMORY. */
tsr_status tsr_rings_init(tsr_rings *rings, const tsr_problem *problem, tsr_commands *commands);
void tsr_rings_free(tsr_rings *rings);

/* The staging ring near a device. */
tsr_ring *tsr_rings_near(tsr_rings *rings, int device);

void tsr_ring_free(tsr_ring *r);

/* Makes a ring of so many parts, each for the largest transfer of a staging ring, with memory of
 * its own at the end of a device's arena. False: no host memory. */
bool tsr_ring_init_on(tsr_ring *r, const tsr_ring *like, int device, int count);

/* Gives out a part for a transfer of at most r->bytes bytes, as a buffer. The next command must be
 * the one that writes to the buffer; it will wait for the part's last user. TSR_NOTHING: no host
 * memory. */
int32_t tsr_ring_take(tsr_ring *r, const tsr_transfer *c);

/* Notes the last command that uses the buffer. */
void tsr_ring_give_back(tsr_ring *r, int32_t buffer, int32_t command);

#endif
