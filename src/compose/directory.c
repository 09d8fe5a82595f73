/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "compose/directory.h"

#include "compose/inside.h"
#include "compose/tuning.h"

/* ---- Beginning and end ---------------------------------------------------- */

void tsr_directory_begin(tsr_directory *directory) {
  pthread_mutex_init(&directory->lock, NULL);
}

void tsr_directory_end(tsr_directory *directory) {
  tsr_store_destroy(directory->store);
  TSR_VEC_FREE(&directory->mapped);
  TSR_VEC_FREE(&directory->write_backs);
  tsr_journal_free(&directory->journal);
  pthread_mutex_destroy(&directory->lock);
}

tsr_status tsr_compose_open(tsr_directory *directory) {
  if (directory->store != NULL) return TSR_OK;
  atomic_store(&directory->used, true);
  const tsr_plan_options *planning = &directory->plans->planning;
  size_t limit[TSR_MAX_DEVICES + 1];
  int rings = tsr_plans_rings(directory->plans);
  pthread_mutex_lock(&directory->plans->lock);
  for (int d = 0; d < directory->devices; d++) limit[d] = planning->budget[d];
  /* As asked for: if earlier calls have shrunk the ring, it grows again. */
  size_t ring = directory->plans->budgets.wanted[directory->devices];
  limit[directory->devices] = TSR_TUNE_STORE_RINGS * ring / (size_t)rings;
  pthread_mutex_unlock(&directory->plans->lock);
  return tsr_store_create(directory->engine, directory->state, directory->devices, limit,
                          directory->engine->traits.block, directory->near, &directory->store);
}

/* ---- The journal ------------------------------------------------------------- */

void tsr_compose_journal(tsr_directory *directory, const tsr_journal_entry *entry) {
  tsr_region home;
  bool begins = directory->store != NULL && directory->journal.entries.count == 0;
  atomic_store(&directory->used, true);
  bool dirty =
      begins && (entry->kind == TSR_JOURNAL_HOME || tsr_store_newer(directory->store, &home));
  tsr_journal_add(&directory->journal, entry, dirty);
}

void tsr_compose_journal_region(tsr_directory *directory, tsr_journal_kind kind,
                                const tsr_region *region, uint64_t from, uint64_t number,
                                bool straight) {
  if (directory->journal.entries.count == 0 && kind != TSR_JOURNAL_HOME) return;
  tsr_journal_entry e = {.kind = kind,
                         .region[TSR_C_] = *region,
                         .from = from,
                         .number = number,
                         .straight = straight};
  tsr_compose_journal(directory, &e);
}

/* ---- Regions of calls ----------------------------------------------------- */

void tsr_compose_regions(const tsr_directory *directory, const tsr_call *call,
                         const tsr_binding *binding, tsr_region region[TSR_OPERANDS]) {
  size_t size = tsr_type_get(call->type)->size;
  for (int i = 0; i < TSR_OPERANDS; i++) {
    const tsr_operand *operand = &call->operand[i];
    bool is_on_host = operand->location >= directory->devices;
    bool is_used = i == TSR_C_ || !tsr_call_scales_only(call);
    region[i] = (tsr_region){.base = is_on_host && is_used ? binding->base[i] : NULL,
                             .rows = operand->rows,
                             .cols = operand->cols,
                             .ld = operand->ld,
                             .size = size};
  }
}

/* ---- Write-backs in flight -------------------------------------------------- */

static bool may_touch(const tsr_region *a, const tsr_region *b) {
  tsr_rect at;
  return tsr_region_relate(a, b, &at) != TSR_DISJOINT;
}

void tsr_compose_note_write_back(tsr_directory *directory, const tsr_region *region,
                                 const tsr_job *job) {
  tsr_pending_write_back pending = {*region, tsr_job_number(job)};
  uint64_t completed = tsr_runner_completed(directory->calls->runner);
  size_t kept = 0;
  atomic_store(&directory->used, true);
  for (size_t i = 0; i < directory->write_backs.count; i++)
    if (directory->write_backs.items[i].number >= completed)
      directory->write_backs.items[kept++] = directory->write_backs.items[i];
  directory->write_backs.count = kept;
  if (!TSR_VEC_PUSH(&directory->write_backs, pending))
    tsr_runner_await(directory->calls->runner, pending.number);
}

bool tsr_compose_find_write_back(tsr_directory *directory, const tsr_region *region,
                                 uint64_t *number) {
  bool any = false;
  for (size_t i = 0; i < directory->write_backs.count; i++) {
    const tsr_pending_write_back *pending = &directory->write_backs.items[i];
    if (!may_touch(&pending->region, region) || (any && pending->number < *number)) continue;
    *number = pending->number;
    any = true;
  }
  return any;
}

/* ---- Mappings ------------------------------------------------------------- */

/* Whether outer contains inner; *at: inner in outer's coordinates. */
static bool lies_in(const tsr_region *inner, const tsr_region *outer, tsr_rect *at) {
  return tsr_region_relate(inner, outer, at) == TSR_ALIGNED &&
         tsr_rect_contains(tsr_region_all(outer), *at);
}

