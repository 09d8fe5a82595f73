/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Verifies schedules; shares no code with what makes them. */
#include "base/alloc.h"
#include "cluster/plan/schedule.h"

/* A slot after the steps so far; sent, reader: the last steps that filled and read it. */
typedef struct filled_slot {
  int32_t panel, block, sent, reader;
} filled_slot;

/* A block of C after the steps so far. */
typedef struct block {
  int32_t products;
  int32_t written_back; /* the step, or TSR_NO_SUMMA_STEP */
} block;

typedef struct verifier {
  const tsr_summa_schedule *s;
  filled_slot slot[2][TSR_SLOTS_MOST];
  block *blocks;    /* rows x columns of blocks, column by column */
  bool *done;       /* [block][panel]: multiplied */
  int32_t moved[2]; /* the MOVE step of each operand, or TSR_NO_SUMMA_STEP */
} verifier;

static tsr_status wrong(int32_t at, const char *what) {
  return tsr_fail(
      TSR_ERR_CHECK,
      "the schedule across processes is wrong at step %d: %s (a fault of Tessera; report it)",
      (int)at, what);
}

/* ---- Panels ---------------------------------------------------------------- */

/* Whether the panels of a pair of a process column of A and a process row of B contain each index
 * of k that both own once, in order. */
static bool pair_is_covered(const tsr_summa_schedule *s, int col, int row) {
  const tsr_axis *a = &s->distribution.k_a, *b = &s->distribution.k_b;
  tsr_span span = {0, 0};
  for (size_t t = 0; t < s->panels.count; t++) {
    const tsr_panel *p = &s->panels.items[t];
    if (p->col != col || p->row != row) continue;
    int64_t left = p->depth;
    if (left < 1 || left > s->cut.depth || p->at < span.at) return false;
    for (bool first = true; left > 0; first = false) {
      if (!tsr_axis_common(a, col, b, row, a->extent, &span)) return false;
      if (first && span.at < p->at) return false;
      if (span.end - span.at > left) span.end = span.at + left;
      left -= span.end - span.at;
      span.at = span.end;
    }
  }
  return !tsr_axis_common(a, col, b, row, a->extent, &span);
}

static tsr_status check_panels(const tsr_summa_schedule *s) {
  for (int col = 0; col < s->distribution.k_a.count; col++)
    for (int row = 0; row < s->distribution.k_b.count; row++)
      if (!pair_is_covered(s, col, row))
        return tsr_fail(TSR_ERR_CHECK,
                        "the panels of process column %d and process row %d do not partition the "
                        "indices of k that both own",
                        col, row);
  return TSR_OK;
}

/* Blocks partition the own rows, and columns, of every process, and have no more than cut says. */
static tsr_status check_blocks(const tsr_summa_schedule *s) {
  for (int d = 0; d < 2; d++) {
    const tsr_axis *axis = d == 0 ? &s->distribution.rows : &s->distribution.cols;
    for (int i = 0; i < axis->count; i++) {
      int64_t at = 0;
      for (int32_t b = 0; b < s->blocks[d]; b++) {
        tsr_span span = tsr_summa_block(s, d, i, b);
        int64_t most = b > 0 && s->cut.later[d] > 0 ? s->cut.later[d] : s->cut.block[d];
        if (span.at != at || span.end - span.at > most || most > s->cut.block[d])
          return tsr_fail(TSR_ERR_CHECK, "blocks of C overlap, leave a gap or are too large");
        at = span.end;
      }
      if (at != tsr_axis_local(axis, i))
        return tsr_fail(TSR_ERR_CHECK, "blocks of C do not cover all of it");
    }
  }
  return TSR_OK;
}

/* ---- Steps ----------------------------------------------------------------- */

static bool waits_for(const tsr_summa_step *step, int32_t other) {
  for (int i = 0; i < TSR_SUMMA_WAITS; i++)
    if (step->after[i] == other) return true;
  return false;
}

