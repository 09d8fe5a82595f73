/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Finds the BLAS that the program would have used: one that is loaded, or the one that
 * TESSERA_CPU_BLAS names. */
#include <dlfcn.h>

#include "base/settings/settings.h"
#include "base/thread.h"
#include "cpu/room.h"
#include "front/doors/doors.h"

static tsr_door_found find(const char *symbol, const void *caller) {
  tsr_door_found found = tsr_door_find(symbol, caller);
  const char *configured = tsr_setting_text("TESSERA_CPU_BLAS");
  if (found.symbol == NULL && configured != NULL && tsr_cpu_room_to_load(configured) == TSR_OK)
    found.symbol = tsr_door_load(configured, symbol);
  return found;
}

/* Finds the symbol outside of any public function of ours. */
static tsr_door_found find_entered(const char *symbol, const void *caller) {
  tsr_held held;
  tsr_enter(&held);
  tsr_door_found found = find(symbol, caller);
  tsr_leave(&held);
  return found;
}

/* Whether the next is kept for all callers. If callers have had signposts, those stay: the program
 * may open a BLAS for all to see when others were bound already. */
static bool is_for_all(tsr_door *door, const tsr_door_found *found) {
  tsr_door_routine way = atomic_load_explicit(&door->way, memory_order_relaxed);
  return found->for_all && way != door->picked && way != door->guided;
}

/* Finds the next and keeps it, for all callers or for this one. Several threads may do so at once,
 * while another loads a BLAS: the first answer for all that is stored is used by all. The loader's
 * message is cleared, since the program did not ask for the symbol. */
static tsr_door_routine look_for_next(tsr_door *door, const void *caller) {
  tsr_door_found found = find_entered(door->symbol, caller);
  tsr_door_routine next =
      found.symbol != NULL ? tsr_door_as_routine(found.symbol) : tsr_door_nowhere;
  (void)dlerror();
  tsr_door_routine stored = NULL;
  if (!found.stays) return next;
  if (!is_for_all(door, &found))
    tsr_door_signpost_set(door, caller, next);
  else if (!atomic_compare_exchange_strong_explicit(&door->to[TSR_DOOR_NEXT], &stored, next,
                                                    memory_order_release, memory_order_acquire))
    next = stored;
  return next;
}

tsr_door_routine tsr_door_next(tsr_door *door, const void *caller) {
  tsr_door_routine next = atomic_load_explicit(&door->to[TSR_DOOR_NEXT], memory_order_acquire);
  if (next == NULL) next = tsr_door_signpost_get(door, caller);
  if (next == NULL) next = look_for_next(door, caller);
  return next != tsr_door_nowhere ? next : NULL;
}

tsr_door_routine tsr_door_global(const char *symbol) {
  return tsr_door_as_routine(dlsym(RTLD_DEFAULT, symbol));
}

void *tsr_door_variable(const char *symbol) {
  return dlsym(RTLD_DEFAULT, symbol);
}