void tsr_compose_unmap(tsr_directory *directory, const tsr_region *region) {
  size_t kept = 0;
  tsr_rect at;
  for (size_t i = 0; i < directory->mapped.count; i++)
    if (region != NULL && !lies_in(&directory->mapped.items[i].region, region, &at))
      directory->mapped.items[kept++] = directory->mapped.items[i];
  directory->mapped.count = kept;
}

bool tsr_compose_mapping(const tsr_directory *directory, const tsr_region *region,
                         tsr_mapping *mapping) {
  for (size_t i = directory->mapped.count; region->base != NULL && i-- > 0;) {
    const tsr_mapped *mapped = &directory->mapped.items[i];
    tsr_rect at;
    if (!lies_in(region, &mapped->region, &at)) continue;
    *mapping = mapped->mapping;
    mapping->row = at.row0;
    mapping->col = at.col0;
    return true;
  }
  return false;
}

/* ---- Whereabouts ------------------------------------------------------------ */

/* Elements of the region that are valid on the device. Blocks of one device may overlap. */
static tsr_status count_valid(const tsr_residency *seen, int device, double *elements) {
  tsr_rects valid = {NULL, 0, 0};
  bool done = true;
  for (size_t i = 0; i < seen->blocks.count; i++) {
    const tsr_cached_block *block = &seen->blocks.items[i];
    for (size_t r = 0; block->device == device && r < block->valid.count && done; r++)
      done = tsr_rects_add_shape(&valid, block->valid.items[r]);
  }
  *elements = tsr_rects_area(&valid);
  tsr_rects_free(&valid);
  return done ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory to tell where a matrix is");
}

static tsr_status find_holder(const tsr_found *found, int devices, const tsr_region *region,
                              tsr_whereabouts *where) {
  double most = 0;
  for (int d = 0; d < devices; d++) {
    double elements;
    TSR_TRY(count_valid(&found->seen, d, &elements));
    if (elements <= most) continue;
    most = elements;
    where->device = d;
  }
  where->part = most / ((double)region->rows * (double)region->cols);
  return TSR_OK;
}

tsr_status tsr_compose_where(tsr_directory *directory, const tsr_region *region,
                             tsr_whereabouts *where) {
  tsr_region regions[TSR_OPERANDS] = {[TSR_A] = *region}, part;
  tsr_mapping mapping;
  tsr_found found;
  *where = (tsr_whereabouts){-1, -1, 0, true};
  if (tsr_compose_mapping(directory, region, &mapping))
    where->mapped = tsr_mapping_device(&mapping, 0, 0);
  if (directory->store == NULL) return TSR_OK;
  TSR_TRY(tsr_store_look(directory->store, regions, NULL, &found));
  where->current =
      !tsr_found_has_newer(&found) && !tsr_store_crossing(directory->store, region, &part);
  tsr_status status = find_holder(&found, directory->devices, region, where);
  tsr_found_free(&found);
  return status;
}

/* ---- Checking mode -------------------------------------------------------- */

tsr_status tsr_compose_check(tsr_directory *directory, const tsr_region *regions, int count) {
  if (!directory->plans->check) return TSR_OK;
  tsr_runner_drain(directory->calls->runner);
  for (int i = 0; i < count; i++) TSR_TRY(tsr_store_check(directory->store, &regions[i]));
  return TSR_OK;
}

void tsr_compose_stamp(tsr_directory *directory, const tsr_region *regions, int count) {
  if (!directory->plans->check) return;
  tsr_runner_drain(directory->calls->runner);
  for (int i = 0; i < count; i++) tsr_store_stamp(directory->store, &regions[i]);
}

/* ---- Forgetting ----------------------------------------------------------- */

tsr_status tsr_compose_forget(tsr_directory *directory, const tsr_region *region) {
  TSR_TRY(tsr_store_forget(directory->store, region));
  tsr_compose_stamp(directory, region, 1);
  return TSR_OK;
}

void tsr_compose_release(tsr_directory *directory) {
  if (directory->store != NULL) tsr_store_clear(directory->store);
  tsr_journal_forget(&directory->journal, UINT64_MAX);
}

/* ---- Memory --------------------------------------------------------------- */

void tsr_compose_await_retired(tsr_directory *directory) {
  tsr_runner_drain(directory->calls->runner);
  tsr_store_reclaim(directory->store, UINT64_MAX);
}

void tsr_compose_limit(tsr_directory *directory, int device, size_t bytes) {
  pthread_mutex_lock(&directory->lock);
  if (directory->store != NULL) tsr_store_limit(directory->store, device, bytes);
  pthread_mutex_unlock(&directory->lock);
}

void tsr_compose_trim(tsr_directory *directory) {
  pthread_mutex_lock(&directory->lock);
  if (directory->store != NULL) {
    tsr_runner_drain(directory->calls->runner);
    tsr_store_trim(directory->store);
  }
  pthread_mutex_unlock(&directory->lock);
}
