/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Policies: how the router chooses the source of a piece, and which devices receive the piece. The
 * search plans with tsr_policy_default() alone. The other policies are those of published systems;
 * the words relay, route and channels of a strategy name them, so that their plans can be compared.
 * A policy is data and one function, so that the router does the same for every policy.
 */
#ifndef TSR_PLAN_SCHEDULE_POLICY_H
#define TSR_PLAN_SCHEDULE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct tsr_routes;
struct tsr_transfer;

/* A source of a piece for one receiver. */
typedef struct tsr_source {
  int location;      /* TSR_NOTHING: no source */
  float ready, when; /* s: the source has the piece; the piece would arrive */
  bool home;
  int forwarder; /* the device that passes on the piece from home; TSR_NOTHING: none */
} tsr_source;

/* Chooses the source of the piece number `index` of a tile for the device `to`: its home, or one of
 * the holders, which are devices as bits. */
typedef tsr_source tsr_source_choice(const struct tsr_routes *routes,
                                     const struct tsr_transfer *piece, int index, uint32_t holders,
                                     int to);

/* Devices are bits. */
typedef struct tsr_policy {
  uint32_t senders;   /* may send a piece that they hold to other devices */
  uint32_t relays;    /* receive a piece of A or B as soon as another device needs it, if they will
                         read it, and pass it on */
  uint32_t preferred; /* send a piece instead of its home, whenever it would arrive, if their link
                         is as fast as the home's; these alone are forwarders, too */
  int channels;       /* the most channels of a link that count in estimates */
  tsr_source_choice *choose;
} tsr_policy;

/* The location from which a piece is copied, if its home and some devices have it. */
typedef enum tsr_routing {
  TSR_ROUTE_ETA,       /* the source with the earliest arrival */
  TSR_ROUTE_BANDWIDTH, /* the source with the fastest link, however loaded; the home if no link is
                          faster */
  TSR_ROUTE_HOME       /* always the home */
} tsr_routing;

/* The policy of a strategy's words. relay: devices that reach each other pass on a piece, so that
 * the piece leaves its home once. channels: estimates count the channels that links share.
 */
tsr_policy tsr_policy_of(tsr_routing routing, bool relay, bool channels);

static inline tsr_policy tsr_policy_default(void) {
  return tsr_policy_of(TSR_ROUTE_ETA, true, true);
}

#endif
