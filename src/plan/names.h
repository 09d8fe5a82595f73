/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Names of the parts of a plan, for messages, prints and timelines. A function with a tsr_name
 * writes into that and returns its text, which lives as long as the tsr_name.
 *
 * A row-major call is planned as the column-major call of the transposes (blas/normal.c). The user
 * is told of the call as it was asked for: matrices, extents and flags are turned back here.
 */
#ifndef TSR_PLAN_NAMES_H
#define TSR_PLAN_NAMES_H

#include "plan/plan.h"

typedef struct tsr_name {
  char text[96];
} tsr_name;

/* "A", "B", "C", "W": of the plan's own matrix, and of the user's matrix that it is. */
const char *tsr_matrix_name(int matrix);
const char *tsr_asked_matrix_name(const tsr_call *call, int matrix);

/* Extents of a rectangle of a plan as rows and columns of the user's matrix. */
static inline int64_t tsr_asked_rows(const tsr_call *call, int64_t rows, int64_t cols) {
  return call->row_major ? cols : rows;
}
static inline int64_t tsr_asked_cols(const tsr_call *call, int64_t rows, int64_t cols) {
  return call->row_major ? rows : cols;
}

/* Whether a location is the memory that is interleaved over the nodes. */
bool tsr_plan_is_interleaved(const tsr_plan *plan, int location);

/* "device 2", "host 0"; "hosts" is interleaved memory. */
const char *tsr_plan_location_name(const tsr_plan *plan, int location, tsr_name *name);

/* A queue among those of its location: "in", "peer to 3", "compute 0", "staging 1". */
const char *tsr_queue_name(const tsr_plan_queue *queue, tsr_name *name);

/* "gemm", "copy of A". */
const char *tsr_command_name(const tsr_plan *plan, const tsr_command *command, tsr_name *name);

/* "gemm on device 2, queue compute 0", "copy of A from host 0 to device 1, queue in". The plan may
 * be wrong in any way. */
const char *tsr_command_describe(const tsr_plan *plan, const tsr_command *command, tsr_name *name);

/* "dgemm NT", "dtrsm LLNN". The letters are the flags in the order of the BLAS routine's
 * arguments. */
const char *tsr_call_name(const tsr_call *planned, tsr_name *name);

/* Memory and location of the home of one of a plan's operands: "pinned, host 0". */
const char *tsr_home_name(const tsr_plan *plan, const tsr_operand *operand, tsr_name *name);

/* Bytes that a copy moves; 0 for a kernel. */
double tsr_command_bytes(const tsr_plan *plan, const tsr_command *command);

/* The contiguous segments of a copy at its host end; a copy between devices is one. */
tsr_segments tsr_command_segments(const tsr_plan *plan, const tsr_command *command);

/* Bytes that a kernel reads from and writes to its device's memory (tsr_machine_kernel_bytes). */
double tsr_command_kernel_bytes(const tsr_plan *plan, const tsr_command *command);

/* Bytes of an element of a matrix. W has the wide type. */
size_t tsr_matrix_element(const tsr_call *call, int matrix);

/* The host memory node that all operands outside devices are on, on a machine with several; -1:
 * there is no such one, or they are interleaved over all. */
int tsr_plan_home_node(const tsr_plan *plan);

#endif
