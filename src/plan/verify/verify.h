/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The parts of the verifier. order: which command happens before which. regions: which commands
 * wrote and read each part of a buffer. memory: which buffer uses which bytes. axes: which indices
 * operands have. algebra: whether the plan computes what the call asks for. Each part trusts only
 * what an earlier part has checked.
 */
#ifndef TSR_PLAN_VERIFY_VERIFY_H
#define TSR_PLAN_VERIFY_VERIFY_H

#include "base/rect.h"
#include "plan/axes.h"
#include "plan/names.h"
#include "plan/residency.h"

#define TSR_NO_COMMAND UINT32_MAX

static inline tsr_status tsr_verify_no_memory(void) {
  return tsr_fail(TSR_ERR_MEMORY, "no host memory to verify a plan of this length");
}

/* ---- Order ---- */

/* Vector clocks over the queues: the clock of a command says how many commands of each queue are
 * done when the command begins. The clock of a command is kept only while later commands will wait
 * for that command. */
typedef struct tsr_order {
  const tsr_plan *plan;
  size_t queues;
  uint32_t *position;      /* position of each command in its queue */
  uint32_t *waiters;       /* for each command: how many commands will still wait for it */
  uint32_t *slot;          /* for each command with waiters: the slot of its kept clock */
  uint32_t *counts;        /* commands entered so far in each queue */
  uint32_t *now;           /* queues x queues: the clock of each queue's latest command */
  TSR_VEC(uint32_t) kept;  /* slots x queues */
  TSR_VEC(uint32_t) spare; /* slots that are free again */
} tsr_order;

/* Queues and waits of all commands must be in range. The caller calls tsr_order_stop even if this
 * fails. TSR_ERR_MEMORY. */
tsr_status tsr_order_start(tsr_order *order, const tsr_plan *plan);
void tsr_order_stop(tsr_order *order);

/* Enters the next command of the plan and computes its clock. TSR_ERR_MEMORY. */
tsr_status tsr_order_enter(tsr_order *order, uint32_t command);

/* Whether `earlier` is done when `command`, the latest command of its queue, begins. */
bool tsr_order_before(const tsr_order *order, uint32_t earlier, uint32_t command);

/* ---- Regions ---- */

/* A rectangle that one command wrote. */
typedef struct tsr_part {
  tsr_rect rect;
  uint32_t command; /* TSR_NO_COMMAND: the user wrote it */
} tsr_part;

typedef TSR_VEC(tsr_part) tsr_parts;

/* A rectangle that one command reads. */
typedef struct tsr_reading {
  tsr_rect rect;
  uint32_t command;
} tsr_reading;

typedef struct tsr_cell {
  tsr_parts parts;               /* disjoint; no command wrote the rest of the cell */
  TSR_VEC(tsr_reading) readings; /* readings since the region was last written; they may overlap */
} tsr_cell;

/* The regions of a buffer, in a grid of cells about twice the size of an access, so that an access
 * looks at few cells. */
typedef struct tsr_regions {
  tsr_rect all;
  int64_t cell_rows, cell_cols, grid_rows, grid_cols;
  tsr_cell *cells; /* NULL until the first write */
} tsr_regions;

/* accesses: how many accesses the plan makes; mean_rows, mean_cols: their mean extents. */
void tsr_regions_start(tsr_regions *regions, tsr_rect all, double accesses, double mean_rows,
                       double mean_cols);
void tsr_regions_stop(tsr_regions *regions);

/* Appends the written parts of rect to *parts. TSR_ERR_MEMORY. */
tsr_status tsr_regions_find(const tsr_regions *regions, tsr_rect rect, tsr_parts *parts);

/* A command that must be done before `command` reads (or writes) rect, and that the order does not
 * put before it; TSR_NO_COMMAND: none. */
uint32_t tsr_regions_conflict(const tsr_regions *regions, tsr_rect rect, bool write,
                              const tsr_order *order, uint32_t command);

/* Notes that `command` reads rect. TSR_ERR_MEMORY. */
tsr_status tsr_regions_read(tsr_regions *regions, tsr_rect rect, const tsr_order *order,
                            uint32_t command);

/* Notes that `command` writes rect. TSR_ERR_MEMORY. */
tsr_status tsr_regions_write(tsr_regions *regions, tsr_rect rect, uint32_t command);

