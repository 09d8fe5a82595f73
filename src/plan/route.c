/*
 * Routes: where each piece of a tile comes from, over which links, in which order.
 *
 * The estimate is the link availability matrix of Uncut-GEMMs (section III-D), with two changes:
 * links are accounted with the channels that they share, and once a device has a piece the others
 * take it from devices, not from its home again, wherever that link is no slower. So on a machine
 * whose devices reach each other no byte of A or B crosses the host's link twice, and the pieces
 * are dealt over all devices' host links by themselves, since the first receiver is the one whose
 * link is free first. Receivers that take a piece from each other are a pipelined broadcast
 * (III-E).
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/queue.h"
#include "plan/schedule.h"

/* Whether a channel that all links from a device to others use has room for hardly more than one of
 * them at a time. */
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
        crowded |= link->bandwidth * (double)uses->seconds[i] > 1 / 1.5;
      }
      all &= used;
    }
    if (all && crowded) return true;
  }
  return false;
}

tsr_status tsr_route_init(tsr_scheduler *s) {
  TSR_TRY(tsr_links_create(s->machine, &s->links));
  for (int d = 0; d < s->devices; d++) s->one_port[d] = has_one_port(s->machine, &s->links, d);
  size_t links = (size_t)s->links.locations * (size_t)s->links.locations;
  s->link_free = tsr_alloc_zero(links, sizeof *s->link_free);
  s->channel_free = tsr_alloc_zero((size_t)s->machine->channels + 1, sizeof *s->channel_free);
  if (!s->link_free || !s->channel_free)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  for (size_t i = 0; i < links && s->options->ignore_channels; i++) s->links.uses[i].count = 0;
  return TSR_OK;
}

void tsr_route_free(tsr_scheduler *s) {
  tsr_dealloc(s->link_free);
  tsr_links_free(&s->links);
  tsr_dealloc(s->channel_free);
}

static float *link_free(const tsr_scheduler *s, int from, int to) {
  return &s->link_free[(size_t)from * (size_t)s->links.locations + (size_t)to];
}

/* ---- The link availability matrix ----------------------------------------- */

/* When bytes that are at `from` at time ready would be at `to`. */
static float arrival(const tsr_scheduler *s, int from, int to, double bytes, double segment,
                     float ready) {
  const tsr_link *link = &s->machine->link[from][to];
  double rate = tsr_link_rate(link, segment);
  if (rate <= 0) return INFINITY;
  float start = fmaxf(ready, *link_free(s, from, to));
  float end = start + (float)(bytes / rate);
  const tsr_link_uses *uses = tsr_links_of(&s->links, from, to);
  for (int i = 0; i < uses->count; i++) {
    float busy = fmaxf(ready, s->channel_free[uses->channel[i]]);
    end = fmaxf(end, busy + (float)bytes * uses->seconds[i]);
  }
  return end;
}

static void occupy(tsr_scheduler *s, int from, int to, double bytes, float ready, float end) {
  *link_free(s, from, to) = end;
  const tsr_link_uses *uses = tsr_links_of(&s->links, from, to);
  for (int i = 0; i < uses->count; i++) {
    float *busy = &s->channel_free[uses->channel[i]];
    *busy = fmaxf(ready, *busy) + (float)bytes * uses->seconds[i];
  }
}

/* ---- Pieces --------------------------------------------------------------- */

void tsr_piece_shape(int64_t rows, int64_t cols, size_t size, int64_t bytes, int64_t *piece_rows,
                     int64_t *piece_cols) {
  int64_t room = bytes / (int64_t)size;
  if (room < 1) room = 1;
  *piece_rows = rows < room ? rows : room;
  int64_t fit = room / (rows ? rows : 1);
  if (fit < 1) fit = 1;
  int64_t parts = (cols + fit - 1) / fit;
  *piece_cols = parts > 1 ? (cols + parts - 1) / parts : cols;
}

/* A rectangle of a matrix on its way. */
typedef struct cargo {
  int matrix;
  int32_t tile;
  int64_t row, col, rows, cols;
  double bytes, segment;
  tsr_uplo uplo; /* on its way home: a triangle only; 0: all of it */
} cargo;

/* The pieces of a tile and those of them that a rectangle touches. */
typedef struct piece_range {
  int64_t row, col, rows, cols; /* of the tile */
  int64_t piece_rows, piece_cols;
  int down;           /* pieces in a column */
  int r0, r1, c0, c1; /* touched: r0..r1-1, c0..c1-1 */
  int count;          /* of the tile */
} piece_range;

/* An extent, or the most that a copy may have of it (0: no limit). */
static int64_t limited(int64_t extent, int64_t most) {
  return most > 0 && most < extent ? most : extent;
}

