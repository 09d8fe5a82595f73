/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "compose/store.h"

#include "base/alloc.h"
#include "base/log.h"
#include "compose/heap.h"
#include "compose/tuning.h"

struct tsr_entry {
  tsr_region home;
  int device;
  char *memory;
  int64_t ld;             /* of memory [elements] */
  tsr_rects valid, newer; /* in the home's coordinates: parts that are valid on the device,
                             and those among them that are newer than home */
  tsr_rects next_valid, next_newer; /* the same after the plan that is being submitted */
  bool changing;                    /* a plan is being submitted: next_* are filled in */
  uint64_t used;                    /* store->looks when a call last found the entry */
  uint64_t number;                  /* of the last job that changed the entry */
  uint64_t stamp;                   /* for checking mode: digest of home where the copy is equal */
};

/* Memory that was given back, but that jobs up to this number may still use. */
typedef struct retired {
  void *memory;
  int location;
  uint64_t number;
} retired;

struct tsr_store {
  int devices, locations;
  /* By location: of the devices, and of pinned memory on host memory nodes. */
  tsr_heap *heap[TSR_MAX_DEVICES + TSR_MACHINE_NODES];
  TSR_VEC(tsr_entry *) entries;
  TSR_VEC(retired) retired;
  uint64_t looks;  /* number of calls of tsr_store_look */
  uint64_t latest; /* number of the last job */
};

static tsr_status no_memory(void) {
  return tsr_fail(TSR_ERR_MEMORY, "no host memory to note the blocks on devices; free some");
}

/* ---- Creating and destroying ---------------------------------------------- */

static tsr_status create_heap(tsr_store *store, const tsr_engine *engine, tsr_engine_state *state,
                              const size_t *limit, size_t block, const tsr_near *near,
                              int location) {
  bool host = location >= store->devices;
  tsr_heap **heap = &store->heap[location];
  TSR_TRY(tsr_heap_create(engine, state, host ? TSR_HOST : location,
                          limit[host ? store->devices : location], block, heap));
  if (host && near != NULL) tsr_heap_place(*heap, near, location - store->devices);
  return TSR_OK;
}

tsr_status tsr_store_create(const tsr_engine *engine, tsr_engine_state *state, int devices,
                            const size_t *limit, size_t block, const tsr_near *near,
                            tsr_store **store) {
  tsr_store *made = tsr_alloc_zero(1, sizeof *made);
  tsr_status status = made == NULL ? no_memory() : TSR_OK;
  if (status == TSR_OK) made->devices = devices;
  if (status == TSR_OK) made->locations = devices + TSR_MACHINE_NODES;
  for (int l = 0; l < devices + TSR_MACHINE_NODES && status == TSR_OK; l++)
    status = create_heap(made, engine, state, limit, block, near, l);
  if (status == TSR_OK)
    *store = made;
  else
    tsr_store_destroy(made);
  return status;
}

/* Gives memory back once the last job is complete. Needs no host memory: prepare() has reserved it.
 */
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

/* Frees an entry that is no longer in store->entries. */
static void entry_free(tsr_store *store, tsr_entry *entry) {
  retire(store, entry->device, entry->memory);
  tsr_rects_free(&entry->valid);
  tsr_rects_free(&entry->newer);
  tsr_dealloc(entry);
}

void tsr_store_clear(tsr_store *store) {
  for (size_t i = 0; i < store->entries.count; i++) entry_free(store, store->entries.items[i]);
  store->entries.count = 0;
}

void tsr_store_destroy(tsr_store *store) {
  if (store == NULL) return;
  tsr_store_clear(store);
  TSR_VEC_FREE(&store->entries);
  TSR_VEC_FREE(&store->retired);
  for (int l = 0; l < store->locations; l++) tsr_heap_destroy(store->heap[l]);
  tsr_dealloc(store);
}

bool tsr_store_has_entries(const tsr_store *store) {
  return store->entries.count > 0;
}

size_t tsr_store_held(const tsr_store *store) {
  size_t held = 0;
  for (int l = 0; l < store->locations; l++) held += tsr_heap_held(store->heap[l]);
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
  for (int l = 0; l < store->locations; l++) tsr_heap_trim(store->heap[l]);
}

void tsr_store_trim_rings(tsr_store *store) {
  for (int l = store->devices; l < store->locations; l++) tsr_heap_trim(store->heap[l]);
}

static void drop_empty(tsr_store *store) {
  size_t kept = 0;
  for (size_t i = 0; i < store->entries.count; i++) {
    tsr_entry *entry = store->entries.items[i];
    if (entry->valid.count > 0)
      store->entries.items[kept++] = entry;
    else
      entry_free(store, entry);
  }
  store->entries.count = kept;
}

