/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Machine files: read here with cJSON, written by json.c. An error names the path and the place in
 * the JSON ("links[3].bandwidth"). A field that is unknown is an error, so that a misspelt field
 * does not silently stay at its default.
 */
#include <cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "machine/machine.h"
#include "machine/origin.h"

enum { PLACE = 96, VERSION = 1 };

/* A value of the file, and its place for messages. */
typedef struct node {
  const char *path;
  char place[PLACE]; /* "": the whole file */
  const cJSON *json;
  tsr_machine *machine;
} node;

static tsr_status fail_at(const node *n, const char *expected) {
  return tsr_fail(TSR_ERR_MACHINE, "%s: %s: expected %s", n->path,
                  n->place[0] != '\0' ? n->place : "the file", expected);
}

/* ---- Going down ---- */

/* A place that is too long is cut: it still says where to look. */
static void add_place(node *n, const char *step) {
  size_t length = strlen(n->place);
  snprintf(n->place + length, PLACE - length, "%s", step);
}

/* The member of n with that name; json is NULL: there is none. */
static node member(const node *n, const char *key) {
  node below = *n;
  if (n->place[0] != '\0') add_place(&below, ".");
  add_place(&below, key);
  below.json = cJSON_GetObjectItemCaseSensitive(n->json, key);
  return below;
}

static node element(const node *n, int index) {
  node below = *n;
  char step[16];
  snprintf(step, sizeof step, "[%d]", index);
  add_place(&below, step);
  below.json = cJSON_GetArrayItem(n->json, index);
  return below;
}

/* Checks that n is an object, and that each member is one of keys (NULL ends the list) and is there
 * only once. */
static tsr_status check_object(const node *n, const char *const *keys) {
  if (!cJSON_IsObject(n->json)) return fail_at(n, "an object, { ... }");
  for (const cJSON *item = n->json->child; item != NULL; item = item->next) {
    int i = 0;
    while (keys[i] != NULL && strcmp(keys[i], item->string) != 0) i++;
    node below = member(n, item->string);
    if (keys[i] == NULL)
      return fail_at(&below, "no field of this name; docs/reference/machine.md lists them");
    if (below.json != item) return fail_at(&below, "this field only once");
  }
  return TSR_OK;
}

static tsr_status check_list(const node *n, int least, int most) {
  char expected[64];
  int count = cJSON_IsArray(n->json) ? cJSON_GetArraySize(n->json) : -1;
  if (count >= least && count <= most) return TSR_OK;
  snprintf(expected, sizeof expected, "a list, [ ... ], of %d to %d", least, most);
  return fail_at(n, expected);
}

/* ---- Values ---- */

static tsr_status get_number(const node *n, double *value) {
  if (!cJSON_IsNumber(n->json)) return fail_at(n, "a number");
  double number = n->json->valuedouble;
  if (number - number != 0) return fail_at(n, "a number that is not infinite");
  *value = number;
  return TSR_OK;
}

/* *value stays as it is if the file has no such member. */
static tsr_status get_optional(const node *n, const char *key, double *value) {
  node below = member(n, key);
  return below.json != NULL ? get_number(&below, value) : TSR_OK;
}

static tsr_status get_required(const node *n, const char *key, double *value) {
  node below = member(n, key);
  return get_number(&below, value);
}

static tsr_status get_whole(const node *n, int least, int most, int *value) {
  double number = 0;
  char expected[64];
  TSR_TRY(get_number(n, &number));
  snprintf(expected, sizeof expected, "a whole number, %d to %d", least, most);
  if (number < least || number > most || number != (int)number) return fail_at(n, expected);
  *value = (int)number;
  return TSR_OK;
}

static tsr_status get_string(const node *n, const char *key, size_t room, char *value) {
  node below = member(n, key);
  if (below.json == NULL) return TSR_OK;
  if (!cJSON_IsString(below.json) || strlen(below.json->valuestring) >= room) {
    char expected[64];
    snprintf(expected, sizeof expected, "a string of at most %d bytes", (int)room - 1);
    return fail_at(&below, expected);
  }
  snprintf(value, room, "%s", below.json->valuestring);
  return TSR_OK;
}

