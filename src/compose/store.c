#include "compose/store.h"

#include "base/alloc.h"
#include "base/log.h"
#include "compose/heap.h"

struct tsr_stay {
  tsr_region home;
  int device;
  char *memory;
  int64_t ld;                       /* of memory, elements */
  tsr_rects valid, newer;           /* in the home's coordinates */
  tsr_rects next_valid, next_newer; /* once the plan that is being entered is submitted */
  bool changing;                    /* such a plan is: next_* are filled in */
  uint64_t used;                    /* the store's count of views when it was last in one */
  uint64_t stamp;                   /* digest of home where the copy is the same (checking mode) */
};

/* Memory that was given back, and may be in use until the submission of that number is complete. */
typedef struct retired {
  void *memory;
  int location;
  uint64_t number;
} retired;

struct tsr_store {
  int devices;
  tsr_heap *heap[TSR_MAX_DEVICES + 1]; /* at index devices: pinned memory of the host */
  TSR_VEC(tsr_stay *) stays;
  TSR_VEC(retired) retired;
  uint64_t views;
  uint64_t latest; /* number of the last submission */
};

static tsr_status no_memory(void) {
  return tsr_fail(TSR_ERR_MEMORY, "no host memory to note what is on the devices: free some");
}

/* ---- Creating and destroying ---------------------------------------------- */

tsr_status tsr_store_create(const tsr_engine *engine, tsr_engine_state *state, int devices,
                            const size_t *limit, size_t block, tsr_store **store) {
  tsr_store *made = tsr_alloc_zero(1, sizeof *made);
  tsr_status status = made == NULL ? no_memory() : TSR_OK;
  if (status == TSR_OK) made->devices = devices;
  for (int l = 0; l <= devices && status == TSR_OK; l++)
    status =
        tsr_heap_create(engine, state, l < devices ? l : TSR_HOST, limit[l], block, &made->heap[l]);
  if (status == TSR_OK)
    *store = made;
  else
    tsr_store_destroy(made);
  return status;
}

/* Needs no memory: prepare() has reserved it. */
static void retire(tsr_store *store, int location, void *memory) {
  if (memory == NULL) return;
  store->retired.items[store->retired.count++] = (retired){memory, location, store->latest};
}

bool tsr_store_has_retired(const tsr_store *store) {
  return store->retired.count > 0;
}

void tsr_store_reclaim(tsr_store *store, uint64_t completed) {
  size_t kept = 0;
  for (size_t i = 0; i < store->retired.count; i++) {
    retired r = store->retired.items[i];
    if (r.number < completed)
      tsr_heap_give(store->heap[r.location], r.memory);
    else
      store->retired.items[kept++] = r;
  }
  store->retired.count = kept;
}

/* For a stay that is in no list any more. */
static void stay_free(tsr_store *store, tsr_stay *stay) {
  retire(store, stay->device, stay->memory);
  tsr_rects_free(&stay->valid);
  tsr_rects_free(&stay->newer);
  tsr_dealloc(stay);
}

void tsr_store_clear(tsr_store *store) {
  for (size_t i = 0; i < store->stays.count; i++) stay_free(store, store->stays.items[i]);
  store->stays.count = 0;
}

void tsr_store_destroy(tsr_store *store) {
  if (store == NULL) return;
  tsr_store_clear(store);
  TSR_VEC_FREE(&store->stays);
  TSR_VEC_FREE(&store->retired);
  for (int l = 0; l <= store->devices; l++) tsr_heap_destroy(store->heap[l]);
  tsr_dealloc(store);
}

bool tsr_store_has_stays(const tsr_store *store) {
  return store->stays.count > 0;
}

size_t tsr_store_held(const tsr_store *store) {
  size_t held = 0;
  for (int l = 0; l <= store->devices; l++) held += tsr_heap_held(store->heap[l]);
  return held;
}

void tsr_store_limit(tsr_store *store, int location, size_t bytes) {
  tsr_heap_limit(store->heap[location], bytes);
}

size_t tsr_store_used(const tsr_store *store, int device) {
  return tsr_heap_used(store->heap[device]);
}

void tsr_store_trim(tsr_store *store) {
  tsr_store_reclaim(store, UINT64_MAX);
  for (int l = 0; l <= store->devices; l++) tsr_heap_trim(store->heap[l]);
}

