/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The Cholesky factor of a small block by one kernel, of GPUs whose thread blocks can form clusters
 * (../../cuda/factor.cu). Builds without it have without_factor.c. */
#ifndef TSR_ENGINE_GPU_LEVEL3_FACTOR_KERNEL_H
#define TSR_ENGINE_GPU_LEVEL3_FACTOR_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The factor of the triangle uplo ('L' or 'U') of c, n x n, column-major, in its place; type is a
 * letter of tsr_type. The imaginary parts of the diagonal are not read and become 0. The other
 * triangle is neither read nor written. */
typedef struct tsr_gpu_factor {
  char type, uplo;
  int64_t n; /* at most tsr_gpu_factor_most(type) */
  void *c;
  int64_t ldc;
  void *room; /* TSR_GPU_FACTOR_ROOM bytes of the device's memory */
  int first;
  int32_t *verdict; /* NULL, or as that of tsr_gpu_pivots */
} tsr_gpu_factor;

enum { TSR_GPU_FACTOR_ROOM = 2 << 20, TSR_GPU_FACTOR_MOST = 512 };

/* The elements of the largest block are shared by as many bytes of memory, whatever their type. */
static inline int64_t tsr_gpu_factor_most(char type) {
  return type == 'z' ? TSR_GPU_FACTOR_MOST / 2 : TSR_GPU_FACTOR_MOST;
}

/* Whether a device has the kernel. */
int tsr_gpu_has_factor(int device);

/* Returns the runtime's error: a part of a GPU may have no room for a cluster. The device is
 * current. */
int tsr_gpu_factor_launch(const tsr_gpu_factor *args, void *stream);

#ifdef __cplusplus
}
#endif

#endif