static tsr_status get_numbers(const node *n, int most, int *count, double *values) {
  TSR_TRY(check_list(n, 1, most));
  *count = cJSON_GetArraySize(n->json);
  for (int i = 0; i < *count; i++) {
    node below = element(n, i);
    TSR_TRY(get_number(&below, &values[i]));
  }
  return TSR_OK;
}

/* Reads the name of a location of this machine: "gpu3" or "host0". */
static tsr_status get_location(const node *n, int *location) {
  const tsr_machine *machine = n->machine;
  for (int i = 0; cJSON_IsString(n->json) && i < machine->devices + machine->nodes; i++) {
    char name[TSR_LOCATION_NAME];
    tsr_location_name(machine, i, name);
    if (strcmp(name, n->json->valuestring) != 0) continue;
    *location = i;
    return TSR_OK;
  }
  return fail_at(n, "a location of this machine, such as \"gpu0\" or \"host0\"");
}

/* ---- Parts of a machine ---- */

static tsr_status read_speeds(const node *n, tsr_device *device) {
  static const char *const keys[] = {"s", "d", "c", "z", "h", "b", "t", NULL};
  node speeds = member(n, "speeds");
  if (speeds.json == NULL) return TSR_OK;
  TSR_TRY(check_object(&speeds, keys));
  for (int i = 0; keys[i] != NULL; i++)
    TSR_TRY(
        get_optional(&speeds, keys[i], &device->type_speed[tsr_type_index((tsr_type)*keys[i])]));
  return TSR_OK;
}

static tsr_status read_device(const node *n, tsr_device *device) {
  static const char *const keys[] = {"name",           "identity",  "speed",
                                     "speeds",         "memory",    "memory_rate",
                                     "kernel_latency", "host_node", NULL};
  TSR_TRY(check_object(n, keys));
  device->speed = 1;
  device->host_node = n->machine->devices;
  TSR_TRY(get_string(n, "name", sizeof device->name, device->name));
  TSR_TRY(get_string(n, "identity", sizeof device->identity, device->identity));
  TSR_TRY(get_optional(n, "speed", &device->speed));
  TSR_TRY(read_speeds(n, device));
  TSR_TRY(get_required(n, "memory", &device->memory));
  TSR_TRY(get_required(n, "memory_rate", &device->memory_rate));
  TSR_TRY(get_optional(n, "kernel_latency", &device->kernel_latency));
  node host = member(n, "host_node");
  return host.json != NULL ? get_location(&host, &device->host_node) : TSR_OK;
}

static tsr_status read_curve(const node *n, tsr_curve *curve) {
  if (n->json == NULL) return TSR_OK;
  TSR_TRY(check_list(n, 0, TSR_CURVE_POINTS));
  curve->count = cJSON_GetArraySize(n->json);
  for (int i = 0; i < curve->count; i++) {
    node point = element(n, i);
    TSR_TRY(check_list(&point, 2, 2));
    node size = element(&point, 0), rate = element(&point, 1);
    TSR_TRY(get_number(&size, &curve->size[i]));
    TSR_TRY(get_number(&rate, &curve->rate[i]));
  }
  return TSR_OK;
}

/* An empty shape would say nothing, so that it is refused. */
static tsr_status read_close(const node *n, tsr_link *link) {
  static const char *const keys[] = {"pitch", "shape", NULL};
  if (n->json == NULL) return TSR_OK;
  TSR_TRY(check_object(n, keys));
  TSR_TRY(get_required(n, "pitch", &link->close.pitch));
  node shape = member(n, "shape");
  TSR_TRY(check_list(&shape, 1, TSR_CURVE_POINTS));
  return read_curve(&shape, &link->close.shape);
}

