/*
 * The graphs of the operations with a symmetric or triangular A beside C: symm, hemm, trmm, trsm.
 *
 * The lines of C across A (its columns with A on the left, its rows with A on the right) are
 * independent of each other: devices own ranges of lines, and no device waits for another's result.
 * A device goes through the blocks of A's order; each time it brings one block of C to its end,
 * from the other blocks that have a part in it. So C comes and goes block by block while the
 * kernels are long: a block by all lines by all that is summed over.
 *
 * In place, what a block is computed from must still be old (trmm) or be solved already (trsm): the
 * direction follows from that. trmm sums a block up in W, as engines multiply by a triangle faster
 * out of place, and puts it into C at its end. What reads the old block comes before its last
 * product in the same queue, so whoever waits for this one overwrites nothing that is still read.
 */
#include "base/alloc.h"
#include "blas/build.h"
#include "blas/family.h"

/* Lines [line, line + lines) of C, all blocks. */
typedef struct stripe {
  int64_t line, lines;
  int16_t device;
} stripe;

static bool is_left(const tsr_builder *b) {
  return b->call->side == TSR_LEFT;
}

static bool multiplies(const tsr_builder *b) {
  return b->call->operation == TSR_TRMM;
}

/* Where a block is summed up. */
static int sum_of(const tsr_builder *b) {
  return multiplies(b) ? TSR_W : TSR_C_;
}

static bool is_symmetric(const tsr_builder *b) {
  return !tsr_is_in_place(b->call->operation);
}

/* Whether op(A), of a triangular A, is lower triangular. */
static bool acts_lower(const tsr_call *call) {
  return (call->uplo == TSR_LOWER) == (call->transa == TSR_NO_TRANS);
}

/* A triangular block takes part in it those before it, or those after it. */
static bool takes_before(const tsr_builder *b) {
  return is_left(b) == acts_lower(b->call);
}

/* ---- Rectangles ----------------------------------------------------------- */

/* Rows (or columns) of C or B that belong to a range of A's order, and the stripe's lines. */
static tsr_task_operand lines_of(const tsr_builder *b, int matrix, tsr_access access,
                                 const stripe *s, int64_t at, int64_t length) {
  if (is_left(b)) return tsr_rectangle(b->graph, matrix, access, at, length, s->line, s->lines);
  return tsr_rectangle(b->graph, matrix, access, s->line, s->lines, at, length);
}

static bool push(tsr_builder *b, tsr_task task, const stripe *s, int64_t block) {
  task.m = (int32_t)(is_left(b) ? block : s->lines);
  task.n = (int32_t)(is_left(b) ? s->lines : block);
  task.device = s->device;
  return tsr_push_task(b, task);
}

/* ---- One block ------------------------------------------------------------ */

/* What the tasks of a block of C have in common. */
typedef struct block {
  const stripe *stripe;
  int64_t at, length;
  int sums;   /* products still to come */
  bool begun; /* something was written to it */
} block;

/* How the part of A that leads from a range of its order to a block is stored, and used. */
static tsr_op op_between(const tsr_builder *b, bool range_before, tsr_op *stored) {
  const tsr_call *call = b->call;
  if (!is_symmetric(b)) return *stored = call->transa;
  /* With A on the left the block gives the rows of what is wanted, on the right the columns. */
  bool wants_lower = is_left(b) == range_before;
  bool is_stored = wants_lower == (call->uplo == TSR_LOWER);
  *stored = is_stored ? TSR_NO_TRANS : TSR_TRANS;
  if (is_stored) return TSR_NO_TRANS;
  return call->operation == TSR_HEMM ? TSR_CONJ_TRANS : TSR_TRANS;
}

static void set_product_scalars(const tsr_builder *b, const block *k, tsr_task *task) {
  const tsr_call *call = b->call;
  if (call->operation == TSR_TRSM) {
    task->flags |= TSR_FLAG_ALPHA_MINUS;
    bool scales = !k->begun && call->alpha != TSR_ONE;
    task->flags |= scales ? TSR_FLAG_BETA_ALPHA : TSR_FLAG_BETA_ONE;
    return;
  }
  task->flags |= TSR_FLAG_BETA_ONE;
  if (call->alpha == TSR_ONE) task->flags |= TSR_FLAG_ALPHA_ONE;
}

