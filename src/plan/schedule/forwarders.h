/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Forwarders: a transfer between a device and the host memory of another socket may go by a device
 * of that socket, which passes it on over the links between devices, so that the link between the
 * sockets has less to carry.
 *
 * A forwarder is a device that computes, too; it holds what it passes on in a ring of its own.
 * Invariant: a ring begins at the end of what the device's arena had when the ring was first used,
 * and the budget of the device suffices for its tiles and the ring. There is no forwarder if tiles
 * share memory, or if blocks stay on devices.
 */
#ifndef TSR_PLAN_SCHEDULE_FORWARDERS_H
#define TSR_PLAN_SCHEDULE_FORWARDERS_H

#include "plan/schedule/availability.h"
#include "plan/schedule/ring.h"

typedef struct tsr_forwarders {
  const tsr_problem *problem; /* borrowed, and so are the next two */
  const tsr_availability *availability;
  const tsr_ring *staging;
  bool may[TSR_MACHINE_DEVICES]; /* the device computes, and has memory for a ring */
  bool far[TSR_MACHINE_NODES][TSR_MACHINE_DEVICES]; /* copies between them cross */
  tsr_ring ring[TSR_MACHINE_DEVICES];               /* count 0: not used yet */
} tsr_forwarders;

/* spare: bytes of each device's budget that no tile needs; NULL: there are no forwarders. */
void tsr_forwarders_init(tsr_forwarders *r, const tsr_problem *problem,
                         const tsr_availability *availability, const tsr_ring *staging,
                         const size_t *spare);
void tsr_forwarders_free(tsr_forwarders *r);

/* The device by which the transfer would be at `to` before *when [s], with *when set to that time;
 * TSR_NOTHING: none. Only transfers between pinned host memory and a device have forwarders. */
int tsr_forwarders_find(const tsr_forwarders *r, const tsr_transfer *c, int from, int to,
                        float *when);

/* Books both links for a transfer by that forwarder, which is at `to` at time when [s]. */
void tsr_forwarders_occupy(tsr_availability *a, const tsr_transfer *c, int from, int forwarder,
                           int to, float when);

/* The ring of a forwarder. NULL: no host memory. */
tsr_ring *tsr_forwarders_ring(tsr_forwarders *r, int device);

#endif