static tsr_status read_link(const node *n) {
  static const char *const keys[] = {"from", "to", "bandwidth", "latency", "shape", "close", NULL};
  int from = 0, to = 0;
  TSR_TRY(check_object(n, keys));
  node from_node = member(n, "from"), to_node = member(n, "to"), shape = member(n, "shape");
  TSR_TRY(get_location(&from_node, &from));
  TSR_TRY(get_location(&to_node, &to));
  tsr_link *link = &n->machine->link[from][to];
  if (link->bandwidth != 0) return fail_at(n, "each link only once");
  TSR_TRY(get_required(n, "bandwidth", &link->bandwidth));
  if (!(link->bandwidth > 0)) return fail_at(n, "a bandwidth of more than 0; else remove it");
  TSR_TRY(get_optional(n, "latency", &link->latency));
  TSR_TRY(read_curve(&shape, &link->shape));
  node close = member(n, "close");
  return read_close(&close, link);
}

static tsr_status read_use(const node *n, int channel) {
  int from = 0, to = 0;
  double weight = 1;
  TSR_TRY(check_list(n, 2, 3));
  node from_node = element(n, 0), to_node = element(n, 1), weight_node = element(n, 2);
  TSR_TRY(get_location(&from_node, &from));
  TSR_TRY(get_location(&to_node, &to));
  if (weight_node.json != NULL) TSR_TRY(get_number(&weight_node, &weight));
  return tsr_machine_use_channel(n->machine, channel, from, to, weight);
}

static tsr_status read_channel(const node *n) {
  static const char *const keys[] = {"name", "capacity", "uses", NULL};
  char name[sizeof n->machine->channel[0].name] = "";
  double capacity = 0;
  TSR_TRY(check_object(n, keys));
  TSR_TRY(get_string(n, "name", sizeof name, name));
  TSR_TRY(get_required(n, "capacity", &capacity));
  node uses = member(n, "uses");
  TSR_TRY(check_list(&uses, 1, TSR_MACHINE_LOCATIONS * TSR_MACHINE_LOCATIONS));
  int channel = tsr_machine_add_channel(n->machine, name, capacity);
  for (int i = 0; i < cJSON_GetArraySize(uses.json); i++) {
    node use = element(&uses, i);
    TSR_TRY(read_use(&use, channel));
  }
  return TSR_OK;
}

static tsr_status read_table(const node *n, const tsr_rates *rates,
                             double table[TSR_RATE_POINTS][TSR_RATE_POINTS]) {
  TSR_TRY(check_list(n, rates->areas, rates->areas));
  for (int i = 0; i < rates->areas; i++) {
    node row = element(n, i);
    int count = 0;
    TSR_TRY(check_list(&row, rates->ks, rates->ks));
    TSR_TRY(get_numbers(&row, rates->ks, &count, table[i]));
  }
  return TSR_OK;
}

/* The names of the level-3 routines, in the order of tsr_kernel from symm on. */
static const char *const routine_keys[] = {"symm",  "hemm", "syrk", "herk", "syr2k",
                                           "her2k", "trmm", "trsm", NULL};

static tsr_status read_routines(const node *n, tsr_rates *rates) {
  if (n->json == NULL) return TSR_OK;
  TSR_TRY(check_object(n, routine_keys));
  for (int i = 0; routine_keys[i] != NULL; i++) {
    node parts = member(n, routine_keys[i]);
    double given[2];
    int count = 0;
    if (parts.json == NULL) continue;
    TSR_TRY(check_list(&parts, 2, 2));
    TSR_TRY(get_numbers(&parts, 2, &count, given));
    rates->routine[TSR_KERNEL_SYMM + i] = (struct tsr_routine){given[0], given[1]};
  }
  return TSR_OK;
}

static tsr_status read_emulated(const node *n, tsr_rates *rates) {
  static const char *const keys[] = {"elements", "sustained", "flops", NULL};
  if (n->json == NULL) return TSR_OK;
  TSR_TRY(check_object(n, keys));
  TSR_TRY(get_required(n, "elements", &rates->emulated.elements));
  TSR_TRY(get_required(n, "sustained", &rates->emulated.sustained));
  node flops = member(n, "flops");
  return read_table(&flops, rates, rates->emulated.flops);
}

