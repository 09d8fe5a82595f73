/* The inside of a grid. */
#ifndef TSR_CLUSTER_GRID_H
#define TSR_CLUSTER_GRID_H

#include "cluster/agree.h"
#include "cluster/pack.h"
#include "cluster/schedule.h"
#include "cluster/trace.h"
#include "tessera_mpi_model.h"

struct tsr_transport;
struct tsr_async_queue;
struct tsr_choices;

/* Memory in which panels arrive (slots.h). A grid keeps it from one product to the next, since
 * pinning memory takes longer than many a product. */
typedef struct tsr_panel_slots {
  int count[2];    /* for A and for B, */
  size_t bytes[2]; /* and of one */
  void *memory[2][TSR_SLOTS_MOST];
} tsr_panel_slots;

/* What the user set of a cut; 0: by the model. */
typedef struct tsr_wishes {
  int64_t depth, block[2];
  int lookahead;
} tsr_wishes;

/* Runs of bytes that are copied one by one, from the shortest on, each twice as long. */
enum { TSR_UP_RUNS = 6, TSR_UP_SHORTEST = 2048 };

/* Between a process's host memory and its devices, by all links that are used at once and while all
 * processes do the same; bytes/s. */
typedef struct tsr_host_rates {
  double up;                     /* to its slots, which are memory of its first device; 0: they are
                                    in host memory, and nothing here was measured */
  double up_by_run[TSR_UP_RUNS]; /* the same in runs of TSR_UP_SHORTEST << i bytes while devices
                                    compute; 0: no slower */
  double down;                   /* 0: as the machine says */
} tsr_host_rates;

/* What all processes agreed on when the grid was made, and plan with (model.h). */
typedef struct tsr_model {
  tsr_context *planner; /* the same plans everywhere */
  bool owned;           /* the planner is the grid's, not the user's context */
  tsr_context_facts facts;
  tsr_host_rates host;
} tsr_model;

struct tsr_grid {
  tsr_context *context; /* this process's; not owned */
  bool model_only;      /* it has no processes: for plans alone */
  tsr_peers all;        /* ranked row by row: of who calls */
  tsr_peers work;       /* the same: of who carries products out */
  MPI_Comm row, col; /* the processes of this one's row, ranked by column; of its column, by row */
  int extent[2];     /* rows, columns */
  int me[2];         /* this process's row and column */
  tsr_wishes wishes;
  tsr_model model;
  struct tsr_choices *choices; /* that were made so far (choose.h); NULL: none are kept */
  tsr_packers *packers;
  const struct tsr_transport *transport;
  void *transport_state;
  tsr_panel_slots slots;
  struct tsr_async_queue *queue;
  tsr_grid_trace trace;
};

/* What the largest message may have. */
#define TSR_MESSAGE_MOST ((int64_t)1 << 30) /* bytes; MPI counts with int */

/* TSR_ERR_ARGUMENT for NULL: all that can be told without the others. */
tsr_status tsr_grid_check(const tsr_grid *grid);

/* The same, for what a model-only grid cannot do. */
tsr_status tsr_grid_check_real(const tsr_grid *grid);

#endif
