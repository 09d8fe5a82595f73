/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "machine/outline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "machine/origin.h"

#define GIGA 1e9

/* ---- Sets and numbers ---- */

int tsr_mask_count(tsr_device_mask set) {
  int count = 0;
  for (; set != 0; set &= set - 1) count++;
  return count;
}

int tsr_mask_first(tsr_device_mask set) {
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++)
    if (tsr_mask_has(set, d)) return d;
  return -1;
}

void tsr_mask_print(tsr_device_mask set, const char *between, tsr_text *text) {
  const char *before = "";
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++) {
    if (!tsr_mask_has(set, d)) continue;
    int last = d;
    while (last + 1 < TSR_MACHINE_DEVICES && tsr_mask_has(set, last + 1)) last++;
    tsr_text_add(text, "%s%d", before, d);
    if (last > d) tsr_text_add(text, "%s%d", last == d + 1 ? between : "-", last);
    before = between;
    d = last;
  }
}

void tsr_amount_print(double value, tsr_text *text) {
  tsr_text_add(text, value >= 999.5 ? "%.0f" : value >= 0.0995 ? "%.3g" : "%.2g", value);
}

/* ---- Channels ---- */

static tsr_device_mask all_devices(const tsr_machine *machine) {
  return machine->devices == 32 ? ~(tsr_device_mask)0
                                : ((tsr_device_mask)1 << machine->devices) - 1;
}

/* The ends of the copies that use a channel, summed up. */
typedef struct uses {
  tsr_device_mask from_host, to_host; /* devices at the other end */
  tsr_device_mask senders, receivers; /* of copies between devices */
  unsigned nodes;
  double in_weight, out_weight; /* the largest */
} uses;

static uses gather(const tsr_machine *machine, const tsr_channel *channel) {
  uses found = {0};
  for (int i = 0; i < channel->count; i++) {
    int from = channel->uses[i].from, to = channel->uses[i].to;
    double weight = channel->uses[i].weight;
    if (tsr_channel_use_follows(machine, &channel->uses[i])) continue;
    bool from_device = tsr_is_device(machine, from), to_device = tsr_is_device(machine, to);
    if (!from_device) found.nodes |= 1u << (from - machine->devices);
    if (!to_device) found.nodes |= 1u << (to - machine->devices);
    if (from_device) *(to_device ? &found.senders : &found.to_host) |= (tsr_device_mask)1 << from;
    if (to_device) *(from_device ? &found.receivers : &found.from_host) |= (tsr_device_mask)1 << to;
    if (!from_device) found.in_weight = fmax(found.in_weight, weight);
    if (!to_device) found.out_weight = fmax(found.out_weight, weight);
  }
  return found;
}

static bool is_named_memory(const tsr_channel *channel) {
  return strncmp(channel->name, "host", 4) == 0;
}

/* The name decides where the set of devices does not: two GPUs on one PCIe link are all of a
 * machine of two GPUs. Strings and the probe call host memory "host...". */
static tsr_channel_role host_role(const tsr_machine *machine, const tsr_channel *channel,
                                  const uses *u) {
  tsr_device_mask devices = u->from_host | u->to_host;
  bool named = is_named_memory(channel);
  bool all = devices == all_devices(machine) && machine->devices > 2;
  if (named || (all && u->from_host != 0 && u->to_host != 0)) return TSR_CHANNEL_MEMORY;
  return tsr_mask_count(devices) == 1 ? TSR_CHANNEL_OWN : TSR_CHANNEL_SHARED;
}

static tsr_channel_role port_role(const uses *u, tsr_device_mask *device) {
  bool in = tsr_mask_count(u->receivers) == 1, out = tsr_mask_count(u->senders) == 1;
  *device = in ? u->receivers : out ? u->senders : u->senders | u->receivers;
  return in || out ? TSR_CHANNEL_PORT : TSR_CHANNEL_OTHER;
}

