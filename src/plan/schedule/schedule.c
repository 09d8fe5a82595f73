#include "plan/schedule/schedule.h"

#include "base/alloc.h"
#include "base/queue.h"
#include "blas/family.h"

/* ---- Set-up --------------------------------------------------------------- */

static tsr_status find_readers(tsr_scheduler *s) {
  for (int x = TSR_A; x <= TSR_B_; x++) {
    const tsr_tile_grid *grid = &s->graph->grid[x];
    size_t tiles = (size_t)grid->rows.count * (size_t)grid->cols.count;
    s->readers[x] = tsr_alloc_zero(tiles + 1, sizeof *s->readers[x]);
    if (!s->readers[x]) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  }
  const tsr_tile_grid *c = &s->graph->grid[TSR_C_];
  size_t tiles_of_c = (size_t)c->rows.count * (size_t)c->cols.count;
  s->brought = tsr_alloc(sizeof *s->brought * (tiles_of_c + 1));
  if (!s->brought) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  for (size_t t = 0; t < tiles_of_c; t++) s->brought[t] = TSR_NOTHING;
  for (size_t t = 0; t < s->graph->tasks.count; t++) {
    const tsr_task *task = &s->graph->tasks.items[t];
    for (int i = 0; i < 3; i++) {
      const tsr_task_operand *o = &task->operand[i];
      if (o->access != TSR_NONE && o->matrix <= TSR_B_)
        s->readers[o->matrix][o->tile] |= 1u << task->device;
    }
  }
  return TSR_OK;
}

static bool add_homes(tsr_scheduler *s) {
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const tsr_operand *o = &s->call->operand[x];
    tsr_buffer home = {.rows = o->rows,
                       .cols = o->cols,
                       .ld = o->ld,
                       .role = TSR_BUFFER_HOME,
                       .matrix = (uint8_t)x,
                       .location = (int16_t)o->location};
    if (!TSR_VEC_PUSH(&s->plan->buffers, home)) return false;
  }
  return true;
}

/* A lane is in order. With more of them than threads, one that a slow thread has held up can make
 * up for it. */
enum { LANES_OF_A_THREAD = 2 };

static tsr_status set_up(tsr_scheduler *s) {
  const tsr_type_info *type = tsr_type_get(s->call->type);
  for (int x = 0; x < TSR_OPERANDS; x++) s->size[x] = type->size;
  s->size[TSR_W] = tsr_type_get(type->wide)->size;
  s->devices = s->machine->devices;
  s->host = s->machine->devices;
  s->plan->lane_threads = s->machine->lanes > 0 ? s->machine->lanes : 1;
  s->lanes = LANES_OF_A_THREAD * s->plan->lane_threads;
  if (s->lanes > TSR_PLAN_LANES) s->lanes = TSR_PLAN_LANES;
  TSR_TRY(tsr_commands_init(s));
  TSR_TRY(tsr_route_init(s));
  TSR_TRY(find_readers(s));
  if (!add_homes(s)) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  TSR_TRY(tsr_sequence_init(s));
  TSR_TRY(tsr_rooms_init(s));
  TSR_TRY(tsr_memory_init(s));
  tsr_sequence_rewind(s);
  if (!tsr_route_open_rooms(s))
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  return TSR_OK;
}

static void tear_down(tsr_scheduler *s) {
  tsr_memory_free(s);
  tsr_rooms_free(s);
  tsr_sequence_free(s);
  tsr_route_free(s);
  tsr_dealloc(s->seen);
  tsr_dealloc(s->brought);
  for (int x = 0; x < TSR_OPERANDS; x++) tsr_dealloc(s->readers[x]);
}

/* ---- One task ------------------------------------------------------------- */

static bool was_written(tsr_scheduler *s, const tsr_tile_copy *copy, const tsr_task_operand *o) {
  for (int32_t i = copy->writers; i != TSR_NOTHING; i = s->marks.items[i].next)
    if (tsr_mark_touches(&s->marks.items[i], o)) return true;
  return false;
}

/* Brings a part of W to the device from that where it was computed. */
static bool collect(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (s->slots) { /* the owner gives W's slot back after its last product */
    s->no_room = true;
    return false;
  }
  for (int d = 0; d < s->devices; d++)
    if (was_written(s, tsr_copy_of(s, o->matrix, o->tile, d), o))
      return tsr_route_collect(s, o, d, device);
  return false;
}

