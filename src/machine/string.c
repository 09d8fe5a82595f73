/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Machines from strings; docs/reference/machine.md has the grammar. The string is read into a spec,
 * of which each word fills a part; then the parts that no word has filled are chosen; then the
 * machine is built.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine.h"
#include "machine/tuning.h"

#define GIGA 1e9
#define TERA 1e12
#define MICRO 1e-6
#define LARGEST 1e9 /* the largest number that a string may have */

typedef enum fabric { FABRIC_NONE, FABRIC_NVSWITCH, FABRIC_NVLINK, FABRIC_PCIE } fabric;

/* Numbers of the devices in their order, the last one for all that follow; count 0: none. */
typedef struct series {
  int count;
  double value[TSR_MACHINE_DEVICES];
} series;

/* What a string says, in the units of the string; 0: it says nothing. */
typedef struct spec {
  int nodes, devices;
  double host_to, host_from;
  double sockets; /* between each two sockets, in each direction */
  bool interleaved;
  uint32_t unlinked[TSR_MACHINE_DEVICES]; /* bit j of [i]: no link between devices i and j */
  double memory, latency, launch;
  series memory_word, speed, pcie, hbm; /* device by device */
  fabric fabric;
  double fabric_rate;
  int sharing; /* devices that share a host link; 0: all */
  double rate[TSR_TYPE_COUNT], cpu;
  int staging_threads;
  double thread_rate, staging;
  double net, net_latency;
} spec;

typedef struct parser {
  const char *string;
  const char *word, *end; /* the current word */
  const char *at;         /* the next character to read */
  spec spec;
} parser;

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

/* ---- Reading ---- */

static tsr_status fail_at(const parser *p, const char *at, const char *expected) {
  int length = (int)(p->end - p->word);
  return tsr_fail(TSR_ERR_MACHINE, "machine string, column %d, in \"%.*s\": expected %s",
                  (int)(at - p->string) + 1, length > 60 ? 60 : length, p->word, expected);
}

/* Passes over text if it comes next in the current word. */
static bool accept(parser *p, const char *text) {
  size_t length = strlen(text);
  if (length > (size_t)(p->end - p->at) || strncmp(p->at, text, length) != 0) return false;
  p->at += length;
  return true;
}

/* The same for a name, which no further letter may follow. */
static bool accept_name(parser *p, const char *name) {
  const char *start = p->at;
  if (!accept(p, name)) return false;
  if (p->at == p->end || *p->at < 'a' || *p->at > 'z') return true;
  p->at = start;
  return false;
}

static tsr_status require(parser *p, const char *text, const char *expected) {
  return accept(p, text) ? TSR_OK : fail_at(p, p->at, expected);
}

static tsr_status read_number(parser *p, const char *expected, double *value) {
  const char *behind;
  double number = 0;
  if (!tsr_c_number(p->at, &behind, &number) || behind > p->end || !(number > 0) ||
      number > LARGEST)
    return fail_at(p, p->at, expected);
  p->at = behind;
  *value = number;
  return TSR_OK;
}

static tsr_status read_count(parser *p, const char *expected, int most, int *value) {
  int number = 0;
  const char *at = p->at;
  for (; at < p->end && *at >= '0' && *at <= '9' && number <= most; at++)
    number = 10 * number + (*at - '0');
  if (number < 1 || number > most) return fail_at(p, p->at, expected);
  p->at = at;
  *value = number;
  return TSR_OK;
}

/* NUMBER[,NUMBER]... */
static tsr_status read_series(parser *p, const char *expected, series *list) {
  do {
    if (list->count == TSR_MACHINE_DEVICES)
      return fail_at(p, p->at, "one number for each device, at most 32");
    TSR_TRY(read_number(p, expected, &list->value[list->count++]));
  } while (accept(p, ","));
  return TSR_OK;
}

/* host[*N]:TO[,FROM] */
static tsr_status read_host(parser *p) {
  spec *s = &p->spec;
  if (accept(p, "*"))
    TSR_TRY(read_count(p, "1 to 8 host memory nodes", TSR_MACHINE_NODES, &s->nodes));
  TSR_TRY(require(p, ":", "\":\" and GB/s of host memory (\"host:200\")"));
  TSR_TRY(read_number(p, "GB/s of host memory, more than 0", &s->host_to));
  if (!accept(p, ",")) return TSR_OK;
  return read_number(p, "GB/s from the GPUs into host memory, more than 0", &s->host_from);
}

