/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Replay: a plan in virtual time, without data.
 *
 * Queues run at the same time, each in order. A running command is a flow: it has work left (bytes
 * of a copy, seconds of a kernel) and a rate. If a channel is full, the rates of all flows that use
 * it shrink by one factor. The compute capacity of a device is a channel, too: a kernel that is too
 * small to fill the device leaves capacity for another kernel.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/axes.h"
#include "plan/model/links.h"
#include "plan/names.h"
#include "plan/tuning.h"

enum { FLOW_CHANNELS = TSR_LINK_USES + 1, NONE = -1 };

typedef struct flow {
  int32_t command;
  int channels;
  int channel[FLOW_CHANNELS];
  double share[FLOW_CHANNELS]; /* part of the channel's capacity that the flow uses at full rate */
  double left, full, rate;     /* work left, work/s if it runs alone, work/s now */
} flow;

/* A queue. It is idle, blocked by a command that its head waits for, asleep until its head is
 * submitted, parked, or running. */
typedef struct queue_state {
  uint32_t next, end;   /* its commands that are left: order[next .. end) */
  uint32_t cursor;      /* the first of them that is not submitted: order[cursor .. end) */
  int32_t next_blocked; /* next queue blocked by the same command */
  double asleep;        /* time before which its head cannot start, s; 0: not asleep */
  double since;         /* time at which it became idle, s */
  bool running;
  bool parked; /* a staging queue whose head could start if a staging thread were free */
} queue_state;

/* The thread that submits a device's commands, one after another (run/submitter.c). It submits a
 * command once the staged copies that the command waits for have ended: the first of the plan's
 * commands for which that holds. */
typedef struct submitter {
  uint32_t at;    /* the commands before this one are submitted, or are not the device's */
  double free_at; /* when it has submitted all that it could so far, s */
} submitter;

/* The time of a kernel that was computed before, s: most kernels of a plan are alike. */
typedef struct memory {
  const tsr_command *like; /* NULL: none yet */
  double seconds;
} memory;

/* Kernels that are remembered at a time, by a hash. */
enum { MEMORIES = 256 };

typedef struct replay {
  tsr_plan *plan;
  const tsr_machine *machine;
  tsr_links links;
  double rate_limit; /* flops/s of products on a device of speed 1 */
  double now;
  uint32_t *order;   /* commands, sorted by queue */
  int32_t *blocked;  /* [command]: first queue that it blocks */
  bool *ended;       /* [command]: it has ended */
  double *submitted; /* [command]: when its device's submitter has submitted it, s; INFINITY: that
                        depends on staged copies which have not ended */
  submitter submitter[TSR_MACHINE_DEVICES];
  queue_state state[TSR_PLAN_QUEUES];
  flow flow[TSR_PLAN_QUEUES];
  int flows;
  int sleepers;
  int threads, parked; /* free staging threads, and parked queues */
  /* The load of each channel; devices and the staging threads are channels, too. */
  double load[TSR_MACHINE_CHANNELS + TSR_MACHINE_DEVICES + 1];
  bool changed; /* rates must be computed again */
  memory kernels[MEMORIES];
} replay;

static bool is_staging(const replay *r, int queue) {
  return r->plan->queue[queue].role == TSR_QUEUE_STAGING;
}

/* ---- What commands cost --------------------------------------------------- */

static void add_share(flow *f, int channel, double share) {
  if (f->channels == FLOW_CHANNELS) return;
  f->channel[f->channels] = channel;
  f->share[f->channels++] = share;
}