static void drop_empty(tsr_store *store) {
  size_t kept = 0;
  for (size_t i = 0; i < store->stays.count; i++) {
    tsr_stay *stay = store->stays.items[i];
    if (stay->valid.count > 0)
      store->stays.items[kept++] = stay;
    else
      stay_free(store, stay);
  }
  store->stays.count = kept;
}

/* ---- Which stays overlap which regions -------------------------------------- */

/* The part of a stay's home that the region overlaps, in the home's coordinates; may be empty. */
static tsr_rect shared(const tsr_stay *stay, const tsr_region *region, tsr_relation *how) {
  tsr_rect at = {0, 0, 0, 0};
  *how = tsr_region_relate(&stay->home, region, &at);
  if (*how == TSR_APART) return at;
  if (*how == TSR_ACROSS) return tsr_region_crossed(&stay->home, region);
  tsr_rect part = tsr_rect_intersect(at, tsr_region_all(region));
  return tsr_rect_make(part.row0 - at.row0, part.col0 - at.col0, part.row1 - part.row0,
                       part.col1 - part.col0);
}

/* ---- Views ---------------------------------------------------------------- */

static tsr_rect shifted(tsr_rect r, int64_t rows, int64_t cols) {
  return (tsr_rect){r.row0 + rows, r.col0 + cols, r.row1 + rows, r.col1 + cols};
}

/* *moved: the part of a set that lies in a rectangle, shifted. */
static bool shift_part(const tsr_rects *set, tsr_rect part, int64_t rows, int64_t cols,
                       tsr_rects *moved) {
  if (!tsr_rects_clip(set, part, moved)) return false;
  for (size_t i = 0; i < moved->count; i++) moved->items[i] = shifted(moved->items[i], rows, cols);
  return true;
}

/* Adds a part of a stay, given in the home's coordinates, as a room of a matrix in which the home's
 * first element is at (row, col). */
static bool add_room(tsr_view *view, int matrix, tsr_stay *stay, tsr_rect part, int64_t row,
                     int64_t col) {
  tsr_room *room = tsr_residency_add(&view->seen, (tsr_room){.device = (int16_t)stay->device,
                                                             .matrix = (uint8_t)matrix,
                                                             .rect = shifted(part, row, col),
                                                             .ld = stay->ld});
  return room != NULL && TSR_VEC_PUSH(&view->stays, stay) &&
         shift_part(&stay->valid, part, row, col, &room->valid) &&
         shift_part(&stay->newer, part, row, col, &room->newer);
}

static bool is_in_view(const tsr_view *view, const tsr_stay *stay) {
  for (size_t i = 0; i < view->stays.count; i++)
    if (view->stays.items[i] == stay) return true;
  return false;
}

/* If a stay is a room of another operand already, its memory may be written to as that room. As
 * rooms of this operand it gives only its valid parts, to which nobody writes. */
static bool add_again(tsr_view *view, int matrix, tsr_stay *stay, tsr_rect part, int64_t row,
                      int64_t col) {
  tsr_rects parts = {0};
  bool done = tsr_rects_clip(&stay->valid, part, &parts);
  for (size_t i = 0; done && i < parts.count; i++)
    done = add_room(view, matrix, stay, parts.items[i], row, col);
  tsr_rects_free(&parts);
  return done;
}

static bool add_stay(tsr_store *store, tsr_view *view, int matrix, tsr_stay *stay) {
  const tsr_region *region = &view->region[matrix];
  tsr_relation how;
  tsr_rect at, part = shared(stay, region, &how);
  if (how != TSR_ALONG) return true;
  (void)tsr_region_relate(&stay->home, region, &at);
  bool again = is_in_view(view, stay);
  stay->used = store->views;
  return (again ? add_again : add_room)(view, matrix, stay, part, at.row0, at.col0);
}

tsr_status tsr_store_view(tsr_store *store, const tsr_region region[TSR_OPERANDS], tsr_view *view) {
  tsr_view made = {.seen = {{0}}};
  store->views++;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    made.region[x] = region[x];
    for (size_t i = 0; i < store->stays.count; i++) {
      if (add_stay(store, &made, x, store->stays.items[i])) continue;
      tsr_view_free(&made);
      return no_memory();
    }
  }
  *view = made;
  return TSR_OK;
}

void tsr_view_free(tsr_view *view) {
  tsr_residency_free(&view->seen);
  TSR_VEC_FREE(&view->stays);
}

/* Row and column of the region at which a room's home has its first element. */
static void offset_of(const tsr_view *view, size_t room, int64_t *row, int64_t *col) {
  tsr_rect at = {0, 0, 0, 0};
  (void)tsr_region_relate(&view->stays.items[room]->home,
                          &view->region[view->seen.rooms.items[room].matrix], &at);
  *row = at.row0;
  *col = at.col0;
}

