/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/print/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/model/busy.h"
#include "plan/tuning.h"

/* ---- Names ---- */

/* kind: as programs are told. one: %s is the device or the devices; NULL: `all` names it. all: for
 * limits of several devices together. */
static const struct {
  const char *kind, *one, *all;
} names[TSR_LIMIT_KINDS] = {
    [TSR_LIMIT_HOST] = {"channel", NULL, "host memory"},
    [TSR_LIMIT_HOST_TO] = {"channel", NULL, "host memory to the GPUs"},
    [TSR_LIMIT_HOST_FROM] = {"channel", NULL, "host memory from the GPUs"},
    [TSR_LIMIT_STAGING] = {"channel", NULL, "the copying of pageable memory"},
    [TSR_LIMIT_SHARED] = {"channel", "the shared link of %s", "the shared links of the GPUs"},
    [TSR_LIMIT_SHARED_TO] = {"channel", "the shared link to %s", "the shared links to the GPUs"},
    [TSR_LIMIT_SHARED_FROM] = {"channel", "the shared link from %s",
                               "the shared links from the GPUs"},
    [TSR_LIMIT_TO] = {"link", "the link to %s", "the links to the GPUs"},
    [TSR_LIMIT_FROM] = {"link", "the link from %s", "the links from the GPUs"},
    [TSR_LIMIT_OF] = {"channel", "the link of %s, both ways together",
                      "the links of the GPUs, both ways together"},
    [TSR_LIMIT_PEER] = {"link", "the link from GPU %d to GPU %d", "the links between GPUs"},
    [TSR_LIMIT_PORT_TO] = {"channel", "the port of %s, from other GPUs",
                           "the GPUs' ports, from other GPUs"},
    [TSR_LIMIT_PORT_FROM] = {"channel", "the port of %s, to other GPUs",
                             "the GPUs' ports, to other GPUs"},
    [TSR_LIMIT_CROSSING] = {"channel", "the link from socket %s", "the links between sockets"},
    [TSR_LIMIT_OTHER] = {"channel", "channel %s", "shared channels"},
    [TSR_LIMIT_MEMORY] = {"memory", "the memory of %s", "GPU memory"},
    [TSR_LIMIT_KERNELS] = {"kernels", "kernels on %s", "kernels"},
    [TSR_LIMIT_LATENCY] = {"latency", NULL, "latency"},
    [TSR_LIMIT_WAITS] = {"latency", NULL, "waits"},
    [TSR_LIMIT_CPU] = {"cpu", NULL, "the CPU's BLAS"},
};

const char *tsr_limit_kind_name(tsr_limit_kind kind) {
  return names[kind].kind;
}

/* whom: the devices, or the channel's own name. */
static void name_limit(tsr_limit *limit, const char *whom) {
  if (limit->kind == TSR_LIMIT_PEER)
    snprintf(limit->what, sizeof limit->what, "the link from GPU %d to GPU %d", limit->from,
             limit->to);
  else if (names[limit->kind].one == NULL)
    snprintf(limit->what, sizeof limit->what, "%s", names[limit->kind].all);
  else
    snprintf(limit->what, sizeof limit->what, names[limit->kind].one, whom);
}

/* "host memory to the GPUs, node 1" */
static void name_node(tsr_limit *limit, int node) {
  snprintf(limit->what, sizeof limit->what, "%s, node %d", names[limit->kind].all, node);
}

static tsr_status name_by_devices(tsr_limit *limit, const tsr_device_set *set) {
  tsr_text text = TSR_TEXT_INIT;
  tsr_devices_add(set, &text);
  if (!text.broken) name_limit(limit, text.bytes);
  bool broken = text.broken != 0;
  tsr_text_free(&text);
  return broken ? tsr_fail(TSR_ERR_MEMORY, "no host memory for the verdict of a plan") : TSR_OK;
}

/* ---- Kinds of channels ---- */

/* The ends of the copies that use a channel, summed up. */
typedef struct channel_shape {
  tsr_device_set hosted;          /* devices whose host links use the channel */
  tsr_device_set sends, receives; /* devices that send to, or receive from, other devices */
  bool to_devices, from_devices;  /* between host memory and devices */
  bool between_devices;
  int node;     /* of host memory */
  bool crosses; /* from one socket to another */
  int socket, other_socket;
} channel_shape;

static channel_shape shape_of(const tsr_machine *machine, const tsr_channel *channel) {
  channel_shape shape = {.to_devices = false};
  int devices = machine->devices;
  for (int i = 0; i < channel->count; i++) {
    int from = channel->uses[i].from, to = channel->uses[i].to;
    if (from < devices && to < devices) {
      shape.between_devices = true;
      shape.sends.has[from] = shape.receives.has[to] = true;
    } else if (to < devices) {
      shape.to_devices = shape.hosted.has[to] = true;
    } else if (from < devices) {
      shape.from_devices = shape.hosted.has[from] = true;
    }
  }
  for (int i = 0; i < channel->count; i++) {
    int host = channel->uses[i].from >= devices ? channel->uses[i].from : channel->uses[i].to;
    if (tsr_channel_use_follows(machine, &channel->uses[i])) continue;
    if (host >= devices) shape.node = host - devices;
  }
  shape.crosses = tsr_machine_is_crossing(machine, channel, &shape.socket, &shape.other_socket);
  return shape;
}

