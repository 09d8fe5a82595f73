/*
 * Which indices the rows and columns of operands are. A kernel's are those of its c (i, j) and what
 * is summed over (k). A matrix's are of the call's spaces, and where a matrix is square by nature,
 * because it is symmetric or triangular, its rows and columns are of one space.
 */
#ifndef TSR_PLAN_AXES_H
#define TSR_PLAN_AXES_H

#include "base/rect.h"
#include "plan/plan.h"

/* An index of a kernel; also the spaces of indices of a call, by the same names. */
enum { TSR_AXIS_I, TSR_AXIS_J, TSR_AXIS_K, TSR_AXES };

typedef struct tsr_axes {
  uint8_t rows, cols;
} tsr_axes;

/* One triangle of C is the result. */
bool tsr_call_has_triangular_c(const tsr_call *call);

/* The spaces of the rows and columns of a stored matrix, and their extents. */
tsr_axes tsr_call_spaces(const tsr_call *call, int matrix);
int64_t tsr_call_extent(const tsr_call *call, int space);

/* Whether rows and columns of some matrix are both of the space. */
bool tsr_call_is_square(const tsr_call *call, int space);

/* What the stored rows and columns of operand i of a command are, and the rectangle they make. */
tsr_axes tsr_command_axes(const tsr_command *command, int i);
tsr_rect tsr_command_rect(const tsr_command *command, int i);

/* The kernel adds to what is in its c. */
bool tsr_command_reads_c(const tsr_call *call, const tsr_command *command);

#endif
