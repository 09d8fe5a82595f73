/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/eta_order.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "blas/family.h"
#include "plan/schedule/availability.h"
#include "plan/tuning.h"

/* The products of one tile of C. */
typedef struct chain {
  int32_t first;       /* the task that begins the sum in the graph; TSR_NOTHING: none */
  int32_t addition;    /* the task that adds C to the sum; TSR_NOTHING: none */
  int32_t count, done; /* products */
} chain;

/* A device's way through its products. */
typedef struct way {
  int32_t *task;     /* the products that are left, in the order of the graph */
  int count, window; /* how many are left; among how many of them the next is chosen */
  double clock;      /* s: the end of the last one */
} way;

typedef struct maker {
  const tsr_problem *problem;
  const tsr_copies *copies;
  const tsr_task *tasks;
  bool tight;
  tsr_availability links;
  chain *chains;       /* by tile of C */
  int32_t *group;      /* the group of each task */
  int32_t *storage;    /* the tasks of all ways */
  uint32_t *holders;   /* [tile of all matrices] the devices that have it or will, as bits */
  float *eta, *begin;  /* [as copies->items] s: the tile is there, INFINITY: it is not on its way;
                          its  first piece is there */
  int32_t *waiting;    /* [as copies->items] products of the device that lack only this tile */
  int32_t *user_first; /* [as copies->items + 1] first user of each copy in `users` */
  int32_t *users;      /* products by copy of A or B */
  way ways[TSR_MACHINE_DEVICES];
  tsr_eta_order *made;
} maker;

/* ---- What can be ordered --------------------------------------------------- */

static bool is_product(const tsr_task *task) {
  return task->kernel == TSR_KERNEL_GEMM;
}

static bool is_whole_tile(const tsr_problem *problem, const tsr_task_operand *o) {
  tsr_rect tile = tsr_tile_rect(problem, o->matrix, o->tile);
  return tsr_rect_contains(tsr_operand_rect(o), tile);
}

bool tsr_eta_order_is_possible(const tsr_problem *problem) {
  const tsr_graph *graph = problem->graph;
  if (tsr_family_of(problem->call->operation) != TSR_PRODUCT || !tsr_graph_is_free(graph) ||
      tsr_call_has_form(problem->call) || problem->options->residency != NULL)
    return false;
  for (size_t i = 0; i < graph->tasks.count; i++) {
    const tsr_task *task = &graph->tasks.items[i];
    if ((!is_product(task) && task->kernel != TSR_KERNEL_ADD) ||
        !is_whole_tile(problem, &task->operand[2]))
      return false;
  }
  return true;
}

/* ---- Setting up ------------------------------------------------------------ */

static size_t index_of(const maker *m, const tsr_task_operand *o, int device) {
  return m->copies->first[o->matrix] + (size_t)o->tile * m->copies->devices + (size_t)device;
}

static uint32_t *holders_of(const maker *m, const tsr_task_operand *o) {
  return &m->holders[m->copies->first[o->matrix] / m->copies->devices + (size_t)o->tile];
}

static tsr_status allocate(maker *m) {
  const tsr_graph *graph = m->problem->graph;
  const tsr_tile_grid *c = &graph->grid[TSR_C_];
  size_t tiles = (size_t)c->rows.count * (size_t)c->cols.count;
  size_t copies = m->copies->first[TSR_MATRICES], tasks = graph->tasks.count;
  m->chains = tsr_alloc((tiles + 1) * sizeof *m->chains);
  m->storage = tsr_alloc((tasks + 1) * sizeof *m->storage);
  m->group = tsr_alloc((tasks + 1) * sizeof *m->group);
  m->eta = tsr_alloc((copies + 1) * sizeof *m->eta);
  m->holders = tsr_alloc_zero(copies / m->copies->devices + 1, sizeof *m->holders);
  m->begin = tsr_alloc_zero(copies + 1, sizeof *m->begin);
  m->waiting = tsr_alloc_zero(copies + 1, sizeof *m->waiting);
  m->user_first = tsr_alloc_zero(copies + 2, sizeof *m->user_first);
  m->users = tsr_alloc((2 * tasks + 1) * sizeof *m->users);
  m->made->tasks = tsr_alloc((tasks + 1) * sizeof *m->made->tasks);
  if (!m->chains || !m->storage || !m->group || !m->holders || !m->eta || !m->begin ||
      !m->waiting || !m->user_first || !m->users || !m->made->tasks)
    return tsr_problem_no_memory();
  for (size_t i = 0; i < tiles; i++) m->chains[i] = (chain){TSR_NOTHING, TSR_NOTHING, 0, 0};
  for (size_t i = 0; i < copies; i++) m->eta[i] = INFINITY;
  return tsr_availability_init(&m->links, m->problem);
}