/* ---- Which entries overlap which regions ------------------------------------ */

/* The part of the entry's home that the region overlaps, in the home's coordinates; may be empty.
 */
static tsr_rect shared(const tsr_entry *entry, const tsr_region *region, tsr_relation *how) {
  tsr_rect at = {0, 0, 0, 0};
  *how = tsr_region_relate(&entry->home, region, &at);
  if (*how == TSR_DISJOINT) return at;
  if (*how == TSR_CROSSING) return tsr_region_crossed(&entry->home, region);
  tsr_rect part = tsr_rect_intersect(at, tsr_region_all(region));
  return tsr_rect_make(part.row0 - at.row0, part.col0 - at.col0, part.row1 - part.row0,
                       part.col1 - part.col0);
}

/* ---- After failures --------------------------------------------------------- */

bool tsr_store_renew(tsr_store *store, const tsr_region *region) {
  bool done = true;
  for (size_t i = 0; i < store->entries.count && done; i++) {
    tsr_entry *entry = store->entries.items[i];
    tsr_relation how;
    tsr_rect rect = shared(entry, region, &how);
    if (how == TSR_DISJOINT || tsr_rect_empty(rect)) continue;
    tsr_rects_free(&entry->newer);
    done = tsr_rects_copy(&entry->valid, &entry->newer);
  }
  return done;
}

bool tsr_store_drop_lost(tsr_store *store, uint32_t devices, uint64_t first) {
  bool newer = false;
  for (size_t i = 0; i < store->entries.count; i++) {
    tsr_entry *entry = store->entries.items[i];
    if (!(devices >> entry->device & 1) && entry->number < first) continue;
    newer |= entry->newer.count > 0;
    tsr_rects_free(&entry->valid);
    tsr_rects_free(&entry->newer);
  }
  drop_empty(store);
  return newer;
}

/* ---- The cached blocks that a call finds ------------------------------------ */

static tsr_rect shifted(tsr_rect r, int64_t rows, int64_t cols) {
  return (tsr_rect){r.row0 + rows, r.col0 + cols, r.row1 + rows, r.col1 + cols};
}

static tsr_shape shape_shifted(tsr_shape shape, int64_t rows, int64_t cols) {
  return (tsr_shape){shifted(shape.rect, rows, cols), shape.uplo};
}

/* *moved: the intersection of the set with part, shifted by rows and cols. False: no host memory.
 */
static bool shift_part(const tsr_rects *set, tsr_rect part, int64_t rows, int64_t cols,
                       tsr_rects *moved) {
  if (!tsr_rects_clip(set, part, moved)) return false;
  for (size_t i = 0; i < moved->count; i++)
    moved->items[i].rect = shifted(moved->items[i].rect, rows, cols);
  return true;
}

static void swap(tsr_rects *a, tsr_rects *b) {
  tsr_rects former = *a;
  *a = *b;
  *b = former;
}

/* Whether a call that uses this triangle of an operand can use the shape, in the operand's
 * coordinates. */
static bool is_usable(tsr_shape shape, int uplo) {
  if (!tsr_is_triangle(shape)) return true;
  return shape.uplo == uplo && shape.rect.row0 == shape.rect.col0;
}

/* Whether a call can use a newer triangle that is not of its kind where it is, because all of its
 * square is valid: a call that reads it, and one that changes all of the square's other part. */
static bool is_whole(const tsr_rects *valid, tsr_shape at_home, tsr_shape shape,
                     const tsr_use *use) {
  bool changes = use->uplo == TSR_GENERAL || shape.rect.row0 == shape.rect.col0;
  return use->as != TSR_MOVED && (use->as == TSR_READ_ONLY || changes) &&
         tsr_rects_covers(valid, at_home.rect);
}

/* Adds a newer shape to those that a call can use. Of C, a square of which the call changes the
 * other part will be newer as a whole. */
static bool add_newer(const tsr_cached_block *block, tsr_shape shape, const tsr_use *use,
                      tsr_rects *usable) {
  if (is_usable(shape, (int)use->uplo)) return tsr_rects_add_shape(usable, shape);
  if (!is_whole(&block->valid, shape, shape, use)) return true;
  return tsr_rects_add_shape(usable, use->as == TSR_CHANGED ? tsr_shape_of(shape.rect) : shape);
}

/* Adds a valid shape to those that a call can use: itself, or its square if all of that is valid.
 */