/* Adds to (trsm: takes from) a block what a range of A's order has a part in it. */
static bool push_product(tsr_builder *b, block *k, int64_t from, int64_t length) {
  tsr_op stored, op = op_between(b, from < k->at, &stored);
  int source = is_symmetric(b) ? TSR_B_ : TSR_C_, a = is_left(b) ? 0 : 1;
  tsr_form form = {.transa = is_left(b) ? op : TSR_NO_TRANS,
                   .transb = is_left(b) ? TSR_NO_TRANS : op};
  tsr_task task = {.kernel = TSR_KERNEL_GEMM, .form = tsr_form_pack(form), .k = (int32_t)length};
  task.operand[a] = is_left(b)
                        ? tsr_oriented(b->graph, TSR_A, stored, k->at, k->length, from, length)
                        : tsr_oriented(b->graph, TSR_A, stored, from, length, k->at, k->length);
  task.operand[1 - a] = lines_of(b, source, TSR_READ, k->stripe, from, length);
  task.operand[2] = lines_of(b, sum_of(b), TSR_UPDATE, k->stripe, k->at, k->length);
  set_product_scalars(b, k, &task);
  task.last = --k->sums == 0 && is_symmetric(b);
  k->begun = true;
  return push(b, task, k->stripe, k->length);
}

static void set_own_scalars(const tsr_builder *b, const block *k, tsr_task *task) {
  const tsr_call *call = b->call;
  bool done = call->operation == TSR_TRSM && k->begun; /* alpha is in it already */
  if (done || call->alpha == TSR_ONE) task->flags |= TSR_FLAG_ALPHA_ONE;
  if (is_symmetric(b)) task->flags |= TSR_FLAG_BETA;
}

static tsr_access own_access(const tsr_builder *b) {
  if (multiplies(b)) return TSR_WRITE;
  return is_symmetric(b) && b->call->beta == TSR_ZERO ? TSR_WRITE : TSR_UPDATE;
}

/* The block on A's diagonal, by the routine's own kernel. */
static bool push_own_kernel(tsr_builder *b, block *k) {
  static const uint8_t kernels[TSR_OPERATION_COUNT] = {[TSR_SYMM] = TSR_KERNEL_SYMM,
                                                       [TSR_HEMM] = TSR_KERNEL_HEMM,
                                                       [TSR_TRMM] = TSR_KERNEL_TRMM,
                                                       [TSR_TRSM] = TSR_KERNEL_TRSM};
  const tsr_call *call = b->call;
  tsr_form form = {.transa = is_symmetric(b) ? TSR_NO_TRANS : call->transa,
                   .side = call->side,
                   .uplo = call->uplo,
                   .diag = call->diag};
  tsr_task task = {
      .kernel = kernels[call->operation], .form = tsr_form_pack(form), .k = (int32_t)k->length};
  int other = multiplies(b) ? TSR_C_ : TSR_B_;
  task.operand[0] = tsr_rectangle(b->graph, TSR_A, TSR_READ, k->at, k->length, k->at, k->length);
  if (call->operation != TSR_TRSM)
    task.operand[1] = lines_of(b, other, TSR_READ, k->stripe, k->at, k->length);
  task.operand[2] = lines_of(b, sum_of(b), own_access(b), k->stripe, k->at, k->length);
  set_own_scalars(b, k, &task);
  task.last = k->sums == 0 && !multiplies(b);
  k->begun = true;
  return push(b, task, k->stripe, k->length);
}

/* The sum in W becomes the block of C. */
static bool push_result(tsr_builder *b, const block *k) {
  tsr_task task = {.kernel = TSR_KERNEL_ADD, .flags = TSR_FLAG_ALPHA_ONE, .last = true};
  task.operand[0] = lines_of(b, TSR_W, TSR_READ, k->stripe, k->at, k->length);
  task.operand[2] = lines_of(b, TSR_C_, TSR_WRITE, k->stripe, k->at, k->length);
  return push(b, task, k->stripe, k->length);
}

