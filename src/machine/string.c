/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Machines from strings; docs/reference/machine.md has the grammar. The string is read into a spec,
 * of which each word fills a part; spec.c makes the machine.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "machine/spec.h"

#define LARGEST 1e9 /* the largest number that a string may have */

typedef struct parser {
  const char *string;
  const char *word, *end; /* the current word */
  const char *at;         /* the next character to read */
  int greatest;           /* the greatest number of a device in unlinked and linked; -1: none */
  const char *greatest_at;
  tsr_spec spec;
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

/* The same for a word that was read before; at: where it begins, or a part of it. */
static tsr_status fail_word(parser *p, const char *from, const char *at, const char *expected) {
  p->word = from;
  for (p->end = at; *p->end != '\0' && !is_blank(*p->end); p->end++) continue;
  return fail_at(p, at, expected);
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
static tsr_status read_series(parser *p, const char *expected, tsr_series *list) {
  do {
    if (list->count == TSR_MACHINE_DEVICES)
      return fail_at(p, p->at, "one number for each device, at most 32");
    TSR_TRY(read_number(p, expected, &list->value[list->count++]));
  } while (accept(p, ","));
  return TSR_OK;
}

/* host[*N]:TO[,FROM] */
static tsr_status read_host(parser *p) {
  tsr_spec *s = &p->spec;
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
  tsr_spec *s = &p->spec;
  if (accept_name(p, "none")) return TSR_OK;
  if (accept_name(p, "pcie")) {
    s->fabric = TSR_STRING_PCIE;
    return TSR_OK;
  }
  if (accept_name(p, "nvswitch"))
    s->fabric = TSR_STRING_NVSWITCH;
  else if (accept_name(p, "nvlink"))
    s->fabric = TSR_STRING_NVLINK;
  else
    return fail_at(p, p->at, "nvswitch:GB/s, nvlink:GB/s, pcie or none");
  TSR_TRY(require(p, ":", "\":\" and GB/s between devices (\"@nvswitch:300\")"));
  return read_number(p, "GB/s between devices, more than 0", &s->fabric_rate);
}

/* gpu*N[:MEM][@FABRIC] */
static tsr_status read_gpu(parser *p) {
  tsr_spec *s = &p->spec;
  TSR_TRY(require(p, "*", "\"*\" and the number of devices (\"gpu*4\")"));
  TSR_TRY(read_count(p, "1 to 32 devices", TSR_MACHINE_DEVICES, &s->devices));
  if (accept(p, ":")) TSR_TRY(read_number(p, "GB of memory, more than 0", &s->memory));
  return accept(p, "@") ? read_fabric(p) : TSR_OK;
}

static tsr_status read_device(parser *p, const char *expected, int *device) {
  int number = 0;
  const char *at = p->at;
  for (; at < p->end && *at >= '0' && *at <= '9' && number < TSR_MACHINE_DEVICES; at++)
    number = 10 * number + (*at - '0');
  if (at == p->at || number >= TSR_MACHINE_DEVICES) return fail_at(p, p->at, expected);
  if (number > p->greatest) p->greatest_at = p->at;
  if (number > p->greatest) p->greatest = number;
  p->at = at;
  *device = number;
  return TSR_OK;
}

/* I-J */
static tsr_status read_pair(parser *p, int *one, int *other) {
  const char *pair = p->at;
  TSR_TRY(read_device(p, "the number of a device (\"0-1\")", one));
  TSR_TRY(require(p, "-", "\"-\" and the number of another device (\"0-1\")"));
  TSR_TRY(read_device(p, "the number of another device (\"0-1\")", other));
  return *one != *other ? TSR_OK : fail_at(p, pair, "two devices");
}

/* Whether the string has named links of the pair. */
static bool is_linked(const tsr_pairs *pairs, int one, int other) {
  return pairs->count[one][other] > 0 || pairs->rate[one][other] > 0;
}

/* unlinked:I-J[,I-J]... */
static tsr_status read_unlinked(parser *p) {
  int one = 0, other = 0;
  TSR_TRY(require(p, ":", "\":\" and pairs of devices (\"unlinked:0-1,2-3\")"));
  do {
    const char *pair = p->at;
    TSR_TRY(read_pair(p, &one, &other));
    if (is_linked(&p->spec.pairs, one, other)) return fail_at(p, pair, "no pair of linked");
    p->spec.unlinked[one] |= (uint32_t)1 << other;
    p->spec.unlinked[other] |= (uint32_t)1 << one;
  } while (accept(p, ","));
  return TSR_OK;
}

/* I-J[*N|=BW] */
static tsr_status read_links_of_pair(parser *p) {
  tsr_pairs *pairs = &p->spec.pairs;
  const char *pair = p->at;
  int one = 0, other = 0, count = 1;
  double rate = 0;
  TSR_TRY(read_pair(p, &one, &other));
  if (is_linked(pairs, one, other)) return fail_at(p, pair, "each pair once");
  if (p->spec.unlinked[one] >> other & 1) return fail_at(p, pair, "no pair of unlinked");
  if (accept(p, "="))
    TSR_TRY(read_number(p, "GB/s between the two devices, more than 0", &rate));
  else if (accept(p, "*"))
    TSR_TRY(read_count(p, "1 to 64 links between the two devices", 64, &count));
  pairs->any = true;
  pairs->by_fabric |= rate <= 0;
  pairs->rate[one][other] = pairs->rate[other][one] = rate;
  pairs->count[one][other] = pairs->count[other][one] = rate > 0 ? 0 : count;
  return TSR_OK;
}

/* linked:I-J[*N|=BW][,I-J[*N|=BW]]... */
static tsr_status read_linked(parser *p) {
  TSR_TRY(require(p, ":", "\":\" and pairs of devices (\"linked:0-1*2,0-2\")"));
  do {
    TSR_TRY(read_links_of_pair(p));
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

typedef enum known_word {
  WORD_HOST,
  WORD_INTERLEAVED,
  WORD_GPU,
  WORD_PCIE,
  WORD_RATE,
  WORD_MEM,
  WORD_HBM,
  WORD_LAT,
  WORD_LAUNCH,
  WORD_CPU,
  WORD_STAGING,
  WORD_NET,
  WORD_SPEED,
  WORD_SOCKETS,
  WORD_UNLINKED,
  WORD_LINKED,
  WORDS
} known_word;

static const word words[WORDS] = {
    [WORD_HOST] = {"host", read_host, false},
    [WORD_INTERLEAVED] = {"interleaved", read_interleaved, false},
    [WORD_GPU] = {"gpu", read_gpu, false},
    [WORD_PCIE] = {"pcie", read_pcie, false},
    [WORD_RATE] = {"rate", read_rate, true},
    [WORD_MEM] = {"mem", read_mem, false},
    [WORD_HBM] = {"hbm", read_hbm, false},
    [WORD_LAT] = {"lat", read_lat, false},
    [WORD_LAUNCH] = {"launch", read_launch, false},
    [WORD_CPU] = {"cpu", read_cpu, false},
    [WORD_STAGING] = {"staging", read_staging, false},
    [WORD_NET] = {"net", read_net, false},
    [WORD_SPEED] = {"speed", read_speed, false},
    [WORD_SOCKETS] = {"sockets", read_sockets, false},
    [WORD_UNLINKED] = {"unlinked", read_unlinked, false},
    [WORD_LINKED] = {"linked", read_linked, false},
};

/* Where the string has each word; NULL: it does not. */
typedef struct places {
  const char *of[WORDS];
} places;

static tsr_status read_word(parser *p, places *seen) {
  for (int i = 0; i < WORDS; i++) {
    if (!accept_name(p, words[i].name)) continue;
    if (!words[i].repeats && seen->of[i] != NULL) return fail_at(p, p->word, "this word only once");
    seen->of[i] = p->word;
    TSR_TRY(words[i].read(p));
    return p->at == p->end ? TSR_OK : fail_at(p, p->at, "a blank or the end");
  }
  return fail_at(p, p->word,
                 "host, sockets, interleaved, gpu, unlinked, linked, pcie, rate, speed, mem, hbm, "
                 "lat, launch, cpu, staging or net");
}

/* A series must not be longer than there are devices. */
static tsr_status check_series(parser *p, const places *seen) {
  const struct {
    known_word word;
    const tsr_series *list;
  } all[] = {{WORD_MEM, &p->spec.memory_word},
             {WORD_SPEED, &p->spec.speed},
             {WORD_PCIE, &p->spec.pcie},
             {WORD_HBM, &p->spec.hbm}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const char *where = seen->of[all[i].word];
    if (all[i].list->count > 1 && all[i].list->count > p->spec.devices)
      return fail_word(p, where, where, "at most as many numbers as there are devices");
  }
  return TSR_OK;
}

/* Links by count are those of @nvlink; behind a switch all pairs are alike. */
static tsr_status check_pairs(parser *p, const places *seen) {
  const tsr_pairs *pairs = &p->spec.pairs;
  const char *where = seen->of[WORD_LINKED];
  if (p->greatest >= p->spec.devices)
    return fail_word(p, p->greatest_at, p->greatest_at,
                     "the number of a device that there is, from 0 on");
  if (!pairs->any || p->spec.fabric == TSR_STRING_NVLINK) return TSR_OK;
  if (p->spec.fabric == TSR_STRING_NVSWITCH)
    return fail_word(p, where, where,
                     "linked with @nvlink, @pcie or @none alone: a switch links all pairs alike");
  if (!pairs->by_fabric) return TSR_OK;
  return fail_word(p, where, where, "\"=\" and GB/s of each pair, or @nvlink:GB/s of one link");
}

/* Errors that only several words together make: no word at all, the memory of devices given twice,
 * a series that is longer than there are devices, a link between sockets where one is, or pairs of
 * devices that are not there. */
static tsr_status check_words(parser *p, const places *seen, bool any) {
  const char *memory = seen->of[WORD_MEM], *sockets = seen->of[WORD_SOCKETS];
  if (!any) return fail_word(p, p->string, p->string, "at least one word, such as \"gpu*4\"");
  if (p->spec.memory > 0 && memory != NULL)
    return fail_word(p, memory, memory,
                     "the memory of devices only once, in gpu*N:GB or in mem:GB");
  TSR_TRY(check_series(p, seen));
  if (p->spec.sockets > 0 && p->spec.nodes < 2)
    return fail_word(p, sockets, sockets, "several memory nodes with sockets (\"host*2:170\")");
  return check_pairs(p, seen);
}

static tsr_status read_string(parser *p) {
  places seen = {{NULL}};
  bool any = false;
  p->spec.sharing = 1;
  p->greatest = -1;
  for (p->end = p->string;;) {
    for (p->word = p->end; is_blank(*p->word); p->word++) continue;
    if (*p->word == '\0') break;
    for (p->end = p->word; *p->end != '\0' && !is_blank(*p->end); p->end++) continue;
    p->at = p->word;
    any = true;
    TSR_TRY(read_word(p, &seen));
  }
  return check_words(p, &seen, any);
}

static tsr_status make(parser *p, tsr_machine **machine) {
  tsr_machine *made = NULL;
  TSR_TRY(read_string(p));
  TSR_TRY(tsr_machine_create(&made));
  tsr_status status = tsr_spec_build(&p->spec, p->string, made);
  if (status == TSR_OK)
    *machine = made;
  else
    tsr_machine_destroy(made);
  return status;
}

tsr_status tsr_machine_parse(const char *string, tsr_machine **machine) {
  parser *p = tsr_alloc_zero(1, sizeof *p); /* its pairs are large */
  if (p == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a machine string: free some");
  p->string = string;
  tsr_status status = make(p, machine);
  tsr_dealloc(p);
  return status;
}