static bool add_valid(const tsr_cached_block *block, tsr_shape shape, int uplo, tsr_rects *usable) {
  if (is_usable(shape, uplo)) return tsr_rects_add_shape(usable, shape);
  return !tsr_rects_covers(&block->valid, shape.rect) || tsr_rects_add(usable, shape.rect);
}

/* Keeps the shapes that a call can use. A part that is newer is valid, too, whichever shapes the
 * two sets have there. */
static bool keep_usable(tsr_cached_block *block, const tsr_use *use) {
  tsr_rects newer = {0}, valid = {0};
  bool done = true;
  for (size_t i = 0; done && i < block->newer.count; i++)
    done = add_newer(block, block->newer.items[i], use, &newer);
  for (size_t i = 0; done && i < block->valid.count; i++)
    done = add_valid(block, block->valid.items[i], (int)use->uplo, &valid);
  for (size_t i = 0; done && i < newer.count; i++)
    done = tsr_rects_add_shape(&valid, newer.items[i]);
  if (done) swap(&block->newer, &newer);
  if (done) swap(&block->valid, &valid);
  tsr_rects_free(&newer);
  tsr_rects_free(&valid);
  return done;
}

/* Adds part of the entry (in the home's coordinates) as a cached block of a matrix in which the
 * home's first element is at (row, col). */
static bool add_block(tsr_found *found, int matrix, tsr_entry *entry, tsr_rect part, int64_t row,
                      int64_t col) {
  tsr_cached_block *block =
      tsr_residency_add(&found->seen, (tsr_cached_block){.device = (int16_t)entry->device,
                                                         .matrix = (uint8_t)matrix,
                                                         .rect = shifted(part, row, col),
                                                         .ld = entry->ld});
  bool done = block != NULL && TSR_VEC_PUSH(&found->entries, entry) &&
              shift_part(&entry->valid, part, row, col, &block->valid) &&
              shift_part(&entry->newer, part, row, col, &block->newer);
  return done && (found->all || keep_usable(block, &found->use[matrix]));
}

static bool is_found(const tsr_found *found, const tsr_entry *entry) {
  for (size_t i = 0; i < found->entries.count; i++)
    if (found->entries.items[i] == entry) return true;
  return false;
}

/* Adds an entry that is already a cached block of another operand, as which the plan may write to
 * it. For this operand only its valid parts become cached blocks: a plan does not write to those.
 */
static bool add_again(tsr_found *found, int matrix, tsr_entry *entry, tsr_rect part, int64_t row,
                      int64_t col) {
  tsr_rects parts = {0};
  bool done = tsr_rects_clip(&entry->valid, part, &parts);
  for (size_t i = 0; done && i < parts.count; i++)
    done = add_block(found, matrix, entry, parts.items[i].rect, row, col);
  tsr_rects_free(&parts);
  return done;
}

static bool add_entry(tsr_store *store, tsr_found *found, int matrix, tsr_entry *entry) {
  const tsr_region *region = &found->region[matrix];
  tsr_relation how;
  tsr_rect at, part = shared(entry, region, &how);
  if (how != TSR_ALIGNED) return true;
  (void)tsr_region_relate(&entry->home, region, &at);
  bool again = is_found(found, entry);
  entry->used = store->looks;
  return (again ? add_again : add_block)(found, matrix, entry, part, at.row0, at.col0);
}

tsr_status tsr_store_look(tsr_store *store, const tsr_region region[TSR_OPERANDS],
                          const tsr_use *use, tsr_found *found) {
  tsr_found made = {.all = use == NULL};
  store->looks++;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    made.region[x] = region[x];
    if (use != NULL) made.use[x] = use[x];
    for (size_t i = 0; i < store->entries.count; i++) {
      if (add_entry(store, &made, x, store->entries.items[i])) continue;
      tsr_found_free(&made);
      return no_memory();
    }
  }
  *found = made;
  return TSR_OK;
}

void tsr_found_free(tsr_found *found) {
  tsr_residency_free(&found->seen);
  TSR_VEC_FREE(&found->entries);
}

/* The coordinates, in the operand, of the first element of the block's home. */
static void offset_of(const tsr_found *found, size_t block, int64_t *row, int64_t *col) {
  tsr_rect at = {0, 0, 0, 0};
  (void)tsr_region_relate(&found->entries.items[block]->home,
                          &found->region[found->seen.blocks.items[block].matrix], &at);
  *row = at.row0;
  *col = at.col0;
}

