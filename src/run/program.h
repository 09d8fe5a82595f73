/*
 * A program: what the runner derives from a plan once, so that running searches for nothing: the
 * commands of each device and of each queue in plan order, which of them need events, and which
 * staging thread does what.
 *
 * A program takes part in one run at a time: its flags say how far that run is. Two runs of one
 * plan may be under way side by side, the later one with the program's twin. Apart from the flags,
 * the twin and, from the first submission on, the engine's queues, a program does not change.
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
  bool twin_is_last;    /* the last run had the twin; guarded by the runner's enter lock */
  uint32_t *by_device,
      *device_first; /* commands of device d: by_device[device_first[d] .. [d + 1]) */
  uint32_t *by_queue,
      *queue_first;    /* the same by queue of the plan; staging queues are here alone */
  uint32_t *event;     /* number of a command's event among its device's, or none */
  uint32_t *rank;      /* place of a command among its device's */
  atomic_uint *flag;   /* the last run (its epoch) in which a command was submitted, or,
                          of a staging queue, completed */
  bool *watched;       /* some staging queue waits for the command of a device; */
  atomic_uint *passed; /* the last run in which it was seen to be complete */
  uint32_t events[TSR_MACHINE_DEVICES]; /* events each device needs */
  uint32_t devices;                     /* bit d: device d has commands */
  int staging_queues;                   /* with commands */
  int staging_threads;                  /* host threads that share them */
  uint16_t *staging_queue;              /* the plan's queue of each staging queue */
  bool staging_brings_home;             /* staging queues write to the user's memory, */
  bool brings_home;                     /* or some copy does */
  uint8_t homes_read, homes_written;    /* by copies and kernels: bit x for operand x */
  struct tsr_program_use *use;          /* what is done last in each room, by queues and places: */
  uint32_t *use_first;                  /* of room r: use[use_first[r] .. [r + 1]) */
  uint16_t *used, *used_first;          /* the plan's queues that device d uses, as above */
  bool warm;                            /* its kernels have been tried */
  bool resolved;                        /* queue[] is filled */
  tsr_queue **queue;                    /* the engine's queue of each queue of the plan */
};

#endif