/* sockets:BW */
static tsr_status read_sockets(parser *p) {
  TSR_TRY(require(p, ":", "\":\" and GB/s between sockets (\"sockets:64\")"));
  return read_number(p, "GB/s between sockets, more than 0", &p->spec.sockets);
}

static tsr_status read_interleaved(parser *p) {
  p->spec.interleaved = true;
  return TSR_OK;
}

static tsr_status read_fabric(parser *p) {
  spec *s = &p->spec;
  if (accept_name(p, "none")) return TSR_OK;
  if (accept_name(p, "pcie")) {
    s->fabric = FABRIC_PCIE;
    return TSR_OK;
  }
  if (accept_name(p, "nvswitch"))
    s->fabric = FABRIC_NVSWITCH;
  else if (accept_name(p, "nvlink"))
    s->fabric = FABRIC_NVLINK;
  else
    return fail_at(p, p->at, "nvswitch:GB/s, nvlink:GB/s, pcie or none");
  TSR_TRY(require(p, ":", "\":\" and GB/s between devices (\"@nvswitch:300\")"));
  return read_number(p, "GB/s between devices, more than 0", &s->fabric_rate);
}

/* gpu*N[:MEM][@FABRIC] */
static tsr_status read_gpu(parser *p) {
  spec *s = &p->spec;
  TSR_TRY(require(p, "*", "\"*\" and the number of devices (\"gpu*4\")"));
  TSR_TRY(read_count(p, "1 to 32 devices", TSR_MACHINE_DEVICES, &s->devices));
  if (accept(p, ":")) TSR_TRY(read_number(p, "GB of memory, more than 0", &s->memory));
  return accept(p, "@") ? read_fabric(p) : TSR_OK;
}

static tsr_status read_device(parser *p, int *device) {
  int number = 0;
  const char *at = p->at;
  for (; at < p->end && *at >= '0' && *at <= '9' && number < TSR_MACHINE_DEVICES; at++)
    number = 10 * number + (*at - '0');
  if (at == p->at || number >= TSR_MACHINE_DEVICES)
    return fail_at(p, p->at, "the number of a device (\"unlinked:0-1\")");
  p->at = at;
  *device = number;
  return TSR_OK;
}

/* unlinked:I-J[,I-J]... */
static tsr_status read_unlinked(parser *p) {
  int one = 0, other = 0;
  TSR_TRY(require(p, ":", "\":\" and pairs of devices (\"unlinked:0-1,2-3\")"));
  do {
    const char *pair = p->at;
    TSR_TRY(read_device(p, &one));
    TSR_TRY(require(p, "-", "\"-\" and the number of another device (\"unlinked:0-1\")"));
    TSR_TRY(read_device(p, &other));
    if (one == other) return fail_at(p, pair, "two devices");
    p->spec.unlinked[one] |= (uint32_t)1 << other;
    p->spec.unlinked[other] |= (uint32_t)1 << one;
  } while (accept(p, ","));
  return TSR_OK;
}

/* pcie:BW[,BW]...[/pair|/N|/all] */
static tsr_status read_pcie(parser *p) {
  TSR_TRY(require(p, ":", "\":\" and GB/s (\"pcie:25\")"));
  TSR_TRY(read_series(p, "GB/s of the host link, more than 0", &p->spec.pcie));
  p->spec.sharing = 1;
  if (!accept(p, "/")) return TSR_OK;
  if (accept_name(p, "all")) {
    p->spec.sharing = 0;
    return TSR_OK;
  }
  if (!accept_name(p, "pair"))
    return read_count(p, "pair, all, or how many devices share a link (1 to 32)",
                      TSR_MACHINE_DEVICES, &p->spec.sharing);
  p->spec.sharing = 2;
  return TSR_OK;
}

