/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The rule of Choi, Nikolskiy and Stegailov, "Tuning of a matrix-matrix multiplication algorithm
 * for several GPUs connected by fast communication links": the extent of a tile from a few rates of
 * the machine. The search takes it for its first guess at bands (search/bands.c); src/papers, which
 * calls these functions from its own library, has the paper's times.
 *
 * The paper has elements of 4 bytes and 2 flops for each multiply-add; here both are the type's.
 */
#ifndef TSR_PLAN_MODEL_CHOI_H
#define TSR_PLAN_MODEL_CHOI_H

#include "machine/machine.h"

/* The rates that the rule takes from a machine: Table 1 of the paper. */
typedef struct tsr_choi_figures {
  double math;     /* BW_math: flops/s of one device, at best */
  double memory;   /* BW_mem: bytes/s of a device's memory */
  double transfer; /* BW_transfer: bytes/s of the slowest link between two devices */
} tsr_choi_figures;

/* Lower bounds of the extent of a tile, N_i, in elements. */
typedef struct tsr_choi_bounds {
  double
      intense; /* equation 4: above it kernels are bound by arithmetic; INFINITY: no tile's are */
  double
      math; /* equation 12: above it a kernel bound by arithmetic takes longer than the transfers */
  double memory; /* equation 13: above it a kernel bound by memory takes longer than the transfers;
                    may be negative */
} tsr_choi_bounds;

/* Reads the rates of the first `devices` devices of a machine, which has as many. False: the
 * machine lacks a rate. */
TSR_API bool tsr_choi_read(const tsr_machine *machine, tsr_type type, int devices,
                           tsr_choi_figures *figures);

/* Bytes/s from one device to another: of the direct link, or of the slower link of the two by way
 * of the host. */
TSR_API double tsr_choi_transfer_rate(const tsr_machine *machine, int from, int to);

/* The bounds for products of inner extent n, the paper's N. */
TSR_API tsr_choi_bounds tsr_choi_limit(const tsr_choi_figures *figures, tsr_type type, int64_t n,
                                       int devices);

/* The smallest power of two above the bounds that apply: 4 and 12, or 13 alone if even a tile of
 * extent n is bound by memory. The result may exceed n. */
TSR_API int64_t tsr_choi_tile(const tsr_choi_bounds *bounds, int64_t n);

#endif
