/*
 * The plan: how one kind of call will be done. Typed commands in an order in which each depends
 * only on earlier ones; each belongs to a queue, and the queues run side by side.
 *
 * The planner alone writes to a plan; everybody else has it const. What belongs to running a plan
 * (references, its program, measured times) is kept around it: compose/plans.h.
 *
 * Source: the static schedule of Anastasiadis et al., "Uncut-GEMMs", section III (LAM, ETA, batched
 * fetch, lazy C); see docs/planner.md for what is ours.
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
  TSR_BUFFER_TILE,  /* a copy of a tile (matrix A, B, C), or a tile of W, at a device */
  TSR_BUFFER_STAGE, /* a piece of a tile in the pinned ring, at a host location */
  TSR_BUFFER_CACHED /* a cached block of the plan's residency, bound at submission; offset is its
                       number */
} tsr_buffer_role;

/* Room for a rectangle of a matrix at a location. */
typedef struct tsr_buffer {
  int64_t row, col, rows, cols; /* the rectangle, in elements of the stored matrix */
  int64_t ld;                   /* elements */
  size_t offset;                /* from the start of the plan's arena at the location (not HOME) */
  size_t bytes;                 /* room taken; 0 for HOME */
  uint8_t role;                 /* tsr_buffer_role */
  uint8_t matrix;               /* TSR_A .. TSR_W */
  int16_t location;
  uint32_t first, last; /* first command that uses it, and last (not HOME) */
} tsr_buffer;

typedef enum tsr_command_kind {
  TSR_COMMAND_COPY,  /* buffer 0 to buffer 1: the m x n rectangle at row[0], col[0] */
  TSR_COMMAND_KERNEL /* operands a, b, c in buffers 0, 1, 2 at row[i], col[i] of their matrices */
} tsr_command_kind;

/* Flags of a command: tsr_task_flags (base/kernel.h), and: */
enum { TSR_FLAG_EVENT = 1 }; /* some command of another queue waits for this one */

enum { TSR_NO_BUFFER = -1 };

/* How memory is shared by a plan that does not fit: a device holds rows x cols tiles of C at a
 * time, and A and B come in n_blocks of depth tiles of k, so many n_blocks ahead (Herault et al.:
 * b, c, d and l). rows 0: everything fits. */
typedef struct tsr_blocking {
  int32_t rows, cols, depth;
  float lookahead;
  int32_t m, n, k;  /* tiles there are */
  int32_t slots;    /* tiles that the smallest device has room for */
  bool partitioned; /* budgets differ: this is the largest device, others hold less of C */
} tsr_blocking;

typedef struct tsr_command {
  int64_t row[3], col[3]; /* elements of the stored matrices */
  int32_t buffer[3];      /* TSR_NO_BUFFER when unused */
  int32_t m, n, k;        /* COPY: m x n rectangle */
  uint32_t wait;          /* the commands this one waits for: plan->waits[wait .. wait + waits) */
  uint16_t waits;
  uint16_t queue;
  uint8_t kind, kernel, flags;
  uint8_t form;     /* tsr_form_pack of a kernel's; of a copy uplo, its triangle only */
  float begin, end; /* predicted, s from the start */
} tsr_command;

static_assert(sizeof(tsr_command) <= 100, "a million commands must fit easily");

/* A device whose copies to all others share one port has one queue for them: several queues would
 * be served one after another, not in the order of the plan. */
enum { TSR_ANY_PEER = 255 };

/* A queue of the plan. location: the device, or for a staging queue the host node. */
typedef struct tsr_plan_queue {
  int16_t location;
  uint8_t role; /* tsr_queue_role */
  uint8_t
      index; /* PEER: the receiver, or TSR_ANY_PEER; COMPUTE: which stream; LANE: which thread */
} tsr_plan_queue;

enum { TSR_PLAN_QUEUES = 512, TSR_PLAN_STAGING_QUEUES = 128 };

struct tsr_plan {
  tsr_call call;
  int machine_devices; /* locations below are of that machine */
  int devices;         /* devices that do anything; 0: the CPU's BLAS does the call */
  bool reproducible;
  bool moves; /* only copies: call stands for the matrix that is moved (plan/schedule/moves.h) */
  int grid_rows, grid_cols;
  tsr_blocking blocking;
  TSR_VEC(tsr_command) commands;
  TSR_VEC(uint32_t) waits; /* indices of commands, each less than the waiter's */
  TSR_VEC(tsr_buffer) buffers;
  int queues;
  int staging_threads; /* host threads that share the staging queues; 0: one for each */
  tsr_plan_queue queue[TSR_PLAN_QUEUES];
  size_t budget[TSR_MACHINE_DEVICES];  /* bytes that it might have used */
  size_t arena[TSR_MACHINE_LOCATIONS]; /* bytes the plan needs at each location */
  /* What is on devices when it has ended: first the cached blocks it began with, then its own.
   * NULL: nothing stays there, and all of C is at home. */
  struct tsr_residency *after, *before; /* before: what it began with */
  char why[256];                        /* the candidate chosen and the runner-up, for people */
  double heat;                          /* of the devices while it runs: tsr_machine_heat */
  double seconds;                       /* predicted */
  double floor;                         /* lower bound */
  double plan_seconds;                  /* what planning took */
  int candidates;                       /* tried */
};

