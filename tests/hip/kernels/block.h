/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Kernels on the CPU: those of the engine, compiled as C++ (launches.cmake,
 * hip/hip_runtime.h), each under the name that it has in a GPU's code.
 */
#ifndef TESTS_HIP_KERNELS_BLOCK_H
#define TESTS_HIP_KERNELS_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the memory is that a pointer among the arguments means. */
typedef void *(*hip_translate)(const void *pointer, void *context);

typedef struct hip_kernel hip_kernel;
struct hip_kernel {
  hip_kernel *next;
  void (*function)(void); /* identifies it; it is not called so */
  size_t bytes;           /* of its arguments, packed */
  /* Copies the arguments, to which the pointers point, translated. */
  void (*pack)(void **arguments, hip_translate translate, void *context, void *packed);
  void (*run)(const void *packed); /* one thread of a block */
};

/* The kernel of a name; NULL: there is none. */
const hip_kernel *hip_kernel_find(const char *name);

typedef struct hip_shape {
  unsigned grid[3], block[3];
} hip_shape;

/* Runs all threads of all blocks. false: a thread ended while others of its block waited for it at
 * a barrier. */
bool hip_kernel_run(const hip_kernel *kernel, const void *packed, const hip_shape *shape);

/* Releases the calling thread's stacks. */
void hip_kernel_leave(void);

#ifdef __cplusplus
}
#endif

#endif
