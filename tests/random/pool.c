/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "pool.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 200, COLUMNS = 220, MOST = 120 };

static size_t real_size(const pool *p) {
  return p->wide ? sizeof(double) : sizeof(float);
}

static int64_t reals_of(tsr_type type) {
  return type == TSR_C || type == TSR_Z ? 2 : 1;
}

/* ---- Memory ---- */

void *pool_at(const pool *p, int64_t offset, bool twin) {
  return (twin ? p->expected : p->ours) + offset * (int64_t)real_size(p);
}

double pool_number(const pool *p, int64_t offset, bool twin) {
  const void *at = pool_at(p, offset, twin);
  return p->wide ? *(const double *)at : (double)*(const float *)at;
}

static void put(const pool *p, int64_t offset, double value) {
  for (int twin = 0; twin < 2; ++twin)
    if (p->wide)
      *(double *)pool_at(p, offset, twin) = value;
    else
      *(float *)pool_at(p, offset, twin) = (float)value;
}

static void put_random(const pool *p, int64_t offset, rng *random) {
  put(p, offset, (2 * rng_unit(random) - 1) / MOST);
}

bool pool_make(tsr_context *context, bool wide, rng *random, pool *made) {
  pool p = {.wide = wide, .reals = SIDE * COLUMNS, .ld = SIDE, .at = context};
  size_t bytes = (size_t)p.reals * real_size(&p);
  void *memory = NULL;
  if (context == NULL)
    memory = malloc(bytes);
  else if (tsr_malloc(context, TSR_HOST, bytes, &memory) != TSR_OK)
    return false;
  p.ours = memory;
  p.expected = malloc(bytes);
  *made = p;
  if (p.ours == NULL || p.expected == NULL) return false;
  for (int64_t i = 0; i < p.reals; ++i) put_random(&p, i, random);
  return true;
}

void pool_free(pool *p) {
  if (p->at != NULL)
    tsr_free(p->at, p->ours);
  else
    free(p->ours);
  free(p->expected);
}

/* ---- Parts ---- */

static int64_t length(const part *x) {
  return ((x->slow - 1) * x->ld + x->fast) * reals_of(x->type);
}

/* Most parts lie on one grid, half of them on its multiples of 16; some have a leading dimension of
 * their own. */
bool pool_draw(const pool *p, tsr_type type, int64_t fast, int64_t slow, rng *random, part *drawn) {
  int64_t reals = reals_of(type), ld = p->ld / reals;
  bool odd = rng_between(random, 0, 5) == 0;
  if (odd) ld = fast + rng_between(random, 0, 40);
  *drawn = (part){type, 0, fast, slow, ld};
  int64_t room = p->reals - length(drawn);
  if (fast > ld || room < 0) return false;
  if (odd) {
    drawn->offset = rng_between(random, 0, room);
    return true;
  }
  int64_t row = rng_between(random, 0, ld - fast), columns = room / p->ld;
  int64_t column = rng_between(random, 0, columns), step = rng_between(random, 0, 1) ? 16 : 1;
  drawn->offset = (row / step * step) * reals + column / step * step * p->ld;
  return drawn->offset <= room;
}

static bool holds(const part *x, int64_t offset) {
  int64_t reals = reals_of(x->type), inside = offset - x->offset;
  if (inside < 0 || inside >= length(x)) return false;
  return inside % (x->ld * reals) < x->fast * reals;
}

bool pool_share(const pool *p, const part *a, const part *b) {
  int64_t reals = reals_of(a->type);
  (void)p;
  for (int64_t j = 0; j < a->slow; ++j)
    for (int64_t i = 0; i < a->fast * reals; ++i)
      if (holds(b, a->offset + j * a->ld * reals + i)) return true;
  return false;
}

void pool_change(pool *p, const part *x, rng *random) {
  int64_t reals = reals_of(x->type);
  for (int64_t j = 0; j < x->slow; ++j)
    for (int64_t i = 0; i < x->fast * reals; ++i)
      put_random(p, x->offset + j * x->ld * reals + i, random);
}

/* Its diagonal is larger than the sum of the others in its row, which are below 1 / (2 MOST). */
void pool_set_definite(pool *p, const part *x, rng *random) {
  int64_t reals = reals_of(x->type);
  for (int64_t j = 0; j < x->slow; ++j)
    for (int64_t i = j; i < x->fast; ++i)
      for (int64_t r = 0; r < reals; ++r) {
        int64_t below = x->offset + (i + j * x->ld) * reals + r;
        int64_t above = x->offset + (j + i * x->ld) * reals + r;
        double value = (2 * rng_unit(random) - 1) / (2 * reals * MOST);
        if (i == j) value = r == 0 ? 1 : 0;
        put(p, below, value);
        put(p, above, r == 0 ? value : -value);
      }
}

/* ---- Comparing ---- */

static double largest(const pool *p) {
  double most = 0;
  for (int64_t i = 0; i < p->reals; ++i) most = fmax(most, fabs(pool_number(p, i, true)));
  return most;
}

bool pool_equal(const pool *p, const part *x, int64_t *where) {
  double bound = largest(p) * (p->wide ? 1e-11 : 1e-3);
  for (int64_t i = 0; i < p->reals; ++i) {
    if (x != NULL && !holds(x, i)) continue;
    double off = fabs(pool_number(p, i, false) - pool_number(p, i, true));
    if (off <= bound) continue;
    *where = i;
    return false;
  }
  return true;
}