/* ---- All blocks ----------------------------------------------------------- */

/* What is read in one product must be in one tile: with square tiles there is one for each block.
 */
static bool is_tiled(const tsr_builder *b) {
  return (is_left(b) ? &b->tiling->m : &b->tiling->n)->count > 1;
}

static int ranges_of(const tsr_builder *b, int first, int end) {
  return first == end ? 0 : is_tiled(b) ? end - first : 1;
}

/* The products with blocks first .. end-1, those solved or rewritten last coming last. */
static bool push_products(tsr_builder *b, block *k, int first, int end) {
  const tsr_cuts *cuts = &b->tiling->k;
  if (first == end) return true;
  if (!is_tiled(b)) return push_product(b, k, cuts->at[first], cuts->at[end] - cuts->at[first]);
  bool after = cuts->at[first] > k->at;
  for (int i = first; i < end; i++) {
    int l = after ? first + end - 1 - i : i;
    if (!push_product(b, k, tsr_cut_begin(cuts, l), tsr_cut_length(cuts, l))) return false;
  }
  return true;
}

static bool push_block(tsr_builder *b, const stripe *s, int j) {
  const tsr_cuts *cuts = &b->tiling->k;
  block k = {.stripe = s, .at = tsr_cut_begin(cuts, j), .length = tsr_cut_length(cuts, j)};
  bool before = is_symmetric(b) || takes_before(b), after = is_symmetric(b) || !takes_before(b);
  int from = before ? 0 : j, to = after ? cuts->count : j + 1;
  k.sums = ranges_of(b, from, j) + ranges_of(b, j + 1, to);
  bool solves = b->call->operation == TSR_TRSM;
  if (!solves && !push_own_kernel(b, &k)) return false;
  if (!push_products(b, &k, from, j) || !push_products(b, &k, j + 1, to)) return false;
  if (solves) return push_own_kernel(b, &k);
  return !multiplies(b) || push_result(b, &k);
}

static bool push_scaling(tsr_builder *b, const stripe *s, int j) {
  const tsr_cuts *cuts = &b->tiling->k;
  bool reads = b->call->beta != TSR_ZERO;
  tsr_task task = {.kernel = TSR_KERNEL_SCALE, .flags = TSR_FLAG_BETA, .last = true};
  task.operand[2] = lines_of(b, TSR_C_, reads ? TSR_UPDATE : TSR_WRITE, s, tsr_cut_begin(cuts, j),
                             tsr_cut_length(cuts, j));
  return push(b, task, s, tsr_cut_length(cuts, j));
}

/* Blocks upwards, unless what they are computed from comes later: trsm needs it solved, trmm old.
 */
static bool push_stripe(tsr_builder *b, const stripe *s) {
  int count = b->tiling->k.count;
  bool solves = b->call->operation == TSR_TRSM;
  bool upwards = is_symmetric(b) || solves == takes_before(b);
  tsr_group group = {.first = b->graph->tasks.count, .device = s->device};
  for (int i = 0; i < count; i++) {
    int j = upwards ? i : count - 1 - i;
    if (!(b->scales_only ? push_scaling : push_block)(b, s, j)) return false;
  }
  group.count = b->graph->tasks.count - group.first;
  return TSR_VEC_PUSH(&b->graph->groups, group);
}

/* Lines of the next stripe when rest are left of a device's: the last ones are short, so that
 * little remains to be brought home after the last kernel. */
static int64_t next_lines(const tsr_tiling *t, int64_t rest) {
  int64_t lines = t->chunk;
  if (t->chunk_least > 0 && rest < 2 * lines) {
    int64_t half = (rest / 2 + 63) / 64 * 64;
    lines = half < t->chunk_least ? t->chunk_least : half < lines ? half : lines;
  }
  return lines < rest ? lines : rest;
}

