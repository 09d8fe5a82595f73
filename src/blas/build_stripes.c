/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A triangle beside C, stripe by stripe: all blocks of some lines of C. If blocks are sums, all of
 * them get their products with one k-panel of A's order before the next k-panel. So kernels can
 * begin when little of what they read has arrived, while the later k-panels arrive, each twice as
 * long as the one before. In trsm, what is solved of a k-panel is subtracted from all blocks behind
 * it, and in trmm, what is multiplied by it is added to them; without k-panels one block after
 * another is completed.
 *
 * Kernels of the first k-panel may have fewer lines than their stripe (n_block_first), so that they
 * begin when few lines have arrived.
 */
#include "base/alloc.h"
#include "base/least.h"
#include "blas/triangle.h"

/* Blocks [begin, end) of A's order. */
typedef struct range {
  int begin, end;
} range;

static bool contains(range r, int j) {
  return r.begin <= j && j < r.end;
}

/* The blocks of a k-panel before block j (after block j) from which block j is computed. */
static range before(const tsr_builder *b, range k_panel, int j) {
  if (!tsr_is_symmetric(b) && !tsr_takes_before(b)) return (range){0, 0};
  return (range){k_panel.begin, tsr_most(k_panel.begin, tsr_least(k_panel.end, j))};
}

static range after(const tsr_builder *b, range k_panel, int j) {
  if (!tsr_is_symmetric(b) && tsr_takes_before(b)) return (range){0, 0};
  int begin = tsr_most(k_panel.begin, j + 1);
  return (range){begin, tsr_most(begin, k_panel.end)};
}

/* ---- Products with a range of blocks -------------------------------------- */

/* Whether the order of A is cut into square tiles, one for each block; lines always are. A
 * product reads from one tile only, so it then has one block; else a range of blocks is one
 * product. */
static bool is_tiled(const tsr_builder *b) {
  return tsr_cuts_along(b)->count > 1 || tsr_call_has_form(b->call);
}

static int count_products(const tsr_builder *b, range r) {
  return r.begin == r.end ? 0 : is_tiled(b) ? r.end - r.begin : 1;
}

/* Adds to block k of C the products with a range of other blocks, in the order in which these were
 * solved (trsm) or will be rewritten (trmm). */
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

/* Adds to block j its products with a k-panel; if the k-panel has block j, also the routine's own
 * kernel. */
static bool push_block(tsr_builder *b, tsr_block *k, range k_panel, int j) {
  bool own = contains(k_panel, j);
  if (own && !tsr_solves(b) && !tsr_push_own_kernel(b, k)) return false;
  if (!push_products(b, k, before(b, k_panel, j))) return false;
  if (!push_products(b, k, after(b, k_panel, j))) return false;
  if (own && tsr_solves(b) && !tsr_push_own_kernel(b, k)) return false;
  return k->left > 0 || !tsr_sums_in_copy(b) || tsr_push_result(b, k);
}

/* ---- K-panels ------------------------------------------------------------- */

/* Blocks in the next k-panel, when `done` blocks are done and the k-panel before had `last` blocks
 * (0: there was none): twice as many, at most k_panel_most. If not more than twice that is left,
 * and k_panel_most allows it, this k-panel takes all. After the first stripe of a device all of A
 * is there, so the others may do without k-panels. */
static int next_k_panel(const tsr_builder *b, const tsr_stripe *s, int done, int last) {
  const tsr_tiling *t = b->tiling;
  int left = t->k.count - done;
  int64_t block = tsr_cut_length(&t->k, 0);
  if (t->k_panel == 0 || (t->k_panel_once && !s->is_first) || is_tiled(b)) return left;
  int first = (int)((t->k_panel + block - 1) / block);
  int most = t->k_panel_most > 0 ? tsr_most(first, (int)(t->k_panel_most / block)) : left;
  int next = tsr_least(last == 0 ? first : 2 * last, most);
  return left <= tsr_least(2 * next, most) ? left : next;
}

/* Whether k-panels follow each other from the first to the last, else from the last to the first.
 * In trsm and with a symmetric A the direction is that of blocks (tsr_goes_up). In trmm it is the
 * other one: first comes the k-panel from which most blocks are computed, and whose own blocks are
 * not computed from others. So there is much to multiply early, and the blocks of each k-panel
 * leave when all blocks have their products with it. */
static bool k_panels_go_up(const tsr_builder *b) {
  return tsr_goes_up(b) != tsr_multiplies(b);
}

/* The k-panel after `done` blocks. */
static range k_panel_at(const tsr_builder *b, int done, int blocks) {
  int count = b->tiling->k.count;
  if (k_panels_go_up(b)) return (range){done, done + blocks};
  return (range){count - done - blocks, count - done};
}

/* Called with each k-panel; false ends the walk. */
typedef bool (*visitor)(tsr_builder *b, tsr_block *blocks, range k_panel);

static bool each_k_panel(tsr_builder *b, tsr_block *blocks, visitor visit) {
  int blocks_of_k_panel = 0;
  for (int done = 0; done < b->tiling->k.count; done += blocks_of_k_panel) {
    blocks_of_k_panel = next_k_panel(b, blocks->stripe, done, blocks_of_k_panel);
    if (!visit(b, blocks, k_panel_at(b, done, blocks_of_k_panel))) return false;
  }
  return true;
}

static bool takes(const tsr_builder *b, range k_panel, int j) {
  range first = before(b, k_panel, j), then = after(b, k_panel, j);
  return first.end > first.begin || then.end > then.begin || contains(k_panel, j);
}

