/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernels on numbers that are split into parts of bf16, on the CPU. */
#ifndef TSR_ARITHMETIC_CPU_SPLIT_H
#define TSR_ARITHMETIC_CPU_SPLIT_H

#include "arithmetic/kernel.h"

/* Splits lines, or multiplies split lines (tsr_split_arithmetic). */
void tsr_cpu_split(const tsr_kernel_args *args);

#endif
