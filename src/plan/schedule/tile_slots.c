/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/tile_slots.h"

#include "base/alloc.h"
#include "blas/family.h"
#include "plan/tuning.h"

void tsr_tile_slots_init(tsr_tile_slots *s, const tsr_problem *problem,
                         const tsr_commands *commands, tsr_copies *copies, tsr_marks *marks) {
  s->problem = problem;
  s->commands = commands;
  s->copies = copies;
  s->marks = marks;
}

void tsr_tile_slots_free(tsr_tile_slots *s) {
  tsr_dealloc(s->uses);
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++) {
    tsr_dealloc(s->of[d].slot);
    tsr_dealloc(s->of[d].last);
    tsr_dealloc(s->of[d].next);
  }
}

/* ---- Uses ----------------------------------------------------------------- */

/* The tiles that a task uses: those of its three operands, and those of A and B that other forms
 * among its first two operands are made of, which may have to be made again. */
enum { USES = 5 };

/* The copy of tile `use` at the task's device; NULL: the task has no such tile, or uses it at home.
 */
static tsr_tile_copy *used_by(const tsr_problem *problem, tsr_copies *copies, const tsr_task *task,
                              int use) {
  const tsr_task_operand *o = &task->operand[use % 3];
  if (o->access == TSR_NONE || (use >= 3 && !tsr_is_made(o->matrix))) return NULL;
  tsr_task_operand used = use < 3 ? *o : tsr_operand_source(problem, o);
  if (tsr_is_at_home(problem, used.matrix, task->device)) return NULL;
  return tsr_copy_of(copies, used.matrix, used.tile, task->device);
}

void tsr_tile_slots_count_uses(const tsr_problem *problem, tsr_copies *copies) {
  const tsr_graph *graph = problem->graph;
  for (size_t t = 0; t < graph->tasks.count; t++)
    for (int i = 0; i < USES; i++) {
      tsr_tile_copy *copy = used_by(problem, copies, &graph->tasks.items[t], i);
      if (copy) copy->next++;
    }
}

static tsr_status store_uses(tsr_tile_slots *s, tsr_sequence *sequence) {
  const tsr_task *task;
  TSR_TRY(tsr_sequence_rewind(sequence, true));
  for (int32_t place = 0; (task = tsr_sequence_next(sequence)) != NULL; place++)
    for (int i = 0; i < USES; i++) {
      tsr_tile_copy *copy = used_by(s->problem, s->copies, task, i);
      if (copy) s->uses[copy->next++] = place;
    }
  return TSR_OK;
}

/* Lists the uses of each copy, each list ended by INT32_MAX. copy->next becomes the index of the
 * copy's list. */
static tsr_status list_uses(tsr_tile_slots *s, tsr_sequence *sequence) {
  tsr_tile_copy *copy = s->copies->items;
  size_t total = 0, copies = s->copies->first[TSR_MATRICES];
  for (size_t i = 0; i < copies; i++) {
    size_t count = (size_t)copy[i].next + 1;
    copy[i].next = (int32_t)total;
    total += count;
  }
  s->uses = total < INT32_MAX ? tsr_alloc(sizeof *s->uses * (total + 1)) : NULL;
  if (!s->uses) return tsr_problem_no_memory();
  TSR_TRY(store_uses(s, sequence));
  for (size_t i = copies; i-- > 0;) {
    s->uses[copy[i].next] = INT32_MAX;
    copy[i].next = i == 0 ? 0 : copy[i - 1].next + 1;
  }
  return TSR_OK;
}

static int32_t next_use(const tsr_tile_slots *s, tsr_tile_copy *copy) {
  while (s->uses[copy->next] < s->now) copy->next++;
  return s->uses[copy->next];
}

/* ---- Slots ---------------------------------------------------------------- */

static tsr_device_slots *slots_at(tsr_tile_slots *s, const tsr_tile_copy *copy) {
  return &s->of[s->commands->plan->buffers.items[copy->buffer].location];
}

