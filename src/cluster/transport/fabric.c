/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Finds the fabric for an engine's devices, in a library that is loaded at run time. */
#include "cluster/transport/fabric.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/loaded.h"

/* The fabrics. `name` is what an engine calls its fabric by; the library and its symbol have it,
 * too. */
typedef struct plugin {
  const char *name, *file, *symbol;
  const char *says, *needs; /* for messages: the vendor's library, and its file */
  bool tried;               /* loading, which is tried once per process */
  const tsr_fabric *fabric; /* NULL: error says why */
  char error[400];
} plugin;

#define PLUGIN(word, vendors, library)                                                       \
  {                                                                                          \
    .name = #word, .file = "libtessera_" #word TSR_LOADED_SO, .symbol = "tsr_fabric_" #word, \
    .says = vendors, .needs = library                                                        \
  }
static plugin plugins[] = {
    PLUGIN(nccl, "NCCL", "libnccl.so.2"),
    PLUGIN(rccl, "RCCL", "librccl.so.1"),
};
enum { PLUGINS = sizeof plugins / sizeof *plugins };

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER; /* guards plugins */

/* Opens the library beside the file that contains this code, or else where the loader looks. */
static void *open_plugin(const char *file) {
  static const char here;
  char directory[3000], path[3100];
  if (tsr_loaded_directory(&here, directory, sizeof directory)) {
    snprintf(path, sizeof path, "%s%s", directory, file);
    if (access(path, F_OK) == 0) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

/* The library is never closed, because the vendor's libraries, which it loads, have threads and
 * exit handlers. */
static void load(plugin *p) {
  void *library = open_plugin(p->file);
  if (library != NULL) p->fabric = dlsym(library, p->symbol);
  const char *why = p->fabric != NULL ? NULL : dlerror();
  if (p->fabric == NULL) snprintf(p->error, sizeof p->error, "%s", why != NULL ? why : p->symbol);
  p->tried = true;
}

static tsr_status take(plugin *p, const tsr_fabric **fabric) {
  pthread_mutex_lock(&loading);
  if (!p->tried) load(p);
  pthread_mutex_unlock(&loading);
  if (p->fabric == NULL)
    return tsr_fail(
        TSR_ERR_UNSUPPORTED,
        "%s cannot be used: %s; install %s beside the library, and %s where the loader looks, or "
        "set TESSERA_TRANSPORT to mpi",
        p->says, p->error, p->file, p->needs);
  *fabric = p->fabric;
  return TSR_OK;
}

tsr_status tsr_fabric_find(const tsr_context_facts *facts, const tsr_fabric **fabric) {
  for (int i = 0; i < PLUGINS && facts->fabric != NULL; i++)
    if (strcmp(facts->fabric, plugins[i].name) == 0) return take(&plugins[i], fabric);
  return tsr_fail(
      TSR_ERR_UNSUPPORTED,
      "NCCL and RCCL are for the devices of NVIDIA and AMD, and the context's engine is "
      "%s; give contexts with the engine cuda or hip, or set TESSERA_TRANSPORT to mpi",
      facts->engine);
}
