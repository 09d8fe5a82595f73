/* Panels: what is guessed at first, and how parameters are changed one at a time. */
#include <math.h>
#include <stddef.h>

#include "plan/search.h"

/* ---- First guesses -------------------------------------------------------- */

static bool may_be_lazy(const tsr_search *s, const tsr_recipe *r) {
  if (tsr_search_family(s) == TSR_TRIANGLE) return false;
  return tsr_search_must_be_lazy(s, r) || s->options->reproducible ||
         (s->call->beta != TSR_ZERO && !tsr_call_scales_only(s->call));
}

void tsr_panels_set_lazy(const tsr_search *s, tsr_recipe *r) {
  const tsr_operand *o = s->call->operand;
  bool shares = o[TSR_C_].location == o[TSR_A].location || o[TSR_C_].location == o[TSR_B_].location;
  r->lazy = may_be_lazy(s, r) && (tsr_search_must_be_lazy(s, r) || shares);
}

/* How much of an operand in host memory has to come from there: what no device has yet. Of a C of
 * which a triangle is updated no device ever has the other one. */
static double part_at_home(const tsr_search *s, int x) {
  const tsr_residency *r = s->options->residency;
  const tsr_operand *o = &s->call->operand[x];
  double all = (double)o->rows * (double)o->cols, there = 0;
  if (x == TSR_C_ && tsr_search_family(s) == TSR_RANK) all /= 2;
  for (size_t i = 0; r != NULL && i < r->rooms.count; i++)
    if (r->rooms.items[i].matrix == x) there += tsr_rects_area(&r->rooms.items[i].valid);
  return there < all ? 1 - there / all : 0;
}

/* Seconds of transfers over seconds of kernels. */
static double transfer_share(const tsr_search *s, int devices) {
  double flops = tsr_call_flops(s->call), bytes = 0, link = 0;
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (s->call->operand[x].location >= s->machine->devices)
      bytes += part_at_home(s, x) * (double)tsr_operand_bytes(&s->call->operand[x], s->call->type);
  for (int i = 0; i < devices; i++) link += tsr_search_shared_rate(s, s->order[i], i);
  double rate = s->machine->rates[tsr_type_index(s->call->type)].sustained;
  return link > 0 && flops > 0 ? bytes / link * rate * devices / flops : 0;
}

void tsr_panels_guess_grid(const tsr_call *call, int devices, tsr_recipe *r) {
  /* Columns of C are contiguous: cut them unless C is flat. */
  bool flat = call->m > 4 * call->n;
  r->grid_rows = flat ? devices : 1;
  r->grid_cols = flat ? 1 : devices;
}

/* Each thread that stages has one piece under way and one in the ring that is being fetched. */
static int64_t share_of_ring(const tsr_search *s) {
  int threads = s->machine->lanes > 0 ? s->machine->lanes : 1;
  return tsr_power_of_two_near((double)s->options->ring / threads / 2, 256 << 10, 32 << 20);
}

/* Some tens of copies of each operand at a device: enough to keep the links busy side by side, few
 * enough that each one's start does not count. */
static int64_t guess_piece(const tsr_search *s, int devices) {
  const tsr_call *call = s->call;
  double bytes = 0;
  bool staged = false;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const tsr_operand *o = &call->operand[x];
    bytes += (double)tsr_operand_bytes(o, call->type);
    staged |= o->rows > 0 && (o->memory == TSR_PAGEABLE || o->memory == TSR_MANAGED);
  }
  int64_t piece = tsr_power_of_two_near(bytes / devices / 48, 4 << 20, 32 << 20);
  return staged && piece > share_of_ring(s) ? share_of_ring(s) : piece;
}

/* Blocks long enough for good kernels, and stripes narrow enough to begin before all of B is there.
 * trsm needs but one block to begin, and what it takes to solve one depends little on the lines:
 * with lines that are on devices already, one stripe does. */
static void guess_blocks(const tsr_search *s, int devices, tsr_recipe *r) {
  const tsr_call *call = s->call;
  bool left = call->side == TSR_LEFT, solves = call->operation == TSR_TRSM;
  bool composed = s->options->residency != NULL;
  int64_t order = left ? call->m : call->n, lines = (left ? call->n : call->m) / devices;
  r->block = tsr_power_of_two_near((double)order / (solves ? 32 : 8), 256, solves ? 1024 : 2048);
  r->chunk = tsr_power_of_two_near((double)lines / (solves ? 1 : 8), 256, 4096);
  if (composed && solves) r->chunk = lines + 256; /* devices' lines are about alike */
  r->span = tsr_power_of_two_near(fmin(4096, (double)order / 8) / (double)r->block, 1, 32);
  r->chunk_least = 0; /* a narrow stripe goes through all blocks, too */
}