/* A slot is set when it is taken first: of a large budget's slots, few ever are. */
static bool create(size_t count, tsr_device_slots *d) {
  d->slot = tsr_alloc(sizeof *d->slot * (count + 1));
  d->last = tsr_alloc(sizeof *d->last * (count + 1));
  d->next = tsr_alloc(sizeof *d->next * (count + 1));
  if (!d->slot || !d->last || !d->next) return false;
  d->count = (int)count;
  return true;
}

tsr_status tsr_tile_slots_start(tsr_tile_slots *s, size_t bytes, tsr_sequence *sequence) {
  static const size_t most = TSR_TUNE_SLOTS_MOST;
  TSR_TRY(list_uses(s, sequence));
  s->in_use = true;
  s->bytes = bytes;
  for (int d = 0; d < s->problem->devices; d++) {
    size_t count = s->problem->options->budget[d] / bytes;
    if (!create(count > most ? most : count, &s->of[d])) return tsr_problem_no_memory();
  }
  return TSR_OK;
}

/* The latest next use among the slots not used after `recent`; -1: no such slot. This loop and the
 * one in `oldest` are most of the planning time of a call that does not fit. Compilers vectorise
 * them because they have no branches and load every value they may need. */
static int32_t latest(const tsr_device_slots *d, int32_t recent) {
  const int32_t *last = d->last, *next = d->next;
  int32_t most = -1;
  for (int i = 0, count = d->count; i < count; i++) {
    int32_t one = next[i] | -(last[i] > recent);
    most = one > most ? one : most;
  }
  return most;
}

/* The slot used longest ago, among the slots with next use `use` that were not used after
 * `recent`. */
static int oldest(const tsr_device_slots *d, int32_t use, int32_t recent) {
  const int32_t *last = d->last, *next = d->next;
  int32_t least = recent;
  for (int i = 0, count = d->count; i < count; i++) {
    int32_t other = -(next[i] != use), one = (last[i] & ~other) | (recent & other);
    least = one < least ? one : least;
  }
  int found = 0;
  while (next[found] != use || last[found] != least) found++;
  return found;
}

/* The slot for a tile that is next used at place `use`: its present tile is used later, and not by
 * the present task. TSR_NOTHING: no such slot. */
static int find_slot(const tsr_tile_slots *s, int device, int32_t use) {
  const tsr_device_slots *d = &s->of[device];
  if (d->taken < d->count) return d->taken;
  int64_t before = s->now - s->problem->options->lookahead[device];
  int32_t recent = before < INT32_MIN ? INT32_MIN : (int32_t)before;
  int32_t next = latest(d, recent);
  if (next > use) return oldest(d, next, recent);
  next = latest(d, INT32_MAX);
  return next > use ? oldest(d, next, INT32_MAX) : TSR_NOTHING;
}

static void release(tsr_device_slots *d, tsr_tile_copy *copy) {
  d->slot[copy->slot] = (tsr_slot){TSR_NOTHING, copy->users};
  d->next[copy->slot] = INT32_MAX;
  copy->buffer = copy->pieces = copy->writers = copy->users = copy->slot = TSR_NOTHING;
  copy->lines = 0;
  copy->whole = copy->awaited = false;
}

bool tsr_tile_slots_take(tsr_tile_slots *s, tsr_tile_copy *copy, int device, tsr_buffer *buffer) {
  tsr_device_slots *d = &s->of[device];
  int32_t use = next_use(s, copy);
  int i = find_slot(s, device, use);
  if (i == TSR_NOTHING) return false;
  if (i == d->taken) d->slot[d->taken++] = (tsr_slot){TSR_NOTHING, TSR_NOTHING};
  if (d->slot[i].copy != TSR_NOTHING) release(d, &s->copies->items[d->slot[i].copy]);
  copy->before = d->slot[i].users;
  copy->slot = i;
  d->slot[i].copy = (int32_t)(copy - s->copies->items);
  d->last[i] = s->now;
  d->next[i] = use;
  buffer->offset = (size_t)i * s->bytes;
  buffer->bytes = s->bytes;
  return true;
}

