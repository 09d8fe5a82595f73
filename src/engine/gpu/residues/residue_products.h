/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Products of residues (arithmetic/moduli.h) that leave residues, not sums: one kernel, which some
 * GPUs have (../cuda/residue_products.cu). Builds without it have without_products.c. */
#ifndef TSR_ENGINE_GPU_RESIDUES_RESIDUE_PRODUCTS_H
#define TSR_ENGINE_GPU_RESIDUES_RESIDUE_PRODUCTS_H

#include "arithmetic/moduli.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The rows and columns of what neighbouring blocks of the kernel's grid compute together; results
 * are padded to whole ones. */
enum { TSR_PRODUCTS_ROWS = 384, TSR_PRODUCTS_COLUMNS = 256 };

/* The products of m rows and n columns, over k bytes of their lines, a multiple of 16, for each of
 * `planes` planes. Line i of plane l of a begins plane_a l + ld_a i bytes after the first; of b
 * likewise; all of these are multiples of 16. Element (i, j) of plane l of the result is the byte
 * step l + i + ld j: the residue of least magnitude modulo modulus l mod `count`. The result has
 * room for whole tiles, and ld and step are multiples of 16. */
typedef struct tsr_gpu_products {
  int planes;
  int64_t m, n, k;
  const int8_t *a, *b;
  int64_t ld_a, ld_b, plane_a, plane_b;
  int8_t *residues;
  int64_t ld, step;
} tsr_gpu_products;

/* Whether a device has the kernel. */
int tsr_gpu_has_products(int device);

/* Returns the runtime's error. The device is current. */
int tsr_gpu_products_launch(const tsr_gpu_products *args, const tsr_moduli *moduli, void *stream);

#ifdef __cplusplus
}
#endif

#endif
