/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "settings.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* If the library's message names a column of the machine string, prints the string with carets from
 * that column to the word's end: what is wrong. */
static void point_into_machine(const settings *s) {
  static const char carets[] = "^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^";
  const char *text = s->machine ? s->machine : getenv("TESSERA_MACHINE");
  int column;
  if (!text || sscanf(tsr_message(), "machine string, column %d", &column) != 1) return;
  if (column < 1 || (size_t)column > strlen(text) + 1 || strpbrk(text, "\t\n")) return;
  int wrong = (int)strcspn(text + column - 1, " ");
  fprintf(stderr, "  %s\n  %*s%.*s\n", text, column - 1, "", wrong > 0 ? wrong : 1, carets);
}

/* Sets the budgets: one number is for every device, a list has one for each. */
static int set_memory(const settings *s, tsr_options *options) {
  const char *text = s->memory;
  if (!text) return TOOL_OK;
  if (strchr(text, ',')) {
    options->budgets = text;
    return TOOL_OK;
  }
  if (options_bytes(text, &options->memory)) return TOOL_OK;
  return tool_usage("--memory %s: must be bytes such as 16G, 500M or 1.5GiB", text);
}

int settings_options(const settings *s, tsr_options *options) {
  tsr_options fresh = TSR_OPTIONS_DEFAULT;
  *options = fresh;
  options->engine = s->engine;
  options->devices = s->devices;
  options->machine = s->machine;
  if (s->reproducible) options->reproducible = 1;
  if (s->check) options->check = 1;
  options->trace = s->trace;
  options->arithmetic = s->arithmetic;
  return set_memory(s, options);
}

tsr_status settings_force(const settings *s, tsr_context *context) {
  return s->tile > 0 ? tsr_set_tile(context, s->tile) : TSR_OK;
}

int settings_open(const settings *s, tsr_context **context) {
  tsr_options options;
  int wrong = settings_options(s, &options);
  if (wrong) return wrong;
  tsr_status status = tsr_context_create(&options, context);
  if (status == TSR_OK) status = settings_force(s, *context);
  int code = tool_status(status);
  if (status == TSR_ERR_MACHINE) point_into_machine(s);
  return code;
}

static int check_machine(const settings *s) {
  const settings alone = {.engine = "cpu", .machine = s->machine};
  tsr_options options;
  tsr_context *context = NULL;
  if (!s->machine || settings_options(&alone, &options) != TOOL_OK) return TOOL_OK;
  tsr_status status = tsr_context_create(&options, &context);
  tsr_context_destroy(context);
  if (status != TSR_ERR_MACHINE && status != TSR_ERR_IO) return TOOL_OK;
  tool_fail("--machine: %s", tsr_message());
  point_into_machine(s);
  return TOOL_USAGE;
}

int settings_check(const settings *s) {
  tsr_options unused = TSR_OPTIONS_DEFAULT;
  int wrong = set_memory(s, &unused);
  return wrong ? wrong : check_machine(s);
}

bool settings_emulated(const settings *s) {
  const char *engine = s->engine ? s->engine : getenv("TESSERA_ENGINE");
  return engine && strcmp(engine, "host") == 0;
}

/* ---- Homes ---- */

/* Reads a number at *text, if there is one, and advances *text behind it; false: it is too large.
 */
static bool parse_index(const char **text, int *index) {
  char *end;
  if (!isdigit((unsigned char)**text)) return true;
  long number = strtol(*text, &end, 10);
  if (number > 1000) return false;
  *index = (int)number;
  *text = end;
  return true;
}

/* Reads the node of host memory behind its letter: a number, i for interleaved, or nothing. */
static bool parse_node(const char **text, int *node) {
  if (**text != 'i') return parse_index(text, node);
  *node = TSR_INTERLEAVED;
  ++*text;
  return true;
}

/* Reads one home at *text and advances *text behind it; false: none is there. */
static bool parse_home(const char **text, home_kind h_means, home *one) {
  *one = (home){HOME_AS_IS, 0};
  if (isdigit((unsigned char)**text)) {
    one->kind = HOME_DEVICE;
    return parse_index(text, &one->device);
  }
  switch (**text) {
    case 'h':
      one->kind = h_means;
      break;
    case 'p':
      one->kind = HOME_PINNED;
      break;
    case 'u':
      one->kind = HOME_PAGEABLE;
      break;
    case 'm':
      one->kind = HOME_MANAGED;
      break;
    default:
      return false;
  }
  ++*text;
  return parse_node(text, &one->device);
}

