/*
 * Room for tiles and for staged pieces.
 *
 * When everything fits into the budgets, each tile gets room of its own. When it does not, a
 * device's budget is cut into slots of the size of the largest tile; a tile that is needed takes
 * the free slot, or the one whose tile is needed last of all (Belady: the future is known), and
 * waits for that tile's users.
 */
#include <string.h>

#include "base/alloc.h"
#include "plan/schedule.h"

static const size_t ALIGN = 512, ALIGN_COLUMN = 16; /* bytes */

static size_t round_up(size_t bytes) {
  return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static tsr_status no_memory(void) {
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
}

/* ---- Tiles ---------------------------------------------------------------- */

int64_t tsr_memory_ld(int64_t rows, size_t size) {
  int64_t step = (int64_t)(ALIGN_COLUMN / size);
  return step > 1 ? (rows + step - 1) / step * step : rows;
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
  size_t most = 0, seen = 0;
  for (size_t t = 0; t < graph->tasks.count && seen != (1u << TSR_MATRICES) - 1; t++)
    for (int i = 0; i < 3; i++) {
      const tsr_task_operand *o = &graph->tasks.items[t].operand[i];
      if (o->access == TSR_NONE || (seen >> o->matrix & 1)) continue;
      seen |= 1u << o->matrix;
      size_t size = o->matrix == TSR_W ? tsr_type_get(type->wide)->size : type->size;
      const tsr_tile_grid *grid = &graph->grid[o->matrix];
      size_t rows = (size_t)tsr_memory_ld((int64_t)largest(&grid->rows), size);
      size_t bytes = round_up(rows * largest(&grid->cols) * size);
      if (bytes > most) most = bytes;
    }
  return most;
}

size_t tsr_schedule_least_budget(const tsr_call *call, const tsr_graph *graph) {
  return 3 * largest_tile(call, graph);
}

bool tsr_is_at_home(const tsr_scheduler *s, int matrix, int device) {
  if (matrix == TSR_W || s->call->operand[matrix].location != device) return false;
  return matrix == TSR_C_ || !s->options->copy_homes;
}

/* Calls visit(copy index, place in the sequence) for every use of a copy, in that order. */
typedef void (*visitor)(tsr_scheduler *s, size_t copy, int32_t place);

static void each_use(tsr_scheduler *s, visitor visit) {
  tsr_sequence_rewind(s);
  const tsr_task *task;
  for (int32_t place = 0; (task = tsr_sequence_next(s)) != NULL; place++)
    for (int i = 0; i < 3; i++) {
      const tsr_task_operand *o = &task->operand[i];
      if (o->access == TSR_NONE || tsr_is_at_home(s, o->matrix, task->device)) continue;
      tsr_tile_copy *copy = tsr_copy_of(s, o->matrix, o->tile, task->device);
      visit(s, (size_t)(copy - s->copies), place);
    }
}

static void count_use(tsr_scheduler *s, size_t copy, int32_t place) {
  (void)place;
  s->copies[copy].next++;
}

static void store_use(tsr_scheduler *s, size_t copy, int32_t place) {
  s->uses[s->copies[copy].next++] = place;
}

/* Bytes each device would need if nothing were reused. */
static void total_need(tsr_scheduler *s, size_t *need) {
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

/* Lists the uses of each copy, each list ended by INT32_MAX; copy->next is where its list is. */
static tsr_status list_uses(tsr_scheduler *s, size_t copies) {
  size_t total = 0;
  for (size_t i = 0; i < copies; i++) {
    size_t count = (size_t)s->copies[i].next + 1;
    s->copies[i].next = (int32_t)total;
    total += count;
  }
  s->uses = total < INT32_MAX ? tsr_alloc(sizeof *s->uses * (total + 1)) : NULL;
  if (!s->uses) return no_memory();
  each_use(s, store_use);
  for (size_t i = copies; i-- > 0;) {
    s->uses[s->copies[i].next] = INT32_MAX;
    s->copies[i].next = i == 0 ? 0 : s->copies[i - 1].next + 1;
  }
  return TSR_OK;
}

static tsr_status make_slots(tsr_scheduler *s) {
  s->slot_bytes = largest_tile(s->call, s->graph);
  for (int d = 0; d < s->devices; d++) {
    size_t count = s->options->budget[d] / s->slot_bytes;
    if (count > 1 << 20) count = 1 << 20;
    s->slot_count[d] = (int)count;
    s->slot[d] = tsr_alloc(sizeof **s->slot * (count + 1));
    if (!s->slot[d]) return no_memory();
    for (size_t i = 0; i < count; i++) s->slot[d][i] = (tsr_slot){TSR_NOTHING, TSR_NOTHING};
  }
  return TSR_OK;
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

static tsr_status make_copies(tsr_scheduler *s, size_t *copies) {
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
    s->copies[i] = (tsr_tile_copy){TSR_NOTHING, TSR_NOTHING, TSR_NOTHING, TSR_NOTHING,
                                   TSR_NOTHING, TSR_NOTHING, 0,           false};
  *copies = count;
  return TSR_OK;
}

tsr_status tsr_memory_init(tsr_scheduler *s) {
  size_t copies = 0, need[TSR_MACHINE_DEVICES];
  TSR_TRY(make_copies(s, &copies));
  TSR_TRY(make_ring(s));
  s->slots = true; /* while uses are counted, groups keep the order of the graph */
  each_use(s, count_use);
  s->slots = false;
  total_need(s, need);
  for (int d = 0; d < s->devices; d++) s->slots |= need[d] > s->options->budget[d];
  if (!s->slots) return TSR_OK;
  if (s->options->residency != NULL) { /* rooms are not for sharing */
    s->no_room = true;
    s->slots = false;
    return TSR_OK;
  }
  TSR_TRY(list_uses(s, copies));
  return make_slots(s);
}

void tsr_memory_free(tsr_scheduler *s) {
  tsr_dealloc(s->copies);
  tsr_dealloc(s->uses);
  tsr_dealloc(s->ring);
  for (int d = 0; d < s->devices; d++) tsr_dealloc(s->slot[d]);
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

bool tsr_memory_use(tsr_scheduler *s, tsr_tile_copy *copy, int32_t command) {
  if (!s->slots) return true;
  int queue = s->plan->commands.items[command].queue;
  for (int32_t i = copy->users; i != TSR_NOTHING; i = s->marks.items[i].next) {
    tsr_mark *mark = &s->marks.items[i];
    if (s->plan->commands.items[mark->command].queue != queue) continue;
    mark->command = command;
    return true;
  }
  return tsr_mark_push(s, &copy->users, (tsr_mark){.command = command});
}

/* ---- Slots ---------------------------------------------------------------- */

static int32_t next_use(tsr_scheduler *s, tsr_tile_copy *copy) {
  while (s->uses[copy->next] < s->now) copy->next++;
  return s->uses[copy->next];
}

void tsr_memory_release(tsr_scheduler *s, tsr_tile_copy *copy) {
  if (!s->slots || copy->slot == TSR_NOTHING) return;
  int device = s->plan->buffers.items[copy->buffer].location;
  s->slot[device][copy->slot] = (tsr_slot){TSR_NOTHING, copy->users};
  copy->buffer = copy->pieces = copy->writers = copy->users = copy->slot = TSR_NOTHING;
  copy->dirty = false;
}

/* A free slot, or the one whose tile is needed last and not by the present task. */
static int find_slot(tsr_scheduler *s, int device) {
  int best = TSR_NOTHING;
  int32_t latest = s->now;
  for (int i = 0; i < s->slot_count[device]; i++) {
    int32_t copy = s->slot[device][i].copy;
    if (copy == TSR_NOTHING) return i;
    if (s->copies[copy].dirty) continue;
    int32_t use = next_use(s, &s->copies[copy]);
    if (use <= latest) continue;
    latest = use;
    best = i;
  }
  return best;
}

static bool take_slot(tsr_scheduler *s, tsr_tile_copy *copy, int device, tsr_buffer *buffer) {
  int i = find_slot(s, device);
  if (i == TSR_NOTHING) {
    s->no_room = true;
    return false;
  }
  tsr_slot *slot = &s->slot[device][i];
  if (slot->copy != TSR_NOTHING) tsr_memory_release(s, &s->copies[slot->copy]);
  copy->before = slot->users;
  copy->slot = i;
  slot->copy = (int32_t)(copy - s->copies);
  buffer->offset = (size_t)i * s->slot_bytes;
  buffer->bytes = s->slot_bytes;
  return true;
}

bool tsr_memory_place(tsr_scheduler *s, int matrix, int32_t tile, int device) {
  tsr_tile_copy *copy = tsr_copy_of(s, matrix, tile, device);
  if (copy->buffer != TSR_NOTHING) return true;
  tsr_buffer buffer = tile_rect(s, matrix, tile);
  buffer.location = (int16_t)device;
  if (tsr_has_rooms(s, matrix)) return tsr_rooms_place(s, copy, buffer);
  size_t *arena = &s->plan->arena[device];
  if (s->slots) {
    if (!take_slot(s, copy, device, &buffer)) return false;
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