/* The f-th range of lines, which one device owns. Ranges are dealt round the devices. */
static bool push_range(tsr_builder *b, int f) {
  const tsr_tiling *t = b->tiling;
  const tsr_cuts *across = is_left(b) ? &t->n : &t->m;
  stripe s = {.line = tsr_cut_begin(across, f),
              .device = is_left(b) ? tsr_owner_of(t, 0, f) : tsr_owner_of(t, f, 0)};
  for (int64_t end = s.line + tsr_cut_length(across, f); s.line < end; s.line += s.lines) {
    s.lines = next_lines(t, end - s.line);
    if (!push_stripe(b, &s)) return false;
  }
  return true;
}

/* ---- Holds ---------------------------------------------------------------- */

/* Blocks of several stripes that are brought to their end together, while what they are summed from
 * streams through: what is read of A serves all stripes, and what is read of B or C all blocks. */
typedef struct hold {
  stripe *stripes;
  int count;      /* of stripes */
  int from, step; /* blocks: from, from + step .. */
  int blocks;
  block *block; /* [stripe * blocks + number] */
} hold;

static block *block_of(const hold *h, int s, int number) {
  return &h->block[s * h->blocks + number];
}

static bool is_in_hold(const hold *h, int i) {
  int number = (i - h->from) * h->step;
  return number >= 0 && number < h->blocks;
}

/* Whether block i has a part in block j. */
static bool takes(const tsr_builder *b, int j, int i) {
  return i != j && (is_symmetric(b) || (i < j) == takes_before(b));
}

static void begin_hold(const tsr_builder *b, const hold *h) {
  const tsr_cuts *cuts = &b->tiling->k;
  for (int s = 0; s < h->count; s++)
    for (int number = 0; number < h->blocks; number++) {
      int j = h->from + number * h->step;
      block *k = block_of(h, s, number);
      *k = (block){&h->stripes[s], tsr_cut_begin(cuts, j), tsr_cut_length(cuts, j), 0, false};
      for (int i = 0; i < cuts->count; i++) k->sums += takes(b, j, i);
    }
}

static bool push_part_of(tsr_builder *b, const hold *h, int s, int number, int i) {
  const tsr_cuts *cuts = &b->tiling->k;
  if (!takes(b, h->from + number * h->step, i)) return true;
  return push_product(b, block_of(h, s, number), tsr_cut_begin(cuts, i), tsr_cut_length(cuts, i));
}

/* A system's blocks of the hold itself are not solved yet. */
static bool streams(const tsr_builder *b, const hold *h, int i) {
  return b->call->operation != TSR_TRSM || !is_in_hold(h, i);
}

/* Blocks first, first + step .. of what the hold is summed from, with all of the hold. */
static bool push_chunk(tsr_builder *b, const hold *h, int first, int count) {
  for (int s = 0; s < h->count; s++)
    for (int number = 0; number < h->blocks; number++)
      for (int n = 0, i = first; n < count; n++, i += h->step)
        if (streams(b, h, i) && !push_part_of(b, h, s, number, i)) return false;
  return true;
}

/* A system's come from the first that was solved to the last. */
static bool push_chunks(tsr_builder *b, const hold *h) {
  int count = b->tiling->k.count, depth = b->tiling->depth > 0 ? b->tiling->depth : 1;
  int first = h->step > 0 ? 0 : count - 1;
  for (int l = 0; l < count; l += depth)
    if (!push_chunk(b, h, first + l * h->step, l + depth < count ? depth : count - l)) return false;
  return true;
}

static bool push_own_kernels(tsr_builder *b, const hold *h) {
  for (int i = 0; i < h->count * h->blocks; i++)
    if (!push_own_kernel(b, &h->block[i])) return false;
  return true;
}

static bool push_results(tsr_builder *b, const hold *h) {
  for (int i = 0; i < h->count * h->blocks; i++)
    if (!push_result(b, &h->block[i])) return false;
  return true;
}

