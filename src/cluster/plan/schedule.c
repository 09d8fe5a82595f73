/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/plan/schedule.h"

#include "base/alloc.h"

/* ---- Asking ---------------------------------------------------------------- */

int64_t tsr_cut_later(const tsr_cut *cut, int direction) {
  return cut->later[direction] > 0 ? cut->later[direction] : cut->block[direction];
}

int tsr_cut_blocks(const tsr_cut *cut, int direction, int64_t extent) {
  int64_t first = cut->block[direction], later = tsr_cut_later(cut, direction);
  return extent <= first ? extent > 0 : 1 + (int)((extent - first + later - 1) / later);
}

tsr_status tsr_cut_panels(const tsr_distribution *distribution, const tsr_cut *cut,
                          tsr_panels *panels) {
  int64_t first = cut->first > 0 ? cut->first : cut->depth;
  return tsr_panels_make(&distribution->k_a, &distribution->k_b, first, cut->depth, panels);
}

/* tsr_summa_schedule.prefetch for that many products. */
static int prefetch_of(const tsr_cut *cut, int64_t products) {
  return cut->lookahead < products ? cut->lookahead + 1 : (int)products;
}

int tsr_cut_slots(const tsr_cut *cut, int operand, int64_t panels, const int blocks[2]) {
  int64_t products = panels * blocks[0] * blocks[1], all = panels * blocks[operand];
  int64_t prefetch = prefetch_of(cut, products), slots = cut->held[operand];
  if (slots < prefetch) slots = prefetch;
  if (slots > all) slots = all;
  return slots < TSR_SLOTS_MOST ? (int)slots : TSR_SLOTS_MOST;
}

tsr_span tsr_cut_block(const tsr_cut *cut, int direction, int64_t extent, int32_t block) {
  int64_t first = cut->block[direction], later = tsr_cut_later(cut, direction);
  int64_t at = block == 0 ? 0 : first + (block - 1) * later;
  int64_t end = first + block * later;
  return (tsr_span){at < extent ? at : extent, end < extent ? end : extent};
}

tsr_span tsr_summa_block(const tsr_summa_schedule *s, int direction, int coordinate,
                         int32_t block) {
  const tsr_axis *axis = direction == 0 ? &s->distribution.rows : &s->distribution.cols;
  return tsr_cut_block(&s->cut, direction, tsr_axis_local(axis, coordinate), block);
}

/* ---- Making ---------------------------------------------------------------- */

/* The panel in a slot, -1: none. */
typedef struct slot {
  int32_t panel, block;
  int32_t sent;   /* the SEND step that filled it */
  int32_t reader; /* the number of the last product so far that reads it */
} slot;

/* A product, by its number in the order of products, with its block of C and its panel. The maker
 * goes through the products with two cursors: one sends their panels, and the other one, up to
 * `prefetch` products later, multiplies them. */
typedef struct cursor {
  int32_t number;
  int32_t block[2], panel;
} cursor;

typedef struct maker {
  tsr_summa_schedule *s;
  slot slot[2][TSR_SLOTS_MOST];
  int32_t at_slot[TSR_LOOKAHEAD_MOST + 1][2]; /* [ring_of(product)]: the slots of its panels */
  int32_t product[TSR_LOOKAHEAD_MOST + 1];    /* [ring_of(product)]: its MULTIPLY step */
  int32_t move[2];                            /* the MOVE step of each operand */
  int32_t write_back[2]; /* the last two WRITE_BACK steps, the last one first */
  cursor sending, multiplying;
  bool fits; /* no allocation has failed */
} maker;

static int32_t panels_of(const maker *m) {
  return (int32_t)m->s->panels.count;
}

/* Appends a step and returns its number. */
static int32_t add(maker *m, tsr_summa_step step) {
  m->fits = m->fits && TSR_VEC_PUSH(&m->s->steps, step);
  return (int32_t)m->s->steps.count - 1;
}

/* The panel of a product: the order of panels is reversed from one block to the next. */
static int32_t panel_at(const maker *m, const cursor *c) {
  int32_t block = c->number / panels_of(m), at = c->number % panels_of(m);
  return block % 2 == 0 ? at : panels_of(m) - 1 - at;
}

/* Sets a cursor to a product. Blocks go through the columns of blocks in order, and through the
 * rows of a column downwards and upwards in turn (serpentine order). */
static void place(const maker *m, int32_t number, cursor *c) {
  int32_t rows = m->s->blocks[0], block = number / panels_of(m);
  c->number = number;
  c->panel = panel_at(m, c);
  c->block[1] = block / rows;
  c->block[0] = c->block[1] % 2 == 0 ? block % rows : rows - 1 - block % rows;
}

