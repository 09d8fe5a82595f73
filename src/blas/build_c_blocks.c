/*
 * Beside a triangle, c_block by c_block: where memory is short, the tiles of C that a device has
 * room for stay while those of A, and of B or C, stream through.
 */
#include "base/alloc.h"
#include "blas/triangle.h"

/* Blocks of several stripes that are brought to their end together, while what they are summed from
 * streams through: what is read of A serves all stripes, and what is read of B or C all blocks. */
typedef struct c_block {
  tsr_stripe *stripes;
  int count;      /* of stripes */
  int from, step; /* blocks: from, from + step .. */
  int blocks;
  tsr_block *block; /* [stripe * blocks + number] */
} c_block;

static tsr_block *block_of(const c_block *h, int s, int number) {
  return &h->block[s * h->blocks + number];
}

static bool is_in_c_block(const c_block *h, int i) {
  int number = (i - h->from) * h->step;
  return number >= 0 && number < h->blocks;
}

/* Whether block i has a part in block j. */
static bool takes(const tsr_builder *b, int j, int i) {
  return i != j && (tsr_is_symmetric(b) || (i < j) == tsr_takes_before(b));
}

static void begin_c_block(const tsr_builder *b, const c_block *h) {
  const tsr_cuts *cuts = &b->tiling->k;
  for (int s = 0; s < h->count; s++)
    for (int number = 0; number < h->blocks; number++) {
      int j = h->from + number * h->step;
      int tasks = 1;
      for (int i = 0; i < cuts->count; i++) tasks += takes(b, j, i);
      *block_of(h, s, number) = tsr_block_of(b, &h->stripes[s], j, tasks);
    }
}

static bool push_part_of(tsr_builder *b, const c_block *h, int s, int number, int i) {
  const tsr_cuts *cuts = &b->tiling->k;
  if (!takes(b, h->from + number * h->step, i)) return true;
  return tsr_push_product(b, block_of(h, s, number), tsr_cut_begin(cuts, i),
                          tsr_cut_length(cuts, i));
}

/* A system's blocks of the c_block itself are not solved yet. */
static bool streams(const tsr_builder *b, const c_block *h, int i) {
  return !tsr_solves(b) || !is_in_c_block(h, i);
}

/* Blocks first, first + step .. of what the c_block is summed from, with all of the c_block. */
static bool push_n_block(tsr_builder *b, const c_block *h, int first, int count) {
  for (int s = 0; s < h->count; s++)
    for (int number = 0; number < h->blocks; number++)
      for (int n = 0, i = first; n < count; n++, i += h->step)
        if (streams(b, h, i) && !push_part_of(b, h, s, number, i)) return false;
  return true;
}

/* A system's come from the first that was solved to the last. */
static bool push_n_blocks(tsr_builder *b, const c_block *h) {
  int count = b->tiling->k.count, depth = b->tiling->depth > 0 ? b->tiling->depth : 1;
  int first = h->step > 0 ? 0 : count - 1;
  for (int l = 0; l < count; l += depth)
    if (!push_n_block(b, h, first + l * h->step, l + depth < count ? depth : count - l))
      return false;
  return true;
}

static bool push_own_kernels(tsr_builder *b, const c_block *h) {
  for (int i = 0; i < h->count * h->blocks; i++)
    if (!tsr_push_own_kernel(b, &h->block[i])) return false;
  return true;
}

static bool push_results(tsr_builder *b, const c_block *h) {
  for (int i = 0; i < h->count * h->blocks; i++)
    if (!tsr_push_result(b, &h->block[i])) return false;
  return true;
}

/* What the blocks of the c_block have a part in each other is left of a system. */
static bool push_solutions(tsr_builder *b, const c_block *h) {
  for (int number = 0; number < h->blocks; number++)
    for (int s = 0; s < h->count; s++) {
      for (int n = 0; n < number; n++)
        if (!push_part_of(b, h, s, number, h->from + n * h->step)) return false;
      if (!tsr_push_own_kernel(b, block_of(h, s, number))) return false;
    }
  return true;
}

static bool push_c_block(tsr_builder *b, const c_block *h) {
  begin_c_block(b, h);
  if (!tsr_solves(b) && !push_own_kernels(b, h)) return false;
  if (!push_n_blocks(b, h)) return false;
  if (tsr_solves(b)) return push_solutions(b, h);
  return !tsr_multiplies(b) || push_results(b, h);
}

/* All blocks of some stripes, c_block by c_block. */
static bool push_c_blocks(tsr_builder *b, c_block *h, int most) {
  int count = b->tiling->k.count;
  bool upwards = tsr_goes_up(b);
  tsr_group group = {.first = b->graph->tasks.count, .device = h->stripes[0].device};
  h->step = upwards ? 1 : -1;
  for (int done = 0; done < count; done += h->blocks) {
    h->blocks = count - done < most ? count - done : most;
    h->from = upwards ? done : count - 1 - done;
    if (!push_c_block(b, h)) return false;
  }
  group.count = b->graph->tasks.count - group.first;
  return TSR_VEC_PUSH(&b->graph->groups, group);
}

/* A device's ranges of lines, each a stripe; so many of them are held at a time. */
static bool push_device(tsr_builder *b, const int *range, int ranges, tsr_pass pass) {
  const tsr_cuts *across = tsr_cuts_across(b);
  int blocks = tsr_is_left(b) ? pass.rows : pass.cols,
      stripes = tsr_is_left(b) ? pass.cols : pass.rows;
  c_block h = {.stripes = tsr_alloc(sizeof *h.stripes * (size_t)stripes),
               .block = tsr_alloc(sizeof *h.block * (size_t)stripes * (size_t)blocks)};
  bool done = h.stripes != NULL && h.block != NULL;
  for (int first = 0; done && first < ranges; first += stripes) {
    for (h.count = 0; h.count < stripes && first + h.count < ranges; h.count++) {
      int f = range[first + h.count];
      h.stripes[h.count] = (tsr_stripe){.line = tsr_cut_begin(across, f),
                                        .lines = tsr_cut_length(across, f),
                                        .device = tsr_owner_of_lines(b, f)};
    }
    done = push_c_blocks(b, &h, blocks);
  }
  tsr_dealloc(h.stripes);
  tsr_dealloc(h.block);
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
