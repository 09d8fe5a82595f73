/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/model/busy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/model/links.h"
#include "plan/names.h"

/* ---- Copies ---- */

static void count_staging(const tsr_machine *machine, double bytes, tsr_busy *busy) {
  double alone = machine->thread_rate * machine->staging_threads;
  double rate = machine->staging_rate > 0 ? machine->staging_rate : alone;
  if (rate > 0) busy->staging += bytes / rate;
}

static void count_copy(const tsr_plan *plan, const tsr_machine *machine, const tsr_links *links,
                       const tsr_command *command, tsr_busy *busy) {
  int from = plan->buffers.items[command->buffer[0]].location;
  int to = plan->buffers.items[command->buffer[1]].location;
  double bytes = tsr_command_bytes(plan, command);
  const tsr_link *link = &machine->link[from][to];
  double rate = tsr_link_rate(link, tsr_command_segments(plan, command));
  bool in_host = tsr_is_in_host(machine, from, to);
  if (in_host) count_staging(machine, bytes, busy);
  if (from == to || rate <= 0) return;
  if (!in_host) busy->link[from][to] += bytes / rate;
  /* As in the replay, short runs use as much of a channel as long ones in the same time. */
  double at_best = in_host ? bytes : bytes / rate * link->bandwidth;
  const tsr_link_uses *uses = tsr_links_of(links, from, to);
  for (int i = 0; i < uses->count; i++)
    busy->channel[uses->channel[i]] += at_best * (double)uses->seconds[i];
}

/* ---- Kernels ---- */

typedef struct span {
  int device;
  float begin, end; /* s */
} span;

static int compare_spans(const void *a_, const void *b_) {
  const span *a = a_, *b = b_;
  if (a->device != b->device) return a->device < b->device ? -1 : 1;
  return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static size_t list_kernels(const tsr_plan *plan, span *spans) {
  size_t count = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_KERNEL) continue;
    spans[count++] = (span){plan->queue[c->queue].location, c->begin, c->end};
  }
  return count;
}

/* Adds the time that the spans of each device cover. */
static void count_kernels(span *spans, size_t count, tsr_busy *busy) {
  double until = 0;
  qsort(spans, count, sizeof *spans, compare_spans);
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || spans[i].device != spans[i - 1].device) until = 0;
    double begin = fmax((double)spans[i].begin, until), end = (double)spans[i].end;
    if (end > begin) busy->kernels[spans[i].device] += end - begin;
    until = fmax(until, end);
  }
}

static tsr_status no_memory(void) {
  return tsr_fail(TSR_ERR_MEMORY, "no host memory to sum up a plan: free some");
}

tsr_status tsr_busy_count(const tsr_plan *plan, const tsr_machine *machine, tsr_busy *busy) {
  tsr_links links;
  memset(busy, 0, sizeof *busy);
  span *spans = tsr_alloc((plan->commands.count + 1) * sizeof *spans);
  if (spans == NULL) return no_memory();
  count_kernels(spans, list_kernels(plan, spans), busy);
  tsr_dealloc(spans);
  TSR_TRY(tsr_links_create(machine, &links));
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    int location = plan->queue[c->queue].location;
    if (c->kind == TSR_COMMAND_COPY) count_copy(plan, machine, &links, c, busy);
    if (c->kind == TSR_COMMAND_KERNEL)
      busy->memory[location] +=
          tsr_command_kernel_bytes(plan, c) / machine->device[location].memory_rate;
  }
  tsr_links_free(&links);
  return TSR_OK;
}

/* More than all of the time comes of rounding. */
double tsr_busy_share(const tsr_plan *plan, double seconds) {
  bool known = plan->seconds > 0 && isfinite(plan->seconds);
  return known ? fmin(seconds / plan->seconds, 1) : 0;
}

/* ---- Latency ---- */

/* The machine shares its channels' uses with the original, so that it is given back by
 * tsr_dealloc. */
static tsr_machine *without_latency(const tsr_machine *machine) {
  tsr_machine *quick = tsr_alloc(sizeof *quick);
  if (quick == NULL) return NULL;
  *quick = *machine;
  quick->submit_copy = quick->submit_kernel = quick->submit_record = quick->submit_wait = 0;
  quick->turnaround = quick->staging_start = 0;
  for (int from = 0; from < TSR_MACHINE_LOCATIONS; from++)
    for (int to = 0; to < TSR_MACHINE_LOCATIONS; to++) quick->link[from][to].latency = 0;
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++) quick->device[d].kernel_latency = 0;
  return quick;
}

tsr_status tsr_busy_without_latency(const tsr_plan *plan, const tsr_machine *machine,
                                    double *seconds) {
  size_t count = plan->commands.count;
  tsr_machine *quick = without_latency(machine);
  tsr_command *commands = tsr_alloc((count + 1) * sizeof *commands);
  tsr_plan *copy = tsr_alloc(sizeof *copy);
  tsr_status status = TSR_OK;
  if (quick == NULL || commands == NULL || copy == NULL) {
    status = no_memory();
  } else {
    /* The replay writes times into commands; the copy shares all else with the plan. */
    if (count > 0) memcpy(commands, plan->commands.items, count * sizeof *commands);
    *copy = *plan;
    copy->commands.items = commands;
    status = tsr_plan_replay(copy, quick, seconds);
  }
  tsr_dealloc(quick);
  tsr_dealloc(commands);
  tsr_dealloc(copy);
  return status;
}
