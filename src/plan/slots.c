/*
 * Slots: memory that tiles share when a budget does not suffice for all of them.
 *
 * A device's budget is cut into slots of the size of the largest tile. All uses of a tile are known
 * beforehand, and by their place in the sequence how long ago a slot was used last. A new tile
 * takes the slot whose tile is needed last (Belady, "A study of replacement algorithms", 1966) of
 * those that have not been used for some time (`ahead`): the copy waits for the last users, and
 * would come too late if these were the kernels right before its own. With Belady's rule alone they
 * would be, since what was used just now is often what is needed last. The longer ahead, the more
 * memory waits for copies, and the less keeps what is needed again; the search finds the best.
 */
#include "base/alloc.h"
#include "plan/schedule.h"

static tsr_status no_memory(void) {
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
}

/* ---- Uses ----------------------------------------------------------------- */

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

void tsr_slots_count_uses(tsr_scheduler *s) {
  s->slots = true; /* while uses are counted, groups keep the order of the graph */
  each_use(s, count_use);
  s->slots = false;
}

/* Lists the uses of each copy, each list ended by INT32_MAX; copy->next is where its list is. */
static tsr_status list_uses(tsr_scheduler *s) {
  size_t total = 0, copies = s->first_copy[TSR_MATRICES];
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

static int32_t next_use(tsr_scheduler *s, tsr_tile_copy *copy) {
  while (s->uses[copy->next] < s->now) copy->next++;
  return s->uses[copy->next];
}

/* ---- Slots ---------------------------------------------------------------- */

tsr_status tsr_slots_init(tsr_scheduler *s, size_t bytes) {
  TSR_TRY(list_uses(s));
  s->slot_bytes = bytes;
  for (int d = 0; d < s->devices; d++) {
    size_t count = s->options->budget[d] / bytes;
    if (count > 1 << 20) count = 1 << 20;
    s->slot_count[d] = (int)count;
    s->slot[d] = tsr_alloc(sizeof **s->slot * (count + 1));
    if (!s->slot[d]) return no_memory();
    for (size_t i = 0; i < count; i++)
      s->slot[d][i] = (tsr_slot){TSR_NOTHING, TSR_NOTHING, INT32_MIN, INT32_MAX, false};
  }
  return TSR_OK;
}

void tsr_slots_free(tsr_scheduler *s) {
  tsr_dealloc(s->uses);
  for (int d = 0; d < s->devices; d++) tsr_dealloc(s->slot[d]);
}

/* What speaks for taking a slot. */
typedef struct offer {
  bool in_time; /* not used for some time */
  int32_t next; /* when what is in it is used next; INT32_MAX: never */
  int32_t last;
} offer;

static bool is_better(const offer *a, const offer *b) {
  if (a->in_time != b->in_time) return a->in_time;
  if (a->next != b->next) return a->next > b->next;
  return a->last < b->last;
}

/* The slot to take for a tile that is used at place `use`, or TSR_NOTHING: what it holds is used
 * later, and not by the present task. */
static int find_slot(tsr_scheduler *s, int device, int32_t use) {
  int best = TSR_NOTHING;
  offer best_offer = {false, use, INT32_MAX};
  int64_t recent = s->now - s->options->ahead;
  if (s->slots_taken[device] < s->slot_count[device]) return s->slots_taken[device];
  for (int i = 0; i < s->slot_count[device]; i++) {
    tsr_slot *slot = &s->slot[device][i];
    if (slot->dirty) continue;
    if (slot->next < s->now) slot->next = next_use(s, &s->copies[slot->copy]);
    offer one = {slot->last <= recent, slot->next, slot->last};
    if (one.next <= use || (best != TSR_NOTHING && !is_better(&one, &best_offer))) continue;
    best = i;
    best_offer = one;
  }
  return best;
}

static void release(tsr_scheduler *s, tsr_tile_copy *copy) {
  int device = s->plan->buffers.items[copy->buffer].location;
  tsr_slot *slot = &s->slot[device][copy->slot];
  slot->copy = TSR_NOTHING;
  slot->users = copy->users;
  slot->next = INT32_MAX;
  slot->dirty = false;
  copy->buffer = copy->pieces = copy->writers = copy->users = copy->slot = TSR_NOTHING;
  copy->whole = copy->awaited = false;
}

bool tsr_slots_take(tsr_scheduler *s, tsr_tile_copy *copy, int device, tsr_buffer *buffer) {
  int32_t use = next_use(s, copy);
  int i = find_slot(s, device, use);
  if (i == TSR_NOTHING) {
    s->no_room = true;
    return false;
  }
  tsr_slot *slot = &s->slot[device][i];
  if (i == s->slots_taken[device]) s->slots_taken[device]++;
  if (slot->copy != TSR_NOTHING) release(s, &s->copies[slot->copy]);
  copy->before = slot->users;
  copy->slot = i;
  slot->copy = (int32_t)(copy - s->copies);
  slot->last = s->now;
  slot->next = use;
  buffer->offset = (size_t)i * s->slot_bytes;
  buffer->bytes = s->slot_bytes;
  return true;
}

bool tsr_slots_welcome(tsr_scheduler *s, tsr_tile_copy *copy, int device) {
  if (copy->buffer != TSR_NOTHING) return true;
  int32_t use = next_use(s, copy);
  if (use - s->now > s->options->ahead + 2 * s->devices) return false;
  return find_slot(s, device, use) != TSR_NOTHING;
}

bool tsr_slots_use(tsr_scheduler *s, tsr_tile_copy *copy, int32_t command) {
  if (!s->slots) return true;
  int device = s->plan->buffers.items[copy->buffer].location;
  int queue = s->plan->commands.items[command].queue;
  s->slot[device][copy->slot].last = s->now;
  for (int32_t i = copy->users; i != TSR_NOTHING; i = s->marks.items[i].next) {
    tsr_mark *mark = &s->marks.items[i];
    if (s->plan->commands.items[mark->command].queue != queue) continue;
    mark->command = command;
    return true;
  }
  return tsr_mark_push(s, &copy->users, (tsr_mark){.command = command});
}

void tsr_slots_set_dirty(tsr_scheduler *s, const tsr_tile_copy *copy, bool dirty) {
  if (!s->slots || copy->buffer == TSR_NOTHING) return;
  s->slot[s->plan->buffers.items[copy->buffer].location][copy->slot].dirty = dirty;
}

void tsr_slots_release_unused(tsr_scheduler *s, tsr_tile_copy *copy) {
  if (next_use(s, copy) == INT32_MAX) release(s, copy);
}
