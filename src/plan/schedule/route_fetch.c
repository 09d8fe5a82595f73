/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Fetching: the source of each piece, and the devices to which the piece is sent at once. */
#include <math.h>

#include "plan/schedule/routes.h"
#include "plan/tuning.h"

/* ---- Sources ---------------------------------------------------------------- */

static const tsr_link *link_of(const tsr_routes *r, int from, int to) {
  return &r->problem->machine->link[from][to];
}

static bool home_is_current(const tsr_routes *r, const tsr_transfer *c) {
  return !tsr_has_cached_blocks(r->problem, c->matrix) ||
         tsr_cached_blocks_home_is_current(r->blocks, c->matrix, tsr_transfer_rect(c));
}

/* Arrivals that differ by less than this [s] count as equal: a share of the transfer's time. The
 * probe never measures equal links quite equal, and the one with the best figure must not get all
 * transfers. */
static float slack_of(const tsr_routes *r, const tsr_transfer *c, int from, int to) {
  double rate = tsr_route_bandwidth(r->availability, from, to);
  return rate > 0 ? (float)(TSR_TUNE_ROUTE_SLACK * c->bytes / rate) : 0;
}

/* The time [s] to add if `from` got the piece from another device. Then the next copy waits for
 * another device's copy, and so does every command behind it in its queue. So the first holder
 * should send the piece to all if that takes a reasonable time. */
static float handing_on(const tsr_routes *r, const tsr_transfer *c, int index, int from, int to) {
  int32_t command = tsr_piece_at(r->copies, c->matrix, c->tile, from, index)->command;
  bool host = tsr_on_host(r->problem, r->problem->call->operand[c->matrix].location);
  if (command < 0 || !host) return 0;
  int queue = tsr_commands_queue_of(r->commands, command);
  if (r->commands->plan->queue[queue].role != TSR_QUEUE_PEER) return 0;
  double transfer = c->bytes / tsr_route_bandwidth(r->availability, from, to);
  return (float)(TSR_TUNE_HAND_OVER + TSR_TUNE_HAND_ON * transfer);
}

static bool is_preferred(const tsr_routes *r, int device, int home, int to) {
  return r->problem->options->policy.preferred >> device & 1 &&
         link_of(r, device, to)->bandwidth >= link_of(r, home, to)->bandwidth;
}

/* Whether a holder replaces the home as source in any case: the first holder that is tried is
 * preferred to it. Then the arrival from home need not be computed. */
static bool is_hidden(const tsr_routes *r, uint32_t holders, int home, int to) {
  int first = 0;
  if (!holders) return false;
  while (!(holders >> first & 1)) first++;
  return is_preferred(r, first, home, to);
}

/* The forwarder by which a piece from home arrives sooner than straight, with *when set to that
 * time.
 */
static int forwarder_of(const tsr_routes *r, const tsr_transfer *c, int home, int to, float *when) {
  bool may = tsr_on_host(r->problem, home) && tsr_move_is_straight(r->problem, c);
  return may ? tsr_forwarders_find(r->mover->forwarders, c, home, to, when) : TSR_NOTHING;
}

tsr_source tsr_source_home(const tsr_routes *r, const tsr_transfer *c, int to) {
  int home = r->problem->call->operand[c->matrix].location;
  tsr_source source = {home, 0, INFINITY, true, TSR_NOTHING};
  if (!home_is_current(r, c)) return source;
  source.when = tsr_route_arrival(r->availability, c, home, to, 0);
  source.forwarder = forwarder_of(r, c, home, to, &source.when);
  return source;
}

tsr_source tsr_source_by_arrival(const tsr_routes *r, const tsr_transfer *c, int index,
                                 uint32_t holders, int to) {
  int home = r->problem->call->operand[c->matrix].location;
  tsr_source best = {home, 0, INFINITY, true, TSR_NOTHING};
  if (!is_hidden(r, holders, home, to)) best = tsr_source_home(r, c, to);
  bool relayed = false;
  for (int d = 0; d < r->problem->devices; d++) {
    if (!(holders >> d & 1)) continue;
    const tsr_piece *piece = tsr_piece_at(r->copies, c->matrix, c->tile, d, index);
    float ready = piece->eta + handing_on(r, c, index, d, to);
    float when = tsr_route_arrival(r->availability, c, d, to, ready), slack = slack_of(r, c, d, to);
    bool preferred = is_preferred(r, d, home, to);
    bool sooner = when < best.when - (relayed ? slack : 0);
    bool idler = relayed && when <= best.when + slack && r->sent[d] < r->sent[best.location];
    if (sooner || idler || (preferred && !relayed))
      best = (tsr_source){d, ready, when, false, TSR_NOTHING};
    relayed |= preferred;
  }
  return best;
}

/* ---- Sending ---------------------------------------------------------------- */

static bool send_piece(tsr_routes *r, const tsr_transfer *c, int index, tsr_source from, int to) {
  tsr_end begin = tsr_end_home(r->problem, c->matrix);
  if (from.home) {
    tsr_move_wait_for_write_back(r->mover, c);
  } else {
    const tsr_piece *piece = tsr_piece_at(r->copies, c->matrix, c->tile, from.location, index);
    begin = tsr_end_at(r->copies, c->matrix, c->tile, from.location, piece->command);
  }
  tsr_end stop = tsr_end_at(r->copies, c->matrix, c->tile, to, TSR_NOTHING);
  int32_t command = from.forwarder != TSR_NOTHING
                        ? tsr_move_by(r->mover, c, &begin, from.forwarder, &stop)
                        : tsr_move(r->mover, c, &begin, &stop);
  if (command == TSR_NOTHING) return false;
  if (from.forwarder != TSR_NOTHING)
    tsr_forwarders_occupy(r->availability, c, from.location, from.forwarder, to, from.when);
  else
    tsr_route_occupy(r->availability, c, from.location, to, from.ready, from.when);
  r->sent[from.location] += c->bytes;
  *tsr_piece_at(r->copies, c->matrix, c->tile, to, index) = (tsr_piece){command, from.when};
  return true;
}

