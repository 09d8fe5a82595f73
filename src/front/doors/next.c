/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Finds the BLAS that the program would have used: one that is loaded, or the one that
 * TESSERA_CPU_BLAS names. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/cpu_room.h"
#include "base/settings.h"
#include "base/thread.h"
#include "front/doors/doors.h"

/* Part of the file name of the BLAS that wheels of Python packages carry. The full name differs
 * from build to build, so it cannot stand in the list below. */
static const char carried[] = "libscipy_openblas";

/* The file names under which programs load a BLAS, those of the system first. */
static const char *const loaded_names[] = {
    "libblas.so.3",
    "libcblas.so.3",
    "libblas64.so.3",
    "libcblas64.so.3",
    "libopenblas.so.0",
    "libopenblas.so",
    "libopenblas64.so.0",
    "libopenblas64_.so.0",
    "libblis.so.4",
    "libflexiblas.so.3",
    "libmkl_rt.so.2",
    "libmkl_rt.so.1",
    NULL,
};

enum { PATH_ROOM = 4096 }; /* longer than the name of any file */

/* The path of the loaded object, among those whose name contains `carried`, that has `left` others
 * before it. */
typedef struct carried_name {
  int left; /* how many are still to be skipped */
  char path[PATH_ROOM];
} carried_name;

static int note_carried(struct dl_phdr_info *info, size_t size, void *argument) {
  carried_name *name = argument;
  (void)size;
  if (strstr(info->dlpi_name, carried) == NULL || name->left-- > 0) return 0;
  return snprintf(name->path, PATH_ROOM, "%s", info->dlpi_name) < PATH_ROOM;
}

/* The symbol in one of the loaded objects whose name contains `carried`; NULL: none has it. During
 * dl_iterate_phdr only the path is copied: the loader then holds a lock that another thread may be
 * waiting for inside dlopen, and a dlopen of ours would wait for that thread for ever. */
static void *find_in_carried(const char *symbol) {
  void *found = NULL;
  for (int i = 0; found == NULL; i++) {
    carried_name name = {.left = i};
    if (dl_iterate_phdr(note_carried, &name) == 0) return NULL;
    found = tsr_door_find_in(name.path, false, symbol);
  }
  return found;
}

static void *find(const char *symbol, bool *stays) {
  void *found = tsr_door_find(loaded_names, symbol, stays);
  if (found == NULL) found = find_in_carried(symbol);
  const char *configured = tsr_setting_text("TESSERA_CPU_BLAS");
  if (found != NULL || configured == NULL) return found;
  if (tsr_cpu_room_to_load(configured) != TSR_OK) return NULL;
  return tsr_door_find_in(configured, true, symbol);
}

/* Stored as next if no library has the symbol, so that it is not looked for again. */
static void none(void) {}

/* Finds the symbol outside of any public function of ours. */
static void *find_entered(const char *symbol, bool *stays) {
  tsr_held held;
  tsr_enter(&held);
  void *found = find(symbol, stays);
  tsr_leave(&held);
  return found;
}

/* Finds the next and stores it. Several threads may do so at once, while another loads a BLAS: the
 * first answer stored is used by all. The loader's message is cleared, since the program did not
 * ask for the symbol. */
static tsr_door_routine look_for_next(tsr_door *door) {
  bool stays;
  void *found = find_entered(door->symbol, &stays);
  tsr_door_routine next = found != NULL ? tsr_door_as_routine(found) : none;
  (void)dlerror();
  tsr_door_routine stored = NULL;
  if (stays && !atomic_compare_exchange_strong_explicit(&door->to[TSR_DOOR_NEXT], &stored, next,
                                                        memory_order_release, memory_order_acquire))
    next = stored;
  return next;
}

tsr_door_routine tsr_door_next(tsr_door *door) {
  tsr_door_routine next = atomic_load_explicit(&door->to[TSR_DOOR_NEXT], memory_order_acquire);
  if (next == NULL) next = look_for_next(door);
  return next != none ? next : NULL;
}

tsr_door_routine tsr_door_global(const char *symbol) {
  return tsr_door_as_routine(dlsym(RTLD_DEFAULT, symbol));
}

void *tsr_door_variable(const char *symbol) {
  return dlsym(RTLD_DEFAULT, symbol);
}
