/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Asynchronous products of a grid, carried out one after the other. If MPI provides
 * MPI_THREAD_MULTIPLE, a thread of the grid carries them out; otherwise each call of a function of
 * the grid progresses them.
 */
#ifndef TSR_CLUSTER_RUN_ASYNC_QUEUE_H
#define TSR_CLUSTER_RUN_ASYNC_QUEUE_H

#include "base/status.h"

#include <stdbool.h>

/* An asynchronous operation: polled until it has ended. */
typedef struct tsr_async_op {
  struct tsr_async_op *next;
  /* Does what can be done without waiting. True: the operation has ended. Sets *messages to
   * whether messages of the operation are under way. */
  bool (*poll)(struct tsr_async_op *operation, bool *messages);
  /* Frees the operation and returns its status. Called once, after poll has returned true. */
  tsr_status (*end)(struct tsr_async_op *operation);
} tsr_async_op;

typedef struct tsr_async_queue tsr_async_queue;

/* threaded: the queue may start a thread. TSR_ERR_MEMORY. */
tsr_status tsr_async_queue_create(bool threaded, tsr_async_queue **queue);

/* The queue must be empty. NULL is accepted. */
void tsr_async_queue_destroy(tsr_async_queue *queue);

/* Appends an operation, which the queue then owns. If the thread cannot be started, the queue works
 * without it. */
void tsr_async_queue_add(tsr_async_queue *queue, tsr_async_op *operation);

/* Progresses the operations as far as possible without waiting. Does nothing if the queue has a
 * thread. */
void tsr_async_queue_go_on(tsr_async_queue *queue);

/* Waits until all operations have ended. */
void tsr_async_queue_drain(tsr_async_queue *queue);

/* Returns, and clears, the first error of the operations that have ended since the last call. */
tsr_status tsr_async_queue_take_error(tsr_async_queue *queue);

/* Polls an operation that is in no queue until it has ended, and returns its status. */
tsr_status tsr_async_op_run(tsr_async_op *operation);

#endif
