/*
 * The transport: how a panel gets from the process that has it to the others of its row of the grid
 * (operand A) or of its column (B). One const struct of functions for each way; what calls them
 * knows nothing of it.
 *
 * Slots are memory of the transport's, host memory or a device's: products take a panel from where
 * it arrived. One thread at a time calls; all processes begin the same messages in the same order,
 * over both operands, so that a transport may put them in one sequence everywhere.
 */
#ifndef TSR_DIST_TRANSPORT_H
#define TSR_DIST_TRANSPORT_H

#include "dist/grid.h"

/* A panel: lines (columns) of so many bytes each, one behind another in the slot. */
typedef struct tsr_broadcast {
  int operand; /* TSR_STEP_A, TSR_STEP_B */
  int root;    /* who has it: a column of the grid for A, a row for B */
  void *slot;  /* of tsr_transport.allocate */
  size_t line;
  int64_t lines;
  /* At the root alone: puts lines at .. at + count - 1 into host memory, tightly. It may be called
   * for any part in any order, and by several threads. */
  void (*pack)(const void *panel, int64_t at, int64_t count, char *to);
  const void *panel;
} tsr_broadcast;

/* Messages are known by number, below TSR_TRANSPORT_MESSAGES; a number serves again when its
 * message is complete. */
enum { TSR_TRANSPORT_MESSAGES = 2 * (TSR_LOOKAHEAD_MOST + 1) };

typedef struct tsr_transport {
  const char *name;
  /* Collective. */
  tsr_status (*open)(tsr_grid *grid, void **state);
  void (*close)(void *state);
  /* Memory for a panel of so many bytes; of this process alone. TSR_ERR_MEMORY. */
  tsr_status (*allocate)(void *state, size_t bytes, void **slot);
  void (*release)(void *state, void *slot);
  /* Begins a message. pack is called, if at all, before it returns. What fails is told once, and
   * the message counts as complete when test says so. */
  tsr_status (*begin)(void *state, int message, const tsr_broadcast *what);
  /* Whether it is complete, without waiting; whoever calls this drives all messages on. */
  tsr_status (*test)(void *state, int message, bool *complete);
} tsr_transport;

/* Through host memory by MPI: the one that is always there. */
extern const tsr_transport tsr_transport_mpi;

#endif