/* The memory of a found block. */
static void *memory_of(const tsr_found *found, size_t block) {
  const tsr_entry *entry = found->entries.items[block];
  tsr_rect rect = found->seen.blocks.items[block].rect;
  int64_t row, col;
  offset_of(found, block, &row, &col);
  return entry->memory +
         ((rect.row0 - row) + (rect.col0 - col) * entry->ld) * (int64_t)entry->home.size;
}

bool tsr_found_has_newer(const tsr_found *found) {
  for (size_t i = 0; i < found->seen.blocks.count; i++)
    if (found->seen.blocks.items[i].newer.count > 0) return true;
  return false;
}

void tsr_found_keep_triangles(tsr_found *found, bool whole) {
  for (size_t b = 0; b < found->seen.blocks.count; b++) {
    tsr_cached_block *block = &found->seen.blocks.items[b];
    size_t kept = 0;
    for (size_t i = 0; i < block->newer.count; i++) {
      tsr_shape shape = block->newer.items[i];
      if (!tsr_is_triangle(shape)) continue;
      if (whole || !tsr_rects_covers(&block->valid, shape.rect)) block->newer.items[kept++] = shape;
    }
    block->newer.count = kept;
  }
}

/* ---- Triangles ------------------------------------------------------------ */

/* The largest square of a region whose diagonal is that of a shape in the region. */
static tsr_region square_on(const tsr_region *region, tsr_rect shape) {
  int64_t d = shape.row0 - shape.col0, row = d > 0 ? d : 0, col = d < 0 ? -d : 0;
  int64_t rows = region->rows - row, cols = region->cols - col, order = rows < cols ? rows : cols;
  return tsr_region_part(region, tsr_rect_make(row, col, order, order));
}

/* Makes *newer, a set, what is newer in an aligned entry of the region, in the region's
 * coordinates. False: no host memory. */
static bool find_newer(const tsr_entry *entry, const tsr_region *region, tsr_rects *newer) {
  tsr_relation how;
  tsr_rect part = shared(entry, region, &how), at;
  newer->count = 0;
  if (how != TSR_ALIGNED || tsr_rect_empty(part)) return true;
  (void)tsr_region_relate(&entry->home, region, &at);
  return shift_part(&entry->newer, part, at.row0, at.col0, newer);
}

/* Does what tsr_store_triangle does, in one entry. False: no host memory. */
static bool find_triangle(const tsr_entry *entry, const tsr_region *region, const tsr_use *use,
                          tsr_region *square, tsr_uplo *is) {
  tsr_rect at = {0, 0, 0, 0};
  tsr_rects newer = {0};
  bool done = find_newer(entry, region, &newer);
  (void)tsr_region_relate(&entry->home, region, &at);
  for (size_t i = 0; done && i < newer.count; i++) {
    tsr_shape shape = newer.items[i], at_home = shape_shifted(shape, -at.row0, -at.col0);
    if (is_usable(shape, (int)use->uplo) || is_whole(&entry->valid, at_home, shape, use)) continue;
    *square = square_on(region, shape.rect);
    *is = (tsr_uplo)shape.uplo;
  }
  tsr_rects_free(&newer);
  return done;
}

tsr_status tsr_store_triangle(const tsr_store *store, const tsr_region *region, const tsr_use *use,
                              tsr_region *square, tsr_uplo *is) {
  *square = (tsr_region){.base = NULL};
  for (size_t i = 0; i < store->entries.count && square->base == NULL; i++)
    if (!find_triangle(store->entries.items[i], region, use, square, is)) return no_memory();
  return TSR_OK;
}

/* ---- Cutting triangles ------------------------------------------------------ */

/* An entry in a region that a call uses. */
typedef struct overlap {
  const tsr_entry *entry;
  tsr_rect of_home, at; /* the region's part of the home; the home in the region */
  const tsr_use *use;
} overlap;

/* *cut: the call cannot use a shape of the entry as it is. False: no host memory. */
static bool must_cut(const overlap *p, tsr_shape shape, bool *cut) {
  tsr_rects one = {&shape, 1, 1}, inside = {0};
  bool done = tsr_rects_clip(&one, p->of_home, &inside);
  *cut = false;
  for (size_t i = 0; done && i < inside.count; i++) {
    tsr_shape in_region = shape_shifted(inside.items[i], p->at.row0, p->at.col0);
    *cut |= !is_usable(in_region, (int)p->use->uplo) &&
            !is_whole(&p->entry->valid, inside.items[i], in_region, p->use);
  }
  tsr_rects_free(&inside);
  return done;
}