static tsr_status read_rates(const node *n, tsr_rates *rates) {
  static const char *const keys[] = {"area",      "k",        "flops",    "hot",       "narrow",
                                     "trapezoid", "routines", "emulated", "sustained", NULL};
  TSR_TRY(check_object(n, keys));
  node area = member(n, "area"), k = member(n, "k"), flops = member(n, "flops"),
       hot = member(n, "hot"), narrow = member(n, "narrow"), trapezoid = member(n, "trapezoid");
  TSR_TRY(get_numbers(&area, TSR_RATE_POINTS, &rates->areas, rates->area));
  TSR_TRY(get_numbers(&k, TSR_RATE_POINTS, &rates->ks, rates->k));
  TSR_TRY(read_table(&flops, rates, rates->flops));
  TSR_TRY(get_required(n, "sustained", &rates->sustained));
  TSR_TRY(read_curve(&narrow, &rates->narrow));
  TSR_TRY(read_curve(&trapezoid, &rates->trapezoid));
  node routines = member(n, "routines");
  TSR_TRY(read_routines(&routines, rates));
  node emulated = member(n, "emulated");
  TSR_TRY(read_emulated(&emulated, rates));
  tsr_rates_guess_hot(rates);
  return hot.json != NULL ? read_table(&hot, rates, rates->hot) : TSR_OK;
}

/* The keys of objects that have a value for each type. */
static const char *const type_keys[] = {"s", "d", "c", "z", "h", "b", "t", NULL};

static tsr_status read_all_rates(const node *n) {
  if (n->json == NULL) return TSR_OK;
  TSR_TRY(check_object(n, type_keys));
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    node below = member(n, type_keys[i]);
    if (below.json != NULL) TSR_TRY(read_rates(&below, &n->machine->rates[i]));
  }
  return TSR_OK;
}

static tsr_status read_cpu(const node *n) {
  static const char *const keys[] = {"latency", "flops", NULL};
  if (n->json == NULL) return TSR_OK;
  TSR_TRY(check_object(n, keys));
  TSR_TRY(get_optional(n, "latency", &n->machine->cpu_latency));
  node flops = member(n, "flops");
  if (flops.json == NULL) return TSR_OK;
  TSR_TRY(check_object(&flops, type_keys));
  for (int i = 0; i < TSR_TYPE_COUNT; i++)
    TSR_TRY(get_optional(&flops, type_keys[i], &n->machine->cpu_flops[i]));
  return TSR_OK;
}

static tsr_status read_staging(const node *n) {
  static const char *const keys[] = {"threads", "thread_rate", "rate", "start", NULL};
  if (n->json == NULL) return TSR_OK;
  TSR_TRY(check_object(n, keys));
  node staging_threads = member(n, "threads");
  TSR_TRY(get_whole(&staging_threads, 0, 4096, &n->machine->staging_threads));
  TSR_TRY(get_required(n, "thread_rate", &n->machine->thread_rate));
  TSR_TRY(get_required(n, "rate", &n->machine->staging_rate));
  return get_optional(n, "start", &n->machine->staging_start);
}

static tsr_status read_submit(const node *n) {
  static const char *const keys[] = {"copy", "kernel", "record", "wait", "turnaround", NULL};
  if (n->json == NULL) return TSR_OK;
  TSR_TRY(check_object(n, keys));
  TSR_TRY(get_required(n, "copy", &n->machine->submit_copy));
  TSR_TRY(get_required(n, "kernel", &n->machine->submit_kernel));
  TSR_TRY(get_optional(n, "record", &n->machine->submit_record));
  TSR_TRY(get_optional(n, "wait", &n->machine->submit_wait));
  return get_optional(n, "turnaround", &n->machine->turnaround);
}

