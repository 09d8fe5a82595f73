/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A C that is computed where the user mapped its blocks to (plan/mapping.h).
 *
 * C is cut where the mapping's blocks begin, and each part belongs to the device of its block.
 * Adjacent blocks of one device are one part if the mapping has one device in that direction. The
 * strategy still decides how k is cut, the sizes of copies and kernels, and their order.
 *
 * In an operation with a triangle beside C, a device owns whole lines of C across the triangle. A
 * mapping is followed there only if it gives each such line to one device.
 */
#ifndef TSR_PLAN_SEARCH_MAPPED_H
#define TSR_PLAN_SEARCH_MAPPED_H

#include "blas/graph.h"
#include "plan/mapping.h"

/* TSR_MAP_FOLLOWED: C can be computed where it is mapped; else the reason why it cannot. */
tsr_map_use tsr_mapped_use(const tsr_mapping *mapping, const tsr_machine *machine,
                           const tsr_call *call);

static inline bool tsr_mapped_follows(const tsr_mapping *mapping, const tsr_machine *machine,
                                      const tsr_call *call) {
  return tsr_mapped_use(mapping, machine, call) == TSR_MAP_FOLLOWED;
}

/* Replaces the parts and owners of C in a strategy's tiling by the mapping's, which
 * tsr_mapped_follows accepts. TSR_ERR_MEMORY: no host memory; the caller still frees the tiling. */
tsr_status tsr_mapped_set(const tsr_mapping *mapping, const tsr_call *call, tsr_tiling *tiling);

#endif