/* Of what is summed, from whatever is left at home; few copies when it is on devices. */
static int64_t guess_composed_piece(const tsr_search *s, int devices) {
  double all = 0, at_home = 0;
  for (int x = TSR_A; x <= TSR_B_; x++) {
    double bytes = (double)tsr_operand_bytes(&s->call->operand[x], s->call->type);
    all += bytes;
    at_home += bytes * part_at_home(s, x);
  }
  if (at_home < all / 2) return 32 << 20;
  return tsr_power_of_two_near(at_home / devices / 48, 4 << 20, 32 << 20);
}

/* A composed call has little time to be planned in, so the first guess must be about right. When
 * its operands are on devices, mostly, it has no slab to wait for: one will do. Of a triangle of C
 * the blocks across the diagonal come and go with every call, so they are small. */
static bool guess_composed(const tsr_search *s, int devices, double columns, tsr_recipe *r) {
  static const int64_t longest_slab = 4096;
  bool is_rank = tsr_search_family(s) == TSR_RANK;
  if (s->options->residency == NULL || s->call->k > longest_slab) return false;
  if (!is_rank && transfer_share(s, devices) > 1) return false;
  r->piece = guess_composed_piece(s, devices);
  r->chunk_last = is_rank ? 256 : tsr_power_of_two_near(columns / 2, 256, 4096);
  r->chunk_first = r->chunk = r->chunk_last;
  return true;
}

tsr_recipe tsr_panels_guess(const tsr_search *s, int devices) {
  tsr_recipe r = {.streams = 1, .chunk_least = 128, .relay = true};
  tsr_panels_guess_grid(s->call, devices, &r);
  r.piece = guess_piece(s, devices);
  if (tsr_search_family(s) == TSR_TRIANGLE) {
    guess_blocks(s, devices, &r);
    return r;
  }
  double columns = (double)s->call->n / r.grid_cols;
  if (guess_composed(s, devices, columns, &r)) {
    r.slab = 0;
  } else if (transfer_share(s, devices) > 1) {
    r.chunk_first = r.chunk = r.chunk_last = tsr_power_of_two_near(columns / 6, 64, 1024);
  } else {
    r.slab = tsr_power_of_two_near((double)s->call->k / 24, 256, 1024);
    r.chunk_first = 1024;
    r.chunk = 4096;
    r.chunk_last = 1024;
  }
  tsr_panels_set_lazy(s, &r);
  return r;
}

/* ---- Steps ---------------------------------------------------------------- */

enum { STEPS = 10, OPTIONS = 8 };

/* Parameters that the search changes one at a time; a value of -1 ends a list. */
static const struct {
  size_t field;
  int64_t value[OPTIONS];
} steps[STEPS] = {
    {offsetof(tsr_recipe, slab), {0, 256, 512, 1024, 2048, 4096, -1}},
    {offsetof(tsr_recipe, slab_most), {0, 1024, 2048, 4096, 8192, -1}},
    {offsetof(tsr_recipe, chunk_last), {256, 512, 1024, 2048, 4096, 0, -1}},
    {offsetof(tsr_recipe, chunk_first), {512, 1024, 2048, 0, -1}},
    {offsetof(tsr_recipe, piece), {4 << 20, 8 << 20, 16 << 20, 32 << 20, -1}},
    {offsetof(tsr_recipe, span), {1, 2, 4, 8, 16, 32, -1}},
    {offsetof(tsr_recipe, block), {1024, 2048, 512, 4096, 256, -1}},
    {offsetof(tsr_recipe, chunk), {512, 1024, 2048, 4096, 8192, 0, -1}},
    {offsetof(tsr_recipe, chunk_least), {0, 128, 256, 512, -1}},
    {offsetof(tsr_recipe, home_share), {100, 112, 125, 150, 175, 200, 300, -1}},
};