/* Adds a triangle in rectangles and triangles of at most so many rows. */
static bool add_cut(tsr_rects *set, tsr_shape shape, int64_t most) {
  tsr_shape piece[3];
  if (!tsr_is_triangle(shape) || shape.rect.row1 - shape.rect.row0 <= most)
    return tsr_rects_add_shape(set, shape);
  tsr_shape_halve(shape, piece);
  for (int i = 0; i < 3; i++)
    if (!add_cut(set, piece[i], most)) return false;
  return true;
}

static bool add_cut_if_needed(const overlap *p, tsr_shape shape, tsr_rects *set) {
  int64_t most = (shape.rect.row1 - shape.rect.row0) / TSR_TUNE_TRIANGLE_PARTS;
  bool cut;
  if (most < TSR_TUNE_TRIANGLE_LEAST) most = TSR_TUNE_TRIANGLE_LEAST;
  return must_cut(p, shape, &cut) && add_cut(set, shape, cut ? most : INT64_MAX);
}

/* *after, a set, is the set with the triangles cut that the call cannot use. */
static bool cut_set(const overlap *p, const tsr_rects *set, tsr_rects *after) {
  for (size_t i = 0; i < set->count; i++)
    if (!add_cut_if_needed(p, set->items[i], after)) return false;
  return true;
}

static bool cut_entry(tsr_entry *entry, const tsr_region *region, const tsr_use *use) {
  tsr_relation how;
  overlap p = {entry, shared(entry, region, &how), {0, 0, 0, 0}, use};
  tsr_rects valid = {0}, newer = {0};
  if (how != TSR_ALIGNED || tsr_rect_empty(p.of_home)) return true;
  (void)tsr_region_relate(&entry->home, region, &p.at);
  bool done = cut_set(&p, &entry->valid, &valid) && cut_set(&p, &entry->newer, &newer);
  if (done) swap(&entry->valid, &valid);
  if (done) swap(&entry->newer, &newer);
  tsr_rects_free(&valid);
  tsr_rects_free(&newer);
  return done;
}

tsr_status tsr_store_cut_triangles(tsr_store *store, const tsr_region *region, const tsr_use *use) {
  for (size_t i = 0; i < store->entries.count; i++)
    if (!cut_entry(store->entries.items[i], region, use)) return no_memory();
  return TSR_OK;
}

/* ---- A triangle alone ------------------------------------------------------- */

/* *inside: a part of a newer triangle of an entry in the region's triangle; empty: none. */
static bool find_other_triangle(const tsr_entry *entry, const tsr_region *region, tsr_uplo uplo,
                                tsr_shape *inside) {
  tsr_rects newer = {0}, parts = {0};
  tsr_shape asked = {tsr_region_all(region), uplo};
  bool done = find_newer(entry, region, &newer);
  *inside = tsr_shape_of((tsr_rect){0, 0, 0, 0});
  for (size_t i = 0; done && i < newer.count; i++) {
    tsr_rects one = {&newer.items[i], 1, 1};
    if (is_usable(newer.items[i], uplo)) continue;
    done = tsr_rects_clip_shape(&one, asked, &parts);
    if (done && parts.count > 0) *inside = parts.items[0];
  }
  tsr_rects_free(&newer);
  tsr_rects_free(&parts);
  return done;
}

tsr_status tsr_store_other_triangle(const tsr_store *store, const tsr_region *region, tsr_uplo uplo,
                                    tsr_region *part, tsr_uplo *is) {
  *part = (tsr_region){.base = NULL};
  for (size_t i = 0; i < store->entries.count && part->base == NULL; i++) {
    tsr_shape inside;
    if (!find_other_triangle(store->entries.items[i], region, uplo, &inside)) return no_memory();
    if (tsr_rect_empty(inside.rect)) continue;
    *part = tsr_region_part(region, inside.rect);
    *is = (tsr_uplo)inside.uplo;
  }
  return TSR_OK;
}

/* ---- Crossing and forgetting ---------------------------------------------- */

bool tsr_store_crossing(const tsr_store *store, const tsr_region *region, tsr_region *part) {
  for (size_t i = 0; i < store->entries.count; i++) {
    const tsr_entry *entry = store->entries.items[i];
    tsr_relation how;
    tsr_rect rect = shared(entry, region, &how);
    if (how != TSR_CROSSING || tsr_rect_empty(rect) || !tsr_rects_meets(&entry->newer, rect))
      continue;
    *part = tsr_region_part(&entry->home, rect);
    return true;
  }
  return false;
}

/* Reserves host memory to remove part from the entry. If there is none, forgets the whole entry,
 * unless part of it is newer than its home: then false. */
