/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Axes: which index the rows, and which index the columns, of an operand stand for. A kernel has
 * three indices: i and j number the rows and columns of its c, and k is summed over. A call has
 * three spaces of indices with the same names. The rows and columns of a matrix that is symmetric
 * or triangular are of one space.
 */
#ifndef TSR_PLAN_AXES_H
#define TSR_PLAN_AXES_H

#include "base/rect.h"
#include "plan/plan.h"

/* The indices of a kernel, and the spaces of indices of a call. */
enum { TSR_AXIS_I, TSR_AXIS_J, TSR_AXIS_K, TSR_AXES };

typedef struct tsr_axes {
  uint8_t rows, cols;
} tsr_axes;

/* Whether the result of the call is one triangle of C. */
bool tsr_call_has_triangular_c(const tsr_call *call);

/* The triangle of an operand that alone the call uses, with its diagonal; TSR_GENERAL: it may use
 * all of the operand. Lines of A are made of whole squares. */
tsr_uplo tsr_call_triangle_of(const tsr_call *call, int operand);

/* The spaces of the rows and columns of a matrix as stored, and the extent of a space in
 * elements. */
tsr_axes tsr_call_spaces(const tsr_call *call, int matrix);

/* The rectangle of C that a rectangle of C or W stands for. If k is cut over devices, W has the
 * columns of C once for each slice of k; the rectangle must lie in one of these. */
tsr_rect tsr_call_rect_of_c(const tsr_call *call, tsr_rect rect);
int64_t tsr_call_extent(const tsr_call *call, int space);

/* Whether a matrix of the call has its rows and its columns in this space. */
bool tsr_call_is_square(const tsr_call *call, int space);

/* The indices of the rows and columns, as stored, of operand i (0: a, 1: b, 2: c) of a command, and
 * the operand's rectangle. A copy has one rectangle, whatever i is. */
tsr_axes tsr_command_axes(const tsr_command *command, int i);
tsr_rect tsr_command_rect(const tsr_command *command, int i);

/* Whether the kernel reads the old contents of its c. */
bool tsr_command_reads_c(const tsr_call *call, const tsr_command *command);

#endif
