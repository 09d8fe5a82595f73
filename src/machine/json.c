/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Writes a machine as JSON, in the form that file.c reads. Every number is read back as the same
 * bits. */
#include <stdio.h>

#include "machine/machine.h"
#include "machine/origin.h"

/* Appends the shortest decimal form that is read back as the same number. */
static void add_number(tsr_text *text, double value) {
  tsr_text digits = TSR_TEXT_INIT;
  for (int precision = 6; precision <= 17; precision++) {
    const char *end;
    double back = 0;
    digits.length = 0;
    tsr_text_add(&digits, "%.*g", precision, value);
    if (digits.broken || (tsr_c_number(digits.bytes, &end, &back) && back == value)) break;
  }
  tsr_text_add(text, "%s", digits.broken ? "" : digits.bytes);
  text->broken |= digits.broken;
  tsr_text_free(&digits);
}

static void add_field(tsr_text *text, const char *before, const char *key, double value) {
  tsr_text_add(text, "%s\"%s\": ", before, key);
  add_number(text, value);
}

static void add_string(tsr_text *text, const char *before, const char *key, const char *value) {
  tsr_text_add(text, "%s\"%s\": \"", before, key);
  tsr_text_add_json(text, value);
  tsr_text_add(text, "\"");
}

static void add_list(tsr_text *text, const double *values, int count) {
  tsr_text_add(text, "[");
  for (int i = 0; i < count; i++) {
    tsr_text_add(text, i > 0 ? ", " : "");
    add_number(text, values[i]);
  }
  tsr_text_add(text, "]");
}

static const char *separator(bool *first) {
  const char *between = *first ? "\n" : ",\n";
  *first = false;
  return between;
}

static void add_location(tsr_text *text, const tsr_machine *machine, int location) {
  char name[TSR_LOCATION_NAME];
  tsr_location_name(machine, location, name);
  tsr_text_add(text, "\"%s\"", name);
}

static void add_speeds(tsr_text *text, const tsr_device *device) {
  bool any = false;
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    char name[2] = {(char)tsr_type_at(i)->type, '\0'};
    if (device->type_speed[i] <= 0) continue;
    add_field(text, any ? ", " : ", \"speeds\": {", name, device->type_speed[i]);
    any = true;
  }
  tsr_text_add(text, any ? "}" : "");
}

static void add_device(tsr_text *text, const tsr_machine *machine, const tsr_device *device) {
  add_string(text, "    {", "name", device->name);
  add_string(text, ", ", "identity", device->identity);
  add_field(text, ",\n     ", "speed", device->speed);
  add_speeds(text, device);
  add_field(text, ", ", "memory", device->memory);
  add_field(text, ", ", "memory_rate", device->memory_rate);
  add_field(text, ",\n     ", "kernel_latency", device->kernel_latency);
  tsr_text_add(text, ", \"host_node\": ");
  add_location(text, machine, device->host_node);
  tsr_text_add(text, "}");
}

static void add_curve(tsr_text *text, const char *before, const char *name,
                      const tsr_curve *curve) {
  if (curve->count == 0) return;
  tsr_text_add(text, "%s\"%s\": [", before, name);
  for (int i = 0; i < curve->count; i++) {
    double point[2] = {curve->size[i], curve->rate[i]};
    tsr_text_add(text, i > 0 ? ", " : "");
    add_list(text, point, 2);
  }
  tsr_text_add(text, "]");
}

static void add_close(tsr_text *text, const tsr_link *link) {
  if (link->close.shape.count == 0) return;
  add_field(text, ",\n     \"close\": {", "pitch", link->close.pitch);
  add_curve(text, ", ", "shape", &link->close.shape);
  tsr_text_add(text, "}");
}

static void add_link(tsr_text *text, const tsr_machine *machine, int from, int to) {
  const tsr_link *link = &machine->link[from][to];
  tsr_text_add(text, "    {\"from\": ");
  add_location(text, machine, from);
  tsr_text_add(text, ", \"to\": ");
  add_location(text, machine, to);
  add_field(text, ", ", "bandwidth", link->bandwidth);
  add_field(text, ", ", "latency", link->latency);
  add_curve(text, ",\n     ", "shape", &link->shape);
  add_close(text, link);
  tsr_text_add(text, "}");
}

static void add_links(tsr_text *text, const tsr_machine *machine) {
  int locations = machine->devices + machine->nodes;
  bool first = true;
  for (int i = 0; i < locations; i++) {
    for (int j = 0; j < locations; j++) {
      if (machine->link[i][j].bandwidth <= 0) continue;
      tsr_text_add(text, "%s", separator(&first));
      add_link(text, machine, i, j);
    }
  }
}

