/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Single rectangles: copied to a device and marked there as written, or written back. */
#include <math.h>

#include "plan/schedule/routes.h"
#include "plan/tuning.h"

/* ---- To a device ------------------------------------------------------------ */

/* Copies a rectangle, and nothing beside it, to its tile at a device, and adds the copies to the
 * tile's writers. */
static bool move_alone(tsr_routes *r, const tsr_task_operand *o, tsr_end begin, int to) {
  tsr_end stop = tsr_end_at(r->copies, o->matrix, o->tile, to, TSR_NOTHING);
  tsr_piece_range p = tsr_pieces_alone(r->problem, o);
  for (int col = p.c0; col < p.c1; col++)
    for (int row = p.r0; row < p.r1; row++) {
      tsr_transfer load = tsr_transfer_of(r->problem, o, &p, row, col);
      float when = tsr_route_arrival(r->availability, &load, begin.location, to, 0);
      if (begin.copy)
        tsr_marks_wait_touching(r->marks, begin.copy->writers, tsr_operand_rect(o), r->commands);
      else
        tsr_move_wait_for_write_back(r->mover, &load);
      int32_t command = tsr_move(r->mover, &load, &begin, &stop);
      tsr_mark mark = {load.row, load.rows, load.col, load.cols, command, TSR_NOTHING};
      if (command == TSR_NOTHING || !tsr_marks_push(r->marks, &stop.copy->writers, mark))
        return false;
      if (isfinite(when)) tsr_route_occupy(r->availability, &load, begin.location, to, 0, when);
    }
  return true;
}

bool tsr_route_fetch_alone(tsr_routes *r, const tsr_task_operand *o, int device) {
  return move_alone(r, o, tsr_end_home(r->problem, o->matrix), device);
}

bool tsr_route_collect(tsr_routes *r, const tsr_task_operand *o, int from, int to) {
  return move_alone(r, o, tsr_end_at(r->copies, o->matrix, o->tile, from, TSR_NOTHING), to);
}

/* ---- Home ------------------------------------------------------------------- */

static bool note_written_back(tsr_routes *r, const tsr_transfer *c, int32_t command) {
  bool again = r->slots->in_use || !tsr_graph_is_free(r->problem->graph);
  if (!again || c->matrix != TSR_C_) return true;
  return tsr_marks_push(r->marks, &r->copies->written_back[c->tile],
                        (tsr_mark){c->row, c->rows, c->col, c->cols, command, TSR_NOTHING});
}

static bool write_back_transfer(tsr_routes *r, const tsr_transfer *c, const tsr_end *begin,
                                const tsr_end *stop) {
  int from = begin->location, to = stop->location;
  float when =
      tsr_link_arrival(r->availability, from, to, c->bytes, (tsr_segments){c->bytes, 0}, 0);
  bool straight = c->uplo == TSR_GENERAL && tsr_move_is_straight(r->problem, c);
  int forwarder =
      straight ? tsr_forwarders_find(r->mover->forwarders, c, from, to, &when) : TSR_NOTHING;
  int32_t command = forwarder != TSR_NOTHING ? tsr_move_by(r->mover, c, begin, forwarder, stop)
                                             : tsr_move(r->mover, c, begin, stop);
  if (forwarder != TSR_NOTHING)
    tsr_forwarders_occupy(r->availability, c, from, forwarder, to, when);
  else if (isfinite(when))
    tsr_link_occupy(r->availability, from, to, c->bytes, 0, when);
  return command != TSR_NOTHING && note_written_back(r, c, command);
}

/* Half 0 or 1 of a piece, cut across its longer side. */
static tsr_transfer half_of(const tsr_problem *problem, const tsr_transfer *c, int which) {
  bool down = c->rows >= c->cols;
  tsr_transfer half = *c;
  int64_t first = down ? c->rows / 2 : c->cols / 2;
  if (down) {
    half.row += which ? first : 0;
    half.rows = which ? c->rows - first : first;
  } else {
    half.col += which ? first : 0;
    half.cols = which ? c->cols - first : first;
  }
  tsr_transfer_weigh(problem, &half);
  return half;
}

/* Only staging threads can copy a part
 * across the diagonal, by way of the ring, which all devices share. So, where a device can write to
 * C itself, the piece is halved until the part across the diagonal is small. */
bool tsr_route_write_back_piece(tsr_routes *r, tsr_transfer *c, tsr_uplo uplo, const tsr_end *begin,
                                const tsr_end *stop) {
  static const int64_t little = TSR_TUNE_LITTLE_TRIANGLE;
  if (!tsr_transfer_meets_triangle(c, uplo, &c->uplo)) return true;
  bool across = c->uplo != TSR_GENERAL && (c->rows > little || c->cols > little);
  if (!across || !tsr_move_is_straight(r->problem, c))
    return write_back_transfer(r, c, begin, stop);
  for (int i = 0; i < 2; i++) {
    tsr_transfer half = half_of(r->problem, c, i);
    if (!tsr_route_write_back_piece(r, &half, uplo, begin, stop)) return false;
  }
  return true;
}

bool tsr_route_write_back(tsr_routes *r, const tsr_task_operand *o, tsr_uplo uplo, int device,
                          int32_t after) {
  tsr_end begin = tsr_end_at(r->copies, o->matrix, o->tile, device, after);
  tsr_end stop = tsr_end_home(r->problem, o->matrix);
  tsr_piece_range p = tsr_pieces_alone(r->problem, o);
  for (int col = p.c0; col < p.c1; col++)
    for (int row = p.r0; row < p.r1; row++) {
      tsr_transfer load = tsr_transfer_of(r->problem, o, &p, row, col);
      if (!tsr_route_write_back_piece(r, &load, uplo, &begin, &stop)) return false;
    }
  return true;
}
