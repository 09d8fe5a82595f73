#include "cluster/schedule.h"

#include "base/alloc.h"

/* ---- Asking ---------------------------------------------------------------- */

int64_t tsr_cut_later(const tsr_cut *cut, int direction) {
  return cut->later[direction] > 0 ? cut->later[direction] : cut->block[direction];
}

int tsr_cut_blocks(const tsr_cut *cut, int direction, int64_t extent) {
  int64_t first = cut->block[direction], later = tsr_cut_later(cut, direction);
  return extent <= first ? extent > 0 : 1 + (int)((extent - first + later - 1) / later);
}

tsr_status tsr_cut_panels(const tsr_deal *deal, const tsr_cut *cut, tsr_panels *panels) {
  int64_t first = cut->first > 0 ? cut->first : cut->depth;
  return tsr_panels_make(&deal->k_a, &deal->k_b, first, cut->depth, panels);
}

/* Products for which panels are there or on their way. */
static int ahead_of(const tsr_cut *cut, int64_t products) {
  return cut->lookahead < products ? cut->lookahead + 1 : (int)products;
}

int tsr_cut_slots(const tsr_cut *cut, int operand, int64_t panels, const int blocks[2]) {
  int64_t products = panels * blocks[0] * blocks[1], all = panels * blocks[operand];
  int64_t ahead = ahead_of(cut, products), slots = cut->held[operand];
  if (slots < ahead) slots = ahead;
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
  const tsr_axis *axis = direction == 0 ? &s->deal.rows : &s->deal.cols;
  return tsr_cut_block(&s->cut, direction, tsr_axis_local(axis, coordinate), block);
}

/* ---- Making ---------------------------------------------------------------- */

/* What is in a slot, and who reads it last. */
typedef struct slot {
  int32_t panel, block;
  int32_t sent;   /* the step */
  int32_t reader; /* the last product that needs it, by number */
} slot;

/* The products, in order: this is gone through twice, ahead for what is sent and behind for what is
 * multiplied. */
typedef struct cursor {
  int32_t number; /* of the product */
  int32_t block[2], panel;
} cursor;

typedef struct maker {
  tsr_summa_schedule *s;
  slot slot[2][TSR_SLOTS_MOST];
  int32_t at_slot[TSR_LOOKAHEAD_MOST + 1][2]; /* where those to come find their panels */
  int32_t product[TSR_LOOKAHEAD_MOST + 1];    /* steps: the last products that there are so far, */
  int32_t move[2], home[2]; /* what moves operands, and the last two blocks that went home */
  cursor ahead, behind;
  bool fits;
} maker;

static int32_t panels_of(const maker *m) {
  return (int32_t)m->s->panels.count;
}

static int32_t add(maker *m, tsr_step step) {
  m->fits = m->fits && TSR_VEC_PUSH(&m->s->steps, step);
  return (int32_t)m->s->steps.count - 1;
}

/* Panels are gone through to and fro; so are rows of blocks, while columns go on. */
static int32_t panel_at(const maker *m, const cursor *c) {
  int32_t block = c->number / panels_of(m), at = c->number % panels_of(m);
  return block % 2 == 0 ? at : panels_of(m) - 1 - at;
}

static void place(const maker *m, int32_t number, cursor *c) {
  int32_t rows = m->s->blocks[0], block = number / panels_of(m);
  c->number = number;
  c->panel = panel_at(m, c);
  c->block[1] = block / rows;
  c->block[0] = c->block[1] % 2 == 0 ? block % rows : rows - 1 - block % rows;
}

/* A slot that holds it already, or the one that is needed no more for the longest time. */
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
  return (int)(number % m->s->ahead);
}

/* The product before those for which panels may be there: with fewer slots than that nothing reads
 * the slot any more, and with more nothing else would hold messages back. */
static int32_t pace_maker(const maker *m, const cursor *c) {
  return c->number < m->s->ahead ? TSR_NO_STEP : m->product[ring_of(m, c->number)];
}

/* One operand of the next product to come. */
static void send_operand(maker *m, int operand, const cursor *c) {
  int at = choose_slot(m, operand, c);
  slot *x = &m->slot[operand][at];
  if (x->panel != c->panel || x->block != c->block[operand]) {
    tsr_step step = {.kind = TSR_STEP_SEND,
                     .operand = (uint8_t)operand,
                     .slot = {(int16_t)at, (int16_t)at},
                     .panel = c->panel,
                     .after = {pace_maker(m, c), m->move[operand], TSR_NO_STEP}};
    step.block[operand] = c->block[operand];
    *x = (slot){c->panel, c->block[operand], add(m, step), c->number};
  }
  x->reader = c->number;
  m->at_slot[ring_of(m, c->number)][operand] = at;
}

static void send_next(maker *m) {
  if (m->ahead.number == m->s->products) return;
  place(m, m->ahead.number, &m->ahead);
  send_operand(m, TSR_STEP_A, &m->ahead);
  send_operand(m, TSR_STEP_B, &m->ahead);
  m->ahead.number++;
}

/* A block has no room until the one before it, or that before that, has gone. */
static int32_t room_maker(const maker *m, bool first) {
  if (!first) return TSR_NO_STEP;
  return m->home[m->s->cut.together ? 1 : 0];
}

