/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The schedule of a product across processes, as data: a list of typed steps. Every process derives
 * the same list from the same numbers, and goes through it in order. Numbers that differ between
 * processes (their rows of C, the root of a panel) follow from a process's coordinates and are not
 * in the steps. The processes compare digests of their schedules before the first message.
 *
 * Each process's own rows and columns of C are cut into blocks. For each block of C the schedule
 * goes through all panels of k. A panel that is in no slot any more is sent again, with the rows
 * (A) or columns (B) of that block alone. Consecutive blocks share rows or columns, and the order
 * of panels is reversed from one block to the next (serpentine order), so a block begins with the
 * panels that the last block ended with. If an operand has as many slots as panels, no panel of it
 * is sent again for a block that shares its rows or columns.
 *
 * Terms after Herault et al., "Generic matrix multiplication for multi-GPU accelerated
 * distributed-memory platforms over PaRSEC", algorithm 2: blocks of b x c, panels (their chunks) of
 * depth d, lookahead l.
 */
#ifndef TSR_CLUSTER_PLAN_SCHEDULE_H
#define TSR_CLUSTER_PLAN_SCHEDULE_H

#include "base/text.h"
#include "cluster/plan/panels.h"

enum { TSR_LOOKAHEAD_MOST = 16, TSR_SLOTS_MOST = 128, TSR_SUMMA_WAITS = 3 };

/* How a product is cut. */
typedef struct tsr_cut {
  int64_t block[2]; /* a process's own rows and columns in a block of C: b, c */
  int64_t later[2]; /* the same for all but the first row, first column of blocks, if smaller;
                       0: as block */
  int64_t depth;    /* most indices of k in a panel: d */
  int64_t first;    /* depth of the first panels, if they are shallower; 0: depth */
  int lookahead;    /* panels on their way while one is multiplied: l */
  int held[2];      /* slots of a process for panels of A, of B. tsr_cut_slots raises the number to
                       l + 1 and limits it to the number of panels. */
  bool together;    /* the devices have memory for two blocks of C at once */
  bool at_once;     /* roots upload panels over links of their own, so the first l + 1 panels begin
                       at once; else the first panel has the network to itself */
} tsr_cut;

/* How the matrices of a product lie on the grid: the rows and columns of C, and k as columns of A
 * and as rows of B. rows and k_b are distributed over the rows of the grid, cols and k_a over its
 * columns. */
typedef struct tsr_distribution {
  tsr_axis rows, cols, k_a, k_b;
} tsr_distribution;

/* Own rows (direction 0) or columns (1) of a block that is not in the first row or column of
 * blocks; at most cut->block[direction]. */
int64_t tsr_cut_later(const tsr_cut *cut, int direction);

/* The number of slots of an operand: cut->held, but at least lookahead + 1; at most one for each
 * panel and row (A) or column (B) of blocks; at most TSR_SLOTS_MOST. panels: of k; blocks: rows and
 * columns of blocks of C. */
int tsr_cut_slots(const tsr_cut *cut, int operand, int64_t panels, const int blocks[2]);

/* Appends the panels of k to *panels, which must be empty. TSR_ERR_MEMORY. */
tsr_status tsr_cut_panels(const tsr_distribution *distribution, const tsr_cut *cut,
                          tsr_panels *panels);

/* The number of rows (direction 0) or columns (1) of blocks that `extent` own rows or columns make.
 */
int tsr_cut_blocks(const tsr_cut *cut, int direction, int64_t extent);

/* The own rows (direction 0) or columns (1) of row or column `block` of blocks, if a process has
 * `extent` of them. */
tsr_span tsr_cut_block(const tsr_cut *cut, int direction, int64_t extent, int32_t block);

typedef enum tsr_summa_step_kind {
  TSR_SUMMA_MOVE,      /* redistributes an operand, before all other steps */
  TSR_SUMMA_SEND,      /* broadcasts a panel of an operand, for one row (A) or column (B) of blocks,
                          into a slot */
  TSR_SUMMA_MULTIPLY,  /* adds the product of the panels in two slots to a block of C */
  TSR_SUMMA_WRITE_BACK /* copies a complete block of C to host memory and frees its device memory */
} tsr_summa_step_kind;

enum { TSR_SUMMA_A, TSR_SUMMA_B };
enum { TSR_NO_SUMMA_STEP = -1 };

typedef struct tsr_summa_step {
  uint8_t kind;
  uint8_t operand;                /* MOVE, SEND: TSR_SUMMA_A or _B */
  bool first;                     /* MULTIPLY: the first product of its block, which applies beta */
  int16_t slot[2];                /* SEND: slot[0], of the operand; MULTIPLY: of A and of B */
  int32_t panel;                  /* SEND, MULTIPLY: its number */
  int32_t block[2];               /* row and column of the block. SEND: only block[operand] */
  int32_t after[TSR_SUMMA_WAITS]; /* steps that must be complete before it begins, or
                                     TSR_NO_SUMMA_STEP */
} tsr_summa_step;

typedef struct tsr_summa_schedule {
  tsr_distribution distribution;
  tsr_cut cut;
  tsr_panels panels;
  int blocks[2];    /* rows and columns of blocks of C */
  int prefetch;     /* products whose panels are in slots or on their way: l + 1, or all products */
  int slots[2];     /* of A, of B; at most TSR_SLOTS_MOST */
  int64_t deepest;  /* depth of the deepest panel */
  int32_t products; /* MULTIPLY steps */
  TSR_VEC(tsr_summa_step) steps;
} tsr_summa_schedule;

/* Makes the schedule of a cut. moves: whether op(A), op(B) is redistributed first. The caller frees
 * the schedule. TSR_ERR_MEMORY, also if the schedule would have too many products. */
tsr_status tsr_summa_schedule_make(const tsr_distribution *distribution, const tsr_cut *cut,
                                   const bool moves[2], tsr_summa_schedule *schedule);
void tsr_summa_schedule_free(tsr_summa_schedule *schedule); /* a zeroed schedule is accepted */

/* A hash of panels and steps: equal on all processes that made the same schedule. */
uint64_t tsr_summa_schedule_digest(const tsr_summa_schedule *schedule);

/* The own rows (direction 0) or columns (1) that a process has in row or column `block` of blocks.
 * coordinate: the process's row or column in the grid. */
tsr_span tsr_summa_block(const tsr_summa_schedule *schedule, int direction, int coordinate,
                         int32_t block);

/* Checks a schedule, independently of the code that makes schedules:
 *   the panels partition k;
 *   each panel is multiplied once for each block of C, from slots that contain it, and waits for
 *   the messages that fill them;
 *   no slot is written before the products that read it are complete;
 *   each block of C is written back once, after its last product;
 *   never more blocks of C are on the devices than cut.together allows.
 * TSR_ERR_CHECK names the step that violates this; TSR_ERR_MEMORY. */
tsr_status tsr_summa_schedule_verify(const tsr_summa_schedule *schedule);

/* Appends one step as text, without the steps that it waits for. */
void tsr_summa_step_print(const tsr_summa_schedule *schedule, const tsr_summa_step *step,
                          tsr_text *text);

/* Appends all steps, one a line, each with its number and the steps that it waits for. */
void tsr_summa_schedule_print(const tsr_summa_schedule *schedule, tsr_text *text);

#endif
