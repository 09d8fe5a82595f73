/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * First guesses at panels, at stripes, and at n-blocks and k-panels for each limit that may bind.
 */
#include <math.h>

#include "base/least.h"
#include "plan/search/search.h"

/* ---- First guesses -------------------------------------------------------- */

static bool is_device_home(const tsr_search *s, int x) {
  return tsr_is_device(s->machine, s->call->operand[x].location);
}

bool tsr_panels_is_update(const tsr_search *s) {
  const tsr_call *call = s->call;
  return s->options->residency != NULL && tsr_search_family(s) == TSR_PRODUCT &&
         TSR_TUNE_SEQUENCE_K * call->k <= call->m && TSR_TUNE_SEQUENCE_K * call->k <= call->n;
}

/* C is added last if it must be, if A or B comes from the same home, or if C is a product's and at
 * home on a device. In a sequence of updates only the first one waits for C to arrive, so that a
 * common home is no reason there. */
void tsr_panels_set_lazy(const tsr_search *s, tsr_strategy *strategy) {
  const tsr_operand *o = s->call->operand;
  bool shares = !tsr_panels_is_update(s) && (o[TSR_C_].location == o[TSR_A].location ||
                                             o[TSR_C_].location == o[TSR_B_].location);
  bool at_device = tsr_search_family(s) == TSR_PRODUCT && is_device_home(s, TSR_C_);
  strategy->lazy = tsr_strategy_may_be_lazy(strategy, &s->problem) &&
                   (tsr_strategy_must_be_lazy(strategy, &s->problem) || shares || at_device);
  strategy->add_at_home =
      strategy->lazy && at_device && !s->options->reproducible; /* C need not leave its home then */
}

/* The part of an operand in host memory, 0 to 1, that must still be copied from there, since no
 * device has it. A rank-k update counts one triangle of C; devices never have the other one. */
static double part_at_home(const tsr_search *s, int x) {
  const tsr_residency *r = s->options->residency;
  const tsr_operand *o = &s->call->operand[x];
  double all = (double)o->rows * (double)o->cols, there = 0;
  if (x == TSR_C_ && tsr_search_family(s) == TSR_RANK) all /= 2;
  for (size_t i = 0; r != NULL && i < r->blocks.count; i++)
    if (r->blocks.items[i].matrix == x) there += tsr_rects_area(&r->blocks.items[i].valid);
  return there < all ? 1 - there / all : 0;
}

/* The rate at which a device computes the call's products for long, flops/s. */
static double sustained_rate(const tsr_search *s) {
  const tsr_call *call = s->call;
  return tsr_call_has_form(call)
             ? tsr_machine_form_limit(s->machine, call->arithmetic, call->type, 1)
             : s->machine->rates[tsr_type_index(call->type)].sustained;
}

/* Time of an operand's transfers from the host / time of all kernels. */
static double operand_share(const tsr_search *s, int devices, int x) {
  double flops = tsr_call_flops(s->call), bytes = 0, link = 0;
  bool half = tsr_search_family(s) == TSR_RANK && x == TSR_C_;
  if (s->call->operand[x].location >= s->machine->devices)
    bytes = part_at_home(s, x) * (half ? 0.5 : 1) *
            (double)tsr_operand_bytes(&s->call->operand[x], s->call->type);
  for (int i = 0; i < devices; i++) link += tsr_search_shared_rate(s, s->order[i], i);
  return link > 0 && flops > 0 ? bytes / link * sustained_rate(s) * devices / flops : 0;
}

static double transfer_share(const tsr_search *s, int devices) {
  double share = 0;
  for (int x = 0; x < TSR_OPERANDS; x++) share += operand_share(s, devices, x);
  return share;
}

static bool is_on_device(const tsr_call *call) {
  return call->operand[TSR_A].memory == TSR_DEVICE || call->operand[TSR_B_].memory == TSR_DEVICE;
}

/* Columns of C are cut unless C is flat, since columns are contiguous. If A or B is at home on a
 * device, the grid is nearer to a square: that device sends all that the others read, and in such a
 * grid fewer devices read the same part. */