/* Products and own kernels that block j gets with the k-panel. */
static int tasks_of(const tsr_builder *b, range k_panel, int j) {
  return count_products(b, before(b, k_panel, j)) + count_products(b, after(b, k_panel, j)) +
         contains(k_panel, j);
}

static bool count_tasks(tsr_builder *b, tsr_block *blocks, range k_panel) {
  for (int j = 0; j < b->tiling->k.count; j++) blocks[j].left += tasks_of(b, k_panel, j);
  return true;
}

/* ---- Runs of blocks ------------------------------------------------------- */

/* Neighbouring blocks [first, first + count) that one product with the k-panel serves: beside a
 * triangle all blocks behind the k-panel, as far as A was copied with them. Else a single block. */
typedef struct run {
  int first, count;
} run;

static bool is_behind(const tsr_builder *b, range k_panel, int j) {
  return !tsr_is_symmetric(b) && !is_tiled(b) && takes(b, k_panel, j) && !contains(k_panel, j);
}

/* The i-th block in the direction in which blocks are computed. */
static int block_at(const tsr_builder *b, int i) {
  return tsr_goes_up(b) ? i : b->tiling->k.count - 1 - i;
}

/* The first after the i-th block whose part of A does not come in the same copies. */
static int end_of_copies(const tsr_builder *b, int i) {
  int high = tsr_most(1, (int)b->tiling->span), end = i + 1;
  while (end < b->tiling->k.count && block_at(b, end) / high == block_at(b, i) / high) end++;
  return end;
}

/* The run that begins with the i-th block. */
static run run_at(const tsr_builder *b, range k_panel, int i) {
  int first = block_at(b, i), last = first, end = end_of_copies(b, i);
  if (is_behind(b, k_panel, first))
    for (i++; i < end && is_behind(b, k_panel, block_at(b, i)); i++) last = block_at(b, i);
  return (run){tsr_least(first, last), tsr_most(first, last) - tsr_least(first, last) + 1};
}

/* Adds the tasks of a run on some lines. */
static bool push_run(tsr_builder *b, const tsr_block *blocks, range k_panel, run r,
                     const tsr_stripe *lines) {
  const tsr_cuts *cuts = &b->tiling->k;
  tsr_block k = blocks[r.first];
  k.stripe = lines;
  if (r.count == 1) return push_block(b, &k, k_panel, r.first);
  k.length = cuts->at[r.first + r.count] - k.at;
  return tsr_push_product(b, &k, cuts->at[k_panel.begin],
                          cuts->at[k_panel.end] - cuts->at[k_panel.begin]);
}

static void note_run(const tsr_builder *b, tsr_block *blocks, range k_panel, run r) {
  for (int j = r.first; j < r.first + r.count; j++) {
    blocks[j].left -= tasks_of(b, k_panel, j);
    blocks[j].begun = true;
  }
}

/* Adds the tasks with the k-panel of the begin-th up to the end-th block (block_at): first on
 * `most` lines of the stripe, then on the next ones, and so on. Blocks that are not computed from
 * the k-panel, or have all their products already, are not touched. In trmm a block of the k-panel
 * itself comes after all blocks that are computed from it, so that its sum may take the place of
 * its old elements. */
static bool push_blocks_of(tsr_builder *b, tsr_block *blocks, range k_panel, int begin, int end,
                           int64_t most) {
  const tsr_stripe *all = blocks->stripe;
  int64_t last = all->line + all->lines;
  run r;
  for (tsr_stripe part = *all; part.line < last; part.line += part.lines) {
    part.lines = last - part.line < most ? last - part.line : most;
    for (int i = begin; i < end; i += r.count) {
      r = run_at(b, k_panel, i);
      if (takes(b, k_panel, r.first) && !push_run(b, blocks, k_panel, r, &part)) return false;
    }
  }
  for (int i = begin; i < end; i += r.count) {
    r = run_at(b, k_panel, i);
    if (takes(b, k_panel, r.first)) note_run(b, blocks, k_panel, r);
  }
  return true;
}

/* Whether the k-panel is the first of several, in the first stripe of a device. */
static bool is_first_of_all(const tsr_builder *b, const tsr_stripe *s, range k_panel) {
  int count = b->tiling->k.count;
  bool first = k_panels_go_up(b) ? k_panel.begin == 0 : k_panel.end == count;
  return s->is_first && first && k_panel.end - k_panel.begin < count;
}

/* The first k-panel arrives while there is nothing else to compute. So its kernels take some lines
 * at a time, with the blocks whose part of A comes in one copy: they begin when little of both is
 * there. */
static bool push_k_panel(tsr_builder *b, tsr_block *blocks, range k_panel) {
  const tsr_stripe *s = blocks->stripe;
  int count = b->tiling->k.count, end;
  if (!is_first_of_all(b, s, k_panel) || b->tiling->n_block_first >= s->lines)
    return push_blocks_of(b, blocks, k_panel, 0, count, s->lines);
  for (int i = 0; i < count; i = end) {
    end = end_of_copies(b, i);
    if (!push_blocks_of(b, blocks, k_panel, i, end, b->tiling->n_block_first)) return false;
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

/* Lines of the next stripe, when `rest` lines of a range are left. The last stripes are short, so
 * that little is left to write back after the last kernel. */
static int64_t next_lines(const tsr_tiling *t, int64_t rest) {
  int64_t lines = t->n_block;
  if (t->n_block_least > 0 && rest < 2 * lines) {
    int64_t half = (rest / 2 + 63) / 64 * 64;
    lines = half < t->n_block_least ? t->n_block_least : half < lines ? half : lines;
  }
  return lines < rest ? lines : rest;
}

/* The stripes of the f-th range of lines, which one device owns. */
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