/* Cuts the rectangle of p, which is set, into pieces; most_rows and most_cols as in `limited`. */
static void cut(const tsr_scheduler *s, int matrix, int64_t most_rows, int64_t most_cols,
                piece_range *p) {
  tsr_piece_shape(limited(p->rows, most_rows), limited(p->cols, most_cols), s->size[matrix],
                  s->options->piece, &p->piece_rows, &p->piece_cols);
  p->down = (int)((p->rows + p->piece_rows - 1) / p->piece_rows);
  p->count = p->down * (int)((p->cols + p->piece_cols - 1) / p->piece_cols);
}

static piece_range pieces_of(const tsr_scheduler *s, const tsr_task_operand *o) {
  const tsr_tile_grid *grid = &s->graph->grid[o->matrix];
  int i = o->tile / grid->cols.count, j = o->tile % grid->cols.count;
  piece_range p = {.row = grid->rows.at[i], .col = grid->cols.at[j]};
  p.rows = grid->rows.at[i + 1] - p.row;
  p.cols = grid->cols.at[j + 1] - p.col;
  cut(s, o->matrix, grid->piece_rows, grid->piece_cols, &p);
  p.r0 = (int)((o->row - p.row) / p.piece_rows);
  p.r1 = (int)((o->row + o->rows - p.row + p.piece_rows - 1) / p.piece_rows);
  p.c0 = (int)((o->col - p.col) / p.piece_cols);
  p.c1 = (int)((o->col + o->cols - p.col + p.piece_cols - 1) / p.piece_cols);
  return p;
}

/* The pieces of the rectangle itself, whatever the tile around it is cut into. */
static piece_range pieces_alone(const tsr_scheduler *s, const tsr_task_operand *o) {
  piece_range p = {.row = o->row, .col = o->col, .rows = o->rows, .cols = o->cols};
  cut(s, o->matrix, 0, 0, &p);
  p.r1 = p.down;
  p.c1 = p.count / p.down;
  return p;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static void weigh(const tsr_scheduler *s, cargo *c) {
  size_t size = s->size[c->matrix];
  c->bytes = (double)c->rows * (double)c->cols * (double)size;
  bool whole = c->matrix < TSR_OPERANDS && s->call->operand[c->matrix].ld == c->rows;
  bool contiguous = whole && tsr_memory_ld(c->rows, size) == c->rows;
  c->segment = contiguous ? c->bytes : (double)c->rows * (double)size;
}

static cargo cargo_of(const tsr_scheduler *s, const tsr_task_operand *o, const piece_range *p,
                      int r, int c) {
  cargo load = {.matrix = o->matrix, .tile = o->tile};
  load.row = p->row + r * p->piece_rows;
  load.col = p->col + c * p->piece_cols;
  load.rows = smaller(p->piece_rows, p->row + p->rows - load.row);
  load.cols = smaller(p->piece_cols, p->col + p->cols - load.col);
  weigh(s, &load);
  return load;
}

static tsr_rect rect_of(const cargo *c) {
  return tsr_rect_make(c->row, c->col, c->rows, c->cols);
}

/* All of a tile as an operand. */
static tsr_task_operand whole_tile(const tsr_scheduler *s, int matrix, int32_t tile) {
  const tsr_tile_grid *grid = &s->graph->grid[matrix];
  int i = tile / grid->cols.count, j = tile % grid->cols.count;
  tsr_task_operand o = {.matrix = (uint8_t)matrix, .tile = tile};
  o.row = grid->rows.at[i];
  o.col = grid->cols.at[j];
  o.rows = (int32_t)(grid->rows.at[i + 1] - o.row);
  o.cols = (int32_t)(grid->cols.at[j + 1] - o.col);
  return o;
}

/* What the tile's room holds from the start need not come. */
static void mark_present(tsr_scheduler *s, int matrix, int32_t tile, const tsr_tile_copy *copy) {
  const tsr_room *room = tsr_rooms_of(s, copy);
  tsr_task_operand o = whole_tile(s, matrix, tile);
  piece_range p = pieces_of(s, &o);
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      cargo piece = cargo_of(s, &o, &p, r, c);
      if (tsr_rects_covers(&room->valid, rect_of(&piece)))
        s->pieces.items[copy->pieces + c * p.down + r].command = TSR_PRESENT;
    }
}

