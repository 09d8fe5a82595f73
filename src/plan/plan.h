/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A plan: how one kind of call (routine, type, extents, places of the operands) will be carried
 * out. A plan is an array of typed commands, copies and kernels. A command depends only on commands
 * before it in the array. Each command belongs to a queue. A queue runs its commands in order, and
 * the queues run side by side.
 *
 * Only the planner writes to a plan; all others hold it const. The state of a running plan
 * (references, its program, measured times) lies in an object around the plan: call/plans.h.
 *
 * Source: the static schedule of Anastasiadis et al., "Uncut-GEMMs", section III (LAM, ETA, batched
 * fetch, lazy C). docs/explain/plan.md says what Tessera adds.
 */
#ifndef TSR_PLAN_PLAN_H
#define TSR_PLAN_PLAN_H

#include <assert.h>

#include "base/queue.h"
#include "base/text.h"
#include "base/vec.h"
#include "blas/call.h"
#include "machine/machine.h"
#include "tessera_model.h"

/* ---- The plan as data ---- */

typedef enum tsr_buffer_role {
  TSR_BUFFER_HOME,  /* the user's storage of an operand: buffers 0, 1, 2; bound at submission */
  TSR_BUFFER_TILE,  /* a tile of A, B or C, or of the partial result W, at a device */
  TSR_BUFFER_STAGE, /* a piece of a tile in the pinned ring, at a host location */
  TSR_BUFFER_CACHED /* a cached block of the plan's residency, bound at submission; offset is the
                       block's number in the residency */
} tsr_buffer_role;

/* Memory for a rectangle of a matrix at a location. */
typedef struct tsr_buffer {
  int64_t row, col, rows, cols; /* the rectangle, in elements of the stored matrix */
  int64_t ld;                   /* elements */
  size_t offset;  /* bytes from the start of the plan's arena at the location (not HOME) */
  size_t bytes;   /* bytes of memory taken; 0 for HOME */
  uint8_t role;   /* tsr_buffer_role */
  uint8_t matrix; /* TSR_A .. TSR_V */
  int16_t location;
  uint32_t first, last; /* indices of the first and last command that use the buffer (not HOME) */
} tsr_buffer;

typedef enum tsr_command_kind {
  TSR_COMMAND_COPY,  /* buffer 0 to buffer 1: the m x n rectangle at row[0], col[0] */
  TSR_COMMAND_KERNEL /* operands a, b, c in buffers 0, 1, 2 at row[i], col[i] of their matrices */
} tsr_command_kind;

/* Flags of a command: tsr_task_flags (arithmetic/kernel.h), and: */
enum { TSR_FLAG_EVENT = 1 }; /* a command of another queue waits for this command */

enum { TSR_NO_BUFFER = -1 };

/* How tiles share the memory of a device when a call does not fit into it (Herault et al., whose
 * letters are in brackets). A device computes a C block of rows (b) x cols (c) tiles at a time, and
 * sums it over depth (d) tiles of k before it goes on. Copies run ahead of their use by lookahead
 * (l) times the kernels of a C block over one depth. rows = 0: everything fits, and the other
 * fields mean nothing. */
typedef struct tsr_blocking {
  int32_t rows, cols, depth;
  float lookahead;
  int32_t m, n, k;  /* extents of the call, in tiles */
  int32_t slots;    /* tiles that fit into the memory of the smallest device; if partitioned, of the
                       largest */
  bool partitioned; /* budgets differ: rows and cols are those of the largest device */
} tsr_blocking;

typedef struct tsr_command {
  int64_t row[3], col[3]; /* elements of the stored matrices */
  int32_t buffer[3];      /* TSR_NO_BUFFER when unused */
  int32_t m, n, k;        /* COPY: m x n rectangle */
  uint32_t wait;          /* the command waits for the commands plan->waits[wait .. wait + waits) */
  uint16_t waits;
  uint16_t queue;
  uint8_t kind, kernel, flags;
  uint8_t form;     /* kernel: its packed tsr_form; copy: uplo alone, to move only that triangle */
  float begin, end; /* predicted, s from the start of the plan */
} tsr_command;

static_assert(sizeof(tsr_command) <= 100, "a million commands must fit easily");

/* If the copies of a device to all other devices share one port, they share one queue, whose index
 * is TSR_ANY_PEER. The port would serve several queues one after another, not in the order of the
 * plan. */
enum { TSR_ANY_PEER = 255 };

/* A queue of the plan. location: the device, or for a staging queue the host node. */
typedef struct tsr_plan_queue {
  int16_t location;
  uint8_t role;  /* tsr_queue_role */
  uint8_t index; /* PEER: the receiver or TSR_ANY_PEER; STAGING: the staging
                    queue */
} tsr_plan_queue;

