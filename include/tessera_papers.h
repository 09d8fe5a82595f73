/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The published models of tile sizes and cuts that the command, the benchmarks and the cluster's
 * library compare Tessera's plans with: functions of libtessera_papers. No plan depends on them.
 * As tessera_model.h, this header promises nothing.
 */
#ifndef TESSERA_PAPERS_H
#define TESSERA_PAPERS_H

#include "tessera.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The model of Choi, Nikolskiy and Stegailov, "Tuning of a matrix-matrix multiplication algorithm
 * for several GPUs connected by fast communication links", for their algorithm (the strategy
 * "bands"): n x n x n on devices, cut into tiles of C of one extent, N_i. Times are in s. The
 * numbers of equations are the paper's, whose elements have 4 bytes; here they have those of the
 * type.
 */
typedef struct tsr_choi_model {
  int64_t tile;     /* N_i, elements */
  double balance;   /* k_BW of (2): flops/s over memory's bytes/s of a device */
  double intensity; /* (3): flops for each byte of a kernel */
  double
      least_intense;   /* (4): kernels of larger tiles are bound by arithmetic; INFINITY: none is */
  double least_math;   /* (12): then larger tiles take longer to compute than to supply */
  double least_memory; /* (13): the same for kernels bound by memory; may be negative */
  double math, memory, instructions, gemm; /* a kernel: (6), (6), its start, and (1) */
  double transfer;                         /* (9): a band from one device to another */
  double kernel;      /* (7): a kernel, or the transfers to the other devices */
  double task;        /* (8): the whole product, as published: with n / (N_i devices) kernels */
  double task_closed; /* (14) or (15): (8) if neither transfers nor latencies bind */
  double task_of_all; /* (8) with the (n / N_i)^2 / devices kernels that a device has */
} tsr_choi_model;

/* The model for tiles of that extent on the first devices of the context's machine (0: all). tile
 * 0: the extent of the paper's rule, the next power of two above (4) and (12), or above (13) if
 * kernels of any extent are bound by memory; it may exceed n. TSR_ERR_ARGUMENT: no such type,
 * number of devices or extents. TSR_ERR_MACHINE: the machine lacks a rate, or its devices or links
 * differ. */
TSR_API tsr_status tsr_plan_choi(tsr_context *context, tsr_type type, int64_t n, int64_t tile,
                                 int devices, tsr_choi_model *model);

/* The tile size of Anastasiadis et al., "Uncut-GEMMs", section III-A: penalties without a unit. */
typedef struct tsr_uncut_model {
  int64_t tile;   /* T, elements */
  double padding; /* the part of each extent that a tile takes, where tiles leave a remainder */
  double overlap; /* one over the tile products of a device */
  double latency; /* 0.2 x 2048 / T for tiles below 2048 */
  double total;   /* their sum, which the paper's choice makes least */
  int grid_rows, grid_cols; /* the most square grid of the devices */
} tsr_uncut_model;

/* The penalties of an m x n x k product on that many devices with square tiles of that extent; tile
 * 0: the extent with the least sum, from 128 to the least of k and of the extents of a device's
 * part of C, and at most 65536. TSR_ERR_ARGUMENT: an extent or the number of devices is below 1, or
 * more than 2^40, or the tile is below 0. */
TSR_API tsr_status tsr_plan_uncut(int64_t m, int64_t n, int64_t k, int devices, int64_t tile,
                                  tsr_uncut_model *model);

/* The parameters of Herault et al., "Generic matrix multiplication for multi-GPU accelerated
 * distributed-memory platforms over PaRSEC", for one process, in tiles unless said otherwise. */
typedef struct tsr_parsec_cut {
  int64_t tile;                 /* t, elements */
  int64_t b, c;                 /* a block of C; the devices share its columns */
  int64_t d;                    /* a chunk of k */
  int lookahead;                /* l, chunks that come while one is multiplied */
  int64_t down, across, chunks; /* X, Y and Z: blocks of C, and the chunks of each */
  int everything; /* 1: A, B and C fit the devices at once, the paper's case (a), and nothing is cut
                   */
} tsr_parsec_cut;

/* The paper's choice (III-B3, III-B4) for an m x n x k product on the first devices of the
 * context's machine (0: all), within the least of their budgets: all of C as one block if it takes
 * at most three quarters of the memory, else even, about square blocks that do, and then chunks of
 * k as deep as fit beside a block with those that are on their way. tile: t, elements. lookahead 0:
 * the paper's, 1 for one block and 2 for several. TSR_ERR_ARGUMENT: an extent or the tile is below
 * 1 or more than 2^40, lookahead is below 0 or more than 16, or there is no such type or number of
 * devices. TSR_ERR_MEMORY: not even one tile of C with a chunk of one tile fits. */
TSR_API tsr_status tsr_plan_parsec(tsr_context *context, tsr_type type, int64_t m, int64_t n,
                                   int64_t k, int64_t tile, int devices, int lookahead,
                                   tsr_parsec_cut *cut);

#ifdef __cplusplus
}
#endif

#endif