void tsr_panels_guess_grid(const tsr_call *call, int devices, tsr_strategy *strategy) {
  bool flat = call->m > TSR_TUNE_FLAT * call->n;
  strategy->grid_rows = flat ? devices : 1;
  for (int rows = 2; !flat && is_on_device(call) && rows * rows <= devices; rows++)
    if (devices % rows == 0) strategy->grid_rows = rows;
  strategy->grid_cols = devices / strategy->grid_rows;
}

/* The largest piece of pageable memory, bytes: the ring has memory for two pieces of each staging
 * thread, one that the thread copies and one that a device fetches. */
static int64_t share_of_ring(const tsr_search *s) {
  int threads = s->machine->staging_threads > 0 ? s->machine->staging_threads : 1;
  return tsr_guess_of((double)s->options->ring / threads, TSR_TUNE_PIECE_IN_RING);
}

/* Bytes of a copy such that a device receives some tens of copies: enough to keep its links busy at
 * the same time, few enough that the start of each does not matter. Copies of pageable memory are
 * smaller: staging threads all begin at once and share the rate of host memory, so that the first
 * copy leaves the ring when all threads have filled theirs. */
static int64_t guess_piece(const tsr_search *s, const tsr_strategy *strategy) {
  const tsr_operand *o = s->call->operand;
  double a = (double)tsr_operand_bytes(&o[TSR_A], s->call->type) / strategy->grid_rows;
  double b = (double)tsr_operand_bytes(&o[TSR_B_], s->call->type) / strategy->grid_cols;
  double c = (double)tsr_operand_bytes(&o[TSR_C_], s->call->type) /
             (strategy->grid_rows * strategy->grid_cols);
  bool finer = tsr_search_family(s) == TSR_RANK && !is_device_home(s, TSR_C_);
  tsr_guess guess = tsr_call_is_staged(s->call) ? TSR_TUNE_STAGED_PIECE : TSR_TUNE_PIECE;
  if (finer) guess.most = TSR_TUNE_PIECE_MOST_OF_UPDATES;
  int64_t piece = tsr_guess_of(a + b + c, guess);
  return tsr_call_is_staged(s->call) && piece > share_of_ring(s) ? share_of_ring(s) : piece;
}

/* The order of the triangle A. */
static int64_t order_of(const tsr_call *call) {
  return call->side == TSR_LEFT ? call->m : call->n;
}

/* Lines of C across the triangle for each device. */
static int64_t lines_of(const tsr_call *call, int devices) {
  return (call->side == TSR_LEFT ? call->n : call->m) / devices;
}

/* Time of kernels for one row of a block of trsm, s, when the block is halfway down the order and
 * `lines` lines are solved. */
static double solving_time(const tsr_search *s, int64_t order, int64_t block, int64_t lines) {
  const tsr_call *call = s->call;
  bool left = call->side == TSR_LEFT;
  int64_t m = left ? block : lines, n = left ? lines : block;
  bool by_blocks = tsr_search_takes_blocks(s, TSR_KERNEL_TRSM);
  double own = (by_blocks ? tsr_machine_blocks_time : tsr_machine_kernel_time)(
      s->machine, s->order[0], TSR_KERNEL_TRSM, call->type, m, n, block, false, true, s->heat);
  double product = tsr_machine_kernel_time(s->machine, s->order[0], TSR_KERNEL_GEMM, call->type, m,
                                           n, order / 2, false, true, s->heat);
  return (own + product) / (double)block;
}

/* The order of trsm's blocks. Small blocks take less time to solve, large ones less time to
 * multiply, and a short order needs several blocks. If two sizes are about equally good, the larger
 * one makes fewer commands. */
static int64_t guess_solved_block(const tsr_search *s, int64_t order, int64_t lines) {
  int64_t best = tsr_guess_of((double)order, TSR_TUNE_SOLVED_BLOCK);
  for (int64_t block = best / 2; block >= TSR_TUNE_SOLVED_BLOCK.least; block /= 2)
    if (solving_time(s, order, block, lines) <
        TSR_TUNE_SOLVED_GAIN * solving_time(s, order, best, lines))
      best = block;
  return best;
}

