/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/sequence.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/tuning.h"

tsr_status tsr_sequence_init(tsr_sequence *q, const tsr_problem *problem, const tsr_copies *copies,
                             const tsr_availability *availability) {
  q->problem = problem;
  q->copies = copies;
  q->availability = availability;
  size_t room = problem->graph->groups.count + 1;
  q->storage = tsr_alloc(sizeof *q->storage * room);
  q->met = tsr_alloc(sizeof *q->met * room);
  return q->storage && q->met ? TSR_OK : tsr_problem_no_memory();
}

void tsr_sequence_free(tsr_sequence *q) {
  tsr_eta_order_free(&q->ordered);
  tsr_dealloc(q->storage);
  tsr_dealloc(q->met);
}

/* Gives each device's walk the groups of the device, in the order of the graph. */
static void give_groups(tsr_sequence *q) {
  const tsr_graph *graph = q->problem->graph;
  int count[TSR_MACHINE_DEVICES + 1] = {0};
  for (size_t i = 0; i < graph->groups.count; i++) count[graph->groups.items[i].device + 1]++;
  for (int d = 0; d < q->problem->devices; d++) {
    count[d + 1] += count[d];
    q->walk[d] = (tsr_walk){.groups = q->storage + count[d]};
  }
  for (size_t i = 0; i < graph->groups.count; i++) {
    tsr_walk *w = &q->walk[graph->groups.items[i].device];
    w->groups[w->count++] = (int32_t)i;
    q->met[i] = 0;
  }
  q->given_out = 0;
}

tsr_status tsr_sequence_rewind(tsr_sequence *q, bool tight) {
  q->next = 0;
  if (q->ordered.tasks == NULL && q->problem->options->by_eta &&
      tsr_eta_order_is_possible(q->problem))
    TSR_TRY(tsr_eta_order_make(q->problem, q->copies, tight, &q->ordered));
  q->tight = tight;
  q->turn = 0;
  give_groups(q);
  return TSR_OK;
}

/* ---- What a group needs --------------------------------------------------- */

enum { ALL_GIVEN_OUT = -1 };

static void note_given_out(tsr_sequence *q, size_t group) {
  q->met[group] = ALL_GIVEN_OUT;
  while (q->given_out < q->problem->graph->groups.count && q->met[q->given_out] == ALL_GIVEN_OUT)
    q->given_out++;
}

/* Needs are met in their order, so that each is looked at once, but for the one that is waited for.
 */
static bool is_ready(tsr_sequence *q, int32_t group) {
  const tsr_graph *graph = q->problem->graph;
  const tsr_group *g = &graph->groups.items[group];
  const int32_t *needs = graph->needs.items;
  if (g->all_before > q->given_out) return false;
  int32_t *met = &q->met[group];
  while ((size_t)*met < g->needed && q->met[needs[g->needs + (size_t)*met]] == ALL_GIVEN_OUT)
    ++*met;
  return (size_t)*met == g->needed;
}

/* ---- Which group ---------------------------------------------------------- */

/* The estimated time [s] at which all inputs of a group that its device lacks could arrive. */
static float group_eta(const tsr_sequence *q, const tsr_group *group) {
  const tsr_problem *problem = q->problem;
  double missing[TSR_B_ + 1] = {0}; /* bytes */
  float eta = 0;
  for (size_t t = group->first; t < group->first + group->count; t++)
    for (int i = 0; i < 2; i++) {
      const tsr_task_operand *read = &problem->graph->tasks.items[t].operand[i];
      if (!(read->access & TSR_READ)) continue;
      tsr_task_operand o = tsr_operand_source(problem, read);
      if (o.matrix > TSR_B_ || tsr_is_at_home(problem, o.matrix, group->device)) continue;
      if (tsr_copy_of(q->copies, o.matrix, o.tile, group->device)->pieces != TSR_NOTHING) continue;
      missing[o.matrix] += (double)o.rows * (double)o.cols * (double)problem->size[o.matrix];
    }
  for (int x = TSR_A; x <= TSR_B_; x++) {
    int home = problem->call->operand[x].location;
    tsr_segments one = {missing[x], 0};
    if (missing[x] > 0)
      eta = fmaxf(eta, tsr_link_arrival(q->availability, home, group->device, missing[x], one, 0));
  }
  return eta;
}