static bool reserve_hole(tsr_entry *entry, tsr_rect part) {
  if (tsr_rects_reserve(&entry->valid, part) && tsr_rects_reserve(&entry->newer, part)) return true;
  if (entry->newer.count > 0) return false;
  tsr_rects_free(&entry->valid);
  return true;
}

static bool make_hole(tsr_entry *entry, tsr_rect part) {
  return tsr_rects_subtract(&entry->valid, part) && tsr_rects_subtract(&entry->newer, part);
}

/* Calls change for each entry that overlaps (crossing_only: crosses) the region. */
static bool change_each(tsr_store *store, const tsr_region *region, bool crossing_only,
                        bool (*change)(tsr_entry *entry, tsr_rect part)) {
  for (size_t i = 0; i < store->entries.count; i++) {
    tsr_entry *entry = store->entries.items[i];
    tsr_relation how;
    tsr_rect rect = shared(entry, region, &how);
    if (how == TSR_DISJOINT || tsr_rect_empty(rect)) continue;
    if (crossing_only && how == TSR_ALIGNED) continue;
    if (!change(entry, rect)) return false;
  }
  return true;
}

/* Reserves host memory for all changes before the first, so that the change is all or nothing. */
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

/* ---- The cached blocks of a plan -------------------------------------------------- */

static void allocation_free(tsr_allocation *allocation) {
  tsr_dealloc(allocation->blocks);
  tsr_dealloc(allocation->entries);
  tsr_dealloc(allocation->noted);
  *allocation = (tsr_allocation){.count = 0};
}

static bool allocation_make(size_t count, tsr_allocation *allocation) {
  *allocation = (tsr_allocation){.count = count};
  allocation->blocks = tsr_alloc_zero(count + 1, sizeof *allocation->blocks);
  allocation->entries = tsr_alloc_zero(count + 1, sizeof *allocation->entries);
  allocation->noted = tsr_alloc_zero(count + 1, sizeof *allocation->noted);
  if (allocation->blocks != NULL && allocation->entries != NULL && allocation->noted != NULL)
    return true;
  allocation_free(allocation);
  return false;
}

/* ---- The entries after a plan ----------------------------------------------- */

static bool add_shifted(tsr_rects *set, const tsr_rects *by, int64_t rows, int64_t cols) {
  for (size_t i = 0; i < by->count; i++)
    if (!tsr_rects_add_shape(set, shape_shifted(by->items[i], rows, cols))) return false;
  return true;
}

/* Replaces the set within part by by, which is in the operand's coordinates. */
static bool replace_part(tsr_rects *set, tsr_rect part, const tsr_rects *by, int64_t row,
                         int64_t col) {
  if (!tsr_rects_subtract(set, part)) return false;
  return add_shifted(set, by, -row, -col);
}

/* Removes from the set what was newer before a write-back, and adds what is newer after it. */
static bool change_newer(tsr_rects *set, const tsr_rects *before, const tsr_rects *after,
                         int64_t row, int64_t col) {
  for (size_t i = 0; i < before->count; i++)
    if (!tsr_rects_subtract_shape(set, shape_shifted(before->items[i], -row, -col))) return false;
  return add_shifted(set, after, -row, -col);
}

/* Starts a change of the entry, unless another cached block of the same plan has done so: an entry
 * may be several cached blocks of one plan. */
static bool begin_change(tsr_entry *entry) {
  if (entry->changing) return true;
  entry->changing = true;
  return tsr_rects_copy(&entry->valid, &entry->next_valid) &&
         tsr_rects_copy(&entry->newer, &entry->next_newer);
}

/* A write-back changes nothing on devices: triangles that it has not found stay valid, or newer. */
static bool change_entry(const tsr_found *found, size_t index, const tsr_plan *plan,
                         tsr_entry **noted) {
  const tsr_cached_block *after = &plan->after->blocks.items[index];
  tsr_entry *entry = *noted = found->entries.items[index];
  int64_t row, col;
  offset_of(found, index, &row, &col);
  if (plan->moves && after->matrix == TSR_C_)
    return begin_change(entry) &&
           change_newer(&entry->next_newer, &found->seen.blocks.items[index].newer, &after->newer,
                        row, col);
  tsr_rect part = shifted(after->rect, -row, -col);
  return begin_change(entry) && replace_part(&entry->next_valid, part, &after->valid, row, col) &&
         replace_part(&entry->next_newer, part, &after->newer, row, col);
}

