/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The host engine's own objects.
 *
 * Locks: no thread holds two of them at once, except an event's lock and then the lock of its
 * recording.
 */
#ifndef TSR_ENGINE_HOST_INTERNAL_H
#define TSR_ENGINE_HOST_INTERNAL_H

#include <pthread.h>

#include "engine/engine.h"

typedef struct host_device {
  int index;
  pthread_mutex_t lock; /* guards error and queues */
  tsr_error error;      /* the first error of the device; TSR_OK: none */
  int queues;           /* number of queues made so far, which numbers queues and seeds delays */
} host_device;

/* Memory that the engine allocated, or user memory that it pinned. */
typedef struct host_block {
  struct host_block *next;
  char *begin; /* the aligned pointer that the caller has */
  size_t bytes;
  int device;   /* TSR_HOST: pinned host memory */
  void *raw;    /* the pointer to free; NULL: pinned user memory */
  bool pinning; /* pinning is under way: host_where and host_find_block do not see the block yet */
} host_block;

struct tsr_engine_state {
  int count;
  bool check;
  uint64_t delay_seed;
  size_t memory;                      /* bytes of each device */
  uint32_t unlinked[TSR_MAX_DEVICES]; /* as in tsr_engine_options */
  double pace[TSR_MAX_DEVICES];       /* flop/s; likewise */
  host_device devices[TSR_MAX_DEVICES];
  pthread_mutex_t lock; /* guards blocks and used */
  host_block *blocks;
  size_t used[TSR_MAX_DEVICES]; /* bytes allocated on each device */
};

/* One recording of an event, with a count of references: an event may be recorded again while
 * commands in queues still wait for the previous recording. */
typedef struct host_recording {
  pthread_mutex_t lock;
  pthread_cond_t completed;
  int references;
  bool complete;
  double seconds;
} host_recording;

struct tsr_queue_event {
  host_device *device;
  bool timed;
  pthread_mutex_t lock;      /* guards the fields below */
  host_recording *recording; /* the last one; NULL: never recorded, or recording failed */
  tsr_queue *queue;          /* without a recording, the event is complete when this queue (NULL: */
  long number;               /* never recorded) has carried out its command of this number */
};

typedef enum host_command_kind { HOST_COPY, HOST_KERNEL, HOST_RECORD, HOST_WAIT } host_command_kind;

typedef struct host_command {
  struct host_command *next;
  host_command_kind kind;
  long number;   /* in its queue, from 1 */
  bool fail;     /* a test makes the command fail */
  void *scratch; /* of the queue, for a kernel that needs it */
  union {
    tsr_copy_args copy;
    tsr_kernel_args kernel;
    host_recording *recording;
  } as;
} host_command;

struct tsr_queue {
  tsr_engine_state *state;
  host_device *device;
  tsr_queue_role role;
  int number;           /* among the device's queues, from 0 */
  uint64_t random;      /* state of the generator of delays */
  void *scratch;        /* the submitter's, for tsr_cpu_kernel_in; NULL until a kernel needs it */
  pthread_mutex_t lock; /* guards the fields below */
  pthread_cond_t work;  /* signalled when a command is submitted or stop is set */
  host_command *first, **last;
  long submitted, finished; /* commands submitted, and carried out */
  bool running;             /* the thread was started */
  bool stop;                /* the thread ends when the queue is empty */
  pthread_t thread;
};

/* memory.c */
tsr_status host_alloc(tsr_engine_state *state, int device, size_t bytes, void **pointer);
void host_free(tsr_engine_state *state, int device, void *pointer);
tsr_status host_pin(tsr_engine_state *state, void *pointer, size_t bytes, bool on);
tsr_status host_where(tsr_engine_state *state, const void *pointer, tsr_place *place);
void host_free_all(tsr_engine_state *state);

/* Copies the block that contains pointer to *block, whose next must not be followed. False: no
 * block contains pointer, or the block is still being pinned. */
bool host_find_block(tsr_engine_state *state, const void *pointer, host_block *block);

/* Whether any of these bytes is being pinned. */
bool host_being_pinned(tsr_engine_state *state, const char *begin, size_t bytes);

/* Counts one operation for tsr_engine_host_fail_at; true if this operation must fail. */
bool host_must_fail(void);
/* Whether errors of devices pass (tsr_engine_host_pass). */
bool host_errors_pass(void);
/* Fails for a command that tsr_engine_host_refuse_commands refuses. */
tsr_status host_refuse_command(void);

/* queue.c */
tsr_status host_queue_create(tsr_engine_state *state, int device, tsr_queue_role role, void *native,
                             tsr_queue **queue);
void host_queue_destroy(tsr_queue *queue);
tsr_status host_event_create(tsr_engine_state *state, int device, bool timed,
                             tsr_queue_event **event);
void host_event_destroy(tsr_queue_event *event);
tsr_status host_record(tsr_queue *queue, tsr_queue_event *event);
tsr_status host_wait(tsr_queue *queue, tsr_queue_event *event);
tsr_status host_query(tsr_queue_event *event, bool *complete, double *seconds);
tsr_status host_check(tsr_engine_state *state, int device);
tsr_status host_recover(tsr_engine_state *state, int device);
tsr_status host_copy(tsr_queue *queue, const tsr_copy_args *args);
tsr_status host_kernel(tsr_queue *queue, const tsr_kernel_args *args);

/* command.c: carries out a copy or a kernel on the queue's thread. */
tsr_status host_run_copy(const tsr_queue *queue, const host_command *command);
tsr_status host_run_kernel(const tsr_queue *queue, const host_command *command);

/* check.c: in checking mode, TSR_ERR_CHECK if an operand of a copy or kernel that is about to run
 * is misplaced or unwritten. */
tsr_status host_check_copy(const tsr_queue *queue, const host_command *command);
tsr_status host_check_kernel(const tsr_queue *queue, const host_command *command);

/* place.c: the command's name in messages, "emulated device 1, queue 3 (in), command 17". The text
 * is the calling thread's and lasts until that thread's next call. */
const char *host_place(const tsr_queue *queue, const host_command *command);

#endif