/* Room for the tile at the device, and a record for each of its pieces. */
static bool open_copy(tsr_scheduler *s, int matrix, int32_t tile, int device, int count) {
  if (!tsr_memory_place(s, matrix, tile, device)) return false;
  tsr_tile_copy *copy = tsr_copy_of(s, matrix, tile, device);
  if (copy->pieces != TSR_NOTHING) return true;
  copy->pieces = (int32_t)s->pieces.count;
  if (!TSR_VEC_RESERVE(&s->pieces, (size_t)count)) return false;
  for (int i = 0; i < count; i++) s->pieces.items[s->pieces.count++] = (tsr_piece){TSR_NOTHING, 0};
  if (tsr_has_rooms(s, matrix)) mark_present(s, matrix, tile, copy);
  return true;
}

/* The record of a piece at a device; NULL if nothing was asked for there. */
static tsr_piece *piece_at(tsr_scheduler *s, int matrix, int32_t tile, int device, int index) {
  tsr_tile_copy *copy = tsr_copy_of(s, matrix, tile, device);
  return copy->pieces == TSR_NOTHING ? NULL : &s->pieces.items[copy->pieces + index];
}

/* ---- Moving --------------------------------------------------------------- */

/* One end of a move. */
typedef struct end {
  int location;
  int32_t buffer;
  tsr_tile_copy *copy; /* NULL at home */
  int32_t after;       /* command that must be over before the end may be used, or TSR_NOTHING */
} end;

static uint8_t form_of(tsr_uplo uplo) {
  return tsr_form_pack((tsr_form){.uplo = uplo});
}

static int32_t copy_command(tsr_scheduler *s, int queue, const cargo *c, int32_t from, int32_t to) {
  return tsr_commands_add(s, (tsr_command){.kind = TSR_COMMAND_COPY,
                                           .queue = (uint16_t)queue,
                                           .form = to == c->matrix ? form_of(c->uplo) : 0,
                                           .row = {c->row},
                                           .col = {c->col},
                                           .m = (int32_t)c->rows,
                                           .n = (int32_t)c->cols,
                                           .buffer = {from, to, TSR_NO_BUFFER}});
}

static void wait_for_end(tsr_scheduler *s, const end *e) {
  tsr_commands_wait(s, e->after);
  if (e->copy) tsr_commands_wait_marks(s, e->copy->before);
}

static bool use_end(tsr_scheduler *s, const end *e, int32_t command) {
  return command != TSR_NOTHING && (!e->copy || tsr_memory_use(s, e->copy, command));
}

static bool on_host(const tsr_scheduler *s, int location) {
  return location >= s->devices;
}

/* Whether a device can copy the rectangle straight from, or to, the user's host memory. */
static bool is_pinned(const tsr_scheduler *s, const cargo *c) {
  const tsr_operand *o = &s->call->operand[c->matrix];
  if (o->memory == TSR_PINNED) return true;
  if (o->memory == TSR_MANAGED) return false;
  int64_t size = (int64_t)s->size[c->matrix];
  int64_t begin = (c->col * o->ld + c->row) * size;
  int64_t stop = ((c->col + c->cols - 1) * o->ld + c->row + c->rows) * size;
  return o->pinned_begin <= begin && stop <= o->pinned_end;
}

static int next_lane(tsr_scheduler *s, int node) {
  int lane = s->next_lane++ % s->lanes;
  return tsr_commands_queue(s, node, TSR_QUEUE_LANE, lane);
}

/* One hop on the queue that serves it. */
static int32_t hop(tsr_scheduler *s, const cargo *c, int queue, const end *from, const end *to) {
  wait_for_end(s, from);
  wait_for_end(s, to);
  int32_t command = copy_command(s, queue, c, from->buffer, to->buffer);
  if (!use_end(s, from, command) || !use_end(s, to, command)) return TSR_NOTHING;
  return command;
}

/* Two hops by way of the pinned ring; first and second are the queues that serve them. */
static int32_t staged(tsr_scheduler *s, const cargo *c, int first, int second, const end *from,
                      const end *to) {
  int32_t buffer = tsr_memory_stage(s, c->matrix, c->row, c->col, c->rows, c->cols);
  if (buffer == TSR_NOTHING) return TSR_NOTHING;
  end ring = {s->host, buffer, NULL, TSR_NOTHING};
  ring.after = hop(s, c, first, from, &ring);
  if (ring.after == TSR_NOTHING) return TSR_NOTHING;
  int32_t command = hop(s, c, second, &ring, to);
  if (command != TSR_NOTHING) tsr_memory_staged(s, buffer, command);
  return command;
}

static int queue_out(tsr_scheduler *s, int device) {
  return tsr_commands_queue(s, device, TSR_QUEUE_OUT, 0);
}

static int queue_in(tsr_scheduler *s, int device) {
  return tsr_commands_queue(s, device, TSR_QUEUE_IN, 0);
}

static int queue_peer(tsr_scheduler *s, int from, int to) {
  return tsr_commands_queue(s, from, TSR_QUEUE_PEER, s->one_port[from] ? TSR_ANY_PEER : to);
}

