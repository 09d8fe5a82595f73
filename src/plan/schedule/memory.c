/*
 * Room for tiles and for staged pieces. When everything fits into the budgets, each tile gets room
 * of its own; when it does not, a slot (slots.c).
 */
#include <string.h>

#include "base/alloc.h"
#include "plan/schedule/schedule.h"

static const size_t ALIGN = TSR_TILE_ALIGN; /* bytes */

static size_t round_up(size_t bytes) {
  return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static tsr_status no_memory(void) {
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
}

/* ---- Tiles ---------------------------------------------------------------- */

/* Columns begin where lines of a cache do, if that takes little room: where they begin at other
 * multiples of a load, kernels are up to a fifth slower (docs: measured). */
int64_t tsr_memory_ld(int64_t rows, size_t size) {
  static const int64_t line = 128, long_column = 4096;
  int64_t bytes = rows * (int64_t)size;
  int64_t step = bytes < long_column ? tsr_kernel_granule(size) : line / (int64_t)size;
  return (rows + step - 1) / step * step;
}

/* The rectangle of a tile in its matrix. */
static tsr_buffer tile_rect(const tsr_scheduler *s, int matrix, int32_t tile) {
  const tsr_tile_grid *grid = &s->graph->grid[matrix];
  int i = tile / grid->cols.count, j = tile % grid->cols.count;
  tsr_buffer b = {.role = TSR_BUFFER_TILE, .matrix = (uint8_t)matrix, .first = UINT32_MAX};
  b.row = grid->rows.at[i];
  b.col = grid->cols.at[j];
  b.rows = grid->rows.at[i + 1] - b.row;
  b.cols = grid->cols.at[j + 1] - b.col;
  b.ld = tsr_memory_ld(b.rows, s->size[matrix]);
  return b;
}

static size_t tile_bytes(const tsr_buffer *b, size_t size) {
  return round_up((size_t)b->ld * (size_t)b->cols * size);
}

static size_t largest(const tsr_cuts *cuts) {
  int64_t most = 0;
  for (int i = 0; i < cuts->count; i++) {
    int64_t length = cuts->at[i + 1] - cuts->at[i];
    if (length > most) most = length;
  }
  return (size_t)most;
}

/* Bytes of the largest tile of any matrix that tasks use. */
static size_t largest_tile(const tsr_call *call, const tsr_graph *graph) {
  const tsr_type_info *type = tsr_type_get(call->type);
  size_t most = 0;
  for (int x = 0; x < TSR_MATRICES; x++) {
    if (!(graph->used >> x & 1)) continue;
    size_t size = x == TSR_W ? tsr_type_get(type->wide)->size : type->size;
    const tsr_tile_grid *grid = &graph->grid[x];
    size_t rows = (size_t)tsr_memory_ld((int64_t)largest(&grid->rows), size);
    size_t bytes = round_up(rows * largest(&grid->cols) * size);
    if (bytes > most) most = bytes;
  }
  return most;
}

size_t tsr_schedule_least_budget(const tsr_call *call, const tsr_graph *graph, int64_t held) {
  return (size_t)(held + 2) * largest_tile(call, graph);
}

bool tsr_is_at_home(const tsr_scheduler *s, int matrix, int device) {
  if (matrix == TSR_W || s->call->operand[matrix].location != device) return false;
  return matrix == TSR_C_ || !(s->options->apart >> matrix & 1);
}

/* Bytes each device would need if nothing were reused. */
static void total_need(const tsr_scheduler *s, size_t *need) {
  memset(need, 0, sizeof *need * (size_t)s->devices);
  for (int x = 0; x < TSR_MATRICES; x++)
    for (size_t i = s->first_copy[x]; i < s->first_copy[x + 1]; i++) {
      if (s->copies[i].next == 0) continue;
      size_t in_matrix = i - s->first_copy[x];
      size_t device = in_matrix % (size_t)s->devices;
      tsr_buffer b = tile_rect(s, x, (int32_t)(in_matrix / (size_t)s->devices));
      tsr_rect rect = tsr_rect_make(b.row, b.col, b.rows, b.cols);
      if (!tsr_rooms_have(s, x, rect, (int)device)) need[device] += tile_bytes(&b, s->size[x]);
    }
}

static tsr_status make_ring(tsr_scheduler *s) {
  size_t piece = (size_t)s->options->piece, tile = largest_tile(s->call, s->graph);
  s->ring_bytes = round_up(piece < tile || tile == 0 ? piece : tile);
  size_t count = s->options->ring / s->ring_bytes;
  s->ring_slots = count < 2 ? 2 : count > 4096 ? 4096 : (int)count;
  s->ring = tsr_alloc(sizeof *s->ring * (size_t)s->ring_slots);
  if (!s->ring) return no_memory();
  for (int i = 0; i < s->ring_slots; i++) s->ring[i].command = TSR_NOTHING;
  return TSR_OK;
}

static tsr_status make_copies(tsr_scheduler *s) {
  size_t count = 0;
  for (int x = 0; x < TSR_MATRICES; x++) {
    const tsr_tile_grid *grid = &s->graph->grid[x];
    s->first_copy[x] = count;
    count += (size_t)grid->rows.count * (size_t)grid->cols.count * (size_t)s->devices;
  }
  s->first_copy[TSR_MATRICES] = count;
  s->copies = tsr_alloc(sizeof *s->copies * (count + 1));
  if (!s->copies) return no_memory();
  for (size_t i = 0; i < count; i++)
    s->copies[i] = (tsr_tile_copy){TSR_NOTHING, TSR_NOTHING, TSR_NOTHING, TSR_NOTHING, TSR_NOTHING,
                                   TSR_NOTHING, 0,           false,       false};
  return TSR_OK;
}

tsr_status tsr_memory_init(tsr_scheduler *s) {
  size_t need[TSR_MACHINE_DEVICES];
  TSR_TRY(make_copies(s));
  TSR_TRY(make_ring(s));
  tsr_slots_count_uses(s);
  total_need(s, need);
  for (int d = 0; d < s->devices; d++) s->slots |= need[d] > s->options->budget[d];
  if (!s->slots) return TSR_OK;
  if (s->options->residency == NULL) return tsr_slots_init(s, largest_tile(s->call, s->graph));
  s->no_room = true; /* rooms are not for sharing */
  s->slots = false;
  return TSR_OK;
}

void tsr_memory_free(tsr_scheduler *s) {
  tsr_dealloc(s->copies);
  tsr_dealloc(s->ring);
  tsr_slots_free(s);
  TSR_VEC_FREE(&s->pieces);
  TSR_VEC_FREE(&s->marks);
}

/* ---- Marks ---------------------------------------------------------------- */

bool tsr_mark_push(tsr_scheduler *s, int32_t *list, tsr_mark mark) {
  mark.next = *list;
  if (!TSR_VEC_PUSH(&s->marks, mark)) return false;
  *list = (int32_t)s->marks.count - 1;
  return true;
}

/* ---- Placing -------------------------------------------------------------- */

bool tsr_memory_place(tsr_scheduler *s, int matrix, int32_t tile, int device) {
  tsr_tile_copy *copy = tsr_copy_of(s, matrix, tile, device);
  if (copy->buffer != TSR_NOTHING) return true;
  tsr_buffer buffer = tile_rect(s, matrix, tile);
  buffer.location = (int16_t)device;
  if (tsr_has_rooms(s, matrix)) return tsr_rooms_place(s, copy, buffer);
  size_t *arena = &s->plan->arena[device];
  if (s->slots) {
    if (!tsr_slots_take(s, copy, device, &buffer)) return false;
    if (*arena < buffer.offset + buffer.bytes) *arena = buffer.offset + buffer.bytes;
  } else {
    buffer.bytes = tile_bytes(&buffer, s->size[matrix]);
    buffer.offset = *arena;
    *arena += buffer.bytes;
  }
  copy->buffer = (int32_t)s->plan->buffers.count;
  return TSR_VEC_PUSH(&s->plan->buffers, buffer);
}

/* ---- The staging ring ----------------------------------------------------- */

int32_t tsr_memory_stage(tsr_scheduler *s, int matrix, int64_t row, int64_t col, int64_t rows,
                         int64_t cols) {
  int i = s->ring_next++ % s->ring_slots;
  tsr_buffer buffer = {.row = row,
                       .col = col,
                       .rows = rows,
                       .cols = cols,
                       .ld = rows,
                       .offset = (size_t)i * s->ring_bytes,
                       .bytes = s->ring_bytes,
                       .role = TSR_BUFFER_STAGE,
                       .matrix = (uint8_t)matrix,
                       .location = (int16_t)s->host,
                       .first = UINT32_MAX};
  if (!TSR_VEC_PUSH(&s->plan->buffers, buffer)) return TSR_NOTHING;
  size_t *arena = &s->plan->arena[s->host];
  if (*arena < buffer.offset + buffer.bytes) *arena = buffer.offset + buffer.bytes;
  tsr_commands_wait(s, s->ring[i].command);
  return (int32_t)s->plan->buffers.count - 1;
}

void tsr_memory_staged(tsr_scheduler *s, int32_t buffer, int32_t last_user) {
  size_t i = s->plan->buffers.items[buffer].offset / s->ring_bytes;
  s->ring[i].command = last_user;
}
