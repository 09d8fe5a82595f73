/*
 * Beside a triangle, stripe by stripe: all blocks of some lines. Where blocks are sums, a k_panel
 * of A's order can give all of them their parts before the next k_panel's turn: so kernels can
 * begin when little is there of what they read, and later k_panels, twice as long each, arrive
 * meanwhile. trsm has to wait for what is solved anyway, and takes each block to its end.
 */
#include "base/alloc.h"
#include "blas/triangle.h"

/* Blocks [begin, end) of A's order. */
typedef struct range {
  int begin, end;
} range;

static int smaller(int a, int b) {
  return a < b ? a : b;
}

static int larger(int a, int b) {
  return a > b ? a : b;
}

static bool contains(range r, int j) {
  return r.begin <= j && j < r.end;
}

/* What block j takes of a k_panel that is before it, and after it. */
static range before(const tsr_builder *b, range k_panel, int j) {
  if (!tsr_is_symmetric(b) && !tsr_takes_before(b)) return (range){0, 0};
  return (range){k_panel.begin, larger(k_panel.begin, smaller(k_panel.end, j))};
}

static range after(const tsr_builder *b, range k_panel, int j) {
  if (!tsr_is_symmetric(b) && tsr_takes_before(b)) return (range){0, 0};
  int begin = larger(k_panel.begin, j + 1);
  return (range){begin, larger(begin, k_panel.end)};
}

/* ---- Products with a range of blocks -------------------------------------- */

/* What is read in one product must be in one tile: with square tiles there is one for each block.
 */
static bool is_tiled(const tsr_builder *b) {
  return tsr_cuts_along(b)->count > 1;
}

static int count_products(const tsr_builder *b, range r) {
  return r.begin == r.end ? 0 : is_tiled(b) ? r.end - r.begin : 1;
}

/* Those blocks that were solved, or are rewritten, last come last. */
static bool push_products(tsr_builder *b, tsr_block *k, range r) {
  const tsr_cuts *cuts = &b->tiling->k;
  int64_t from = cuts->at[r.begin], length = cuts->at[r.end] - from;
  if (r.begin == r.end) return true;
  if (!is_tiled(b)) return tsr_push_product(b, k, from, length);
  bool after = from > k->at;
  for (int i = r.begin; i < r.end; i++) {
    int l = after ? r.begin + r.end - 1 - i : i;
    if (!tsr_push_product(b, k, tsr_cut_begin(cuts, l), tsr_cut_length(cuts, l))) return false;
  }
  return true;
}

/* Block j and what a k_panel has a part in it. */
static bool push_block(tsr_builder *b, tsr_block *k, range k_panel, int j) {
  bool own = contains(k_panel, j);
  if (own && !tsr_solves(b) && !tsr_push_own_kernel(b, k)) return false;
  if (!push_products(b, k, before(b, k_panel, j))) return false;
  if (!push_products(b, k, after(b, k_panel, j))) return false;
  if (own && tsr_solves(b) && !tsr_push_own_kernel(b, k)) return false;
  return k->left > 0 || !tsr_sums_in_copy(b) || tsr_push_result(b, k);
}

/* ---- Slabs ---------------------------------------------------------------- */

/* Blocks of the next k_panel when `done` have had theirs and the one before had `last` (0: there
 * was none): twice as many, but no more than is told; and what would be left of that at the end.
 * When a device's first stripe is done A is there, and the others may go without. */
static int next_k_panel(const tsr_builder *b, const tsr_stripe *s, int done, int last) {
  const tsr_tiling *t = b->tiling;
  int left = t->k.count - done;
  int64_t block = tsr_cut_length(&t->k, 0);
  if (t->k_panel == 0 || (t->k_panel_once && !s->is_first) || tsr_solves(b) || is_tiled(b))
    return left;
  int first = (int)((t->k_panel + block - 1) / block);
  int most = t->k_panel_most > 0 ? larger(first, (int)(t->k_panel_most / block)) : left;
  int next = smaller(last == 0 ? first : 2 * last, most);
  return left <= smaller(2 * next, most) ? left : next;
}

