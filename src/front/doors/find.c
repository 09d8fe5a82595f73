/*
 * The symbol that the program would have reached without us: what is behind us in the global scope,
 * or what it has loaded where we cannot see it (RTLD_LOCAL, as Python's modules do).
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

/* A symbol of this library is no way out. */
static void *accept(void *symbol) {
  static const char here;
  return symbol != NULL && !tsr_loaded_together(&here, symbol) ? symbol : NULL;
}

void *tsr_door_find_in(const char *library, bool load, const char *symbol) {
  int flags = load ? RTLD_LAZY | RTLD_LOCAL : RTLD_LAZY | RTLD_NOLOAD;
  void *opened = dlopen(library, flags);
  if (opened == NULL) return NULL;
  void *found = accept(dlsym(opened, symbol));
  if (found == NULL && !load) (void)dlclose(opened); /* the program's; ours stays */
  return found;
}

void *tsr_door_find(const char *const *libraries, const char *symbol, bool *stays) {
  void *found = accept(dlsym(RTLD_NEXT, symbol));
  *stays = found == NULL || tsr_loaded_keep(found, symbol);
  for (; found == NULL && *libraries != NULL; libraries++)
    found = tsr_door_find_in(*libraries, false, symbol);
  return found;
}