static void add_use(tsr_text *text, const tsr_machine *machine, const tsr_channel_use *use) {
  tsr_text_add(text, "[");
  add_location(text, machine, use->from);
  tsr_text_add(text, ", ");
  add_location(text, machine, use->to);
  tsr_text_add(text, ", ");
  add_number(text, use->weight);
  tsr_text_add(text, "]");
}

static void add_channel(tsr_text *text, const tsr_machine *machine, const tsr_channel *channel) {
  add_string(text, "    {", "name", channel->name);
  add_field(text, ", ", "capacity", channel->capacity);
  tsr_text_add(text, ", \"uses\": [");
  for (int i = 0, added = 0; i < channel->count; i++) {
    if (tsr_channel_use_follows(machine, &channel->uses[i])) continue;
    tsr_text_add(text, added == 0 ? "\n     " : added % 4 == 0 ? ",\n     " : ", ");
    add_use(text, machine, &channel->uses[i]);
    added++;
  }
  tsr_text_add(text, "]}");
}

static void add_table(tsr_text *text, const char *name, const tsr_rates *rates,
                      const double table[TSR_RATE_POINTS][TSR_RATE_POINTS]) {
  tsr_text_add(text, ",\n      \"%s\": [", name);
  for (int i = 0; i < rates->areas; i++) {
    tsr_text_add(text, i > 0 ? ",\n        " : "\n        ");
    add_list(text, table[i], rates->ks);
  }
  tsr_text_add(text, "]");
}

/* The routines that were measured: {"trsm": [vendor, blocks], ...}. */
static void add_routines(tsr_text *text, const tsr_rates *rates) {
  bool any = false;
  for (int i = 0; i < TSR_KERNEL_COUNT; i++) {
    const double parts[2] = {rates->routine[i].vendor, rates->routine[i].blocks};
    if (parts[0] <= 0) continue;
    tsr_text_add(text, "%s\"%s\": ", any ? ", " : ",\n      \"routines\": {",
                 tsr_kernel_get((tsr_kernel)i)->name);
    add_list(text, parts, 2);
    any = true;
  }
  if (any) tsr_text_add(text, "}");
}

static void add_emulated(tsr_text *text, const tsr_rates *rates) {
  const struct tsr_emulated *emulated = &rates->emulated;
  if (emulated->sustained <= 0) return;
  add_field(text, ",\n      \"emulated\": {", "elements", emulated->elements);
  add_field(text, ", ", "sustained", emulated->sustained);
  add_table(text, "flops", rates, emulated->flops);
  tsr_text_add(text, "}");
}

static void add_rates(tsr_text *text, tsr_type type, const tsr_rates *rates) {
  tsr_text_add(text, "    \"%c\": {\n      \"area\": ", (char)type);
  add_list(text, rates->area, rates->areas);
  tsr_text_add(text, ",\n      \"k\": ");
  add_list(text, rates->k, rates->ks);
  add_table(text, "flops", rates, rates->flops);
  add_table(text, "hot", rates, rates->hot);
  add_curve(text, ",\n      ", "narrow", &rates->narrow);
  add_curve(text, ",\n      ", "trapezoid", &rates->trapezoid);
  add_routines(text, rates);
  add_emulated(text, rates);
  add_field(text, ",\n      ", "sustained", rates->sustained);
  tsr_text_add(text, "}");
}

static void add_all_rates(tsr_text *text, const tsr_machine *machine) {
  bool first = true;
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    if (machine->rates[i].areas == 0) continue;
    tsr_text_add(text, "%s", separator(&first));
    add_rates(text, tsr_type_at(i)->type, &machine->rates[i]);
  }
}

static void add_cpu(tsr_text *text, const tsr_machine *machine) {
  add_field(text, "  \"cpu\": {", "latency", machine->cpu_latency);
  tsr_text_add(text, ", \"flops\": {");
  bool first = true;
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    char key[2] = {(char)tsr_type_at(i)->type, '\0'};
    if (machine->cpu_flops[i] <= 0) continue;
    add_field(text, first ? "" : ", ", key, machine->cpu_flops[i]);
    first = false;
  }
  tsr_text_add(text, "}},\n");
}

static void add_network(tsr_text *text, const tsr_network *network) {
  add_field(text, ",\n  \"network\": {", "bandwidth", network->bandwidth);
  add_field(text, ", ", "latency", network->latency);
  tsr_text_add(text, "}");
}

