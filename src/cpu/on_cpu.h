/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A whole call by the CPU's BLAS. */
#ifndef TSR_CPU_ON_CPU_H
#define TSR_CPU_ON_CPU_H

#include "blas/call.h"

/* Runs the call; all operands are in host memory. TSR_ERR_MEMORY: the BLAS has no memory for its
 * buffers; C may be undefined if the call adds last, else nothing was touched. */
tsr_status tsr_call_on_cpu(const tsr_call *call, const tsr_binding *binding);

#endif