/* Width of trsm's stripes, which are columns if A is on the left and rows if it is on the right. If
 * C takes longer to come and go than to be solved, columns are cut into several stripes, so that
 * one is solved while others travel. Rows are not: they are solved column by column, however many
 * they are. Otherwise few wide stripes are quickest. Stripes from pageable memory are narrower,
 * since the staging threads bring each stripe before it begins. */
static int64_t guess_solved_stripe(const tsr_search *s, int devices, int64_t lines) {
  bool left = s->call->side == TSR_LEFT;
  bool cut = left && 2 * operand_share(s, devices, TSR_C_) > 1;
  bool staged = left && tsr_call_is_staged(s->call);
  int64_t widest = staged ? TSR_TUNE_SOLVED_STRIPE_MOST_STAGED : TSR_TUNE_SOLVED_STRIPE_MOST;
  double width = (double)lines / (cut ? TSR_TUNE_SOLVED_STRIPE_PARTS : 1);
  return tsr_power_of_two_near(width, TSR_INVERTS_LINES, widest);
}

/* Sets blocks, stripes and the height of copies (span). Blocks are long enough for fast kernels;
 * stripes are narrow enough to begin before all of B has arrived. Copies of the triangle are as
 * high as its order, since short columns are slow to copy and a stripe reads the whole triangle
 * before it ends. They are lower in trsm, which cannot begin before its first block has arrived,
 * and for pageable memory, whose pieces are as small as the ring. A composed trsm has one stripe:
 * its lines are on devices already, it needs one block to begin, and the time to invert a block
 * does not depend on the number of lines. */
static void guess_blocks(const tsr_search *s, int devices, tsr_strategy *strategy) {
  const tsr_call *call = s->call;
  bool solves = call->operation == TSR_TRSM;
  bool composed = s->options->residency != NULL;
  int64_t order = order_of(call), lines = lines_of(call, devices);
  strategy->block =
      solves ? guess_solved_block(s, order, lines) : tsr_guess_of((double)order, TSR_TUNE_BLOCK);
  strategy->stripe = solves ? guess_solved_stripe(s, devices, lines)
                            : tsr_guess_of((double)lines, TSR_TUNE_STRIPE);
  /* One stripe for each device. `lines` is the mean over the devices: one may have a few more. */
  if (composed && solves) strategy->stripe = lines + TSR_TUNE_ONE_STRIPE_MORE;
  bool high = !solves && !tsr_call_is_staged(call);
  double height = high ? (double)order : fmin(TSR_TUNE_SPAN, (double)order / TSR_TUNE_SPAN_PARTS);
  if (high) strategy->block = tsr_most(strategy->block, TSR_TUNE_HIGH_BLOCK);
  strategy->span = tsr_power_of_two_near(height / (double)strategy->block, 1, TSR_TUNE_SPAN_BLOCKS);
  strategy->inverses = solves && !composed && lines >= TSR_INVERTS_LINES;
  strategy->n_block_least = 0; /* no taper: a narrow stripe passes through all blocks, too */
}

/* Bytes of a copy of A or B, from what is still at home; the largest copy if less than half is,
 * since few copies are left then. */
static int64_t guess_composed_piece(const tsr_search *s, int devices) {
  double all = 0, at_home = 0;
  for (int x = TSR_A; x <= TSR_B_; x++) {
    double bytes = (double)tsr_operand_bytes(&s->call->operand[x], s->call->type);
    all += bytes;
    at_home += bytes * part_at_home(s, x);
  }
  if (at_home < all / 2) return TSR_TUNE_PIECE.most;
  return tsr_guess_of(at_home / devices, TSR_TUNE_PIECE);
}

/* Sets the knobs of a composed call, which has little planning time, so that the first guess must
 * be about right. If its operands are mostly on devices, there is no k-panel to wait for: one
 * k-panel does. In a rank-k update n-blocks are narrow, since the blocks across the diagonal of C
 * are copied in every call. False: the call is guessed like others. */
