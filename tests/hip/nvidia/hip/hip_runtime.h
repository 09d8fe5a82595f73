/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What src/engine/hip/kernel_names.h needs of HIP's header of this name, in CUDA's names, for nvcc.
 */
#ifndef TSR_TEST_HIP_NVIDIA_HIP_RUNTIME_H
#define TSR_TEST_HIP_NVIDIA_HIP_RUNTIME_H

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define hipStream_t cudaStream_t
#define hipSuccess cudaSuccess
#define hipErrorInvalidValue cudaErrorInvalidValue
#define hipGetLastError cudaGetLastError
#define _Float16 __half /* nvcc's host compilers know _Float16, its device compiler does not */

#endif