static tsr_channel_view view_channel(const tsr_machine *machine, const tsr_channel *channel) {
  uses u = gather(machine, channel);
  tsr_channel_view view = {.devices = u.from_host | u.to_host, .nodes = u.nodes};
  bool peers = (u.senders | u.receivers) != 0;
  view.between_devices = peers;
  if (!is_named_memory(channel) &&
      tsr_machine_is_crossing(machine, channel, &view.from, &view.to)) {
    view.role = TSR_CHANNEL_CROSSING;
    return view;
  }
  if (view.devices == 0) {
    view.role = port_role(&u, &view.devices);
    bool in = view.devices == u.receivers;
    *(in ? &view.in : &view.out) = channel->capacity;
    return view;
  }
  view.role = host_role(machine, channel, &u);
  if (u.from_host != 0) view.in = channel->capacity / u.in_weight;
  if (u.to_host != 0) view.out = channel->capacity / u.out_weight;
  return view;
}

/* The lesser of two rates, of which 0 is none. */
static double lesser(double a, double b) {
  return a > 0 && b > 0 ? fmin(a, b) : fmax(a, b);
}

int tsr_outline_shared(const tsr_machine *machine, const tsr_outline *outline,
                       tsr_shared_link links[TSR_SHARED_LINKS]) {
  int count = 0;
  for (int c = 0; c < machine->channels; c++) {
    const tsr_channel_view *view = &outline->channel[c];
    int i = 0;
    if (view->role != TSR_CHANNEL_SHARED) continue;
    while (i < count && links[i].devices != view->devices) i++;
    if (i == TSR_SHARED_LINKS) continue;
    if (i == count) links[count++] = (tsr_shared_link){.devices = view->devices};
    links[i].in = lesser(links[i].in, view->in);
    links[i].out = lesser(links[i].out, view->out);
  }
  return count;
}

/* ---- Equal devices ---- */

static bool is_near(double a, double b) {
  return fabs(a - b) <= 0.05 * fmax(a, b);
}

/* The most bytes/s that a device has from another one. */
static double best_peer(const tsr_machine *machine, int device) {
  double best = 0;
  for (int d = 0; d < machine->devices; d++) best = fmax(best, machine->link[d][device].bandwidth);
  return best;
}

/* The devices of a machine string are named gpu0, gpu1 and so on. */
static bool has_model(const tsr_device *device) {
  return strncmp(device->name, "gpu", 3) != 0 && device->name[0] != '\0';
}

static bool same_product(const tsr_device *a, const tsr_device *b) {
  bool same = (!has_model(a) && !has_model(b)) || strcmp(a->name, b->name) == 0;
  return same && is_near(a->memory, b->memory);
}

static bool same_speeds(const tsr_machine *machine, int a, int b) {
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    tsr_type type = tsr_type_at(i)->type;
    if (!is_near(tsr_machine_speed(machine, a, type), tsr_machine_speed(machine, b, type)))
      return false;
  }
  return true;
}

static bool are_equal(const tsr_machine *machine, int a, int b) {
  const tsr_device *x = &machine->device[a], *y = &machine->device[b];
  int home_x = x->host_node, home_y = y->host_node;
  return same_product(x, y) && same_speeds(machine, a, b) &&
         is_near(x->memory_rate, y->memory_rate) &&
         is_near(machine->link[home_x][a].bandwidth, machine->link[home_y][b].bandwidth) &&
         is_near(machine->link[a][home_x].bandwidth, machine->link[b][home_y].bandwidth) &&
         is_near(best_peer(machine, a), best_peer(machine, b));
}

static void group_devices(const tsr_machine *machine, tsr_outline *outline) {
  outline->groups = 0;
  for (int d = 0; d < machine->devices; d++) {
    int g = 0;
    while (g < outline->groups && !are_equal(machine, tsr_mask_first(outline->group[g]), d)) g++;
    if (g == outline->groups) outline->group[outline->groups++] = 0;
    outline->group[g] |= (tsr_device_mask)1 << d;
  }
}

/* ---- Between devices ---- */

static bool has_peer(const tsr_machine *machine, int device) {
  return best_peer(machine, device) > 0;
}

