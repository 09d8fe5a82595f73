/*
 * The engines by name. "host" is part of the library; every other one is a library of its own,
 * libtessera_<name>.so, loaded when it is asked for, so that Tessera runs where there is no CUDA.
 */
#include "engine/engine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/loaded.h"

#define PLUGIN "libtessera_cuda.so"
#define PLUGIN_SYMBOL "tsr_engine_cuda"

static struct {
  pthread_once_t once;
  const tsr_engine *engine; /* NULL: error says why */
  char error[400];
} cuda = {.once = PTHREAD_ONCE_INIT};

/* Beside us, in the lib beside our bin (a program that holds the library in itself), or wherever
 * the loader looks. A file that is there but cannot be loaded ends the search: it is the one that
 * was meant, and the loader's message says what it lacks. */
static void *open_plugin(void) {
  static const char *const beside[] = {"", "../lib/"};
  static const char here;
  char directory[3000], path[3100];
  bool known = tsr_loaded_directory(&here, directory, sizeof directory);
  for (size_t i = 0; known && i < sizeof beside / sizeof *beside; i++) {
    snprintf(path, sizeof path, "%s%s%s", directory, beside[i], PLUGIN);
    if (access(path, F_OK) == 0) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
}

/* The plugin is never closed: its runtime keeps threads and exit handlers. */
static void load_cuda(void) {
  void *plugin = open_plugin();
  if (plugin) cuda.engine = dlsym(plugin, PLUGIN_SYMBOL);
  const char *why = cuda.engine ? NULL : dlerror();
  if (!cuda.engine) snprintf(cuda.error, sizeof cuda.error, "%s", why ? why : PLUGIN_SYMBOL);
}

static const tsr_engine *find_cuda(void) {
  pthread_once(&cuda.once, load_cuda);
  return cuda.engine;
}

const tsr_engine *tsr_engine_find(const char *name) {
  if (name && strcmp(name, tsr_engine_host.name) == 0) return &tsr_engine_host;
  if (!name || strcmp(name, "cuda") != 0) {
    tsr_fail(TSR_ERR_ENGINE, "no engine is called \"%s\"; name cuda, host or cpu",
             name ? name : "");
    return NULL;
  }
  const tsr_engine *engine = find_cuda();
  if (!engine)
    tsr_fail(TSR_ERR_ENGINE,
             "the cuda engine cannot be loaded: %s; install %s beside the library, or use the "
             "engine host or cpu",
             cuda.error, PLUGIN);
  return engine;
}