/* The command that completes the move, or TSR_NOTHING. */
static int32_t move(tsr_scheduler *s, const cargo *c, const end *from, const end *to) {
  if (on_host(s, from->location)) {
    if (is_pinned(s, c)) return hop(s, c, queue_in(s, to->location), from, to);
    return staged(s, c, next_lane(s, from->location), queue_in(s, to->location), from, to);
  }
  if (on_host(s, to->location)) {
    if (is_pinned(s, c)) return hop(s, c, queue_out(s, from->location), from, to);
    return staged(s, c, queue_out(s, from->location), next_lane(s, to->location), from, to);
  }
  bool inside = from->location == to->location;
  if (inside || s->machine->link[from->location][to->location].bandwidth > 0)
    return hop(s, c, queue_peer(s, from->location, to->location), from, to);
  return staged(s, c, queue_out(s, from->location), queue_in(s, to->location), from, to);
}

/* ---- Fetching ------------------------------------------------------------- */

/* Estimated arrival over one link, or, between devices that do not reach each other, two. */
static float route_arrival(const tsr_scheduler *s, const cargo *c, int from, int to, float ready) {
  if (from == to) return ready + (float)(2 * c->bytes / s->machine->device[to].memory_rate);
  double segment = on_host(s, from) ? c->segment : c->bytes;
  float direct = arrival(s, from, to, c->bytes, segment, ready);
  if (isfinite(direct) || on_host(s, from)) return direct;
  return arrival(s, s->host, to, c->bytes, segment,
                 arrival(s, from, s->host, c->bytes, segment, ready));
}

static void route_occupy(tsr_scheduler *s, const cargo *c, int from, int to, float ready,
                         float when) {
  if (from == to) return;
  if (s->machine->link[from][to].bandwidth > 0) {
    occupy(s, from, to, c->bytes, ready, when);
    return;
  }
  float at_host = arrival(s, from, s->host, c->bytes, c->bytes, ready);
  occupy(s, from, s->host, c->bytes, ready, at_host);
  occupy(s, s->host, to, c->bytes, at_host, when);
}

/* A candidate source of a piece. */
typedef struct source {
  int location; /* TSR_NOTHING: none */
  float ready, when;
  bool home;
} source;

/* Of the link, or of the slower one of two by way of the host. */
static double route_bandwidth(const tsr_scheduler *s, int from, int to) {
  double direct = s->machine->link[from][to].bandwidth;
  if (direct > 0 || on_host(s, from)) return direct;
  return fmin(s->machine->link[from][s->host].bandwidth, s->machine->link[s->host][to].bandwidth);
}

/* Bandwidth-based routing (Uncut-GEMMs, III-D 1): the load of links does not count. */
static source fastest_source(tsr_scheduler *s, const cargo *c, int index, source home,
                             uint32_t holders, int to) {
  source best = home;
  double rate = route_bandwidth(s, home.location, to);
  for (int d = 0; d < s->devices; d++) {
    if (!(holders >> d & 1) || route_bandwidth(s, d, to) <= rate) continue;
    float ready = piece_at(s, c->matrix, c->tile, d, index)->eta;
    best = (source){d, ready, route_arrival(s, c, d, to, ready), false};
    rate = route_bandwidth(s, d, to);
  }
  return best;
}

static bool home_is_current(const tsr_scheduler *s, const cargo *c) {
  return !tsr_has_rooms(s, c->matrix) ||
         tsr_residency_home_is_current(s->plan->after, c->matrix, rect_of(c));
}

/* Arrivals that differ by less are as good as the same: a part of what the transfer takes. Links
 * that are alike are never measured quite alike, and the one that came out best must not get
 * everything. */
static float slack_of(const tsr_scheduler *s, const cargo *c, int from, int to) {
  static const double part = 0.1;
  double rate = route_bandwidth(s, from, to);
  return rate > 0 ? (float)(part * c->bytes / rate) : 0;
}

/* A piece that a device has from another one, not from the host, is handed on: the next copy waits
 * for another device's, and everything behind it in its queue waits with it. Where the first holder
 * can send in reasonable time it should. */
static float handing_on(tsr_scheduler *s, const cargo *c, int index, int from, int to) {
  int32_t command = piece_at(s, c->matrix, c->tile, from, index)->command;
  bool host = on_host(s, s->call->operand[c->matrix].location);
  if (command < 0 || !host) return 0;
  int queue = s->plan->commands.items[command].queue;
  if (s->plan->queue[queue].role != TSR_QUEUE_PEER) return 0;
  return (float)(TSR_HAND_OVER + 2 * c->bytes / route_bandwidth(s, from, to));
}

