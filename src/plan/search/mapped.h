/*
 * Mapped: a C that is computed where a mapping wants its blocks to be.
 *
 * C is cut where the mapping's blocks begin, and every part belongs to the device of its block.
 * Blocks side by side that have one device are one part. How k is cut, what copies and kernels are
 * like, and their order, is the strategy's.
 *
 * Of an operation with a triangle beside C only its lines across the triangle are partitioned to
 * devices: a mapping is followed if it leaves each line to one device.
 */
#ifndef TSR_PLAN_SEARCH_MAPPED_H
#define TSR_PLAN_SEARCH_MAPPED_H

#include "blas/graph.h"
#include "plan/mapping.h"

/* Whether the call's C can be computed where it is mapped. Not when it is in the memory of a
 * device, where it is used, nor in thousands of small blocks, which no device would do well. */
bool tsr_mapped_follows(const tsr_mapping *mapping, const tsr_machine *machine,
                        const tsr_call *call);

/* Puts the mapping's parts and owners of C into the tiling of some strategy; the mapping is one
 * that is followed. TSR_ERR_MEMORY. */
tsr_status tsr_mapped_set(const tsr_mapping *mapping, const tsr_call *call, tsr_tiling *tiling);

#endif
