#include "roofs.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FLOWS = 128 };

struct roofs_machine {
  cJSON *root;
};

/* A part of the bytes that move, on one link. */
typedef struct flow {
  char from[16], to[16];
  double share;
} flow;

typedef struct mix {
  flow flows[MOST_FLOWS];
  int count;
} mix;

static double number_of(const cJSON *object, const char *name, double otherwise) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

static const char *text_of(const cJSON *object, const char *name, const char *otherwise) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsString(item) ? item->valuestring : otherwise;
}

static const cJSON *list_of(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* ---- A mix of flows at the highest rate ---- */

static void add_flow(mix *m, const char *from, const char *to, double share) {
  if (m->count == MOST_FLOWS) return;
  flow *f = &m->flows[m->count++];
  snprintf(f->from, sizeof f->from, "%s", from);
  snprintf(f->to, sizeof f->to, "%s", to);
  f->share = share;
}

static double share_on(const mix *m, const char *from, const char *to) {
  double share = 0;
  for (int i = 0; i < m->count; i++) {
    const flow *f = &m->flows[i];
    if (strcmp(f->from, from) == 0 && strcmp(f->to, to) == 0) share += f->share;
  }
  return share;
}

/* What the mix takes of a channel for each byte/s of all of it. */
static double load_of(const mix *m, const cJSON *channel) {
  const cJSON *use;
  double load = 0;
  cJSON_ArrayForEach(use, list_of(channel, "uses")) {
    const cJSON *from = cJSON_GetArrayItem(use, 0), *to = cJSON_GetArrayItem(use, 1);
    const cJSON *weight = cJSON_GetArrayItem(use, 2);
    if (!cJSON_IsString(from) || !cJSON_IsString(to)) continue;
    load += share_on(m, from->valuestring, to->valuestring) * (weight ? weight->valuedouble : 1);
  }
  return load;
}

/* Bytes/s of all flows together, their shares as they are; 0 when a link is missing. */
static double rate_of(const mix *m, const cJSON *machine) {
  const cJSON *link, *channel;
  double rate = INFINITY, linked = 0;
  cJSON_ArrayForEach(link, list_of(machine, "links")) {
    double share = share_on(m, text_of(link, "from", ""), text_of(link, "to", ""));
    if (share <= 0) continue;
    rate = fmin(rate, number_of(link, "bandwidth", 0) / share);
    linked += share;
  }
  if (linked < 1 - 1e-9) return 0;
  cJSON_ArrayForEach(channel, list_of(machine, "channels")) {
    double load = load_of(m, channel);
    if (load > 0) rate = fmin(rate, number_of(channel, "capacity", 0) / load);
  }
  return rate;
}

/* ---- The roofs ---- */

double roofs_host_rate(const roofs_machine *machine, int devices, double in) {
  mix m = {.count = 0};
  for (int d = 0; d < devices; d++) {
    const cJSON *device = cJSON_GetArrayItem(list_of(machine->root, "devices"), d);
    const char *node = text_of(device, "host_node", "host0");
    char name[16];
    snprintf(name, sizeof name, "gpu%d", d);
    add_flow(&m, node, name, in / devices);
    add_flow(&m, name, node, (1 - in) / devices);
  }
  return rate_of(&m, machine->root);
}

static double fabric_rate(const cJSON *machine, int devices) {
  mix m = {.count = 0};
  if (devices < 2) return 0;
  for (int d = 1; d < devices; d++) {
    char name[16];
    snprintf(name, sizeof name, "gpu%d", d);
    add_flow(&m, "gpu0", name, 1.0 / (devices - 1));
  }
  return rate_of(&m, machine);
}

static void sum_devices(const cJSON *machine, double sustained, roofs *found) {
  for (int d = 0; d < found->devices; d++) {
    const cJSON *device = cJSON_GetArrayItem(list_of(machine, "devices"), d);
    found->kernels += sustained * number_of(device, "speed", 1);
    found->memory += number_of(device, "memory_rate", 0);
  }
}

int roofs_devices(const roofs_machine *machine) {
  return cJSON_GetArraySize(list_of(machine->root, "devices"));
}

int roofs_find(const roofs_machine *machine, tsr_type type, int devices, roofs *found) {
  const cJSON *root = machine->root;
  const char name[2] = {(char)type, '\0'};
  int there = roofs_devices(machine);
  double sustained = number_of(list_of(list_of(root, "rates"), name), "sustained", 0);
  if (devices > there) {
    return tool_fail("%d devices: the machine has %d; name another with --machine", devices, there);
  }
  if (sustained <= 0) return tool_fail("the machine has no rate of type %s", name);
  *found = (roofs){.devices = devices};
  sum_devices(root, sustained, found);
  found->host = roofs_host_rate(machine, devices, 0.75);
  found->fabric = fabric_rate(root, devices);
  return TOOL_OK;
}

int roofs_open(tsr_context *context, roofs_machine **machine) {
  char *text = NULL;
  int code = tool_status(tsr_machine_print(context, TSR_JSON, &text));
  if (code != TOOL_OK) return code;
  roofs_machine *made = calloc(1, sizeof *made);
  if (made) made->root = cJSON_Parse(text);
  free(text);
  if (made && made->root) {
    *machine = made;
    return TOOL_OK;
  }
  free(made);
  return tool_fail("the machine cannot be read");
}

void roofs_close(roofs_machine *machine) {
  if (!machine) return;
  cJSON_Delete(machine->root);
  free(machine);
}
