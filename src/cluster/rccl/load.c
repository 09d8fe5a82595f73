/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Finds RCCL, and the runtime that the HIP engine has loaded, at run time. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "base/system/rocm.h"
#include "functions.h"

tsr_rccl_functions tsr_rccl;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER; /* guards tsr_rccl and loaded */
static bool loaded;

/* ---- Libraries -------------------------------------------------------------- */

/* The engine loads one release of the runtime, and no second one may come into the process. */
static void *find_runtime(void) {
  for (int release = 7; release >= 5; release--) {
    char name[40];
    snprintf(name, sizeof name, "libamdhip64.so.%d", release);
    void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL) continue;
    tsr_rccl.release = release;
    return library;
  }
  return NULL;
}

/* ---- Functions -------------------------------------------------------------- */

#define WANTED(name) {#name, offsetof(tsr_rccl_functions, name)},
static const tsr_rocm_function of_runtime[] = {TSR_RCCL_RUNTIME(WANTED)};
static const tsr_rocm_function of_collectives[] = {TSR_RCCL_COLLECTIVES(WANTED)};
static const tsr_rocm_function last_error[] = {WANTED(ncclGetLastError)};
#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

/* The first function that is missing; NULL: none is. */
static const char *find_functions(void *library, const tsr_rocm_function *list, int count) {
  return tsr_rocm_find(library, list, count, "", &tsr_rccl);
}

static tsr_status load(void) {
  void *runtime = find_runtime();
  if (runtime == NULL)
    return tsr_fail(TSR_ERR_UNSUPPORTED,
                    "RCCL cannot be used: the HIP runtime is not loaded; give contexts with the "
                    "engine hip, or set TESSERA_TRANSPORT to mpi");
  void *rccl = tsr_rocm_open("librccl.so.1"); /* the soname in all releases of ROCm */
  if (rccl == NULL)
    return tsr_fail(TSR_ERR_UNSUPPORTED,
                    "RCCL is not here: librccl.so.1 is not found; install ROCm's rccl, set "
                    "ROCM_PATH or LD_LIBRARY_PATH to it, or set TESSERA_TRANSPORT to mpi");
  const char *missing = find_functions(runtime, of_runtime, COUNT(of_runtime));
  if (missing == NULL) missing = find_functions(rccl, of_collectives, COUNT(of_collectives));
  (void)find_functions(rccl, last_error, COUNT(last_error));
  if (missing == NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_UNSUPPORTED,
                  "RCCL cannot be used: ROCm lacks %s; install ROCm 5.2 or later, or set "
                  "TESSERA_TRANSPORT to mpi",
                  missing);
}

tsr_status tsr_rccl_load(void) {
  pthread_mutex_lock(&loading);
  tsr_status status = loaded ? TSR_OK : load();
  loaded = status == TSR_OK;
  pthread_mutex_unlock(&loading);
  return status;
}