/* Room for an operand at the task's device, and its data when it is read and not there. */
static bool provide_data(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (!(o->access & TSR_READ)) return true;
  if (o->matrix >= TSR_C_ && was_written(s, tsr_copy_of(s, o->matrix, o->tile, device), o))
    return true;
  if (o->matrix == TSR_W) return collect(s, o, device);
  if (o->matrix == TSR_C_ && tsr_has_rooms(s, TSR_C_)) return tsr_route_gather(s, o, device);
  if (o->matrix == TSR_C_ && tsr_family_of(s->call->operation) == TSR_RANK)
    return tsr_route_fetch_alone(s, o, device);
  return tsr_route_fetch(s, o, device);
}

/* Of a block across the diagonal of C only a triangle changes, and comes home. */
static bool is_across(const tsr_scheduler *s, const tsr_task_operand *o) {
  return o->matrix == TSR_C_ && tsr_family_of(s->call->operation) == TSR_RANK && o->row == o->col;
}

static bool provide(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (o->access == TSR_NONE || tsr_is_at_home(s, o->matrix, device)) return true;
  if (!tsr_memory_place(s, o->matrix, o->tile, device)) return false;
  bool settles = tsr_has_rooms(s, o->matrix) && is_across(s, o) &&
                 !was_written(s, tsr_copy_of(s, o->matrix, o->tile, device), o);
  return provide_data(s, o, device) && (!settles || tsr_route_settle(s, o, device));
}

/* Whether kernels of one queue alone use tiles of the matrix at a device: of C it is either that of
 * products or that of additions, where there is no triangle. */
static bool has_one_user(const tsr_scheduler *s, int matrix) {
  if (s->options->streams > 1) return false;
  return matrix <= TSR_B_ || (matrix == TSR_C_ && tsr_family_of(s->call->operation) == TSR_PRODUCT);
}

/* What a queue has waited for once is there for all that comes after in it. */
static void wait_for_operand(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (o->access == TSR_NONE) return;
  tsr_tile_copy *copy = tsr_copy_of(s, o->matrix, o->tile, device);
  tsr_commands_wait_touching(s, copy->writers, o);
  if (copy->awaited) return;
  bool all = tsr_route_wait(s, o, device);
  if (o->access & TSR_WRITE) tsr_commands_wait_marks(s, copy->before);
  copy->awaited = all && has_one_user(s, o->matrix);
}

static int32_t buffer_of(tsr_scheduler *s, const tsr_task_operand *o, int device) {
  if (o->access == TSR_NONE) return TSR_NO_BUFFER;
  if (tsr_is_at_home(s, o->matrix, device)) return o->matrix;
  return tsr_copy_of(s, o->matrix, o->tile, device)->buffer;
}

/* Kernels on one part of C share a stream; neighbours go to different ones. Beside a triangle all
 * share one: blocks depend on each other, and the small kernels that a block on the diagonal is
 * solved with would each wait for a long one of another stream to make room. */
static int queue_of(tsr_scheduler *s, const tsr_task *task) {
  if (tsr_kernel_get((tsr_kernel)task->kernel)->bound_by_memory)
    return tsr_commands_queue(s, task->device, TSR_QUEUE_ADD, 0);
  const tsr_task_operand *c = &task->operand[2];
  int64_t part = c->tile + c->col / (c->cols ? c->cols : 1);
  if (tsr_family_of(s->call->operation) == TSR_TRIANGLE) part = 0;
  return tsr_commands_queue(s, task->device, TSR_QUEUE_COMPUTE, (int)(part % s->options->streams));
}

static int32_t emit(tsr_scheduler *s, const tsr_task *task) {
  tsr_command command = {.kind = TSR_COMMAND_KERNEL,
                         .kernel = task->kernel,
                         .flags = task->flags,
                         .form = task->form,
                         .m = task->m,
                         .n = task->n,
                         .k = task->k};
  for (int i = 0; i < 3; i++) {
    const tsr_task_operand *o = &task->operand[i];
    wait_for_operand(s, o, task->device);
    command.buffer[i] = buffer_of(s, o, task->device);
    command.row[i] = o->row;
    command.col[i] = o->col;
  }
  command.queue = (uint16_t)queue_of(s, task);
  return tsr_commands_add(s, command);
}

/* Remembers who wrote to the rectangle, so that later readers wait. */
static bool note_writer(tsr_scheduler *s, tsr_tile_copy *copy, const tsr_task_operand *o,
                        int32_t command) {
  for (int32_t i = copy->writers; i != TSR_NOTHING; i = s->marks.items[i].next) {
    tsr_mark *mark = &s->marks.items[i];
    if (mark->col != o->col || mark->cols != o->cols || mark->row != o->row ||
        mark->rows != o->rows)
      continue;
    mark->command = command;
    return true;
  }
  return tsr_mark_push(s, &copy->writers,
                       (tsr_mark){o->row, o->rows, o->col, o->cols, command, TSR_NOTHING});
}

