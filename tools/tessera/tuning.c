/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera tuning: prints the tuned constants from the tables src/FOLDER/tuning.def. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "options.h"

/* A row of a table. If parts > 0 the row is a first guess: the power of two near extent / parts,
 * from least to most. Otherwise most is the value. */
typedef struct constant {
  const char *folder, *name;
  double parts, least, most;
  const char *unit, *says, *origin;
} constant;

#define TSR_WHOLE(name, value, unit, says, origin) \
  {FOLDER, #name, 0, 0, (value), unit, says, origin},
#define TSR_REAL(name, value, unit, says, origin) TSR_WHOLE(name, value, unit, says, origin)
#define TSR_GUESS(name, parts, least, most, unit, says, origin) \
  {FOLDER, #name, (parts), (least), (most), unit, says, origin},

static const constant table[] = {
#define FOLDER "machine"
#include "machine/tuning.def"
#undef FOLDER
#define FOLDER "plan"
#include "plan/tuning.def"
#undef FOLDER
#define FOLDER "run"
#include "run/tuning.def"
#undef FOLDER
#define FOLDER "probe"
#include "probe/tuning.def"
#undef FOLDER
#define FOLDER "call"
#include "call/tuning.def"
#undef FOLDER
#define FOLDER "compose"
#include "compose/tuning.def"
#undef FOLDER
#define FOLDER "front"
#include "front/tuning.def"
#undef FOLDER
#define FOLDER "cluster"
#include "cluster/tuning.def"
#undef FOLDER
#define FOLDER "engine/gpu"
#include "engine/gpu/tuning.def"
#undef FOLDER
};
enum { CONSTANTS = sizeof table / sizeof *table };

/* ---- Text ---- */

/* Prints a value with its unit: "0.05 of the predicted time", "32 MiB". */
static void print_value(double value, const char *unit) {
  bool bytes = strcmp(unit, "bytes") == 0;
  if (strcmp(unit, "s") == 0)
    printf("%s", tool_seconds(value));
  else if (bytes && value >= 1 << 20)
    printf("%g MiB", value / (1 << 20));
  else if (bytes && value >= 1 << 10)
    printf("%g KiB", value / (1 << 10));
  else
    printf("%.10g%s%s", value, unit[0] ? " " : "", unit);
}

static void print_row(const constant *c) {
  printf("| `%s` | ", c->name);
  if (c->parts > 0) {
    printf("x / %g, from ", c->parts);
    print_value(c->least, c->unit);
    printf(" to ");
  }
  print_value(c->most, c->unit);
  printf(" | %s | %s |\n", c->says, c->origin);
}

static void print_page(void) {
  const char *folder = NULL;
  for (const constant *c = table; c < table + CONSTANTS; c++) {
    if (folder == NULL || strcmp(c->folder, folder) != 0)
      printf(
          "%s## Constants of src/%s\n\n| constant | value | what it does | origin |\n| --- | --- | "
          "--- | --- |\n",
          folder != NULL ? "\n" : "", c->folder);
    folder = c->folder;
    print_row(c);
  }
}

/* ---- JSON ---- */

static int print_json(void) {
  cJSON *all = cJSON_CreateObject(), *rows = cJSON_AddArrayToObject(all, "constants");
  for (const constant *c = table; c < table + CONSTANTS; c++) {
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "folder", c->folder);
    cJSON_AddStringToObject(row, "name", c->name);
    if (c->parts > 0) {
      cJSON_AddNumberToObject(row, "parts", c->parts);
      cJSON_AddNumberToObject(row, "least", c->least);
      cJSON_AddNumberToObject(row, "most", c->most);
    } else {
      cJSON_AddNumberToObject(row, "value", c->most);
    }
    cJSON_AddStringToObject(row, "unit", c->unit);
    cJSON_AddStringToObject(row, "says", c->says);
    cJSON_AddStringToObject(row, "origin", c->origin);
    cJSON_AddItemToArray(rows, row);
  }
  return tool_print_json(all, false);
}

int command_tuning(int argc, char **argv) {
  bool json = false;
  const option options[] = {
      {"json", 0, OPTION_FLAG, &json, NULL, "print JSON", 0, 0},
      {0},
  };
  const option_command command = {
      "[--json]",
      "Prints the tuned constants as tables in Markdown: the effect of each, and where its value\n"
      "comes from. They are compiled in from src/FOLDER/tuning.def. docs/reference/tuning.md says "
      "which "
      "ones\n"
      "to tune again on another machine.",
      "tessera tuning --json",
      options,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code != TOOL_OK) return code;
  if (json) return print_json();
  print_page();
  return TOOL_OK;
}