static bool guess_composed(const tsr_search *s, int devices, double columns,
                           tsr_strategy *strategy) {
  bool is_rank = tsr_search_family(s) == TSR_RANK;
  if (s->options->residency == NULL || s->call->k > TSR_TUNE_COMPOSED_K) return false;
  if (!is_rank && transfer_share(s, devices) > 1) return false;
  strategy->piece = guess_composed_piece(s, devices);
  strategy->n_block_last =
      is_rank ? TSR_TUNE_COMPOSED_RANK_BLOCK : tsr_guess_of(columns, TSR_TUNE_COMPOSED_BLOCK);
  strategy->n_block_first = strategy->n_block = strategy->n_block_last;
  return true;
}

/* Later updates find C on the devices in the n-blocks of this call. Wide n-blocks keep their
 * kernels fast even while broadcasts occupy some of a device's multiprocessors. */
static void widen_cached_blocks(const tsr_search *s, tsr_strategy *strategy) {
  int64_t rows = s->call->m / strategy->grid_rows;
  int64_t width =
      tsr_guess_of((double)TSR_TUNE_CACHED_ELEMENTS / (double)rows, TSR_TUNE_CACHED_WIDTH);
  strategy->k_panel = 0;
  strategy->n_block_first = strategy->n_block = strategy->n_block_last = width;
  strategy->n_block_least = width < TSR_TUNE_CACHED_TAPER ? width : TSR_TUNE_CACHED_TAPER;
}

/* The resource that panels are cut for. Which one limits a call shows only when plans are replayed.
 */
typedef enum limit {
  LIMIT_LINKS, /* links: columns of C are completed n-block by n-block, so that they leave early */
  LIMIT_KERNELS, /* kernels: they begin early with a short first k-panel, and each next one is twice
                    as long */
  LIMIT_EITHER,  /* links or kernels, which take about as long: a few long k-panels */
  LIMIT_BOTH,  /* both, with a long k: k-panels stay short, so that links never wait for kernels */
  LIMIT_START, /* start and end of a short rank-k update: little time before the first kernel and
                  after the last */
  LIMIT_PORT   /* the port of a device, when devices are home to all operands: A and B leave by it,
                  and then C returns */
} limit;

/* Whether a product is limited by C's return to a device through one port. */
static bool comes_back(const tsr_search *s) {
  const tsr_call *call = s->call;
  double c = (double)call->m * (double)call->n;
  return is_device_home(s, TSR_C_) && c > (double)call->k * (double)(call->m + call->n);
}

/* Columns of C that are completed together, and then leave. */
static int64_t guess_n_block(const tsr_search *s, double columns) {
  tsr_guess guess = TSR_TUNE_N_BLOCK;
  if (tsr_call_is_staged(s->call))
    guess.most = TSR_TUNE_N_BLOCK_MOST_STAGED;
  else if (comes_back(s))
    guess.parts = TSR_TUNE_N_BLOCK_PARTS_BACK;
  return tsr_guess_of(columns, guess);
}

static void cut_product(const tsr_search *s, limit by, tsr_strategy *strategy) {
  double columns = (double)s->call->n / strategy->grid_cols, k = (double)s->call->k;
  strategy->n_block_first = strategy->n_block = strategy->n_block_last = guess_n_block(s, columns);
  strategy->k_panel = strategy->k_panel_most = 0;
  if (by == LIMIT_LINKS) {
    if (!is_device_home(s, TSR_C_))
      strategy->n_block_first = TSR_TUNE_LINKS_FIRST; /* the next ones are wider */
    return;
  }
  strategy->n_block_first = TSR_TUNE_FIRST;
  if (by == LIMIT_PORT) {
    strategy->k_panel = strategy->k_panel_most = tsr_guess_of(k, TSR_TUNE_PORT_K);
    strategy->n_block_first = strategy->n_block = TSR_TUNE_PORT_FIRST;
    strategy->n_block_last = tsr_guess_of(columns, TSR_TUNE_PORT_LAST);
    return;
  }
  if (by == LIMIT_EITHER) {
    strategy->k_panel = tsr_guess_of(k, TSR_TUNE_EITHER_K);
    strategy->n_block = TSR_TUNE_EITHER_MIDDLE;
    return;
  }
  bool both = by == LIMIT_BOTH;
  strategy->k_panel = tsr_guess_of(k, both ? TSR_TUNE_BOTH_K : TSR_TUNE_KERNELS_K);
  strategy->n_block = TSR_TUNE_MIDDLE;
  strategy->n_block_last = both ? TSR_TUNE_BOTH_LAST : TSR_TUNE_KERNELS_LAST;
  if (both) strategy->k_panel_most = TSR_TUNE_BOTH_GROWTH * strategy->k_panel;
}

