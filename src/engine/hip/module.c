/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernels as modules of a device: from the code that was compiled into the library; if it has
 * none for the device, from the cache; if that has none either, by the compiler at run time.
 */
#include "module.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "compile.h"
#include "engine/gpu/internal.h"

/* Code that was compiled at run time. It stays: the runtime does not say how long it reads the
 * bytes, and other devices of the architecture take them, too. */
typedef struct compiled {
  struct compiled *next;
  char architecture[TSR_HIP_ARCHITECTURE];
  tsr_hip_code code;
} compiled;

static compiled *all;

static compiled *find_compiled(const char *architecture) {
  for (compiled *c = all; c != NULL; c = c->next)
    if (strcmp(c->architecture, architecture) == 0) return c;
  return NULL;
}

/* Takes the code over, whether or not it succeeds. */
static tsr_status add_compiled(const char *architecture, tsr_hip_code code) {
  compiled *c = tsr_alloc_zero(1, sizeof *c);
  if (c == NULL) {
    tsr_dealloc(code.bytes);
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for compiled kernels");
  }
  snprintf(c->architecture, sizeof c->architecture, "%s", architecture);
  c->code = code;
  c->next = all;
  all = c;
  return TSR_OK;
}

/* Whether bytes become a module. */
static hipError_t load_bytes(const void *bytes, hipModule_t *module) {
  hipError_t error = tsr_hip.hipModuleLoadData(module, bytes);
  if (error == hipSuccess) return error;
  *module = NULL;
  (void)tsr_hip.hipGetLastError();
  return error;
}

static tsr_status fail_to_load(hipError_t error, int device) {
  return gpu_fail(error == hipErrorOutOfMemory ? TSR_ERR_MEMORY : TSR_ERR_DEVICE, error,
                  "loading kernels", device);
}

/* A file of the cache that does not load is replaced. */
static tsr_status load_kept(const char *architecture, hipModule_t *module) {
  tsr_hip_code kept = tsr_hip_code_read(architecture);
  if (kept.bytes == NULL) return TSR_OK;
  if (load_bytes(kept.bytes, module) == hipSuccess) return add_compiled(architecture, kept);
  tsr_dealloc(kept.bytes);
  return TSR_OK;
}

static tsr_status load_new(const char *architecture, int device, hipModule_t *module) {
  tsr_hip_code made = {NULL, 0};
  TSR_TRY(tsr_hip_code_compile(architecture, &made));
  hipError_t error = load_bytes(made.bytes, module);
  if (error == hipSuccess) tsr_hip_code_keep(architecture, &made);
  TSR_TRY(add_compiled(architecture, made));
  return error == hipSuccess ? TSR_OK : fail_to_load(error, device);
}

tsr_status tsr_hip_module_compile(int device, hipModule_t *module) {
  char architecture[TSR_HIP_ARCHITECTURE];
  TSR_TRY(tsr_hip_architecture(device, architecture));
  const compiled *before = find_compiled(architecture);
  if (before != NULL) {
    hipError_t error = load_bytes(before->code.bytes, module);
    return error == hipSuccess ? TSR_OK : fail_to_load(error, device);
  }
  TSR_TRY(load_kept(architecture, module));
  return *module != NULL ? TSR_OK : load_new(architecture, device, module);
}

/* Releases of the runtime have several errors for code of other architectures. A lost device and
 * one without memory would not load other code either. */
tsr_status tsr_hip_module_load(const void *built_in, int device, hipModule_t *module) {
  hipError_t error = load_bytes(built_in, module);
  switch (error) {
    case hipSuccess:
      return TSR_OK;
    case hipErrorNoBinaryForGpu:
    case hipErrorInvalidImage:
    case hipErrorInvalidKernelFile:
    case hipErrorSharedObjectInitFailed:
    case hipErrorFileNotFound:
      return TSR_OK;
    default:
      return fail_to_load(error, device);
  }
}