static void release(maker *m) {
  tsr_availability_free(&m->links);
  tsr_dealloc(m->chains);
  tsr_dealloc(m->storage);
  tsr_dealloc(m->group);
  tsr_dealloc(m->holders);
  tsr_dealloc(m->eta);
  tsr_dealloc(m->begin);
  tsr_dealloc(m->waiting);
  tsr_dealloc(m->user_first);
  tsr_dealloc(m->users);
}

static chain *chain_of(const maker *m, const tsr_task *task) {
  return &m->chains[task->operand[2].tile];
}

/* Notes the group of each task, the chains, and the products of each device. */
static void list_products(maker *m) {
  const tsr_graph *graph = m->problem->graph;
  int count[TSR_MACHINE_DEVICES + 1] = {0};
  for (size_t g = 0; g < graph->groups.count; g++)
    for (size_t i = 0; i < graph->groups.items[g].count; i++)
      m->group[graph->groups.items[g].first + i] = (int32_t)g;
  for (size_t i = 0; i < graph->tasks.count; i++) count[m->tasks[i].device + 1]++;
  for (int d = 0; d < m->problem->devices; d++) {
    count[d + 1] += count[d];
    m->ways[d].task = m->storage + count[d];
  }
  for (size_t i = 0; i < graph->tasks.count; i++) {
    const tsr_task *task = &m->tasks[i];
    chain *c = chain_of(m, task);
    if (!is_product(task)) {
      c->addition = (int32_t)i;
      continue;
    }
    if (c->first == TSR_NOTHING) c->first = (int32_t)i;
    c->count++;
    m->ways[task->device].task[m->ways[task->device].count++] = (int32_t)i;
  }
}

/* Lists the products that use each copy of a tile of A or B. */
static void list_users(maker *m) {
  size_t tasks = m->problem->graph->tasks.count, copies = m->copies->first[TSR_MATRICES];
  for (int filling = 0; filling < 2; filling++) {
    for (size_t i = 0; i < tasks; i++)
      for (int x = 0; x < 2 && is_product(&m->tasks[i]); x++) {
        size_t at = index_of(m, &m->tasks[i].operand[x], m->tasks[i].device);
        if (filling)
          m->users[m->user_first[at]++] = (int32_t)i;
        else
          m->user_first[at + 1]++;
      }
    for (size_t i = 0; i < copies && !filling; i++) m->user_first[i + 1] += m->user_first[i];
  }
  for (size_t i = copies; i > 0; i--) m->user_first[i] = m->user_first[i - 1];
  m->user_first[0] = 0;
}

/* Where memory is tight, a device chooses among the products that copies run ahead for. */
static void set_windows(maker *m) {
  int devices = 0;
  for (int d = 0; d < m->problem->devices; d++) devices += m->ways[d].count > 0;
  for (int d = 0; d < m->problem->devices; d++) {
    int64_t ahead = devices > 0 ? m->problem->options->lookahead[d] / devices : 0;
    m->ways[d].window = m->tight && ahead < TSR_TUNE_ETA_WINDOW ? (int)ahead : TSR_TUNE_ETA_WINDOW;
    if (m->ways[d].window < 1) m->ways[d].window = 1;
  }
}

/* ---- Arrivals -------------------------------------------------------------- */

static tsr_transfer transfer_of(const maker *m, const tsr_task_operand *o) {
  size_t size = m->problem->size[o->matrix];
  return (tsr_transfer){.matrix = o->matrix,
                        .tile = o->tile,
                        .bytes = (double)o->rows * (double)o->cols * (double)size,
                        .segments = tsr_segments_of(m->problem, o->matrix, o->rows)};
}

/* A source of a tile, and when the tile arrives from there, s. */
typedef struct source {
  int location;
  float ready, when;
} source;

/* The source from which a tile arrives first: its home or a device that has it. A copy that is
 * still on its way is passed on piece by piece. */
static source best_source(const maker *m, const tsr_task_operand *o, int to) {
  tsr_transfer t = transfer_of(m, o);
  int home = m->problem->call->operand[o->matrix].location;
  source best = {home, 0, tsr_route_arrival(&m->links, &t, home, to, 0)};
  uint32_t holders = *holders_of(m, o) & m->problem->options->policy.senders;
  for (int d = 0; holders >> d != 0; d++) {
    if (d == to || !(holders >> d & 1)) continue;
    size_t at = index_of(m, o, d);
    float when = tsr_route_arrival(&m->links, &t, d, to, m->begin[at]);
    if (when < m->eta[at]) when = m->eta[at];
    if (when < best.when) best = (source){d, m->begin[at], when};
  }
  return best;
}

