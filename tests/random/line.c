/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const mode_names[] = {"blocking", "async", "plan"};
static const char *const thread_names[] = {"one", "shared", "own"};
static const char *const operation_names[PROBLEM_OPERATIONS] = {
    "gemm", "gemmt", "symm", "hemm", "syrk", "herk", "syr2k", "her2k", "trmm", "trsm", "potrf"};

const char *problem_operation_name(tsr_operation operation) {
  return operation_names[operation];
}

void problem_print(const problem *p, char line[PROBLEM_LINE]) {
  snprintf(line, PROBLEM_LINE,
           "op=%s engine=%s devices=%d machine=%d memory=%zu uneven=%d tile=%" PRId64
           " strategy=%s check=%d repro=%d peer=%d moduli=%d delay=%" PRIu64
           " round=%c trap=%d flush=%d flags=%d"
           " type=%c layout=%c side=%c uplo=%c"
           " diag=%c ta=%c tb=%c m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " lda=+%" PRId64
           " ldb=+%" PRId64 " ldc=+%" PRId64 " alpha=%c beta=%c home=%c,%c,%c offset=%" PRId64
           ",%" PRId64 ",%" PRId64 " alias=%d mode=%s calls=%d sets=%d threads=%s seed=%" PRIu64
           " digits=%d faster=%d zeros=%d bad=%" PRId64,
           operation_names[p->operation], p->engine, p->devices, p->machine, p->memory, p->uneven,
           p->tile, p->strategy[0] ? p->strategy : "-", p->check, p->repro, p->peer, p->moduli,
           p->delay, p->modes.round, p->modes.trap, p->modes.flush, p->modes.flags, p->type,
           p->layout, p->side, p->uplo, p->diag, p->ta, p->tb, p->m, p->n, p->k, p->pad[0],
           p->pad[1], p->pad[2], p->alpha, p->beta, p->home[0], p->home[1], p->home[2],
           p->offset[0], p->offset[1], p->offset[2], p->alias, mode_names[p->mode], p->calls,
           p->sets, thread_names[p->threads], p->seed, p->digits, p->faster, p->zeros, p->bad);
}

static bool parse_name(const char *text, const char *const *names, int count, int *value) {
  for (int i = 0; i < count; ++i)
    if (strcmp(text, names[i]) == 0) return *value = i, true;
  return false;
}

bool problem_operation(const char *name, tsr_operation *operation) {
  int found = 0;
  if (!parse_name(name, operation_names, PROBLEM_OPERATIONS, &found)) return false;
  return *operation = (tsr_operation)found, true;
}

static bool parse_letter(const char *text, const char *letters, char *value) {
  if (!text[0] || text[1] || !strchr(letters, text[0])) return false;
  return *value = text[0], true;
}

static bool parse_number(const char *text, int64_t least, int64_t *value) {
  char *end;
  *value = strtoll(text, &end, 10);
  return end != text && !*end && *value >= least;
}

static bool parse_three(const char *text, int64_t value[3]) {
  return sscanf(text, "%" SCNd64 ",%" SCNd64 ",%" SCNd64, &value[0], &value[1], &value[2]) == 3;
}

static bool parse_homes(const char *text, char home[3]) {
  return strlen(text) == 5 && sscanf(text, "%c,%c,%c", &home[0], &home[1], &home[2]) == 3;
}

