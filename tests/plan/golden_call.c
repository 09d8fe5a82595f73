/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/golden_call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/check.h"

enum { MOST_WORDS = 24, MOST_LINE = 400, PLACE_ALIGNMENT = 4 };

void golden_wrong(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fprintf(stderr, "\n");
  exit(1);
}

static void must(tsr_status status, const char *of) {
  if (status != TSR_OK) golden_wrong("%s: %s", of, tsr_message());
}

/* ---- Machines ------------------------------------------------------------- */

/* A machine, and so many of its devices; 0: all. */
typedef struct named_machine {
  const char *name, *from;
  int devices;
} named_machine;

static const named_machine machines[] = {
    {"h200x1", "machines/h200x4.json", 1},
    {"h200x2", "machines/h200x4.json", 2},
    {"h200x4", "machines/h200x4.json", 0},
    {"h200x8", "machines/h200x8.json", 0},
    {"a100x8", "machines/a100x8.json", 0},
    {"v100x3", "machines/v100x3-summit.json", 0},
    /* Two devices on each PCIe link, and a switch. */
    {"pairs", "host:200 gpu*8@nvswitch:300 pcie:25/pair rate:19", 0},
    /* Devices that reach each other over their host links, on two nodes. */
    {"sockets", "host*2:150 gpu*4:16@pcie pcie:12/2 rate:7", 0},
    /* Two sockets with little between them, and a switch between all devices. */
    {"crossing", "host*2:150 sockets:20 gpu*8:80@nvswitch:250 pcie:24 rate:17.2", 0},
    {"summit6", "machines/summit-node.json", 0},
    /* Devices that reach each other through host memory. */
    {"apart", "host:60 gpu*3:24@none pcie:20 rate:9,18", 0},
    /* unlike() changes some of them. */
    {"unlike", "host:180 gpu*4:80@nvlink:100 pcie:50 rate:40", 0},
};

/* Devices 2 and 3 are slower, have less memory, and device 3 half the link to the host. */
static void unlike(tsr_machine *m) {
  enum { SLOW = 2, SLOWEST = 3 };
  int host = m->devices;
  m->device[SLOW].speed = 0.6;
  m->device[SLOW].memory = 40e9;
  m->device[SLOWEST].speed = 0.35;
  m->device[SLOWEST].memory = 16e9;
  tsr_machine_set_link(m, host, SLOWEST, 25e9, 8e-6);
  tsr_machine_set_link(m, SLOWEST, host, 25e9, 8e-6);
  must(tsr_machine_check(m), "unlike");
}

static tsr_machine *load(const named_machine *named) {
  tsr_machine *machine = NULL, *selected = NULL;
  bool is_file = strstr(named->from, ".json") != NULL;
  must(tsr_machine_load(is_file ? golden_path(named->from) : named->from, &machine), named->name);
  if (strcmp(named->name, "unlike") == 0) unlike(machine);
  if (named->devices == 0) return machine;
  int devices[TSR_MACHINE_DEVICES];
  for (int d = 0; d < named->devices; d++) devices[d] = d;
  must(tsr_machine_select(machine, devices, named->devices, &selected), named->name);
  tsr_machine_destroy(machine);
  return selected;
}

tsr_machine *golden_machine(const char *name) {
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    if (strcmp(machines[i].name, name) == 0) return load(&machines[i]);
  golden_wrong("%s: no such machine", name);
}

/* ---- Calls ---------------------------------------------------------------- */

static tsr_operation operation_of(const char *name) {
  for (int i = 0; i < TSR_OPERATIONS; i++)
    if (strcmp(tsr_operation_get((tsr_operation)i)->name, name) == 0) return (tsr_operation)i;
  golden_wrong("%s: no such operation", name);
}

static bool has_letter(const char *letters, char letter) {
  return letter != '\0' && strchr(letters, letter) != NULL;
}

/* "NT" and its like: as many as the operation has, in the order of the BLAS. */
static bool read_letters(const char *letters, tsr_level3 *what) {
  const tsr_operation_info *info = tsr_operation_get(what->operation);
  const char *at = letters;
  if (info->has.side) {
    if (!has_letter("LR", *at)) return false;
    what->side = (tsr_side)*at++;
  }
  if (info->has.uplo) {
    if (!has_letter("LU", *at)) return false;
    what->uplo = (tsr_uplo)*at++;
  }
  if (info->has.transa) {
    if (!has_letter("NTC", *at)) return false;
    what->transa = (tsr_op)*at++;
  }
  if (info->has.transb) {
    if (!has_letter("NTC", *at)) return false;
    what->transb = (tsr_op)*at++;
  }
  if (info->has.diag) {
    if (!has_letter("NU", *at)) return false;
    what->diag = (tsr_diag)*at++;
  }
  return *at == '\0';
}