/* Moves the group with the least ETA among the next TSR_TUNE_ETA_WINDOW ones, if they are ready, to
 * the front. The first one is. */
static void choose_by_eta(tsr_sequence *q, tsr_walk *w) {
  const tsr_group *groups = q->problem->graph->groups.items;
  int best = w->next;
  float best_eta = 0;
  for (int i = w->next; i < w->count && i < w->next + TSR_TUNE_ETA_WINDOW; i++) {
    if (!is_ready(q, w->groups[i])) continue;
    float eta = group_eta(q, &groups[w->groups[i]]);
    if (i > w->next && eta >= best_eta) continue;
    best = i;
    best_eta = eta;
  }
  int32_t chosen = w->groups[best];
  memmove(&w->groups[w->next + 1], &w->groups[w->next],
          sizeof *w->groups * (size_t)(best - w->next));
  w->groups[w->next] = chosen;
}

static void begin_group(tsr_sequence *q, tsr_walk *w) {
  if (q->problem->options->by_eta && !q->tight && w->count - w->next > 1) choose_by_eta(q, w);
  w->group = &q->problem->graph->groups.items[w->groups[w->next++]];
  w->done = 0;
}

/* ---- Whose turn ----------------------------------------------------------- */

/* Whether the walk's device has a task now: of the group that has begun, or of the next one if it
 * is ready. */
static bool has_task(tsr_sequence *q, const tsr_walk *w) {
  return w->group != NULL || (w->next < w->count && is_ready(q, w->groups[w->next]));
}

static double least_clock(tsr_sequence *q) {
  double least = INFINITY;
  for (int d = 0; d < q->problem->devices; d++) {
    const tsr_walk *w = &q->walk[d];
    if (has_task(q, w)) least = fmin(least, w->clock);
  }
  return least;
}

/* The next device in turn whose last task began no later than another device's tasks end. If memory
 * is tight, every device takes its turn, since the lookahead of copies is counted in turns. */
static tsr_walk *next_walk(tsr_sequence *q) {
  double least = least_clock(q);
  for (int tried = 0; tried < q->problem->devices; tried++) {
    tsr_walk *w = &q->walk[q->turn];
    q->turn = (q->turn + 1) % q->problem->devices;
    if (has_task(q, w) && (q->tight || w->clock - w->last <= least)) return w;
  }
  return NULL;
}

/* Adds the time of a task to its device's clock, at the rate of long kernels: exact enough for an
 * order. */
static void advance_clock(const tsr_problem *problem, const tsr_task *task, tsr_walk *w) {
  const tsr_device *device = &problem->machine->device[task->device];
  tsr_type type = problem->call->type;
  double flops = tsr_kernel_flops((tsr_kernel)task->kernel, type, task->m, task->n, task->k);
  double rate = problem->machine->rates[tsr_type_index(type)].sustained *
                tsr_machine_speed(problem->machine, task->device, type);
  w->last = device->kernel_latency + (rate > 0 ? flops / rate : 0);
  w->clock += w->last;
}

const tsr_task *tsr_sequence_next(tsr_sequence *q) {
  if (q->ordered.tasks != NULL)
    return q->next < q->ordered.count ? &q->ordered.tasks[q->next++] : NULL;
  tsr_walk *w = next_walk(q);
  if (!w) return NULL;
  if (!w->group) begin_group(q, w);
  const tsr_graph *graph = q->problem->graph;
  const tsr_task *task = &graph->tasks.items[w->group->first + w->done++];
  if (w->done == w->group->count) {
    note_given_out(q, (size_t)(w->group - graph->groups.items));
    w->group = NULL;
  }
  advance_clock(q->problem, task, w);
  return task;
}
