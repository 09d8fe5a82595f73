/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What the tests of mappings share: a mapping by chance, and whether a plan computes C by it. */
#ifndef TSR_TESTS_OWNERS_H
#define TSR_TESTS_OWNERS_H

#include "chance.h"
#include "plan/search/mapped.h"
#include "planning.h"

static inline tsr_mapping owners_draw(int devices) {
  tsr_mapping mapping = {between(0, 40), between(0, 40), between(1, 80), between(1, 80), 1, 1, {0}};
  mapping.grid_rows = (int)between(1, devices);
  mapping.grid_cols = (int)between(1, devices / mapping.grid_rows);
  if (between(0, 9) == 0) mapping.block_rows = INT64_MAX;
  int turn = (int)between(0, devices - 1);
  for (int i = 0; i < devices; ++i) mapping.device[i] = (int16_t)((i + turn) % devices);
  return mapping;
}

/* Every element of C, and of the sums that become it, is computed by the device it is mapped to. */
static inline void owners_must_follow(const tsr_plan *plan, const tsr_mapping *mapping) {
  for (size_t i = 0; i < plan->commands.count; ++i) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_KERNEL) continue;
    int device = plan->queue[c->queue].location;
    for (int64_t row = c->row[2]; row < c->row[2] + c->m; ++row)
      for (int64_t col = c->col[2]; col < c->col[2] + c->n; ++col)
        if (tsr_mapping_device(mapping, row, col) != device)
          fail_msg("%s: command %zu computes (%lld, %lld) on device %d; it is mapped to %d",
                   tsr_operation_name(plan->call.operation), i, (long long)row, (long long)col,
                   device, tsr_mapping_device(mapping, row, col));
  }
}

#endif
