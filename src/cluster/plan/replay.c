/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/plan/replay.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/types.h"
#include "cluster/plan/model.h"
#include "cluster/tuning.h"

enum { FLOWS = 2 * (TSR_LOOKAHEAD_MOST + 1) };

/* A panel on its way, as this process sees it. Times are in s. */
typedef struct flow {
  int32_t step;    /* its SEND step */
  bool in, out;    /* this process receives it; this process passes it on */
  double left;     /* bytes still to come */
  double tail;     /* how long data takes from the root to this process */
  double earliest; /* it cannot be complete before: when its packing or upload ends */
} flow;

/* Times are in s. A resource's ..._free is the time until which it is busy. */
typedef struct replay {
  const tsr_summa_schedule *s;
  tsr_costs *costs;
  const int *me;
  int64_t own[2];      /* this process's rows and columns of C */
  const double *moved; /* bytes that this process sends if A, B is redistributed */
  double element;      /* bytes of an element */
  double now;          /* the time of the thread that goes through the steps */
  flow flow[FLOWS];    /* the panels on their way, oldest first */
  int flows;
  double links; /* the time up to which `left` of all flows is computed */
  double kernels_free, copies_free, write_back_free, moves_free;
  double *up_free[2]; /* [operand][i]: of the upload links of process i of this row of the grid (A),
                         of this column (B) */
  double last_kernels; /* how long the kernels of the last product take */
  double *end;         /* [step]: when it is complete; not yet known while its panel is a flow */
  tsr_interval *times;
  tsr_forecast f;
} replay;

/* Own rows or columns of a row or column of blocks. */
static int64_t extent_of(const replay *r, int direction, int32_t block) {
  tsr_span span = tsr_cut_block(&r->s->cut, direction, r->own[direction], block);
  return span.end - span.at;
}

/* ---- Messages ---------------------------------------------------------------- */

/* The rate of a flow, in bytes/s: all incoming flows share the bandwidth in equally, all outgoing
 * ones the bandwidth out. */
static double rate_of(const replay *r, const flow *f) {
  int in = 0, out = 0;
  for (int i = 0; i < r->flows; i++) {
    in += r->flow[i].in;
    out += r->flow[i].out;
  }
  int most = 1;
  if (f->in && in > most) most = in;
  if (f->out && out > most) most = out;
  return r->costs->bandwidth / most;
}

/* Flow i is complete: sets the end of its step and removes it. */
static void end_flow(replay *r, int i) {
  const flow *f = &r->flow[i];
  r->end[f->step] = fmax(r->links + f->tail, f->earliest);
  if (r->times != NULL) r->times[f->step].end = r->end[f->step];
  memmove(&r->flow[i], &r->flow[i + 1], (size_t)(--r->flows - i) * sizeof *r->flow);
}

/* carry_on() from device to device: panels are broadcast one after the other, and none before its
 * upload is complete. */
static void carry_in_order(replay *r, double until, int32_t step) {
  while (r->flows > 0 && r->links < until) {
    flow *f = &r->flow[0];
    int32_t ended = f->step;
    double end = fmax(r->links + f->left / r->costs->bandwidth, f->earliest);
    if (end > until) {
      f->left = fmax(0, f->left - (until - r->links) * r->costs->bandwidth);
      r->links = until;
      return;
    }
    r->links = end;
    end_flow(r, 0);
    if (ended == step) return;
  }
}

/* carry_on() by MPI: all panels share the network at the same time. */
static void carry_abreast(replay *r, double until, int32_t step) {
  while (r->flows > 0 && r->links < until) {
    int next = 0;
    double dt = INFINITY;
    for (int i = 0; i < r->flows; i++) {
      double left = r->flow[i].left / rate_of(r, &r->flow[i]);
      if (left < dt) dt = left, next = i;
    }
    bool ends = r->links + dt <= until;
    if (!ends) dt = until - r->links;
    for (int i = 0; i < r->flows; i++) r->flow[i].left -= dt * rate_of(r, &r->flow[i]);
    r->links += dt;
    int32_t ended = r->flow[next].step;
    if (ends) end_flow(r, next);
    if (ends && ended == step) return;
  }
}

/* Progresses all flows until time `until`, or until the flow of `step` is complete. */
static void carry_on(replay *r, double until, int32_t step) {
  (r->costs->host.up > 0 ? carry_in_order : carry_abreast)(r, until, step);
  if (r->flows == 0 && !isinf(until)) r->links = fmax(r->links, until);
}

/* Advances `now` to the end of a step. */
static void await(replay *r, int32_t step) {
  for (int i = 0; i < r->flows; i++)
    if (r->flow[i].step == step) {
      carry_on(r, INFINITY, step);
      break;
    }
  r->now = fmax(r->now, r->end[step]);
}

/* How many processes a panel passes from the root to this process. *line: the number of processes
 * of its broadcast. */
