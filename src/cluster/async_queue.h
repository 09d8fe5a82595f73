/*
 * Asynchronous products of a grid, carried out one after the other: by a thread of the grid's where
 * MPI lets several threads in, else by whoever calls one of the grid's functions.
 */
#ifndef TSR_CLUSTER_ASYNC_QUEUE_H
#define TSR_CLUSTER_ASYNC_QUEUE_H

#include "base/status.h"

#include <stdbool.h>

/* An asynchronous operation: it is polled until it has ended. */
typedef struct tsr_async_op {
  struct tsr_async_op *next;
  /* Does what can be done without waiting; true: it has ended. *messages: some are under way. */
  bool (*poll)(struct tsr_async_op *operation, bool *messages);
  /* What it came to; frees it. */
  tsr_status (*end)(struct tsr_async_op *operation);
} tsr_async_op;

typedef struct tsr_async_queue tsr_async_queue;

/* TSR_ERR_MEMORY. */
tsr_status tsr_async_queue_create(bool threaded, tsr_async_queue **queue);

/* Nothing may be in it. NULL is accepted. */
void tsr_async_queue_destroy(tsr_async_queue *queue);

/* Puts it behind the others. A thread that cannot be started is done without. */
void tsr_async_queue_add(tsr_async_queue *queue, tsr_async_op *operation);

/* Without a thread: goes on with what there is, as far as that is possible without waiting. */
void tsr_async_queue_go_on(tsr_async_queue *queue);

/* Waits until all have ended. */
void tsr_async_queue_drain(tsr_async_queue *queue);

/* The first failure of those that have ended since this was asked last. */
tsr_status tsr_async_queue_take_error(tsr_async_queue *queue);

/* Polls one that is in no queue until it has ended; what it came to. */
tsr_status tsr_async_op_run(tsr_async_op *operation);

#endif
