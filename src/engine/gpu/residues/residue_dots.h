/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Products of packed bytes, for the kernels on residues. Include it after kernel_names.h. */
#ifndef TSR_ENGINE_GPU_RESIDUES_RESIDUE_DOTS_H
#define TSR_ENGINE_GPU_RESIDUES_RESIDUE_DOTS_H

namespace tsr_gpu {

/* The sum of the products of the bytes of a and b, and c. */
__device__ inline unsigned dot_bytes(unsigned a, unsigned b, unsigned c) {
#ifdef gpuDotUnsigned
  return gpuDotUnsigned(a, b, c);
#else
  for (int byte = 0; byte < 32; byte += 8) c += (a >> byte & 255) * (b >> byte & 255);
  return c;
#endif
}

/* The same of bytes with signs. */
__device__ inline int dot_signed(int a, int b, int c) {
#ifdef gpuDotSigned
  return gpuDotSigned(a, b, c);
#else
  for (int byte = 0; byte < 32; byte += 8) c += (int)(int8_t)(a >> byte) * (int8_t)(b >> byte);
  return c;
#endif
}

}  // namespace tsr_gpu

#endif
