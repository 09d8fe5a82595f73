/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/mover.h"

/* ---- Ends ----------------------------------------------------------------- */

tsr_end tsr_end_home(const tsr_problem *problem, int matrix) {
  return (tsr_end){problem->call->operand[matrix].location, matrix, NULL, TSR_NOTHING};
}

tsr_end tsr_end_at(const tsr_copies *copies, int matrix, int32_t tile, int device, int32_t after) {
  tsr_tile_copy *copy = tsr_copy_of(copies, matrix, tile, device);
  return (tsr_end){device, copy->buffer, copy, after};
}

static void wait_for_end(const tsr_mover *m, const tsr_end *e) {
  tsr_commands_wait(m->commands, e->after);
  if (e->copy) tsr_marks_wait(m->marks, e->copy->before, m->commands);
}

static bool use_end(const tsr_mover *m, const tsr_end *e, int32_t command) {
  return command != TSR_NOTHING && (!e->copy || tsr_tile_slots_use(m->slots, e->copy, command));
}

void tsr_move_wait_for_write_back(const tsr_mover *m, const tsr_transfer *c) {
  if (c->matrix == TSR_C_)
    tsr_marks_wait_touching(m->marks, m->copies->written_back[c->tile], tsr_transfer_rect(c),
                            m->commands);
}

/* ---- One move ------------------------------------------------------------- */

static bool is_triangle(const tsr_transfer *c) {
  return c->uplo == TSR_LOWER || c->uplo == TSR_UPPER;
}

static int32_t add_copy(const tsr_mover *m, int queue, const tsr_transfer *c, int32_t from,
                        int32_t to) {
  tsr_form form = {.uplo = to == c->matrix ? c->uplo : TSR_GENERAL}; /* home buffers: 0, 1, 2 */
  return tsr_commands_add(m->commands, (tsr_command){.kind = TSR_COMMAND_COPY,
                                                     .queue = (uint16_t)queue,
                                                     .form = tsr_form_pack(form),
                                                     .row = {c->row},
                                                     .col = {c->col},
                                                     .m = (int32_t)c->rows,
                                                     .n = (int32_t)c->cols,
                                                     .buffer = {from, to, TSR_NO_BUFFER}});
}

/* One copy command on a queue. */
static int32_t hop(const tsr_mover *m, const tsr_transfer *c, int queue, const tsr_end *from,
                   const tsr_end *to) {
  wait_for_end(m, from);
  wait_for_end(m, to);
  int32_t command = add_copy(m, queue, c, from->buffer, to->buffer);
  if (!use_end(m, from, command) || !use_end(m, to, command)) return TSR_NOTHING;
  return command;
}

/* Two copy commands by way of a part of a ring, on the queues first and second. */
static int32_t hop_through(const tsr_mover *m, tsr_ring *ring, const tsr_transfer *c, int first,
                           int second, const tsr_end *from, const tsr_end *to) {
  int32_t buffer = tsr_ring_take(ring, c);
  if (buffer == TSR_NOTHING) return TSR_NOTHING;
  tsr_end between = {ring->location, buffer, NULL, TSR_NOTHING};
  between.after = hop(m, c, first, from, &between);
  if (between.after == TSR_NOTHING) return TSR_NOTHING;
  int32_t command = hop(m, c, second, &between, to);
  if (command != TSR_NOTHING) tsr_ring_give_back(ring, buffer, command);
  return command;
}

/* The piece of a transfer in a rectangle. *any: the transfer has elements there; of a triangle it
 * may have none. */
static tsr_transfer piece_of(const tsr_problem *problem, const tsr_transfer *c, tsr_rect rect,
                             bool *any) {
  tsr_transfer piece = *c;
  piece.row = rect.row0;
  piece.col = rect.col0;
  piece.rows = rect.row1 - rect.row0;
  piece.cols = rect.col1 - rect.col0;
  tsr_transfer_weigh(problem, &piece);
  *any = !is_triangle(c) || tsr_transfer_meets_triangle(&piece, c->uplo, &piece.uplo);
  return piece;
}

/* Copies a transfer by way of a ring, in pieces if it is larger than a part of the ring. Returns
 * the last command: all pieces take the same two queues, which are in order, so when the last piece
 * is there, all are. */
