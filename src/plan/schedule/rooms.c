/*
 * Rooms: with residency, the tiles of operands that are at home in host memory have their places
 * not in the plan's arena but in rooms, which outlast the plan. Those that are there already hold
 * what earlier calls left in them.
 */
#include "base/alloc.h"
#include "plan/schedule/schedule.h"

static tsr_status no_memory(void) {
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
}

/* Rooms that there are, and one for each tile, of which some will be new. */
static bool make_index(tsr_scheduler *s) {
  const tsr_residency *after = s->plan->after;
  size_t expected[TSR_OPERANDS];
  for (int x = 0; x < TSR_OPERANDS; x++)
    expected[x] = (size_t)s->graph->grid[x].rows.count * (size_t)s->graph->grid[x].cols.count;
  for (size_t i = 0; i < after->rooms.count; i++) expected[after->rooms.items[i].matrix]++;
  if (!tsr_room_index_init(&s->room_index, s->call, expected)) return false;
  for (size_t i = 0; i < after->rooms.count; i++)
    if (!tsr_room_index_add(&s->room_index, &after->rooms.items[i])) return false;
  return true;
}

tsr_status tsr_rooms_init(tsr_scheduler *s) {
  if (s->options->residency == NULL) return TSR_OK;
  s->plan->before = tsr_alloc_zero(1, sizeof *s->plan->before);
  s->plan->after = tsr_alloc_zero(1, sizeof *s->plan->after);
  if (!s->plan->before || !tsr_residency_copy(s->options->residency, s->plan->before) ||
      !s->plan->after || !tsr_residency_copy(s->options->residency, s->plan->after))
    return no_memory();
  for (size_t i = 0; i < s->plan->after->rooms.count; i++)
    if (!TSR_VEC_PUSH(&s->room_buffer, TSR_NOTHING)) return no_memory();
  return make_index(s) ? TSR_OK : no_memory();
}

void tsr_rooms_free(tsr_scheduler *s) {
  tsr_room_index_free(&s->room_index);
  TSR_VEC_FREE(&s->room_buffer);
}

int32_t tsr_rooms_buffer(tsr_scheduler *s, size_t number) {
  int32_t *index = &s->room_buffer.items[number];
  if (*index != TSR_NOTHING) return *index;
  const tsr_room *room = &s->plan->after->rooms.items[number];
  tsr_buffer buffer = {.row = room->rect.row0,
                       .col = room->rect.col0,
                       .rows = room->rect.row1 - room->rect.row0,
                       .cols = room->rect.col1 - room->rect.col0,
                       .ld = room->ld,
                       .offset = number,
                       .bytes = room->bytes,
                       .role = TSR_BUFFER_ROOM,
                       .matrix = room->matrix,
                       .location = room->device,
                       .first = UINT32_MAX};
  if (!TSR_VEC_PUSH(&s->plan->buffers, buffer)) return TSR_NOTHING;
  return *index = (int32_t)s->plan->buffers.count - 1;
}

/* The rooms that there are have the lowest numbers: one of them is found first. */
bool tsr_rooms_have(const tsr_scheduler *s, int matrix, tsr_rect rect, int device) {
  if (!tsr_has_rooms(s, matrix)) return false;
  int32_t room = tsr_room_index_holder(&s->room_index, s->plan->after, matrix, rect, device);
  return room != TSR_NOTHING && tsr_rooms_is_old(s, room);
}

bool tsr_rooms_ask(tsr_scheduler *s, int matrix, tsr_rect rect) {
  return tsr_room_index_ask(&s->room_index, s->plan->after, matrix, rect);
}

bool tsr_rooms_home_is_current(tsr_scheduler *s, int matrix, tsr_rect rect) {
  if (!tsr_rooms_ask(s, matrix, rect)) return false;
  for (size_t i = 0; i < s->room_index.found.count; i++) {
    const tsr_room *room = &s->plan->after->rooms.items[s->room_index.found.items[i]];
    if (tsr_rects_meets(&room->newer, rect)) return false;
  }
  return true;
}