/* Products in a form have all of k: the leading block grows by parts of the rows. */
static void lead_by_rows(tsr_strategy *strategy) {
  strategy->leading = true;
  strategy->row_parts = TSR_TUNE_LEADING_ROW_PARTS;
  strategy->k_panel = strategy->k_panel_most = strategy->n_block = 0;
  strategy->n_block_first = strategy->n_block_last = TSR_TUNE_LEADING_BLOCK;
  strategy->n_block_least = TSR_TUNE_LEADING_TAPER;
}

bool tsr_panels_lead(const tsr_search *s, tsr_strategy *strategy) {
  const tsr_call *call = s->call;
  int devices = strategy->grid_rows * strategy->grid_cols;
  if (tsr_search_family(s) != TSR_PRODUCT || s->options->residency != NULL ||
      tsr_strategy_has_tiles(strategy) || call->transa != TSR_NO_TRANS ||
      call->transb != TSR_NO_TRANS || is_device_home(s, TSR_A) || is_device_home(s, TSR_B_))
    return false;
  double share = operand_share(s, devices, TSR_A) + operand_share(s, devices, TSR_B_);
  if (share < TSR_TUNE_LEADING_LEAST || share > TSR_TUNE_LEADING_MOST) return false;
  if (tsr_call_has_form(call)) {
    lead_by_rows(strategy);
    return true;
  }
  strategy->leading = true;
  strategy->k_panel = tsr_guess_of((double)call->k, TSR_TUNE_LEADING_K);
  strategy->k_panel_most = strategy->n_block = 0;
  strategy->n_block_first = TSR_TUNE_LEADING_FIRST;
  strategy->n_block_last = TSR_TUNE_LEADING_LAST;
  return true;
}

/* Where whole trapezoids are computed by squares, the larger the better: all of C is one, until the
 * last k-panel completes it n-block by n-block. */
static void widen_before_last(const tsr_call *call, limit by, tsr_strategy *strategy) {
  strategy->n_block_first = strategy->n_block = call->n;
  if (by != LIMIT_START) return;
  strategy->k_panel_most = strategy->k_panel;
  strategy->n_block_last = TSR_TUNE_RANK_SQUARES_LAST;
}

/* In a rank-k update each n-block has a block on the diagonal, whose kernel is slow and which is
 * computed at C's home if that is a device. So n-blocks are not tapered, and their width depends
 * little on the number of devices. For pageable memory they are narrower, since pieces arrive later
 * by way of the ring. */
static void cut_rank(const tsr_search *s, limit by, tsr_strategy *strategy) {
  double k = (double)s->call->k;
  tsr_guess block = TSR_TUNE_RANK_BLOCK;
  if (tsr_call_is_staged(s->call)) block.most = TSR_TUNE_RANK_BLOCK_MOST_STAGED;
  strategy->n_block_first = strategy->n_block = 0; /* as the last */
  strategy->n_block_last = tsr_guess_of((double)s->call->n, block);
  strategy->n_block_least = 0;
  strategy->k_panel = strategy->k_panel_most = 0;
  if (by == LIMIT_LINKS) return;
  strategy->k_panel =
      tsr_guess_of(k, by == LIMIT_KERNELS ? TSR_TUNE_RANK_KERNELS_K : TSR_TUNE_RANK_K);
  if (by == LIMIT_BOTH) strategy->k_panel_most = TSR_TUNE_RANK_GROWTH * strategy->k_panel;
  if (by == LIMIT_START) {
    strategy->k_panel = tsr_guess_of(k, TSR_TUNE_RANK_START_K);
    strategy->n_block_last = TSR_TUNE_RANK_START_BLOCK;
    strategy->n_block_least = TSR_TUNE_RANK_TAPER;
  }
  if (by == LIMIT_EITHER) {
    strategy->k_panel = tsr_guess_of(k, TSR_TUNE_RANK_EITHER_K);
    strategy->k_panel_most = TSR_TUNE_RANK_EITHER_GROWTH * strategy->k_panel;
    strategy->n_block_least = TSR_TUNE_RANK_TAPER;
  }
  bool squares = tsr_search_takes_blocks(s, TSR_KERNEL_GEMMT);
  if (squares && tsr_kernel_all_in_squares(s->call->type)) widen_before_last(s->call, by, strategy);
}