enum { TSR_PLAN_QUEUES = 512, TSR_PLAN_STAGING_QUEUES = 128 };

struct tsr_plan {
  tsr_call call;
  int machine_devices; /* devices of the machine that the plan is for; locations are numbered as
                          there */
  int machine_nodes;   /* host memory nodes of the machine */
  int devices;         /* devices that the plan uses; 0: the CPU's BLAS does the call */
  bool reproducible;
  bool moves;      /* the plan has only copies, and call stands for the matrix that is moved
                      (schedule/moves.h) */
  uint8_t map_use; /* tsr_map_use (mapping.h) */
  int grid_rows, grid_cols;
  int slices; /* slices of k, each multiplied by a device of its own; 0: k is not cut over devices
               */
  tsr_blocking blocking;
  TSR_VEC(tsr_command) commands;
  TSR_VEC(uint32_t) waits; /* indices of commands, each less than that of the waiting command */
  TSR_VEC(tsr_buffer) buffers;
  int queues;
  int staging_threads; /* host threads that share the staging queues; 0: one for each queue */
  tsr_plan_queue queue[TSR_PLAN_QUEUES];
  size_t budget[TSR_MACHINE_DEVICES];  /* bytes that the plan was allowed to use on each device */
  size_t arena[TSR_MACHINE_LOCATIONS]; /* bytes the plan needs at each location */
  /* Cached blocks on devices at the plan's end: first the blocks of `before`, then those that the
   * plan adds. NULL: no block stays on devices, and all of C is at its home. */
  struct tsr_residency *after, *before; /* before: the cached blocks at the plan's start */
  char why[256]; /* the chosen candidate and the runner-up, as text for users */
  /* Why products are native that were to be computed in a form: the budget of each device [bytes]
   * that these would need; SIZE_MAX: they do not fit beside what stays on devices; 0: neither. */
  size_t form_need;
  /* If the faster one of a native plan and one in a form was taken: the other one. */
  struct {
    double seconds;                   /* predicted, s; 0: there was no choice */
    const tsr_arithmetic *arithmetic; /* NULL: native */
    tsr_promise promise;
  } other;
  uint32_t by_blocks;  /* bit tsr_kernel: devices compute that routine by products of blocks */
  double heat;         /* heat of the devices while the plan runs: tsr_machine_heat */
  double seconds;      /* predicted, s */
  double floor;        /* lower bound of any execution, s */
  double plan_seconds; /* time that planning took, s */
  int candidates;      /* candidates tried by the search */
};

/* ---- Making one ---- */

typedef struct tsr_plan_options {
  bool reproducible;
  bool obey_devices; /* use all devices of the machine, never the CPU's BLAS */
  bool no_cpu;       /* never use the CPU's BLAS; the search chooses how many devices help */
  int64_t tile;      /* elements; 0: the model chooses */
  size_t budget[TSR_MACHINE_DEVICES]; /* bytes for each device */
  size_t ring;                        /* bytes of the pinned ring for staging */
  uint32_t devices; /* bit d: device d of the machine may be used; 0: all may. Who plans under such
                       a mask plans for a machine of these devices alone (call/masked.h) */
  double search_seconds; /* time limit of the search, s; 0: 5 % of the predicted time */
  const char *strategy;  /* knobs to force (tsr_strategy_parse); NULL: none */
  const struct tsr_residency *residency; /* cached blocks at the start; NULL: no residency, and no
                                            block stays on devices */
  const struct tsr_mapping *mapping;     /* the device that should compute each block of C, where
                                            possible (search/mapped.h); or NULL */
} tsr_plan_options;

/* The least budget of each device [bytes] with which a product in a form is planned. */
size_t tsr_plan_form_need(const tsr_call *call, const tsr_plan_options *options);

/* Plans a call on a machine. The caller frees *plan with tsr_plan_free. TSR_ERR_MEMORY: no host
 * memory, or the budgets are too small; then the message names the least budget that suffices. */
tsr_status tsr_plan_make(const tsr_machine *machine, const tsr_call *call,
                         const tsr_plan_options *options, tsr_plan **plan);
void tsr_plan_free(tsr_plan *plan);

/* Planning time that the plan counts for, s: that of its candidates, if each has as many commands.
 * It is computed, not measured, so that it does not depend on the computer's load. */
double tsr_plan_cost(const tsr_plan *plan);

/* Moves a plan into the caller's storage and frees `from`. The caller empties *to with
 * tsr_plan_clear. */
