/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "problem.h"

#include <stdio.h>
#include <string.h>

/* ---- The generator (splitmix64) ---- */

uint64_t rng_next(rng *r) {
  uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int64_t rng_between(rng *r, int64_t least, int64_t most) {
  return least + (int64_t)(rng_next(r) % (uint64_t)(most - least + 1));
}

double rng_unit(rng *r) {
  return (double)(rng_next(r) >> 11) * 0x1p-53;
}

static bool chance(rng *r, double p) {
  return rng_unit(r) < p;
}

static char pick(rng *r, const char *letters) {
  return letters[rng_between(r, 0, (int64_t)strlen(letters) - 1)];
}

/* Each power of two as likely as the next. */
static int64_t log_between(rng *r, int64_t least, int64_t most) {
  int64_t top = least;
  int steps = 0, step;
  for (int64_t v = least; v < most; v *= 2) ++steps;
  step = (int)rng_between(r, 0, steps > 0 ? steps - 1 : 0);
  for (int i = 0; i <= step; ++i) top = top * 2 < most ? top * 2 : most;
  return rng_between(r, step == 0 ? least : top / 2, top);
}

/* ---- Machines ---- */

/* Before and after the number of devices, and whether only devices of even distance reach each
 * other. Rates differ so that links bind in some, kernels in others; the third has no links between
 * devices; in the fifth, much goes by devices of the other socket; in the sixth, some reach
 * each other. */
static const struct {
  const char *before, *after;
  bool unlinked;
} machines[] = {
    {"host:200 gpu*", "@nvswitch:300 pcie:25/pair rate:19", false},
    {"host:200 gpu*", "@nvswitch:300 pcie:25 rate:0.5", false},
    {"host:40 gpu*", " pcie:12 rate:5", false},
    {"host:50 gpu*", "@nvswitch:20 pcie:12/pair rate:60", false},
    {"host*2:100 sockets:2 gpu*", "@nvswitch:300 pcie:25 rate:60", false},
    {"host:100 gpu*", "@pcie pcie:20 rate:10", true},
};

int problem_machines(void) {
  return (int)(sizeof machines / sizeof machines[0]);
}

const char *problem_machine(const problem *p, char *text, size_t room) {
  if (p->machine < 0) return NULL;
  int index = p->machine % problem_machines(), devices = p->devices > 0 ? p->devices : 1;
  size_t used = (size_t)snprintf(text, room, "%s%d%s", machines[index].before, devices,
                                 machines[index].after);
  const char *next = " unlinked:";
  for (int i = 0; machines[index].unlinked && i < devices; ++i)
    for (int j = i + 1; j < devices && used < room; j += 2, next = ",")
      used += (size_t)snprintf(text + used, room - used, "%s%d-%d", next, i, j);
  return text;
}

/* ---- Drawing ---- */

enum { KERNELS_FEW = 600, KERNELS_MANY = 20000, ORDER_MOST = 300 /* of a system */ };

static int64_t draw_extent(rng *r) {
  static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 31, 61, 67, 127, 131, 251, 257, 331};
  double u = rng_unit(r);
  if (u < 0.04) return 0;
  if (u < 0.12) return 1;
  if (u < 0.34) return primes[rng_between(r, 0, (int64_t)(sizeof primes / sizeof *primes) - 1)];
  if (u < 0.48) return 8 * rng_between(r, 1, 24);
  return log_between(r, 2, 300);
}

/* About how long the parts are in which a product is done, along m, n and k. */
static void parts_of(const problem *p, int64_t part[3]) {
  int k_panel, block, n_block[3];
  const char *blocks = strstr(p->strategy, ";block:");
  part[0] = part[1] = part[2] = p->tile > 0 ? p->tile : 1 << 20;
  if (sscanf(p->strategy, "kind:bands;tile:%d", &block) == 1) part[0] = part[1] = block;
  if (!blocks || sscanf(p->strategy, "kpanel:%d", &k_panel) != 1 ||
      sscanf(blocks, ";block:%d;nblock:%d,%d,%d", &block, &n_block[0], &n_block[1], &n_block[2]) !=
          4)
    return;
  for (int i = 0; i < 3; ++i)
    if (n_block[i] > 0 && n_block[i] < part[1]) part[1] = n_block[i];
  if (problem_kind_of(p) != KIND_PRODUCT || p->operation != TSR_GEMM)
    part[0] = part[2] = block;
  else if (k_panel > 0)
    part[2] = k_panel;
}

