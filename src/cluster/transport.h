/*
 * The transport: how a panel gets from the process that has it to the others of its row of the grid
 * (operand A) or of its column (B). One const struct of functions for each way; what calls them
 * knows nothing of it.
 *
 * Slots are memory of the transport's, host memory or a device's: products take a panel from where
 * it arrived. One thread at a time calls; all processes begin the same messages in the same order,
 * over both operands, so that a transport may put them in one sequence everywhere.
 */
#ifndef TSR_CLUSTER_TRANSPORT_H
#define TSR_CLUSTER_TRANSPORT_H

#include "cluster/grid.h"
#include "cluster/parts.h"

/* A panel: lines (columns) of so many bytes each, one behind another in the slot. */
typedef struct tsr_broadcast {
  int operand;          /* TSR_SUMMA_A, TSR_SUMMA_B */
  int root;             /* who has it: a column of the grid for A, a row for B */
  int32_t panel, block; /* what it is, for traces */
  void *slot;           /* of tsr_transport.allocate */
  size_t line;
  int64_t lines;
  tsr_parts parts; /* at the root alone; they stay as they are until the message is complete */
} tsr_broadcast;

/* Messages are known by number, below TSR_TRANSPORT_MESSAGES; a number serves again when its
 * message is no longer under way. */
enum { TSR_TRANSPORT_MESSAGES = 2 * TSR_SLOTS_MOST };

typedef enum tsr_message_state {
  TSR_MESSAGE_UNDER_WAY,
  TSR_MESSAGE_COMPLETE,
  TSR_MESSAGE_LOST /* it will not come; a process says why: that whose fault it is */
} tsr_message_state;

typedef struct tsr_transport {
  const char *name;
  /* Collective; the same status everywhere. */
  tsr_status (*open)(tsr_grid *grid, void **state);
  void (*close)(void *state);
  /* What the model should know of it. Optional: NULL where slots are in host memory and the network
   * is as the machines say. */
  void (*describe)(const void *state, tsr_model *model);
  /* Memory for a panel of so many bytes; of this process alone. TSR_ERR_MEMORY. */
  tsr_status (*allocate)(void *state, size_t bytes, void **slot);
  void (*release)(void *state, void *slot);
  /* Begins a message. What fails is told once, here or by test, and the message goes on to its end
   * all the same. */
  tsr_status (*begin)(void *state, int message, const tsr_broadcast *what);
  /* How far it is, without waiting; testing all that are under way drives them on. */
  tsr_status (*test)(void *state, int message, tsr_message_state *at);
} tsr_transport;

/* Through host memory by MPI: the one that is always there. */
extern const tsr_transport tsr_transport_mpi;

/* From device to device: slots are memory of each process's first device (device.c). */
extern const tsr_transport tsr_transport_device;

/* Opens the one that TESSERA_TRANSPORT names, or else the best that all processes can use, for the
 * grid, and tells its model. Collective; the same status everywhere. */
tsr_status tsr_transport_open(tsr_grid *grid);

#endif