static tsr_status read_rate_of_type(parser *p) {
  static const char expected[] = "one of the types s d c z h b t (\"rate.h:750\")";
  int index = p->at < p->end ? tsr_type_index((tsr_type)*p->at) : -1;
  if (index < 0) return fail_at(p, p->at, expected);
  if (p->spec.rate[index] > 0) return fail_at(p, p->word, "each rate once");
  p->at++;
  TSR_TRY(require(p, ":", "\":\" and TFLOP/s (\"rate.h:750\")"));
  return read_number(p, "TFLOP/s, more than 0", &p->spec.rate[index]);
}

/* rate:D[,S] or rate.X:TF */
static tsr_status read_rate(parser *p) {
  double *d = &p->spec.rate[tsr_type_index(TSR_D)], *s = &p->spec.rate[tsr_type_index(TSR_S)];
  if (accept(p, ".")) return read_rate_of_type(p);
  TSR_TRY(require(p, ":", "\":\" and TFLOP/s (\"rate:19\"), or \".\" and a type (\"rate.h:750\")"));
  if (*d > 0) return fail_at(p, p->word, "each rate once");
  TSR_TRY(read_number(p, "TFLOP/s, more than 0", d));
  if (!accept(p, ",")) return TSR_OK;
  if (*s > 0) return fail_at(p, p->word, "each rate once");
  return read_number(p, "TFLOP/s of fp32, more than 0", s);
}

/* mem:GB[,GB]... */
static tsr_status read_mem(parser *p) {
  TSR_TRY(require(p, ":", "\":\" and GB (\"mem:80\")"));
  return read_series(p, "GB of device memory, more than 0", &p->spec.memory_word);
}

/* speed:FACTOR[,FACTOR]... */
static tsr_status read_speed(parser *p) {
  TSR_TRY(require(p, ":", "\":\" and a factor for each device (\"speed:1,1,0.5\")"));
  return read_series(p, "a factor on the device's rates, more than 0", &p->spec.speed);
}

/* hbm:BW[,BW]... */
static tsr_status read_hbm(parser *p) {
  TSR_TRY(require(p, ":", "\":\" and GB/s (\"hbm:3000\")"));
  return read_series(p, "GB/s of device memory, more than 0", &p->spec.hbm);
}

static tsr_status read_lat(parser *p) {
  TSR_TRY(require(p, ":", "\":\" and microseconds (\"lat:8\")"));
  return read_number(p, "microseconds of a copy, more than 0", &p->spec.latency);
}

static tsr_status read_launch(parser *p) {
  TSR_TRY(require(p, ":", "\":\" and microseconds (\"launch:3\")"));
  return read_number(p, "microseconds of a kernel, more than 0", &p->spec.launch);
}

static tsr_status read_cpu(parser *p) {
  TSR_TRY(require(p, ":", "\":\" and GFLOP/s (\"cpu:500\")"));
  return read_number(p, "GFLOP/s of the CPU, more than 0", &p->spec.cpu);
}

/* staging:N[@BW[/TOTAL]] */
static tsr_status read_staging(parser *p) {
  TSR_TRY(require(p, ":", "\":\" and the number of staging threads (\"staging:8@10\")"));
  TSR_TRY(read_count(p, "1 to 256 staging threads", 256, &p->spec.staging_threads));
  if (!accept(p, "@")) return TSR_OK;
  TSR_TRY(read_number(p, "GB/s of one staging thread, more than 0", &p->spec.thread_rate));
  if (!accept(p, "/")) return TSR_OK;
  return read_number(p, "GB/s of all staging threads, more than 0", &p->spec.staging);
}

/* net:BW[,LAT] */
static tsr_status read_net(parser *p) {
  TSR_TRY(require(p, ":", "\":\" and GB/s of each process in each direction (\"net:12.5\")"));
  TSR_TRY(read_number(p, "GB/s of the network, more than 0", &p->spec.net));
  if (!accept(p, ",")) return TSR_OK;
  return read_number(p, "microseconds of a message, more than 0", &p->spec.net_latency);
}

typedef struct word {
  const char *name;
  tsr_status (*read)(parser *p);
  bool repeats;
} word;

static const word words[] = {
    {"host", read_host, false},         {"interleaved", read_interleaved, false},
    {"gpu", read_gpu, false},           {"pcie", read_pcie, false},
    {"rate", read_rate, true},          {"mem", read_mem, false},
    {"hbm", read_hbm, false},           {"lat", read_lat, false},
    {"launch", read_launch, false},     {"cpu", read_cpu, false},
    {"staging", read_staging, false},   {"net", read_net, false},
    {"speed", read_speed, false},       {"sockets", read_sockets, false},
    {"unlinked", read_unlinked, false},
};
enum { WORDS = sizeof words / sizeof *words };