/* The memory of a view's room. */
static void *memory_of(const tsr_view *view, size_t room) {
  const tsr_stay *stay = view->stays.items[room];
  tsr_rect rect = view->seen.rooms.items[room].rect;
  int64_t row, col;
  offset_of(view, room, &row, &col);
  return stay->memory +
         ((rect.row0 - row) + (rect.col0 - col) * stay->ld) * (int64_t)stay->home.size;
}

bool tsr_view_has_newer(const tsr_view *view) {
  for (size_t i = 0; i < view->seen.rooms.count; i++)
    if (view->seen.rooms.items[i].newer.count > 0) return true;
  return false;
}

/* ---- Crossing and forgetting ---------------------------------------------- */

bool tsr_store_crossing(const tsr_store *store, const tsr_region *region, tsr_region *part) {
  for (size_t i = 0; i < store->stays.count; i++) {
    const tsr_stay *stay = store->stays.items[i];
    tsr_relation how;
    tsr_rect rect = shared(stay, region, &how);
    if (how != TSR_ACROSS || tsr_rect_empty(rect) || !tsr_rects_meets(&stay->newer, rect)) continue;
    *part = tsr_region_part(&stay->home, rect);
    return true;
  }
  return false;
}

/* Reserves memory for a hole in a copy. If there is none, all of the copy is forgotten instead,
 * provided that nothing in it is newer than home. */
static bool reserve_hole(tsr_stay *stay, tsr_rect part) {
  if (tsr_rects_reserve(&stay->valid, part) && tsr_rects_reserve(&stay->newer, part)) return true;
  if (stay->newer.count > 0) return false;
  tsr_rects_free(&stay->valid);
  return true;
}

static bool make_hole(tsr_stay *stay, tsr_rect part) {
  return tsr_rects_subtract(&stay->valid, part) && tsr_rects_subtract(&stay->newer, part);
}

/* Changes the stays that overlap the region; crossing_only: those of them that cross it. */
static bool change_each(tsr_store *store, const tsr_region *region, bool crossing_only,
                        bool (*change)(tsr_stay *stay, tsr_rect part)) {
  for (size_t i = 0; i < store->stays.count; i++) {
    tsr_stay *stay = store->stays.items[i];
    tsr_relation how;
    tsr_rect rect = shared(stay, region, &how);
    if (how == TSR_APART || tsr_rect_empty(rect)) continue;
    if (crossing_only && how == TSR_ALONG) continue;
    if (!change(stay, rect)) return false;
  }
  return true;
}

/* All or nothing: memory for all holes is there before the first one is made. */
static tsr_status forget(tsr_store *store, const tsr_region *region, bool crossing_only) {
  bool done = change_each(store, region, crossing_only, reserve_hole) &&
              change_each(store, region, crossing_only, make_hole);
  drop_empty(store);
  return done ? TSR_OK : no_memory();
}

tsr_status tsr_store_forget(tsr_store *store, const tsr_region *region) {
  return forget(store, region, false);
}

tsr_status tsr_store_forget_crossing(tsr_store *store, const tsr_region *region) {
  return forget(store, region, true);
}

/* ---- The rooms of a plan -------------------------------------------------- */

static void allocation_free(tsr_allocation *allocation) {
  tsr_dealloc(allocation->rooms);
  tsr_dealloc(allocation->stays);
  tsr_dealloc(allocation->noted);
  *allocation = (tsr_allocation){.count = 0};
}

static bool allocation_make(size_t count, tsr_allocation *allocation) {
  *allocation = (tsr_allocation){.count = count};
  allocation->rooms = tsr_alloc_zero(count + 1, sizeof *allocation->rooms);
  allocation->stays = tsr_alloc_zero(count + 1, sizeof *allocation->stays);
  allocation->noted = tsr_alloc_zero(count + 1, sizeof *allocation->noted);
  if (allocation->rooms != NULL && allocation->stays != NULL && allocation->noted != NULL)
    return true;
  allocation_free(allocation);
  return false;
}

/* ---- What a plan will leave there ----------------------------------------- */

/* Replaces what a set has in a part of a stay by what the plan leaves in the room there. */
static bool replace_part(tsr_rects *set, tsr_rect part, const tsr_rects *by, int64_t row,
                         int64_t col) {
  if (!tsr_rects_subtract(set, part)) return false;
  for (size_t i = 0; i < by->count; i++)
    if (!tsr_rects_add(set, shifted(by->items[i], -row, -col))) return false;
  return true;
}