static tsr_status read_network(const node *n) {
  static const char *const keys[] = {"bandwidth", "latency", NULL};
  tsr_network *network = &n->machine->network;
  if (n->json == NULL) return TSR_OK;
  TSR_TRY(check_object(n, keys));
  TSR_TRY(get_required(n, "bandwidth", &network->bandwidth));
  if (!(network->bandwidth > 0)) return fail_at(n, "a bandwidth of more than 0; else remove it");
  return get_optional(n, "latency", &network->latency);
}

/* ---- The whole ---- */

static tsr_status read_host(const node *n) {
  static const char *const keys[] = {"cpu", "sockets", "cores", "memory", NULL};
  tsr_host *host = &n->machine->host;
  if (n->json == NULL) return TSR_OK;
  TSR_TRY(check_object(n, keys));
  TSR_TRY(get_string(n, "cpu", sizeof host->cpu, host->cpu));
  node sockets = member(n, "sockets"), cores = member(n, "cores");
  if (sockets.json != NULL) TSR_TRY(get_whole(&sockets, 1, 1024, &host->sockets));
  if (cores.json != NULL) TSR_TRY(get_whole(&cores, 1, 1 << 20, &host->cores));
  TSR_TRY(get_optional(n, "memory", &host->memory));
  node memory = member(n, "memory");
  return host->memory >= 0 ? TSR_OK : fail_at(&memory, "bytes, 0 or more");
}

static tsr_status get_origin(const node *n, const char *key, tsr_origin *origin) {
  node below = member(n, key);
  if (below.json == NULL) return TSR_OK;
  tsr_origin found =
      cJSON_IsString(below.json) ? tsr_origin_find(below.json->valuestring) : TSR_ORIGINS;
  if (found == TSR_ORIGINS)
    return fail_at(&below,
                   "measured, measured under load, published, extrapolated, data sheet or assumed");
  *origin = found;
  return TSR_OK;
}

static tsr_status read_origins(const node *n) {
  const char *keys[TSR_FIGURES + 2] = {NULL};
  tsr_origins *origins = &n->machine->origins;
  if (n->json == NULL) return TSR_OK;
  for (int i = 0; i < TSR_FIGURES; i++) keys[i] = tsr_figure_key((tsr_figure)i);
  keys[TSR_FIGURES] = "types";
  TSR_TRY(check_object(n, keys));
  for (int i = 0; i < TSR_FIGURES; i++) TSR_TRY(get_origin(n, keys[i], &origins->of[i]));
  node types = member(n, "types");
  if (types.json == NULL) return TSR_OK;
  TSR_TRY(check_object(&types, type_keys));
  for (int i = 0; i < TSR_TYPE_COUNT; i++)
    TSR_TRY(get_origin(&types, type_keys[i], &origins->type[i]));
  return TSR_OK;
}

static tsr_status read_head(const node *n) {
  static const char *const keys[] = {
      "tessera_machine", "name",     "identity", "interleaved", "nodes",   "devices",
      "links",           "channels", "rates",    "cpu",         "staging", "submit",
      "network",         "measured", "host",     "about",       "origins", NULL};
  tsr_machine *machine = n->machine;
  int version = 0;
  TSR_TRY(check_object(n, keys));
  node version_node = member(n, "tessera_machine"), interleaved = member(n, "interleaved");
  node nodes = member(n, "nodes"), devices = member(n, "devices"), host = member(n, "host");
  node origins = member(n, "origins");
  TSR_TRY(get_whole(&version_node, VERSION, VERSION, &version));
  TSR_TRY(get_string(n, "name", sizeof machine->name, machine->name));
  TSR_TRY(get_string(n, "identity", sizeof machine->identity, machine->identity));
  TSR_TRY(get_string(n, "measured", sizeof machine->measured, machine->measured));
  TSR_TRY(get_string(n, "about", sizeof machine->about, machine->about));
  TSR_TRY(read_origins(&origins));
  TSR_TRY(read_host(&host));
  if (interleaved.json != NULL && !cJSON_IsBool(interleaved.json))
    return fail_at(&interleaved, "true or false");
  machine->interleaved = cJSON_IsTrue(interleaved.json);
  TSR_TRY(get_whole(&nodes, 1, TSR_MACHINE_NODES, &machine->nodes));
  TSR_TRY(check_list(&devices, 0, TSR_MACHINE_DEVICES));
  machine->devices = cJSON_GetArraySize(devices.json);
  return TSR_OK;
}

