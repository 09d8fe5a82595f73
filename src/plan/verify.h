/*
 * The parts of the verifier: order (what happens before what), sums (which of the inner dimension
 * has been summed), regions (what each part of a buffer holds) and memory (which buffer has which
 * bytes). They read the plan and trust nothing in it that the part before has not checked.
 */
#ifndef TSR_PLAN_VERIFY_H
#define TSR_PLAN_VERIFY_H

#include "plan/names.h"

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

/* ---- Sums ---- */

/* Sets of disjoint intervals of the inner dimension; equal sets have equal numbers. */
typedef struct tsr_sum_set {
  uint64_t hash;
  size_t begin, count; /* intervals: pairs of ends */
} tsr_sum_set;

typedef struct tsr_sums {
  TSR_VEC(int64_t) ends;
  TSR_VEC(tsr_sum_set) sets;
  uint32_t *table;
  size_t slots;
} tsr_sums;

enum { TSR_SUM_EMPTY = 0 }; /* the number of the empty set */

tsr_status tsr_sums_start(tsr_sums *sums);
void tsr_sums_stop(tsr_sums *sums);

/* The number of { [k0, k1) }. */
tsr_status tsr_sums_interval(tsr_sums *sums, int64_t k0, int64_t k1, uint32_t *set);

/* The union of two sets; *disjoint is false, and *set is as before, when they have k in common. */
tsr_status tsr_sums_unite(tsr_sums *sums, uint32_t a, uint32_t b, bool *disjoint, uint32_t *set);

/* "k 0..127, 256..511", cut when it is long. */
void tsr_sums_describe(const tsr_sums *sums, uint32_t set, char *text, size_t room);

/* ---- Regions ---- */

/* Half-open. */
typedef struct tsr_rect {
  int64_t row0, col0, row1, col1;
} tsr_rect;

static inline tsr_rect tsr_rect_make(int64_t row, int64_t col, int64_t rows, int64_t cols) {
  return (tsr_rect){row, col, row + rows, col + cols};
}
bool tsr_rect_contains(tsr_rect outer, tsr_rect inner);

/* What a region holds: data as the user gave it, or a sum over a set of k with or without beta C.
 */
typedef struct tsr_content {
  bool original, beta;
  uint32_t sum;
} tsr_content;

bool tsr_content_equal(tsr_content a, tsr_content b);

typedef struct tsr_part {
  tsr_rect rect;
  tsr_content content;
  uint32_t command; /* that wrote it */
} tsr_part;

typedef TSR_VEC(tsr_part) tsr_parts;

typedef struct tsr_reading {
  tsr_rect rect;
  uint32_t command;
} tsr_reading;

typedef struct tsr_cell {
  tsr_parts parts;               /* disjoint; what is in none of them holds nothing */
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

/* Appends what rect holds to *parts. */
tsr_status tsr_regions_find(const tsr_regions *regions, tsr_rect rect, tsr_parts *parts);

/* A command that must be done before this one reads (or writes) rect and that is not known to be;
 * TSR_NO_COMMAND if there is none. */
uint32_t tsr_regions_conflict(const tsr_regions *regions, tsr_rect rect, bool write,
                              const tsr_order *order, uint32_t command);

/* Notes that command reads rect. */
tsr_status tsr_regions_read(tsr_regions *regions, tsr_rect rect, const tsr_order *order,
                            uint32_t command);

/* Notes that command writes content into rect. */
tsr_status tsr_regions_write(tsr_regions *regions, tsr_rect rect, tsr_content content,
                             uint32_t command);

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
  uint32_t whole;   /* the set of k that a final C has */
  tsr_order order;
  tsr_sums sums;
  tsr_tenancy tenancy;
  tsr_regions *regions;   /* of each buffer; unused for the homes of A and B */
  tsr_parts found, inner; /* scratch */
} tsr_verifier;

/* verify_plan.c: what holds for the plan as a whole, before any command is looked at. */
tsr_status tsr_verify_plan(const tsr_verifier *v, const size_t *budgets);

/* verify_command.c: the form of one command: ranges, queue, places, flags, rectangles. */
tsr_status tsr_verify_form(const tsr_verifier *v, uint32_t command);

/* Records "command 17 (gemm on device 2, queue compute 0): " and the message. */
tsr_status tsr_verify_fail(const tsr_verifier *v, uint32_t command, const char *format, ...)
    TSR_PRINTF(3, 4);

/* The rectangle of the stored matrix that operand i of a command with that buffer is. */
tsr_rect tsr_verify_rect(const tsr_call *call, const tsr_command *command, int i);

#endif
