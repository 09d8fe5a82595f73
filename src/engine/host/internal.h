/*
 * The host engine's own objects.
 *
 * Locks, in the order in which they may be held together: queue, then point; memory and device
 * errors are held alone.
 */
#ifndef TSR_ENGINE_HOST_INTERNAL_H
#define TSR_ENGINE_HOST_INTERNAL_H

#include <pthread.h>

#include "engine/engine.h"

typedef struct host_device {
  int index;
  pthread_mutex_t lock; /* of error */
  tsr_error error;      /* the first one; TSR_OK: none */
  int queues;           /* made so far: seeds delays, names queues; guarded by lock */
} host_device;

/* A piece of memory that the engine knows: what it allocated, or what was pinned. */
typedef struct host_block {
  struct host_block *next;
  char *begin; /* what the user sees */
  size_t bytes;
  int device;
  void *raw;   /* what was allocated; NULL: the user's, pinned */
  bool coming; /* it is being pinned still: not a block to others */
} host_block;

struct tsr_engine_state {
  int count;
  bool check;
  uint64_t delay_seed;
  size_t memory; /* of each device */
  host_device devices[TSR_MAX_DEVICES];
  pthread_mutex_t lock; /* of the blocks and of used */
  host_block *blocks;
  size_t used[TSR_MAX_DEVICES];
};

/* One recording of an event. It lives as long as anything looks at it, so an event may be recorded
 * again while waits for its former recording are still in queues. */
typedef struct host_point {
  pthread_mutex_t lock;
  pthread_cond_t passed_now;
  int references;
  bool passed;
  double seconds;
} host_point;

struct tsr_queue_event {
  host_device *device;
  bool timed;
  pthread_mutex_t lock; /* of all below */
  host_point *point;    /* the last recording; NULL: never recorded, or recording failed: */
  tsr_queue *behind;    /* where it failed it passes when this queue (NULL: never recorded) */
  long number;          /* has carried out so many commands */
};

typedef enum host_command_kind { HOST_COPY, HOST_KERNEL, HOST_RECORD, HOST_WAIT } host_command_kind;

typedef struct host_command {
  struct host_command *next;
  host_command_kind kind;
  long number; /* in its queue, from 1 */
  bool fail;   /* a test wants it to */
  union {
    tsr_copy_args copy;
    tsr_kernel_args kernel;
    host_point *point;
  } as;
} host_command;

struct tsr_queue {
  tsr_engine_state *state;
  host_device *device;
  tsr_queue_role role;
  int number; /* of its device */
  uint64_t random;
  void *room;           /* for conversions, once a kernel needs it: by tsr_cpu_kernel_in */
  pthread_mutex_t lock; /* of all below */
  pthread_cond_t work;
  host_command *first, **last;
  long submitted, finished; /* commands put in, and carried out */
  bool running, stop;       /* the thread is there; it is to end when the queue is empty */
  pthread_t thread;
};

/* memory.c */
tsr_status host_alloc(tsr_engine_state *state, int device, size_t bytes, void **pointer);
void host_free(tsr_engine_state *state, int device, void *pointer);
tsr_status host_pin(tsr_engine_state *state, void *pointer, size_t bytes, bool on);
tsr_status host_where(tsr_engine_state *state, const void *pointer, tsr_place *place);
void host_free_all(tsr_engine_state *state);

/* Copies the block around pointer (its next is not to be followed); false: there is none. */
bool host_find_block(tsr_engine_state *state, const void *pointer, host_block *block);

/* Whether any of these bytes is being pinned. */
bool host_being_pinned(tsr_engine_state *state, const char *begin, size_t bytes);

/* Counts a command, an allocation or a pinning towards the one that is to fail: whether this is it.
 */
bool host_must_fail(void);

/* queue.c */
tsr_status host_queue_create(tsr_engine_state *state, int device, tsr_queue_role role, void *native,
                             tsr_queue **queue);
void host_queue_destroy(tsr_queue *queue);
tsr_status host_event_create(tsr_engine_state *state, int device, bool timed,
                             tsr_queue_event **event);
void host_event_destroy(tsr_queue_event *event);
tsr_status host_record(tsr_queue *queue, tsr_queue_event *event);
tsr_status host_wait(tsr_queue *queue, tsr_queue_event *event);
tsr_status host_query(tsr_queue_event *event, bool *passed, double *seconds);
tsr_status host_copy(tsr_queue *queue, const tsr_copy_args *args);
tsr_status host_kernel(tsr_queue *queue, const tsr_kernel_args *args);

/* command.c: carries out a copy or a kernel on the queue's thread. */
tsr_status host_run_copy(const tsr_queue *queue, const host_command *command);
tsr_status host_run_kernel(const tsr_queue *queue, const host_command *command);

/* check.c: what the checking mode says of a copy or a kernel before it runs. */
tsr_status host_check_copy(const tsr_queue *queue, const host_command *command);
tsr_status host_check_kernel(const tsr_queue *queue, const host_command *command);

/* place.c: "emulated device 1, queue 3 (in), command 17": static text of the calling thread. */
const char *host_place(const tsr_queue *queue, const host_command *command);

#endif