static void copy_flow(const replay *r, const tsr_command *c, bool fresh, flow *f) {
  const tsr_buffer *from = &r->plan->buffers.items[c->buffer[0]];
  const tsr_buffer *to = &r->plan->buffers.items[c->buffer[1]];
  double size = (double)tsr_matrix_element(&r->plan->call, from->matrix);
  const tsr_link *link = &r->machine->link[from->location][to->location];
  bool inside = from->location == to->location;
  bool in_host = tsr_is_in_host(r->machine, from->location, to->location);
  f->full = in_host  ? tsr_staging_rate(r->machine, from->location, to->location)
            : inside ? tsr_machine_copy_rate(r->machine, from->location)
                     : tsr_link_rate(link, tsr_command_segments(r->plan, c));
  if (f->full <= 0) f->full = TSR_TUNE_UNKNOWN_RATE;
  double start = in_host ? TSR_TUNE_STAGING_START
                 : fresh ? link->latency
                         : TSR_TUNE_BEHIND_A_COPY * link->latency;
  f->left = (double)c->m * (double)c->n * size + start * f->full;
  const tsr_link_uses *uses = tsr_links_of(&r->links, from->location, to->location);
  double at_best =
      link->bandwidth > 0 && !in_host
          ? link->bandwidth
          : f->full; /* short runs use as much of a channel as long ones in the same time */
  for (int i = 0; i < uses->count; i++)
    add_share(f, uses->channel[i], at_best * (double)uses->seconds[i]);
  if (in_host && r->machine->staging_rate > 0)
    add_share(f, TSR_MACHINE_CHANNELS + r->plan->machine_devices,
              f->full / r->machine->staging_rate);
}

/* The part of a device that a kernel fills: its rate / the best rate, or the part of its time that
 * the memory needs for its bytes if that is more. So two kernels side by side never read and write
 * faster than the device's memory. A kernel bound by memory fills all of the device. Measured on an
 * NVIDIA H200: products of 16384 x 8192 x 1536 and 16384 x 4096 x 1536 ran at 46 and 41 TFLOP/s
 * beside additions, and at 58 and 59 without; in all they lost twice the time that the additions
 * take alone. */
static double fill_of(const replay *r, const tsr_command *c, double seconds, int device) {
  if (tsr_kernel_get((tsr_kernel)c->kernel)->bound_by_memory) return 1;
  double flops = tsr_kernel_flops((tsr_kernel)c->kernel, r->plan->call.type, c->m, c->n, c->k);
  double rate = r->rate_limit * tsr_machine_speed(r->machine, device, r->plan->call.type);
  double fill = fmax(flops / rate, tsr_command_kernel_bytes(r->plan, c) /
                                       r->machine->device[device].memory_rate) /
                seconds;
  return fill < TSR_TUNE_LEAST_FILL ? TSR_TUNE_LEAST_FILL : fill > 1 ? 1 : fill;
}

static double kernel_time(const replay *r, const tsr_command *c) {
  int device = r->plan->queue[c->queue].location;
  const tsr_call *call = &r->plan->call;
  bool reads_c = tsr_command_reads_c(call, c);
  if (tsr_kernel_makes_form(c->kernel))
    return tsr_machine_form_time(r->machine, device, call->arithmetic, &call->promise, call->type,
                                 c->m, c->n);
  if (tsr_kernel_multiplies_forms(c->kernel))
    return tsr_machine_form_gemm_time(r->machine, device, call->arithmetic, call->type, c->m, c->n,
                                      c->k, reads_c, r->plan->heat);
  bool by_blocks = r->plan->by_blocks >> c->kernel & 1;
  return (by_blocks ? tsr_machine_blocks_time : tsr_machine_kernel_time)(
      r->machine, device, (tsr_kernel)c->kernel, call->type, c->m, c->n, c->k,
      (c->flags & TSR_FLAG_WIDE) != 0, reads_c, r->plan->heat);
}

static bool is_like(const tsr_command *a, const tsr_command *b) {
  return a->m == b->m && a->n == b->n && a->k == b->k && a->queue == b->queue &&
         a->kernel == b->kernel && (a->flags | TSR_FLAG_EVENT) == (b->flags | TSR_FLAG_EVENT);
}

static double remembered_time(replay *r, const tsr_command *c) {
  uint32_t hash = (uint32_t)c->m * 31 + (uint32_t)c->n * 37 + (uint32_t)c->k * 41 + c->queue;
  memory *known = &r->kernels[(hash ^ hash >> 8) % MEMORIES];
  if (!known->like || !is_like(known->like, c)) *known = (memory){c, kernel_time(r, c)};
  return known->seconds;
}

static void kernel_flow(replay *r, const tsr_command *c, flow *f) {
  int device = r->plan->queue[c->queue].location;
  f->left = remembered_time(r, c);
  f->full = 1;
  add_share(f, TSR_MACHINE_CHANNELS + device, fill_of(r, c, f->left, device));
}