static tsr_status read_word(parser *p, unsigned *seen) {
  for (unsigned i = 0; i < WORDS; i++) {
    if (!accept_name(p, words[i].name)) continue;
    if (!words[i].repeats && (*seen & 1u << i)) return fail_at(p, p->word, "this word only once");
    *seen |= 1u << i;
    TSR_TRY(words[i].read(p));
    return p->at == p->end ? TSR_OK : fail_at(p, p->at, "a blank or the end");
  }
  return fail_at(
      p, p->word,
      "host, sockets, interleaved, gpu, unlinked, pcie, rate, speed, mem, hbm, lat, launch, cpu, "
      "staging or net");
}

static bool is_too_long(const parser *p, const series *list) {
  return list->count > 1 && list->count > p->spec.devices;
}

/* The greatest number of a device in unlinked; -1: there is none. */
static int seen_unlinked(const spec *s) {
  int most = -1;
  for (int i = 0; i < TSR_MACHINE_DEVICES; i++)
    if (s->unlinked[i] != 0) most = i;
  return most;
}

/* Errors that only several words together make: no word at all, the memory of devices given twice,
 * a series that is longer than there are devices, a link between sockets where one is, or devices
 * in unlinked that are not there. */
static tsr_status check_words(parser *p, unsigned seen) {
  p->word = p->at = p->string;
  if (seen == 0) return fail_at(p, p->at, "at least one word, such as \"gpu*4\"");
  if (p->spec.memory > 0 && p->spec.memory_word.count > 0)
    return fail_at(p, p->at, "the memory of devices only once, in gpu*N:GB or in mem:GB");
  if (is_too_long(p, &p->spec.memory_word) || is_too_long(p, &p->spec.speed) ||
      is_too_long(p, &p->spec.pcie) || is_too_long(p, &p->spec.hbm))
    return fail_at(p, p->at,
                   "at most as many numbers in mem, speed, pcie and hbm as there are devices");
  if (p->spec.sockets > 0 && p->spec.nodes < 2)
    return fail_at(p, p->at, "sockets only with several memory nodes (\"host*2:170\")");
  int unlinked = seen_unlinked(&p->spec);
  if (unlinked >= 0 && unlinked >= p->spec.devices)
    return fail_at(p, p->at, "pairs of devices that there are in unlinked, numbered from 0");
  return TSR_OK;
}

static tsr_status read_string(parser *p) {
  unsigned seen = 0;
  p->spec.sharing = 1;
  for (p->end = p->string;;) {
    for (p->word = p->end; is_blank(*p->word); p->word++) continue;
    if (*p->word == '\0') break;
    for (p->end = p->word; *p->end != '\0' && !is_blank(*p->end); p->end++) continue;
    p->at = p->word;
    TSR_TRY(read_word(p, &seen));
  }
  return check_words(p, seen);
}

/* ---- Parts that no word has filled ---- */

static double or_else(double value, double otherwise) {
  return value > 0 ? value : otherwise;
}

static void choose_rates(double rate[TSR_TYPE_COUNT]) {
  double *s = &rate[tsr_type_index(TSR_S)], *d = &rate[tsr_type_index(TSR_D)];
  *d = or_else(*d, *s > 0 ? *s / 2 : 10);
  *s = or_else(*s, 2 * *d);
  double others[][2] = {
      {TSR_C, *s}, {TSR_Z, *d}, {TSR_T, 4 * *s}, {TSR_H, 8 * *s}, {TSR_B, 8 * *s}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    double *other = &rate[tsr_type_index((tsr_type)others[i][0])];
    *other = or_else(*other, others[i][1]);
  }
}

static int at_most(int value, int most) {
  return value < most ? value : most;
}

