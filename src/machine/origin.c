/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Where the figures of a machine come from, in words. */
#include "machine/origin.h"

#include <string.h>

static const char *const origins[TSR_ORIGINS] = {
    [TSR_ORIGIN_UNKNOWN] = "",
    [TSR_ORIGIN_MEASURED] = "measured",
    [TSR_ORIGIN_UNDER_LOAD] = "measured under load",
    [TSR_ORIGIN_PUBLISHED] = "published",
    [TSR_ORIGIN_EXTRAPOLATED] = "extrapolated",
    [TSR_ORIGIN_DATA_SHEET] = "data sheet",
    [TSR_ORIGIN_ASSUMED] = "assumed",
};

static const struct {
  const char *key, *name;
} figures[TSR_FIGURES] = {
    [TSR_FIGURE_KERNELS] = {"kernels", "kernels"},
    [TSR_FIGURE_LINKS] = {"links", "host links"},
    [TSR_FIGURE_MEMORY] = {"memory", "host memory"},
    [TSR_FIGURE_PEERS] = {"peers", "links between GPUs"},
    [TSR_FIGURE_SOCKETS] = {"sockets", "links between sockets"},
    [TSR_FIGURE_STAGING] = {"staging", "staging"},
    [TSR_FIGURE_CPU] = {"cpu", "CPU"},
};

const char *tsr_origin_name(tsr_origin origin) {
  return origins[origin];
}

tsr_origin tsr_origin_find(const char *name) {
  int i = TSR_ORIGIN_UNKNOWN + 1;
  while (i < TSR_ORIGINS && strcmp(origins[i], name) != 0) i++;
  return (tsr_origin)i;
}

const char *tsr_figure_key(tsr_figure figure) {
  return figures[figure].key;
}

const char *tsr_figure_name(tsr_figure figure) {
  return figures[figure].name;
}

tsr_origin tsr_origin_of_kernels(const tsr_machine *machine, tsr_type type) {
  tsr_origin own = machine->origins.type[tsr_type_index(type)];
  return own != TSR_ORIGIN_UNKNOWN ? own : machine->origins.of[TSR_FIGURE_KERNELS];
}

bool tsr_origins_are_known(const tsr_origins *known) {
  for (int i = 0; i < TSR_FIGURES; i++)
    if (known->of[i] != TSR_ORIGIN_UNKNOWN) return true;
  for (int i = 0; i < TSR_TYPE_COUNT; i++)
    if (known->type[i] != TSR_ORIGIN_UNKNOWN) return true;
  return false;
}

void tsr_origins_set(tsr_origins *set, tsr_origin origin) {
  *set = (tsr_origins){.of = {origin}};
  for (int i = 0; i < TSR_FIGURES; i++) set->of[i] = origin;
}

/* Appends " of c, z, b": the types whose kernels have the origin, if not all of them have it. */
static void add_types(const tsr_machine *machine, tsr_origin origin, tsr_text *text) {
  const char *between = " of ";
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    tsr_type type = tsr_type_at(i)->type;
    if (tsr_origin_of_kernels(machine, type) != origin) continue;
    tsr_text_add(text, "%s%c", between, (char)type);
    between = ", ";
  }
}

/* How many types have kernels of the origin. */
static int count_types(const tsr_machine *machine, tsr_origin origin) {
  int count = 0;
  for (int i = 0; i < TSR_TYPE_COUNT; i++)
    count += tsr_origin_of_kernels(machine, tsr_type_at(i)->type) == origin;
  return count;
}

/* The machine's figures of one origin; before: what stands before them. False: there are none. */
static bool add_origin(const tsr_machine *machine, tsr_origin origin, const char *before,
                       tsr_text *text) {
  const char *between = "";
  int types = count_types(machine, origin);
  for (int i = 0; i < TSR_FIGURES; i++) {
    bool kernels = i == TSR_FIGURE_KERNELS;
    if (kernels ? types == 0 : machine->origins.of[i] != origin) continue;
    if (between[0] == '\0') tsr_text_add(text, "%s%s: ", before, origins[origin]);
    tsr_text_add(text, "%s%s", between, figures[i].name);
    if (kernels && types < TSR_TYPE_COUNT) add_types(machine, origin, text);
    between = ", ";
  }
  return between[0] != '\0';
}

void tsr_origins_print(const tsr_machine *machine, tsr_text *text) {
  const char *before = "";
  for (int i = TSR_ORIGIN_UNKNOWN + 1; i < TSR_ORIGINS; i++)
    if (add_origin(machine, (tsr_origin)i, before, text)) before = "; ";
}
