/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The model of Choi, Nikolskiy and Stegailov, "Tuning of a matrix-matrix multiplication algorithm
 * for several GPUs connected by fast communication links": tile sizes and times from a few rates of
 * the machine, for their algorithm (search/bands.c) on square matrices that are on devices. Tessera
 * finds its tiles by replaying plans; the model serves comparisons (bench/tiles.py).
 *
 * The paper has elements of 4 bytes and 2 flops for each multiply-add; here both are the type's.
 */
#ifndef TSR_PLAN_MODEL_CHOI_H
#define TSR_PLAN_MODEL_CHOI_H

#include "machine/machine.h"
#include "tessera_model.h"

/* The rates that the formula takes from a machine: Table 1 of the paper. */
typedef struct tsr_choi_figures {
  double math;     /* BW_math: flops/s of one device, at best */
  double memory;   /* BW_mem: bytes/s of a device's memory */
  double transfer; /* BW_transfer: bytes/s of the slowest link between two devices */
  double latency;  /* T_latency: s of the slowest link */
  double start;    /* T_instructions: s to submit and start a kernel */
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

/* Whether a machine has the rates that the formula needs, for its first `devices` devices, of which
 * it must have as many. */
bool tsr_choi_is_known(const tsr_machine *machine, tsr_type type, int devices);

/* Reads the rates of the first `devices` devices of a machine. TSR_ERR_ARGUMENT: it has fewer;
 * TSR_ERR_MACHINE: it lacks a rate. */
tsr_status tsr_choi_read(const tsr_machine *machine, tsr_type type, int devices,
                         tsr_choi_figures *figures);

/* The bounds for products of inner extent n, the paper's N. */
tsr_choi_bounds tsr_choi_limit(const tsr_choi_figures *figures, tsr_type type, int64_t n,
                               int devices);

/* The smallest power of two above the bounds that apply: 4 and 12, or 13 alone if even a tile of
 * extent n is bound by memory. The result may exceed n. */
int64_t tsr_choi_tile(const tsr_choi_bounds *bounds, int64_t n);

/* TSR_ERR_MACHINE if the first `devices` devices differ in speed or in the links between them,
 * which the model takes for equal. */
tsr_status tsr_choi_check_likeness(const tsr_machine *machine, tsr_type type, int devices);

/* All equations for products of n x n x n in tiles of extent `tile`. */
tsr_choi_model tsr_choi_model_of(const tsr_choi_figures *figures, tsr_type type, int64_t n,
                                 int64_t tile, int devices);

#endif
