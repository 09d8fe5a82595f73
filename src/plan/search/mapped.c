/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/search/mapped.h"

#include "base/alloc.h"
#include "blas/family.h"
#include "plan/search/strategy.h"
#include "plan/tuning.h"

static tsr_status no_memory(void) {
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
}

/* ---- One direction -------------------------------------------------------- */

/* One direction of a mapped C: `extent` elements in blocks of `block`, the first of which begins
 * `offset` elements before C; the blocks belong in turn to `places` rows or columns of the grid. */
typedef struct direction {
  int64_t extent, offset, block;
  int places;
} direction;

static direction down_of(const tsr_mapping *m, const tsr_call *call) {
  return (direction){call->m, m->row, m->block_rows, m->grid_rows};
}

static direction across_of(const tsr_mapping *m, const tsr_call *call) {
  return (direction){call->n, m->col, m->block_cols, m->grid_cols};
}

/* The number of parts. If there is one place, all blocks belong to it and make one part. */
static int64_t count_parts(const direction *d) {
  if (d->places == 1) return 1;
  return 1 + (d->offset % d->block + d->extent - 1) / d->block;
}

static int place_of(const direction *d, int64_t at) {
  return (int)((d->offset + at) / d->block % d->places);
}

/* Cuts C in one direction where the mapping's blocks begin, so that each part has one owner. */
static tsr_status cut(const direction *d, tsr_cuts *cuts) {
  int64_t first = d->block - d->offset % d->block;
  cuts->count = (int)count_parts(d);
  cuts->at = tsr_alloc(sizeof *cuts->at * ((size_t)cuts->count + 1));
  if (cuts->at == NULL) return no_memory();
  cuts->at[0] = 0;
  for (int i = 1; i < cuts->count; i++) cuts->at[i] = first + (i - 1) * d->block;
  cuts->at[cuts->count] = d->extent;
  return TSR_OK;
}

/* Adds to `cuts` the boundaries of `other`. */
static tsr_status join(tsr_cuts *cuts, const tsr_cuts *other) {
  int64_t *at = tsr_alloc(sizeof *at * (size_t)(cuts->count + other->count + 1));
  int count = 0, i = 1, j = 1;
  if (at == NULL) return no_memory();
  at[0] = 0;
  while (i <= cuts->count && j <= other->count) {
    int64_t a = cuts->at[i], b = other->at[j];
    at[++count] = a < b ? a : b;
    i += a <= b;
    j += b <= a;
  }
  tsr_cuts_free(cuts);
  *cuts = (tsr_cuts){count, at};
  return TSR_OK;
}

static tsr_status find_places(const direction *d, const tsr_cuts *cuts, int **places) {
  *places = tsr_alloc(sizeof **places * ((size_t)cuts->count + 1));
  if (*places == NULL) return no_memory();
  for (int i = 0; i < cuts->count; i++) (*places)[i] = place_of(d, cuts->at[i]);
  return TSR_OK;
}

/* ---- Which mappings are followed ------------------------------------------ */

static bool has_devices(const tsr_mapping *m, const tsr_machine *machine) {
  for (int i = 0; i < m->grid_rows * m->grid_cols; i++)
    if (!tsr_is_device(machine, m->device[i])) return false;
  return true;
}

tsr_map_use tsr_mapped_use(const tsr_mapping *m, const tsr_machine *machine, const tsr_call *call) {
  direction down = down_of(m, call), across = across_of(m, call);
  tsr_family family = tsr_family_of(call->operation);
  if (tsr_is_device(machine, call->operand[TSR_C_].location)) return TSR_MAP_C_ON_DEVICE;
  if (!has_devices(m, machine)) return TSR_MAP_NO_DEVICE;
  if (family == TSR_FACTOR) return TSR_MAP_FACTOR;
  if (call->m > TSR_STRATEGY_LONGEST || call->n > TSR_STRATEGY_LONGEST) return TSR_MAP_TOO_FINE;
  double rows = (double)count_parts(&down), cols = (double)count_parts(&across);
  if (family == TSR_TRIANGLE && (call->side == TSR_LEFT ? rows : cols) != 1)
    return TSR_MAP_BY_LINES;
  if (family == TSR_RANK) cols += rows; /* columns are also cut where rows are */
  return rows * cols <= TSR_TUNE_MAPPED_PARTS ? TSR_MAP_FOLLOWED : TSR_MAP_TOO_FINE;
}

/* ---- Tilings -------------------------------------------------------------- */

/* Cuts C in both directions. In a rank-k update columns are also cut where rows are, so that each
 * block on the diagonal lies in one row of tiles. In an operation with a triangle beside C the
 * order of the triangle keeps the strategy's cut. */
static tsr_status cut_both(const tsr_call *call, const direction *down, const direction *across,
                           tsr_tiling *t) {
  tsr_family family = tsr_family_of(call->operation);
  bool keeps_m = family == TSR_TRIANGLE && call->side == TSR_LEFT;
  bool keeps_n = family == TSR_TRIANGLE && call->side == TSR_RIGHT;
  if (!keeps_m) {
    tsr_cuts_free(&t->m);
    TSR_TRY(cut(down, &t->m));
  }
  if (!keeps_n) {
    tsr_cuts_free(&t->n);
    TSR_TRY(cut(across, &t->n));
  }
  return family == TSR_RANK ? join(&t->n, &t->m) : TSR_OK;
}

static tsr_status set_devices(const tsr_mapping *m, tsr_tiling *t) {
  size_t count = (size_t)m->grid_rows * (size_t)m->grid_cols;
  tsr_dealloc(t->device);
  t->device = tsr_alloc(sizeof *t->device * count);
  if (t->device == NULL) return no_memory();
  for (size_t i = 0; i < count; i++) t->device[i] = m->device[i];
  t->grid_rows = m->grid_rows;
  t->grid_cols = m->grid_cols;
  return TSR_OK;
}

tsr_status tsr_mapped_set(const tsr_mapping *m, const tsr_call *call, tsr_tiling *t) {
  direction down = down_of(m, call), across = across_of(m, call);
  TSR_TRY(cut_both(call, &down, &across, t));
  TSR_TRY(set_devices(m, t));
  TSR_TRY(find_places(&down, &t->m, &t->down));
  TSR_TRY(find_places(&across, &t->n, &t->across));
  t->pass = (tsr_pass){0, 0};
  t->alternates = t->serpentine = false;
  return TSR_OK;
}
