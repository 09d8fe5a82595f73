/*
 * Names of the parts of a plan, for messages, prints and timelines. A function with a tsr_name
 * writes into that and returns its text, which lives as long as the tsr_name.
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

/* A queue among those of its location: "in", "peer to 3", "compute 0", "staging 1". */
const char *tsr_queue_name(const tsr_plan_queue *queue, tsr_name *name);

/* "gemm", "copy of A". */
const char *tsr_command_name(const tsr_plan *plan, const tsr_command *command, tsr_name *name);

/* "gemm on device 2, queue compute 0", "copy of A from host 0 to device 1, queue in". The plan may
 * be wrong in any way. */
const char *tsr_command_describe(const tsr_plan *plan, const tsr_command *command, tsr_name *name);

/* "dgemm NT", "dtrsm LLNN". The letters are the flags in the order of the BLAS routine's
 * arguments. */
const char *tsr_call_name(const tsr_call *call, tsr_name *name);

/* Memory and location of an operand's home: "pinned, host 0". */
const char *tsr_home_name(const tsr_plan *plan, int operand, tsr_name *name);

/* Bytes that a copy moves; 0 for a kernel. */
double tsr_command_bytes(const tsr_plan *plan, const tsr_command *command);

/* Bytes of an element of a matrix. W has the wide type. */
size_t tsr_matrix_element(const tsr_call *call, int matrix);

#endif