static bool note_operands(tsr_scheduler *s, const tsr_task *task, int32_t command) {
  for (int i = 0; i < 3; i++) {
    const tsr_task_operand *o = &task->operand[i];
    if (o->access == TSR_NONE) continue;
    tsr_tile_copy *copy = tsr_copy_of(s, o->matrix, o->tile, task->device);
    if (o->access & TSR_WRITE) {
      if (!note_writer(s, copy, o, command)) return false;
      tsr_slots_set_dirty(s, copy, true);
    }
    if (copy->buffer != TSR_NOTHING && !tsr_slots_use(s, copy, command)) return false;
  }
  return true;
}

/* With slots: tiles that no later task at the device uses give their room back. */
static void release_finished(tsr_scheduler *s, const tsr_task *task) {
  if (!s->slots) return;
  s->now++;
  for (int i = 0; i < 3; i++) {
    const tsr_task_operand *o = &task->operand[i];
    if (o->access == TSR_NONE) continue;
    tsr_tile_copy *copy = tsr_copy_of(s, o->matrix, o->tile, task->device);
    if (copy->buffer != TSR_NOTHING) tsr_slots_pass(s, copy);
  }
}

static bool covers_tile(const tsr_scheduler *s, const tsr_task_operand *o) {
  const tsr_tile_grid *grid = &s->graph->grid[o->matrix];
  int i = o->tile / grid->cols.count, j = o->tile % grid->cols.count;
  return o->rows == grid->rows.at[i + 1] - grid->rows.at[i] &&
         o->cols == grid->cols.at[j + 1] - grid->cols.at[j];
}

/* A tile of C that is complete and at home may make room, and be read again. */
static bool bring_home(tsr_scheduler *s, const tsr_task *task, int32_t command) {
  const tsr_task_operand *c = &task->operand[2];
  if (tsr_is_at_home(s, c->matrix, task->device)) return true;
  tsr_uplo uplo = tsr_kernel_triangle((tsr_kernel)task->kernel, task->form);
  if (tsr_has_rooms(s, TSR_C_) && uplo == TSR_GENERAL) return true; /* it stays */
  if (!tsr_homing_add(s, c, uplo, task->device, command)) return false;
  tsr_tile_copy *copy = tsr_copy_of(s, c->matrix, c->tile, task->device);
  if (covers_tile(s, c)) tsr_slots_set_dirty(s, copy, false);
  return true;
}

static bool schedule_task(tsr_scheduler *s, const tsr_task *task) {
  for (int i = 0; i < 3; i++)
    if (!provide(s, &task->operand[i], task->device)) return false;
  int32_t command = emit(s, task);
  if (command == TSR_NOTHING || !note_operands(s, task, command)) return false;
  if (task->last && !bring_home(s, task, command)) return false;
  release_finished(s, task);
  return true;
}

static bool schedule_tasks(tsr_scheduler *s, const void *unused) {
  (void)unused;
  const tsr_task *task;
  for (int32_t place = 0; (task = tsr_sequence_next(s)) != NULL; place++) {
    s->now = place;
    if (!schedule_task(s, task)) return false;
  }
  return tsr_homing_finish(s);
}

tsr_status tsr_schedule(const tsr_machine *machine, const tsr_graph *graph,
                        const tsr_schedule_options *options, tsr_plan *plan, tsr_fit *fit) {
  return tsr_schedule_with(machine, graph, options, schedule_tasks, NULL, plan, fit);
}

tsr_status tsr_schedule_with(const tsr_machine *machine, const tsr_graph *graph,
                             const tsr_schedule_options *options, tsr_schedule_work work,
                             const void *what, tsr_plan *plan, tsr_fit *fit) {
  tsr_scheduler *s = tsr_alloc_zero(1, sizeof *s);
  if (!s) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  s->machine = machine;
  s->call = &plan->call;
  s->graph = graph;
  s->options = options;
  s->plan = plan;
  tsr_status status = set_up(s);
  bool done = status == TSR_OK && !s->no_room && work(s, what) && tsr_rooms_finish(s);
  *fit = !done ? TSR_FITS_NOT : s->slots ? TSR_FITS_TIGHT : TSR_FITS_IN;
  if (status == TSR_OK && !done && !s->no_room)
    status = tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  tear_down(s);
  tsr_dealloc(s);
  return status;
}
