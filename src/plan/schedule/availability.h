/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Availability: when each link, and each channel that links share, is free again. Before the
 * scheduler decides on a copy, it asks when the copy would arrive; then it books the links. Source:
 * the link availability matrix of Uncut-GEMMs (section III-D); the channels are ours.
 *
 * Invariant: a copy begins after all copies booked before on its link. The times are rough and
 * serve to choose between sources and orders; only the replay predicts when commands run.
 */
#ifndef TSR_PLAN_SCHEDULE_AVAILABILITY_H
#define TSR_PLAN_SCHEDULE_AVAILABILITY_H

#include "plan/model/links.h"
#include "plan/schedule/pieces.h"

typedef struct tsr_availability {
  const tsr_machine *machine; /* borrowed */
  int devices;
  tsr_links links;       /* the channels that each link uses */
  float *link_booked;    /* seconds of transfers booked, of each link as link_free */
  float *link_free;      /* time at which the link is free, s; [from * locations + to] */
  float *channel_booked; /* the same of each channel */
  float *channel_free;   /* time at which the channel is free, s */
  bool one_port[TSR_MACHINE_DEVICES]; /* all links of the device to others share its port */
} tsr_availability;

/* All links are free at time 0. TSR_ERR_MEMORY. */
tsr_status tsr_availability_init(tsr_availability *a, const tsr_problem *problem);
void tsr_availability_free(tsr_availability *a);

/* The time [s] at which bytes that are at `from` at time ready would be at `to`, over the link
 * between them; INFINITY: no link. */
float tsr_link_arrival(const tsr_availability *a, int from, int to, double bytes,
                       tsr_segments segments, float ready);

/* The segments of a transfer where it leaves `from`: on a device it is contiguous. */
tsr_segments tsr_segments_at(const tsr_availability *a, const tsr_transfer *c, int from);

/* Books the link for bytes that are at `from` at time ready and arrive at `to` at time end [s]. */
void tsr_link_occupy(tsr_availability *a, int from, int to, double bytes, float ready, float end);

/* How loaded a link is, s: what is booked on it and on the channels that it uses, in sum. */
float tsr_link_load(const tsr_availability *a, int from, int to);

/* As the first two functions, for a transfer. If two devices do not reach each other, the transfer
 * takes two links, by way of the ring near its target. */
float tsr_route_arrival(const tsr_availability *a, const tsr_transfer *c, int from, int to,
                        float ready);
void tsr_route_occupy(tsr_availability *a, const tsr_transfer *c, int from, int to, float ready,
                      float when);

/* Bytes/s of the link; of the slower of two links if the way leads through the host. */
double tsr_route_bandwidth(const tsr_availability *a, int from, int to);

#endif