static tsr_status check_waits(const verifier *v, int32_t at) {
  const tsr_summa_step *step = &v->s->steps.items[at];
  for (int i = 0; i < TSR_SUMMA_WAITS; i++)
    if (step->after[i] < TSR_NO_SUMMA_STEP || step->after[i] >= at)
      return wrong(at, "it waits for a step that does not come before it");
  return TSR_OK;
}

/* Whether a SEND step waits for the last reader of its slot, or for a later product: products
 * complete in order. */
static bool readers_are_done(const verifier *v, const tsr_summa_step *step,
                             const filled_slot *slot) {
  if (slot->sent == TSR_NO_SUMMA_STEP) return true;
  for (int i = 0; i < TSR_SUMMA_WAITS; i++)
    if (step->after[i] >= slot->reader && slot->reader != TSR_NO_SUMMA_STEP &&
        v->s->steps.items[step->after[i]].kind == TSR_SUMMA_MULTIPLY)
      return true;
  return false;
}

static bool is_slot(const verifier *v, int operand, int slot) {
  return slot >= 0 && slot < v->s->slots[operand];
}

static bool is_block(const verifier *v, int direction, int32_t number) {
  return number >= 0 && number < v->s->blocks[direction];
}

static tsr_status check_send(verifier *v, int32_t at) {
  const tsr_summa_step *step = &v->s->steps.items[at];
  int operand = step->operand;
  if (operand > 1 || !is_slot(v, operand, step->slot[0]) ||
      !is_block(v, operand, step->block[operand]) || step->panel < 0 ||
      (size_t)step->panel >= v->s->panels.count)
    return wrong(at, "it sends a panel or block that does not exist, or to no slot");
  filled_slot *slot = &v->slot[operand][step->slot[0]];
  if (!readers_are_done(v, step, slot))
    return wrong(at, "it overwrites a panel that is still read");
  if (v->moved[operand] != TSR_NO_SUMMA_STEP && !waits_for(step, v->moved[operand]))
    return wrong(at, "it does not wait for the redistribution of its operand");
  *slot = (filled_slot){step->panel, step->block[operand], at, TSR_NO_SUMMA_STEP};
  return TSR_OK;
}

/* How many blocks may be on the devices when a step begins: they have products, and the step does
 * not wait for their write-back or a later one. */
static int32_t blocks_there(const verifier *v, const tsr_summa_step *step) {
  int32_t there = 0;
  for (int32_t i = 0; i < v->s->blocks[0] * v->s->blocks[1]; i++) {
    const block *b = &v->blocks[i];
    bool gone = b->written_back != TSR_NO_SUMMA_STEP && step->after[2] >= b->written_back;
    there += b->products > 0 && !gone;
  }
  return there;
}

static tsr_status check_operands(verifier *v, int32_t at) {
  const tsr_summa_step *step = &v->s->steps.items[at];
  for (int operand = 0; operand < 2; operand++) {
    if (!is_slot(v, operand, step->slot[operand]) || !is_block(v, operand, step->block[operand]))
      return wrong(at, "it multiplies a slot or block that does not exist");
    filled_slot *slot = &v->slot[operand][step->slot[operand]];
    if (slot->panel != step->panel || slot->block != step->block[operand])
      return wrong(at, "its slot contains another panel");
    if (!waits_for(step, slot->sent)) return wrong(at, "it does not wait for its panel");
    slot->reader = at;
  }
  return TSR_OK;
}

static tsr_status check_multiply(verifier *v, int32_t at) {
  const tsr_summa_step *step = &v->s->steps.items[at];
  TSR_TRY(check_operands(v, at));
  int32_t number = step->block[0] + step->block[1] * v->s->blocks[0];
  block *b = &v->blocks[number];
  bool *done = &v->done[(size_t)number * v->s->panels.count + (size_t)step->panel];
  if (*done) return wrong(at, "it multiplies a panel a second time");
  if (b->written_back != TSR_NO_SUMMA_STEP) return wrong(at, "its block was written back already");
  if (step->first != (b->products == 0))
    return wrong(at, "beta is applied by another product than the first");
  *done = true;
  b->products++;
  if (step->first && blocks_there(v, step) > (v->s->cut.together ? 2 : 1))
    return wrong(at, "more blocks of C are on the devices than have memory there");
  return TSR_OK;
}

