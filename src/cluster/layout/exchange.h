/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An exchange moves a view to another layout. It goes window by window over the view, so that
 * memory for messages is bounded; within a window every process sends each other process everything
 * that it owns there and the other one wants (MPI_Ialltoallv). In the new layout the indices of an
 * axis may be everywhere; in the old one each index has one owner. The exchange progresses when it
 * is polled, and never waits.
 */
#ifndef TSR_CLUSTER_LAYOUT_EXCHANGE_H
#define TSR_CLUSTER_LAYOUT_EXCHANGE_H

#include "cluster/layout/pack.h"
#include "cluster/layout/view.h"

typedef struct tsr_exchange {
  tsr_grid *grid; /* its packers copy, and its counts get what is moved. Not owned. */
  const tsr_peers *peers;
  tsr_view from, to;   /* of the same extents; to.conjugate is ignored */
  int64_t window[2];   /* rows and columns of a window */
  int64_t at[2];       /* where the current window begins */
  MPI_Request request; /* of the current window's messages, if under_way */
  bool under_way;
  tsr_status status; /* the first failure of this process */
  tsr_error error;
  char *out, *in; /* the messages of a window */
  int *count;     /* four arrays of one number a process, in bytes: lengths and offsets in `out`,
                     lengths and offsets in `in` */
} tsr_exchange;

/* Allocates an exchange's buffers. Not collective. TSR_ERR_MEMORY. */
tsr_status tsr_exchange_create(tsr_grid *grid, const tsr_peers *peers, const tsr_view *from,
                               const tsr_view *to, tsr_exchange *exchange);

/* Does what can be done without waiting. True: the exchange has ended. It ends once all processes
 * have polled it often enough. After an error it still sends and receives to the end, so that the
 * other processes can end, too. */
bool tsr_exchange_poll(tsr_exchange *exchange);

/* The first error of this process, once the exchange has ended. */
tsr_status tsr_exchange_result(const tsr_exchange *exchange);

/* Polls until the exchange has ended; returns its result. */
tsr_status tsr_exchange_run(tsr_exchange *exchange);

/* Bytes that each process sends, and receives, if all of them own equal parts. */
double tsr_exchange_bytes(const tsr_view *from, int processes);

/* Frees the buffers. A zeroed exchange is accepted. */
void tsr_exchange_destroy(tsr_exchange *exchange);

#endif
