/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* For builds without the kernel of residue_products.h: no device has it. */
#include "engine/gpu/internal.h"
#include "engine/gpu/residues/residue_products.h"

int tsr_gpu_has_products(int device) {
  (void)device;
  return 0;
}

int tsr_gpu_products_launch(const tsr_gpu_products *args, const tsr_moduli *moduli, void *stream) {
  (void)args;
  (void)moduli;
  (void)stream;
  return gpuErrorNotSupported;
}
