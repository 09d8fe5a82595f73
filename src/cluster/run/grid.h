/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The grid's struct, for the files of this folder. */
#ifndef TSR_CLUSTER_RUN_GRID_H
#define TSR_CLUSTER_RUN_GRID_H

#include "cluster/layout/pack.h"
#include "cluster/plan/schedule.h"
#include "cluster/run/agree.h"
#include "cluster/run/trace.h"
#include "cluster/run/traffic.h"
#include "tessera_mpi_model.h"

struct tsr_transport;
struct tsr_async_queue;
struct tsr_choices;

/* Memory in which panels arrive (panel_slots.h). A grid keeps its slots from one product to the
 * next, because pinning memory can take longer than a product. */
typedef struct tsr_panel_slots {
  int count[2];    /* slots for panels of A, of B */
  size_t bytes[2]; /* of one slot for A, for B */
  void *memory[2][TSR_SLOTS_MOST];
} tsr_panel_slots;

/* The values of a cut that the user set; 0: the model chooses. block: rows, columns. rule: what
 * chooses where nothing is set. */
typedef struct tsr_wishes {
  int64_t depth, block[2];
  int lookahead;
  tsr_cut_rule rule;
} tsr_wishes;

/* Run lengths whose copy rates are measured: TSR_UP_SHORTEST << i bytes, i = 0 .. TSR_UP_RUNS-1. */
enum { TSR_UP_RUNS = 6, TSR_UP_SHORTEST = 2048 };

/* Runs that begin at most so many bytes apart are close together: the distance at which the probe
 * measures such runs. */
enum { TSR_UP_CLOSE = 32 << 10 };

/* Rates between a process's host memory and its devices, in bytes/s: over all links together, and
 * while all processes copy at the same time. */
typedef struct tsr_host_rates {
  double up;                     /* from host memory to slots in the first device's memory;
                                    0: slots are in host memory, and the other rates are 0, too */
  double up_by_run[TSR_UP_RUNS]; /* `up` for panels in runs of TSR_UP_SHORTEST << i bytes while
                                    devices compute; 0: equal to `up` */
  double up_close_by_run[TSR_UP_RUNS]; /* the same for runs that are close together */
  double down;                         /* from devices to host memory; 0: as the machine says */
} tsr_host_rates;

/* What all processes agreed on when the grid was made; every process plans with it (model.h). */
typedef struct tsr_model {
  tsr_context *planner; /* makes the same plans on every process */
  bool owned;           /* the planner belongs to the grid; else it is the user's context */
  tsr_context_facts facts;
  tsr_host_rates host;
} tsr_model;

struct tsr_grid {
  tsr_context *context; /* this process's; not owned */
  bool model_only;      /* the grid has no processes and serves plans alone */
  /* Two communicators of all processes, ranked row by row, so that the messages of a call and those
   * of asynchronous products never mix: */
  tsr_peers all;     /* for the thread that calls a function of the grid */
  tsr_peers work;    /* for the thread that carries products out */
  MPI_Comm row, col; /* the processes of this process's row, ranked by column; those of its column,
                        ranked by row */
  int extent[2];     /* rows, columns */
  int me[2];         /* this process's row and column */
  tsr_wishes wishes;
  tsr_model model;
  struct tsr_choices *choices; /* kept choices of cuts (choose.h); NULL: none are kept */
  tsr_packers *packers;
  const struct tsr_transport *transport;
  void *transport_state;
  tsr_panel_slots slots;
  struct tsr_async_queue *queue;
  tsr_grid_trace trace;
  tsr_traffic_sums counted, planned;
};

/* The longest message, in bytes: MPI counts with int. */
#define TSR_MESSAGE_MOST ((int64_t)1 << 30)

/* TSR_ERR_ARGUMENT if the grid is NULL. Not collective. */
tsr_status tsr_grid_check(const tsr_grid *grid);

/* As tsr_grid_check; also TSR_ERR_ARGUMENT if the grid is model-only. */
tsr_status tsr_grid_check_real(const tsr_grid *grid);

#endif