static void cut_for(const tsr_search *s, limit by, tsr_strategy *strategy) {
  (tsr_search_family(s) == TSR_RANK ? cut_rank : cut_product)(s, by, strategy);
}

static limit first_limit(const tsr_search *s, int devices) {
  bool is_rank = tsr_search_family(s) == TSR_RANK;
  if (transfer_share(s, devices) > 1 || (is_rank && is_device_home(s, TSR_C_))) return LIMIT_LINKS;
  return is_rank ? LIMIT_BOTH : LIMIT_KERNELS;
}

/* Sets a grid of one column for a C in pageable memory. The staging threads bring one piece after
 * another; when each device owns some rows of every column, all devices can work on what has
 * arrived. A C with short columns keeps its grid. */
static void cut_rows_if_staged(const tsr_call *call, int devices, tsr_strategy *strategy) {
  tsr_memory c = call->operand[TSR_C_].memory;
  if ((c != TSR_PAGEABLE && c != TSR_MANAGED) || call->n > TSR_TUNE_FLAT * call->m) return;
  strategy->grid_rows = devices;
  strategy->grid_cols = 1;
}

int64_t tsr_panels_guess_share(const tsr_search *s, int devices, bool slices) {
  double share = tsr_plan_home_share(s->machine, s->call, devices, slices);
  static const double steps = TSR_TUNE_HOME_SHARE_STEPS;
  return (int64_t)(100 * exp2(floor(steps * log2(share)) / steps));
}

/* Whether the call runs on one device that is home to all operands and uses them in place. Then
 * nothing is copied, and no kernel waits for a part of an operand. */
static bool has_all_operands(const tsr_search *s, int devices) {
  bool all = devices == 1 && s->problem.realigned == 0;
  for (int x = 0; x < TSR_OPERANDS; x++)
    all &= s->call->operand[x].rows == 0 || s->call->operand[x].location == s->order[0];
  return all;
}

tsr_strategy tsr_panels_guess(const tsr_search *s, int devices) {
  tsr_family family = tsr_search_family(s);
  bool is_product = family == TSR_PRODUCT;
  tsr_strategy strategy = {.kind = tsr_strategy_kind_of(family),
                           .row_parts = family != TSR_TRIANGLE,
                           .n_block_least = TSR_TUNE_TAPER,
                           .relay = true};
  tsr_panels_guess_grid(s->call, devices, &strategy);
  if (is_product && s->options->residency == NULL) cut_rows_if_staged(s->call, devices, &strategy);
  strategy.piece = guess_piece(s, &strategy);
  if (is_product) strategy.home_share = tsr_panels_guess_share(s, devices, false);
  if (tsr_search_family(s) == TSR_TRIANGLE) {
    guess_blocks(s, devices, &strategy);
    return strategy;
  }
  if (guess_composed(s, devices, (double)s->call->n / strategy.grid_cols, &strategy))
    strategy.k_panel = 0;
  else
    cut_for(s, first_limit(s, devices), &strategy);
  if (tsr_panels_is_update(s)) widen_cached_blocks(s, &strategy);
  if (has_all_operands(s, devices))
    strategy.k_panel = strategy.n_block_first = strategy.n_block = strategy.n_block_last =
        strategy.n_block_least = 0;
  tsr_panels_set_lazy(s, &strategy);
  return strategy;
}

