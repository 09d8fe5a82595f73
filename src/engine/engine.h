/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An engine carries out commands on devices. An engine is one const struct of traits and functions;
 * each function is required unless marked optional. Engines know no plans and decide nothing.
 *
 * The opened devices are numbered 0 .. count-1, in the order of tsr_engine_options.devices;
 * TSR_HOST
 * (-1) is host memory.
 *
 * Threads: one thread at a time submits to the queues of a device; different threads may use
 * different devices at once; any thread may call alloc, free, pin, where and check. open, alloc,
 * free, pin, where and close leave the caller's current device as it was; record, wait, copy,
 * kernel and query may change it, and therefore run only on the library's threads (run/aside.h).
 */
#ifndef TSR_ENGINE_ENGINE_H
#define TSR_ENGINE_ENGINE_H

#include <stdbool.h>

#include "arithmetic/kernel.h"
#include "base/queue.h"
#include "base/status.h"

typedef struct tsr_engine_state tsr_engine_state;
typedef struct tsr_queue tsr_queue;             /* in-order stream of a device */
typedef struct tsr_queue_event tsr_queue_event; /* complete when all commands before it are */

enum { TSR_MAX_DEVICES = 32 };

typedef struct tsr_device_info {
  char name[64];              /* "NVIDIA H200" */
  char identity[64];          /* unique: UUID or bus id */
  char address[16];           /* on the PCI bus: "0000:3b:00.0"; "": none, or unknown */
  size_t memory_total;        /* bytes */
  size_t memory_free;         /* bytes, at the time of open */
  bool peer[TSR_MAX_DEVICES]; /* [d]: this device copies to device d directly */
} tsr_device_info;

typedef struct tsr_engine_options {
  const int *devices;     /* physical devices to open, in this order; NULL: the first count */
  int count;              /* devices to open; 0: all, or 4 if the engine emulates its devices */
  size_t emulated_memory; /* bytes of each emulated device; 0: 1 GiB */
  /* Bit j of [i]: emulated device i refuses copies to device j, as if there were no peer access.
   * Engines of real devices take what the hardware has. */
  uint32_t emulated_unlinked[TSR_MAX_DEVICES];
  /* The most flop/s of kernels on emulated device i; 0: as many as the CPU's BLAS does. */
  double emulated_pace[TSR_MAX_DEVICES];
  bool check;          /* new memory holds poison (NaNs); the host engine also makes a kernel or
                          copy fail that reads poison */
  uint64_t delay_seed; /* emulated devices delay commands at random; 0: they do not */
} tsr_engine_options;

/* A two-dimensional copy of bytes: height rows of width bytes; rows start to_pitch and from_pitch
 * bytes apart. to_device and from_device are devices or TSR_HOST; one of them is the queue's. */
typedef struct tsr_copy_args {
  void *to;
  const void *from;
  int to_device, from_device;
  size_t to_pitch, from_pitch, width, height;
} tsr_copy_args;

/* The kind of memory that a pointer points to, and the device that has it. */
typedef struct tsr_place {
  tsr_memory memory;
  int device;        /* the engine's number if memory is TSR_DEVICE, else TSR_HOST */
  const char *begin; /* the allocation around the pointer is [begin, begin + bytes), */
  size_t bytes;      /* all of it of this kind; 0: unknown */
} tsr_place;

/* Properties by which other folders adapt to an engine, so that no code compares engines. The value
 * 0 of each trait suits an engine that drives real devices. */
typedef struct tsr_engine_traits {
  /* The devices are threads of this process: count and memory are as the options ask, and their
   * rates are not measured. 0: the machine's devices. */
  bool emulated;
  /* A device's first queue, allocation and kernel take no longer than later ones. 0: they take
   * longer, so the library makes them before a call needs them. */
  bool quick_start;
  /* Bits by tsr_kernel, of kernels that make a form: the engine has these and the ones that
   * multiply the form (arithmetic/arithmetic.h). 0: products are native. */
  unsigned forms;
  /* Products in residues are judged by the overlap of their lines where quantiles do not promise
   * their accuracy (arithmetic/judgement.h). 0: by quantiles alone. */
  bool overlaps;
  /* Kernels obey `blocks` of tsr_kernel_args: level-3 routines can be computed in two ways, of
   * which the probe finds the faster. */
  bool blocks;
  /* Bytes of pinned memory of a staging ring. 0: half of the CPU's last-level cache. */
  size_t ring;
  /* Bytes of device memory that the store of cached blocks allocates at a time. 0: large
   * allocations, so that they are few: each takes long. */
  size_t block;
  /* The library that carries bytes between its devices in different processes: "nccl" or "rccl"
   * (cluster/transport/fabric.c). NULL: nothing does. */
  const char *fabric;
} tsr_engine_traits;

