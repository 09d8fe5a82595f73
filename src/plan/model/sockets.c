/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which device takes which bytes from which node is a linear program: find the shares for which the
 * busiest of all links and channels is busy for the shortest time. Its dual prices the links and
 * the channels. For any prices,
 *
 *   sum over the bytes of (bytes x the price of their cheapest way) / sum of all prices
 *
 * is a lower bound of that time. Good prices come of multiplicative weights (Plotkin, Shmoys and
 * Tardos, "Fast approximation algorithms for fractional packing and covering problems"): again and
 * again all bytes take the way that is cheapest now, and the prices of what is busiest then grow
 * most.
 *
 * A staged byte goes from node to node first, unless its matrix is on the ring's node. Several
 * threads do that at a time, so that no single link limits it, but the channels on that way do.
 */
#include "plan/model/sockets.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/model/links.h"

/* With more rounds the bound of the machines in machines/ grows by less than 1 %. */
enum { ROUNDS = 300 };
/* Twice as cheap a way takes 2^PREFERENCE times as many bytes. */
#define PREFERENCE 16

typedef double table[TSR_MACHINE_LOCATIONS][TSR_MACHINE_LOCATIONS]; /* [from][to] */

typedef struct market {
  const tsr_machine *machine;
  double channel[TSR_MACHINE_CHANNELS]; /* prices */
  table link;                           /* prices */
  table way;                            /* what a byte costs */
  table moved;                          /* bytes */
  double sum;                           /* of all prices */
} market;

/* ---- Prices ---- */

/* Lets bytes take the way between a host location and a device. */
static void open_way(table used, const tsr_machine *machine, tsr_host_way way, int host, int device,
                     bool in) {
  int ring = tsr_ring_node(machine, device);
  if (way != TSR_WAY_STAGED) *(in ? &used[device][host] : &used[host][device]) = 1;
  if (way == TSR_WAY_STRAIGHT) return;
  *(in ? &used[device][ring] : &used[ring][device]) = 1;
  if (host != ring) *(in ? &used[ring][host] : &used[host][ring]) = 1;
}

static void open_ways(table used, const tsr_machine *machine, const tsr_host_load *load) {
  int devices = machine->devices, hosts = tsr_machine_locations(machine) - devices;
  memset(used, 0, sizeof(table));
  for (int way = 0; way < TSR_WAYS; way++)
    for (int h = 0; h < hosts; h++)
      for (int d = 0; d < devices; d++) {
        if (load->out[way][h] > 0)
          open_way(used, machine, (tsr_host_way)way, devices + h, d, false);
        if (load->in[way][h] > 0) open_way(used, machine, (tsr_host_way)way, devices + h, d, true);
      }
}

/* The links that bytes may take cost something at first, and so do the channels on them. */
static void open_market(market *m, const tsr_host_load *load) {
  int locations = tsr_machine_locations(m->machine);
  memset(m->channel, 0, sizeof m->channel);
  open_ways(m->link, m->machine, load);
  for (int c = 0; c < m->machine->channels; c++)
    for (int u = 0; u < m->machine->channel[c].count; u++) {
      const tsr_channel_use *use = &m->machine->channel[c].uses[u];
      if (m->link[use->from][use->to] > 0) m->channel[c] = 1;
    }
  for (int i = 0; i < locations; i++)
    for (int j = 0; j < locations; j++)
      if (tsr_is_in_host(m->machine, i, j) || m->machine->link[i][j].bandwidth <= 0)
        m->link[i][j] = 0;
}

static void price_ways(market *m) {
  int locations = tsr_machine_locations(m->machine);
  m->sum = 0;
  for (int i = 0; i < locations; i++)
    for (int j = 0; j < locations; j++) {
      bool in_host = tsr_is_in_host(m->machine, i, j);
      m->sum += m->link[i][j];
      m->way[i][j] = in_host             ? 0
                     : m->link[i][j] > 0 ? m->link[i][j] / m->machine->link[i][j].bandwidth
                                         : INFINITY;
    }
  for (int c = 0; c < m->machine->channels; c++) {
    const tsr_channel *channel = &m->machine->channel[c];
    m->sum += m->channel[c];
    for (int u = 0; u < channel->count; u++)
      m->way[channel->uses[u].from][channel->uses[u].to] +=
          m->channel[c] * channel->uses[u].weight / channel->capacity;
  }
}

static double price_straight(const market *m, int host, int device, bool in) {
  return in ? m->way[device][host] : m->way[host][device];
}

