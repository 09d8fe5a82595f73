/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A transport broadcasts panels: from the process that owns a panel to the others of its row of the
 * grid (operand A) or of its column (B). Each transport is one const struct of functions; callers
 * do not know which one they use.
 *
 * A transport allocates the slots, in host memory or in a device's; products read a panel from the
 * slot in which it arrived. One thread at a time calls. All processes begin the same messages in
 * the same order, A's and B's together, so a transport may execute them in one sequence everywhere.
 */
#ifndef TSR_CLUSTER_TRANSPORT_TRANSPORT_H
#define TSR_CLUSTER_TRANSPORT_TRANSPORT_H

#include "cluster/plan/parts.h"
#include "cluster/run/grid.h"

/* The broadcast of a panel. In its slot a panel is `lines` lines (columns) of `line` bytes each,
 * without gaps. */
typedef struct tsr_broadcast {
  int operand;          /* TSR_SUMMA_A, TSR_SUMMA_B */
  int root;             /* the panel's owner: a column of the grid for A, a row for B */
  int32_t panel, block; /* their numbers, for timelines */
  void *slot;           /* from tsr_transport.allocate */
  size_t line;
  int64_t lines;
  tsr_panel_parts parts; /* read at the root alone; unchanged until the message is complete */
} tsr_broadcast;

/* Messages have numbers from 0 to TSR_TRANSPORT_MESSAGES - 1. A number may be used again once its
 * message is no longer under way. */
enum { TSR_TRANSPORT_MESSAGES = 2 * TSR_SLOTS_MOST };

typedef enum tsr_message_state {
  TSR_MESSAGE_UNDER_WAY,
  TSR_MESSAGE_COMPLETE,
  TSR_MESSAGE_LOST /* it will not arrive; the process that failed reports why */
} tsr_message_state;

typedef struct tsr_transport {
  const char *name;
  /* Collective; the same status everywhere. */
  tsr_status (*open)(tsr_grid *grid, void **state);
  void (*close)(void *state);
  /* Writes the measured rates of the transport into the model. Optional; NULL: slots are in host
   * memory, and the network has the rates that the machines say. */
  void (*describe)(const void *state, tsr_model *model);
  /* Allocates a slot of `bytes` bytes. Not collective. TSR_ERR_MEMORY. */
  tsr_status (*allocate)(void *state, size_t bytes, void **slot);
  void (*release)(void *state, void *slot);
  /* Begins a message. A failure is returned once, here or by test; the message must still be tested
   * until it is no longer under way. */
  tsr_status (*begin)(void *state, int message, const tsr_broadcast *what);
  /* Writes a message's state to *at, without waiting. Messages progress only while all messages
   * under way are tested. */
  tsr_status (*test)(void *state, int message, tsr_message_state *at);
} tsr_transport;

/* MPI, through host memory: always available. */
extern const tsr_transport tsr_transport_mpi;

/* From device to device: slots are memory of each process's first device (device.h). */
extern const tsr_transport tsr_transport_device;

/* Opens a transport for the grid and updates the grid's model: the transport that TESSERA_TRANSPORT
 * names, or else from device to device if all processes can use it, or else MPI. Collective; the
 * same status everywhere. */
tsr_status tsr_transport_open(tsr_grid *grid);

#endif