/* The slot that contains the panel of a product already, or else the slot whose last reader is the
 * earliest. */
static int choose_slot(const maker *m, int operand, const cursor *c) {
  int oldest = 0;
  for (int i = 0; i < m->s->slots[operand]; i++) {
    const slot *x = &m->slot[operand][i];
    if (x->panel == c->panel && x->block == c->block[operand]) return i;
    if (x->reader < m->slot[operand][oldest].reader) oldest = i;
  }
  return oldest;
}

static int ring_of(const maker *m, int32_t number) {
  return (int)(number % m->s->prefetch);
}

/* The step that a product's messages wait for: the product that comes `prefetch` products before
 * it. With just enough slots, that product is the last reader of the slot. With more slots, the
 * wait keeps messages from running further ahead than the lookahead. */
static int32_t awaited_product(const maker *m, const cursor *c) {
  return c->number < m->s->prefetch ? TSR_NO_SUMMA_STEP : m->product[ring_of(m, c->number)];
}

/* Adds the SEND step of one operand of a product, unless its panel is in a slot already. */
static void send_operand(maker *m, int operand, const cursor *c) {
  int at = choose_slot(m, operand, c);
  slot *x = &m->slot[operand][at];
  if (x->panel != c->panel || x->block != c->block[operand]) {
    tsr_summa_step step = {.kind = TSR_SUMMA_SEND,
                           .operand = (uint8_t)operand,
                           .slot = {(int16_t)at, (int16_t)at},
                           .panel = c->panel,
                           .after = {awaited_product(m, c), m->move[operand], TSR_NO_SUMMA_STEP}};
    step.block[operand] = c->block[operand];
    *x = (slot){c->panel, c->block[operand], add(m, step), c->number};
  }
  x->reader = c->number;
  m->at_slot[ring_of(m, c->number)][operand] = at;
}

static void send_next(maker *m) {
  if (m->sending.number == m->s->products) return;
  place(m, m->sending.number, &m->sending);
  send_operand(m, TSR_SUMMA_A, &m->sending);
  send_operand(m, TSR_SUMMA_B, &m->sending);
  m->sending.number++;
}

/* The write-back that the first product of a block waits for: that of the last block, or of the one
 * before if the devices have memory for two blocks. */
static int32_t awaited_write_back(const maker *m, bool first) {
  if (!first) return TSR_NO_SUMMA_STEP;
  return m->write_back[m->s->cut.together ? 1 : 0];
}

static void multiply_next(maker *m) {
  place(m, m->multiplying.number, &m->multiplying);
  const cursor *c = &m->multiplying;
  int ring = ring_of(m, c->number);
  bool first = c->number % panels_of(m) == 0;
  const int32_t *at = m->at_slot[ring];
  tsr_summa_step step = {
      .kind = TSR_SUMMA_MULTIPLY,
      .first = first,
      .slot = {(int16_t)at[0], (int16_t)at[1]},
      .panel = c->panel,
      .block = {c->block[0], c->block[1]},
      .after = {m->slot[0][at[0]].sent, m->slot[1][at[1]].sent, awaited_write_back(m, first)}};
  m->product[ring] = add(m, step);
  m->multiplying.number++;
}

/* Adds the write-back of a block right after its last product. */
static void add_write_back(maker *m) {
  if (m->multiplying.number % panels_of(m) != 0) return;
  tsr_summa_step step = {
      .kind = TSR_SUMMA_WRITE_BACK,
      .block = {m->multiplying.block[0], m->multiplying.block[1]},
      .after = {(int32_t)m->s->steps.count - 1, TSR_NO_SUMMA_STEP, TSR_NO_SUMMA_STEP}};
  m->write_back[1] = m->write_back[0];
  m->write_back[0] = add(m, step);
}

/* Adds SEND steps for `prefetch` products, then in turn one MULTIPLY step and the SEND steps of one
 * more product. If panels share the network (!at_once), only the panels of the first product are
 * sent before it, so that they have the network to themselves; the others follow right after it.
 *
 * While a product is under way, the product before it may still be, too: the next panel takes that
 * one's slot once it is complete, and the next product waits for neither of these. */
static void make_steps(maker *m) {
  int first = m->s->cut.at_once ? m->s->prefetch : 1;
  for (int i = 0; i < first; i++) send_next(m);
  while (m->multiplying.number < m->s->products && m->fits) {
    multiply_next(m);
    add_write_back(m);
    int sends = m->multiplying.number == 1 ? m->s->prefetch - first : 1;
    for (int i = 0; i < sends; i++) send_next(m);
  }
}