/* *fill: whether the parts, which are disjoint and within rect, fill it. If not, *hole is the first
 * hole. TSR_ERR_MEMORY. */
tsr_status tsr_parts_fill(const tsr_parts *parts, tsr_rect rect, bool *fill, tsr_rect *hole);

/* ---- Memory ---- */

/* Bytes of a location, and the last buffer that used them. */
typedef struct tsr_byte_range {
  size_t begin, end;
  uint32_t buffer;
} tsr_byte_range;

typedef TSR_VEC(tsr_byte_range) tsr_byte_ranges;
typedef TSR_VEC(uint32_t) tsr_indices;

/* The use that one buffer makes of its memory. */
typedef struct tsr_tenant {
  tsr_indices last;             /* the last command of each queue that used the buffer */
  tsr_indices previous;         /* commands that used the same memory for earlier buffers */
  uint32_t first_use, last_use; /* commands; initially TSR_NO_COMMAND */
  uint32_t successor;           /* the buffer that took the memory; initially this buffer */
} tsr_tenant;

/* The use that all buffers make of memory. */
typedef struct tsr_tenancy {
  const tsr_plan *plan;
  tsr_tenant *tenant;                        /* [buffer] */
  tsr_byte_ranges at[TSR_MACHINE_LOCATIONS]; /* disjoint, ascending */
} tsr_tenancy;

tsr_status tsr_tenancy_start(tsr_tenancy *tenancy, const tsr_plan *plan);
void tsr_tenancy_stop(tsr_tenancy *tenancy);

/* Gives a buffer its memory; `command` is the first to use it. TSR_ERR_MEMORY. */
tsr_status tsr_tenancy_take(tsr_tenancy *tenancy, uint32_t buffer, uint32_t command);

/* Notes that `command` uses the buffer. TSR_ERR_MEMORY. */
tsr_status tsr_tenancy_use(tsr_tenancy *tenancy, uint32_t buffer, uint32_t command);

/* A command that used the buffer's memory for another buffer, and that the order does not put
 * before `command`; TSR_NO_COMMAND: none. */
uint32_t tsr_tenancy_conflict(const tsr_tenancy *tenancy, uint32_t buffer, const tsr_order *order,
                              uint32_t command);

/* ---- The verifier ---- */

typedef struct tsr_verifier {
  const tsr_plan *plan;
  const tsr_machine *machine; /* NULL: not known */
  int locations;
  bool scales_only; /* alpha or k is 0: A and B must not be read */
  tsr_order order;
  tsr_tenancy tenancy;
  tsr_regions *regions; /* [buffer]; not used for the homes of A and B */
  tsr_parts found;      /* scratch */
} tsr_verifier;

/* verifier.c */

/* Records the message after a prefix such as "command 17 (gemm on device 2, queue compute 0): ".
 * Returns TSR_ERR_CHECK. */
tsr_status tsr_verify_fail(const tsr_verifier *v, uint32_t command, const char *format, ...)
    TSR_PRINTF(3, 4);

/* The cached block that a buffer is, as it is at the plan's start; NULL: the buffer is no cached
 * block, or a new one. */
const tsr_cached_block *tsr_verify_cached_block(const tsr_verifier *v, int32_t buffer);

/* The next functions have a file each. */

/* plan.c: checks the plan as a whole (queues, homes, buffers, budgets), before any command.
 * TSR_ERR_CHECK. */
tsr_status tsr_verify_plan(const tsr_verifier *v, const size_t *budgets);

/* command.c: checks the form of one command: ranges, queue, places, flags, rectangles.
 * TSR_ERR_CHECK. */
tsr_status tsr_verify_form(const tsr_verifier *v, uint32_t command);

/* cached.c: checks that everything that plan->after says is valid in a cached block has been copied
 * or written there. TSR_ERR_CHECK, TSR_ERR_MEMORY. */
tsr_status tsr_verify_cached_blocks(tsr_verifier *v);

/* ---- Axes ---- */

/* Checks that the operands of a kernel agree: a kernel index begins at the same index of the same
 * space in every operand that has it. TSR_ERR_CHECK. */
tsr_status tsr_verify_agreement(const tsr_verifier *v, uint32_t command);

/* ---- Algebra ---- */

/* Carries out the plan on a small problem (algebra.c); everything else about the plan must have
 * been checked. TSR_ERR_CHECK names the first wrong element of C. */
tsr_status tsr_verify_algebra(const tsr_verifier *v);

#endif