static double price_staged(const market *m, int host, int device, bool in) {
  int ring = tsr_ring_node(m->machine, device);
  double between = host == ring ? 0 : in ? m->way[ring][host] : m->way[host][ring];
  return between + price_straight(m, ring, device, in);
}

/* The price of a byte between a host location and a device. */
static double price_of(const market *m, tsr_host_way way, int host, int device, bool in) {
  if (way == TSR_WAY_STRAIGHT) return price_straight(m, host, device, in);
  double staged = price_staged(m, host, device, in);
  return way == TSR_WAY_STAGED ? staged : fmin(staged, price_straight(m, host, device, in));
}

/* ---- Trade ---- */

static void move_straight(market *m, int host, int device, bool in, double bytes) {
  *(in ? &m->moved[device][host] : &m->moved[host][device]) += bytes;
}

/* Moves bytes on the way, or on the cheaper one. */
static void move_by(market *m, tsr_host_way way, int host, int device, bool in, double bytes) {
  bool staged = way == TSR_WAY_STAGED ||
                (way == TSR_WAY_EITHER &&
                 price_staged(m, host, device, in) < price_straight(m, host, device, in));
  int ring = tsr_ring_node(m->machine, device);
  move_straight(m, staged ? ring : host, device, in, bytes);
  if (staged && host != ring) *(in ? &m->moved[ring][host] : &m->moved[host][ring]) += bytes;
}

/* Moves bytes between a host location and all devices, the more the cheaper their ways are; returns
 * what they would cost on the cheapest way. */
static double move(market *m, tsr_host_way way, int host, bool in, double bytes) {
  double least = INFINITY, parts = 0, part[TSR_MACHINE_DEVICES];
  for (int d = 0; d < m->machine->devices; d++) least = fmin(least, price_of(m, way, host, d, in));
  if (bytes <= 0 || isinf(least)) return 0;
  for (int d = 0; d < m->machine->devices; d++)
    parts += part[d] = pow(least / price_of(m, way, host, d, in), PREFERENCE);
  for (int d = 0; d < m->machine->devices; d++)
    if (part[d] > 0) move_by(m, way, host, d, in, bytes * part[d] / parts);
  return least * bytes;
}

/* Moves all bytes; returns what they would cost on their cheapest ways. */
static double trade(market *m, const tsr_host_load *load) {
  int devices = m->machine->devices, hosts = tsr_machine_locations(m->machine) - devices;
  double cost = 0;
  memset(m->moved, 0, sizeof m->moved);
  for (int way = 0; way < TSR_WAYS; way++)
    for (int h = 0; h < hosts; h++)
      cost += move(m, (tsr_host_way)way, devices + h, false, load->out[way][h]) +
              move(m, (tsr_host_way)way, devices + h, true, load->in[way][h]);
  return cost;
}

static double channel_time(const market *m, const tsr_channel *channel) {
  double time = 0;
  for (int u = 0; u < channel->count; u++) {
    const tsr_channel_use *use = &channel->uses[u];
    time += m->moved[use->from][use->to] * use->weight / channel->capacity;
  }
  return time;
}

static double link_time(const market *m, int from, int to) {
  if (m->moved[from][to] <= 0 || tsr_is_in_host(m->machine, from, to)) return 0;
  return m->moved[from][to] / m->machine->link[from][to].bandwidth;
}

/* step: by how much the price of the busiest grows. */
static void raise_prices(market *m, double step) {
  int locations = tsr_machine_locations(m->machine);
  double most = 0;
  for (int c = 0; c < m->machine->channels; c++)
    most = fmax(most, channel_time(m, &m->machine->channel[c]));
  for (int i = 0; i < locations; i++)
    for (int j = 0; j < locations; j++) most = fmax(most, link_time(m, i, j));
  for (int c = 0; c < m->machine->channels; c++)
    m->channel[c] *= 1 + step * channel_time(m, &m->machine->channel[c]) / most;
  for (int i = 0; i < locations; i++)
    for (int j = 0; j < locations; j++) m->link[i][j] *= 1 + step * link_time(m, i, j) / most;
}

double tsr_sockets_least_time(const tsr_machine *machine, const tsr_host_load *load) {
  market *m = tsr_alloc(sizeof *m);
  double best = 0;
  if (m == NULL) return 0;
  m->machine = machine;
  open_market(m, load);
  for (int i = 0; i < ROUNDS; i++) {
    price_ways(m);
    double cost = trade(m, load);
    if (cost <= 0) break;
    best = fmax(best, cost / m->sum);
    raise_prices(m, 1 / sqrt(1.0 + i));
  }
  tsr_dealloc(m);
  return best;
}