static tsr_status check_write_back(verifier *v, int32_t at) {
  const tsr_summa_step *step = &v->s->steps.items[at];
  if (!is_block(v, 0, step->block[0]) || !is_block(v, 1, step->block[1]))
    return wrong(at, "it writes back a block that does not exist");
  block *b = &v->blocks[step->block[0] + step->block[1] * v->s->blocks[0]];
  if (b->written_back != TSR_NO_SUMMA_STEP)
    return wrong(at, "its block is written back a second time");
  if ((size_t)b->products != v->s->panels.count) return wrong(at, "its block is not complete");
  b->written_back = at;
  return TSR_OK;
}

static tsr_status check_move(verifier *v, int32_t at) {
  int operand = v->s->steps.items[at].operand;
  if (operand > 1 || v->moved[operand] != TSR_NO_SUMMA_STEP)
    return wrong(at, "it moves an operand a second time");
  v->moved[operand] = at;
  for (int i = 0; i < v->s->slots[operand]; i++)
    if (v->slot[operand][i].sent != TSR_NO_SUMMA_STEP)
      return wrong(at, "the operand was sent before it moved");
  return TSR_OK;
}

static tsr_status check_step(verifier *v, int32_t at) {
  TSR_TRY(check_waits(v, at));
  switch ((tsr_summa_step_kind)v->s->steps.items[at].kind) {
    case TSR_SUMMA_MOVE:
      return check_move(v, at);
    case TSR_SUMMA_SEND:
      return check_send(v, at);
    case TSR_SUMMA_MULTIPLY:
      return check_multiply(v, at);
    case TSR_SUMMA_WRITE_BACK:
      return check_write_back(v, at);
  }
  return wrong(at, "its kind does not exist");
}

static tsr_status check_all(verifier *v) {
  const tsr_summa_schedule *s = v->s;
  for (int32_t at = 0; (size_t)at < s->steps.count; at++) TSR_TRY(check_step(v, at));
  for (int32_t i = 0; i < s->blocks[0] * s->blocks[1]; i++)
    if (v->blocks[i].written_back == TSR_NO_SUMMA_STEP && s->panels.count > 0)
      return tsr_fail(TSR_ERR_CHECK, "a block of C is never written back");
  return TSR_OK;
}

static void begin(verifier *v) {
  for (int operand = 0; operand < 2; operand++) {
    v->moved[operand] = TSR_NO_SUMMA_STEP;
    for (int i = 0; i < v->s->slots[operand]; i++)
      v->slot[operand][i] = (filled_slot){-1, -1, TSR_NO_SUMMA_STEP, TSR_NO_SUMMA_STEP};
  }
  for (int32_t i = 0; i < v->s->blocks[0] * v->s->blocks[1]; i++)
    v->blocks[i] = (block){0, TSR_NO_SUMMA_STEP};
}

tsr_status tsr_summa_schedule_verify(const tsr_summa_schedule *s) {
  size_t blocks = (size_t)s->blocks[0] * (size_t)s->blocks[1];
  verifier v = {.s = s};
  for (int operand = 0; operand < 2; operand++)
    if (s->slots[operand] > TSR_SLOTS_MOST)
      return tsr_fail(TSR_ERR_CHECK, "the schedule has more slots than TSR_SLOTS_MOST");
  TSR_TRY(check_panels(s));
  TSR_TRY(check_blocks(s));
  v.blocks = tsr_alloc((blocks + 1) * sizeof *v.blocks);
  v.done = tsr_alloc_zero(blocks * s->panels.count + 1, sizeof *v.done);
  tsr_status status = TSR_ERR_MEMORY;
  if (v.blocks != NULL && v.done != NULL) {
    begin(&v);
    status = check_all(&v);
  } else {
    tsr_fail(status, "no host memory to verify a schedule");
  }
  tsr_dealloc(v.blocks);
  tsr_dealloc(v.done);
  return status;
}
