/*
 * The BLAS that the program would have used: what is behind us in the global scope, or what it has
 * loaded where we cannot see it (RTLD_LOCAL, as Python's modules do), or what is configured.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/settings.h"
#include "front/doors/doors.h"

/* What a loaded object's file is called when a symbol may be in it that nothing above shows: the
 * BLAS that wheels of Python packages carry has a name of each build's own. */
static const char carried[] = "libscipy_openblas";

/* By the names under which programs load a BLAS, the ones of the system first. */
static const char *const loaded_names[] = {
    "libblas.so.3",     "libcblas.so.3",     "libblas64.so.3",     "libcblas64.so.3",
    "libopenblas.so.0", "libopenblas.so",    "libopenblas64.so.0", "libopenblas64_.so.0",
    "libblis.so.4",     "libflexiblas.so.3", "libmkl_rt.so.2",     "libmkl_rt.so.1",
};

/* A function's address out of an object's: ISO C knows no cast for it. */
static tsr_door_routine as_routine(void *symbol) {
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

/* The library stays: it is the program's, or it was named for us. */
static void *find_in(const char *name, int flags, const char *symbol) {
  void *library = dlopen(name, flags);
  return library != NULL ? accept(dlsym(library, symbol)) : NULL;
}

typedef struct search {
  const char *symbol;
  void *found;
} search;

static int look_in_carried(struct dl_phdr_info *info, size_t size, void *argument) {
  search *s = argument;
  (void)size;
  if (strstr(info->dlpi_name, carried) != NULL)
    s->found = find_in(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD, s->symbol);
  return s->found != NULL;
}

static void *find(const char *symbol) {
  void *found = accept(dlsym(RTLD_NEXT, symbol));
  for (size_t i = 0; found == NULL && i < sizeof loaded_names / sizeof *loaded_names; i++)
    found = find_in(loaded_names[i], RTLD_LAZY | RTLD_NOLOAD, symbol);
  search among = {symbol, found};
  if (found == NULL) (void)dl_iterate_phdr(look_in_carried, &among);
  found = among.found;
  const char *configured = tsr_setting_text("TESSERA_CPU_BLAS");
  if (found == NULL && configured != NULL)
    found = find_in(configured, RTLD_LAZY | RTLD_LOCAL, symbol);
  return found;
}

/* Stands for what was looked for and is not there. */
static void none(void) {}

/* Two threads that look at once find the same. What the loader had to say of it is not for the
 * program. */
static tsr_door_routine look_for_next(tsr_door *door) {
  void *found = find(door->symbol);
  tsr_door_routine next = found != NULL ? as_routine(found) : none;
  (void)dlerror();
  atomic_store_explicit(&door->next, next, memory_order_release);
  return next;
}

tsr_door_routine tsr_door_next(tsr_door *door) {
  tsr_door_routine next = atomic_load_explicit(&door->next, memory_order_acquire);
  if (next == NULL) next = look_for_next(door);
  return next != none ? next : NULL;
}

tsr_door_routine tsr_door_global(const char *symbol) {
  return as_routine(dlsym(RTLD_DEFAULT, symbol));
}

void *tsr_door_variable(const char *symbol) {
  return dlsym(RTLD_DEFAULT, symbol);
}