static tsr_limit_kind by_direction(const channel_shape *shape, tsr_limit_kind both,
                                   tsr_limit_kind to, tsr_limit_kind from) {
  return shape->to_devices && shape->from_devices ? both : shape->to_devices ? to : from;
}

/* Host memory and a link that all devices share look the same; their names tell. Where devices
 * reach each other over their host links, a channel of those links has copies between devices, too.
 */
static tsr_limit_kind kind_of(const tsr_channel *channel, const channel_shape *shape) {
  int hosted = tsr_devices_count(&shape->hosted);
  if (hosted > 0 && !shape->between_devices && strncmp(channel->name, "host", 4) == 0)
    return by_direction(shape, TSR_LIMIT_HOST, TSR_LIMIT_HOST_TO, TSR_LIMIT_HOST_FROM);
  if (shape->crosses) return TSR_LIMIT_CROSSING;
  if (hosted > 1)
    return by_direction(shape, TSR_LIMIT_SHARED, TSR_LIMIT_SHARED_TO, TSR_LIMIT_SHARED_FROM);
  if (hosted == 1) return by_direction(shape, TSR_LIMIT_OF, TSR_LIMIT_TO, TSR_LIMIT_FROM);
  if (tsr_devices_count(&shape->receives) == 1) return TSR_LIMIT_PORT_TO;
  return tsr_devices_count(&shape->sends) == 1 ? TSR_LIMIT_PORT_FROM : TSR_LIMIT_OTHER;
}

static const tsr_device_set *devices_of(tsr_limit_kind kind, const channel_shape *shape) {
  return kind == TSR_LIMIT_PORT_TO     ? &shape->receives
         : kind == TSR_LIMIT_PORT_FROM ? &shape->sends
                                       : &shape->hosted;
}

/* "the link from socket 0 to socket 1" */
static void name_crossing(tsr_limit *limit, const channel_shape *shape) {
  char between[32];
  snprintf(between, sizeof between, "%d to socket %d", shape->socket, shape->other_socket);
  name_limit(limit, between);
}

/* ---- The list ---- */

static tsr_status push(tsr_limits *limits, const tsr_limit *limit) {
  if (TSR_VEC_PUSH(&limits->list, *limit)) return TSR_OK;
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for the verdict of a plan");
}

static tsr_status add_channel(const tsr_plan *plan, const tsr_machine *machine, int index,
                              double seconds, tsr_limits *limits) {
  const tsr_channel *channel = &machine->channel[index];
  channel_shape shape = shape_of(machine, channel);
  tsr_limit limit = {.kind = kind_of(channel, &shape),
                     .from = -1,
                     .to = -1,
                     .channel = index,
                     .busy = tsr_busy_share(plan, seconds)};
  if (limit.kind == TSR_LIMIT_OTHER)
    name_limit(&limit, channel->name);
  else if (limit.kind == TSR_LIMIT_CROSSING)
    name_crossing(&limit, &shape);
  else if (limit.kind <= TSR_LIMIT_HOST_FROM && machine->nodes > 1)
    name_node(&limit, shape.node);
  else
    TSR_TRY(name_by_devices(&limit, devices_of(limit.kind, &shape)));
  return push(limits, &limit);
}

static tsr_status add_link(const tsr_plan *plan, int from, int to, double seconds,
                           tsr_limits *limits) {
  int devices = plan->machine_devices;
  tsr_device_set device = {{false}};
  tsr_limit limit = {.kind = from >= devices ? TSR_LIMIT_TO
                             : to >= devices ? TSR_LIMIT_FROM
                                             : TSR_LIMIT_PEER,
                     .from = from,
                     .to = to,
                     .channel = -1,
                     .busy = tsr_busy_share(plan, seconds)};
  device.has[from >= devices ? to : from] = true;
  TSR_TRY(name_by_devices(&limit, &device));
  return push(limits, &limit);
}

/* The kernels of a device; its memory if that is busy for most of their time. */
static tsr_status add_kernels(const tsr_plan *plan, int device, const tsr_busy *busy,
                              tsr_limits *limits) {
  tsr_device_set set = {{false}};
  bool memory = busy->memory[device] >= TSR_TUNE_BUSY_BINDS * busy->kernels[device];
  tsr_limit limit = {.kind = memory ? TSR_LIMIT_MEMORY : TSR_LIMIT_KERNELS,
                     .from = device,
                     .to = device,
                     .channel = -1,
                     .busy = tsr_busy_share(plan, busy->kernels[device])};
  set.has[device] = true;
  TSR_TRY(name_by_devices(&limit, &set));
  return push(limits, &limit);
}

static tsr_status add_staging(const tsr_plan *plan, double seconds, tsr_limits *limits) {
  tsr_limit limit = {.kind = TSR_LIMIT_STAGING,
                     .from = -1,
                     .to = -1,
                     .channel = -1,
                     .busy = tsr_busy_share(plan, seconds)};
  name_limit(&limit, "");
  return push(limits, &limit);
}