/* The best source of a piece for a receiver: the least arrival, and of those as good the one that
 * has sent least; but the home only when no device that has the piece has a link that is as fast.
 */
static source find_source(tsr_scheduler *s, const cargo *c, int index, uint32_t holders, int to) {
  int home = s->call->operand[c->matrix].location;
  source best = {home, 0, route_arrival(s, c, home, to, 0), true};
  if (!home_is_current(s, c)) best.when = INFINITY;
  if (s->options->routing == TSR_ROUTE_HOME) return best;
  if (s->options->routing == TSR_ROUTE_BANDWIDTH)
    return fastest_source(s, c, index, best, holders, to);
  double home_rate = s->machine->link[home][to].bandwidth;
  bool relayed = false;
  for (int d = 0; d < s->devices; d++) {
    if (!(holders >> d & 1)) continue;
    const tsr_piece *piece = piece_at(s, c->matrix, c->tile, d, index);
    float ready = piece->eta + handing_on(s, c, index, d, to);
    float when = route_arrival(s, c, d, to, ready), slack = slack_of(s, c, d, to);
    bool as_fast = s->options->relay && s->machine->link[d][to].bandwidth >= home_rate;
    bool sooner = when < best.when - (relayed ? slack : 0);
    bool idler = relayed && when <= best.when + slack && s->sent[d] < s->sent[best.location];
    if (sooner || idler || (as_fast && !relayed)) best = (source){d, ready, when, false};
    relayed |= as_fast;
  }
  return best;
}

static end end_at(tsr_scheduler *s, const cargo *c, int location, int32_t after) {
  tsr_tile_copy *copy = tsr_copy_of(s, c->matrix, c->tile, location);
  return (end){location, copy->buffer, copy, after};
}

/* What was brought home, made room for and is wanted again comes from there, but not too early. */
static void wait_for_home(tsr_scheduler *s, const cargo *c) {
  if (c->matrix != TSR_C_) return;
  for (int32_t i = s->brought[c->tile]; i != TSR_NOTHING; i = s->marks.items[i].next)
    tsr_commands_wait(s, s->marks.items[i].command);
}

static bool note_brought(tsr_scheduler *s, const cargo *c, int32_t command) {
  if (!s->slots || c->matrix != TSR_C_) return true;
  return tsr_mark_push(s, &s->brought[c->tile], (tsr_mark){.command = command});
}

static bool send_piece(tsr_scheduler *s, const cargo *c, int index, source from, int to) {
  end begin = {from.location, c->matrix, NULL, TSR_NOTHING};
  if (from.home)
    wait_for_home(s, c);
  else
    begin =
        end_at(s, c, from.location, piece_at(s, c->matrix, c->tile, from.location, index)->command);
  end stop = end_at(s, c, to, TSR_NOTHING);
  int32_t command = move(s, c, &begin, &stop);
  if (command == TSR_NOTHING) return false;
  route_occupy(s, c, from.location, to, from.ready, from.when);
  s->sent[from.location] += c->bytes;
  *piece_at(s, c->matrix, c->tile, to, index) = (tsr_piece){command, from.when};
  return true;
}

/* The devices that have, or are sent, the piece. */
static uint32_t holders_of(tsr_scheduler *s, const cargo *c, int index) {
  uint32_t holders = 0;
  for (int d = 0; d < s->devices; d++) {
    const tsr_piece *piece = piece_at(s, c->matrix, c->tile, d, index);
    bool whole = piece && piece->command != TSR_NOTHING && piece->command != TSR_GATHERED;
    if (whole) holders |= 1u << d;
  }
  return holders;
}

/* Who is sent the piece now: the device that needs it, and with it all others that will. With
 * slots, room for the others might push out what they need sooner. */
static uint32_t receivers_of(const tsr_scheduler *s, const cargo *c, int device, uint32_t holders) {
  uint32_t wanted = 1u << device;
  if (c->matrix < TSR_C_ && !s->slots && s->options->relay)
    wanted |= s->readers[c->matrix][c->tile];
  for (int d = 0; d < s->devices; d++)
    if (tsr_is_at_home(s, c->matrix, d)) wanted &= ~(1u << d);
  return wanted & ~holders;
}

/* The receiver that can have the piece first; ties go round, so that the pieces are dealt evenly.
 */
