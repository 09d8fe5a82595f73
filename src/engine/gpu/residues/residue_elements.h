/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The elements of C, for the kernels on residues. Include it after kernel_names.h. */
#ifndef TSR_ENGINE_GPU_RESIDUES_RESIDUE_ELEMENTS_H
#define TSR_ENGINE_GPU_RESIDUES_RESIDUE_ELEMENTS_H

#include "engine/gpu/residues/residue_kernels.h"

namespace tsr_gpu {

/* An extent as an argument of a kernel: of the same type in every build, as in kernel_code.h. */
typedef long long whole;

/* A complex element. */
template <class R>
struct pair_of {
  R re, im;
};

/* Whether element (i, j) of a part of c is written. */
__device__ inline bool is_written(const tsr_gpu_region &region, int64_t i, int64_t j) {
  int64_t below = i + region.diagonal - j;
  return region.uplo == 'L' ? below >= 0 : region.uplo == 'U' ? below <= 0 : true;
}

__device__ inline bool is_real(const tsr_gpu_region &region, int64_t i, int64_t j) {
  return region.hermitian && i + region.diagonal == j;
}

}  // namespace tsr_gpu

#endif
