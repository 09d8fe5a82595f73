/* Fetching: where each piece comes from, and to whom it is sent at once. */
#include <math.h>

#include "plan/schedule/route.h"

/* ---- Sources ---------------------------------------------------------------- */

/* A candidate source of a piece. */
typedef struct source {
  int location; /* TSR_NOTHING: none */
  float ready, when;
  bool home;
} source;

/* Bandwidth-based routing (Uncut-GEMMs, III-D 1): the load of links does not count. */
static source fastest_source(tsr_scheduler *s, const tsr_cargo *c, int index, source home,
                             uint32_t holders, int to) {
  source best = home;
  double rate = tsr_route_bandwidth(s, home.location, to);
  for (int d = 0; d < s->devices; d++) {
    if (!(holders >> d & 1) || tsr_route_bandwidth(s, d, to) <= rate) continue;
    float ready = tsr_piece_at(s, c->matrix, c->tile, d, index)->eta;
    best = (source){d, ready, tsr_route_arrival(s, c, d, to, ready), false};
    rate = tsr_route_bandwidth(s, d, to);
  }
  return best;
}

static bool home_is_current(tsr_scheduler *s, const tsr_cargo *c) {
  return !tsr_has_rooms(s, c->matrix) || tsr_rooms_home_is_current(s, c->matrix, tsr_cargo_rect(c));
}

/* Arrivals that differ by less are as good as the same: a part of what the transfer takes. Links
 * that are alike are never measured quite alike, and the one that came out best must not get
 * everything. */
static float slack_of(const tsr_scheduler *s, const tsr_cargo *c, int from, int to) {
  static const double part = 0.1;
  double rate = tsr_route_bandwidth(s, from, to);
  return rate > 0 ? (float)(part * c->bytes / rate) : 0;
}

/* A piece that a device has from another one, not from the host, is handed on: the next copy waits
 * for another device's, and everything behind it in its queue waits with it. Where the first holder
 * can send in reasonable time it should. */
static float handing_on(tsr_scheduler *s, const tsr_cargo *c, int index, int from, int to) {
  int32_t command = tsr_piece_at(s, c->matrix, c->tile, from, index)->command;
  bool host = tsr_on_host(s, s->call->operand[c->matrix].location);
  if (command < 0 || !host) return 0;
  int queue = s->plan->commands.items[command].queue;
  if (s->plan->queue[queue].role != TSR_QUEUE_PEER) return 0;
  return (float)(TSR_HAND_OVER + 2 * c->bytes / tsr_route_bandwidth(s, from, to));
}

/* The first holder that is looked at takes the home's place if its link is as fast: then it need
 * not be known when the piece would come from home. */
static bool is_hidden(const tsr_scheduler *s, uint32_t holders, int home, int to) {
  int first = 0;
  if (!holders || !s->options->relay || s->options->routing != TSR_ROUTE_ETA) return false;
  while (!(holders >> first & 1)) first++;
  return s->machine->link[first][to].bandwidth >= s->machine->link[home][to].bandwidth;
}

/* The best source of a piece for a receiver: the least arrival, and of those as good the one that
 * has sent least; but the home only when no device that has the piece has a link that is as fast.
 */
static source find_source(tsr_scheduler *s, const tsr_cargo *c, int index, uint32_t holders,
                          int to) {
  int home = s->call->operand[c->matrix].location;
  double home_rate = s->machine->link[home][to].bandwidth;
  source best = {home, 0, INFINITY, true};
  if (!is_hidden(s, holders, home, to) && home_is_current(s, c))
    best.when = tsr_route_arrival(s, c, home, to, 0);
  if (s->options->routing == TSR_ROUTE_HOME) return best;
  if (s->options->routing == TSR_ROUTE_BANDWIDTH)
    return fastest_source(s, c, index, best, holders, to);
  bool relayed = false;
  for (int d = 0; d < s->devices; d++) {
    if (!(holders >> d & 1)) continue;
    const tsr_piece *piece = tsr_piece_at(s, c->matrix, c->tile, d, index);
    float ready = piece->eta + handing_on(s, c, index, d, to);
    float when = tsr_route_arrival(s, c, d, to, ready), slack = slack_of(s, c, d, to);
    bool as_fast = s->options->relay && s->machine->link[d][to].bandwidth >= home_rate;
    bool sooner = when < best.when - (relayed ? slack : 0);
    bool idler = relayed && when <= best.when + slack && s->sent[d] < s->sent[best.location];
    if (sooner || idler || (as_fast && !relayed)) best = (source){d, ready, when, false};
    relayed |= as_fast;
  }
  return best;
}