static void choose(spec *s) {
  s->nodes = s->nodes > 0 ? s->nodes : 1;
  s->host_to = or_else(s->host_to, 100);
  s->host_from = or_else(s->host_from, s->host_to);
  s->sockets = or_else(s->sockets, s->host_to / 2);
  s->memory = or_else(s->memory, 40);
  s->sharing = s->sharing > 0 ? s->sharing : s->devices;
  s->latency = or_else(s->latency, 8);
  s->launch = or_else(s->launch, 3);
  s->cpu = or_else(s->cpu, 500);
  s->staging_threads = s->staging_threads > 0 ? s->staging_threads
                                              : at_most(4 * (s->devices > 0 ? s->devices : 1), 16);
  s->thread_rate = or_else(s->thread_rate, 10);
  s->net_latency = or_else(s->net_latency, s->net > 0 ? 2 : 0);
  double threads = s->staging_threads * s->thread_rate, memory = s->nodes * s->host_to / 2;
  s->staging = or_else(s->staging, threads < memory ? threads : memory);
  choose_rates(s->rate);
}

/* ---- Building ---- */

/* Returns -1 if the machine has too many channels; tsr_machine_use_channel() then fails. */
static int add_channel(tsr_machine *machine, const char *what, int index, const char *way,
                       double capacity) {
  char name[sizeof machine->channel[0].name];
  snprintf(name, sizeof name, "%s%d %s", what, index, way);
  return tsr_machine_add_channel(machine, name, capacity * GIGA);
}

static double value_of(const series *list, int device, double otherwise) {
  return list->count > 0 ? list->value[at_most(device, list->count - 1)] : otherwise;
}

static void build_devices(const spec *s, tsr_machine *machine) {
  for (int i = 0; i < s->devices; i++) {
    tsr_device *device = &machine->device[i];
    *device = (tsr_device){.speed = value_of(&s->speed, i, 1),
                           .memory = value_of(&s->memory_word, i, s->memory) * GIGA,
                           .memory_rate = value_of(&s->hbm, i, 3000) * GIGA,
                           .kernel_latency = s->launch * MICRO,
                           .host_node = s->devices + i * s->nodes / s->devices};
    snprintf(device->name, sizeof device->name, "gpu%d", i);
  }
}

/* GB/s of a device's host link. */
static double pcie_of(const spec *s, int device) {
  return value_of(&s->pcie, device, 25);
}

static void build_links(const spec *s, tsr_machine *machine) {
  for (int i = 0; i < s->devices; i++) {
    for (int node = s->devices; node < s->devices + s->nodes; node++) {
      tsr_machine_set_link(machine, node, i, pcie_of(s, i) * GIGA, s->latency * MICRO);
      tsr_machine_set_link(machine, i, node, pcie_of(s, i) * GIGA, s->latency * MICRO);
    }
    for (int j = 0; j < s->devices && s->fabric != FABRIC_NONE; j++) {
      double over_host = fmin(pcie_of(s, i), pcie_of(s, j));
      double rate = s->fabric == FABRIC_PCIE ? over_host : s->fabric_rate;
      if (i != j) tsr_machine_set_link(machine, i, j, rate * GIGA, s->latency * MICRO);
    }
  }
}

/* The channel of a host memory node, which both directions use. */
static tsr_status build_host_channel(const spec *s, tsr_machine *machine, int node) {
  int channel = add_channel(machine, "host", node, "memory", s->host_to);
  double out = s->host_to / s->host_from;
  for (int i = 0; i < s->devices; i++) {
    TSR_TRY(tsr_machine_use_channel(machine, channel, s->devices + node, i, 1));
    TSR_TRY(tsr_machine_use_channel(machine, channel, i, s->devices + node, out));
  }
  return TSR_OK;
}

/* A channel for all copies into, or out of, the devices [first, behind), which share a host
 * link as fast as the fastest of theirs. */
static tsr_status build_pcie_channel(const spec *s, tsr_machine *machine, int first, bool in) {
  int behind = at_most(first + s->sharing, s->devices), locations = s->devices + s->nodes;
  double capacity = 0;
  for (int i = first; i < behind; i++)
    capacity = pcie_of(s, i) > capacity ? pcie_of(s, i) : capacity;
  int channel =
      add_channel(machine, "pcie", first / s->sharing, in ? "to GPUs" : "from GPUs", capacity);
  for (int i = first; i < behind; i++) {
    for (int j = s->fabric == FABRIC_PCIE ? 0 : s->devices; j < locations; j++) {
      if (i == j) continue;
      TSR_TRY(tsr_machine_use_channel(machine, channel, in ? j : i, in ? i : j, 1));
    }
  }
  return TSR_OK;
}

