#include "dist/choose.h"

#include "base/types.h"

enum { DEPTH = 1024, LOOKAHEAD = 2 };

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t or_else(int64_t value, int64_t otherwise) {
  return value > 0 ? value : otherwise;
}

/* The same everywhere, since all send messages of the same extents. */
static int64_t limit_depth(int64_t depth, const int64_t block[2], size_t size) {
  int64_t longest = block[0] > block[1] ? block[0] : block[1];
  int64_t most = 64 * (TSR_MESSAGE_MOST / (int64_t)size) / longest;
  return depth < most ? depth : most > 0 ? most : 1;
}

tsr_status tsr_choose_cut(const tsr_grid *grid, const tsr_job *job, tsr_cut *cut, double *seconds) {
  const tsr_wishes *w = &grid->wishes;
  size_t size = tsr_type_get(job->type)->size;
  for (int d = 0; d < 2; d++) {
    int64_t most = tsr_axis_most(d == 0 ? &job->deal.rows : &job->deal.cols);
    cut->block[d] = least(or_else(w->block[d], most), most);
  }
  cut->depth = limit_depth(or_else(w->depth, DEPTH), cut->block, size);
  cut->lookahead = w->lookahead > 0 ? w->lookahead : LOOKAHEAD;
  cut->together = false;
  *seconds = 0;
  return TSR_OK;
}