bool tsr_rooms_place(tsr_scheduler *s, tsr_tile_copy *copy, tsr_buffer tile) {
  tsr_residency *after = s->plan->after;
  tsr_rect rect = tsr_rect_make(tile.row, tile.col, tile.rows, tile.cols);
  int32_t number = tsr_room_index_holder(&s->room_index, after, tile.matrix, rect, tile.location);
  if (number == TSR_NOTHING) {
    tsr_room room = {.device = tile.location, .matrix = tile.matrix, .rect = rect, .ld = tile.ld};
    room.bytes = (size_t)tile.ld * (size_t)tile.cols * s->size[tile.matrix];
    number = (int32_t)after->rooms.count;
    if (!tsr_residency_add(after, room) || !TSR_VEC_PUSH(&s->room_buffer, TSR_NOTHING) ||
        !tsr_room_index_add(&s->room_index, &room))
      return false;
  }
  copy->buffer = tsr_rooms_buffer(s, (size_t)number);
  return copy->buffer != TSR_NOTHING;
}

const tsr_room *tsr_rooms_of(const tsr_scheduler *s, const tsr_tile_copy *copy) {
  return &s->plan->after->rooms.items[s->plan->buffers.items[copy->buffer].offset];
}

/* ---- The end -------------------------------------------------------------- */

static size_t number_of(const tsr_scheduler *s, const tsr_tile_copy *copy) {
  return s->plan->buffers.items[copy->buffer].offset;
}

/* No room has the rectangle of C any more, but perhaps one (TSR_NOTHING: none). */
static bool forget_but(tsr_scheduler *s, tsr_rect rect, int32_t but) {
  if (!tsr_rooms_ask(s, TSR_C_, rect)) return false;
  for (size_t i = 0; i < s->room_index.found.count; i++) {
    int32_t number = s->room_index.found.items[i];
    if (number != but && !tsr_room_forget(&s->plan->after->rooms.items[number], rect)) return false;
  }
  return true;
}

/* The rectangle of C has been written to in one room. What that has already is not taken out to be
 * put back, which would leave its sets in splinters. */
static bool note_written(tsr_scheduler *s, tsr_rect rect, size_t number) {
  tsr_room *room = &s->plan->after->rooms.items[number];
  return forget_but(s, rect, (int32_t)number) && tsr_rects_add(&room->valid, rect) &&
         tsr_rects_add(&room->newer, rect);
}

static bool note_piece(tsr_scheduler *s, const tsr_tile_copy *copy, tsr_rect piece) {
  return tsr_rects_add(&s->plan->after->rooms.items[number_of(s, copy)].valid, piece);
}

/* What came of C came to be changed. */
static bool note_tile(tsr_scheduler *s, int matrix, int32_t tile, int device) {
  const tsr_tile_copy *copy = tsr_copy_of(s, matrix, tile, device);
  if (copy->buffer == TSR_NOTHING) return true;
  if (matrix != TSR_C_) return tsr_route_each_piece(s, matrix, tile, device, note_piece);
  for (int32_t i = copy->writers; i != TSR_NOTHING; i = s->marks.items[i].next) {
    const tsr_mark *mark = &s->marks.items[i];
    tsr_rect rect = tsr_rect_make(mark->row, mark->col, mark->rows, mark->cols);
    if (!note_written(s, rect, number_of(s, copy))) return false;
  }
  return true;
}

/* What came home in spite of residency: blocks across a diagonal, of which a room holds more than
 * their triangle. */
static bool forget_triangles(tsr_scheduler *s) {
  for (size_t t = 0; t < s->graph->tasks.count; t++) {
    const tsr_task *task = &s->graph->tasks.items[t];
    const tsr_task_operand *c = &task->operand[2];
    if (!task->last || tsr_kernel_triangle((tsr_kernel)task->kernel, task->form) == TSR_GENERAL)
      continue;
    tsr_rect rect = tsr_rect_make(c->row, c->col, c->rows, c->cols);
    if (!forget_but(s, rect, TSR_NOTHING)) return false;
  }
  return true;
}

bool tsr_rooms_finish(tsr_scheduler *s) {
  if (s->options->residency == NULL) return true;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    if (!tsr_has_rooms(s, x)) continue;
    const tsr_tile_grid *grid = &s->graph->grid[x];
    int32_t tiles = grid->rows.count * grid->cols.count;
    for (int32_t t = 0; t < tiles; t++)
      for (int d = 0; d < s->devices; d++)
        if (!note_tile(s, x, t, d)) return false;
  }
  return !tsr_has_rooms(s, TSR_C_) || forget_triangles(s);
}