typedef struct tsr_engine {
  const char *name;
  tsr_engine_traits traits;

  /* Opens devices and fills info[0 .. *count-1]. TSR_ERR_ENGINE if no device is usable. */
  tsr_status (*open)(const tsr_engine_options *options, tsr_engine_state **state,
                     tsr_device_info *info, int *count);
  void (*close)(tsr_engine_state *state);

  /* Tells which devices open would open, and opens none: fills name, identity and address of info[0
   * .. *count-1]. The errors are those of open. */
  tsr_status (*list)(const tsr_engine_options *options, tsr_device_info *info, int *count);

  /* Allocates memory of a device, or pinned host memory (TSR_HOST), aligned to 512 bytes. */
  tsr_status (*alloc)(tsr_engine_state *state, int device, size_t bytes, void **pointer);
  void (*free)(tsr_engine_state *state, int device, void *pointer);

  /* Pins (on) or unpins the user's host memory in place. Optional: if NULL, the library answers
   * TSR_ERR_UNSUPPORTED. */
  tsr_status (*pin)(tsr_engine_state *state, void *pointer, size_t bytes, bool on);

  /* Makes a queue of the device. With the role TSR_QUEUE_USER the queue submits to native, the
   * user's stream, which the user keeps. queue_destroy waits for the queue's commands, but not for
   * other work on the user's stream. */
  tsr_status (*queue_create)(tsr_engine_state *state, int device, tsr_queue_role role, void *native,
                             tsr_queue **queue);
  void (*queue_destroy)(tsr_queue *queue);

  /* Makes an event; if timed, query tells when it completed. */
  tsr_status (*event_create)(tsr_engine_state *state, int device, bool timed,
                             tsr_queue_event **event);
  void (*event_destroy)(tsr_queue_event *event);

  /* Records the event: it completes when all commands now in the queue have. An event may be
   * recorded again. If recording fails, query still tells when those commands have completed, so
   * that the caller learns when they no longer touch memory; the queue must live until then. */
  tsr_status (*record)(tsr_queue *queue, tsr_queue_event *event);

  /* Commands submitted to the queue from now on wait for the event, which any thread has recorded
   * before in a queue of any device. TSR_ERR_CHECK if recording failed. */
  tsr_status (*wait)(tsr_queue *queue, tsr_queue_event *event);

  /* *complete: whether the recorded event is complete. *seconds (if not NULL, for a complete timed
   * event whose recording succeeded): when it completed, on the engine's clock, which is the same
   * for all devices up to measurement error. Returns the error of any earlier command of the
   * device and sets *complete also then; on a lost device, *complete is true. query allocates no
   * memory. */
  tsr_status (*query)(tsr_queue_event *event, bool *complete, double *seconds);

  /* The error of any earlier command of the device, at once; any thread may ask. */
  tsr_status (*check)(tsr_engine_state *state, int device);

  /* Asks a device that has failed, and whose queues are all complete, whether it works: carries out
   * a trivial command on it. TSR_OK: it does, and the errors of earlier commands are forgotten.
   * TSR_ERR_DEVICE: it is lost. */
  tsr_status (*recover)(tsr_engine_state *state, int device);

  tsr_status (*copy)(tsr_queue *queue, const tsr_copy_args *args);
  tsr_status (*kernel)(tsr_queue *queue, const tsr_kernel_args *args);

  /* Tells which memory pointer points to. Memory that the runtime does not know is TSR_PAGEABLE. */
  tsr_status (*where)(tsr_engine_state *state, const void *pointer, tsr_place *place);

  /* Reads the energy that the card of a device has used since its driver was loaded. Optional, as
   * pin. */
  tsr_status (*energy)(tsr_engine_state *state, int device, double *joules);

  /* Makes the kernels ready that factor a block. TSR_ERR_UNSUPPORTED: they are not here; the
   * message has the remedy. Optional: NULL if the engine has none. */
  tsr_status (*factors)(void);

  /* In an engine opened with check: makes memory of the engine count as unwritten again. memory is
   * 2-byte aligned, and no command is using it. Optional: NULL if the engine poisons only new
   * memory. */
  void (*poison)(void *memory, size_t bytes);
} tsr_engine;

/* The engine called name. NULL if this build or this machine does not have it; tsr_message() then
 * says why. */
const tsr_engine *tsr_engine_find(const char *name);

/* The name of engine index (0, 1, ...), in the order in which the engines are tried for a user who
 * names none. NULL when index is past the last. */
const char *tsr_engine_name(int index);

/* Whether the engine called name may drive real devices of this machine: its driver is there, as
 * far as a file tells. This loads no engine. False for NULL and unknown names. */
bool tsr_engine_worth_trying(const char *name);

/* Whether the engine called name emulates its devices. This loads no engine: an engine that is
 * loaded at run time drives real devices. False for NULL and unknown names. */
bool tsr_engine_emulates(const char *name);

/* TSR_ERR_ARGUMENT unless name is "cpu" or the name of an engine. The message calls it by what: the
 * option or the variable in which the user wrote it. */
tsr_status tsr_engine_check(const char *what, const char *name);

#endif
