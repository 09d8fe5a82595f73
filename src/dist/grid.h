/* The inside of a grid. */
#ifndef TSR_DIST_GRID_H
#define TSR_DIST_GRID_H

#include "dist/agree.h"
#include "dist/schedule.h"
#include "tessera_mpi.h"

struct tsr_grid {
  tsr_context *context; /* this process's; not owned */
  tsr_peers all;        /* ranked row by row */
  MPI_Comm row, col; /* the processes of this one's row, ranked by column; of its column, by row */
  int extent[2];     /* rows, columns */
  int me[2];         /* this process's row and column */
  int64_t depth;     /* of panels; 0: the default */
  int lookahead;
};

/* Of a panel in k, and of how many are under way; above, what the largest message may have. */
enum { TSR_PANEL_DEPTH = 1024, TSR_LOOKAHEAD = 2 };
#define TSR_MESSAGE_MOST ((int64_t)1 << 30) /* bytes; MPI counts with int */

/* TSR_ERR_ARGUMENT for NULL: all that can be told without the others. */
tsr_status tsr_grid_check(const tsr_grid *grid);

#endif