/* A stay may be several rooms of one plan: the first one begins the change. */
static bool begin_change(tsr_stay *stay) {
  if (stay->changing) return true;
  stay->changing = true;
  return tsr_rects_copy(&stay->valid, &stay->next_valid) &&
         tsr_rects_copy(&stay->newer, &stay->next_newer);
}

static bool change_stay(const tsr_view *view, size_t index, const tsr_room *after,
                        tsr_stay **noted) {
  tsr_stay *stay = *noted = view->stays.items[index];
  int64_t row, col;
  offset_of(view, index, &row, &col);
  tsr_rect part = shifted(after->rect, -row, -col);
  return begin_change(stay) && replace_part(&stay->next_valid, part, &after->valid, row, col) &&
         replace_part(&stay->next_newer, part, &after->newer, row, col);
}

static bool make_stay(const tsr_store *store, const tsr_view *view, const tsr_room *room,
                      void *memory, tsr_stay **noted) {
  tsr_stay *stay = *noted = tsr_alloc_zero(1, sizeof *stay);
  if (stay == NULL) return false;
  *stay = (tsr_stay){.home = tsr_region_part(&view->region[room->matrix], room->rect),
                     .device = room->device,
                     .memory = memory,
                     .ld = room->ld,
                     .used = store->views,
                     .changing = true};
  int64_t row = -room->rect.row0, col = -room->rect.col0;
  return shift_part(&room->valid, room->rect, row, col, &stay->next_valid) &&
         shift_part(&room->newer, room->rect, row, col, &stay->next_newer);
}

/* Reserves all memory for noting the plan, before it is submitted: a plan that cannot be noted must
 * not begin. Afterwards all stays, and the plan's arenas, can be retired without memory. */
static tsr_status prepare(tsr_store *store, const tsr_view *view, const tsr_plan *plan,
                          tsr_allocation *allocation) {
  size_t pieces = store->stays.count + allocation->count + (size_t)store->devices + 1;
  bool done =
      TSR_VEC_RESERVE(&store->stays, allocation->count) && TSR_VEC_RESERVE(&store->retired, pieces);
  for (size_t i = 0; i < allocation->count && done; i++) {
    const tsr_room *room = &plan->after->rooms.items[i];
    done = room->bytes == 0
               ? change_stay(view, i, room, &allocation->noted[i])
               : make_stay(store, view, room, allocation->rooms[i], &allocation->noted[i]);
  }
  return done ? TSR_OK : no_memory();
}

static void swap(tsr_rects *a, tsr_rects *b) {
  tsr_rects former = *a;
  *a = *b;
  *b = former;
}

static void end_change(tsr_stay *stay, bool submitted) {
  if (!stay->changing) return;
  stay->changing = false;
  if (submitted) swap(&stay->valid, &stay->next_valid);
  if (submitted) swap(&stay->newer, &stay->next_newer);
  tsr_rects_free(&stay->next_valid);
  tsr_rects_free(&stay->next_newer);
}

void tsr_store_note(tsr_store *store, const tsr_plan *plan, tsr_allocation *allocation,
                    uint64_t number) {
  store->latest = number;
  for (int l = 0; l <= store->devices; l++) retire(store, l, allocation->arena[l]);
  for (size_t i = 0; i < allocation->count; i++) {
    tsr_stay *stay = allocation->noted[i];
    end_change(stay, true);
    if (plan->after->rooms.items[i].bytes > 0) store->stays.items[store->stays.count++] = stay;
  }
  drop_empty(store);
  allocation_free(allocation);
}

void tsr_store_give(tsr_store *store, const tsr_plan *plan, tsr_allocation *allocation) {
  for (size_t i = 0; i < allocation->count; i++) {
    const tsr_room *room = &plan->after->rooms.items[i];
    if (allocation->noted[i] != NULL) end_change(allocation->noted[i], false);
    if (room->bytes == 0) continue;
    tsr_heap_give(store->heap[room->device], allocation->rooms[i]);
    tsr_dealloc(allocation->noted[i]);
  }
  for (int l = 0; l <= store->devices; l++) tsr_heap_give(store->heap[l], allocation->arena[l]);
  allocation_free(allocation);
}

