/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finds the symbol that the program would have called without this library: the next one in the
 * global scope, or one in a library that was loaded outside it (RTLD_LOCAL, as Python loads
 * modules).
 */
#include "front/doors/find.h"

#include <dlfcn.h>
#include <string.h>

#include "base/loaded.h"

tsr_door_routine tsr_door_as_routine(void *symbol) {
  tsr_door_routine routine;
  memcpy(&routine, &symbol, sizeof routine);
  return routine;
}

/* The symbol, or NULL if it belongs to this library: a call passed on to it would return here for
 * ever. */
static void *accept(void *symbol) {
  static const char here;
  return symbol != NULL && !tsr_loaded_together(&here, symbol) ? symbol : NULL;
}

void *tsr_door_find_in(const char *library, bool load, const char *symbol) {
  int flags = load ? RTLD_LAZY | RTLD_LOCAL : RTLD_LAZY | RTLD_NOLOAD;
  void *opened = dlopen(library, flags);
  if (opened == NULL) return NULL;
  void *found = accept(dlsym(opened, symbol));
  if (found == NULL && !load) (void)dlclose(opened); /* drops only our reference */
  return found;
}

void *tsr_door_find(const char *const *libraries, const char *symbol, bool *stays) {
  void *found = accept(dlsym(RTLD_NEXT, symbol));
  *stays = found == NULL || tsr_loaded_keep(found, symbol);
  for (; found == NULL && *libraries != NULL; libraries++)
    found = tsr_door_find_in(*libraries, false, symbol);
  return found;
}
