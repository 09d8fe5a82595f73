/*
 * Availability: when each link, and each channel that links share, is free again. The scheduler
 * asks when a copy would arrive before it decides on the copy, and books the links once it has.
 * Source: the link availability matrix of Uncut-GEMMs (section III-D); the channels are ours.
 *
 * Invariant: a copy begins after all copies that were booked on its link before. The times are
 * rough and choose between sources and orders; only the replay predicts when commands run.
 */
#ifndef TSR_PLAN_SCHEDULE_AVAILABILITY_H
#define TSR_PLAN_SCHEDULE_AVAILABILITY_H

#include "plan/model/links.h"
#include "plan/schedule/pieces.h"

typedef struct tsr_availability {
  const tsr_machine *machine;         /* borrowed */
  int devices, host;                  /* as in tsr_problem */
  tsr_links links;                    /* which channels each link uses */
  float *link_free;                   /* s, [from * locations + to] */
  float *channel_free;                /* s */
  bool one_port[TSR_MACHINE_DEVICES]; /* all links to other devices share the device's port */
} tsr_availability;

/* All links are free from the start. TSR_ERR_MEMORY. */
tsr_status tsr_availability_init(tsr_availability *a, const tsr_problem *problem);
void tsr_availability_free(tsr_availability *a);

/* The time [s] at which bytes that are at `from` at time ready would be at `to`, over the link from
 * one to the other; INFINITY: there is no link. segment: bytes of a contiguous run of them. */
float tsr_link_arrival(const tsr_availability *a, int from, int to, double bytes, double segment,
                       float ready);

/* Books the link for bytes that are at `from` at time ready and will be at `to` at time end. */
void tsr_link_occupy(tsr_availability *a, int from, int to, double bytes, float ready, float end);

/* The same for a transfer, over one link or, if two devices do not reach each other, over two by
 * way of the host. */
float tsr_route_arrival(const tsr_availability *a, const tsr_transfer *c, int from, int to,
                        float ready);
void tsr_route_occupy(tsr_availability *a, const tsr_transfer *c, int from, int to, float ready,
                      float when);

/* Bytes/s of the link, or of the slower one of two by way of the host. */
double tsr_route_bandwidth(const tsr_availability *a, int from, int to);

#endif
