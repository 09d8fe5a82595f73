/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How ROCm's libraries and their functions are found at run time. The HIP engine and the fabric of
 * RCCL are libraries of their own, and both look for ROCm in the same places.
 */
#ifndef TSR_BASE_SYSTEM_ROCM_H
#define TSR_BASE_SYSTEM_ROCM_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/environment.h"

/* A function that is wanted, and the offset of its pointer in a struct of functions. */
typedef struct tsr_rocm_function {
  const char *name;
  size_t at;
} tsr_rocm_function;

/* Opens a library on the loader's search path, else below ROCM_PATH or /opt/rocm, where ROCm is
 * installed without telling the loader. NULL: it is in none of them. */
static inline void *tsr_rocm_open(const char *file) {
  const char *root = tsr_environment_get("ROCM_PATH");
  char path[1000];
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library != NULL) return library;
  snprintf(path, sizeof path, "%s/lib/%s", root != NULL ? root : "/opt/rocm", file);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Looks functions up, with `ending` added to their names, and stores them in the struct
 * `functions`. Returns the name of the first that is missing; NULL: none is. */
static inline const char *tsr_rocm_find(void *library, const tsr_rocm_function *list, int count,
                                        const char *ending, void *functions) {
  for (int i = 0; i < count; i++) {
    char name[80];
    snprintf(name, sizeof name, "%s%s", list[i].name, ending);
    void *function = dlsym(library, name);
    if (function == NULL) return list[i].name;
    memcpy((char *)functions + list[i].at, &function, sizeof function);
  }
  return NULL;
}

#endif
