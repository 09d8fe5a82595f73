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
 */
#include "plan/model/sockets.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

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

static double bytes_between(const tsr_machine *machine, const tsr_host_load *load, int from,
                            int to) {
  int devices = machine->devices;
  return from >= devices && to < devices   ? load->out[from - devices]
         : from < devices && to >= devices ? load->in[to - devices]
                                           : 0;
}

/* The ways that bytes may take cost something at first, and so do the channels on them. */
static void open_market(market *m, const tsr_host_load *load) {
  int locations = tsr_machine_locations(m->machine);
  memset(m->channel, 0, sizeof m->channel);
  memset(m->link, 0, sizeof m->link);
  for (int i = 0; i < locations; i++)
    for (int j = 0; j < locations; j++)
      m->link[i][j] =
          m->machine->link[i][j].bandwidth > 0 && bytes_between(m->machine, load, i, j) > 0;
  for (int c = 0; c < m->machine->channels; c++)
    for (int u = 0; u < m->machine->channel[c].count; u++) {
      const tsr_channel_use *use = &m->machine->channel[c].uses[u];
      if (m->link[use->from][use->to] > 0) m->channel[c] = 1;
    }
}

static void price_ways(market *m) {
  int locations = tsr_machine_locations(m->machine);
  m->sum = 0;
  for (int i = 0; i < locations; i++)
    for (int j = 0; j < locations; j++) {
      m->sum += m->link[i][j];
      m->way[i][j] =
          m->link[i][j] > 0 ? m->link[i][j] / m->machine->link[i][j].bandwidth : INFINITY;
    }
  for (int c = 0; c < m->machine->channels; c++) {
    const tsr_channel *channel = &m->machine->channel[c];
    m->sum += m->channel[c];
    for (int u = 0; u < channel->count; u++)
      m->way[channel->uses[u].from][channel->uses[u].to] +=
          m->channel[c] * channel->uses[u].weight / channel->capacity;
  }
}

/* The price of a byte between a host location and a device. */
static double price_of(const market *m, int host, int device, bool in) {
  return in ? m->way[device][host] : m->way[host][device];
}

/* Moves bytes between a host location and all devices, the more the cheaper their ways are; returns
 * what they would cost on the cheapest way. */
static double move(market *m, int host, bool in, double bytes) {
  double least = INFINITY, parts = 0;
  for (int d = 0; d < m->machine->devices; d++) least = fmin(least, price_of(m, host, d, in));
  if (bytes <= 0 || isinf(least)) return 0;
  for (int d = 0; d < m->machine->devices; d++)
    parts += pow(least / price_of(m, host, d, in), PREFERENCE);
  for (int d = 0; d < m->machine->devices; d++)
    *(in ? &m->moved[d][host] : &m->moved[host][d]) =
        bytes * pow(least / price_of(m, host, d, in), PREFERENCE) / parts;
  return least * bytes;
}

/* Moves all bytes; returns what they would cost on their cheapest ways. */
static double trade(market *m, const tsr_host_load *load) {
  int devices = m->machine->devices, hosts = tsr_machine_locations(m->machine) - devices;
  double cost = 0;
  memset(m->moved, 0, sizeof m->moved);
  for (int h = 0; h < hosts; h++)
    cost += move(m, devices + h, false, load->out[h]) + move(m, devices + h, true, load->in[h]);
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
  return m->moved[from][to] > 0 ? m->moved[from][to] / m->machine->link[from][to].bandwidth : 0;
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
