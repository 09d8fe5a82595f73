/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finds the symbol that the program would have called without this library. No names of libraries
 * are known here: a BLAS may have any, as in Python's wheels. So the loader is asked, for the
 * program and for the library that makes the call.
 */
#include "front/doors/find.h"

#include <dlfcn.h>
#include <string.h>

#include "base/system/loaded.h"

tsr_door_routine tsr_door_as_routine(void *symbol) {
  tsr_door_routine routine;
  memcpy(&routine, &symbol, sizeof routine);
  return routine;
}

static bool is_ours(const void *symbol) {
  static const char here;
  return tsr_loaded_together(&here, symbol);
}

/* The symbol, or NULL if it belongs to this library: a call passed on to it would return here for
 * ever. */
static void *accept(void *symbol) {
  return symbol != NULL && !is_ours(symbol) ? symbol : NULL;
}

/* Whether `found` is what all libraries find by the name, but for this library's own symbol. */
static bool is_for_all(const char *name, const void *found) {
  void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
  void *first = program != NULL ? dlsym(program, name) : NULL;
  if (program != NULL) (void)dlclose(program);
  return first != NULL && (first == found || is_ours(first));
}

/* Finds the symbol in a library and in those that it is linked with. Only the library that defines
 * it is kept, not the one that was opened. */
static void *find_through(void *opened, const char *name, bool *stays) {
  void *found = opened != NULL ? accept(dlsym(opened, name)) : NULL;
  if (found != NULL) *stays = tsr_loaded_keep(found);
  if (opened != NULL) (void)dlclose(opened);
  return found;
}

static void *find_anywhere(const char *name, bool *stays) {
  void *found = NULL, *opened;
  for (int i = 0; found == NULL && tsr_loaded_open_next(&i, &opened);)
    found = find_through(opened, name, stays);
  return found;
}

tsr_door_found tsr_door_find(const char *name, const void *caller) {
  tsr_door_found next = {.symbol = accept(dlsym(RTLD_NEXT, name)), .stays = true};
  void *behind = next.symbol;
  if (behind != NULL) next.for_all = is_for_all(name, behind);
  if (!next.for_all) {
    next.symbol = find_through(tsr_loaded_open(caller), name, &next.stays);
    if (next.symbol != NULL) return next;
  }
  next.symbol = behind;
  if (behind != NULL)
    next.stays = tsr_loaded_keep(behind);
  else
    next.symbol = find_anywhere(name, &next.stays);
  return next;
}

void *tsr_door_load(const char *library, const char *name) {
  void *opened = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  return opened != NULL ? accept(dlsym(opened, name)) : NULL;
}