/* What the blocks of the hold have a part in each other is left of a system. */
static bool push_solutions(tsr_builder *b, const hold *h) {
  for (int number = 0; number < h->blocks; number++)
    for (int s = 0; s < h->count; s++) {
      for (int n = 0; n < number; n++)
        if (!push_part_of(b, h, s, number, h->from + n * h->step)) return false;
      if (!push_own_kernel(b, block_of(h, s, number))) return false;
    }
  return true;
}

static bool push_hold(tsr_builder *b, const hold *h) {
  bool solves = b->call->operation == TSR_TRSM;
  begin_hold(b, h);
  if (!solves && !push_own_kernels(b, h)) return false;
  if (!push_chunks(b, h)) return false;
  if (solves) return push_solutions(b, h);
  return !multiplies(b) || push_results(b, h);
}

/* All blocks of some stripes, hold by hold. */
static bool push_holds(tsr_builder *b, hold *h, int most) {
  int count = b->tiling->k.count;
  bool upwards = is_symmetric(b) || (b->call->operation == TSR_TRSM) == takes_before(b);
  tsr_group group = {.first = b->graph->tasks.count, .device = h->stripes[0].device};
  h->step = upwards ? 1 : -1;
  for (int done = 0; done < count; done += h->blocks) {
    h->blocks = count - done < most ? count - done : most;
    h->from = upwards ? done : count - 1 - done;
    if (!push_hold(b, h)) return false;
  }
  group.count = b->graph->tasks.count - group.first;
  return TSR_VEC_PUSH(&b->graph->groups, group);
}

/* A device's ranges of lines, each a stripe; so many of them are held at a time. */
static bool push_device(tsr_builder *b, const int *range, int ranges, tsr_pass pass) {
  const tsr_tiling *t = b->tiling;
  const tsr_cuts *across = is_left(b) ? &t->n : &t->m;
  int blocks = is_left(b) ? pass.rows : pass.cols, stripes = is_left(b) ? pass.cols : pass.rows;
  hold h = {.stripes = tsr_alloc(sizeof *h.stripes * (size_t)stripes),
            .block = tsr_alloc(sizeof *h.block * (size_t)stripes * (size_t)blocks)};
  bool done = h.stripes != NULL && h.block != NULL;
  for (int first = 0; done && first < ranges; first += stripes) {
    for (h.count = 0; h.count < stripes && first + h.count < ranges; h.count++) {
      int f = range[first + h.count];
      h.stripes[h.count] = (stripe){tsr_cut_begin(across, f), tsr_cut_length(across, f),
                                    is_left(b) ? tsr_owner_of(t, 0, f) : tsr_owner_of(t, f, 0)};
    }
    done = push_holds(b, &h, blocks);
  }
  tsr_dealloc(h.stripes);
  tsr_dealloc(h.block);
  return done;
}

static bool build_holds(tsr_builder *b) {
  const tsr_tiling *t = b->tiling;
  tsr_dealt lines = {NULL, NULL};
  bool done = is_left(b) ? tsr_deal_cols(t, &lines) : tsr_deal_rows(t, &lines);
  for (int d = 0; done && d < t->grid_rows * t->grid_cols; d++)
    done = push_device(b, lines.part + lines.first[d], lines.first[d + 1] - lines.first[d],
                       tsr_pass_of(t, is_left(b) ? 0 : d, is_left(b) ? d : 0));
  tsr_dealt_free(&lines);
  return done;
}

/* Whether some device holds more than one tile. */
static bool holds(const tsr_tiling *t) {
  for (int i = 0; t->passes != NULL && i < t->grid_rows * t->grid_cols; i++)
    if (t->passes[i].rows * t->passes[i].cols > 1) return true;
  return t->pass.rows * t->pass.cols > 1;
}

bool tsr_build_triangle(tsr_builder *b) {
  const tsr_tiling *t = b->tiling;
  const tsr_cuts *across = is_left(b) ? &t->n : &t->m;
  if (holds(t) && !b->scales_only) return build_holds(b);
  for (int f = 0; f < across->count; f++)
    if (!push_range(b, f)) return false;
  return true;
}