/* A or B is at home on a device. */
static bool has_device_home(const tsr_search *s) {
  return tsr_is_device(s->machine, s->call->operand[TSR_A].location) ||
         tsr_is_device(s->machine, s->call->operand[TSR_B_].location);
}

/* Whether the family's panels depend on a parameter. Beside a triangle there are blocks and
 * stripes, else slabs; rank-k updates have the chunks of the last slab in all. */
static bool has_field(const tsr_search *s, size_t field) {
  bool is_block = field == offsetof(tsr_recipe, block) || field == offsetof(tsr_recipe, span);
  bool is_chunk = field == offsetof(tsr_recipe, chunk);
  bool is_any = field == offsetof(tsr_recipe, piece) || field == offsetof(tsr_recipe, chunk_least);
  switch (tsr_search_family(s)) {
    case TSR_TRIANGLE:
      return is_any || is_block || is_chunk;
    case TSR_RANK:
      return !is_block && !is_chunk && field != offsetof(tsr_recipe, chunk_first);
    default:
      return !is_block;
  }
}

static tsr_status try_value(tsr_search *s, size_t field, int64_t value, bool *better) {
  tsr_recipe r = s->best_recipe;
  int64_t *place = (int64_t *)((char *)&r + field);
  *better = false;
  if (*place == value || !has_field(s, field)) return TSR_OK;
  if (field == offsetof(tsr_recipe, slab_most) && (r.slab == 0 || value > s->call->k))
    return TSR_OK;
  if (field == offsetof(tsr_recipe, home_share) && !has_device_home(s)) return TSR_OK;
  *place = value;
  if (tsr_search_must_be_lazy(s, &r)) r.lazy = true;
  return tsr_search_try(s, &r, better);
}

static tsr_status try_order(tsr_search *s, bool *better) {
  tsr_recipe r = s->best_recipe;
  *better = false;
  if (r.tile == 0) return TSR_OK; /* a group for each device: there is one order */
  r.by_eta = !r.by_eta;
  return tsr_search_try(s, &r, better);
}

tsr_status tsr_search_other_lazy(tsr_search *s, bool *better) {
  tsr_recipe r = s->best_recipe;
  *better = false;
  r.lazy = !r.lazy;
  if ((r.lazy && !may_be_lazy(s, &r)) || (!r.lazy && tsr_search_must_be_lazy(s, &r))) return TSR_OK;
  return tsr_search_try(s, &r, better);
}

static tsr_status try_adder(tsr_search *s, bool *better) {
  tsr_recipe r = s->best_recipe;
  *better = false;
  if (!r.lazy || !tsr_is_device(s->machine, s->call->operand[TSR_C_].location)) return TSR_OK;
  r.add_at_home = !r.add_at_home;
  return tsr_search_try(s, &r, better);
}

static tsr_status try_grids(tsr_search *s, int devices, bool *better) {
  *better = false;
  if (s->mapping != NULL) return TSR_OK;
  if (tsr_search_family(s) != TSR_PRODUCT) return TSR_OK; /* their panels lie side by side */
  for (int rows = 1; rows <= devices && tsr_search_in_time(s); rows++) {
    if (devices % rows || rows == s->best_recipe.grid_rows) continue;
    tsr_recipe r = s->best_recipe;
    bool is_better;
    r.grid_rows = rows;
    r.grid_cols = devices / rows;
    TSR_TRY(tsr_search_try(s, &r, &is_better));
    *better |= is_better;
  }
  return TSR_OK;
}

/* Changes one parameter after the other while that helps and there is time. */
tsr_status tsr_panels_descend(tsr_search *s) {
  int devices = s->best->devices;
  bool any = true, better;
  while (any && tsr_search_in_time(s)) {
    any = false;
    TSR_TRY(try_grids(s, devices, &better));
    any |= better;
    for (int i = 0; i < STEPS && s->best_recipe.tile == 0; i++)
      for (int v = 0; v < OPTIONS && steps[i].value[v] >= 0 && tsr_search_in_time(s); v++) {
        TSR_TRY(try_value(s, steps[i].field, steps[i].value[v], &better));
        any |= better;
      }
    TSR_TRY(try_order(s, &better));
    any |= better;
    TSR_TRY(tsr_search_other_lazy(s, &better));
    any |= better;
    TSR_TRY(try_adder(s, &better));
    any |= better;
  }
  return TSR_OK;
}