/* ---- Virtual time --------------------------------------------------------- */

/* Sets the loads of the channels that flows use. There are many channels, and this runs for every
 * command, so that the others are not visited. */
static void add_loads(replay *r) {
  for (int i = 0; i < r->flows; i++)
    for (int c = 0; c < r->flow[i].channels; c++) r->load[r->flow[i].channel[c]] = 0;
  for (int i = 0; i < r->flows; i++)
    for (int c = 0; c < r->flow[i].channels; c++)
      r->load[r->flow[i].channel[c]] += r->flow[i].share[c];
}

static void share_channels(replay *r) {
  add_loads(r);
  for (int i = 0; i < r->flows; i++) {
    flow *f = &r->flow[i];
    double most = 1;
    for (int c = 0; c < f->channels; c++) {
      double load = r->load[f->channel[c]];
      most = load > most ? load : most;
    }
    f->rate = f->full / most;
  }
  r->changed = false;
}

/* ---- Submission ---- */

/* The time that a submitter spends on a command, s. It makes the command's queue wait for commands
 * of other queues, but waits for staged copies itself. */
static double submission_time(const replay *r, const tsr_command *c) {
  const tsr_machine *m = r->machine;
  double seconds = c->kind == TSR_COMMAND_COPY ? m->submit_copy : m->submit_kernel;
  if (c->flags & TSR_FLAG_EVENT) seconds += m->submit_record;
  if (m->submit_wait == 0) return seconds;
  for (int i = 0; i < c->waits; i++) {
    uint32_t awaited = r->plan->waits.items[c->wait + (uint32_t)i];
    int queue = r->plan->commands.items[awaited].queue;
    if (queue != c->queue && !is_staging(r, queue)) seconds += m->submit_wait;
  }
  return seconds;
}

/* Whether a command may be submitted; *from: since when, s. */
static bool may_submit(const replay *r, const tsr_command *c, double *from) {
  int device = r->plan->queue[c->queue].location;
  *from = 0;
  for (int i = 0; i < c->waits; i++) {
    uint32_t awaited = r->plan->waits.items[c->wait + (uint32_t)i];
    const tsr_command *earlier = &r->plan->commands.items[awaited];
    if (is_staging(r, earlier->queue)) {
      if (!r->ended[awaited]) return false;
      *from = fmax(*from, (double)earlier->end);
    } else if (r->plan->queue[earlier->queue].location == device && isinf(r->submitted[awaited])) {
      return false;
    }
  }
  return true;
}

static void submit(replay *r, uint32_t command, double from) {
  const tsr_command *c = &r->plan->commands.items[command];
  submitter *s = &r->submitter[r->plan->queue[c->queue].location];
  s->free_at = fmax(s->free_at, from) + submission_time(r, c);
  r->submitted[command] = s->free_at;
  r->state[c->queue].cursor++;
}

/* Each queue of the device has a first command that is not submitted. Submits the one of these that
 * comes first in plan order among those that may be submitted. False: none may. */
static bool submit_a_head(replay *r, int device) {
  int64_t best = NONE;
  double from = 0, since;
  for (int q = 0; q < r->plan->queues; q++) {
    const queue_state *l = &r->state[q];
    if (r->plan->queue[q].location != device || is_staging(r, q) || l->cursor == l->end) continue;
    uint32_t head = r->order[l->cursor];
    if (best != NONE && head > best) continue;
    if (!may_submit(r, &r->plan->commands.items[head], &since)) continue;
    best = head;
    from = since;
  }
  if (best == NONE) return false;
  submit(r, (uint32_t)best, from);
  return true;
}

/* Submits all commands of a device that may be submitted now. They could be since the end of the
 * last staged copy that one of them waits for, and count from then. */
static void submit_more(replay *r, int device) {
  const tsr_plan *plan = r->plan;
  submitter *s = &r->submitter[device];
  for (double from; s->at < plan->commands.count;) {
    const tsr_command *c = &plan->commands.items[s->at];
    bool mine = plan->queue[c->queue].location == device && !is_staging(r, c->queue);
    if (!mine || !isinf(r->submitted[s->at]))
      s->at++;
    else if (may_submit(r, c, &from))
      submit(r, s->at++, from);
    else if (!submit_a_head(r, device))
      return;
  }
}

