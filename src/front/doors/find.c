/*
 * The symbol that the program would have reached without us: what is behind us in the global scope,
 * or what it has loaded where we cannot see it (RTLD_LOCAL, as Python's modules do).
 */
#include <dlfcn.h>
#include <string.h>

#include "front/doors/find.h"

tsr_door_routine tsr_door_as_routine(void *symbol) {
  tsr_door_routine routine;
  memcpy(&routine, &symbol, sizeof routine);
  return routine;
}

/* Whether the symbol is in this library: then it is no way out. */
static bool is_ours(const void *symbol) {
  static const char here;
  Dl_info ours, theirs;
  if (!dladdr(&here, &ours) || !dladdr(symbol, &theirs)) return false;
  return ours.dli_fbase == theirs.dli_fbase;
}

static void *accept(void *symbol) {
  return symbol != NULL && !is_ours(symbol) ? symbol : NULL;
}

void *tsr_door_find_in(const char *library, bool load, const char *symbol) {
  int flags = load ? RTLD_LAZY | RTLD_LOCAL : RTLD_LAZY | RTLD_NOLOAD;
  void *opened = dlopen(library, flags);
  return opened != NULL ? accept(dlsym(opened, symbol)) : NULL;
}

void *tsr_door_find(const char *const *libraries, const char *symbol) {
  void *found = accept(dlsym(RTLD_NEXT, symbol));
  for (; found == NULL && *libraries != NULL; libraries++)
    found = tsr_door_find_in(*libraries, false, symbol);
  return found;
}