static bool make_entry(const tsr_store *store, const tsr_found *found,
                       const tsr_cached_block *block, void *memory, tsr_entry **noted) {
  tsr_entry *entry = *noted = tsr_alloc_zero(1, sizeof *entry);
  if (entry == NULL) return false;
  *entry = (tsr_entry){.home = tsr_region_part(&found->region[block->matrix], block->rect),
                       .device = block->device,
                       .memory = memory,
                       .ld = block->ld,
                       .used = store->looks,
                       .changing = true};
  int64_t row = -block->rect.row0, col = -block->rect.col0;
  return shift_part(&block->valid, block->rect, row, col, &entry->next_valid) &&
         shift_part(&block->newer, block->rect, row, col, &entry->next_newer);
}

/* Prepares the entries as they will be after the plan and reserves all host memory that noting the
 * plan needs, because a plan that cannot be noted must not be submitted. Afterwards, retiring all
 * entries and the plan's arenas needs no host memory. */
static tsr_status prepare(tsr_store *store, const tsr_found *found, const tsr_plan *plan,
                          tsr_allocation *allocation) {
  size_t pieces = store->entries.count + allocation->count + (size_t)store->locations;
  bool done = TSR_VEC_RESERVE(&store->entries, allocation->count) &&
              TSR_VEC_RESERVE(&store->retired, pieces);
  for (size_t i = 0; i < allocation->count && done; i++) {
    const tsr_cached_block *block = &plan->after->blocks.items[i];
    done = block->bytes == 0
               ? change_entry(found, i, plan, &allocation->noted[i])
               : make_entry(store, found, block, allocation->blocks[i], &allocation->noted[i]);
  }
  return done ? TSR_OK : no_memory();
}

static void end_change(tsr_entry *entry, bool submitted) {
  if (!entry->changing) return;
  entry->changing = false;
  if (submitted) swap(&entry->valid, &entry->next_valid);
  if (submitted) swap(&entry->newer, &entry->next_newer);
  tsr_rects_free(&entry->next_valid);
  tsr_rects_free(&entry->next_newer);
}

void tsr_store_note(tsr_store *store, const tsr_plan *plan, tsr_allocation *allocation,
                    uint64_t number) {
  store->latest = number;
  for (int l = 0; l < store->locations; l++) retire(store, l, allocation->arena[l]);
  for (size_t i = 0; i < allocation->count; i++) {
    tsr_entry *entry = allocation->noted[i];
    end_change(entry, true);
    bool moved = plan->moves && plan->after->blocks.items[i].matrix == TSR_C_;
    if (!moved) entry->number = number; /* a write-back changes nothing on devices */
    if (plan->after->blocks.items[i].bytes > 0)
      store->entries.items[store->entries.count++] = entry;
  }
  drop_empty(store);
  allocation_free(allocation);
}

void tsr_store_give(tsr_store *store, const tsr_plan *plan, tsr_allocation *allocation) {
  for (size_t i = 0; i < allocation->count; i++) {
    const tsr_cached_block *block = &plan->after->blocks.items[i];
    if (allocation->noted[i] != NULL) end_change(allocation->noted[i], false);
    if (block->bytes == 0) continue;
    tsr_heap_give(store->heap[block->device], allocation->blocks[i]);
    tsr_dealloc(allocation->noted[i]);
  }
  for (int l = 0; l < store->locations; l++) tsr_heap_give(store->heap[l], allocation->arena[l]);
  allocation_free(allocation);
}

static tsr_status take_block(tsr_store *store, const tsr_found *found,
                             const tsr_cached_block *block, size_t i, tsr_allocation *allocation) {
  if (block->bytes == 0) {
    allocation->blocks[i] = memory_of(found, i);
    allocation->entries[i] = found->entries.items[i]->memory;
    return TSR_OK;
  }
  TSR_TRY(tsr_heap_take(store->heap[block->device], block->bytes, &allocation->blocks[i]));
  allocation->entries[i] = allocation->blocks[i];
  return TSR_OK;
}

static tsr_status take_all(tsr_store *store, const tsr_found *found, const tsr_plan *plan,
                           tsr_allocation *allocation, int *short_of) {
  for (int l = 0; l < store->locations; l++) {
    *short_of = l;
    if (plan->arena[l] > 0)
      TSR_TRY(tsr_heap_take(store->heap[l], plan->arena[l], &allocation->arena[l]));
  }
  for (size_t i = 0; i < allocation->count; i++) {
    *short_of = plan->after->blocks.items[i].device;
    TSR_TRY(take_block(store, found, &plan->after->blocks.items[i], i, allocation));
  }
  return TSR_OK;
}