static int first_receiver(tsr_scheduler *s, const cargo *c, int index, uint32_t holders,
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

/* Some room, of whatever extent, holds a part of it. */
static bool is_in_rooms(const tsr_scheduler *s, const cargo *c) {
  if (!tsr_has_rooms(s, c->matrix)) return false;
  const tsr_residency *before = s->options->residency;
  for (size_t i = 0; i < before->rooms.count; i++)
    if (before->rooms.items[i].matrix == c->matrix &&
        tsr_rects_meets(&before->rooms.items[i].valid, rect_of(c)))
      return true;
  return false;
}

static bool bring_piece_of_part(tsr_scheduler *s, const cargo *load, end from, int device) {
  tsr_tile_copy *copy = tsr_copy_of(s, load->matrix, load->tile, device);
  end to = {device, copy->buffer, NULL, TSR_NOTHING};
  float when = route_arrival(s, load, from.location, device, 0);
  int32_t command = move(s, load, &from, &to);
  tsr_mark mark = {load->row, load->rows, load->col, load->cols, command, TSR_NOTHING};
  if (command == TSR_NOTHING || !tsr_mark_push(s, &copy->writers, mark)) return false;
  if (isfinite(when)) route_occupy(s, load, from.location, device, 0, when);
  return true;
}

static tsr_task_operand operand_of(int matrix, int32_t tile, tsr_rect part) {
  return (tsr_task_operand){.row = part.row0,
                            .col = part.col0,
                            .rows = (int32_t)(part.row1 - part.row0),
                            .cols = (int32_t)(part.col1 - part.col0),
                            .tile = tile,
                            .matrix = (uint8_t)matrix};
}

/* One rectangle to a tile's room, as if it was written there. */
static bool bring_part(tsr_scheduler *s, const cargo *whole, tsr_rect part, end from, int device) {
  tsr_task_operand o = operand_of(whole->matrix, whole->tile, part);
  piece_range p = pieces_alone(s, &o);
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      cargo load = cargo_of(s, &o, &p, r, c);
      if (!bring_piece_of_part(s, &load, from, device)) return false;
    }
  return true;
}

/* What of `left` a room holds comes from there. */
static bool bring_from_room(tsr_scheduler *s, const cargo *c, size_t number, int device,
                            tsr_rects *left) {
  const tsr_room *room = &s->options->residency->rooms.items[number];
  tsr_rects parts = {0}, found = {0};
  bool done = true;
  for (size_t i = 0; done && i < left->count; i++) {
    done = tsr_rects_clip(&room->valid, left->items[i], &parts);
    for (size_t j = 0; done && j < parts.count; j++)
      done =
          bring_part(s, c, parts.items[j],
                     (end){room->device, tsr_rooms_buffer(s, number), NULL, TSR_NOTHING}, device) &&
          tsr_rects_add(&found, parts.items[j]);
  }
  for (size_t i = 0; done && i < found.count; i++) done = tsr_rects_subtract(left, found.items[i]);
  tsr_rects_free(&parts);
  tsr_rects_free(&found);
  return done;
}

/* From rooms, first those of the device itself, what they hold; from home the rest. */
static bool bring_all(tsr_scheduler *s, const cargo *c, int device, tsr_rects *left) {
  const tsr_residency *before = s->options->residency;
  for (int own = 1; own >= 0; own--)
    for (size_t i = 0; i < before->rooms.count && left->count > 0; i++) {
      const tsr_room *room = &before->rooms.items[i];
      if (room->matrix != c->matrix || (room->device == device) != (own == 1)) continue;
      if (!bring_from_room(s, c, i, device, left)) return false;
    }
  end home = {s->call->operand[c->matrix].location, c->matrix, NULL, TSR_NOTHING};
  for (size_t i = 0; i < left->count; i++)
    if (!bring_part(s, c, left->items[i], home, device)) return false;
  return true;
}

/* Brings a rectangle to its tile in parts, less what the tile's room holds. */
static bool gather(tsr_scheduler *s, const cargo *c, int device) {
  tsr_tile_copy *copy = tsr_copy_of(s, c->matrix, c->tile, device);
  tsr_rects left = {0};
  const tsr_room *room = tsr_rooms_of(s, copy);
  bool done = tsr_rects_add(&left, rect_of(c));
  for (size_t i = 0; done && i < room->valid.count; i++)
    done = tsr_rects_subtract(&left, room->valid.items[i]);
  done = done && bring_all(s, c, device, &left);
  tsr_rects_free(&left);
  return done;
}

static bool gather_piece(tsr_scheduler *s, const cargo *c, int index, int device) {
  if (!gather(s, c, device)) return false;
  *piece_at(s, c->matrix, c->tile, device, index) = (tsr_piece){TSR_GATHERED, 0};
  return true;
}

