/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/run/async_queue.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "cluster/transport/wait.h"

struct tsr_async_queue {
  bool threaded, started, quit;
  pthread_t thread;
  pthread_mutex_t lock;        /* protects all fields below, and quit */
  pthread_cond_t more;         /* an operation was added, or quit was set */
  pthread_cond_t empty;        /* an operation has ended */
  tsr_async_op *first, **last; /* a list; the first operation is under way */
  bool ending;                 /* an operation has left the list, but its end() still runs */
  tsr_error error;
};

tsr_status tsr_async_queue_create(bool threaded, tsr_async_queue **queue) {
  tsr_async_queue *q = tsr_alloc_zero(1, sizeof *q);
  if (q == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a grid");
  q->threaded = threaded;
  q->last = &q->first;
  q->error.status = TSR_OK;
  pthread_mutex_init(&q->lock, NULL);
  pthread_cond_init(&q->more, NULL);
  pthread_cond_init(&q->empty, NULL);
  *queue = q;
  return TSR_OK;
}

/* ---- Carrying out ------------------------------------------------------------ */

static tsr_async_op *first_of(tsr_async_queue *q) {
  pthread_mutex_lock(&q->lock);
  tsr_async_op *first = q->first;
  pthread_mutex_unlock(&q->lock);
  return first;
}

/* Removes the first operation, which has ended, ends it, and notes its error. */
static void end_first(tsr_async_queue *q, tsr_async_op *ended) {
  pthread_mutex_lock(&q->lock);
  q->first = ended->next;
  if (q->first == NULL) q->last = &q->first;
  q->ending = true;
  pthread_mutex_unlock(&q->lock);
  tsr_status status = ended->end(ended);
  pthread_mutex_lock(&q->lock);
  if (status != TSR_OK && q->error.status == TSR_OK) tsr_error_take(status, &q->error);
  q->ending = false;
  pthread_cond_broadcast(&q->empty);
  pthread_mutex_unlock(&q->lock);
}

static void poll_to_the_end(tsr_async_op *operation) {
  tsr_wait wait = TSR_WAIT_INIT;
  bool messages = false;
  while (!operation->poll(operation, &messages)) tsr_wait_step(&wait, messages);
}

tsr_status tsr_async_op_run(tsr_async_op *operation) {
  poll_to_the_end(operation);
  return operation->end(operation);
}

static void *thread_main(void *argument) {
  tsr_async_queue *q = argument;
  for (;;) {
    pthread_mutex_lock(&q->lock);
    while (q->first == NULL && !q->quit) pthread_cond_wait(&q->more, &q->lock);
    tsr_async_op *operation = q->first;
    pthread_mutex_unlock(&q->lock);
    if (operation == NULL) return NULL;
    poll_to_the_end(operation);
    end_first(q, operation);
  }
}

void tsr_async_queue_go_on(tsr_async_queue *q) {
  bool messages;
  if (q->started) return;
  for (tsr_async_op *o; (o = first_of(q)) != NULL && o->poll(o, &messages);) end_first(q, o);
}

/* ---- For callers ------------------------------------------------------------- */

static void start(tsr_async_queue *q) {
  if (!q->threaded || q->started) return;
  q->threaded = q->started = tsr_thread_start(thread_main, q, &q->thread);
}

void tsr_async_queue_add(tsr_async_queue *q, tsr_async_op *operation) {
  operation->next = NULL;
  start(q);
  pthread_mutex_lock(&q->lock);
  *q->last = operation;
  q->last = &operation->next;
  pthread_cond_signal(&q->more);
  pthread_mutex_unlock(&q->lock);
  tsr_async_queue_go_on(q);
}

void tsr_async_queue_drain(tsr_async_queue *q) {
  if (!q->started) {
    for (tsr_async_op *o; (o = first_of(q)) != NULL;) {
      poll_to_the_end(o);
      end_first(q, o);
    }
    return;
  }
  pthread_mutex_lock(&q->lock);
  while (q->first != NULL || q->ending) pthread_cond_wait(&q->empty, &q->lock);
  pthread_mutex_unlock(&q->lock);
}

tsr_status tsr_async_queue_take_error(tsr_async_queue *q) {
  pthread_mutex_lock(&q->lock);
  tsr_error error = q->error;
  q->error.status = TSR_OK;
  pthread_mutex_unlock(&q->lock);
  return error.status == TSR_OK ? TSR_OK : tsr_error_put(&error);
}

void tsr_async_queue_destroy(tsr_async_queue *q) {
  if (q == NULL) return;
  if (q->started) {
    pthread_mutex_lock(&q->lock);
    q->quit = true;
    pthread_cond_signal(&q->more);
    pthread_mutex_unlock(&q->lock);
    pthread_join(q->thread, NULL);
  }
  pthread_mutex_destroy(&q->lock);
  pthread_cond_destroy(&q->more);
  pthread_cond_destroy(&q->empty);
  tsr_dealloc(q);
}