bool tsr_tile_slots_can_prefetch(const tsr_tile_slots *s, tsr_tile_copy *copy, int device) {
  if (copy->buffer != TSR_NOTHING) return true;
  int32_t use = next_use(s, copy);
  if (use - s->now >
      s->problem->options->lookahead[device] + TSR_TUNE_PREFETCH_TURNS * s->problem->devices)
    return false;
  return find_slot(s, device, use) != TSR_NOTHING;
}

bool tsr_tile_slots_use(tsr_tile_slots *s, tsr_tile_copy *copy, int32_t command) {
  if (!s->in_use) return true;
  int queue = tsr_commands_queue_of(s->commands, command);
  slots_at(s, copy)->last[copy->slot] = s->now;
  for (int32_t i = copy->users; i != TSR_NOTHING; i = s->marks->pool.items[i].next) {
    tsr_mark *mark = &s->marks->pool.items[i];
    if (tsr_commands_queue_of(s->commands, mark->command) != queue) continue;
    mark->command = command;
    return true;
  }
  return tsr_marks_push(s->marks, &copy->users, (tsr_mark){.command = command});
}

static bool has_slot(const tsr_tile_slots *s, const tsr_tile_copy *copy) {
  return s->in_use && copy->buffer != TSR_NOTHING;
}

void tsr_tile_slots_set_dirty(tsr_tile_slots *s, tsr_tile_copy *copy, bool dirty) {
  if (has_slot(s, copy)) slots_at(s, copy)->next[copy->slot] = dirty ? -1 : next_use(s, copy);
}

/* Says which task needs the copy's slot next. A dirty copy keeps its slot whatever comes. */
static void set_next_use(tsr_tile_slots *s, const tsr_tile_copy *copy, int32_t place) {
  int32_t *next = &slots_at(s, copy)->next[copy->slot];
  if (*next >= 0) *next = place;
}

void tsr_tile_slots_keep(tsr_tile_slots *s, tsr_tile_copy *copy) {
  if (has_slot(s, copy)) set_next_use(s, copy, s->now);
}

/* The copy's uses are a list that ends with INT32_MAX, a place behind all tasks. */
static int32_t use_after(const tsr_tile_slots *s, const tsr_tile_copy *copy, int32_t place) {
  int32_t at = copy->next;
  while (s->uses[at] <= place) at++;
  return s->uses[at];
}

void tsr_tile_slots_give_up(tsr_tile_slots *s, tsr_tile_copy *copy) {
  if (has_slot(s, copy)) set_next_use(s, copy, use_after(s, copy, s->now));
}

bool tsr_tile_slots_are_converted(const tsr_tile_slots *s, int matrix, int64_t row, int64_t col,
                                  int device) {
  const tsr_problem *p = s->problem;
  if (!tsr_call_has_form(p->call) || tsr_family_of(p->call->operation) == TSR_TRIANGLE)
    return false;
  for (int x = TSR_RA; x <= TSR_RB2; x++) {
    if (!tsr_lines_are_of(p->call, p->graph, x, matrix)) continue;
    int32_t tile = tsr_lines_tile(p->call, p->graph, x, row, col);
    tsr_rect rect = tsr_tile_rect(p, x, tile);
    tsr_tile_copy *copy = tsr_copy_of(s->copies, x, tile, device);
    bool unused = s->in_use && next_use(s, copy) == INT32_MAX;
    if (copy->lines < rect.col1 - rect.col0 && !unused) return false;
  }
  return true;
}

void tsr_tile_slots_give_back(tsr_tile_slots *s, tsr_tile_copy *copy) {
  if (has_slot(s, copy)) release(slots_at(s, copy), copy);
}

void tsr_tile_slots_end_use(tsr_tile_slots *s, tsr_tile_copy *copy) {
  tsr_device_slots *d = slots_at(s, copy);
  int32_t next = next_use(s, copy);
  if (next == INT32_MAX)
    release(d, copy);
  else if (d->next[copy->slot] >= 0)
    d->next[copy->slot] = next;
}
