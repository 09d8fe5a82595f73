/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Removes cached blocks from devices: those of some host memory, the one used longest ago, or all.
 */
#include "compose/inside.h"

static bool begin_if_any(tsr_directory *directory) {
  return tsr_compose_begin_if(directory, tsr_store_has_entries);
}

/* ---- Blocks of some host memory --------------------------------------------- */

static tsr_status clear_region(tsr_directory *directory, const tsr_region *region) {
  TSR_TRY(tsr_compose_write_back_crossing(directory, region, true));
  TSR_TRY(tsr_compose_write_back_aligned(directory, region, TSR_GENERAL, true));
  return tsr_compose_forget(directory, region);
}

static tsr_status clear_operands(tsr_directory *directory, tsr_region region[TSR_OPERANDS],
                                 bool blocking) {
  for (int x = 0; x < TSR_OPERANDS && blocking; x++)
    tsr_compose_await_write_backs(directory, &region[x]);
  bool any = directory->store != NULL && tsr_store_has_entries(directory->store);
  for (int x = 0; x < TSR_OPERANDS && any; x++)
    if (region[x].base != NULL) TSR_TRY(clear_region(directory, &region[x]));
  return TSR_OK;
}

/* Notes that the call's C is current at home, in host memory or a device's, from now on. */
static void note_changed(tsr_directory *directory, const tsr_call *call,
                         const tsr_binding *binding) {
  const tsr_operand *c = &call->operand[TSR_C_];
  tsr_region region = {binding->base[TSR_C_], c->rows, c->cols, c->ld,
                       tsr_type_get(call->type)->size};
  tsr_compose_journal_region(directory, TSR_JOURNAL_CHANGED, &region, 0, 0, false);
}

tsr_status tsr_compose_clear(tsr_directory *directory, const tsr_call *call,
                             const tsr_binding *binding, bool blocking) {
  tsr_region region[TSR_OPERANDS];
  tsr_status status;
  tsr_compose_regions(directory, call, binding, region);
  do {
    tsr_compose_begin(directory);
    status = clear_operands(directory, region, blocking);
    if (blocking && status == TSR_OK) note_changed(directory, call, binding);
    tsr_compose_end(directory);
  } while (tsr_compose_has_losses(directory, status));
  return status;
}

static tsr_region bytes_at(const void *base, size_t bytes) {
  return (tsr_region){(char *)base, (int64_t)bytes, 1, (int64_t)bytes, 1};
}

tsr_status tsr_compose_clear_bytes(tsr_directory *directory, const void *base, size_t bytes) {
  tsr_region region = bytes_at(base, bytes);
  tsr_status status = TSR_OK;
  do {
    tsr_compose_begin(directory);
    tsr_compose_await_write_backs(directory, &region);
    if (directory->store != NULL)
      status = tsr_compose_write_back_crossing(directory, &region, true);
    if (directory->store != NULL && status == TSR_OK)
      status = tsr_compose_forget(directory, &region);
    tsr_compose_journal_region(directory, TSR_JOURNAL_CHANGED, &region, 0, 0, false);
    tsr_compose_end(directory);
  } while (tsr_compose_has_losses(directory, status));
  return status;
}

void tsr_compose_forget_bytes(tsr_directory *directory, const void *base, size_t bytes) {
  tsr_region region = bytes_at(base, bytes);
  if (!begin_if_any(directory)) return;
  (void)tsr_compose_forget(directory, &region);
  tsr_compose_journal_region(directory, TSR_JOURNAL_CHANGED, &region, 0, 0, false);
  tsr_compose_end(directory);
}

/* ---- To free memory -------------------------------------------------------- */

tsr_status tsr_compose_evict_oldest(tsr_directory *directory, const tsr_found *found, bool *any) {
  tsr_region home;
  bool dirty;
  *any = tsr_store_has_retired(directory->store);
  if (*any) {
    tsr_compose_await_retired(directory);
    return TSR_OK;
  }
  tsr_entry *oldest = tsr_store_oldest(directory->store, found, &home, &dirty);
  *any = oldest != NULL;
  if (!*any) return TSR_OK;
  if (dirty) TSR_TRY(tsr_compose_write_back_aligned(directory, &home, TSR_GENERAL, false));
  tsr_store_drop(directory->store, oldest);
  return TSR_OK;
}

tsr_status tsr_compose_evict_all(tsr_directory *directory) {
  tsr_region home;
  while (tsr_store_newer(directory->store, &home))
    TSR_TRY(tsr_compose_write_back_aligned(directory, &home, TSR_GENERAL, true));
  tsr_runner_drain(directory->calls->runner);
  tsr_store_clear(directory->store);
  tsr_store_trim(directory->store);
  return TSR_OK;
}

static bool holds_memory(const tsr_store *store) {
  return tsr_store_held(store) > 0;
}

static tsr_status evict_rings(tsr_directory *directory, bool *any) {
  *any = false;
  if (!tsr_compose_begin_if(directory, holds_memory)) return TSR_OK;
  size_t before = tsr_store_held(directory->store);
  tsr_compose_await_retired(directory);
  tsr_store_trim_rings(directory->store);
  *any = tsr_store_held(directory->store) < before;
  tsr_compose_end(directory);
  return TSR_OK;
}

tsr_status tsr_compose_relieve(tsr_directory *directory, int location, bool *any) {
  return location < directory->devices ? tsr_compose_evict(directory, any)
                                       : evict_rings(directory, any);
}

tsr_status tsr_compose_evict(tsr_directory *directory, bool *any) {
  tsr_status status;
  *any = false;
  do {
    if (!tsr_compose_begin_if(directory, holds_memory)) return TSR_OK;
    size_t before = tsr_store_held(directory->store);
    status = tsr_compose_evict_all(directory);
    *any = tsr_store_held(directory->store) < before;
    tsr_compose_end(directory);
  } while (tsr_compose_has_losses(directory, status));
  return status;
}
