/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/forwarders.h"

#include <math.h>

#include "plan/tuning.h"

/* Notes the nodes and the devices between which copies use the channel, which is a crossing. */
static void note_far(tsr_forwarders *r, const tsr_channel *channel) {
  int devices = r->problem->devices;
  for (int i = 0; i < channel->count; i++) {
    const tsr_channel_use *use = &channel->uses[i];
    bool in = use->from >= devices;
    if (tsr_channel_use_follows(r->problem->machine, use) || (use->to < devices && !in)) continue;
    r->far[(in ? use->from : use->to) - devices][in ? use->to : use->from] = true;
  }
}

static void find_far(tsr_forwarders *r) {
  const tsr_machine *machine = r->problem->machine;
  int from, to;
  for (int c = 0; c < machine->channels; c++)
    if (tsr_machine_is_crossing(machine, &machine->channel[c], &from, &to))
      note_far(r, &machine->channel[c]);
}

void tsr_forwarders_init(tsr_forwarders *r, const tsr_problem *problem,
                         const tsr_availability *availability, const tsr_ring *staging,
                         const size_t *spare) {
  const tsr_schedule_options *options = problem->options;
  *r = (tsr_forwarders){.problem = problem, .availability = availability, .staging = staging};
  if (problem->machine->nodes == 1 || spare == NULL || options->straight) return;
  if (options->residency != NULL) return;
  find_far(r);
  for (size_t i = 0; i < problem->graph->tasks.count; i++)
    r->may[problem->graph->tasks.items[i].device] = true;
  for (int d = 0; d < problem->devices; d++)
    r->may[d] &=
        options->policy.preferred >> d & 1 && spare[d] >= TSR_TUNE_FORWARD_PARTS * staging->largest;
}

void tsr_forwarders_free(tsr_forwarders *r) {
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++) tsr_ring_free(&r->ring[d]);
}

static bool reaches(const tsr_machine *machine, int from, int to) {
  return from != to && machine->link[from][to].bandwidth > 0;
}

/* When the transfer would be at the forwarder, and then at its target. */
static float arrival_by(const tsr_forwarders *r, const tsr_transfer *c, int from, int forwarder,
                        int to) {
  const tsr_availability *a = r->availability;
  float there = tsr_link_arrival(a, from, forwarder, c->bytes, tsr_segments_at(a, c, from), 0);
  return tsr_link_arrival(a, forwarder, to, c->bytes, tsr_segments_at(a, c, forwarder),
                          there + (float)TSR_TUNE_HAND_OVER);
}

int tsr_forwarders_find(const tsr_forwarders *r, const tsr_transfer *c, int from, int to,
                        float *when) {
  const tsr_machine *machine = r->problem->machine;
  bool in = tsr_on_host(r->problem, from);
  if (in == tsr_on_host(r->problem, to)) return TSR_NOTHING;
  int host = in ? from : to, device = in ? to : from, best = TSR_NOTHING;
  int node = host - machine->devices;
  if (node == machine->nodes || !r->far[node][device]) return TSR_NOTHING;
  for (int d = 0; d < r->problem->devices; d++) {
    bool near = r->may[d] && !r->far[node][d];
    if (!near || !reaches(machine, from, d) || !reaches(machine, d, to)) continue;
    float arrival = arrival_by(r, c, from, d, to);
    if (arrival >= *when) continue;
    *when = arrival;
    best = d;
  }
  return best;
}

void tsr_forwarders_occupy(tsr_availability *a, const tsr_transfer *c, int from, int forwarder,
                           int to, float when) {
  float there = tsr_link_arrival(a, from, forwarder, c->bytes, tsr_segments_at(a, c, from), 0);
  tsr_link_occupy(a, from, forwarder, c->bytes, 0, there);
  tsr_link_occupy(a, forwarder, to, c->bytes, there + (float)TSR_TUNE_HAND_OVER, when);
}

tsr_ring *tsr_forwarders_ring(tsr_forwarders *r, int device) {
  tsr_ring *ring = &r->ring[device];
  if (ring->count > 0) return ring;
  return tsr_ring_init_on(ring, r->staging, device, TSR_TUNE_FORWARD_PARTS) ? ring : NULL;
}
