/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/print/residues.h"

#include <stdlib.h>

#include "base/alloc.h"

/* A block of residues comes or goes. */
typedef struct change {
  double when;  /* s */
  double bytes; /* negative: it goes */
  int device;
} change;

static bool has_residues(const tsr_plan *plan, int32_t buffer) {
  return buffer != TSR_NO_BUFFER && tsr_is_lines(plan->buffers.items[buffer].matrix);
}

/* Each block comes when the first command that uses it begins, and goes when the last one ends.
 * changes: two for each buffer. */
static void note_uses(const tsr_plan *plan, change *changes) {
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    for (int x = 0; x < 3; x++) {
      if (c->kind != TSR_COMMAND_KERNEL || !has_residues(plan, c->buffer[x])) continue;
      const tsr_buffer *b = &plan->buffers.items[c->buffer[x]];
      change *comes = &changes[2 * c->buffer[x]], *goes = comes + 1;
      if (comes->bytes == 0 || c->begin < comes->when)
        *comes = (change){c->begin, (double)b->bytes, b->location};
      if (goes->bytes == 0 || c->end > goes->when)
        *goes = (change){c->end, -(double)b->bytes, b->location};
    }
  }
}

/* Orders changes by time; at the same time blocks go first. */
static int sooner(const void *a, const void *b) {
  const change *x = a, *y = b;
  if (x->when != y->when) return x->when < y->when ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

tsr_status tsr_residues_most(const tsr_plan *plan, double most[TSR_MACHINE_DEVICES]) {
  size_t count = 2 * plan->buffers.count;
  double now[TSR_MACHINE_DEVICES] = {0};
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++) most[d] = 0;
  if (!tsr_call_has_form(&plan->call)) return TSR_OK;
  change *changes = tsr_alloc_zero(count + 1, sizeof *changes);
  if (changes == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to print a plan: free some");
  note_uses(plan, changes);
  qsort(changes, count, sizeof *changes, sooner);
  for (size_t i = 0; i < count; i++) {
    double *at = &now[changes[i].device];
    *at += changes[i].bytes;
    if (*at > most[changes[i].device]) most[changes[i].device] = *at;
  }
  tsr_dealloc(changes);
  return TSR_OK;
}
