/*
 * The sequence: the order in which tasks are scheduled. Devices take turns, a task each, and one
 * whose tasks take longer waits for the others: what they share, the threads of the host and the
 * ring above all, serves them in this order. A device goes through its groups one after another, in
 * the order of the graph, or each time that whose inputs are expected first (Uncut-GEMMs, section
 * III-G).
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/schedule/schedule.h"

/* Groups looked at for the earliest one: enough for choice, few enough to be quick. */
enum { WINDOW = 24 };

/* One device's way through its groups. */
typedef struct walk {
  int32_t *groups; /* its groups that are not begun, groups[next .. count) */
  int next, count;
  const tsr_group *group; /* present one, or NULL */
  size_t done;            /* of its tasks */
  double clock, last;     /* seconds, roughly, of its tasks so far, and of the last of them */
} walk;

struct tsr_sequence {
  int turn;
  int32_t *storage; /* of all walks' groups */
  walk walk[TSR_MACHINE_DEVICES];
};

static tsr_status no_memory(void) {
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
}

void tsr_sequence_rewind(tsr_scheduler *s) {
  struct tsr_sequence *q = s->sequence;
  int count[TSR_MACHINE_DEVICES + 1] = {0};
  q->turn = 0;
  for (size_t i = 0; i < s->graph->groups.count; i++) count[s->graph->groups.items[i].device + 1]++;
  for (int d = 0; d < s->devices; d++) {
    count[d + 1] += count[d];
    q->walk[d] = (walk){.groups = q->storage + count[d]};
  }
  for (size_t i = 0; i < s->graph->groups.count; i++) {
    walk *w = &q->walk[s->graph->groups.items[i].device];
    w->groups[w->count++] = (int32_t)i;
  }
}

tsr_status tsr_sequence_init(tsr_scheduler *s) {
  s->sequence = tsr_alloc_zero(1, sizeof *s->sequence);
  if (!s->sequence) return no_memory();
  s->sequence->storage = tsr_alloc(sizeof(int32_t) * (s->graph->groups.count + 1));
  if (!s->sequence->storage) return no_memory();
  tsr_sequence_rewind(s);
  return TSR_OK;
}

void tsr_sequence_free(tsr_scheduler *s) {
  if (s->sequence) tsr_dealloc(s->sequence->storage);
  tsr_dealloc(s->sequence);
}

/* Brings the group with the least ETA among the first ones to the front. */
static void choose(tsr_scheduler *s, walk *w) {
  int best = w->next;
  float best_eta = 0;
  for (int i = w->next; i < w->count && i < w->next + WINDOW; i++) {
    float eta = tsr_route_group_eta(s, &s->graph->groups.items[w->groups[i]]);
    if (i > w->next && eta >= best_eta) continue;
    best = i;
    best_eta = eta;
  }
  int32_t chosen = w->groups[best];
  memmove(&w->groups[w->next + 1], &w->groups[w->next],
          sizeof *w->groups * (size_t)(best - w->next));
  w->groups[w->next] = chosen;
}

static bool begin_group(tsr_scheduler *s, walk *w) {
  if (w->next == w->count) return false;
  if (s->options->by_eta && !s->slots && w->count - w->next > 1) choose(s, w);
  w->group = &s->graph->groups.items[w->groups[w->next++]];
  w->done = 0;
  return true;
}

static bool has_more(const walk *w) {
  return w->group != NULL || w->next < w->count;
}

static double least_clock(const tsr_scheduler *s) {
  double least = INFINITY;
  for (int d = 0; d < s->devices; d++) {
    const walk *w = &s->sequence->walk[d];
    if (has_more(w)) least = fmin(least, w->clock);
  }
  return least;
}

/* The next device in turn that had not begun its last task after another one was through. Where
 * memory is tight all take their turns, since how far copies run ahead is counted in them. */
static walk *whose_turn(tsr_scheduler *s) {
  struct tsr_sequence *q = s->sequence;
  double least = least_clock(s);
  for (int tried = 0; tried < s->devices; tried++) {
    walk *w = &q->walk[q->turn];
    q->turn = (q->turn + 1) % s->devices;
    if (has_more(w) && (s->slots || w->clock - w->last <= least)) return w;
  }
  return NULL;
}

/* By the rate of long kernels: enough for an order. */
static void pass_time(const tsr_scheduler *s, const tsr_task *task, walk *w) {
  const tsr_device *device = &s->machine->device[task->device];
  double flops =
      tsr_kernel_flops((tsr_kernel)task->kernel, s->call->type, task->m, task->n, task->k);
  double rate = s->machine->rates[tsr_type_index(s->call->type)].sustained * device->speed;
  w->last = device->kernel_latency + (rate > 0 ? flops / rate : 0);
  w->clock += w->last;
}

const tsr_task *tsr_sequence_next(tsr_scheduler *s) {
  walk *w = whose_turn(s);
  if (!w || (!w->group && !begin_group(s, w))) return NULL;
  const tsr_task *task = &s->graph->tasks.items[w->group->first + w->done++];
  if (w->done == w->group->count) w->group = NULL;
  pass_time(s, task, w);
  return task;
}
