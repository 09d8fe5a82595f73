/* Routes with residency: parts of rectangles come from the rooms that hold them. */
#include <math.h>

#include "plan/schedule/route.h"

static const tsr_room *old_room(const tsr_scheduler *s, int32_t number) {
  return &s->options->residency->rooms.items[number];
}

/* Some room, of whatever extent, holds a part of it. */
bool tsr_route_is_in_rooms(tsr_scheduler *s, const tsr_cargo *c) {
  tsr_rect rect = tsr_cargo_rect(c);
  if (!tsr_has_rooms(s, c->matrix) || !tsr_rooms_ask(s, c->matrix, rect)) return false;
  for (size_t i = 0; i < s->room_index.found.count; i++) {
    int32_t number = s->room_index.found.items[i];
    if (tsr_rooms_is_old(s, number) && tsr_rects_meets(&old_room(s, number)->valid, rect))
      return true;
  }
  return false;
}

/* A move of a rectangle, piece by piece; the tile's next user at device `marked` waits for it. */
typedef struct shift {
  int matrix;
  int32_t tile;
  tsr_end from, to;
  int marked; /* TSR_NOTHING: nobody waits */
} shift;

static bool move_piece(tsr_scheduler *s, const shift *m, const tsr_cargo *load) {
  int from = m->from.location, to = m->to.location;
  float when = tsr_route_arrival(s, load, from, to, 0);
  int32_t command = tsr_move(s, load, &m->from, &m->to);
  if (command == TSR_NOTHING) return false;
  if (!tsr_on_host(s, to) && isfinite(when)) tsr_route_occupy(s, load, from, to, 0, when);
  if (m->marked == TSR_NOTHING) return true;
  tsr_mark mark = {load->row, load->rows, load->col, load->cols, command, TSR_NOTHING};
  return tsr_mark_push(s, &tsr_copy_of(s, m->matrix, m->tile, m->marked)->writers, mark);
}

static bool move_part(tsr_scheduler *s, const shift *m, tsr_rect part) {
  tsr_task_operand o = tsr_part_of_tile(m->matrix, m->tile, part);
  tsr_piece_range p = tsr_pieces_alone(s, &o);
  for (int c = p.c0; c < p.c1; c++)
    for (int r = p.r0; r < p.r1; r++) {
      tsr_cargo load = tsr_cargo_of(s, &o, &p, r, c);
      if (!move_piece(s, m, &load)) return false;
    }
  return true;
}

static tsr_end home_of(const tsr_scheduler *s, int matrix) {
  return (tsr_end){s->call->operand[matrix].location, matrix, NULL, TSR_NOTHING};
}

/* False: out of memory. */
static bool room_end(tsr_scheduler *s, size_t number, tsr_end *end) {
  int device = s->options->residency->rooms.items[number].device;
  *end = (tsr_end){device, tsr_rooms_buffer(s, number), NULL, TSR_NOTHING};
  return end->buffer != TSR_NOTHING;
}

/* One rectangle to a tile's room, as if it was written there. */
static bool bring_part(tsr_scheduler *s, const tsr_cargo *whole, tsr_rect part, tsr_end from,
                       int device) {
  tsr_end to = {device, tsr_copy_of(s, whole->matrix, whole->tile, device)->buffer, NULL,
                TSR_NOTHING};
  return move_part(s, &(shift){whole->matrix, whole->tile, from, to, device}, part);
}

/* What of `left` a room holds comes from there. */
static bool bring_from_room(tsr_scheduler *s, const tsr_cargo *c, size_t number, int device,
                            tsr_rects *left) {
  const tsr_room *room = &s->options->residency->rooms.items[number];
  tsr_rects parts = {0}, found = {0};
  tsr_end from;
  bool done = true;
  for (size_t i = 0; done && i < left->count; i++) {
    done = tsr_rects_clip(&room->valid, left->items[i], &parts);
    for (size_t j = 0; done && j < parts.count; j++)
      done = room_end(s, number, &from) && bring_part(s, c, parts.items[j], from, device) &&
             tsr_rects_add(&found, parts.items[j]);
  }
  for (size_t i = 0; done && i < found.count; i++) done = tsr_rects_subtract(left, found.items[i]);
  tsr_rects_free(&parts);
  tsr_rects_free(&found);
  return done;
}

