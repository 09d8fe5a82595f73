/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/policy.h"

#include "plan/schedule/routes.h"

#define ALL UINT32_MAX /* devices, as bits */

/* Bandwidth-based routing (Uncut-GEMMs, III-D 1), which ignores the load of links. */
static tsr_source choose_fastest(const tsr_routes *r, const tsr_transfer *c, int index,
                                 uint32_t holders, int to) {
  tsr_source best = tsr_source_home(r, c, to);
  double rate = tsr_route_bandwidth(r->availability, best.location, to);
  for (int d = 0; d < r->problem->devices; d++) {
    if (!(holders >> d & 1) || tsr_route_bandwidth(r->availability, d, to) <= rate) continue;
    float ready = tsr_piece_at(r->copies, c->matrix, c->tile, d, index)->eta;
    float when = tsr_route_arrival(r->availability, c, d, to, ready);
    best = (tsr_source){d, ready, when, false, TSR_NOTHING};
    rate = tsr_route_bandwidth(r->availability, d, to);
  }
  return best;
}

tsr_policy tsr_policy_of(tsr_routing routing, bool relay, bool channels) {
  static const tsr_policy policies[] = {
      [TSR_ROUTE_ETA] = {ALL, ALL, ALL, TSR_LINK_USES, tsr_source_by_arrival},
      [TSR_ROUTE_BANDWIDTH] = {ALL, ALL, 0, TSR_LINK_USES, choose_fastest},
      [TSR_ROUTE_HOME] = {0, ALL, 0, TSR_LINK_USES, tsr_source_by_arrival},
  };
  tsr_policy policy = policies[routing];
  if (!relay) policy.relays = policy.preferred = 0;
  if (!channels) policy.channels = 0;
  return policy;
}
