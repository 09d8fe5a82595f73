/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernels on residues, on the CPU. They need no library. */
#ifndef TSR_ARITHMETIC_CPU_RESIDUES_H
#define TSR_ARITHMETIC_CPU_RESIDUES_H

#include "arithmetic/kernel.h"

/* Makes or multiplies residues (arithmetic/moduli.h). */
void tsr_cpu_residues(const tsr_kernel_args *args);

/* Whether the accuracy of a product in residues is promised for each element that is written, by
 * the overlap of its lines (arithmetic/judgement.h). All of its lines are finite. */
struct tsr_line;
bool tsr_cpu_judge_by_overlaps(const tsr_kernel_args *args, const struct tsr_line *rows,
                               const struct tsr_line *columns);

#endif