static void multiply_next(maker *m) {
  place(m, m->behind.number, &m->behind);
  const cursor *c = &m->behind;
  int ring = ring_of(m, c->number);
  bool first = c->number % panels_of(m) == 0;
  const int32_t *at = m->at_slot[ring];
  tsr_step step = {.kind = TSR_STEP_MULTIPLY,
                   .first = first,
                   .slot = {(int16_t)at[0], (int16_t)at[1]},
                   .panel = c->panel,
                   .block = {c->block[0], c->block[1]},
                   .after = {m->slot[0][at[0]].sent, m->slot[1][at[1]].sent, room_maker(m, first)}};
  m->product[ring] = add(m, step);
  m->behind.number++;
}

/* Right behind the last product of a block. */
static void bring_home(maker *m) {
  if (m->behind.number % panels_of(m) != 0) return;
  tsr_step step = {.kind = TSR_STEP_HOME,
                   .block = {m->behind.block[0], m->behind.block[1]},
                   .after = {(int32_t)m->s->steps.count - 1, TSR_NO_STEP, TSR_NO_STEP}};
  m->home[1] = m->home[0];
  m->home[0] = add(m, step);
}

/* Where panels share a network the first one has that to itself. While a product is under way the
 * one before it may be, too: its slot takes the next panel when that one is done, and the next
 * product waits for neither. */
static void make_steps(maker *m) {
  int first = m->s->cut.at_once ? m->s->ahead : 1;
  for (int i = 0; i < first; i++) send_next(m);
  while (m->behind.number < m->s->products && m->fits) {
    multiply_next(m);
    bring_home(m);
    int sends = m->behind.number == 1 ? m->s->ahead - first : 1;
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
  maker m = {
      .s = s, .move = {TSR_NO_STEP, TSR_NO_STEP}, .home = {TSR_NO_STEP, TSR_NO_STEP}, .fits = true};
  for (int operand = 0; operand < 2; operand++) {
    for (int i = 0; i < s->slots[operand]; i++)
      m.slot[operand][i] = (slot){-1, -1, TSR_NO_STEP, -1};
    if (moves[operand])
      m.move[operand] = add(&m, (tsr_step){.kind = TSR_STEP_MOVE,
                                           .operand = (uint8_t)operand,
                                           .after = {TSR_NO_STEP, TSR_NO_STEP, TSR_NO_STEP}});
  }
  make_steps(&m);
  return m.fits ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for a schedule");
}

static void set_slots(tsr_summa_schedule *s, int64_t products) {
  s->ahead = ahead_of(&s->cut, products);
  for (int operand = 0; operand < 2; operand++)
    s->slots[operand] = tsr_cut_slots(&s->cut, operand, (int64_t)s->panels.count, s->blocks);
}

tsr_status tsr_summa_schedule_make(const tsr_deal *deal, const tsr_cut *cut, const bool moves[2],
                                   tsr_summa_schedule *schedule) {
  tsr_summa_schedule s = {.deal = *deal, .cut = *cut};
  TSR_TRY(tsr_cut_panels(deal, cut, &s.panels));
  s.blocks[0] = tsr_cut_blocks(cut, 0, tsr_axis_most(&deal->rows));
  s.blocks[1] = tsr_cut_blocks(cut, 1, tsr_axis_most(&deal->cols));
  int64_t products = (int64_t)s.panels.count * s.blocks[0] * s.blocks[1];
  s.products = (int32_t)products;
  set_slots(&s, products);
  s.deepest = deepest(&s.panels);
  tsr_status status = products > INT32_MAX / 8
                          ? tsr_fail(TSR_ERR_MEMORY,
                                     "a schedule of %lld products; set deeper panels or larger "
                                     "blocks with tsr_grid_set_panels and tsr_grid_set_blocks",
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

/* FNV-1a over numbers. */
static uint64_t mix(uint64_t digest, int64_t number) {
  for (int byte = 0; byte < 8; byte++)
    digest = (digest ^ ((uint64_t)number >> 8 * byte & 0xff)) * UINT64_C(1099511628211);
  return digest;
}

static uint64_t mix_step(uint64_t digest, const tsr_step *step) {
  digest = mix(digest, step->kind | step->operand << 8 | step->first << 16);
  digest = mix(digest, (int64_t)step->slot[0] << 16 | step->slot[1]);
  digest = mix(digest, step->panel);
  digest = mix(mix(digest, step->block[0]), step->block[1]);
  for (int i = 0; i < TSR_STEP_WAITS; i++) digest = mix(digest, step->after[i]);
  return digest;
}

uint64_t tsr_summa_schedule_digest(const tsr_summa_schedule *s) {
  uint64_t digest = UINT64_C(14695981039346656037);
  const int64_t numbers[] = {s->cut.block[0], s->cut.block[1], s->cut.later[0], s->cut.later[1],
                             s->cut.depth,    s->ahead,        s->slots[0],     s->slots[1]};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) digest = mix(digest, numbers[i]);
  for (size_t i = 0; i < s->panels.count; i++) {
    const tsr_panel *p = &s->panels.items[i];
    digest = mix(mix(mix(mix(digest, p->at), p->depth), p->row), p->col);
  }
  for (size_t i = 0; i < s->steps.count; i++) digest = mix_step(digest, &s->steps.items[i]);
  return digest;
}
