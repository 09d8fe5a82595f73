/*
 * Inside the routes: what the files that make them share. Rectangles on their way (cargo), the
 * pieces that tiles are cut into and the records of which are where (route_pieces.c), when bytes
 * could be somewhere (route.c), and the commands of one move (route_move.c).
 */
#ifndef TSR_PLAN_SCHEDULE_ROUTE_H
#define TSR_PLAN_SCHEDULE_ROUTE_H

#include "plan/schedule/schedule.h"

/* A rectangle of a matrix on its way. */
typedef struct tsr_cargo {
  int matrix;
  int32_t tile;
  int64_t row, col, rows, cols;
  double bytes, segment;
  tsr_uplo uplo; /* on its way home: a triangle only; 0: all of it */
} tsr_cargo;

/* The pieces of a tile and those of them that a rectangle touches. */
typedef struct tsr_piece_range {
  int64_t row, col, rows, cols; /* of the tile */
  int64_t piece_rows, piece_cols;
  int down;           /* pieces in a column */
  int r0, r1, c0, c1; /* touched: r0..r1-1, c0..c1-1 */
  int count;          /* of the tile */
} tsr_piece_range;

/* One end of a move. */
typedef struct tsr_end {
  int location;
  int32_t buffer;
  tsr_tile_copy *copy; /* NULL at home */
  int32_t after;       /* command that must be over before the end may be used, or TSR_NOTHING */
} tsr_end;

static inline bool tsr_on_host(const tsr_scheduler *s, int location) {
  return location >= s->devices;
}

static inline tsr_rect tsr_cargo_rect(const tsr_cargo *c) {
  return tsr_rect_make(c->row, c->col, c->rows, c->cols);
}

/* ---- route.c: estimates ---- */

/* When bytes that are at `from` at time ready would be at `to`, over their link; INFINITY: there is
 * none. */
float tsr_link_arrival(const tsr_scheduler *s, int from, int to, double bytes, double segment,
                       float ready);
void tsr_link_occupy(tsr_scheduler *s, int from, int to, double bytes, float ready, float end);

/* The same over one link, or, between devices that do not reach each other, two. */
float tsr_route_arrival(const tsr_scheduler *s, const tsr_cargo *c, int from, int to, float ready);
void tsr_route_occupy(tsr_scheduler *s, const tsr_cargo *c, int from, int to, float ready,
                      float when);

/* Of the link, or of the slower one of two by way of the host. */
double tsr_route_bandwidth(const tsr_scheduler *s, int from, int to);

/* ---- route_pieces.c ---- */

tsr_piece_range tsr_pieces_of(const tsr_scheduler *s, const tsr_task_operand *o);

/* The pieces of the rectangle itself, whatever the tile around it is cut into. */
tsr_piece_range tsr_pieces_alone(const tsr_scheduler *s, const tsr_task_operand *o);

/* The piece in row r and column c of the range. */
tsr_cargo tsr_cargo_of(const tsr_scheduler *s, const tsr_task_operand *o, const tsr_piece_range *p,
                       int r, int c);

/* Sets the bytes of a cargo, and the length of its contiguous runs, from its rectangle. */
void tsr_cargo_weigh(const tsr_scheduler *s, tsr_cargo *c);

/* All of a tile as an operand. */
tsr_task_operand tsr_whole_tile(const tsr_scheduler *s, int matrix, int32_t tile);

/* Room for the tile at the device, and a record for each of its pieces. */
bool tsr_open_copy(tsr_scheduler *s, int matrix, int32_t tile, int device, int count);

/* The record of a piece at a device; NULL if nothing was asked for there. */
tsr_piece *tsr_piece_at(tsr_scheduler *s, int matrix, int32_t tile, int device, int index);

/* ---- route_move.c ---- */

/* The tile of a cargo at a device. */
tsr_end tsr_end_at(tsr_scheduler *s, const tsr_cargo *c, int location, int32_t after);

/* The command that completes the move, or TSR_NOTHING. */
int32_t tsr_move(tsr_scheduler *s, const tsr_cargo *c, const tsr_end *from, const tsr_end *to);

/* What was brought home, made room for and is wanted again comes from there, but not too early. */
void tsr_wait_for_home(tsr_scheduler *s, const tsr_cargo *c);

/* ---- route_rooms.c ---- */

/* Some room, of whatever extent, holds a part of it. */
bool tsr_route_is_in_rooms(tsr_scheduler *s, const tsr_cargo *c);

/* Brings a piece to its tile in parts, from the rooms that hold them and from home. */
bool tsr_route_gather_piece(tsr_scheduler *s, const tsr_cargo *c, int index, int device);

#endif
