/*
 * The scheduler: from a graph whose tasks are in order and have owners to the commands of a plan.
 *
 * Tasks are taken one after another. An operand that a task reads and that is not at the task's
 * device is fetched, piece by piece, for all devices that will read it. Source: Uncut-GEMMs,
 * algorithm 1, with copies cut apart from kernels. scheduler.h lists the parts it is made of.
 */
#ifndef TSR_PLAN_SCHEDULE_SCHEDULE_H
#define TSR_PLAN_SCHEDULE_SCHEDULE_H

#include "blas/graph.h"
#include "plan/plan.h"
#include "plan/residency.h"

/* Where a piece comes from when more than its home has it. */
typedef enum tsr_routing {
  TSR_ROUTE_ETA,       /* where it arrives from first */
  TSR_ROUTE_BANDWIDTH, /* over the fastest link, however loaded; the home when no link is faster */
  TSR_ROUTE_HOME       /* its home, always */
} tsr_routing;

typedef struct tsr_schedule_options {
  int64_t piece; /* bytes of a copy */
  int streams;   /* compute queues of a device */
  bool relay;    /* what several devices read leaves its home once, if they reach each other */
  bool by_eta;   /* a device takes next the group whose inputs arrive first; not with slots */
  int64_t lookahead[TSR_MACHINE_DEVICES]; /* slots: tasks of the sequence by which copies to a
                                         device should precede their use */
  tsr_routing routing;
  bool ignore_channels; /* links are thought to be independent of each other */
  unsigned realigned;   /* operands, as bits, of which kernels read copies even at their home */
  const size_t *budget; /* bytes for each device */
  size_t ring;          /* bytes of the staging ring */
  const tsr_residency *residency; /* what is on devices; NULL: nothing is, and nothing stays */
} tsr_schedule_options;

/* Bytes that the cached block of a tile is a multiple of. */
enum { TSR_TILE_ALIGN = 512 };

/* How a graph and the budgets go together. */
typedef enum tsr_fit {
  TSR_FITS_NOT,  /* budgets are too small: the plan is void. With residency, which lets no tiles
                    share  memory, its arena says what each device would need */
  TSR_FITS_IN,   /* every tile has room of its own */
  TSR_FITS_TIGHT /* tiles share memory */
} tsr_fit;

/* Makes the commands, buffers and queues of plan (call and grid set) for a graph. TSR_ERR_MEMORY
 * for host memory. */
tsr_status tsr_schedule(const tsr_machine *machine, const tsr_graph *graph,
                        const tsr_schedule_options *options, tsr_plan *plan, tsr_fit *fit);

/* Least budget with which a graph can be scheduled of which a device holds so many tiles of C at a
 * time: room for these, and for what one task reads. */
size_t tsr_schedule_least_budget(const tsr_call *call, const tsr_graph *graph, int64_t held);

#endif
