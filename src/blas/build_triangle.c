/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The graphs of the operations with a symmetric or triangular A beside C: symm, hemm, trmm, trsm.
 *
 * The lines of C across A (its columns if A is on the left, its rows if A is on the right) are
 * independent of each other: devices own ranges of lines, and no device waits for another's result.
 * A device goes through the blocks of A's order, and completes a block of C from the other blocks
 * that it depends on. So C arrives and leaves block by block, while a kernel is long: one block x
 * all lines x all that is summed over.
 *
 * In place, the blocks that a block is computed from must still be old (trmm) or be solved already
 * (trsm), and the direction follows from that. trmm sums a block in W, as engines multiply by a
 * triangle faster out of place, and puts it into C at the end. Tasks that read the old block come
 * before its last product in the same queue, so a command that waits for that product does not
 * overwrite what is still to be read.
 */
#include "blas/triangle.h"

/* Whether some device holds a C block of more than one tile, through which A and B stream. (A pass
 * is the rows x cols tiles of C that a device computes before the next ones.) */
static bool keeps_c_blocks(const tsr_tiling *t) {
  for (int i = 0; t->passes != NULL && i < t->grid_rows * t->grid_cols; i++)
    if (t->passes[i].rows * t->passes[i].cols > 1) return true;
  return t->pass.rows * t->pass.cols > 1;
}

bool tsr_build_triangle(tsr_builder *b) {
  return keeps_c_blocks(b->tiling) && !b->scales_only ? tsr_build_c_blocks(b)
                                                      : tsr_build_stripes(b);
}