/* Small parts make many kernels: shrinks the longest extent until there are few enough. */
static void draw_fewer(const problem *p, int64_t limit, int64_t *const extent[3]) {
  int64_t part[3];
  parts_of(p, part);
  for (;;) {
    int64_t kernels = 1;
    int longest = 0;
    for (int i = 0; i < 3; ++i) {
      kernels *= (*extent[i] + part[i] - 1) / part[i];
      if (*extent[i] > *extent[longest]) longest = i;
    }
    if (kernels <= limit) break;
    *extent[longest] = *extent[longest] * 3 / 4;
  }
}

static void draw_shape(rng *r, problem *p) {
  int64_t *extent[3] = {&p->m, &p->n, &p->k};
  for (int i = 0; i < 3; ++i) *extent[i] = draw_extent(r);
  if (chance(r, 0.1)) { /* skinny: one long, one short */
    int longest = (int)rng_between(r, 0, 2);
    *extent[longest] = rng_between(r, 300, 900);
    *extent[(longest + 1) % 3] = rng_between(r, 1, 4);
  }
  int64_t *order = p->side == 'L' ? &p->m : &p->n;
  problem_kind kind = problem_kind_of(p);
  if (p->operation == TSR_TRSM && *order > ORDER_MOST) *order = ORDER_MOST;
  if (kind == KIND_FACTOR)
    extent[0] = extent[2] = &p->n;
  else if (kind == KIND_SYMMETRIC || kind == KIND_TRIANGULAR)
    extent[2] = order;
  else if (p->operation != TSR_GEMM)
    extent[0] = &p->n;
  draw_fewer(p, chance(r, 0.02) ? KERNELS_MANY : KERNELS_FEW, extent);
}

static const char *yes_or_no(bool yes) {
  return yes ? "yes" : "no";
}

/* Ways of cutting and ordering that the model would not choose for products this small. What only
 * works with memory to spare is drawn only there. */
