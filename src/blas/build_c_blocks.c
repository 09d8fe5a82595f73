/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A triangle beside C, C block by C block, for devices with little memory: as many tiles of C as
 * fit stay at a device, while the tiles of A, and of B or C, stream through.
 */
#include "base/alloc.h"
#include "blas/triangle.h"

/* A C block: blocks of several stripes that are completed together, while what they are summed from
 * streams through. A tile of A that arrives serves all stripes, and a tile of B or C serves all
 * blocks. */
typedef struct c_block {
  tsr_stripe *stripes;
  int count;      /* stripes */
  int from, step; /* the blocks are from, from + step ..; step is 1 or -1 */
  int blocks;
  tsr_block *block; /* [stripe * blocks + number] */
} c_block;

static tsr_block *block_of(const c_block *c, int s, int number) {
  return &c->block[s * c->blocks + number];
}

static bool is_in_c_block(const c_block *c, int i) {
  int number = (i - c->from) * c->step;
  return number >= 0 && number < c->blocks;
}

/* Whether block j of C is computed from block i, other than by the diagonal. */
static bool takes(const tsr_builder *b, int j, int i) {
  return i != j && (tsr_is_symmetric(b) || (i < j) == tsr_takes_before(b));
}

static void begin_c_block(const tsr_builder *b, const c_block *c) {
  const tsr_cuts *cuts = &b->tiling->k;
  for (int s = 0; s < c->count; s++)
    for (int number = 0; number < c->blocks; number++) {
      int j = c->from + number * c->step;
      int tasks = 1;
      for (int i = 0; i < cuts->count; i++) tasks += takes(b, j, i);
      *block_of(c, s, number) = tsr_block_of(b, &c->stripes[s], j, tasks);
    }
}

static bool push_part_of(tsr_builder *b, const c_block *c, int s, int number, int i) {
  const tsr_cuts *cuts = &b->tiling->k;
  if (!takes(b, c->from + number * c->step, i)) return true;
  return tsr_push_product(b, block_of(c, s, number), tsr_cut_begin(cuts, i),
                          tsr_cut_length(cuts, i));
}

/* Whether block i streams through. For trsm a block of the C block itself does not: it is not
 * solved yet. */
static bool streams(const tsr_builder *b, const c_block *c, int i) {
  return !tsr_solves(b) || !is_in_c_block(c, i);
}

/* Adds the products with blocks first, first + step .., `count` of them, to all blocks of the C
 * block. */
static bool push_inputs(tsr_builder *b, const c_block *c, int first, int count) {
  for (int s = 0; s < c->count; s++)
    for (int number = 0; number < c->blocks; number++)
      for (int n = 0, i = first; n < count; n++, i += c->step)
        if (streams(b, c, i) && !push_part_of(b, c, s, number, i)) return false;
  return true;
}

/* All products with blocks that stream through, `depth` blocks at a time. For trsm they come from
 * the first that was solved to the last. */
static bool push_all_inputs(tsr_builder *b, const c_block *c) {
  int count = b->tiling->k.count, depth = b->tiling->depth > 0 ? b->tiling->depth : 1;
  int first = c->step > 0 ? 0 : count - 1;
  for (int l = 0; l < count; l += depth)
    if (!push_inputs(b, c, first + l * c->step, l + depth < count ? depth : count - l))
      return false;
  return true;
}

static bool push_own_kernels(tsr_builder *b, const c_block *c) {
  for (int i = 0; i < c->count * c->blocks; i++)
    if (!tsr_push_own_kernel(b, &c->block[i])) return false;
  return true;
}

static bool push_results(tsr_builder *b, const c_block *c) {
  for (int i = 0; i < c->count * c->blocks; i++)
    if (!tsr_push_result(b, &c->block[i])) return false;
  return true;
}

/* Solves the blocks of the C block one after another (trsm); before each, the products with those
 * solved before it are subtracted. */
static bool push_solutions(tsr_builder *b, const c_block *c) {
  for (int number = 0; number < c->blocks; number++)
    for (int s = 0; s < c->count; s++) {
      for (int n = 0; n < number; n++)
        if (!push_part_of(b, c, s, number, c->from + n * c->step)) return false;
      if (!tsr_push_own_kernel(b, block_of(c, s, number))) return false;
    }
  return true;
}

static bool push_c_block(tsr_builder *b, const c_block *c) {
  begin_c_block(b, c);
  if (!tsr_solves(b) && !push_own_kernels(b, c)) return false;
  if (!push_all_inputs(b, c)) return false;
  if (tsr_solves(b)) return push_solutions(b, c);
  return !tsr_multiplies(b) || push_results(b, c);
}

/* All blocks of the stripes of c, in C blocks of at most `most` blocks. */
static bool push_c_blocks(tsr_builder *b, c_block *c, int most) {
  int count = b->tiling->k.count;
  bool upwards = tsr_goes_up(b);
  tsr_group group = {.first = b->graph->tasks.count, .device = c->stripes[0].device};
  c->step = upwards ? 1 : -1;
  for (int done = 0; done < count; done += c->blocks) {
    c->blocks = count - done < most ? count - done : most;
    c->from = upwards ? done : count - 1 - done;
    if (!push_c_block(b, c)) return false;
  }
  group.count = b->graph->tasks.count - group.first;
  return TSR_VEC_PUSH(&b->graph->groups, group);
}

/* All ranges of lines of a device. Each range is a stripe, and as many stripes as the pass says are
 * in a C block together. */
static bool push_device(tsr_builder *b, const int *range, int ranges, tsr_pass pass) {
  const tsr_cuts *across = tsr_cuts_across(b);
  int blocks = tsr_is_left(b) ? pass.rows : pass.cols,
      stripes = tsr_is_left(b) ? pass.cols : pass.rows;
  c_block c = {.stripes = tsr_alloc(sizeof *c.stripes * (size_t)stripes),
               .block = tsr_alloc(sizeof *c.block * (size_t)stripes * (size_t)blocks)};
  bool done = c.stripes != NULL && c.block != NULL;
  for (int first = 0; done && first < ranges; first += stripes) {
    for (c.count = 0; c.count < stripes && first + c.count < ranges; c.count++) {
      int f = range[first + c.count];
      c.stripes[c.count] = (tsr_stripe){.line = tsr_cut_begin(across, f),
                                        .lines = tsr_cut_length(across, f),
                                        .device = tsr_owner_of_lines(b, f)};
    }
    done = push_c_blocks(b, &c, blocks);
  }
  tsr_dealloc(c.stripes);
  tsr_dealloc(c.block);
  return done;
}

bool tsr_build_c_blocks(tsr_builder *b) {
  const tsr_tiling *t = b->tiling;
  tsr_owners lines = {NULL, NULL};
  bool done = tsr_is_left(b) ? tsr_owners_of_cols(t, &lines) : tsr_owners_of_rows(t, &lines);
  for (int d = 0; done && d < t->grid_rows * t->grid_cols; d++)
    done = push_device(b, lines.part + lines.first[d], lines.first[d + 1] - lines.first[d],
                       tsr_pass_of(t, tsr_is_left(b) ? 0 : d, tsr_is_left(b) ? d : 0));
  tsr_owners_free(&lines);
  return done;
}