static void look_at_peers(const tsr_machine *machine, tsr_outline *outline) {
  tsr_device_mask ports = 0, linked = 0;
  bool over_host = false;
  int links = 0;
  for (int i = 0; i < machine->devices; i++) {
    if (has_peer(machine, i)) linked |= (tsr_device_mask)1 << i;
    for (int j = 0; j < machine->devices; j++) {
      double rate = machine->link[i][j].bandwidth;
      if (rate <= 0) continue;
      links++;
      outline->peer_most = fmax(outline->peer_most, rate);
      outline->peer_least = outline->peer_least > 0 ? fmin(outline->peer_least, rate) : rate;
    }
  }
  outline->every_pair = links == machine->devices * (machine->devices - 1);
  for (int i = 0; i < machine->channels; i++) {
    const tsr_channel_view *view = &outline->channel[i];
    if (view->role == TSR_CHANNEL_PORT) ports |= view->devices;
    bool host_link = view->role != TSR_CHANNEL_PORT && view->role != TSR_CHANNEL_CROSSING;
    over_host |= host_link && view->between_devices && view->nodes != 0;
  }
  outline->fabric = linked == 0       ? TSR_FABRIC_NONE
                    : ports == linked ? TSR_FABRIC_SWITCH
                    : over_host       ? TSR_FABRIC_HOST_LINK
                                      : TSR_FABRIC_DIRECT;
}

/* ---- Together ---- */

/* Copies that go on at once, whose rates grow alike until a link or a channel is full (max-min
 * fair shares). */
typedef struct flows {
  const tsr_machine *machine;
  int count;
  int from[2 * TSR_MACHINE_DEVICES], to[2 * TSR_MACHINE_DEVICES];
  double rate[2 * TSR_MACHINE_DEVICES]; /* bytes/s */
  bool full[2 * TSR_MACHINE_DEVICES];
} flows;

static double weight_of(const tsr_channel *channel, int from, int to) {
  double weight = 0;
  for (int i = 0; i < channel->count; i++)
    if (channel->uses[i].from == from && channel->uses[i].to == to)
      weight += channel->uses[i].weight;
  return weight;
}

/* By how much every flow that is not full may grow until the channel is full. */
static double room_of_channel(const flows *f, const tsr_channel *channel) {
  double left = channel->capacity, weights = 0;
  for (int i = 0; i < f->count; i++) {
    double weight = weight_of(channel, f->from[i], f->to[i]);
    left -= weight * f->rate[i];
    if (!f->full[i]) weights += weight;
  }
  return weights > 0 ? fmax(left, 0) / weights : INFINITY;
}

static double room_of_link(const flows *f, int i) {
  return f->machine->link[f->from[i]][f->to[i]].bandwidth - f->rate[i];
}

static void mark_full(flows *f) {
  const double nothing = 1; /* byte/s */
  for (int i = 0; i < f->count; i++) f->full[i] |= room_of_link(f, i) < nothing;
  for (int c = 0; c < f->machine->channels; c++) {
    const tsr_channel *channel = &f->machine->channel[c];
    if (room_of_channel(f, channel) >= nothing) continue;
    for (int i = 0; i < f->count; i++) f->full[i] |= weight_of(channel, f->from[i], f->to[i]) > 0;
  }
}

/* False: every flow is full. */
static bool grow(flows *f) {
  double step = INFINITY;
  for (int i = 0; i < f->count; i++)
    if (!f->full[i]) step = fmin(step, room_of_link(f, i));
  for (int c = 0; c < f->machine->channels; c++)
    step = fmin(step, room_of_channel(f, &f->machine->channel[c]));
  if (!isfinite(step)) return false;
  for (int i = 0; i < f->count; i++)
    if (!f->full[i]) f->rate[i] += step;
  mark_full(f);
  return true;
}

static void add_flow(flows *f, int from, int to) {
  if (f->machine->link[from][to].bandwidth <= 0) return;
  f->from[f->count] = from;
  f->to[f->count++] = to;
}

/* *in, *out: what all devices reach together from and to host memory: their nearest node, or
 * interleaved memory. */
static void fill(flows *f, bool into, bool out_of, double *in, double *out) {
  const tsr_machine *machine = f->machine;
  *f = (flows){.machine = machine};
  for (int d = 0; d < machine->devices; d++) {
    int host = tsr_machine_host(machine, machine->device[d].host_node - machine->devices);
    if (into) add_flow(f, host, d);
    if (out_of) add_flow(f, d, host);
  }
  while (grow(f)) continue;
  *in = *out = 0;
  for (int i = 0; i < f->count; i++) *(tsr_is_device(machine, f->to[i]) ? in : out) += f->rate[i];
}