static void draw_strategy(rng *r, problem *p) {
  static const char *const k_panels[] = {"0", "16", "32", "8,32", "64"};
  static const int n_blocks[][3] = {{0, 0, 0}, {16, 32, 8}, {7, 64, 33}, {64, 0, 16}, {1, 5, 2}};
  snprintf(p->strategy, sizeof p->strategy, "-");
  if (p->tile > 0 || p->repro || p->devices == 0 || chance(r, 0.3)) return;
  const char *k_panel = k_panels[rng_between(r, 0, 4)];
  int block = (int)log_between(r, 4, 128);
  const int *n_block = n_blocks[rng_between(r, 0, 4)];
  if (p->operation == TSR_GEMM && p->memory == 0 && chance(r, 0.1)) {
    snprintf(p->strategy, sizeof p->strategy, "kind:slices;kpanel:%s;add:%s;share:%d;piece:%d",
             k_panel, chance(r, 0.5) ? "home" : "owner", (int)rng_between(r, 50, 300),
             (int)log_between(r, 512, 65536));
    return;
  }
  if (p->operation == TSR_GEMM && p->moduli > 0 && chance(r, 0.3)) {
    snprintf(p->strategy, sizeof p->strategy,
             "kind:bands;tile:%d;cblock:1,%d;relay:%s;serpentine:%s;lookahead:%d;piece:%d",
             (int)log_between(r, 1, 64), (int)rng_between(r, 1, 4), yes_or_no(chance(r, 0.7)),
             yes_or_no(chance(r, 0.5)), (int)rng_between(r, 0, 300),
             (int)log_between(r, 512, 65536));
    return;
  }
  if (p->operation == TSR_GEMM && p->memory == 0 && chance(r, 0.1)) {
    snprintf(p->strategy, sizeof p->strategy,
             "kind:bands;tile:%d;held:%d;c:%s;add:%s;order:%s;relay:%s;serpentine:%s;lookahead:%d;"
             "piece:%d",
             (int)log_between(r, 8, 128), (int)rng_between(r, 0, 3),
             chance(r, 0.5) ? "first" : "last", chance(r, 0.5) ? "home" : "owner",
             chance(r, 0.5) ? "eta" : "given", yes_or_no(chance(r, 0.5)), yes_or_no(chance(r, 0.5)),
             (int)rng_between(r, 0, 300), (int)log_between(r, 512, 65536));
    return;
  }
  if (chance(r, 0.15)) { /* several block columns of a factorisation, of several panels */
    snprintf(p->strategy, sizeof p->strategy,
             "tile:%d;block:%d;span:%d;products:%s;relay:%s;piece:%d", (int)log_between(r, 8, 128),
             (int)log_between(r, 4, 64), chance(r, 0.5) ? (int)rng_between(r, 1, 4) : 1000,
             chance(r, 0.5) ? "early" : "late", yes_or_no(chance(r, 0.7)),
             (int)log_between(r, 512, 65536));
    return;
  }
  snprintf(p->strategy, sizeof p->strategy,
           "kpanel:%s;block:%d;nblock:%d,%d,%d;stripe:%d;taper:%d;c:%s;add:%s;share:%d;piece:%d"
           ";relay:%s;depth:%d;lookahead:%d;rows:%d;a:%s;b:%s;leading:%s;order:%s"
           ";kpanels:%s;inverses:%s;span:%d",
           k_panel, block, n_block[0], n_block[1], n_block[2], n_block[1], chance(r, 0.5) ? 4 : 0,
           chance(r, 0.5) ? "first" : "last", p->memory == 0 && chance(r, 0.5) ? "home" : "owner",
           (int)rng_between(r, 50, 300), (int)log_between(r, 512, 65536), yes_or_no(chance(r, 0.7)),
           (int)rng_between(r, 1, 3), (int)rng_between(r, 0, 200), (int)log_between(r, 1, 8),
           p->memory == 0 && chance(r, 0.3) ? "whole" : "parts",
           p->memory == 0 && chance(r, 0.3) ? "whole" : "parts", yes_or_no(chance(r, 0.4)),
           chance(r, 0.5) ? "eta" : "given", chance(r, 0.5) ? "all" : "first",
           chance(r, 0.6) ? "shared" : "each", (int)rng_between(r, 1, 4));
}

const char *problem_strategy(const problem *p, char text[PROBLEM_STRATEGY]) {
  char *to = text;
  if (strcmp(p->strategy, "-") == 0 || p->strategy[0] == 0) return NULL;
  to += sprintf(to, "any/");
  for (const char *c = p->strategy; *c; ++c) {
    *to++ = *c == ':' ? '=' : *c == ';' ? ' ' : *c;
    if (*c == ';') to += sprintf(to, "any/");
  }
  *to = '\0';
  return text;
}

/* Of a device. */
static size_t budget_of(const problem *p, int device) {
  return p->memory << (p->uneven ? 2 * (device % 3) : 0);
}

const char *problem_budgets(const problem *p, char text[PROBLEM_BUDGETS]) {
  if (!p->uneven || p->memory == 0) return NULL;
  int used = 0;
  for (int d = 0; d < p->devices; ++d)
    used += snprintf(text + used, (size_t)(PROBLEM_BUDGETS - used), "%s%zu", d ? "," : "",
                     budget_of(p, d));
  return text;
}

size_t problem_most_memory(const problem *p) {
  size_t most = 0;
  for (int d = 0; d < p->devices; ++d)
    if (budget_of(p, d) > most) most = budget_of(p, d);
  return most;
}