/* ---- Sending ---------------------------------------------------------------- */

static bool send_piece(tsr_scheduler *s, const tsr_cargo *c, int index, source from, int to) {
  tsr_end begin = {from.location, c->matrix, NULL, TSR_NOTHING};
  if (from.home)
    tsr_wait_for_home(s, c);
  else
    begin = tsr_end_at(s, c, from.location,
                       tsr_piece_at(s, c->matrix, c->tile, from.location, index)->command);
  tsr_end stop = tsr_end_at(s, c, to, TSR_NOTHING);
  int32_t command = tsr_move(s, c, &begin, &stop);
  if (command == TSR_NOTHING) return false;
  tsr_route_occupy(s, c, from.location, to, from.ready, from.when);
  s->sent[from.location] += c->bytes;
  *tsr_piece_at(s, c->matrix, c->tile, to, index) = (tsr_piece){command, from.when};
  return true;
}

/* The devices that have, or are sent, the piece. */
static uint32_t holders_of(tsr_scheduler *s, const tsr_cargo *c, int index) {
  uint32_t holders = 0;
  for (int d = 0; d < s->devices; d++) {
    const tsr_piece *piece = tsr_piece_at(s, c->matrix, c->tile, d, index);
    bool whole = piece && piece->command != TSR_NOTHING && piece->command != TSR_GATHERED;
    if (whole) holders |= 1u << d;
  }
  return holders;
}

/* Who is sent the piece now: the device that needs it, and with it all others that will. With slots
 * those only that have room for it. */
static uint32_t receivers_of(tsr_scheduler *s, const tsr_cargo *c, int device, uint32_t holders) {
  uint32_t wanted = 1u << device;
  if (c->matrix < TSR_C_ && s->options->relay) wanted |= s->readers[c->matrix][c->tile];
  wanted &= ~holders;
  for (int d = 0; d < s->devices; d++) {
    if (!(wanted >> d & 1) || d == device) continue;
    tsr_tile_copy *copy = tsr_copy_of(s, c->matrix, c->tile, d);
    if (tsr_is_at_home(s, c->matrix, d) || (s->slots && !tsr_slots_welcome(s, copy, d)))
      wanted &= ~(1u << d);
  }
  return wanted;
}

/* The receiver that can have the piece first; ties go round, so that the pieces are dealt evenly.
 */
static int first_receiver(tsr_scheduler *s, const tsr_cargo *c, int index, uint32_t holders,
                          uint32_t wanted, source *from) {
  int best = TSR_NOTHING;
  for (int i = 0; i < s->devices; i++) {
    int d = (i + index) % s->devices;
    if (!(wanted >> d & 1)) continue;
    source candidate = find_source(s, c, index, holders, d);
    float slack = slack_of(s, c, candidate.location, d);
    if (best != TSR_NOTHING && candidate.when >= from->when - slack) continue;
    best = d;
    *from = candidate;
  }
  return best;
}

/* Sends a piece to everyone who wants it; each receiver is a source for the next. */
static bool broadcast(tsr_scheduler *s, const tsr_cargo *c, int index, int count, int device) {
  uint32_t holders = holders_of(s, c, index);
  if (!holders && tsr_route_is_in_rooms(s, c)) return tsr_route_gather_piece(s, c, index, device);
  uint32_t wanted = receivers_of(s, c, device, holders);
  for (int d = 0; d < s->devices; d++)
    if (wanted >> d & 1 && !tsr_open_copy(s, c->matrix, c->tile, d, count)) return false;
  while (wanted) {
    source from = {.location = TSR_NOTHING};
    int to = first_receiver(s, c, index, holders, wanted, &from);
    if (!isfinite(from.when) || !send_piece(s, c, index, from, to)) return false;
    holders |= 1u << to;
    wanted &= ~(1u << to);
  }
  return true;
}

bool tsr_route_fetch(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (tsr_copy_of(s, o->matrix, o->tile, device)->whole) return true;
  tsr_piece_range p = tsr_pieces_of(s, o);
  if (!tsr_open_copy(s, o->matrix, o->tile, device, p.count)) return false;
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      int index = c * p.down + r;
      if (tsr_piece_at(s, o->matrix, o->tile, device, index)->command != TSR_NOTHING) continue;
      tsr_cargo load = tsr_cargo_of(s, o, &p, r, c);
      if (!broadcast(s, &load, index, p.count, device)) return false;
    }
  bool all = (p.r1 - p.r0) * (p.c1 - p.c0) == p.count;
  tsr_copy_of(s, o->matrix, o->tile, device)->whole = all;
  return true;
}