static int distance(const replay *r, const tsr_summa_step *step, int *line) {
  const tsr_panel *p = &r->s->panels.items[step->panel];
  bool is_a = step->operand == TSR_SUMMA_A;
  *line = is_a ? r->s->distribution.k_a.count : r->s->distribution.k_b.count;
  int me = r->me[is_a ? 1 : 0], root = is_a ? p->col : p->row;
  return (me - root + *line) % *line;
}

/* How many consecutive indices of k a column of B's panel has in memory. A panel's indices belong
 * to one pair of a process row (of B) and a process column (of A). If all k indices of that process
 * row belong to the same process column, they are contiguous over blocks; else only within a block.
 */
static int64_t run_in_k(const tsr_distribution *distribution, int64_t depth) {
  const tsr_axis *a = &distribution->k_a, *b = &distribution->k_b;
  bool regular = a->ends == NULL && b->ends == NULL;
  bool together = regular && a->block == b->block && b->count % a->count == 0;
  int64_t block = a->block < b->block ? a->block : b->block;
  return together || depth < block ? depth : block;
}

/* Bytes of the runs of a panel in the matrix. A's panel is copied in columns of the block's rows;
 * B's in columns of its indices of k. */
static double run_of(const replay *r, const tsr_summa_step *step) {
  bool is_a = step->operand == TSR_SUMMA_A;
  int64_t line = is_a ? extent_of(r, TSR_SUMMA_A, step->block[TSR_SUMMA_A])
                      : run_in_k(&r->s->distribution, r->s->panels.items[step->panel].depth);
  return (double)line * r->element;
}

/* Bytes from run to run: the least that the leading dimension of the root's part of A or B may be.
 * Processes plan alike, so that the leading dimensions, which only their processes know, do not
 * matter. */
static double pitch_of(const replay *r, const tsr_summa_step *step) {
  int64_t rows = step->operand == TSR_SUMMA_A
                     ? r->own[0]
                     : tsr_axis_local(&r->s->distribution.k_b, r->s->panels.items[step->panel].row);
  return (double)rows * r->element;
}

/* The number of processes among which panels of an operand are broadcast. */
static int line_of(const replay *r, int operand) {
  const tsr_distribution *distribution = &r->s->distribution;
  return operand == TSR_SUMMA_A ? distribution->k_a.count : distribution->k_b.count;
}

static void take_link(double *free_at, double from, double seconds) {
  *free_at = fmax(*free_at, from) + seconds;
}

/* Uploads a panel at its roots, and returns when the upload on this process's broadcast is
 * complete. A panel of A has one root in each row of the grid, all in one column. So the root in
 * this row is busy; and if this process is in the roots' column, all processes of its column are.
 * For B exchange rows and columns. */
static double upload_panel(replay *r, const tsr_summa_step *step, double seconds) {
  const tsr_panel *p = &r->s->panels.items[step->panel];
  bool is_a = step->operand == TSR_SUMMA_A;
  int root = is_a ? p->col : p->row, other = 1 - step->operand;
  double *link = &r->up_free[step->operand][root];
  take_link(link, r->now, seconds);
  for (int i = 0; root == r->me[is_a ? 1 : 0] && i < line_of(r, other); i++)
    take_link(&r->up_free[other][i], r->now, seconds);
  return *link;
}

/* The root's part of a message: the root packs the panel, or its link uploads it meanwhile. Returns
 * the earliest time at which the message can be complete. */
static double provide(replay *r, const tsr_summa_step *step, bool is_root, double bytes) {
  const tsr_costs *c = r->costs;
  if (c->host.up > 0)
    return upload_panel(r, step,
                        bytes / tsr_model_up(&c->host, run_of(r, step), pitch_of(r, step)));
  if (is_root) r->now += bytes / c->pack_rate;
  return r->now;
}

static void send(replay *r, int32_t at, const tsr_summa_step *step) {
  int line, place = distance(r, step, &line), operand = step->operand;
  double bytes = (double)extent_of(r, operand, step->block[operand]) *
                 (double)r->s->panels.items[step->panel].depth * r->element;
  double hop = r->costs->latency + fmin(bytes, TSR_TUNE_MESSAGE_SEGMENT) / r->costs->bandwidth;
  flow f = {
      .step = at,
      .in = place > 0,
      .out = place<line - 1, .left = bytes, .tail = line> 1 ? r->costs->latency + place * hop : 0};
  f.earliest = provide(r, step, place == 0, bytes);
  r->f.received += f.in ? bytes : 0;
  r->f.sent += f.out ? bytes : 0;
  if (f.in || f.out)
    r->flow[r->flows++] = f;
  else
    r->end[at] = f.earliest;
}

/* ---- Devices --------------------------------------------------------------------- */

/* Adds idle time of the devices before a product to fill, changing or starved. */
static void note_idle(replay *r, const tsr_summa_step *step, double seconds) {
  if (seconds < 1e-12) return; /* rounding */
  if (r->f.kernels == 0)
    r->f.fill += seconds;
  else if (step->first)
    r->f.changing += seconds;
  else
    r->f.starved += seconds;
}

static tsr_status cost_of(replay *r, const tsr_summa_step *step, int64_t depth,
                          tsr_accumulation *cost) {
  return tsr_costs_ask(r->costs, extent_of(r, 0, step->block[0]), extent_of(r, 1, step->block[1]),
                       depth, cost);
}