static tsr_status add_together(const tsr_machine *machine, tsr_outline *outline) {
  double none;
  flows *f = tsr_alloc_zero(1, sizeof *f);
  if (f == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to look at a machine: free some");
  f->machine = machine;
  fill(f, true, false, &outline->in, &none);
  fill(f, false, true, &none, &outline->out);
  fill(f, true, true, &outline->both_in, &outline->both_out);
  tsr_dealloc(f);
  return TSR_OK;
}

tsr_status tsr_outline_make(const tsr_machine *machine, tsr_outline *outline) {
  memset(outline, 0, sizeof *outline);
  for (int i = 0; i < machine->channels; i++)
    outline->channel[i] = view_channel(machine, &machine->channel[i]);
  group_devices(machine, outline);
  look_at_peers(machine, outline);
  return add_together(machine, outline);
}

/* ---- Titles ---- */

static void add_product(const tsr_device *device, int count, tsr_text *text) {
  if (has_model(device))
    tsr_text_add(text, "%d x %s", count, device->name);
  else
    tsr_text_add(text, "%d GPU%s", count, count == 1 ? "" : "s");
  if (strstr(device->name, " GB") != NULL) return; /* some names have the memory in them */
  tsr_text_add(text, " (");
  tsr_amount_print(device->memory / GIGA, text);
  tsr_text_add(text, " GB)");
}

void tsr_outline_devices(const tsr_machine *machine, tsr_text *text) {
  if (machine->devices == 0) tsr_text_add(text, "the CPU alone");
  for (int d = 0, next; d < machine->devices; d = next) {
    for (next = d + 1; next < machine->devices; next++)
      if (!same_product(&machine->device[d], &machine->device[next])) break;
    if (d > 0) tsr_text_add(text, ", ");
    add_product(&machine->device[d], next - d, text);
  }
}

static void add_count(tsr_text *text, int count, const char *what) {
  if (count > 0) tsr_text_add(text, ", %d %s%s", count, what, count == 1 ? "" : "s");
}

void tsr_outline_title(const tsr_machine *machine, tsr_text *text) {
  if (strcmp(machine->source, "built-in") == 0)
    tsr_text_add(text, "%s", machine->name);
  else
    tsr_outline_devices(machine, text);
  add_count(text, machine->host.sockets, "socket");
  add_count(text, machine->host.cores, "core");
  if (machine->nodes > 1 && machine->nodes != machine->host.sockets)
    add_count(text, machine->nodes, "host memory node");
  if (machine->interleaved) tsr_text_add(text, ", interleaved");
  if (machine->host.memory <= 0) return;
  tsr_text_add(text, ", ");
  tsr_amount_print(machine->host.memory / GIGA, text);
  tsr_text_add(text, " GB");
}

/* Whether the machine's name tells more than its title does: a measured machine is called by the
 * number and the name of its devices. */
static bool has_own_name(const tsr_machine *machine) {
  char usual[sizeof machine->name];
  if (machine->name[0] == '\0' || machine->devices == 0) return machine->name[0] != '\0';
  snprintf(usual, sizeof usual, "%d x %s", machine->devices, machine->device[0].name);
  return strcmp(machine->name, usual) != 0;
}

void tsr_outline_source(const tsr_machine *machine, tsr_text *text) {
  const char *source = machine->source;
  if (strcmp(source, "file") == 0 && has_own_name(machine))
    tsr_text_add(text, "%s, ", machine->name);
  if (machine->measured[0] != '\0')
    tsr_text_add(text, "measured %s", machine->measured);
  else if (strcmp(source, "file") == 0)
    tsr_text_add(text, "from a file");
  else
    tsr_text_add(text, "%s",
                 strcmp(source, "string") == 0     ? "as described"
                 : strcmp(source, "built-in") == 0 ? "built in"
                                                   : "measured");
}

/* One of the parts, in lines. */
static void add_part(const tsr_text *part, int column, tsr_text *text) {
  text->broken |= part->broken;
  if (part->length > 0 && !part->broken) tsr_text_add_lines(text, "", column, part->bytes);
}

void tsr_outline_about(const tsr_machine *machine, int column, tsr_text *text) {
  tsr_text about = TSR_TEXT_INIT, origins = TSR_TEXT_INIT;
  if (machine->about[0] != '\0') tsr_text_add(&about, "%s", machine->about);
  tsr_origins_print(machine, &origins);
  add_part(&about, column, text);
  add_part(&origins, column, text);
  tsr_text_free(&about);
  tsr_text_free(&origins);
}