static bool is_there(const maker *m, const tsr_task_operand *o, int device) {
  return tsr_is_at_home(m->problem, o->matrix, device) || (*holders_of(m, o) >> device & 1);
}

/* The operands that a product must fetch: A and B, and C if it begins the sum with it. */
static bool reads(const maker *m, const tsr_task *task, int x) {
  if (x < 2) return true;
  const chain *c = chain_of(m, task);
  const tsr_task_operand *o = &m->tasks[c->first].operand[2];
  return c->done == 0 && o->matrix == TSR_C_ && (o->access & TSR_READ);
}

/* Estimates of one turn of a device: tiles that no device has arrive alike. */
typedef struct estimates {
  float home[TSR_OPERANDS]; /* arrival from home, s; negative: not asked for yet */
} estimates;

static float arrival_of(const maker *m, const tsr_task_operand *o, int device, estimates *e) {
  if (*holders_of(m, o) != 0) return best_source(m, o, device).when;
  if (e->home[o->matrix] < 0) e->home[o->matrix] = best_source(m, o, device).when;
  return e->home[o->matrix];
}

/* When a product could start, s; tiles from one home come one after another. *key: the copy of its
 * only missing tile; SIZE_MAX: it lacks none, or several. */
static double start_of(const maker *m, const tsr_task *task, estimates *e, size_t *key) {
  double start = 0, behind = 0;
  int missing = 0, device = task->device, other = TSR_NOTHING;
  *key = SIZE_MAX;
  for (int x = 0; x < 3; x++) {
    const tsr_task_operand *o = &task->operand[x];
    int home = m->problem->call->operand[o->matrix % TSR_OPERANDS].location;
    if (!reads(m, task, x) || tsr_is_at_home(m->problem, o->matrix, device)) continue;
    size_t at = index_of(m, o, device);
    bool there = *holders_of(m, o) >> device & 1;
    start = fmax(start, there ? m->eta[at] : arrival_of(m, o, device, e));
    if (there) continue;
    if (missing++ > 0 && home == other)
      behind += transfer_of(m, o).bytes / tsr_route_bandwidth(&m->links, home, device);
    other = home;
    *key = missing == 1 ? at : SIZE_MAX;
  }
  return start + behind;
}

/* ---- Choosing and booking --------------------------------------------------- */

/* The place in the device's list of the product that can start first. */
static int choose(const maker *m, const way *w) {
  estimates e = {{-1, -1, -1}};
  int best = 0, most = -1;
  double least = INFINITY;
  int window = w->count < w->window ? w->count : w->window;
  for (int i = 0; i < window; i++) {
    size_t key;
    if (m->tight && m->group[w->task[i]] != m->group[w->task[0]]) break;
    double start = fmax(w->clock, start_of(m, &m->tasks[w->task[i]], &e, &key));
    int others = key == SIZE_MAX ? 0 : m->waiting[key];
    if (start > least || (start == least && others <= most)) continue;
    best = i;
    least = start;
    most = others;
    if (start <= w->clock && key == SIZE_MAX) break; /* nothing is missing, nothing starts sooner */
  }
  return best;
}

/* Notes that a tile will be at a device: products that lack one tile now wait for that one alone.
 */
static void note_arrival(maker *m, const tsr_task_operand *o, int device, source from) {
  size_t at = index_of(m, o, device);
  tsr_transfer t = transfer_of(m, o);
  double pieces = fmax(1, t.bytes / (double)m->problem->options->piece);
  tsr_route_occupy(&m->links, &t, from.location, device, from.ready, from.when);
  m->eta[at] = from.when;
  *holders_of(m, o) |= 1u << device;
  float began =
      from.when - (float)(t.bytes / tsr_route_bandwidth(&m->links, from.location, device));
  m->begin[at] = began + (from.when - began) / (float)pieces;
  if (o->matrix > TSR_B_) return;
  for (int32_t u = m->user_first[at]; u < m->user_first[at + 1]; u++) {
    const tsr_task *user = &m->tasks[m->users[u]];
    const tsr_task_operand *other = &user->operand[o->matrix == user->operand[0].matrix ? 1 : 0];
    if (!is_there(m, other, device)) m->waiting[index_of(m, other, device)]++;
  }
}

/* Books a tile to a device, and to the relays that will read it, each time to the one where it
 * arrives first. */
