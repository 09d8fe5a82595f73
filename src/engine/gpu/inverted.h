/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What the C sources and the kernels both know of the inverted blocks. */
#ifndef TSR_ENGINE_GPU_INVERTED_H
#define TSR_ENGINE_GPU_INVERTED_H

/* The order of the diagonal blocks that tsr_gpu_invert_launch inverts; the last block may be
 * smaller. */
enum { TSR_GPU_INVERTED = 32 };

#endif