/* The devices that have the piece, or to which a copy of it is planned, as bits. */
static uint32_t holders_of(const tsr_routes *r, const tsr_transfer *c, int index) {
  uint32_t holders = 0;
  for (int d = 0; d < r->problem->devices; d++) {
    const tsr_piece *piece = tsr_piece_at(r->copies, c->matrix, c->tile, d, index);
    bool whole = piece && piece->command != TSR_NOTHING && piece->command != TSR_GATHERED;
    if (whole) holders |= 1u << d;
  }
  return holders;
}

/* The devices that are sent the piece now, as bits: the device that needs it and all relays that
 * will. With slots, only those that have a slot for its tile. */
static uint32_t receivers_of(const tsr_routes *r, const tsr_transfer *c, int device,
                             uint32_t holders) {
  uint32_t wanted = 1u << device;
  if (c->matrix < TSR_C_)
    wanted |= r->copies->readers[c->matrix][c->tile] & r->problem->options->policy.relays;
  wanted &= ~holders;
  for (int d = 0; d < r->problem->devices; d++) {
    if (!(wanted >> d & 1) || d == device) continue;
    tsr_tile_copy *copy = tsr_copy_of(r->copies, c->matrix, c->tile, d);
    if (tsr_is_at_home(r->problem, c->matrix, d) ||
        tsr_tile_slots_are_converted(r->slots, c->matrix, c->row, c->col, d) ||
        (r->slots->in_use && !tsr_tile_slots_can_prefetch(r->slots, copy, d)))
      wanted &= ~(1u << d);
  }
  return wanted;
}

/* The receiver with the earliest arrival. If the host's memory, which all receivers share, decides
 * when a piece arrives, arrivals are equal however loaded the receivers' own links are: then the
 * one with the least load gets the piece. If these are equal, too, and where the home is a device,
 * receivers rotate with the piece's index, which spreads the pieces evenly. */
static int first_receiver(const tsr_routes *r, const tsr_transfer *c, int index, uint32_t holders,
                          uint32_t wanted, tsr_source *from) {
  const tsr_policy *policy = &r->problem->options->policy;
  int best = TSR_NOTHING, devices = r->problem->devices;
  float least = INFINITY;
  for (int i = 0; i < devices; i++) {
    int d = (i + index) % devices;
    if (!(wanted >> d & 1)) continue;
    tsr_source candidate = policy->choose(r, c, index, holders & policy->senders, d);
    float slack = slack_of(r, c, candidate.location, d);
    float load = tsr_link_load(r->availability, candidate.location, d);
    bool sooner = best == TSR_NOTHING || candidate.when < from->when - slack;
    bool idler = !sooner && candidate.home && tsr_on_host(r->problem, candidate.location) &&
                 candidate.when <= from->when + slack && load < least - slack;
    if (!sooner && !idler) continue;
    best = d;
    least = load;
    *from = candidate;
  }
  return best;
}

static bool is_in_cached_blocks(const tsr_routes *r, const tsr_transfer *c) {
  return tsr_has_cached_blocks(r->problem, c->matrix) &&
         tsr_cached_blocks_have_part(r->blocks, c->matrix, tsr_transfer_rect(c));
}

/* Sends a piece to all receivers; each is a source for the next. */
static bool broadcast(tsr_routes *r, const tsr_transfer *c, int index, int count, int device) {
  uint32_t holders = holders_of(r, c, index);
  if (!holders && is_in_cached_blocks(r, c)) return tsr_route_gather_piece(r, c, index, device);
  uint32_t wanted = receivers_of(r, c, device, holders);
  for (int d = 0; d < r->problem->devices; d++)
    if (wanted >> d & 1 && !tsr_places_open(r->places, c->matrix, c->tile, d, count)) return false;
  while (wanted) {
    tsr_source from = {.location = TSR_NOTHING};
    int to = first_receiver(r, c, index, holders, wanted, &from);
    if (!isfinite(from.when) || !send_piece(r, c, index, from, to)) return false;
    holders |= 1u << to;
    wanted &= ~(1u << to);
  }
  return true;
}

bool tsr_route_fetch(tsr_routes *r, const tsr_task_operand *o, int device) {
  tsr_tile_copy *copy = tsr_copy_of(r->copies, o->matrix, o->tile, device);
  if (copy->whole) return true;
  tsr_piece_range p = tsr_pieces_of(r->problem, o);
  if (!tsr_places_open(r->places, o->matrix, o->tile, device, p.count)) return false;
  for (int col = p.c0; col < p.c1; col++)
    for (int row = p.r0; row < p.r1; row++) {
      int index = col * p.down + row;
      if (tsr_piece_at(r->copies, o->matrix, o->tile, device, index)->command != TSR_NOTHING)
        continue;
      tsr_transfer load = tsr_transfer_of(r->problem, o, &p, row, col);
      if (!broadcast(r, &load, index, p.count, device)) return false;
    }
  copy->whole = tsr_pieces_are_all(&p);
  return true;
}
