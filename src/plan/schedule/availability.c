/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/availability.h"

#include <math.h>

#include "base/alloc.h"
#include "plan/tuning.h"

/* Whether all links from a device to others use one channel whose capacity is less than
 * TSR_TUNE_ONE_PORT times the bandwidth of a link. */
static bool has_one_port(const tsr_machine *machine, const tsr_links *links, int device) {
  for (int c = 0; c < machine->channels; c++) {
    bool all = true, crowded = false;
    for (int d = 0; d < machine->devices; d++) {
      const tsr_link *link = &machine->link[device][d];
      if (d == device || link->bandwidth <= 0) continue;
      const tsr_link_uses *uses = tsr_links_of(links, device, d);
      bool used = false;
      for (int i = 0; i < uses->count; i++) {
        if (uses->channel[i] != c) continue;
        used = true;
        crowded |= link->bandwidth * (double)uses->seconds[i] > 1 / TSR_TUNE_ONE_PORT;
      }
      all &= used;
    }
    if (all && crowded) return true;
  }
  return false;
}

tsr_status tsr_availability_init(tsr_availability *a, const tsr_problem *problem) {
  a->machine = problem->machine;
  a->devices = problem->devices;
  TSR_TRY(tsr_links_create(a->machine, &a->links));
  for (int d = 0; d < a->devices; d++) a->one_port[d] = has_one_port(a->machine, &a->links, d);
  size_t links = (size_t)a->links.locations * (size_t)a->links.locations;
  a->link_free = tsr_alloc_zero(links, sizeof *a->link_free);
  a->channel_free = tsr_alloc_zero((size_t)a->machine->channels + 1, sizeof *a->channel_free);
  a->link_booked = tsr_alloc_zero(links, sizeof *a->link_booked);
  a->channel_booked = tsr_alloc_zero((size_t)a->machine->channels + 1, sizeof *a->channel_booked);
  if (!a->link_free || !a->channel_free || !a->link_booked || !a->channel_booked)
    return tsr_problem_no_memory();
  for (size_t i = 0; i < links; i++) {
    int *count = &a->links.uses[i].count;
    if (*count > problem->options->policy.channels) *count = problem->options->policy.channels;
  }
  return TSR_OK;
}

void tsr_availability_free(tsr_availability *a) {
  tsr_dealloc(a->link_free);
  tsr_dealloc(a->link_booked);
  tsr_dealloc(a->channel_booked);
  tsr_links_free(&a->links);
  tsr_dealloc(a->channel_free);
}

/* ---- Links ---------------------------------------------------------------- */

/* max(a, b). fmaxf also handles NaN and is slower; planning spends most of its time here. */
static inline float later(float a, float b) {
  return a > b ? a : b;
}

static float *link_free(const tsr_availability *a, int from, int to) {
  return &a->link_free[(size_t)from * (size_t)a->links.locations + (size_t)to];
}

float tsr_link_arrival(const tsr_availability *a, int from, int to, double bytes,
                       tsr_segments segments, float ready) {
  const tsr_link *link = &a->machine->link[from][to];
  double rate = tsr_link_rate(link, segments);
  if (rate <= 0) return INFINITY;
  float start = later(ready, *link_free(a, from, to));
  float end = start + (float)(bytes / rate);
  const tsr_link_uses *uses = tsr_links_of(&a->links, from, to);
  for (int i = 0; i < uses->count; i++) {
    float busy = later(ready, a->channel_free[uses->channel[i]]);
    end = later(end, busy + (float)bytes * uses->seconds[i]);
  }
  return end;
}

void tsr_link_occupy(tsr_availability *a, int from, int to, double bytes, float ready, float end) {
  double rate = a->machine->link[from][to].bandwidth;
  *link_free(a, from, to) = end;
  if (rate > 0)
    a->link_booked[(size_t)from * (size_t)a->links.locations + (size_t)to] += (float)(bytes / rate);
  const tsr_link_uses *uses = tsr_links_of(&a->links, from, to);
  for (int i = 0; i < uses->count; i++) {
    float *busy = &a->channel_free[uses->channel[i]];
    *busy = later(ready, *busy) + (float)bytes * uses->seconds[i];
    a->channel_booked[uses->channel[i]] += (float)bytes * uses->seconds[i];
  }
}

float tsr_link_load(const tsr_availability *a, int from, int to) {
  float load = a->link_booked[(size_t)from * (size_t)a->links.locations + (size_t)to];
  const tsr_link_uses *uses = tsr_links_of(&a->links, from, to);
  for (int i = 0; i < uses->count; i++) load += a->channel_booked[uses->channel[i]];
  return load;
}

/* ---- Routes: one link, or two by way of the host --------------------------- */

static bool on_host(const tsr_availability *a, int location) {
  return location >= a->devices;
}

tsr_segments tsr_segments_at(const tsr_availability *a, const tsr_transfer *c, int from) {
  return on_host(a, from) ? c->segments : (tsr_segments){c->bytes, 0};
}

float tsr_route_arrival(const tsr_availability *a, const tsr_transfer *c, int from, int to,
                        float ready) {
  if (from == to) return ready + (float)(c->bytes / tsr_machine_copy_rate(a->machine, to));
  tsr_segments segments = tsr_segments_at(a, c, from);
  float direct = tsr_link_arrival(a, from, to, c->bytes, segments, ready);
  if (isfinite(direct) || on_host(a, from)) return direct;
  int ring = tsr_ring_node(a->machine, to);
  return tsr_link_arrival(a, ring, to, c->bytes, segments,
                          tsr_link_arrival(a, from, ring, c->bytes, segments, ready));
}

void tsr_route_occupy(tsr_availability *a, const tsr_transfer *c, int from, int to, float ready,
                      float when) {
  if (from == to) return;
  if (a->machine->link[from][to].bandwidth > 0) {
    tsr_link_occupy(a, from, to, c->bytes, ready, when);
    return;
  }
  int ring = tsr_ring_node(a->machine, to);
  float there = tsr_link_arrival(a, from, ring, c->bytes, tsr_segments_at(a, c, from), ready);
  tsr_link_occupy(a, from, ring, c->bytes, ready, there);
  tsr_link_occupy(a, ring, to, c->bytes, there, when);
}

double tsr_route_bandwidth(const tsr_availability *a, int from, int to) {
  double direct = a->machine->link[from][to].bandwidth;
  if (direct > 0 || on_host(a, from)) return direct;
  int ring = tsr_ring_node(a->machine, to);
  return fmin(a->machine->link[from][ring].bandwidth, a->machine->link[ring][to].bandwidth);
}
