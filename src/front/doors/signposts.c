/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The table of signposts: where each caller's calls are passed on to (doors.h). */
#include "front/doors/doors.h"

tsr_door_signpost tsr_door_signposts[TSR_DOOR_SIGNPOSTS];

/* How many places a signpost may have. At the first it is found fastest. */
enum { PLACES = 4 };

static tsr_door_signpost *place_of(const tsr_door *door, const void *caller, size_t place) {
  size_t first = (size_t)(tsr_door_signpost_at(door, caller) - tsr_door_signposts);
  return &tsr_door_signposts[first ^ place];
}

static tsr_door_routine next_at(tsr_door_signpost *signpost, uint64_t number) {
  tsr_door_routine next = atomic_load_explicit(&signpost->next, memory_order_relaxed);
  uint64_t sealed = atomic_load_explicit(&signpost->sealed, memory_order_acquire);
  return (sealed ^ (uint64_t)(uintptr_t)next) == number ? next : NULL;
}

static bool is_free(tsr_door_signpost *signpost) {
  return atomic_load_explicit(&signpost->next, memory_order_relaxed) == NULL;
}

/* The number under which a call is kept whose symbol no library has: picked must not find it. */
static uint64_t nowhere_number(uint64_t number) {
  return ~number;
}

static tsr_door_routine find(const tsr_door *door, const void *caller, uint64_t number) {
  tsr_door_routine next = NULL;
  for (size_t place = 0; next == NULL && place < PLACES; place++)
    next = next_at(place_of(door, caller, place), number);
  return next;
}

void tsr_door_nowhere(void) {}

tsr_door_routine tsr_door_signpost_get(const tsr_door *door, const void *caller) {
  uint64_t number = tsr_door_call_number(door, caller);
  tsr_door_routine next = find(door, caller, number);
  return next != NULL ? next : find(door, caller, nowhere_number(number));
}

/* The first free place, else the first one. */
void tsr_door_signpost_set(const tsr_door *door, const void *caller, tsr_door_routine next) {
  uint64_t number = tsr_door_call_number(door, caller);
  if (next == tsr_door_nowhere) number = nowhere_number(number);
  size_t place = 0;
  while (place < PLACES && !is_free(place_of(door, caller, place))) place++;
  tsr_door_signpost *signpost = place_of(door, caller, place % PLACES);
  atomic_store_explicit(&signpost->next, next, memory_order_relaxed);
  atomic_store_explicit(&signpost->sealed, number ^ (uint64_t)(uintptr_t)next,
                        memory_order_release);
}
