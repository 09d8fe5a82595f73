/*
 * Rooms: with residency, the tiles of operands that are at home in host memory have their places
 * not in the plan's arena but in rooms, which outlast the plan. Those that are there already hold
 * what earlier calls left in them.
 */
#include "base/alloc.h"
#include "plan/schedule.h"

static tsr_status no_memory(void) {
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
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
  return TSR_OK;
}

void tsr_rooms_free(tsr_scheduler *s) {
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

static bool is_room_for(const tsr_room *room, int matrix, tsr_rect rect, int device) {
  return room->device == device && room->matrix == matrix && tsr_rect_contains(room->rect, rect);
}

bool tsr_rooms_have(const tsr_scheduler *s, int matrix, tsr_rect rect, int device) {
  const tsr_residency *before = s->options->residency;
  if (!tsr_has_rooms(s, matrix)) return false;
  for (size_t i = 0; i < before->rooms.count; i++)
    if (is_room_for(&before->rooms.items[i], matrix, rect, device)) return true;
  return false;
}

bool tsr_rooms_place(tsr_scheduler *s, tsr_tile_copy *copy, tsr_buffer tile) {
  tsr_residency *after = s->plan->after;
  tsr_rect rect = tsr_rect_make(tile.row, tile.col, tile.rows, tile.cols);
  size_t number = 0;
  while (number < after->rooms.count &&
         !is_room_for(&after->rooms.items[number], tile.matrix, rect, tile.location))
    number++;
  if (number == after->rooms.count) {
    tsr_room room = {.device = tile.location, .matrix = tile.matrix, .rect = rect, .ld = tile.ld};
    room.bytes = (size_t)tile.ld * (size_t)tile.cols * s->size[tile.matrix];
    if (!tsr_residency_add(after, room) || !TSR_VEC_PUSH(&s->room_buffer, TSR_NOTHING))
      return false;
  }
  copy->buffer = tsr_rooms_buffer(s, number);
  return copy->buffer != TSR_NOTHING;
}

const tsr_room *tsr_rooms_of(const tsr_scheduler *s, const tsr_tile_copy *copy) {
  return &s->plan->after->rooms.items[s->plan->buffers.items[copy->buffer].offset];
}

/* ---- The end -------------------------------------------------------------- */

static size_t number_of(const tsr_scheduler *s, const tsr_tile_copy *copy) {
  return s->plan->buffers.items[copy->buffer].offset;
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
    if (!tsr_residency_written(s->plan->after, matrix, rect, number_of(s, copy))) return false;
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
    if (!tsr_residency_forget(s->plan->after, TSR_C_, rect)) return false;
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