static tsr_status read_lists(const node *n) {
  node devices = member(n, "devices"), links = member(n, "links"), channels = member(n, "channels");
  for (int i = 0; i < n->machine->devices; i++) {
    node device = element(&devices, i);
    TSR_TRY(read_device(&device, &n->machine->device[i]));
  }
  TSR_TRY(check_list(&links, 0, TSR_MACHINE_LOCATIONS * TSR_MACHINE_LOCATIONS));
  for (int i = 0; i < cJSON_GetArraySize(links.json); i++) {
    node link = element(&links, i);
    TSR_TRY(read_link(&link));
  }
  if (channels.json == NULL) return TSR_OK;
  TSR_TRY(check_list(&channels, 0, TSR_MACHINE_CHANNELS));
  for (int i = 0; i < cJSON_GetArraySize(channels.json); i++) {
    node channel = element(&channels, i);
    TSR_TRY(read_channel(&channel));
  }
  return TSR_OK;
}

static tsr_status read_machine(const node *n) {
  snprintf(n->machine->source, sizeof n->machine->source, "file");
  TSR_TRY(read_head(n));
  TSR_TRY(read_lists(n));
  node rates = member(n, "rates"), cpu = member(n, "cpu");
  node staging = member(n, "staging"), submit = member(n, "submit"), net = member(n, "network");
  TSR_TRY(read_all_rates(&rates));
  TSR_TRY(read_cpu(&cpu));
  TSR_TRY(read_staging(&staging));
  TSR_TRY(read_submit(&submit));
  TSR_TRY(read_network(&net));
  tsr_status status = tsr_machine_check(n->machine);
  if (status == TSR_OK) return tsr_machine_complete(n->machine);
  return tsr_fail(status, "%s: %s", n->path, tsr_message());
}

static tsr_status parse_json(const char *path, const char *bytes, size_t length, cJSON **json) {
  const char *end = bytes;
  cJSON *parsed = cJSON_ParseWithLengthOpts(bytes, length + 1, &end, true);
  if (parsed != NULL) {
    *json = parsed;
    return TSR_OK;
  }
  int line = 1;
  for (const char *c = bytes; c < end; c++) line += *c == '\n';
  return tsr_fail(TSR_ERR_MACHINE, "%s: line %d is not JSON, or the file ends too early", path,
                  line);
}

static tsr_status read_json(const char *path, const cJSON *json, tsr_machine **machine) {
  node whole = {.path = path, .json = json};
  TSR_TRY(tsr_machine_create(&whole.machine));
  tsr_status status = read_machine(&whole);
  if (status != TSR_OK) {
    tsr_machine_destroy(whole.machine);
    return status;
  }
  *machine = whole.machine;
  return TSR_OK;
}

static tsr_status read_bytes(const char *path, const char *bytes, size_t length,
                             tsr_machine **machine) {
  cJSON *json = NULL;
  TSR_TRY(parse_json(path, bytes, length, &json));
  tsr_status status = read_json(path, json, machine);
  cJSON_Delete(json);
  return status;
}

tsr_status tsr_machine_read(const char *path, tsr_machine **machine) {
  char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_text_read_file(path, &bytes, &length));
  tsr_status status = read_bytes(path, bytes, length, machine);
  tsr_dealloc(bytes);
  return status;
}

tsr_status tsr_machine_read_json(const char *json, tsr_machine **machine) {
  return read_bytes("the machine", json, strlen(json), machine);
}

tsr_status tsr_machine_write(const tsr_machine *machine, const char *path) {
  tsr_text text = TSR_TEXT_INIT;
  tsr_status status = tsr_machine_print_json(machine, &text);
  if (status == TSR_OK) status = tsr_text_write_file(path, text.bytes, text.length);
  tsr_text_free(&text);
  return status;
}