static bool parse_word(const char *key, const char *text, problem *p) {
  const struct {
    const char *key;
    int64_t *value;
  } extents[] = {{"tile", &p->tile},  {"m", &p->m},        {"n", &p->n},        {"k", &p->k},
                 {"lda", &p->pad[0]}, {"ldb", &p->pad[1]}, {"ldc", &p->pad[2]}, {"bad", &p->bad}};
  const struct {
    const char *key;
    int *value;
  } numbers[] = {{"devices", &p->devices},  {"machine", &p->machine}, {"check", &p->check},
                 {"repro", &p->repro},      {"peer", &p->peer},       {"alias", &p->alias},
                 {"calls", &p->calls},      {"sets", &p->sets},       {"uneven", &p->uneven},
                 {"moduli", &p->moduli},    {"digits", &p->digits},   {"faster", &p->faster},
                 {"zeros", &p->zeros},      {"trap", &p->modes.trap}, {"flush", &p->modes.flush},
                 {"flags", &p->modes.flags}};
  const struct {
    const char *key, *letters;
    char *value;
  } letters[] = {{"type", "sdczhbt", &p->type}, {"layout", "CR", &p->layout},
                 {"side", "LR", &p->side},      {"uplo", "LU", &p->uplo},
                 {"diag", "NU", &p->diag},      {"ta", "NTC", &p->ta},
                 {"tb", "NTC", &p->tb},         {"alpha", "01-rc", &p->alpha},
                 {"beta", "01-rc", &p->beta},   {"round", "nudz", &p->modes.round}};
  int64_t number;
  for (size_t i = 0; i < sizeof extents / sizeof *extents; ++i)
    if (strcmp(key, extents[i].key) == 0) return parse_number(text, 0, extents[i].value);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
    if (strcmp(key, numbers[i].key) == 0)
      return parse_number(text, -1, &number) && (*numbers[i].value = (int)number, true);
  for (size_t i = 0; i < sizeof letters / sizeof *letters; ++i)
    if (strcmp(key, letters[i].key) == 0)
      return parse_letter(text, letters[i].letters, letters[i].value);
  if (strcmp(key, "memory") == 0)
    return parse_number(text, 0, &number) && (p->memory = (size_t)number, true);
  if (strcmp(key, "delay") == 0)
    return parse_number(text, 0, &number) && (p->delay = (uint64_t)number, true);
  if (strcmp(key, "seed") == 0)
    return parse_number(text, 0, &number) && (p->seed = (uint64_t)number, true);
  if (strcmp(key, "home") == 0) return parse_homes(text, p->home);
  if (strcmp(key, "offset") == 0) return parse_three(text, p->offset);
  if (strcmp(key, "strategy") == 0)
    return strlen(text) < sizeof p->strategy && strcpy(p->strategy, text) != NULL;
  if (strcmp(key, "engine") == 0)
    return strlen(text) < sizeof p->engine && strcpy(p->engine, text) != NULL;
  int name = 0;
  if (strcmp(key, "mode") == 0)
    return parse_name(text, mode_names, 3, &name) && (p->mode = (problem_mode)name, true);
  if (strcmp(key, "threads") == 0)
    return parse_name(text, thread_names, 3, &name) && (p->threads = (problem_threads)name, true);
  return strcmp(key, "op") == 0 && problem_operation(text, &p->operation);
}

problem problem_plain(void) {
  return (problem){.engine = "host",
                   .devices = 2,
                   .check = 1,
                   .peer = 1,
                   .modes = {.round = 'n'},
                   .type = 'd',
                   .layout = 'C',
                   .side = 'L',
                   .uplo = 'L',
                   .diag = 'N',
                   .ta = 'N',
                   .tb = 'N',
                   .m = 10,
                   .n = 10,
                   .k = 10,
                   .alpha = '1',
                   .beta = '0',
                   .home = {HOME_HOST, HOME_HOST, HOME_HOST},
                   .calls = 1,
                   .sets = 1,
                   .seed = 1};
}

bool problem_parse(const char *line, problem *p, const char **wrong) {
  *p = problem_plain();
  char word[256], *equals;
  int length;
  for (const char *at = line; sscanf(at, " %255s%n", word, &length) == 1; at += length) {
    *wrong = at;
    equals = strchr(word, '=');
    if (!equals) return false;
    *equals = 0;
    if (!parse_word(word, equals + 1, p)) return false;
  }
  *wrong = line;
  return p->calls >= 1 && p->sets >= 1 && p->sets <= p->calls && p->devices >= 0;
}
