/*
 * The parts of the verifier: order (what happens before what), regions (who has written and read
 * each part of a buffer), memory (which buffer has which bytes), axes (which indices operands have)
 * and algebra (whether what is computed is what was asked). They read the plan and trust nothing in
 * it that the part before has not checked.
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
 * done when it begins. Clocks are kept for a command only while others will still wait for it. */
typedef struct tsr_order {
  const tsr_plan *plan;
  size_t queues;
  uint32_t *position;      /* of each command in its queue */
  uint32_t *waiters;       /* of each command: how many will still wait for it */
  uint32_t *slot;          /* of each command with waiters: its kept clock */
  uint32_t *counts;        /* commands so far in each queue */
  uint32_t *now;           /* queues x queues: the clock of each queue's latest command */
  TSR_VEC(uint32_t) kept;  /* slots x queues */
  TSR_VEC(uint32_t) spare; /* slots free again */
} tsr_order;

/* The queues and waits of all commands must be in range. TSR_ERR_MEMORY. */
tsr_status tsr_order_start(tsr_order *order, const tsr_plan *plan);
void tsr_order_stop(tsr_order *order);

/* Goes on to the next command. */
tsr_status tsr_order_enter(tsr_order *order, uint32_t command);

/* Whether earlier is done when the latest command of its queue, command, begins. */
bool tsr_order_before(const tsr_order *order, uint32_t earlier, uint32_t command);

/* ---- Regions ---- */

typedef struct tsr_part {
  tsr_rect rect;
  uint32_t command; /* that wrote it; TSR_NO_COMMAND: the user */
} tsr_part;

typedef TSR_VEC(tsr_part) tsr_parts;

typedef struct tsr_reading {
  tsr_rect rect;
  uint32_t command;
} tsr_reading;

typedef struct tsr_cell {
  tsr_parts parts;               /* disjoint; what is in none of them was never written */
  TSR_VEC(tsr_reading) readings; /* since the region was last written; may overlap */
} tsr_cell;

/* A buffer's regions, in a grid of cells about twice the size of its accesses, so that an access
 * looks at few of them. */
typedef struct tsr_regions {
  tsr_rect all;
  int64_t cell_rows, cell_cols, grid_rows, grid_cols;
  tsr_cell *cells; /* NULL until the first write */
} tsr_regions;

/* accesses to come, and their mean extents. */
void tsr_regions_start(tsr_regions *regions, tsr_rect all, double accesses, double mean_rows,
                       double mean_cols);
void tsr_regions_stop(tsr_regions *regions);

/* Appends what has been written of rect to *parts. */
tsr_status tsr_regions_find(const tsr_regions *regions, tsr_rect rect, tsr_parts *parts);

/* A command that must be done before this one reads (or writes) rect and that is not known to be;
 * TSR_NO_COMMAND if there is none. */
uint32_t tsr_regions_conflict(const tsr_regions *regions, tsr_rect rect, bool write,
                              const tsr_order *order, uint32_t command);

/* Notes that command reads rect. */
tsr_status tsr_regions_read(tsr_regions *regions, tsr_rect rect, const tsr_order *order,
                            uint32_t command);

/* Notes that command writes rect. */
tsr_status tsr_regions_write(tsr_regions *regions, tsr_rect rect, uint32_t command);

/* Whether parts, disjoint and within rect, fill it; else the first hole, in *hole. */
tsr_status tsr_parts_fill(const tsr_parts *parts, tsr_rect rect, bool *fill, tsr_rect *hole);

/* ---- Memory ---- */

/* Bytes of a location that a buffer has had last. */
typedef struct tsr_holding {
  size_t begin, end;
  uint32_t buffer;
} tsr_holding;

typedef TSR_VEC(tsr_holding) tsr_holdings;
typedef TSR_VEC(uint32_t) tsr_indices;

typedef struct tsr_tenant {
  tsr_indices last;     /* the last command of each queue that used it */
  tsr_indices previous; /* commands that used its memory before, of other buffers */
  uint32_t first_use, last_use, successor; /* TSR_NO_COMMAND, TSR_NO_COMMAND, itself: not yet */
} tsr_tenant;

typedef struct tsr_tenancy {
  const tsr_plan *plan;
  tsr_tenant *tenant;                     /* of each buffer */
  tsr_holdings at[TSR_MACHINE_LOCATIONS]; /* disjoint, ascending */
} tsr_tenancy;

tsr_status tsr_tenancy_start(tsr_tenancy *tenancy, const tsr_plan *plan);
void tsr_tenancy_stop(tsr_tenancy *tenancy);

/* Gives a buffer that command is the first to use its memory. */
tsr_status tsr_tenancy_take(tsr_tenancy *tenancy, uint32_t buffer, uint32_t command);

/* Notes that command uses buffer. */
tsr_status tsr_tenancy_use(tsr_tenancy *tenancy, uint32_t buffer, uint32_t command);

/* A command that used the buffer's memory for another buffer and is not known to be done before
 * command; TSR_NO_COMMAND if there is none. */
uint32_t tsr_tenancy_conflict(const tsr_tenancy *tenancy, uint32_t buffer, const tsr_order *order,
                              uint32_t command);

/* ---- The verifier ---- */

typedef struct tsr_verifier {
  const tsr_plan *plan;
  const tsr_machine *machine; /* NULL: unknown */
  int locations;
  bool scales_only; /* alpha or k is 0: A and B must not be read */
  tsr_order order;
  tsr_tenancy tenancy;
  tsr_regions *regions; /* of each buffer; unused for the homes of A and B */
  tsr_parts found;      /* scratch */
} tsr_verifier;

/* verifier.c */

/* Records "command 17 (gemm on device 2, queue compute 0): " and the message. */
tsr_status tsr_verify_fail(const tsr_verifier *v, uint32_t command, const char *format, ...)
    TSR_PRINTF(3, 4);

/* The room that a buffer is, as the plan finds it; NULL: it is none, or a new one. */
const tsr_cached_block *tsr_verify_room(const tsr_verifier *v, int32_t buffer);

/* The others, each in a file of its own. */

/* plan.c: what holds for the plan as a whole, before any command is looked at. */
tsr_status tsr_verify_plan(const tsr_verifier *v, const size_t *budgets);

/* command.c: the form of one command: ranges, queue, places, flags, rectangles. */
tsr_status tsr_verify_form(const tsr_verifier *v, uint32_t command);

/* What cached blocks are said to hold at the end has been brought or written there (cached
 * blocks.c). */
tsr_status tsr_verify_rooms(tsr_verifier *v);

/* ---- Axes ---- */

/* That the operands of a kernel meet: equal indices begin alike. */
tsr_status tsr_verify_agreement(const tsr_verifier *v, uint32_t command);

/* ---- Algebra ---- */

/* Carries out the plan, all else of which is right, on a small problem: see algebra.c.
 * TSR_ERR_CHECK names the first wrong element of C. */
tsr_status tsr_verify_algebra(const tsr_verifier *v);

#endif