static int64_t deepest(const tsr_panels *panels) {
  int64_t depth = 0;
  for (size_t t = 0; t < panels->count; t++)
    if (panels->items[t].depth > depth) depth = panels->items[t].depth;
  return depth;
}

static tsr_status fill(const bool moves[2], tsr_summa_schedule *s) {
  maker m = {.s = s,
             .move = {TSR_NO_SUMMA_STEP, TSR_NO_SUMMA_STEP},
             .write_back = {TSR_NO_SUMMA_STEP, TSR_NO_SUMMA_STEP},
             .fits = true};
  for (int operand = 0; operand < 2; operand++) {
    for (int i = 0; i < s->slots[operand]; i++)
      m.slot[operand][i] = (slot){-1, -1, TSR_NO_SUMMA_STEP, -1};
    if (moves[operand])
      m.move[operand] = add(
          &m, (tsr_summa_step){.kind = TSR_SUMMA_MOVE,
                               .operand = (uint8_t)operand,
                               .after = {TSR_NO_SUMMA_STEP, TSR_NO_SUMMA_STEP, TSR_NO_SUMMA_STEP}});
  }
  make_steps(&m);
  return m.fits ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for a schedule");
}

static void set_slots(tsr_summa_schedule *s, int64_t products) {
  s->prefetch = prefetch_of(&s->cut, products);
  for (int operand = 0; operand < 2; operand++)
    s->slots[operand] = tsr_cut_slots(&s->cut, operand, (int64_t)s->panels.count, s->blocks);
}

tsr_status tsr_summa_schedule_make(const tsr_distribution *distribution, const tsr_cut *cut,
                                   const bool moves[2], tsr_summa_schedule *schedule) {
  tsr_summa_schedule s = {.distribution = *distribution, .cut = *cut};
  TSR_TRY(tsr_cut_panels(distribution, cut, &s.panels));
  s.blocks[0] = tsr_cut_blocks(cut, 0, tsr_axis_most(&distribution->rows));
  s.blocks[1] = tsr_cut_blocks(cut, 1, tsr_axis_most(&distribution->cols));
  int64_t products = (int64_t)s.panels.count * s.blocks[0] * s.blocks[1];
  s.products = (int32_t)products;
  set_slots(&s, products);
  s.deepest = deepest(&s.panels);
  tsr_status status = products > INT32_MAX / 8
                          ? tsr_fail(TSR_ERR_MEMORY,
                                     "the schedule would have %lld products; set deeper panels or "
                                     "larger blocks with tsr_grid_set_panels and "
                                     "tsr_grid_set_blocks",
                                     (long long)products)
                          : fill(moves, &s);
  if (status == TSR_OK)
    *schedule = s;
  else
    tsr_summa_schedule_free(&s);
  return status;
}

void tsr_summa_schedule_free(tsr_summa_schedule *schedule) {
  tsr_panels_free(&schedule->panels);
  TSR_VEC_FREE(&schedule->steps);
}

/* ---- Digest ---------------------------------------------------------------- */

/* FNV-1a: the digest with a number added. */
static uint64_t mix(uint64_t digest, int64_t number) {
  for (int byte = 0; byte < 8; byte++)
    digest = (digest ^ ((uint64_t)number >> 8 * byte & 0xff)) * UINT64_C(1099511628211);
  return digest;
}

static uint64_t mix_step(uint64_t digest, const tsr_summa_step *step) {
  digest = mix(digest, step->kind | step->operand << 8 | step->first << 16);
  digest = mix(digest, (int64_t)step->slot[0] << 16 | step->slot[1]);
  digest = mix(digest, step->panel);
  digest = mix(mix(digest, step->block[0]), step->block[1]);
  for (int i = 0; i < TSR_SUMMA_WAITS; i++) digest = mix(digest, step->after[i]);
  return digest;
}

uint64_t tsr_summa_schedule_digest(const tsr_summa_schedule *s) {
  uint64_t digest = UINT64_C(14695981039346656037);
  const int64_t numbers[] = {s->cut.block[0], s->cut.block[1], s->cut.later[0], s->cut.later[1],
                             s->cut.depth,    s->prefetch,     s->slots[0],     s->slots[1]};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) digest = mix(digest, numbers[i]);
  for (size_t i = 0; i < s->panels.count; i++) {
    const tsr_panel *p = &s->panels.items[i];
    digest = mix(mix(mix(mix(digest, p->at), p->depth), p->row), p->col);
  }
  for (size_t i = 0; i < s->steps.count; i++) digest = mix_step(digest, &s->steps.items[i]);
  return digest;
}