static tsr_status take_room(tsr_store *store, const tsr_view *view, const tsr_room *room, size_t i,
                            tsr_allocation *allocation) {
  if (room->bytes == 0) {
    allocation->rooms[i] = memory_of(view, i);
    allocation->stays[i] = view->stays.items[i]->memory;
    return TSR_OK;
  }
  TSR_TRY(tsr_heap_take(store->heap[room->device], room->bytes, &allocation->rooms[i]));
  allocation->stays[i] = allocation->rooms[i];
  return TSR_OK;
}

static tsr_status take_all(tsr_store *store, const tsr_view *view, const tsr_plan *plan,
                           tsr_allocation *allocation, int *short_of) {
  for (int l = 0; l <= store->devices; l++) {
    *short_of = l;
    if (plan->arena[l] > 0)
      TSR_TRY(tsr_heap_take(store->heap[l], plan->arena[l], &allocation->arena[l]));
  }
  for (size_t i = 0; i < allocation->count; i++) {
    *short_of = plan->after->rooms.items[i].device;
    TSR_TRY(take_room(store, view, &plan->after->rooms.items[i], i, allocation));
  }
  return TSR_OK;
}

tsr_status tsr_store_take(tsr_store *store, const tsr_view *view, const tsr_plan *plan,
                          tsr_allocation *allocation, int *short_of) {
  *short_of = -1;
  if (!allocation_make(plan->after->rooms.count, allocation)) return no_memory();
  tsr_status status = take_all(store, view, plan, allocation, short_of);
  if (status == TSR_OK) {
    *short_of = -1;
    status = prepare(store, view, plan, allocation);
  }
  if (status != TSR_OK) tsr_store_give(store, plan, allocation);
  return status;
}

/* ---- Making room ---------------------------------------------------------- */

tsr_stay *tsr_store_oldest(const tsr_store *store, const tsr_view *view, tsr_region *home,
                           bool *dirty) {
  tsr_stay *best = NULL;
  for (size_t i = 0; i < store->stays.count; i++) {
    tsr_stay *stay = store->stays.items[i];
    if (is_in_view(view, stay) || (best != NULL && stay->used >= best->used)) continue;
    best = stay;
  }
  if (best == NULL) return NULL;
  *home = best->home;
  *dirty = best->newer.count > 0;
  return best;
}

void tsr_store_drop(tsr_store *store, tsr_stay *stay) {
  tsr_rects_free(&stay->valid);
  tsr_rects_free(&stay->newer);
  drop_empty(store);
}

bool tsr_store_newer(const tsr_store *store, tsr_region *home) {
  for (size_t i = 0; i < store->stays.count; i++) {
    if (store->stays.items[i]->newer.count == 0) continue;
    *home = store->stays.items[i]->home;
    return true;
  }
  return false;
}

/* ---- Checking ------------------------------------------------------------- */

static uint64_t digest_bytes(uint64_t hash, const char *bytes, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* Of the parts of home of which the device has the same. */
static uint64_t digest_home(const tsr_stay *stay) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < stay->valid.count; i++) {
    tsr_rect r = stay->valid.items[i];
    if (tsr_rects_meets(&stay->newer, r)) continue;
    for (int64_t col = r.col0; col < r.col1; col++)
      hash = digest_bytes(hash, tsr_region_address(&stay->home, r.row0, col),
                          (r.row1 - r.row0) * (int64_t)stay->home.size);
  }
  return hash;
}

static bool touches(const tsr_stay *stay, const tsr_region *region) {
  tsr_relation how;
  tsr_rect rect = shared(stay, region, &how);
  return how != TSR_APART && !tsr_rect_empty(rect);
}

void tsr_store_stamp(tsr_store *store, const tsr_region *region) {
  for (size_t i = 0; i < store->stays.count; i++) {
    tsr_stay *stay = store->stays.items[i];
    if (touches(stay, region)) stay->stamp = digest_home(stay);
  }
}

tsr_status tsr_store_check(const tsr_store *store, const tsr_region *region) {
  for (size_t i = 0; i < store->stays.count; i++) {
    const tsr_stay *stay = store->stays.items[i];
    if (!touches(stay, region) || stay->stamp == digest_home(stay)) continue;
    return tsr_fail(TSR_ERR_CHECK,
                    "host memory at %p (%lld x %lld elements of %zu bytes, ld %lld) was changed "
                    "while device %d has a copy of it; call tsr_invalidate after changing it",
                    (void *)stay->home.base, (long long)stay->home.rows, (long long)stay->home.cols,
                    stay->home.size, (long long)stay->home.ld, stay->device);
  }
  return TSR_OK;
}