tsr_status tsr_store_take(tsr_store *store, const tsr_found *found, const tsr_plan *plan,
                          tsr_allocation *allocation, int *short_of) {
  *short_of = -1;
  if (!allocation_make(plan->after->blocks.count, allocation)) return no_memory();
  tsr_status status = take_all(store, found, plan, allocation, short_of);
  if (status == TSR_OK) {
    *short_of = -1;
    status = prepare(store, found, plan, allocation);
  }
  if (status != TSR_OK) tsr_store_give(store, plan, allocation);
  return status;
}

/* ---- Eviction --------------------------------------------------------------- */

tsr_entry *tsr_store_oldest(const tsr_store *store, const tsr_found *found, tsr_region *home,
                            bool *dirty) {
  tsr_entry *best = NULL;
  for (size_t i = 0; i < store->entries.count; i++) {
    tsr_entry *entry = store->entries.items[i];
    if (is_found(found, entry) || (best != NULL && entry->used >= best->used)) continue;
    best = entry;
  }
  if (best == NULL) return NULL;
  *home = best->home;
  *dirty = best->newer.count > 0;
  return best;
}

void tsr_store_drop(tsr_store *store, tsr_entry *entry) {
  tsr_rects_free(&entry->valid);
  tsr_rects_free(&entry->newer);
  drop_empty(store);
}

bool tsr_store_newer(const tsr_store *store, tsr_region *home) {
  for (size_t i = 0; i < store->entries.count; i++) {
    if (store->entries.items[i]->newer.count == 0) continue;
    *home = store->entries.items[i]->home;
    return true;
  }
  return false;
}

bool tsr_store_newer_region(const tsr_store *store, tsr_region *region) {
  bool grown = true;
  if (!tsr_store_newer(store, region)) return false;
  while (grown) {
    grown = false;
    for (size_t i = 0; i < store->entries.count; i++) {
      const tsr_entry *entry = store->entries.items[i];
      if (entry->newer.count > 0) grown |= tsr_region_join(region, &entry->home);
    }
  }
  return true;
}

/* ---- Checking ------------------------------------------------------------- */

static uint64_t digest_bytes(uint64_t hash, const char *bytes, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* The rows of a shape in a column. */
static void rows_of(tsr_shape shape, int64_t col, int64_t *begin, int64_t *end) {
  tsr_rect r = shape.rect;
  int64_t on_diagonal = r.row0 + col - r.col0;
  *begin = shape.uplo == TSR_LOWER ? on_diagonal : r.row0;
  *end = shape.uplo == TSR_UPPER ? on_diagonal + 1 : r.row1;
}

/* The digest of the parts of home that are valid and not newer on the device. */
static uint64_t digest_home(const tsr_entry *entry) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < entry->valid.count; i++) {
    tsr_shape shape = entry->valid.items[i];
    if (tsr_rects_meet_shape(&entry->newer, shape)) continue;
    for (int64_t col = shape.rect.col0; col < shape.rect.col1; col++) {
      int64_t begin, end;
      rows_of(shape, col, &begin, &end);
      hash = digest_bytes(hash, tsr_region_address(&entry->home, begin, col),
                          (end - begin) * (int64_t)entry->home.size);
    }
  }
  return hash;
}

static bool touches(const tsr_entry *entry, const tsr_region *region) {
  tsr_relation how;
  tsr_rect rect = shared(entry, region, &how);
  return how != TSR_DISJOINT && !tsr_rect_empty(rect);
}

void tsr_store_stamp(tsr_store *store, const tsr_region *region) {
  for (size_t i = 0; i < store->entries.count; i++) {
    tsr_entry *entry = store->entries.items[i];
    if (touches(entry, region)) entry->stamp = digest_home(entry);
  }
}

void tsr_store_stamp_all(tsr_store *store) {
  for (size_t i = 0; i < store->entries.count; i++)
    store->entries.items[i]->stamp = digest_home(store->entries.items[i]);
}

tsr_status tsr_store_check(const tsr_store *store, const tsr_region *region) {
  for (size_t i = 0; i < store->entries.count; i++) {
    const tsr_entry *entry = store->entries.items[i];
    if (!touches(entry, region) || entry->stamp == digest_home(entry)) continue;
    return tsr_fail(TSR_ERR_CHECK,
                    "host memory at %p (%lld x %lld elements of %zu bytes, ld %lld) was changed "
                    "while device %d has a copy of it; call tsr_invalidate after changing it",
                    (void *)entry->home.base, (long long)entry->home.rows,
                    (long long)entry->home.cols, entry->home.size, (long long)entry->home.ld,
                    entry->device);
  }
  return TSR_OK;
}