/* Sends a piece to everyone who wants it; each receiver is a source for the next. */
static bool broadcast(tsr_scheduler *s, const cargo *c, int index, int count, int device) {
  uint32_t holders = holders_of(s, c, index);
  if (!holders && is_in_rooms(s, c)) return gather_piece(s, c, index, device);
  uint32_t wanted = receivers_of(s, c, device, holders);
  for (int d = 0; d < s->devices; d++)
    if (wanted >> d & 1 && !open_copy(s, c->matrix, c->tile, d, count)) return false;
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
  piece_range p = pieces_of(s, o);
  if (!open_copy(s, o->matrix, o->tile, device, p.count)) return false;
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      int index = c * p.down + r;
      if (piece_at(s, o->matrix, o->tile, device, index)->command != TSR_NOTHING) continue;
      cargo load = cargo_of(s, o, &p, r, c);
      if (!broadcast(s, &load, index, p.count, device)) return false;
    }
  return true;
}

bool tsr_route_gather(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  cargo load = {.matrix = o->matrix,
                .tile = o->tile,
                .row = o->row,
                .col = o->col,
                .rows = o->rows,
                .cols = o->cols};
  return gather(s, &load, device);
}

/* One piece of a room to the home; the tile's next writer at the device, if any, waits for it. */
static bool settle_piece(tsr_scheduler *s, const cargo *load, size_t number, int device) {
  const tsr_room *room = &s->options->residency->rooms.items[number];
  end from = {room->device, tsr_rooms_buffer(s, number), NULL, TSR_NOTHING};
  end home = {s->call->operand[load->matrix].location, load->matrix, NULL, TSR_NOTHING};
  int32_t command = move(s, load, &from, &home);
  if (command == TSR_NOTHING || device == TSR_NOTHING) return command != TSR_NOTHING;
  tsr_mark mark = {load->row, load->rows, load->col, load->cols, command, TSR_NOTHING};
  return tsr_mark_push(s, &tsr_copy_of(s, load->matrix, load->tile, device)->writers, mark);
}

static bool settle_part(tsr_scheduler *s, const tsr_task_operand *o, size_t number, tsr_rect part,
                        int device) {
  tsr_task_operand whole = operand_of(o->matrix, o->tile, part);
  piece_range p = pieces_alone(s, &whole);
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      cargo load = cargo_of(s, &whole, &p, r, c);
      if (!settle_piece(s, &load, number, device)) return false;
    }
  return true;
}

bool tsr_route_settle(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  const tsr_residency *before = s->options->residency;
  tsr_rect rect = tsr_rect_make(o->row, o->col, o->rows, o->cols);
  tsr_rects parts = {0};
  bool done = true;
  for (size_t i = 0; done && i < before->rooms.count; i++) {
    const tsr_room *room = &before->rooms.items[i];
    if (room->matrix != o->matrix) continue;
    done = tsr_rects_clip(&room->newer, rect, &parts);
    for (size_t j = 0; done && j < parts.count; j++)
      done = settle_part(s, o, i, parts.items[j], device);
  }
  tsr_rects_free(&parts);
  return done;
}

static bool open_tile(tsr_scheduler *s, const tsr_room *room, int32_t tile) {
  tsr_task_operand o = whole_tile(s, room->matrix, tile);
  tsr_rect rect = tsr_rect_make(o.row, o.col, o.rows, o.cols);
  if (!tsr_rect_contains(room->rect, rect) || !tsr_rects_meets(&room->valid, rect)) return true;
  return open_copy(s, room->matrix, tile, room->device, pieces_of(s, &o).count);
}

bool tsr_route_open_rooms(tsr_scheduler *s) {
  size_t count = s->options->residency == NULL ? 0 : s->options->residency->rooms.count;
  for (size_t i = 0; i < count; i++) {
    const tsr_room *room = &s->options->residency->rooms.items[i];
    const tsr_tile_grid *grid = &s->graph->grid[room->matrix];
    for (int32_t t = 0; t < grid->rows.count * grid->cols.count; t++)
      if (!open_tile(s, room, t)) return false;
  }
  return true;
}

bool tsr_route_each_piece(tsr_scheduler *s, int matrix, int32_t tile, int device,
                          tsr_piece_visitor visit) {
  const tsr_tile_copy *copy = tsr_copy_of(s, matrix, tile, device);
  if (copy->pieces == TSR_NOTHING) return true;
  tsr_task_operand o = whole_tile(s, matrix, tile);
  piece_range p = pieces_of(s, &o);
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      cargo piece = cargo_of(s, &o, &p, r, c);
      if (piece_at(s, matrix, tile, device, c * p.down + r)->command == TSR_NOTHING) continue;
      if (!visit(s, copy, rect_of(&piece))) return false;
    }
  return true;
}

/* Moves a rectangle, and nothing beside it, to its place at a device, as if it was written there.
 */
