/*
 * How messages, prints and timelines call the parts of a plan. Every function writes into the
 * caller's tsr_name and returns its text.
 */
#ifndef TSR_PLAN_NAMES_H
#define TSR_PLAN_NAMES_H

#include "plan/plan.h"

typedef struct tsr_name {
  char text[96];
} tsr_name;

/* "A", "B", "C", "W". */
const char *tsr_matrix_name(int matrix);

/* "device 2", "host 0". */
const char *tsr_plan_location_name(const tsr_plan *plan, int location, tsr_name *name);

/* The place of a queue among those of its location: "in", "peer to 3", "compute 0", "staging queue
 * 1". */
const char *tsr_queue_name(const tsr_plan_queue *queue, tsr_name *name);

/* "gemm", "copy of A". */
const char *tsr_command_name(const tsr_plan *plan, const tsr_command *command, tsr_name *name);

/* "gemm on device 2, queue compute 0", "copy of A from host 0 to device 1, queue in". Any plan,
 * however wrong. */
const char *tsr_command_describe(const tsr_plan *plan, const tsr_command *command, tsr_name *name);

/* "dgemm NT", "dtrsm LLNN": the letters in the order of the BLAS routine. */
const char *tsr_call_name(const tsr_call *call, tsr_name *name);

/* The home of an operand, for instance "pinned, host 0". */
const char *tsr_home_name(const tsr_plan *plan, int operand, tsr_name *name);

/* Bytes moved by a copy; 0 for a kernel. */
double tsr_command_bytes(const tsr_plan *plan, const tsr_command *command);

/* Bytes of an element of a matrix: of the wide type for W. */
size_t tsr_matrix_element(const tsr_call *call, int matrix);

#endif
