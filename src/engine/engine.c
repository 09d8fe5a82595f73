/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The engines by name. */
#include "engine/engine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/loaded.h"

/* The engines of this build, one line for each folder below src/engine, in the order in which they
 * are tried for a user who names none. A folder without a CMakeLists.txt is part of libtessera
 * (BUILT_IN). A folder with a CMakeLists.txt makes a library of its own, libtessera_<name>.so.0.2,
 * which is loaded when its engine is first asked for (LOADED), so that Tessera also runs on
 * machines without the vendor's libraries. In both cases the folder defines the table
 * tsr_engine_<name>. The file of a LOADED engine is what the vendor's driver makes: without it the
 * engine is not tried for a user who names none, because loading the vendor's runtime takes time.
 * NULL: the engine is always tried. */
#define ENGINES(BUILT_IN, LOADED) \
  LOADED(cuda, NULL)              \
  LOADED(hip, "/dev/kfd")         \
  BUILT_IN(host)

typedef struct named_engine {
  const char *name;
  const tsr_engine *engine;  /* NULL until it is loaded */
  const char *file, *symbol; /* NULL: the engine is built in */
  const char *driver;        /* the driver's file; NULL: none is known */
  bool tried;                /* whether loading was tried; guarded by loading */
  char error[400];           /* why loading failed */
} named_engine;

#define DECLARE_BUILT_IN(NAME) extern const tsr_engine tsr_engine_##NAME;
#define DECLARE_LOADED(NAME, DRIVER)
#define BUILT_IN_ROW(NAME) {.name = #NAME, .engine = &tsr_engine_##NAME},
#define LOADED_ROW(NAME, DRIVER)              \
  {.name = #NAME,                             \
   .file = "libtessera_" #NAME TSR_LOADED_SO, \
   .symbol = "tsr_engine_" #NAME,             \
   .driver = (DRIVER)},

ENGINES(DECLARE_BUILT_IN, DECLARE_LOADED)
static named_engine engines[] = {ENGINES(BUILT_IN_ROW, LOADED_ROW)};
enum { ENGINES_COUNT = sizeof engines / sizeof *engines };
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

/* ---- Loading --------------------------------------------------------------- */

/* Opens the library beside libtessera, else in ../lib (for a program in bin/ that is linked with
 * the static libtessera), else on the loader's search path. NULL if it cannot be loaded; dlerror()
 * says why. A file that exists but cannot be loaded ends the search, because the loader's message
 * about that file is the one that helps. */
static void *open_library(const char *library) {
  static const char *const beside[] = {"", "../lib/"};
  static const char here;
  char directory[3000], path[3100];
  bool known = tsr_loaded_directory(&here, directory, sizeof directory);
  for (size_t i = 0; known && i < sizeof beside / sizeof *beside; i++) {
    snprintf(path, sizeof path, "%s%s%s", directory, beside[i], library);
    if (access(path, F_OK) == 0) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return dlopen(library, RTLD_NOW | RTLD_LOCAL);
}

/* The library is never closed: its runtime keeps threads and exit handlers. */
static void load(named_engine *e) {
  void *library = open_library(e->file);
  if (library) e->engine = dlsym(library, e->symbol);
  const char *why = e->engine ? NULL : dlerror();
  if (!e->engine) snprintf(e->error, sizeof e->error, "%s", why ? why : e->symbol);
  e->tried = true;
}

static const tsr_engine *find_loaded(named_engine *e) {
  pthread_mutex_lock(&loading);
  if (!e->tried) load(e);
  pthread_mutex_unlock(&loading);
  if (!e->engine)
    tsr_fail(TSR_ERR_ENGINE,
             "the %s engine cannot be loaded: %s; install %s beside the library, or use the "
             "engine host or cpu",
             e->name, e->error, e->file);
  return e->engine;
}

/* ---- By name ---------------------------------------------------------------- */

static named_engine *find(const char *name) {
  for (int i = 0; name && i < ENGINES_COUNT; i++)
    if (strcmp(name, engines[i].name) == 0) return &engines[i];
  return NULL;
}

/* Writes "cuda, hip, host or cpu": the names that a user may give. */
static const char *name_all(char *text, size_t size) {
  size_t used = 0;
  for (int i = 0; i < ENGINES_COUNT && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", engines[i].name);
  if (used < size) snprintf(text + used, size - used, " or cpu");
  return text;
}

const char *tsr_engine_name(int index) {
  return index < ENGINES_COUNT ? engines[index].name : NULL;
}

bool tsr_engine_worth_trying(const char *name) {
  const named_engine *named = find(name);
  return named && named->file && (!named->driver || access(named->driver, F_OK) == 0);
}

bool tsr_engine_emulates(const char *name) {
  const named_engine *named = find(name);
  return named && !named->file && named->engine->traits.emulated;
}

tsr_status tsr_engine_check(const char *what, const char *name) {
  char all[200];
  if (find(name) || strcmp(name, "cpu") == 0) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s is \"%s\"; it may be %s", what, name,
                  name_all(all, sizeof all));
}

const tsr_engine *tsr_engine_find(const char *name) {
  char all[200];
  named_engine *named = find(name);
  if (named) return named->file ? find_loaded(named) : named->engine;
  tsr_fail(TSR_ERR_ENGINE, "no engine is called \"%s\"; name %s", name ? name : "",
           name_all(all, sizeof all));
  return NULL;
}