void tsr_plan_move(tsr_plan *from, tsr_plan *to);
void tsr_plan_clear(tsr_plan *plan);

/* ---- Knowing about one ---- */

/* Checks a plan of any operation, independently of the planner: every operand is present where and
 * when a command uses it, every copy has a valid source, no buffer is reused early, budgets are
 * held, waits have no cycle, every element of C is written back at most once, and the final C is
 * what the call asks for. TSR_ERR_CHECK: the message names the wrong command, or the wrong part of
 * C, and the reason. budgets: bytes for each device; NULL: not checked. */
tsr_status tsr_plan_verify(const tsr_plan *plan, const tsr_machine *machine, const size_t *budgets);

/* Runs the plan in virtual time, with channels shared fairly. Sets begin and end of each command,
 * and *seconds to the makespan in seconds. */
tsr_status tsr_plan_replay(tsr_plan *plan, const tsr_machine *machine, double *seconds);

/* For a plan whose C stays on devices: the time [s from the plan's start] at which all of C could
 * have been written back. */
double tsr_plan_drained(const tsr_plan *plan, const tsr_machine *machine);

/* Lower bound [s] of any execution of the call: the least time over all splits of the work and all
 * mixtures of links, at the machine's sustained kernel rates. */
double tsr_floor(const tsr_machine *machine, const tsr_call *call);

/* The same bound, if products run at `rate` flops/s on a device of speed 1. */
double tsr_floor_at(const tsr_machine *machine, const tsr_call *call, double rate);

/* share(h) / share(other): how much more of a product a device h that is home to operands should
 * compute than each other device. devices: how many compute, h among them, all of about one speed.
 * slices: k is cut over the devices, not C. With this ratio the kernels of h take as long as those
 * of the others, or as long as the copies of operands from h and of results back to h. At least 1.
 */
double tsr_plan_home_share(const tsr_machine *machine, const tsr_call *call, int devices,
                           bool slices);

/* Rates of all devices of a machine together. They give a first estimate of a call whose
 * operands are in host memory. The estimate takes 50 ns and is close to the floor, which takes
 * microseconds. */
typedef struct tsr_reach {
  double flops[TSR_TYPE_COUNT];    /* sustained */
  double emulated[TSR_TYPE_COUNT]; /* in a form, with the type's usual number of moduli */
  double in, out,
      staging; /* bytes/s: host to devices, devices to host, through the staging threads */
  /* The same for one location of host memory; index: location - devices. in and out are what all
   * nodes have together, and what holds for an operand whose place is not known yet. */
  double node_in[TSR_MACHINE_NODES + 1], node_out[TSR_MACHINE_NODES + 1];
  double fastest[TSR_TYPE_COUNT]; /* speed of the fastest device (tsr_machine_speed) */
  int devices, hosts;             /* of the machine; locations of host memory */
} tsr_reach;
void tsr_reach_of(const tsr_machine *machine, tsr_reach *reach);

/* Estimated time of the call [s]. staged: some operand is in pageable memory. Infinite if the
 * devices do not compute in the call's type. */
double tsr_reach_seconds(const tsr_reach *reach, const tsr_call *call, bool staged);

/* tsr_machine_heat for the call on all devices of the machine. */
double tsr_plan_heat(const tsr_machine *machine, const tsr_call *call);

/* Bytes that a run of the plan moves. */
tsr_traffic tsr_plan_traffic(const tsr_plan *plan);

/* Measured times of a plan's last run, to print beside the prediction. */
typedef struct tsr_measured {
  double seconds;     /* 0: the plan has not run */
  const float *times; /* begin and end of each command, s from the call; NULL: not traced */
} tsr_measured;

/* What is known of a plan besides itself, to print with it. */
typedef struct tsr_known {
  tsr_measured measured;
  int refused;    /* products, or parts of C, that the last run, in a form, left to native ones */
  bool rehearsal; /* the times are those of emulated devices */
  const struct tsr_alternatives *alternatives; /* print/verdict.h; NULL: none was planned */
} tsr_known;

/* Fills *prediction with the figures of a plan. measured: time of the last run [s]; 0: the plan has
 * not run. */
void tsr_plan_summary(const tsr_plan *plan, double measured, tsr_prediction *prediction);

/* Writes a plan as text, as JSON, as a list of commands or loads, or as a timeline of events.
 * front/ draws pictures. machine gives names and may be NULL, if the format is no verdict; known
 * may be NULL, too. TSR_ERR_ARGUMENT: the planner does not write this format. */
tsr_status tsr_plan_write(const tsr_plan *plan, const tsr_machine *machine, const tsr_known *known,
                          tsr_format format, tsr_text *text);

#endif
