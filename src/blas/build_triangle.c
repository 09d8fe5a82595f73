/*
 * The graphs of the operations with a symmetric or triangular A beside C: symm, hemm, trmm, trsm.
 *
 * The lines of C across A (its columns with A on the left, its rows with A on the right) are
 * independent of each other: devices own ranges of lines, and no device waits for another's result.
 * A device goes through the blocks of A's order; a block of C is brought to its end from the other
 * blocks that have a part in it. So C comes and goes block by block while the kernels are long: a
 * block by all lines by all that is summed over.
 *
 * In place, what a block is computed from must still be old (trmm) or be solved already (trsm): the
 * direction follows from that. trmm sums a block up in W, as engines multiply by a triangle faster
 * out of place, and puts it into C at its end. What reads the old block comes before its last
 * product in the same queue, so whoever waits for this one overwrites nothing that is still read.
 */
#include "blas/triangle.h"

/* Whether some device holds more than one tile. */
static bool holds(const tsr_tiling *t) {
  for (int i = 0; t->passes != NULL && i < t->grid_rows * t->grid_cols; i++)
    if (t->passes[i].rows * t->passes[i].cols > 1) return true;
  return t->pass.rows * t->pass.cols > 1;
}

bool tsr_build_triangle(tsr_builder *b) {
  return holds(b->tiling) && !b->scales_only ? tsr_build_c_blocks(b) : tsr_build_stripes(b);
}
