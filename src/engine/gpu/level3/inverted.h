/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Constants of inverted blocks that the C sources and the kernels share. */
#ifndef TSR_ENGINE_GPU_LEVEL3_INVERTED_H
#define TSR_ENGINE_GPU_LEVEL3_INVERTED_H

/* The order of the diagonal blocks that tsr_gpu_invert_launch inverts, and the greatest order of
 * blocks of which tsr_gpu_join_launch joins pairs. The last block may be smaller. */
enum { TSR_GPU_INVERTED = 64, TSR_GPU_JOINED = 128 };

#endif
