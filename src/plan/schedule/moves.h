/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Plans that only move a matrix, without kernels: from cached blocks to its home, or from its home
 * to cached blocks.
 */
#ifndef TSR_PLAN_SCHEDULE_MOVES_H
#define TSR_PLAN_SCHEDULE_MOVES_H

#include "plan/mapping.h"
#include "plan/plan.h"

/* The call that a plan of moves stands for. It changes nothing of a rows x cols matrix, which is
 * its C (to write back) or its A (to distribute). element: bytes. */
tsr_call tsr_moves_call(int matrix, const tsr_operand *operand, size_t element);

/* Makes it the call of a square C in whose cached blocks triangles of this kind are valid, on C's
 * diagonal. */
void tsr_moves_triangle(tsr_uplo uplo, tsr_call *call);

/* Plans the write-back of C, or of the triangle of tsr_moves_triangle: copies home what of it is
 * newer in cached blocks (options->residency), and writes nothing beside it. The caller frees
 * *plan. */
tsr_status tsr_plan_write_back(const tsr_machine *machine, const tsr_call *call, tsr_uplo uplo,
                               const tsr_plan_options *options, tsr_plan **plan);

/* Plans the distribution of A: copies each block to the device that the mapping gives, from its
 * home or from cached blocks. Blocks that do not fit into a device's budget are not copied. The
 * caller frees *plan. */
tsr_status tsr_plan_distribute(const tsr_machine *machine, const tsr_call *call,
                               const tsr_mapping *mapping, const tsr_plan_options *options,
                               tsr_plan **plan);

#endif
