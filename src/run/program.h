/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program: derived from a plan once, so that a run need not search: the commands of each device
 * and of each queue in plan order, the commands that need events, and the last uses of cached
 * blocks.
 *
 * A program takes part in one run at a time; its flags tell which commands of that run are
 * submitted or complete. Two runs of one plan may be in flight, the later one with the program's
 * twin. Only the flags, the twin and, at the first submission, the engine's queues change after
 * creation.
 */
#ifndef TSR_RUN_PROGRAM_H
#define TSR_RUN_PROGRAM_H

#include <stdatomic.h>

#include "base/rect.h"
#include "engine/engine.h"
#include "plan/plan.h"
#include "run/runner.h"

#define TSR_NO_EVENT UINT32_MAX

/* The last command of a queue that reads or writes a rectangle of a cached block. */
typedef struct tsr_program_use {
  tsr_rect rect; /* in the operand's coordinates */
  uint32_t command;
  uint16_t queue;
  bool wrote;
} tsr_program_use;

struct tsr_program {
  const tsr_plan *plan; /* which must outlive the program */
  tsr_program *twin;    /* owned; NULL until it is needed */
  bool twin_is_last;    /* the last run used the twin; guarded by the runner's enter lock */
  uint32_t *by_device; /* commands of device d: by_device[device_first[d] .. device_first[d + 1]) */
  uint32_t *device_first;
  uint32_t *by_queue; /* commands of the plan's queue q (also of staging queues, which are not in */
  uint32_t *queue_first; /* by_device): by_queue[queue_first[q] .. queue_first[q + 1]) */
  uint32_t *event;       /* index of a command's event among its device's, or TSR_NO_EVENT */
  uint32_t *rank;        /* index of a command among its device's commands */
  atomic_uint *flag;     /* the epoch of the last run in which a device's command was submitted or a
                            staging queue's command completed */
  bool *watched;         /* a staging queue waits for this command of a device */
  atomic_uint *complete; /* the epoch of the last run in which a watched command was complete */
  uint32_t events[TSR_MACHINE_DEVICES]; /* number of events that each device needs */
  uint32_t devices;                     /* bit d: device d has commands */
  int staging_queues;                   /* number of staging queues that have commands */
  int staging_threads;                  /* number of host threads that serve them */
  uint16_t *staging_queue;              /* the plan's queue of each staging queue */
  bool staging_writes_back;             /* a staging queue writes to the user's memory */
  bool devices_write_back;              /* a device's queue writes to the user's memory */
  bool writes_back;                     /* some copy writes to the user's memory */
  uint8_t homes_read, homes_written;    /* bit x: a command reads or writes the user's memory of
                                           operand x */
  struct tsr_program_use *use;          /* last uses of cached block r, by queue and rectangle: */
  uint32_t *use_first;                  /* use[use_first[r] .. use_first[r + 1]) */
  uint16_t *used;                       /* the plan's queues in use on device d: */
  uint16_t *used_first;                 /* used[used_first[d] .. used_first[d + 1]) */
  bool warm;                            /* the kernels have been run once (tsr_warm_up) */
  bool resolved;                        /* queue[] is filled */
  tsr_queue **queue;                    /* the engine's queue of each queue of the plan */
};

#endif
