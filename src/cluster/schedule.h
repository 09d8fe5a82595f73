/*
 * The schedule of a product across processes, as data: typed steps in one order, which every
 * process derives from the same numbers and goes through in that order. What differs between
 * processes (how many rows they have, whose panel it is) follows from where they are, so the steps
 * are the same everywhere, and their digests are compared before the first message.
 *
 * C is cut, in each process's own rows and columns, into blocks. For each of them all panels of k
 * are swept: panels that are no longer in a slot are sent again, for the rows and columns of that
 * block alone. Neighbouring blocks share rows or columns, and k goes to and fro, so that a block
 * begins with the panels that the one before ended with: with as many slots as there are panels
 * none of the operand that they share is sent again.
 *
 * The words are those of Herault et al., "Generic matrix multiplication for multi-GPU accelerated
 * distributed-memory platforms over PaRSEC", algorithm 2: blocks of b x c, chunks of depth d,
 * lookahead l.
 */
#ifndef TSR_CLUSTER_SCHEDULE_H
#define TSR_CLUSTER_SCHEDULE_H

#include "base/text.h"
#include "cluster/panels.h"

enum { TSR_LOOKAHEAD_MOST = 16, TSR_SLOTS_MOST = 128, TSR_STEP_WAITS = 3 };

/* How a product is cut. */
typedef struct tsr_cut {
  int64_t block[2]; /* own rows and columns of a process in a block of C: b, c */
  int64_t later[2]; /* the same of all but the first row or column of blocks, where they are
                       smaller; 0: none are */
  int64_t depth;    /* indices of k in a panel, at most: d */
  int64_t first;    /* in the first ones, if they are shallower; 0: they are not */
  int lookahead;    /* panels on their way while one is multiplied: l */
  int held[2];      /* panels of A, of B that a process has room for: l + 1 if less is said, but no
                       more than there are (tsr_cut_slots) */
  bool together;    /* two blocks of C have room on the devices at once */
  bool at_once;     /* roots have ways of their own: panels begin before the first one is there */
} tsr_cut;

/* What it is of: C's rows and columns, and k as the columns of A and as the rows of B, dealt over
 * the rows (axes of rows) and columns of the grid. */
typedef struct tsr_deal {
  tsr_axis rows, cols, k_a, k_b;
} tsr_deal;

/* Own rows or columns of all blocks but the first ones: at most what those have. */
int64_t tsr_cut_later(const tsr_cut *cut, int direction);

/* Slots of an operand, for so many panels of k and rows and columns of blocks: nobody needs more
 * than one for each panel and row, or column, of blocks. */
int tsr_cut_slots(const tsr_cut *cut, int operand, int64_t panels, const int blocks[2]);

/* The panels that k is cut into. */
tsr_status tsr_cut_panels(const tsr_deal *deal, const tsr_cut *cut, tsr_panels *panels);

/* Rows or columns of blocks of so many own rows or columns. */
int tsr_cut_blocks(const tsr_cut *cut, int direction, int64_t extent);

/* The own rows (direction 0) or columns (1) of one of them: at .. end-1. */
tsr_span tsr_cut_block(const tsr_cut *cut, int direction, int64_t extent, int32_t block);

typedef enum tsr_step_kind {
  TSR_STEP_MOVE,     /* redistribute an operand, before all else */
  TSR_STEP_SEND,     /* a panel of an operand, for one row (A) or column (B) of blocks, to a slot */
  TSR_STEP_MULTIPLY, /* what is in two slots is added to a block of C */
  TSR_STEP_HOME      /* a block of C is complete: home, and off the devices */
} tsr_step_kind;

enum { TSR_STEP_A, TSR_STEP_B };
enum { TSR_NO_STEP = -1 };

typedef struct tsr_step {
  uint8_t kind;
  uint8_t operand;               /* MOVE, SEND: TSR_STEP_A or _B */
  bool first;                    /* MULTIPLY: of its block, which beta counts for */
  int16_t slot[2];               /* SEND: of the operand; MULTIPLY: of A and of B */
  int32_t panel;                 /* SEND, MULTIPLY */
  int32_t block[2];              /* SEND: the operand's direction; MULTIPLY, HOME: both */
  int32_t after[TSR_STEP_WAITS]; /* steps that must be complete before it begins, or TSR_NO_STEP */
} tsr_step;

typedef struct tsr_summa_schedule {
  tsr_deal deal;
  tsr_cut cut;
  tsr_panels panels;
  int blocks[2];    /* rows and columns of blocks of C */
  int ahead;        /* products for which panels are there or on their way: l + 1, or all */
  int slots[2];     /* of each operand: TSR_SLOTS_MOST at most */
  int64_t deepest;  /* of the panels */
  int32_t products; /* MULTIPLY steps */
  TSR_VEC(tsr_step) steps;
} tsr_summa_schedule;

/* moves: which operands are redistributed first. TSR_ERR_MEMORY. */
tsr_status tsr_summa_schedule_make(const tsr_deal *deal, const tsr_cut *cut, const bool moves[2],
                                   tsr_summa_schedule *schedule);
void tsr_summa_schedule_free(tsr_summa_schedule *schedule); /* zeroed ones are accepted */

uint64_t tsr_summa_schedule_digest(const tsr_summa_schedule *schedule);

/* The same for a process of the grid. */
tsr_span tsr_summa_block(const tsr_summa_schedule *schedule, int direction, int coordinate,
                         int32_t block);

/* Independent of what made it: panels partition k; each is multiplied once with each block, from
 * slots that hold it, behind its messages; no slot is written before its readers are done; blocks
 * come home complete, once, and no more of them than there is room for are there at a time.
 * TSR_ERR_CHECK names the step. */
tsr_status tsr_summa_schedule_verify(const tsr_summa_schedule *schedule);

/* One step, or each with its number, a line. */
void tsr_step_print(const tsr_summa_schedule *schedule, const tsr_step *step, tsr_text *text);
void tsr_summa_schedule_print(const tsr_summa_schedule *schedule, tsr_text *text);

#endif