/* Submits what waits for no staged copy, in the plan's order, up to each device's first command
 * that does. */
static void submit_first(replay *r) {
  bool stopped[TSR_MACHINE_DEVICES] = {false};
  for (uint32_t i = 0; i < r->plan->commands.count; i++) {
    const tsr_command *c = &r->plan->commands.items[i];
    int device = r->plan->queue[c->queue].location;
    double from;
    r->submitted[i] = is_staging(r, c->queue) ? r->machine->staging_start : INFINITY;
    if (is_staging(r, c->queue) || stopped[device]) continue;
    if (may_submit(r, c, &from))
      submit(r, i, from);
    else
      stopped[device] = true;
    if (!stopped[device]) r->submitter[device].at = i + 1;
  }
}

/* ---- Commands that start and end ---- */

static void start(replay *r, int queue, int32_t command) {
  queue_state *l = &r->state[queue];
  if (is_staging(r, queue)) r->threads--;
  tsr_command *c = &r->plan->commands.items[command];
  flow *f = &r->flow[r->flows++];
  f->command = command;
  f->channels = 0;
  if (c->kind == TSR_COMMAND_COPY)
    copy_flow(r, c, r->now > l->since, f);
  else
    kernel_flow(r, c, f);
  c->begin = (float)r->now;
  l->running = true;
  r->changed = true;
}

/* When a command whose waits have ended may start, s: it has been submitted, and HAND_OVER has
 * passed since the end of each command of another location that it waits for. */
static double ready_at(const replay *r, const tsr_command *c, int32_t command) {
  double ready = r->submitted[command];
  for (int i = 0; i < c->waits; i++) {
    const tsr_command *awaited =
        &r->plan->commands.items[r->plan->waits.items[c->wait + (uint32_t)i]];
    if (r->plan->queue[awaited->queue].location == r->plan->queue[c->queue].location) continue;
    ready = fmax(ready, (double)awaited->end + TSR_TUNE_HAND_OVER);
  }
  return ready;
}

/* Starts the head of a queue, or notes what blocks it. */
static void advance(replay *r, int queue) {
  queue_state *l = &r->state[queue];
  if (l->running || l->parked || l->asleep > 0 || l->next == l->end) return;
  int32_t command = (int32_t)r->order[l->next];
  const tsr_command *c = &r->plan->commands.items[command];
  for (int i = 0; i < c->waits; i++) {
    uint32_t awaited = r->plan->waits.items[c->wait + (uint32_t)i];
    if (r->ended[awaited]) continue;
    l->next_blocked = r->blocked[awaited];
    r->blocked[awaited] = queue;
    return;
  }
  if (isinf(r->submitted[command])) submit_more(r, r->plan->queue[queue].location);
  double ready = ready_at(r, c, command);
  if (ready > r->now) {
    l->asleep = ready;
    r->sleepers++;
    return;
  }
  if (is_staging(r, queue) && (r->threads == 0 || r->parked > 0)) {
    l->parked = true;
    r->parked++;
    return;
  }
  start(r, queue, command);
}

/* Free staging threads take the parked queues whose commands come first in the plan. */
static void unpark(replay *r) {
  while (r->threads > 0 && r->parked > 0) {
    int best = NONE;
    for (int q = 0; q < r->plan->queues; q++)
      if (r->state[q].parked &&
          (best == NONE || r->order[r->state[q].next] < r->order[r->state[best].next]))
        best = q;
    r->state[best].parked = false;
    r->parked--;
    start(r, best, (int32_t)r->order[r->state[best].next]);
  }
}

static void finish(replay *r, int i) {
  int32_t command = r->flow[i].command;
  r->flow[i] = r->flow[--r->flows];
  r->changed = true;
  tsr_command *c = &r->plan->commands.items[command];
  c->end = (float)r->now;
  r->ended[command] = true;
  queue_state *l = &r->state[c->queue];
  l->running = false;
  l->since = r->now;
  l->next++;
  if (is_staging(r, c->queue)) r->threads++;
  for (int32_t q = r->blocked[command], next; q != NONE; q = next) {
    next = r->state[q].next_blocked;
    advance(r, q);
  }
  advance(r, c->queue);
  unpark(r);
}

