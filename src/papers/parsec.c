/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "papers/parsec.h"

#include <math.h>

#include "base/thread.h"
#include "base/types.h"
#include "front/ask/read.h"
#include "papers/check.h"

/* The part of a device's memory that C may take: "we compute the values of b and c to ensure that
 * b x Gc tiles of C will occupy, say, three quarters of the memory of each GPU". */
static const double c_part = 0.75;

/* By how much that part shrinks where not even a chunk of one tile fits beside the block, which the
 * paper, whose devices have room for 2000 tiles, does not need. Ours: a fifth of it. */
static const double c_step = 0.15;

/* A question in tiles. */
typedef struct tiles {
  int64_t m, n, k;
  double slots;   /* tiles that a device has room for, */
  double c_slots; /* and of them, tiles of C */
  int devices;
} tiles;

static int64_t parts(int64_t extent, int64_t size) {
  return extent > 0 ? (extent + size - 1) / size : 1;
}

/* The extent of the parts if `extent` is cut into equal ones of at most `most`. */
static int64_t even(int64_t extent, int64_t most) {
  return parts(extent, parts(extent, most));
}

/* Columns of a block that one device has: the devices share them. */
static double of_device(const tiles *t, int64_t c) {
  return (double)parts(c, t->devices);
}

/* The most columns of a block with b rows that take no more than C's part of the memory. */
static int64_t widest(const tiles *t, int64_t b) {
  double each = floor(t->c_slots / (double)b);
  return each * t->devices < (double)t->n ? (int64_t)each * t->devices : t->n;
}

/* The extent of the largest square block that takes no more than C's part of the memory; at least
 * 1. A device has 1 / G of its columns, so b = sqrt(G part), and a little less where G does not
 * divide it. */
static int64_t square(const tiles *t) {
  int64_t b = (int64_t)fmin(sqrt(t->devices * t->c_slots), 0x1p40);
  while (b > 1 && (double)b * of_device(t, b) > t->c_slots) b--;
  return b > 1 ? b : 1;
}

/* All of C as one block if it fits (the cases a and c1), else even blocks that are about square
 * (c2). A matrix that is narrower than a square block has longer ones. */
static void set_block(const tiles *t, tsr_parsec_cut *cut) {
  cut->b = t->m;
  cut->c = t->n;
  if (cut->everything || (double)t->m * of_device(t, t->n) <= t->c_slots) return;
  int64_t side = square(t);
  if (t->m <= side) {
    int64_t c = widest(t, t->m);
    cut->c = even(t->n, c > 0 ? c : 1);
  } else if (t->n <= side) {
    cut->b = even(t->m, (int64_t)fmax(1, floor(t->c_slots / of_device(t, t->n))));
  } else {
    cut->b = even(t->m, side);
    cut->c = even(t->n, side);
  }
}

/* The deepest even chunks for which `sets` of them, of b d tiles of A and c d / G tiles of B each,
 * fit beside the block; 0: none fits. */
static int64_t depth(const tiles *t, const tsr_parsec_cut *cut, int sets) {
  double c = of_device(t, cut->c), left = t->slots - (double)cut->b * c;
  double most = floor(left / (sets * ((double)cut->b + c)));
  if (most < 1) return 0;
  return most < (double)t->k ? even(t->k, (int64_t)most) : t->k;
}

/* Whether A, B and C fit a device at once: the case (a). */
static bool all_fits(const tiles *t) {
  double n = of_device(t, t->n);
  return (double)t->m * (double)t->k + (double)t->k * n + (double)t->m * n <= t->slots;
}

bool tsr_parsec_choose(const tsr_parsec_question *q, tsr_parsec_cut *cut) {
  double tile = (double)q->tile * (double)q->tile * q->element;
  tiles t = {parts(q->rows, q->tile),
             parts(q->cols, q->tile),
             parts(q->k, q->tile),
             floor(q->memory / tile),
             0,
             q->devices};
  *cut = (tsr_parsec_cut){.tile = q->tile, .everything = all_fits(&t)};
  for (double part = c_part; cut->d == 0 && part > 0; part -= c_step) {
    t.c_slots = fmax(1, part * t.slots);
    set_block(&t, cut);
    cut->down = parts(t.m, cut->b);
    cut->across = parts(t.n, cut->c);
    bool several = cut->down * cut->across > 1;
    cut->lookahead = q->lookahead > 0 ? q->lookahead : several ? 2 : 1;
    cut->d = cut->everything ? t.k : depth(&t, cut, cut->lookahead + 1);
  }
  if (cut->d == 0) return false;
  cut->chunks = parts(t.k, cut->d);
  return true;
}

/* ---- For a context --------------------------------------------------------- */

static tsr_status check(const tsr_parsec_question *q, tsr_type type) {
  const int64_t values[] = {q->rows, q->cols, q->k, q->tile};
  static const char *const names[] = {"m", "n", "k", "tile"};
  for (int i = 0; i < 4; i++)
    if (values[i] < 1 || values[i] > TSR_PAPERS_MOST)
      return tsr_fail(TSR_ERR_ARGUMENT, "%s is %lld; give 1 to 2^40", names[i],
                      (long long)values[i]);
  if (tsr_type_get(type) == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "type is %d; give one of tsr_type", (int)type);
  if (q->lookahead < 0 || q->lookahead > 16)
    return tsr_fail(TSR_ERR_ARGUMENT, "lookahead is %d; give 0 to 16", q->lookahead);
  return TSR_OK;
}

/* Sets the number of devices, and the least of their budgets. */
static tsr_status read_budgets(const tsr_machine *machine, const size_t *budget, void *question) {
  tsr_parsec_question *q = question;
  TSR_TRY(tsr_papers_set_devices(machine, &q->devices));
  q->memory = INFINITY;
  for (int d = 0; d < q->devices; d++) q->memory = fmin(q->memory, (double)budget[d]);
  return TSR_OK;
}

TSR_ENTRY(tsr_plan_parsec, (context, type, m, n, k, tile, devices, lookahead, cut),
          tsr_context *context, tsr_type type, int64_t m, int64_t n, int64_t k, int64_t tile,
          int devices, int lookahead, tsr_parsec_cut *cut) {
  tsr_parsec_question q = {m, n, k, tile, devices, 0, 0, lookahead};
  tsr_parsec_cut found;
  TSR_TRY(tsr_papers_check_address("cut", cut));
  TSR_TRY(check(&q, type));
  TSR_TRY(tsr_context_read(context, read_budgets, &q));
  q.element = (double)tsr_type_get(type)->size;
  if (!tsr_parsec_choose(&q, &found))
    return tsr_fail(TSR_ERR_MEMORY,
                    "tiles of %lld do not fit: a device has %.0f bytes for one tile of C and %d "
                    "chunks of A and B; give smaller tiles, or more memory",
                    (long long)tile, q.memory, found.lookahead + 1);
  *cut = found;
  return TSR_OK;
}