/* C is uploaded over the same links as panels, between their pieces: all links are busy for
 * `copies` s longer. */
static void take_links_up(replay *r, double begin, double copies) {
  for (int x = 0; x < 2; x++)
    for (int i = 0; i < line_of(r, x); i++) take_link(&r->up_free[x][i], begin, copies);
}

static tsr_status multiply(replay *r, int32_t at, const tsr_summa_step *step) {
  tsr_accumulation cost;
  TSR_TRY(cost_of(r, step, r->s->panels.items[step->panel].depth, &cost));
  const tsr_stage *stage = step->first ? &cost.first : &cost.next;
  double begin = fmax(r->now, r->copies_free);
  if (step->first) take_links_up(r, begin, stage->copies);
  double end = fmax(begin + stage->alone, r->kernels_free + stage->kernels);
  r->copies_free = begin + stage->copies;
  note_idle(r, step, fmax(0, end - stage->kernels - r->kernels_free));
  r->f.kernels += stage->kernels;
  r->last_kernels = stage->kernels;
  r->kernels_free = r->end[at] = end;
  if (r->times != NULL) r->times[at].begin = fmax(begin, end - stage->alone);
  return TSR_OK;
}

/* A block is written back tile by tile; the first tile as soon as the last product has computed it.
 */
static tsr_status write_back(replay *r, int32_t at, const tsr_summa_step *step) {
  tsr_accumulation cost;
  TSR_TRY(cost_of(r, step, r->s->deepest, &cost));
  double complete = r->end[step->after[0]], part = 1.0 / TSR_TUNE_WRITE_BACK_TILES;
  double begin = fmax(r->write_back_free, complete - (1 - part) * r->last_kernels);
  r->write_back_free = r->end[at] = fmax(begin + cost.home, complete + part * cost.home);
  if (r->times != NULL) r->times[at].begin = begin;
  return TSR_OK;
}

static void move(replay *r, int32_t at, const tsr_summa_step *step) {
  double bytes = r->moved[step->operand];
  double begin = fmax(r->now, r->moves_free);
  r->moves_free = r->end[at] =
      begin + bytes / r->costs->bandwidth + 2 * bytes / r->costs->pack_rate;
  r->f.received += bytes;
  r->f.sent += bytes;
}

/* ---- Going through ---------------------------------------------------------------- */

static tsr_status begin_step(replay *r, int32_t at) {
  const tsr_summa_step *step = &r->s->steps.items[at];
  for (int i = 0; i < TSR_SUMMA_WAITS; i++) {
    bool is_write_back = step->kind == TSR_SUMMA_WRITE_BACK; /* the devices order it themselves */
    if (step->after[i] != TSR_NO_SUMMA_STEP && !is_write_back) await(r, step->after[i]);
  }
  carry_on(r, r->now, TSR_NO_SUMMA_STEP);
  if (r->times != NULL) r->times[at].begin = r->now;
  switch ((tsr_summa_step_kind)step->kind) {
    case TSR_SUMMA_MOVE:
      move(r, at, step);
      break;
    case TSR_SUMMA_SEND:
      send(r, at, step);
      break;
    case TSR_SUMMA_MULTIPLY:
      TSR_TRY(multiply(r, at, step));
      break;
    case TSR_SUMMA_WRITE_BACK:
      TSR_TRY(write_back(r, at, step));
      break;
  }
  if (r->times != NULL) r->times[at].end = r->end[at];
  return TSR_OK;
}

static tsr_status go_through(replay *r) {
  for (int32_t at = 0; (size_t)at < r->s->steps.count; at++) TSR_TRY(begin_step(r, at));
  carry_on(r, INFINITY, TSR_NO_SUMMA_STEP);
  r->f.seconds = fmax(fmax(r->now, r->links), fmax(r->kernels_free, r->write_back_free));
  return TSR_OK;
}

tsr_status tsr_replay(const tsr_summa_schedule *schedule, tsr_costs *costs, const int me[2],
                      const double moved[2], tsr_forecast *forecast, tsr_interval *times) {
  replay r = {.s = schedule,
              .costs = costs,
              .me = me,
              .own = {tsr_axis_local(&schedule->distribution.rows, me[0]),
                      tsr_axis_local(&schedule->distribution.cols, me[1])},
              .moved = moved,
              .element = (double)tsr_type_get(costs->type)->size,
              .times = times};
  size_t steps = schedule->steps.count, cols = (size_t)line_of(&r, TSR_SUMMA_A);
  r.end = tsr_alloc_zero(steps + cols + (size_t)line_of(&r, TSR_SUMMA_B), sizeof *r.end);
  if (r.end == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a replay");
  r.up_free[TSR_SUMMA_A] = r.end + steps;
  r.up_free[TSR_SUMMA_B] = r.end + steps + cols;
  tsr_status status = go_through(&r);
  tsr_dealloc(r.end);
  if (status == TSR_OK) *forecast = r.f;
  return status;
}
