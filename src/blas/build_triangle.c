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
 * (trsm), and the direction follows from that. (The k-panels of a stripe of trmm go the other way:
 * build_stripes.c.) trmm sums a block in W, as engines multiply by a
 * triangle faster out of place, and puts it into C at the end. Tasks that read the old block come
 * before its last product in the same queue, so a command that waits for that product does not
 * overwrite what is still to be read.
 */
#include "blas/triangle.h"

/* Whether devices compute C in C blocks of one square tile or more, through which A and B stream.
 * (A pass is the rows x cols tiles of C that a device computes before the next ones; stripes have
 * no such passes.) Sums then have one order, however many tiles a C block has. */
static bool has_c_blocks(const tsr_tiling *t) {
  return t->passes != NULL || t->pass.rows > 0;
}

bool tsr_build_triangle(tsr_builder *b) {
  return has_c_blocks(b->tiling) && !b->scales_only ? tsr_build_c_blocks(b) : tsr_build_stripes(b);
}