const char *problem_arithmetic(const problem *p, char text[PROBLEM_ARITHMETIC]) {
  if (p->digits == 0) return NULL;
  snprintf(text, PROBLEM_ARITHMETIC, "%s:1e-%d", p->faster ? "auto" : "emulated", p->digits);
  return text;
}

static void draw_context(rng *r, const problem_range *range, problem *p) {
  bool emulated = strcmp(range->engine, "host") == 0;
  snprintf(p->engine, sizeof p->engine, "%s", range->engine);
  p->devices = range->devices > 0 ? (int)rng_between(r, 1, range->devices) : 0;
  /* Where the hardware is real its measured machine is used half the time. */
  p->machine = range->devices > 0 && (emulated || chance(r, 0.5))
                   ? (int)rng_between(r, 0, problem_machines() - 1)
                   : PROBLEM_NO_MACHINE;
  p->tile = chance(r, 0.4) ? 0 : log_between(r, 1, 64);
  p->memory = chance(r, 0.5) ? 0 : (size_t)log_between(r, 2048, 4 << 20);
  p->moduli = chance(r, 0.25) ? (int)rng_between(r, 14, 16) : 0;
  /* With residues, budgets are drawn in which they fit together, and in which they do not. */
  if (p->moduli > 0 && p->memory > 0 && chance(r, 0.5))
    p->memory = (size_t)log_between(r, 65536, 4 << 20);
  p->check = chance(r, 0.85);
  p->repro = chance(r, 0.15);
  p->delay = emulated && chance(r, 0.5) ? 1 + rng_next(r) % 100000 : 0;
  draw_strategy(r, p);
  p->uneven = p->memory > 0 && p->devices > 1 && chance(r, 0.4);
  p->peer = !chance(r, 0.15);
}

/* Programs with the default modes are half of all. */
static void draw_modes(rng *r, problem *p) {
  p->modes = (float_modes){.round = 'n', .flags = (int)rng_between(r, 0, (1 << FLOAT_FLAGS) - 1)};
  if (chance(r, 0.5)) return;
  p->modes.round = pick(r, "nudz");
  p->modes.trap = chance(r, 0.5);
  p->modes.flush = chance(r, 0.3);
}

static char draw_home(rng *r, const problem *p) {
  double u = rng_unit(r);
  if (u < 0.3 || p->devices == 0) return HOME_HOST;
  if (u < 0.45) return HOME_PINNED;
  if (u < 0.55) return HOME_REGISTERED;
  if (u < 0.6) return HOME_PART;
  if (u < 0.65) return HOME_PART_REGISTERED;
  return (char)('0' + rng_between(r, 0, p->devices - 1));
}

/* GEMM in 45 of 100 problems, the others evenly. */
static void draw_operation(rng *r, const problem_range *range, problem *p) {
  p->operation = chance(r, 0.45) ? TSR_GEMM : (tsr_operation)rng_between(r, TSR_GEMMT, TSR_TRSM);
  if (range->operation != PROBLEM_ANY) p->operation = (tsr_operation)range->operation;
  p->side = pick(r, "LR");
  p->uplo = pick(r, "LU");
  p->diag = pick(r, "NU");
}

static void draw_call(rng *r, problem *p) {
  p->type = pick(r, "ssddddcczzhbt");
  p->layout = pick(r, "CCR");
  p->ta = pick(r, "NTC");
  p->tb = pick(r, "NTC");
  draw_shape(r, p);
  p->alpha = pick(r, "01-rrcccc11");
  p->beta = pick(r, "001-rrcc");
  p->alias = chance(r, 0.08);
  for (int i = 0; i < 3; ++i) {
    p->pad[i] = chance(r, 0.4) ? rng_between(r, 1, 9) : 0;
    p->home[i] = draw_home(r, p);
    p->offset[i] = chance(r, 0.3) ? rng_between(r, 1, 7) : 0;
  }
  problem_settle(p);
  if (p->alias) p->home[1] = p->home[0], p->offset[1] = p->offset[0];
}

