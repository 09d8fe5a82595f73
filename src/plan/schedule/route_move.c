/* Moving: the commands that bring one rectangle from one place to another, and C home. */
#include <math.h>

#include "base/queue.h"
#include "plan/schedule/route.h"

/* ---- One move --------------------------------------------------------------- */

tsr_end tsr_end_at(tsr_scheduler *s, const tsr_cargo *c, int location, int32_t after) {
  tsr_tile_copy *copy = tsr_copy_of(s, c->matrix, c->tile, location);
  return (tsr_end){location, copy->buffer, copy, after};
}

static uint8_t form_of(tsr_uplo uplo) {
  return tsr_form_pack((tsr_form){.uplo = uplo});
}

static int32_t copy_command(tsr_scheduler *s, int queue, const tsr_cargo *c, int32_t from,
                            int32_t to) {
  return tsr_commands_add(s, (tsr_command){.kind = TSR_COMMAND_COPY,
                                           .queue = (uint16_t)queue,
                                           .form = to == c->matrix ? form_of(c->uplo) : 0,
                                           .row = {c->row},
                                           .col = {c->col},
                                           .m = (int32_t)c->rows,
                                           .n = (int32_t)c->cols,
                                           .buffer = {from, to, TSR_NO_BUFFER}});
}

static void wait_for_end(tsr_scheduler *s, const tsr_end *e) {
  tsr_commands_wait(s, e->after);
  if (e->copy) tsr_commands_wait_marks(s, e->copy->before);
}

static bool use_end(tsr_scheduler *s, const tsr_end *e, int32_t command) {
  return command != TSR_NOTHING && (!e->copy || tsr_slots_use(s, e->copy, command));
}