static void fetch(maker *m, const tsr_task_operand *o, int device) {
  uint32_t wanted = 1u << device;
  if (o->matrix <= TSR_B_ && !m->tight)
    wanted |= m->copies->readers[o->matrix][o->tile] & m->problem->options->policy.relays;
  for (int d = 0; d < m->problem->devices; d++)
    if (wanted >> d & 1 && is_there(m, o, d)) wanted &= ~(1u << d);
  while (wanted) {
    source from = {.when = INFINITY};
    int to = TSR_NOTHING;
    for (int d = 0; d < m->problem->devices; d++) {
      if (!(wanted >> d & 1)) continue;
      source one = best_source(m, o, d);
      if (to != TSR_NOTHING && one.when >= from.when) continue;
      from = one;
      to = d;
    }
    note_arrival(m, o, to, from);
    wanted &= ~(1u << to);
  }
}

static double kernel_time(const maker *m, const tsr_task *task) {
  const tsr_machine *machine = m->problem->machine;
  tsr_type type = m->problem->call->type;
  double flops = tsr_kernel_flops((tsr_kernel)task->kernel, type, task->m, task->n, task->k);
  double rate = machine->rates[tsr_type_index(type)].sustained *
                tsr_machine_speed(machine, task->device, type);
  return machine->device[task->device].kernel_latency + (rate > 0 ? flops / rate : 0);
}

/* ---- Giving out -------------------------------------------------------------- */

/* The first product of a tile that is given out begins its sum; the last one completes the tile, or
 * the addition of C does, which follows. */
static void give_out(maker *m, int32_t index) {
  tsr_task task = m->tasks[index];
  chain *c = chain_of(m, &task);
  const tsr_task *first = &m->tasks[c->first];
  const uint8_t roles = TSR_FLAG_BETA | TSR_FLAG_BETA_ONE;
  bool begins = c->done++ == 0, ends = c->done == c->count;
  task.flags =
      (uint8_t)((task.flags & ~roles) | (begins ? first->flags & roles : TSR_FLAG_BETA_ONE));
  task.operand[2].access = begins ? first->operand[2].access : TSR_UPDATE;
  task.last = ends && c->addition == TSR_NOTHING;
  m->made->tasks[m->made->count++] = task;
  if (ends && c->addition != TSR_NOTHING) m->made->tasks[m->made->count++] = m->tasks[c->addition];
}

static void take(maker *m, way *w, int place) {
  int32_t index = w->task[place];
  const tsr_task *task = &m->tasks[index];
  double start = w->clock;
  for (int x = 0; x < 3; x++) {
    const tsr_task_operand *o = &task->operand[x];
    if (!reads(m, task, x) || tsr_is_at_home(m->problem, o->matrix, task->device)) continue;
    if (!is_there(m, o, task->device)) fetch(m, o, task->device);
    start = fmax(start, m->eta[index_of(m, o, task->device)]);
  }
  w->clock = start + kernel_time(m, task);
  memmove(&w->task[1], &w->task[0], sizeof *w->task * (size_t)place);
  w->task++;
  w->count--;
  give_out(m, index);
}

/* The device that is free first; where memory is tight each in turn, as the lookahead of copies is
 * counted. */
static int next_device(const maker *m, int turn) {
  int best = TSR_NOTHING;
  for (int i = 0; i < m->problem->devices; i++) {
    int d = (turn + i) % m->problem->devices;
    if (m->ways[d].count == 0) continue;
    if (m->tight) return d;
    if (best == TSR_NOTHING || m->ways[d].clock < m->ways[best].clock) best = d;
  }
  return best;
}

static void order_all(maker *m) {
  int d = 0;
  while ((d = next_device(m, d)) != TSR_NOTHING) {
    take(m, &m->ways[d], choose(m, &m->ways[d]));
    d = (d + 1) % m->problem->devices;
  }
}

tsr_status tsr_eta_order_make(const tsr_problem *problem, const tsr_copies *copies, bool tight,
                              tsr_eta_order *order) {
  maker *m = tsr_alloc_zero(1, sizeof *m);
  if (m == NULL) return tsr_problem_no_memory();
  *m = (maker){.problem = problem,
               .copies = copies,
               .tasks = problem->graph->tasks.items,
               .tight = tight,
               .made = order};
  tsr_status status = allocate(m);
  if (status == TSR_OK) {
    list_products(m);
    list_users(m);
    set_windows(m);
    order_all(m);
  }
  release(m);
  tsr_dealloc(m);
  return status;
}

void tsr_eta_order_free(tsr_eta_order *order) {
  tsr_dealloc(order->tasks);
  *order = (tsr_eta_order){NULL, 0};
}