/* "A,B,C" */
static void list_letters(const char *operands, char text[8]) {
  int used = 0;
  for (const char *o = operands; *o; o++) {
    used += snprintf(text + used, 8 - (size_t)used, "%s%c", o == operands ? "" : ",", *o);
  }
}

/* words: what the error lists. */
static int parse_homes(const char *operands, const char *text, home_kind h_means, const char *words,
                       home homes[3]) {
  const char *at = text;
  int count = 0, wanted = (int)strlen(operands);
  bool good = true;
  while (good && count < wanted) {
    good = parse_home(&at, h_means, &homes[count++]);
    if (*at != ',') break;
    at++;
  }
  if (!good || *at || (count != 1 && count != wanted)) {
    char letters[8];
    list_letters(operands, letters);
    return tool_usage("--home %s: give %s places for %s, or one for all, each of: %s", text,
                      wanted == 3 ? "three" : "two", letters, words);
  }
  if (count == 1) homes[1] = homes[2] = homes[0];
  if (count == 2) homes[2] = homes[1];
  return TOOL_OK;
}

int homes_parse_planned(const char *operands, const char *text, home_kind h_means, home homes[3]) {
  return parse_homes(operands, text, h_means, HOMES_PLANNED, homes);
}

int homes_parse_of(const char *operands, const char *text, home_kind h_means, home homes[3]) {
  int code = parse_homes(operands, text, h_means,
                         h_means == HOME_PINNED ? HOMES_PINNED : HOMES_AS_IS, homes);
  for (int i = 0; i < 3 && !code; i++) {
    if (homes[i].kind == HOME_MANAGED)
      code = tool_usage("--home %s: managed memory (m) is only for tessera plan", text);
    else if (homes[i].kind != HOME_DEVICE && homes[i].device != 0)
      code = tool_usage("--home %s: nodes of host memory (h1, hi) are only for tessera plan", text);
  }
  return code;
}

int homes_parse(const char *text, home_kind h_means, home homes[3]) {
  return homes_parse_of("ABC", text, h_means, homes);
}

tsr_home home_for_library(home place) {
  switch (place.kind) {
    case HOME_PINNED:
      return (tsr_home){TSR_PINNED, place.device};
    case HOME_MANAGED:
      return (tsr_home){TSR_MANAGED, place.device};
    case HOME_DEVICE:
      return (tsr_home){TSR_DEVICE, place.device};
    default:
      return (tsr_home){TSR_PAGEABLE, place.device};
  }
}

/* ---- Letters ---- */

int parse_type(const char *name, const char *text, tsr_type *type) {
  static const char letters[] = "sdczhbt";
  char letter = (char)tolower((unsigned char)text[0]);
  if (!letter || text[1] || !strchr(letters, letter)) {
    return tool_usage("%s %s: not a type; s fp32, d fp64, c and z complex, h fp16, b bf16, t TF32",
                      name, text);
  }
  *type = (tsr_type)letter;
  return TOOL_OK;
}

int parse_op(const char *name, const char *text, tsr_op *op) {
  char letter = (char)toupper((unsigned char)text[0]);
  if (!letter || text[1] || !strchr("NTC", letter)) {
    return tool_usage("%s %s: must be N (as it is), T (transposed) or C (conjugate transposed)",
                      name, text);
  }
  *op = (tsr_op)letter;
  return TOOL_OK;
}

int parse_scalar(const char *name, const char *text, scalar *value) {
  char *end;
  double first = strtod(text, &end);
  scalar parsed = {first, 0};
  bool good = end != text;
  if (good && (*end == '+' || *end == '-')) {
    const char *second = end;
    parsed.im = strtod(second, &end);
    good = end != second && *end == 'j';
    if (good) end++;
  } else if (good && *end == 'j') {
    parsed = (scalar){0, first};
    end++;
  }
  if (!good || *end || !isfinite(parsed.re) || !isfinite(parsed.im)) {
    return tool_usage("%s %s: not a number; write it as 1.5 or, for complex types, as 1.5+2j", name,
                      text);
  }
  *value = parsed;
  return TOOL_OK;
}

scalar_value scalar_for(tsr_type type, scalar value) {
  scalar_value as_type;
  memset(&as_type, 0, sizeof as_type);
  if (type == TSR_D || type == TSR_Z) {
    as_type.d[0] = value.re;
    as_type.d[1] = value.im;
  } else {
    as_type.s[0] = (float)value.re;
    as_type.s[1] = (float)value.im;
  }
  return as_type;
}