/* A field that is unknown is left out. */
static void add_computer(tsr_text *text, const tsr_host *host) {
  const char *between = "";
  if (host->cpu[0] == '\0' && host->sockets == 0 && host->cores == 0 && host->memory <= 0) return;
  tsr_text_add(text, ",\n  \"host\": {");
  if (host->cpu[0] != '\0') add_string(text, between, "cpu", host->cpu);
  if (host->cpu[0] != '\0') between = ", ";
  if (host->sockets > 0) add_field(text, between, "sockets", host->sockets);
  if (host->sockets > 0) between = ", ";
  if (host->cores > 0) add_field(text, between, "cores", host->cores);
  if (host->cores > 0) between = ", ";
  if (host->memory > 0) add_field(text, between, "memory", host->memory);
  tsr_text_add(text, "}");
}

static void add_types(tsr_text *text, const tsr_origins *origins, const char *between) {
  const char *before = "\"types\": {";
  tsr_text_add(text, "%s", between);
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    char key[2] = {(char)tsr_type_at(i)->type, '\0'};
    if (origins->type[i] == TSR_ORIGIN_UNKNOWN) continue;
    add_string(text, before, key, tsr_origin_name(origins->type[i]));
    before = ", ";
  }
  tsr_text_add(text, "}");
}

static bool has_types(const tsr_origins *origins) {
  for (int i = 0; i < TSR_TYPE_COUNT; i++)
    if (origins->type[i] != TSR_ORIGIN_UNKNOWN) return true;
  return false;
}

static void add_origins(tsr_text *text, const tsr_origins *origins) {
  const char *between = "";
  if (!tsr_origins_are_known(origins)) return;
  tsr_text_add(text, ",\n  \"origins\": {");
  for (int i = 0; i < TSR_FIGURES; i++) {
    if (origins->of[i] == TSR_ORIGIN_UNKNOWN) continue;
    add_string(text, between, tsr_figure_key((tsr_figure)i), tsr_origin_name(origins->of[i]));
    between = ", ";
  }
  if (has_types(origins)) add_types(text, origins, between[0] != '\0' ? ",\n    " : "");
  tsr_text_add(text, "}");
}

/* 0: it is unknown, and the file says nothing. */
static void add_known(tsr_text *text, const char *key, double value) {
  if (value > 0) add_field(text, ", ", key, value);
}

static void add_host(tsr_text *text, const tsr_machine *machine) {
  add_cpu(text, machine);
  add_field(text, "  \"staging\": {", "threads", machine->staging_threads);
  add_field(text, ", ", "thread_rate", machine->thread_rate);
  add_field(text, ", ", "rate", machine->staging_rate);
  add_known(text, "start", machine->staging_start);
  add_field(text, "},\n  \"submit\": {", "copy", machine->submit_copy);
  add_field(text, ", ", "kernel", machine->submit_kernel);
  add_known(text, "record", machine->submit_record);
  add_known(text, "wait", machine->submit_wait);
  add_known(text, "turnaround", machine->turnaround);
  tsr_text_add(text, "}");
  if (machine->network.bandwidth > 0) add_network(text, &machine->network);
  tsr_text_add(text, "\n}\n");
}

tsr_status tsr_machine_print_json(const tsr_machine *machine, tsr_text *text) {
  add_field(text, "{\n  ", "tessera_machine", 1);
  add_string(text, ",\n  ", "name", machine->name);
  add_string(text, ",\n  ", "identity", machine->identity);
  if (machine->measured[0] != '\0') add_string(text, ",\n  ", "measured", machine->measured);
  if (machine->about[0] != '\0') add_string(text, ",\n  ", "about", machine->about);
  add_origins(text, &machine->origins);
  add_computer(text, &machine->host);
  tsr_text_add(text, ",\n  \"interleaved\": %s", machine->interleaved ? "true" : "false");
  add_field(text, ",\n  ", "nodes", machine->nodes);
  tsr_text_add(text, ",\n  \"devices\": [");
  for (int i = 0; i < machine->devices; i++) {
    tsr_text_add(text, i > 0 ? ",\n" : "\n");
    add_device(text, machine, &machine->device[i]);
  }
  tsr_text_add(text, "],\n  \"links\": [");
  add_links(text, machine);
  tsr_text_add(text, "],\n  \"channels\": [");
  for (int i = 0; i < machine->channels; i++) {
    tsr_text_add(text, i > 0 ? ",\n" : "\n");
    add_channel(text, machine, &machine->channel[i]);
  }
  tsr_text_add(text, "],\n  \"rates\": {");
  add_all_rates(text, machine);
  tsr_text_add(text, "},\n");
  add_host(text, machine);
  return text->broken
             ? tsr_fail(TSR_ERR_MEMORY, "no host memory for the JSON of a machine: free some")
             : TSR_OK;
}