/* ---- Making one ---- */

typedef struct tsr_plan_options {
  bool reproducible;
  bool obey_devices;                  /* use all devices of the machine, and not the CPU's BLAS */
  bool no_cpu;                        /* use devices, as many of them as help */
  int64_t tile;                       /* 0: by the model */
  size_t budget[TSR_MACHINE_DEVICES]; /* bytes for each device */
  size_t ring;                        /* bytes of the pinned ring for staging */
  double search_seconds; /* at most this long for candidates; 0: 5 % of the predicted time */
  const char *strategy;  /* knobs to force (tsr_strategy_parse); NULL: none */
  const struct tsr_residency *residency; /* what it begins with; NULL: nothing stays on devices */
  const struct tsr_mapping
      *mapping; /* where C is to be computed, if it can be (mapped.h); or NULL */
} tsr_plan_options;

/* Plans a call on a machine. TSR_ERR_MEMORY names the least budget that would do. */
tsr_status tsr_plan_make(const tsr_machine *machine, const tsr_call *call,
                         const tsr_plan_options *options, tsr_plan **plan);
void tsr_plan_free(tsr_plan *plan);

/* Moves a plan into storage of the caller's, which tsr_plan_clear empties; from is freed. */
void tsr_plan_move(tsr_plan *from, tsr_plan *to);
void tsr_plan_clear(tsr_plan *plan);

/* ---- Knowing about one ---- */

/* Independent of the planner: every operand present where and when used, every copy's source
 * valid, no buffer reused early, budgets held, no wait cycle, every element of C brought home at
 * most once, and in the end what the call asks for. Any operation. TSR_ERR_CHECK says which command
 * (or which part of C) is wrong and why. budgets may be NULL. */
tsr_status tsr_plan_verify(const tsr_plan *plan, const tsr_machine *machine, const size_t *budgets);

/* Runs the plan in virtual time, channels shared fairly; fills begin and end of each command.
 * Returns the makespan through *seconds. */
tsr_status tsr_plan_replay(tsr_plan *plan, const tsr_machine *machine, double *seconds);

/* When all of C could be at home after a plan whose result stays, s from the plan's start. */
double tsr_plan_drained(const tsr_plan *plan, const tsr_machine *machine);

/* Lower bound on any execution of the call: the least time over all splits of the work and all
 * mixtures of link use, at the machine's sustained kernel rates. */
double tsr_floor(const tsr_machine *machine, const tsr_call *call);

/* The same, when products run at that many flops/s on a device of speed 1. */
double tsr_floor_at(const tsr_machine *machine, const tsr_call *call, double rate);

/* How many times as much of a product as each of the others a device that is home to operands
 * should compute, of so many devices of about one speed: until its kernels take as long as theirs,
 * or as what it must send them and what comes back. At least 1. */
double tsr_plan_home_share(const tsr_machine *machine, const tsr_call *call, int devices);

/* What the devices of a machine do together, for a first look at a call whose operands are in host
 * memory: it is at hand in 50 ns, where the floor takes microseconds, and close to it. */
typedef struct tsr_reach {
  double flops[TSR_TYPE_COUNT]; /* sustained */
  double in, out, staging;      /* bytes/s: into devices, out of them, through staging threads */
} tsr_reach;
void tsr_reach_of(const tsr_machine *machine, tsr_reach *reach);

/* staged: some operand is in pageable memory. Infinite when the devices do not know the type. */
double tsr_reach_seconds(const tsr_reach *reach, const tsr_call *call, bool staged);

/* tsr_machine_heat for the call on all devices of the machine. */
double tsr_plan_heat(const tsr_machine *machine, const tsr_call *call);

/* What a run of the plan moves. */
tsr_traffic tsr_plan_traffic(const tsr_plan *plan);

/* What was measured of a plan's last run, for printing beside the prediction. */
typedef struct tsr_measured {
  double seconds;     /* 0: the plan has not run */
  const float *times; /* begin and end of each command [s from the call]; NULL: not traced */
} tsr_measured;

/* measured: seconds of the last run; 0: none. */
void tsr_plan_summary(const tsr_plan *plan, double measured, tsr_prediction *prediction);

/* Text, JSON, commands, loads, and the timeline as events; pictures are drawn by the front. machine
 * gives names; it may be NULL, as measured may. */
tsr_status tsr_plan_write(const tsr_plan *plan, const tsr_machine *machine,
                          const tsr_measured *measured, tsr_format format, tsr_text *text);

#endif
