/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* For builds without the kernel of factor_kernel.h: no device has it. */
#include "engine/gpu/internal.h"
#include "engine/gpu/level3/factor_kernel.h"

int tsr_gpu_has_factor(int device) {
  (void)device;
  return 0;
}

int tsr_gpu_factor_launch(const tsr_gpu_factor *args, void *stream) {
  (void)args;
  (void)stream;
  return gpuErrorNotSupported;
}