/* Whether a device can copy the rectangle straight from, or to, the user's host memory. */
static bool is_pinned(const tsr_scheduler *s, const tsr_cargo *c) {
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
static int32_t hop(tsr_scheduler *s, const tsr_cargo *c, int queue, const tsr_end *from,
                   const tsr_end *to) {
  wait_for_end(s, from);
  wait_for_end(s, to);
  int32_t command = copy_command(s, queue, c, from->buffer, to->buffer);
  if (!use_end(s, from, command) || !use_end(s, to, command)) return TSR_NOTHING;
  return command;
}

/* Two hops by way of the pinned ring; first and second are the queues that serve them. */
static int32_t staged(tsr_scheduler *s, const tsr_cargo *c, int first, int second,
                      const tsr_end *from, const tsr_end *to) {
  int32_t buffer = tsr_memory_stage(s, c->matrix, c->row, c->col, c->rows, c->cols);
  if (buffer == TSR_NOTHING) return TSR_NOTHING;
  tsr_end ring = {s->host, buffer, NULL, TSR_NOTHING};
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
int32_t tsr_move(tsr_scheduler *s, const tsr_cargo *c, const tsr_end *from, const tsr_end *to) {
  if (tsr_on_host(s, from->location)) {
    if (is_pinned(s, c)) return hop(s, c, queue_in(s, to->location), from, to);
    return staged(s, c, next_lane(s, from->location), queue_in(s, to->location), from, to);
  }
  if (tsr_on_host(s, to->location)) {
    if (is_pinned(s, c)) return hop(s, c, queue_out(s, from->location), from, to);
    return staged(s, c, queue_out(s, from->location), next_lane(s, to->location), from, to);
  }
  bool inside = from->location == to->location;
  if (inside || s->machine->link[from->location][to->location].bandwidth > 0)
    return hop(s, c, queue_peer(s, from->location, to->location), from, to);
  return staged(s, c, queue_out(s, from->location), queue_in(s, to->location), from, to);
}

/* ---- Rectangles that are moved alone ---------------------------------------- */

/* What was brought home, made room for and is wanted again comes from there, but not too early. */
void tsr_wait_for_home(tsr_scheduler *s, const tsr_cargo *c) {
  if (c->matrix != TSR_C_) return;
  for (int32_t i = s->brought[c->tile]; i != TSR_NOTHING; i = s->marks.items[i].next)
    tsr_commands_wait(s, s->marks.items[i].command);
}

/* Moves a rectangle, and nothing beside it, to its place at a device, as if it was written there.
 */
static bool move_alone(tsr_scheduler *s, const tsr_task_operand *o, tsr_end begin, int to) {
  tsr_tile_copy *copy = tsr_copy_of(s, o->matrix, o->tile, to);
  tsr_piece_range p = tsr_pieces_alone(s, o);
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      tsr_cargo load = tsr_cargo_of(s, o, &p, r, c);
      tsr_end stop = tsr_end_at(s, &load, to, TSR_NOTHING);
      float when = tsr_route_arrival(s, &load, begin.location, to, 0);
      if (begin.copy)
        tsr_commands_wait_touching(s, begin.copy->writers, o);
      else
        tsr_wait_for_home(s, &load);
      int32_t command = tsr_move(s, &load, &begin, &stop);
      tsr_mark mark = {load.row, load.rows, load.col, load.cols, command, TSR_NOTHING};
      if (command == TSR_NOTHING || !tsr_mark_push(s, &copy->writers, mark)) return false;
      if (isfinite(when)) tsr_route_occupy(s, &load, begin.location, to, 0, when);
    }
  return true;
}

bool tsr_route_fetch_alone(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  int home = s->call->operand[o->matrix].location;
  return move_alone(s, o, (tsr_end){home, o->matrix, NULL, TSR_NOTHING}, device);
}

bool tsr_route_collect(tsr_scheduler *s, const tsr_task_operand *o, int from, int to) {
  tsr_tile_copy *copy = tsr_copy_of(s, o->matrix, o->tile, from);
  return move_alone(s, o, (tsr_end){from, copy->buffer, copy, TSR_NOTHING}, to);
}

/* ---- Bringing home -------------------------------------------------------- */

static bool note_brought(tsr_scheduler *s, const tsr_cargo *c, int32_t command) {
  if (!s->slots || c->matrix != TSR_C_) return true;
  return tsr_mark_push(s, &s->brought[c->tile], (tsr_mark){.command = command});
}

/* Where a rectangle is to the stored triangle: inside (TSR_GENERAL), across its diagonal (the
 * triangle), or outside (false). */
static bool meets(const tsr_cargo *c, tsr_uplo uplo, tsr_uplo *part) {
  int64_t bottom = c->row + c->rows - 1, right = c->col + c->cols - 1;
  *part = uplo;
  if (uplo == TSR_GENERAL) return true;
  bool lower = uplo == TSR_LOWER;
  if (lower ? c->row >= right : bottom <= c->col) *part = TSR_GENERAL;
  return lower ? bottom >= c->col : c->row <= right;
}

static bool bring(tsr_scheduler *s, const tsr_cargo *c, const tsr_end *begin, const tsr_end *stop) {
  float when = tsr_link_arrival(s, begin->location, stop->location, c->bytes, c->bytes, 0);
  int32_t command = c->uplo == TSR_GENERAL ? tsr_move(s, c, begin, stop)
                                           : staged(s, c, queue_out(s, begin->location),
                                                    next_lane(s, stop->location), begin, stop);
  if (isfinite(when)) tsr_link_occupy(s, begin->location, stop->location, c->bytes, 0, when);
  return command != TSR_NOTHING && note_brought(s, c, command);
}

/* One half of a piece, which is halved across its longer side. */
static tsr_cargo half_of(const tsr_scheduler *s, const tsr_cargo *c, int which) {
  bool down = c->rows >= c->cols;
  tsr_cargo half = *c;
  int64_t first = down ? c->rows / 2 : c->cols / 2;
  if (down) {
    half.row += which ? first : 0;
    half.rows = which ? c->rows - first : first;
  } else {
    half.col += which ? first : 0;
    half.cols = which ? c->cols - first : first;
  }
  tsr_cargo_weigh(s, &half);
  return half;
}

/* Brings what of a piece is in the triangle. Only the threads of the host can copy what is across a
 * diagonal, by way of the ring, which all devices share: where a device can write to C itself, that
 * is little. */
static bool bring_piece(tsr_scheduler *s, tsr_cargo *c, tsr_uplo uplo, const tsr_end *begin,
                        const tsr_end *stop) {
  static const int64_t little = 256;
  if (!meets(c, uplo, &c->uplo)) return true;
  bool across = c->uplo != TSR_GENERAL && (c->rows > little || c->cols > little);
  if (!across || !is_pinned(s, c)) return bring(s, c, begin, stop);
  for (int i = 0; i < 2; i++) {
    tsr_cargo half = half_of(s, c, i);
    if (!bring_piece(s, &half, uplo, begin, stop)) return false;
  }
  return true;
}

bool tsr_route_bring_home(tsr_scheduler *s, const tsr_task_operand *o, tsr_uplo uplo, int device,
                          int32_t after) {
  int home = s->call->operand[o->matrix].location;
  tsr_piece_range p = tsr_pieces_alone(s, o);
  tsr_end stop = {home, o->matrix, NULL, TSR_NOTHING};
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      tsr_cargo load = tsr_cargo_of(s, o, &p, r, c);
      tsr_end begin = tsr_end_at(s, &load, device, after);
      if (!bring_piece(s, &load, uplo, &begin, &stop)) return false;
    }
  return true;
}