static void wake(replay *r) {
  for (int q = 0; q < r->plan->queues && r->sleepers; q++) {
    queue_state *l = &r->state[q];
    if (l->asleep == 0 || l->asleep > r->now) continue;
    l->asleep = 0;
    r->sleepers--;
    advance(r, q);
  }
  unpark(r);
}

/* Moves virtual time to the next end or wake-up. False: nothing is left to happen. */
static bool step(replay *r) {
  if (r->changed) share_channels(r);
  double dt = INFINITY;
  int first = NONE;
  for (int i = 0; i < r->flows; i++) {
    double t = r->flow[i].left / r->flow[i].rate;
    if (t < dt) {
      dt = t;
      first = i;
    }
  }
  if (r->sleepers)
    for (int q = 0; q < r->plan->queues; q++)
      if (r->state[q].asleep > 0 && r->state[q].asleep - r->now < dt) {
        dt = fmax(0, r->state[q].asleep - r->now);
        first = NONE;
      }
  if (isinf(dt)) return false;
  for (int i = 0; i < r->flows; i++) r->flow[i].left -= dt * r->flow[i].rate;
  r->now += dt;
  if (first != NONE) finish(r, first);
  if (r->sleepers) wake(r);
  return true;
}

/* ---- Set-up --------------------------------------------------------------- */

static void sort_by_queue(replay *r) {
  const tsr_plan *plan = r->plan;
  uint32_t count[TSR_PLAN_QUEUES + 1] = {0};
  for (size_t i = 0; i < plan->commands.count; i++) count[plan->commands.items[i].queue + 1]++;
  for (int q = 0; q < plan->queues; q++) {
    count[q + 1] += count[q];
    r->state[q] = (queue_state){
        .next = count[q], .cursor = count[q], .end = count[q + 1], .next_blocked = NONE};
  }
  for (size_t i = 0; i < plan->commands.count; i++)
    r->order[count[plan->commands.items[i].queue]++] = (uint32_t)i;
}

static bool set_up(replay *r) {
  size_t n = r->plan->commands.count + 1;
  r->order = tsr_alloc(sizeof *r->order * n);
  r->blocked = tsr_alloc(sizeof *r->blocked * n);
  r->ended = tsr_alloc_zero(n, sizeof *r->ended);
  r->submitted = tsr_alloc(sizeof *r->submitted * n);
  if (tsr_links_create(r->machine, &r->links) != TSR_OK) return false;
  if (!r->order || !r->blocked || !r->ended || !r->submitted) return false;
  memset(r->blocked, NONE, sizeof *r->blocked * n);
  sort_by_queue(r);
  submit_first(r);
  return true;
}

static void tear_down(replay *r) {
  tsr_links_free(&r->links);
  tsr_dealloc(r->order);
  tsr_dealloc(r->blocked);
  tsr_dealloc(r->ended);
  tsr_dealloc(r->submitted);
  tsr_dealloc(r);
}

tsr_status tsr_plan_replay(tsr_plan *plan, const tsr_machine *machine, double *seconds) {
  replay *r = tsr_alloc(sizeof *r);
  if (!r) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a replay: free some");
  r->plan = plan;
  r->machine = machine;
  r->links.uses = NULL;
  r->rate_limit = tsr_machine_rate_limit(machine, plan->call.type, plan->heat);
  r->now = 0;
  r->flows = r->sleepers = r->parked = 0;
  r->threads = plan->staging_threads > 0 ? plan->staging_threads : TSR_PLAN_STAGING_QUEUES;
  r->changed = true;
  memset(r->kernels, 0, sizeof r->kernels);
  memset(r->submitter, 0, sizeof r->submitter);
  tsr_status status = TSR_OK;
  if (!set_up(r)) {
    status = tsr_fail(TSR_ERR_MEMORY, "no host memory for a replay: free some");
  } else {
    for (int q = 0; q < plan->queues; q++) advance(r, q);
    while (step(r)) continue;
    for (size_t i = 0; i < plan->commands.count; i++)
      if (!r->ended[i])
        status = tsr_fail(TSR_ERR_INTERNAL, "command %zu of a plan waits for ever", i);
    *seconds = r->now + (plan->commands.count > 0 ? machine->turnaround : 0);
  }
  tear_down(r);
  return status;
}
