/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The declarations of CUDA and of HIP in one file. Both define dim3 and types of vectors, which
 * these libraries do not use: those of HIP get another name or are left out. */
#ifndef TSR_TEST_HIP_NVIDIA_CUDA_AND_HIP_H
#define TSR_TEST_HIP_NVIDIA_CUDA_AND_HIP_H

#include <cuda.h>
#include <stdbool.h>

#include "engine/cuda/names.h"

#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H
#define dim3 hip_dim3
#include <hip/hip_runtime_api.h>
#undef dim3

#include "engine/hip/rocblas.h"

#endif