/* Without sharing, with one node, and no copies between devices, only one copy at a time can be on
 * a device's host link, and the link's bandwidth is limit enough. */
static bool needs_pcie_channels(const spec *s) {
  return s->sharing > 1 || s->nodes > 1 || s->fabric == FABRIC_PCIE;
}

/* The channel of a device's way into, or out of, the switch, which its copies to and from all other
 * devices share. */
static tsr_status build_switch_channel(const spec *s, tsr_machine *machine, int device, bool in) {
  int channel =
      add_channel(machine, "gpu", device, in ? "from others" : "to others", s->fabric_rate);
  for (int other = 0; other < s->devices; other++) {
    if (other == device) continue;
    TSR_TRY(tsr_machine_use_channel(machine, channel, in ? other : device, in ? device : other, 1));
  }
  return TSR_OK;
}

static tsr_status build_channels(const spec *s, tsr_machine *machine) {
  for (int node = 0; node < s->nodes && s->devices > 0; node++)
    TSR_TRY(build_host_channel(s, machine, node));
  for (int i = 0; i < s->devices && needs_pcie_channels(s); i += s->sharing) {
    TSR_TRY(build_pcie_channel(s, machine, i, true));
    TSR_TRY(build_pcie_channel(s, machine, i, false));
  }
  bool switched = s->fabric == FABRIC_NVSWITCH && s->devices > 1;
  for (int i = 0; i < s->devices && switched; i++) {
    TSR_TRY(build_switch_channel(s, machine, i, true));
    TSR_TRY(build_switch_channel(s, machine, i, false));
  }
  return TSR_OK;
}

static void build_rest(const spec *s, tsr_machine *machine) {
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    const tsr_type_info *type = tsr_type_at(i);
    bool twice = type->epsilon > 0x1p-50; /* sums in fp32: twice the rate of fp64 */
    if (s->devices > 0) tsr_machine_set_rate(machine, type->type, s->rate[i] * TERA);
    machine->cpu_flops[i] = s->cpu * GIGA * (twice ? 2 : 1);
  }
  machine->cpu_latency = TSR_TUNE_CPU_LATENCY;
  machine->staging_threads = s->staging_threads;
  machine->thread_rate = s->thread_rate * GIGA;
  machine->staging_rate = s->staging * GIGA;
  machine->submit_copy = TSR_TUNE_SUBMIT_COPY;
  machine->submit_kernel = TSR_TUNE_SUBMIT_KERNEL;
  machine->network = (tsr_network){s->net * GIGA, s->net_latency * MICRO};
}

static void remove_links(const spec *s, tsr_machine *machine) {
  for (int i = 0; i < s->devices; i++)
    for (int j = 0; j < s->devices; j++)
      if (s->unlinked[i] >> j & 1) tsr_machine_unlink(machine, i, j);
}

static tsr_status build(const spec *s, const char *string, tsr_machine *machine) {
  snprintf(machine->name, sizeof machine->name, "%s", string);
  snprintf(machine->source, sizeof machine->source, "string");
  machine->devices = s->devices;
  machine->nodes = s->nodes;
  machine->interleaved = s->interleaved;
  build_devices(s, machine);
  build_links(s, machine);
  build_rest(s, machine);
  TSR_TRY(build_channels(s, machine));
  TSR_TRY(
      tsr_machine_cross(machine, s->sockets * GIGA, s->latency * MICRO, s->fabric == FABRIC_PCIE));
  TSR_TRY(tsr_machine_complete(machine));
  remove_links(s, machine);
  return tsr_machine_check(machine);
}

tsr_status tsr_machine_parse(const char *string, tsr_machine **machine) {
  parser p = {.string = string};
  tsr_machine *made = NULL;
  TSR_TRY(read_string(&p));
  choose(&p.spec);
  TSR_TRY(tsr_machine_create(&made));
  tsr_status status = build(&p.spec, string, made);
  if (status != TSR_OK) {
    tsr_machine_destroy(made);
    return status;
  }
  *machine = made;
  return TSR_OK;
}