static bool read_extents(const char *text, tsr_level3 *what) {
  const tsr_operation_info *info = tsr_operation_get(what->operation);
  long long x[3] = {0};
  int used = 0, count = sscanf(text, "%lldx%lldx%lld", &x[0], &x[1], &x[2]);
  if (count != info->has.m + info->has.n + info->has.k) return false;
  what->m = info->has.m ? x[used++] : 0;
  what->n = x[used++];
  what->k = info->has.k ? x[used] : 0;
  return true;
}

void golden_level3_read(const char *operation, const char *letters, const char *extents,
                        tsr_level3 *what) {
  *what = (tsr_level3){.operation = operation_of(operation + 1),
                       .type = (tsr_type)operation[0],
                       .layout = TSR_COL_MAJOR,
                       .side = TSR_LEFT,
                       .uplo = TSR_LOWER,
                       .transa = TSR_NO_TRANS,
                       .transb = TSR_NO_TRANS,
                       .diag = TSR_NON_UNIT};
  if (!read_letters(letters, what)) golden_wrong("%s %s: wrong letters", operation, letters);
  if (!read_extents(extents, what)) golden_wrong("%s %s: wrong extents", operation, extents);
}

/* The least leading dimensions, and so many elements more. */
static void set_ld(int64_t pad, tsr_level3 *w) {
  tsr_level3 complete = tsr_check_complete(w);
  int64_t *ld[] = {&w->lda, &w->ldb, &w->ldc};
  for (int i = 0; i < TSR_OPERANDS; i++) {
    int64_t rows, cols;
    tsr_check_stored(&complete, i, &rows, &cols);
    *ld[i] = pad + (rows > 0 ? rows : 1);
  }
}

static double value_of(char class) {
  if (class == '0') return 0;
  if (class == '1') return 1;
  return 0.5;
}

static void factor_call(const tsr_level3 *what, tsr_call *call) {
  tsr_factor factor = {.routine = (tsr_factorisation)(what->operation - TSR_OPERATION_COUNT),
                       .type = what->type,
                       .layout = what->layout,
                       .uplo = what->uplo,
                       .n = what->n,
                       .lda = what->ldc};
  tsr_binding binding;
  must(tsr_call_factor(&factor, NULL, false, call, &binding), "call");
}

void golden_level3_call(const tsr_level3 *what, char alpha, char beta, tsr_call *call) {
  if (what->operation >= TSR_OPERATION_COUNT) {
    factor_call(what, call);
    return;
  }
  double wide[2][2] = {{value_of(alpha), 0}, {value_of(beta), 0}};
  float narrow[2][2] = {{(float)wide[0][0], 0}, {(float)wide[1][0], 0}};
  bool is_wide = what->type == TSR_D || what->type == TSR_Z;
  const void *a = is_wide ? (void *)wide[0] : (void *)narrow[0],
             *b = is_wide ? (void *)wide[1] : (void *)narrow[1];
  tsr_binding binding;
  bool exchanged;
  must(tsr_call_level3(what, a, NULL, NULL, b, NULL, false, call, &binding, &exchanged), "call");
}

/* ---- Places --------------------------------------------------------------- */

/* Storage begins where it is aligned to PLACE_ALIGNMENT; columns may not. */
static int alignment_of(const tsr_operand *o, tsr_type type) {
  int64_t step = o->ld * (int64_t)tsr_type_get(type)->size;
  int alignment = 0;
  while (alignment < PLACE_ALIGNMENT && step % 2 == 0) step /= 2, alignment++;
  return alignment;
}

static void place(const tsr_machine *machine, char home, tsr_type type, tsr_operand *o) {
  bool is_there = o->rows > 0 || o->cols > 0;
  if ((home == '-') == is_there)
    golden_wrong("home %c of an operand of %d rows", home, (int)o->rows);
  bool on_device = home >= '0' && home <= '9';
  bool pinned = home == 'p' || home == 'r' || home == 'i';
  if (!on_device && !has_letter("hpqri-", home)) golden_wrong("home %c: no such place", home);
  int64_t bytes = tsr_operand_bytes(o, type);
  o->memory = on_device ? TSR_DEVICE : pinned ? TSR_PINNED : TSR_PAGEABLE;
  o->location = on_device     ? home - '0'
                : home == 'r' ? machine->devices + machine->nodes - 1
                : home == 'i' ? tsr_machine_host(machine, TSR_INTERLEAVED)
                              : machine->devices;
  o->pinned_begin = 0;
  o->pinned_end = pinned ? bytes : home == 'q' ? bytes / 2 : 0;
  o->alignment = alignment_of(o, type);
}

/* ---- Options -------------------------------------------------------------- */