/* From rooms, first those of the device itself, what they hold; from home the rest. */
static bool bring_all(tsr_scheduler *s, const tsr_cargo *c, int device, tsr_rects *left) {
  if (!tsr_rooms_ask(s, c->matrix, tsr_cargo_rect(c))) return false;
  for (int own = 1; own >= 0; own--)
    for (size_t i = 0; i < s->room_index.found.count && left->count > 0; i++) {
      int32_t number = s->room_index.found.items[i];
      if (!tsr_rooms_is_old(s, number)) continue;
      if ((old_room(s, number)->device == device) != (own == 1)) continue;
      if (!bring_from_room(s, c, (size_t)number, device, left)) return false;
    }
  for (size_t i = 0; i < left->count; i++)
    if (!bring_part(s, c, left->items[i], home_of(s, c->matrix), device)) return false;
  return true;
}

/* Brings a rectangle to its tile in parts, less what the tile's room holds. */
static bool gather(tsr_scheduler *s, const tsr_cargo *c, int device) {
  tsr_tile_copy *copy = tsr_copy_of(s, c->matrix, c->tile, device);
  tsr_rects left = {0};
  const tsr_room *room = tsr_rooms_of(s, copy);
  if (tsr_rects_covers(&room->valid, tsr_cargo_rect(c))) return true;
  bool done = tsr_rects_add(&left, tsr_cargo_rect(c));
  for (size_t i = 0; done && i < room->valid.count; i++)
    done = tsr_rects_subtract(&left, room->valid.items[i]);
  done = done && bring_all(s, c, device, &left);
  tsr_rects_free(&left);
  return done;
}

bool tsr_route_gather_piece(tsr_scheduler *s, const tsr_cargo *c, int index, int device) {
  if (!gather(s, c, device)) return false;
  *tsr_piece_at(s, c->matrix, c->tile, device, index) = (tsr_piece){TSR_GATHERED, 0};
  return true;
}

bool tsr_route_gather(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  tsr_cargo load = {.matrix = o->matrix,
                    .tile = o->tile,
                    .row = o->row,
                    .col = o->col,
                    .rows = o->rows,
                    .cols = o->cols};
  return gather(s, &load, device);
}

/* ---- Settling, opening ------------------------------------------------------ */

/* One rectangle of a room to the home; the tile's next writer at the device, if any, waits. */
static bool settle_part(tsr_scheduler *s, const tsr_task_operand *o, size_t number, tsr_rect part,
                        int device) {
  shift m = {o->matrix, o->tile, .to = home_of(s, o->matrix), .marked = device};
  return room_end(s, number, &m.from) && move_part(s, &m, part);
}

bool tsr_route_settle(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  tsr_rect rect = tsr_rect_make(o->row, o->col, o->rows, o->cols);
  tsr_rects parts = {0};
  bool done = tsr_rooms_ask(s, o->matrix, rect);
  for (size_t i = 0; done && i < s->room_index.found.count; i++) {
    int32_t number = s->room_index.found.items[i];
    if (!tsr_rooms_is_old(s, number)) continue;
    done = tsr_rects_clip(&old_room(s, number)->newer, rect, &parts);
    for (size_t j = 0; done && j < parts.count; j++)
      done = settle_part(s, o, (size_t)number, parts.items[j], device);
  }
  tsr_rects_free(&parts);
  return done;
}

/* Parts of the cuts that lie in [from, to) as a whole: [*first, *end). */
static void parts_in(const tsr_cuts *cuts, int64_t from, int64_t to, int *first, int *end) {
  *first = 0;
  while (*first < cuts->count && cuts->at[*first] < from) ++*first;
  *end = *first;
  while (*end < cuts->count && cuts->at[*end + 1] <= to) ++*end;
}

static bool open_tile(tsr_scheduler *s, const tsr_room *room, int32_t tile) {
  tsr_task_operand o = tsr_whole_tile(s, room->matrix, tile);
  if (!tsr_rects_meets(&room->valid, tsr_rect_make(o.row, o.col, o.rows, o.cols))) return true;
  return tsr_open_copy(s, room->matrix, tile, room->device, tsr_pieces_of(s, &o).count);
}

static bool open_room(tsr_scheduler *s, const tsr_room *room) {
  const tsr_tile_grid *grid = &s->graph->grid[room->matrix];
  int i0, i1, j0, j1;
  parts_in(&grid->rows, room->rect.row0, room->rect.row1, &i0, &i1);
  parts_in(&grid->cols, room->rect.col0, room->rect.col1, &j0, &j1);
  for (int i = i0; i < i1; i++)
    for (int j = j0; j < j1; j++)
      if (!open_tile(s, room, i * grid->cols.count + j)) return false;
  return true;
}

bool tsr_route_open_rooms(tsr_scheduler *s) {
  size_t count = tsr_residency_count(s->options->residency);
  for (size_t i = 0; i < count; i++)
    if (!open_room(s, &s->options->residency->rooms.items[i])) return false;
  return true;
}
