/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernels' machine code for GPUs that the build's compiler did not know: ROCm's compiler at run
 * time, hiprtc, makes it from the same source, which the build has put into the library. It takes
 * some seconds, so the code is kept in the user's cache: a file for each architecture, release of
 * ROCm and source.
 */
#ifndef TSR_ENGINE_HIP_COMPILE_H
#define TSR_ENGINE_HIP_COMPILE_H

#include <stddef.h>

#include "base/status.h"

/* ../gpu/kernels_alone.cu with its headers in place of their lines (embed.cmake). */
extern const char tsr_hip_kernels[];

enum { TSR_HIP_ARCHITECTURE = 256 };

/* The name of a device's architecture, with its features: "gfx942:sramecc+:xnack-". TSR_ERR_DEVICE.
 */
tsr_status tsr_hip_architecture(int device, char name[TSR_HIP_ARCHITECTURE]);

typedef struct tsr_hip_code {
  char *bytes; /* the owner frees them by tsr_dealloc */
  size_t count;
} tsr_hip_code;

/* The code that the cache has for an architecture; no bytes: it has none that can be read. */
tsr_hip_code tsr_hip_code_read(const char *architecture);

/* Compiles the code. TSR_ERR_ENGINE: hiprtc is not here, or it refuses; its messages are in the
 * log. */
tsr_status tsr_hip_code_compile(const char *architecture, tsr_hip_code *code);

/* Keeps the code in the cache, if a file can be written there. */
void tsr_hip_code_keep(const char *architecture, const tsr_hip_code *code);

#endif