static tsr_status list_all(const tsr_plan *plan, const tsr_machine *machine, const tsr_busy *busy,
                           tsr_limits *limits) {
  int locations = tsr_machine_locations(machine);
  if (busy->staging > 0) TSR_TRY(add_staging(plan, busy->staging, limits));
  for (int c = 0; c < machine->channels; c++)
    if (busy->channel[c] > 0) TSR_TRY(add_channel(plan, machine, c, busy->channel[c], limits));
  for (int from = 0; from < locations; from++)
    for (int to = 0; to < locations; to++)
      if (busy->link[from][to] > 0) TSR_TRY(add_link(plan, from, to, busy->link[from][to], limits));
  for (int d = 0; d < machine->devices; d++)
    if (busy->kernels[d] > 0) TSR_TRY(add_kernels(plan, d, busy, limits));
  return TSR_OK;
}

/* The busiest first. Among those that are equally busy (to a thousandth) the order of the kinds
 * decides: what all share comes before a single link. */
static int compare_limits(const void *a_, const void *b_) {
  const tsr_limit *a = a_, *b = b_;
  long x = lround(a->busy * 1000), y = lround(b->busy * 1000);
  if (x != y) return x > y ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->channel != b->channel) return a->channel < b->channel ? -1 : 1;
  return a->from != b->from ? (a->from < b->from ? -1 : 1) : a->to - b->to;
}

/* ---- What binds ---- */

/* Counts the used devices that have a limit of the same kind that is about as busy. */
static int alike(const tsr_limits *limits, const tsr_limit *limit) {
  int count = 0;
  for (size_t i = 0; i < limits->list.count; i++) {
    const tsr_limit *other = &limits->list.items[i];
    count += other->kind == limit->kind && other->busy > limit->busy - TSR_TUNE_BUSY_ALIKE;
  }
  return count;
}

static int of_kind(const tsr_limits *limits, tsr_limit_kind kind) {
  int count = 0;
  for (size_t i = 0; i < limits->list.count; i++) count += limits->list.items[i].kind == kind;
  return count;
}

/* The limit, named together with the others of its kind if most of them are about as busy. */
static tsr_limit together(const tsr_limits *limits, const tsr_limit *one) {
  tsr_limit named = *one;
  int all = of_kind(limits, one->kind);
  bool kernels = one->kind == TSR_LIMIT_KERNELS || one->kind == TSR_LIMIT_MEMORY;
  bool single = !kernels && all == 1;
  if (!single && 2 * alike(limits, one) > all)
    snprintf(named.what, sizeof named.what, "%s", names[one->kind].all);
  return named;
}

/* A limit that is no link, channel or device. */
static tsr_limit limit_by(tsr_limit_kind kind, double busy) {
  tsr_limit limit = {.kind = kind, .from = -1, .to = -1, .channel = -1, .busy = busy};
  name_limit(&limit, "");
  return limit;
}

static tsr_status choose(const tsr_plan *plan, const tsr_machine *machine, tsr_limits *limits) {
  double quick = plan->seconds;
  tsr_limit latency = limit_by(TSR_LIMIT_LATENCY, 0);
  if (limits->list.count > 0) limits->binds = together(limits, &limits->list.items[0]);
  if (limits->list.count > 0 && limits->binds.busy >= TSR_TUNE_BUSY_BINDS) return TSR_OK;
  if (limits->binds.busy < TSR_TUNE_BUSY_MOSTLY)
    limits->binds = limit_by(TSR_LIMIT_WAITS, 1 - limits->binds.busy);
  if (!(tsr_machine_best_rate(machine, plan->call.type) > 0)) return TSR_OK; /* no replay */
  TSR_TRY(tsr_busy_without_latency(plan, machine, &quick));
  latency.busy = tsr_busy_share(plan, fmax(0, plan->seconds - quick));
  if (limits->list.count == 0 || latency.busy >= TSR_TUNE_LATENCY_BINDS) limits->binds = latency;
  return TSR_OK;
}

tsr_status tsr_limits_find(const tsr_plan *plan, const tsr_machine *machine, tsr_limits *limits) {
  *limits = (tsr_limits){.binds = {.from = -1}};
  if (plan->devices == 0) {
    limits->binds = limit_by(TSR_LIMIT_CPU, 1);
    return TSR_OK;
  }
  tsr_busy *busy = tsr_alloc(sizeof *busy);
  if (busy == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for the verdict of a plan");
  tsr_status status = tsr_busy_count(plan, machine, busy);
  if (status == TSR_OK) status = list_all(plan, machine, busy, limits);
  tsr_dealloc(busy);
  if (status == TSR_OK && limits->list.count > 0)
    qsort(limits->list.items, limits->list.count, sizeof *limits->list.items, compare_limits);
  if (status == TSR_OK) status = choose(plan, machine, limits);
  if (status != TSR_OK) tsr_limits_free(limits);
  return status;
}

void tsr_limits_free(tsr_limits *limits) {
  TSR_VEC_FREE(&limits->list);
}