static bool move_alone(tsr_scheduler *s, const tsr_task_operand *o, end begin, int to) {
  tsr_tile_copy *copy = tsr_copy_of(s, o->matrix, o->tile, to);
  piece_range p = pieces_alone(s, o);
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      cargo load = cargo_of(s, o, &p, r, c);
      end stop = end_at(s, &load, to, TSR_NOTHING);
      float when = route_arrival(s, &load, begin.location, to, 0);
      if (!begin.copy) wait_for_home(s, &load);
      int32_t command = move(s, &load, &begin, &stop);
      tsr_mark mark = {load.row, load.rows, load.col, load.cols, command, TSR_NOTHING};
      if (command == TSR_NOTHING || !tsr_mark_push(s, &copy->writers, mark)) return false;
      if (isfinite(when)) route_occupy(s, &load, begin.location, to, 0, when);
    }
  return true;
}

bool tsr_route_fetch_alone(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  int home = s->call->operand[o->matrix].location;
  return move_alone(s, o, (end){home, o->matrix, NULL, TSR_NOTHING}, device);
}

/* The kernels that wrote to the part may be several, on several queues: collecting goes by parts
 * that one of them wrote, so the last one stands for all before it in its queue. */
bool tsr_route_collect(tsr_scheduler *s, const tsr_task_operand *o, int from, int32_t after,
                       int to) {
  tsr_tile_copy *copy = tsr_copy_of(s, o->matrix, o->tile, from);
  return move_alone(s, o, (end){from, copy->buffer, copy, after}, to);
}

float tsr_route_group_eta(tsr_scheduler *s, const tsr_group *group) {
  double missing[TSR_MATRICES] = {0};
  float eta = 0;
  for (size_t t = group->first; t < group->first + group->count; t++)
    for (int i = 0; i < 2; i++) {
      const tsr_task_operand *o = &s->graph->tasks.items[t].operand[i];
      if (!(o->access & TSR_READ) || o->matrix > TSR_B_) continue;
      if (tsr_is_at_home(s, o->matrix, group->device)) continue;
      if (tsr_copy_of(s, o->matrix, o->tile, group->device)->pieces != TSR_NOTHING) continue;
      missing[o->matrix] += (double)o->rows * (double)o->cols * (double)s->size[o->matrix];
    }
  for (int x = TSR_A; x <= TSR_B_; x++) {
    int home = s->call->operand[x].location;
    if (missing[x] > 0)
      eta = fmaxf(eta, arrival(s, home, group->device, missing[x], missing[x], 0));
  }
  return eta;
}

void tsr_route_wait(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (tsr_copy_of(s, o->matrix, o->tile, device)->pieces == TSR_NOTHING) return;
  piece_range p = pieces_of(s, o);
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++)
      tsr_commands_wait(s, piece_at(s, o->matrix, o->tile, device, c * p.down + r)->command);
}

/* ---- Bringing home -------------------------------------------------------- */

/* Where a rectangle is to the stored triangle: inside (TSR_GENERAL), across its diagonal (the
 * triangle), or outside (false). */
static bool meets(const cargo *c, tsr_uplo uplo, tsr_uplo *part) {
  int64_t bottom = c->row + c->rows - 1, right = c->col + c->cols - 1;
  *part = uplo;
  if (uplo == TSR_GENERAL) return true;
  bool lower = uplo == TSR_LOWER;
  if (lower ? c->row >= right : bottom <= c->col) *part = TSR_GENERAL;
  return lower ? bottom >= c->col : c->row <= right;
}

/* Brings what of a piece is in the triangle. Only the threads of the host can copy what is across a
 * diagonal. */
static bool bring_piece(tsr_scheduler *s, cargo *c, tsr_uplo uplo, const end *begin,
                        const end *stop) {
  if (!meets(c, uplo, &c->uplo)) return true;
  float when = arrival(s, begin->location, stop->location, c->bytes, c->bytes, 0);
  int32_t command = c->uplo == TSR_GENERAL ? move(s, c, begin, stop)
                                           : staged(s, c, queue_out(s, begin->location),
                                                    next_lane(s, stop->location), begin, stop);
  if (isfinite(when)) occupy(s, begin->location, stop->location, c->bytes, 0, when);
  return command != TSR_NOTHING && note_brought(s, c, command);
}

bool tsr_route_bring_home(tsr_scheduler *s, const tsr_task_operand *o, tsr_uplo uplo, int device,
                          int32_t after) {
  int home = s->call->operand[o->matrix].location;
  piece_range p = pieces_alone(s, o);
  end stop = {home, o->matrix, NULL, TSR_NOTHING};
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      cargo load = cargo_of(s, o, &p, r, c);
      end begin = end_at(s, &load, device, after);
      if (!bring_piece(s, &load, uplo, &begin, &stop)) return false;
    }
  return true;
}