/* Slabs and the blocks in them go the same way. */
static range k_panel_at(const tsr_builder *b, int done, int blocks) {
  int count = b->tiling->k.count;
  if (tsr_goes_up(b)) return (range){done, done + blocks};
  return (range){count - done - blocks, count - done};
}

/* Does something with each k_panel. False: it said so. */
typedef bool (*visitor)(tsr_builder *b, tsr_block *blocks, range k_panel);

static bool each_k_panel(tsr_builder *b, tsr_block *blocks, visitor visit) {
  int blocks_of_k_panel = 0;
  for (int done = 0; done < b->tiling->k.count; done += blocks_of_k_panel) {
    blocks_of_k_panel = next_k_panel(b, blocks->stripe, done, blocks_of_k_panel);
    if (!visit(b, blocks, k_panel_at(b, done, blocks_of_k_panel))) return false;
  }
  return true;
}

static bool count_tasks(tsr_builder *b, tsr_block *blocks, range k_panel) {
  for (int j = 0; j < b->tiling->k.count; j++)
    blocks[j].left += count_products(b, before(b, k_panel, j)) +
                      count_products(b, after(b, k_panel, j)) + contains(k_panel, j);
  return true;
}

/* Blocks that take nothing of the k_panel, and those that have all of theirs, are not touched. */
static bool push_k_panel(tsr_builder *b, tsr_block *blocks, range k_panel) {
  int count = b->tiling->k.count;
  for (int i = 0; i < count; i++) {
    int j = tsr_goes_up(b) ? i : count - 1 - i;
    bool takes = before(b, k_panel, j).end > before(b, k_panel, j).begin ||
                 after(b, k_panel, j).end > after(b, k_panel, j).begin || contains(k_panel, j);
    if (takes && !push_block(b, &blocks[j], k_panel, j)) return false;
  }
  return true;
}

/* ---- Stripes -------------------------------------------------------------- */

static bool push_blocks(tsr_builder *b, tsr_block *blocks) {
  if (!b->scales_only)
    return each_k_panel(b, blocks, count_tasks) && each_k_panel(b, blocks, push_k_panel);
  for (int j = 0; j < b->tiling->k.count; j++)
    if (!tsr_push_scaled(b, &blocks[j])) return false;
  return true;
}

static bool push_stripe(tsr_builder *b, const tsr_stripe *s) {
  int count = b->tiling->k.count;
  tsr_group group = {.first = b->graph->tasks.count, .device = s->device};
  tsr_block *blocks = tsr_alloc(sizeof *blocks * (size_t)(count + 1));
  if (!blocks) return false;
  for (int j = 0; j < count; j++) blocks[j] = tsr_block_of(b, s, j, 0);
  bool pushed = push_blocks(b, blocks);
  tsr_dealloc(blocks);
  group.count = b->graph->tasks.count - group.first;
  return pushed && TSR_VEC_PUSH(&b->graph->groups, group);
}

/* Lines of the next stripe when rest are left of a device's: the last ones are short, so that
 * little remains to be brought home after the last kernel. */
static int64_t next_lines(const tsr_tiling *t, int64_t rest) {
  int64_t lines = t->n_block;
  if (t->n_block_least > 0 && rest < 2 * lines) {
    int64_t half = (rest / 2 + 63) / 64 * 64;
    lines = half < t->n_block_least ? t->n_block_least : half < lines ? half : lines;
  }
  return lines < rest ? lines : rest;
}

/* The f-th range of lines, which one device owns. Ranges are owners round the devices. */
static bool push_range(tsr_builder *b, int f) {
  const tsr_cuts *across = tsr_cuts_across(b);
  tsr_stripe s = {.line = tsr_cut_begin(across, f), .device = tsr_owner_of_lines(b, f)};
  for (int64_t end = s.line + tsr_cut_length(across, f); s.line < end; s.line += s.lines) {
    s.lines = next_lines(b->tiling, end - s.line);
    s.is_first = s.line == tsr_cut_begin(across, f);
    if (!push_stripe(b, &s)) return false;
  }
  return true;
}

bool tsr_build_stripes(tsr_builder *b) {
  for (int f = 0; f < tsr_cuts_across(b)->count; f++)
    if (!push_range(b, f)) return false;
  return true;
}