static void draw_manner(rng *r, problem *p) {
  double u = rng_unit(r);
  p->mode = u < 0.66 ? MODE_BLOCKING : u < 0.83 ? MODE_ASYNC : MODE_PLAN;
  p->calls = p->sets = 1;
  if (p->mode == MODE_ASYNC) {
    p->calls = (int)rng_between(r, 2, 5);
    p->sets = (int)rng_between(r, 1, 2);
  } else if (p->mode == MODE_PLAN) {
    p->calls = p->sets = 2;
    /* A plan made without pointers knows pageable and pinned, but nothing between. */
    for (int i = 0; i < 3; ++i)
      if (p->home[i] == HOME_PART || p->home[i] == HOME_PART_REGISTERED) p->home[i] = HOME_HOST;
  } else if (chance(r, 0.1)) {
    p->calls = 3; /* the same call again: the cached plan */
  }
  u = rng_unit(r);
  p->threads = u < 0.85 ? THREADS_ONE : u < 0.94 ? THREADS_SHARED : THREADS_OWN;
  p->seed = rng_next(r) % 1000000;
}

/* Reproducible calls are refused if squares that the shape fixes do not fit the budget. In trmm and
 * trsm the accuracy is that of each product of blocks, not of the result. */
static void draw_accuracy(rng *r, problem *p) {
  if (p->repro || !problem_has_beta(p) || !chance(r, 0.2)) return;
  p->digits = (int)rng_between(r, 2, 16);
  p->faster = chance(r, 0.5);
}

/* More often where products may be emulated, whose judgement zeros concern. */
static void draw_zeros(rng *r, problem *p) {
  bool emulated = p->moduli > 0 || p->digits > 0;
  if (chance(r, emulated ? 0.4 : 0.05)) p->zeros = (int)rng_between(r, 40, 95);
}

/* One problem of 16 is a factorisation; of these one of three has no factor. */
static void draw_factor(rng *r, const problem_range *range, problem *p) {
  if (range->operation == PROBLEM_ANY && chance(r, 1.0 / 16))
    p->operation = (tsr_operation)PROBLEM_POTRF;
  if (chance(r, 0.33)) p->bad = rng_between(r, 1, chance(r, 0.5) ? 40 : 300);
}

void problem_draw(uint64_t seed, int64_t index, const problem_range *range, problem *p) {
  rng group = {seed * 0x100000001b3u + (uint64_t)(index / PROBLEM_GROUP)};
  rng own = {(seed + 1) * 0xd1342543de82ef95u + (uint64_t)index};
  rng operation = {(seed + 2) * 0xda942042e4dd58b5u + (uint64_t)index};
  rng modes = {(seed + 3) * 0xa0761d6478bd642fu + (uint64_t)(index / PROBLEM_GROUP)};
  rng factor = {(seed + 4) * 0x94d049bb133111ebu + (uint64_t)index};
  memset(p, 0, sizeof *p);
  rng_next(&factor);
  rng_next(&group), rng_next(&own), rng_next(&operation), rng_next(&modes);
  draw_context(&group, range, p);
  draw_modes(&modes, p);
  draw_operation(&operation, range, p);
  draw_factor(&factor, range, p);
  draw_call(&own, p);
  draw_manner(&own, p);
  draw_accuracy(&own, p);
  draw_zeros(&own, p);
  problem_settle(p);
}

bool problem_same_context(const problem *a, const problem *b) {
  return strcmp(a->engine, b->engine) == 0 && a->devices == b->devices &&
         a->machine == b->machine && a->memory == b->memory && a->uneven == b->uneven &&
         a->tile == b->tile && a->check == b->check && a->repro == b->repro && a->peer == b->peer &&
         a->moduli == b->moduli && a->delay == b->delay && a->modes.round == b->modes.round &&
         a->modes.trap == b->modes.trap && a->modes.flush == b->modes.flush &&
         a->modes.flags == b->modes.flags && strcmp(a->strategy, b->strategy) == 0;
}
