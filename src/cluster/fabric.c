/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Finds the fabric for CUDA devices, which is in libtessera_nccl.so.0.2. */
#include "cluster/fabric.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/loaded.h"

#define PLUGIN "libtessera_nccl" TSR_LOADED_SO
#define PLUGIN_SYMBOL "tsr_fabric_nccl"

static struct {
  pthread_once_t once;
  const tsr_fabric *fabric; /* NULL: error says why */
  char error[400];
} nccl = {.once = PTHREAD_ONCE_INIT};

/* Opens the library beside the file that contains this code, or else where the loader looks. */
static void *open_plugin(void) {
  static const char here;
  char directory[3000], path[3100];
  if (tsr_loaded_directory(&here, directory, sizeof directory)) {
    snprintf(path, sizeof path, "%s%s", directory, PLUGIN);
    if (access(path, F_OK) == 0) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
}

/* Loads the library; once per process. It is never closed, because CUDA and NCCL, which it loads,
 * have threads and exit handlers. */
static void load(void) {
  void *plugin = open_plugin();
  if (plugin != NULL) nccl.fabric = dlsym(plugin, PLUGIN_SYMBOL);
  const char *why = nccl.fabric != NULL ? NULL : dlerror();
  if (nccl.fabric == NULL)
    snprintf(nccl.error, sizeof nccl.error, "%s", why != NULL ? why : PLUGIN_SYMBOL);
}

tsr_status tsr_fabric_find(const char *engine, const tsr_fabric **fabric) {
  if (strcmp(engine, "cuda") != 0)
    return tsr_fail(TSR_ERR_UNSUPPORTED,
                    "NCCL is for CUDA devices, and the context's engine is %s; give contexts with "
                    "the engine cuda, or set TESSERA_TRANSPORT to mpi",
                    engine);
  pthread_once(&nccl.once, load);
  if (nccl.fabric == NULL)
    return tsr_fail(
        TSR_ERR_UNSUPPORTED,
        "NCCL cannot be used: %s; install %s beside the library, and libnccl.so.2 where "
        "the loader looks, or set TESSERA_TRANSPORT to mpi",
        nccl.error, PLUGIN);
  *fabric = nccl.fabric;
  return TSR_OK;
}
