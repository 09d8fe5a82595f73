/*
 * An engine carries out commands on devices: one const struct of traits and functions, each
 * function required unless marked optional. Engines know no plans and decide nothing.
 *
 * Devices are numbered 0 .. count-1 as the engine was opened; TSR_HOST (-1) is host memory.
 * Threads: one thread submits to the queues of a device at a time; different devices may be used
 * by different threads at once; alloc, free, pin and where may be called from any thread. The
 * caller's current CUDA device is left as it was by open, alloc, free, pin, where and close;
 * record, wait, copy, kernel and query may leave it changed: they run on the library's threads only
 * (run/aside.h).
 */
#ifndef TSR_ENGINE_ENGINE_H
#define TSR_ENGINE_ENGINE_H

#include <stdbool.h>

#include "base/kernel.h"
#include "base/queue.h"
#include "base/status.h"

typedef struct tsr_engine_state tsr_engine_state;
typedef struct tsr_queue tsr_queue;             /* in-order stream of a device */
typedef struct tsr_queue_event tsr_queue_event; /* a point in a queue */

enum { TSR_MAX_DEVICES = 32 };

typedef struct tsr_device_info {
  char name[64];              /* "NVIDIA H200" */
  char identity[64];          /* unique: UUID or bus id */
  size_t memory_total;        /* bytes */
  size_t memory_free;         /* at the time of open */
  bool peer[TSR_MAX_DEVICES]; /* it can copy to and from that device directly */
} tsr_device_info;

typedef struct tsr_engine_options {
  const int *devices;     /* physical devices to open, in this order; NULL: all */
  int count;              /* of devices; with NULL: how many (0: all; an engine that emulates its
                             devices makes this many, by default 4) */
  size_t emulated_memory; /* of each emulated device, 0: 1 GiB */
  bool check; /* poison what no command wrote; a kernel or a copy that reads poison fails */
  uint64_t delay_seed; /* emulated devices: random delays in queues; 0: none */
} tsr_engine_options;

/* A two-dimensional copy of bytes: height runs of width bytes, pitch bytes apart. One end is at
 * the queue's device. to and from are devices or TSR_HOST. */
typedef struct tsr_copy_args {
  void *to;
  const void *from;
  int to_device, from_device;
  size_t to_pitch, from_pitch, width, height;
} tsr_copy_args;

/* Where memory is. */
typedef struct tsr_place {
  tsr_memory memory;
  int device;        /* engine's number when memory is TSR_DEVICE, else TSR_HOST */
  const char *begin; /* the allocation around the pointer, when known: [begin, begin + bytes) is */
  size_t bytes;      /* all of this kind; 0: unknown */
} tsr_place;

/* What others need to know of an engine; nobody asks which engine it is. Each trait is optional: 0
 * suits an engine that drives real devices. */
typedef struct tsr_engine_traits {
  /* The devices are threads of this process: there are as many as are asked for, each with as much
   * memory as is asked for, and nobody measures them. 0: the devices that the machine has. */
  bool emulated;
  /* A device's first queue, allocation and kernels take no longer than later ones. 0: they take
   * long, so they are had before a call needs them. */
  bool quick_start;
  /* Bytes of pinned memory that suit staging. 0: half of the CPU's last cache. */
  size_t ring;
  /* Bytes of a device's memory to take at a time for what stays there. 0: as much as makes the
   * allocations few, because each takes long. */
  size_t block;
} tsr_engine_traits;

typedef struct tsr_engine {
  const char *name;
  tsr_engine_traits traits;

  /* Opens devices and fills info[0..*count-1]. TSR_ERR_ENGINE when there is no usable device. */
  tsr_status (*open)(const tsr_engine_options *options, tsr_engine_state **state,
                     tsr_device_info *info, int *count);
  void (*close)(tsr_engine_state *state);

  /* Memory of a device, or pinned host memory (TSR_HOST). 512-byte aligned. */
  tsr_status (*alloc)(tsr_engine_state *state, int device, size_t bytes, void **pointer);
  void (*free)(tsr_engine_state *state, int device, void *pointer);

  /* Pins or unpins (on = false) the user's host memory in place. Optional: NULL, then
   * TSR_ERR_UNSUPPORTED. */
  tsr_status (*pin)(tsr_engine_state *state, void *pointer, size_t bytes, bool on);

  tsr_status (*queue_create)(tsr_engine_state *state, int device, tsr_queue_role role, void *native,
                             tsr_queue **queue);
  void (*queue_destroy)(tsr_queue *queue);

  /* timed: query gives its time. */
  tsr_status (*event_create)(tsr_engine_state *state, int device, bool timed,
                             tsr_queue_event **event);
  void (*event_destroy)(tsr_queue_event *event);

  /* Marks the place after everything now in the queue. An event may be recorded again. Where
   * recording fails the event still marks the place, for query alone: whoever waits for the queue
   * learns in any case when its commands touch memory no more. The queue must live until then. */
  tsr_status (*record)(tsr_queue *queue, tsr_queue_event *event);

  /* What is put into queue later waits for the event, which must have been recorded (by any
   * thread, on any device) before: TSR_ERR_CHECK where recording failed. */
  tsr_status (*wait)(tsr_queue *queue, tsr_queue_event *event);

  /* Whether the event, recorded before, has passed; asking takes no memory. *seconds (may be NULL;
   * timed events only, and not where recording failed): when, on the engine's clock, which all
   * devices share as well as can be. Returns the error of any earlier command of the device;
   * *passed tells also then (true for a device that is lost). */
  tsr_status (*query)(tsr_queue_event *event, bool *passed, double *seconds);

  tsr_status (*copy)(tsr_queue *queue, const tsr_copy_args *args);
  tsr_status (*kernel)(tsr_queue *queue, const tsr_kernel_args *args);

  /* Where pointer is. Ordinary memory that the runtime does not know is TSR_PAGEABLE. */
  tsr_status (*where)(tsr_engine_state *state, const void *pointer, tsr_place *place);

  /* In an engine opened with check: makes memory of the engine's count as unwritten again. It is
   * 2-byte aligned, and no command is using it. Optional: NULL where only new memory does. */
  void (*poison)(void *memory, size_t bytes);
} tsr_engine;

/* The engine of that name. NULL where this build, or this machine, does not have it, and
 * tsr_message() says why. */
const tsr_engine *tsr_engine_find(const char *name);

/* The names of all engines, in the order in which they are tried for a user who names none; NULL
 * behind the last. */
const char *tsr_engine_name(int index);

/* The trait emulated of the engine of that name, without loading an engine: one that is loaded at
 * run time drives real devices. False for NULL and unknown names. */
bool tsr_engine_emulates(const char *name);

/* TSR_ERR_ARGUMENT unless it is the name of an engine, or "cpu". what: where the user wrote it. */
tsr_status tsr_engine_check(const char *what, const char *name);

#endif