static int32_t hop_twice(const tsr_mover *m, tsr_ring *ring, const tsr_transfer *whole, int first,
                         int second, const tsr_end *from, const tsr_end *to) {
  if (whole->bytes <= (double)ring->bytes)
    return hop_through(m, ring, whole, first, second, from, to);
  tsr_piece_range range = tsr_pieces_through(m->problem, whole, ring->bytes);
  int32_t last = TSR_NOTHING;
  for (int col = range.c0; col < range.c1; col++)
    for (int row = range.r0; row < range.r1; row++) {
      bool any;
      tsr_rect rect = tsr_piece_rect(m->problem, whole->matrix, &range, row, col);
      tsr_transfer piece = piece_of(m->problem, whole, rect, &any);
      if (!any) continue;
      last = hop_through(m, ring, &piece, first, second, from, to);
      if (last == TSR_NOTHING) return TSR_NOTHING;
    }
  return last;
}

bool tsr_move_is_straight(const tsr_problem *problem, const tsr_transfer *c) {
  const tsr_operand *o = &problem->call->operand[c->matrix];
  if (o->memory == TSR_PINNED) return true;
  if (o->memory == TSR_MANAGED) return false;
  int64_t size = (int64_t)problem->size[c->matrix];
  int64_t first = c->col * o->ld + c->row;
  int64_t behind_last = (c->col + c->cols - 1) * o->ld + c->row + c->rows;
  return o->pinned_begin <= first * size && behind_last * size <= o->pinned_end;
}

static int queue_out(const tsr_mover *m, int device) {
  return tsr_commands_queue(m->commands, device, TSR_QUEUE_OUT, 0);
}

static int queue_in(const tsr_mover *m, int device) {
  return tsr_commands_queue(m->commands, device, TSR_QUEUE_IN, 0);
}

static int queue_peer(const tsr_mover *m, int from, int to) {
  int index = m->availability->one_port[from] ? TSR_ANY_PEER : to;
  return tsr_commands_queue(m->commands, from, TSR_QUEUE_PEER, index);
}

static int next_staging(const tsr_mover *m, const tsr_ring *ring) {
  return tsr_commands_next_staging(m->commands, ring->location);
}

static bool reaches(const tsr_mover *m, int from, int to) {
  return from == to || m->problem->machine->link[from][to].bandwidth > 0;
}

/* Only the staging threads can copy a triangle. Where two queues are needed, the order in which
 * they are first asked for numbers them. */
int32_t tsr_move(const tsr_mover *m, const tsr_transfer *c, const tsr_end *from,
                 const tsr_end *to) {
  int begin = from->location, end = to->location;
  if (tsr_on_host(m->problem, begin)) {
    int in = queue_in(m, end);
    if (tsr_move_is_straight(m->problem, c)) return hop(m, c, in, from, to);
    tsr_ring *ring = tsr_rings_near(m->rings, end);
    return hop_twice(m, ring, c, next_staging(m, ring), in, from, to);
  }
  if (tsr_on_host(m->problem, end)) {
    bool straight = !is_triangle(c) && tsr_move_is_straight(m->problem, c);
    if (straight) return hop(m, c, queue_out(m, begin), from, to);
    tsr_ring *ring = tsr_rings_near(m->rings, begin);
    int staging = next_staging(m, ring);
    return hop_twice(m, ring, c, queue_out(m, begin), staging, from, to);
  }
  if (reaches(m, begin, end)) return hop(m, c, queue_peer(m, begin, end), from, to);
  int in = queue_in(m, end);
  return hop_twice(m, tsr_rings_near(m->rings, end), c, queue_out(m, begin), in, from, to);
}

int32_t tsr_move_by(const tsr_mover *m, const tsr_transfer *c, const tsr_end *from, int forwarder,
                    const tsr_end *to) {
  tsr_ring *ring = tsr_forwarders_ring(m->forwarders, forwarder);
  bool in = tsr_on_host(m->problem, from->location);
  int first = in ? queue_in(m, forwarder) : queue_peer(m, from->location, forwarder);
  int second = in ? queue_peer(m, forwarder, to->location) : queue_out(m, forwarder);
  return ring != NULL ? hop_twice(m, ring, c, first, second, from, to) : TSR_NOTHING;
}