tsr_plan_options golden_plan_options(const tsr_machine *machine) {
  tsr_plan_options options = {.obey_devices = true, .ring = 64 << 20};
  for (int d = 0; d < machine->devices; d++)
    options.budget[d] = (size_t)(0.8 * machine->device[d].memory);
  return options;
}

/* "2000": all devices have that many MB; "2000,1000": the first ones, and the rest the last one. */
static void read_budget(const char *text, const tsr_machine *machine, tsr_plan_options *options) {
  double mb = 0;
  for (int d = 0; d < machine->devices; d++) {
    char *end;
    if (*text != '\0') mb = strtod(text, &end), text = *end == ',' ? end + 1 : end;
    options->budget[d] = (size_t)(mb * 1e6);
  }
}

void golden_mapping_read(const char *text, tsr_mapping *mapping) {
  long long rows, cols;
  *mapping = (tsr_mapping){0};
  if (sscanf(text, "%lldx%lld@%dx%d", &rows, &cols, &mapping->grid_rows, &mapping->grid_cols) != 4)
    golden_wrong("%s: no mapping", text);
  mapping->block_rows = rows;
  mapping->block_cols = cols;
  for (int d = 0; d < mapping->grid_rows * mapping->grid_cols; d++) mapping->device[d] = (int16_t)d;
}

static const char *after(const char *word, const char *name) {
  size_t length = strlen(name);
  return strncmp(word, name, length) == 0 ? word + length : NULL;
}

bool golden_option_read(const char *word, const tsr_machine *machine, tsr_plan_options *options) {
  const char *value;
  if ((value = after(word, "budget=")) != NULL) {
    read_budget(value, machine, options);
  } else if ((value = after(word, "tile=")) != NULL) {
    options->tile = atoll(value);
  } else if ((value = after(word, "ring=")) != NULL) {
    options->ring = (size_t)atoll(value) << 20;
  } else if (strcmp(word, "reproducible") == 0) {
    options->reproducible = true;
  } else if (strcmp(word, "fewer") == 0) {
    options->obey_devices = false;
    options->no_cpu = true;
  } else if (strcmp(word, "any") == 0) {
    options->obey_devices = false;
  } else if (strcmp(word, "full") == 0) {
    options->search_seconds = 1e9;
  } else {
    return false;
  }
  return true;
}

/* ---- Lines ---------------------------------------------------------------- */

static int split(char *line, char *word[MOST_WORDS]) {
  int words = 0;
  char *rest = NULL;
  for (char *w = strtok_r(line, " ", &rest); w != NULL; w = strtok_r(NULL, " ", &rest)) {
    if (words == MOST_WORDS) golden_wrong("%s: too many words", line);
    word[words++] = w;
  }
  return words;
}

/* Words of the call itself, and the others. */
static void read_word(const char *word, golden_call *c, char *alpha, char *beta, int64_t *pad) {
  const char *value;
  if ((value = after(word, "alpha=")) != NULL) {
    *alpha = *value;
  } else if ((value = after(word, "beta=")) != NULL) {
    *beta = *value;
  } else if ((value = after(word, "pad=")) != NULL) {
    *pad = atoll(value);
  } else if ((value = after(word, "map=")) != NULL) {
    golden_mapping_read(value, &c->mapping);
    c->options.mapping = &c->mapping;
  } else if (!golden_option_read(word, c->machine, &c->options)) {
    golden_wrong("%s: no such word", word);
  }
}

void golden_call_read(const char *line, golden_call *c) {
  enum { MACHINE, OPERATION, LETTERS, EXTENTS, HOMES, FIRST };
  char copy[MOST_LINE], *word[MOST_WORDS], alpha = 'r', beta = 'r';
  tsr_level3 what;
  int64_t pad = 0;
  if ((size_t)snprintf(copy, sizeof copy, "%s", line) >= sizeof copy)
    golden_wrong("%s: too long", line);
  int words = split(copy, word);
  if (words < FIRST || strlen(word[HOMES]) != TSR_OPERANDS)
    golden_wrong("%s: MACHINE CALL LETTERS EXTENTS HOMES", line);
  *c = (golden_call){.machine = golden_machine(word[MACHINE])};
  c->options = golden_plan_options(c->machine);
  for (int i = FIRST; i < words; i++) read_word(word[i], c, &alpha, &beta, &pad);
  golden_level3_read(word[OPERATION], word[LETTERS], word[EXTENTS], &what);
  set_ld(pad, &what);
  golden_level3_call(&what, alpha, beta, &c->call);
  for (int i = 0; i < TSR_OPERANDS; i++)
    place(c->machine, word[HOMES][i], c->call.type, &c->call.operand[i]);
}

void golden_call_free(golden_call *call) {
  tsr_machine_destroy(call->machine);
}