tsr_strategy tsr_panels_like(const tsr_search *s, const tsr_strategy *other, int devices) {
  tsr_strategy strategy = tsr_panels_guess(s, devices);
  strategy.row_parts = other->row_parts;
  strategy.k_panel = other->k_panel;
  strategy.k_panel_most = other->k_panel_most;
  strategy.k_panel_once = other->k_panel_once;
  strategy.stripe = other->stripe;
  strategy.inverses = other->inverses;
  strategy.whole_a = other->whole_a;
  strategy.whole_b = other->whole_b;
  strategy.leading = other->leading;
  strategy.n_block_first = other->n_block_first;
  strategy.n_block = other->n_block;
  strategy.n_block_last = other->n_block_last;
  strategy.n_block_least = other->n_block_least;
  strategy.lazy = other->lazy;
  strategy.add_at_home = other->add_at_home;
  return strategy;
}

/* The limits of each family of operations, the more promising ones first. */
static const limit product_limits[] = {LIMIT_LINKS, LIMIT_KERNELS, LIMIT_EITHER, LIMIT_BOTH,
                                       LIMIT_PORT};
static const limit rank_limits[] = {LIMIT_BOTH, LIMIT_KERNELS, LIMIT_EITHER, LIMIT_LINKS,
                                    LIMIT_START};

int tsr_panels_for_limits(const tsr_search *s, const tsr_strategy *at,
                          tsr_strategy list[TSR_PANEL_LIMITS]) {
  bool is_rank = tsr_search_family(s) == TSR_RANK;
  const limit *limits = is_rank ? rank_limits : product_limits;
  int count = is_rank || tsr_search_is_resident(s) ? TSR_PANEL_LIMITS : TSR_PANEL_LIMITS - 1;
  tsr_strategy strategy = *at;
  for (int i = 0; i < count; i++) {
    cut_for(s, limits[i], &strategy);
    list[i] = strategy;
  }
  return count;
}

/* Sets wide stripes with k-panels, so that kernels begin with the first k-panel. In trmm all
 * stripes have k-panels: its C is read as well as written, and fills the links. In trsm the first
 * stripe has them: later ones find all of A, and sum over all that is solved at once. */
static void cut_k_panels(const tsr_search *s, int devices, tsr_strategy *strategy) {
  const tsr_call *call = s->call;
  bool in_place = tsr_is_in_place(call->operation), solves = call->operation == TSR_TRSM;
  int64_t order = order_of(call), lines = lines_of(call, devices);
  strategy->k_panel =
      tsr_guess_of((double)order, in_place ? TSR_TUNE_IN_PLACE_K : TSR_TUNE_STRIPES_K);
  strategy->k_panel_most =
      in_place ? strategy->k_panel : TSR_TUNE_STRIPES_GROWTH * strategy->k_panel;
  strategy->k_panel_once = !in_place || solves;
  strategy->stripe = tsr_guess_of((double)lines, solves     ? TSR_TUNE_IN_PLACE_WIDTH
                                                 : in_place ? TSR_TUNE_TRMM_WIDTH
                                                            : TSR_TUNE_STRIPES_K_WIDTH);
  int64_t block = strategy->block > 0 ? strategy->block : order;
  strategy->span = tsr_most(in_place ? 1 : strategy->span, TSR_TUNE_STRIPES_SPAN / block);
  strategy->n_block_least = solves     ? 0
                            : in_place ? TSR_TUNE_IN_PLACE_TAPER
                                       : TSR_TUNE_STRIPES_TAPER;
}

bool tsr_stripes_with_k_panels(const tsr_search *s, const tsr_strategy *at, tsr_strategy *made,
                               bool *first) {
  int devices = tsr_strategy_devices(at);
  double share = transfer_share(s, devices);
  *made = *at;
  *first = share > 0 && share < TSR_TUNE_AMPLE_LINKS;
  cut_k_panels(s, devices, made);
  return true;
}

bool tsr_panels_are_shared_anew(const tsr_search *s) {
  return tsr_search_family(s) == TSR_RANK && !tsr_call_is_staged(s->call);
}
