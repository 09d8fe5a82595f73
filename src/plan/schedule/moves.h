/*
 * Plans that only move a matrix: from cached blocks to its home, or from its home to cached blocks.
 */
#ifndef TSR_PLAN_SCHEDULE_MOVES_H
#define TSR_PLAN_SCHEDULE_MOVES_H

#include "plan/mapping.h"
#include "plan/plan.h"

/* The call that a plan of moves stands for: one that changes nothing of a rows x cols matrix, which
 * is its C to be brought home and its A to be distributed. */
tsr_call tsr_moves_call(int matrix, const tsr_operand *operand, size_t element);

/* Brings home what is newer in cached blocks of C, or of one of its triangles; blocks across the
 * diagonal whole, since what cached blocks hold is the matrix as it is. options->residency says
 * what is there. */
tsr_status tsr_plan_bring_home(const tsr_machine *machine, const tsr_call *call, tsr_uplo uplo,
                               const tsr_plan_options *options, tsr_plan **plan);

/* Copies the blocks of A to the devices they are mapped to, from wherever they are; those for which
 * a device has no room within its budget stay where they are. */
tsr_status tsr_plan_distribute(const tsr_machine *machine, const tsr_call *call,
                               const tsr_mapping *mapping, const tsr_plan_options *options,
                               tsr_plan **plan);

#endif
