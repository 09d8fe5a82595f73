/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"

enum { MOST_OPTIONS = 64 };

static int unknown_option(const option *table, const char *word, const char *given) {
  const char *names[MOST_OPTIONS + 2];
  int count = 0;
  for (; table->kind != OPTION_END && count < MOST_OPTIONS; table++) names[count++] = table->name;
  names[count++] = "help";
  names[count] = NULL;
  const char *nearest = tsr_word_nearest(word, names);
  if (nearest) return tool_usage("unknown option %s: did you mean --%s?", given, nearest);
  return tool_usage("unknown option %s", given);
}

/* ---- Values ---- */

/* The factor of a suffix: "K" and "kB" are 1000, "KiB" is 1024; 0: no such suffix. */
static double bytes_unit(const char *suffix) {
  static const char letters[] = "KMGTP";
  if (!*suffix || strcmp(suffix, "B") == 0) return 1;
  const char *letter = strchr(letters, *suffix == 'k' ? 'K' : *suffix);
  if (!letter) return 0;
  int power = (int)(letter - letters) + 1;
  const char *rest = suffix + 1;
  if (strcmp(rest, "iB") == 0 || strcmp(rest, "i") == 0) return pow(1024, power);
  return !*rest || strcmp(rest, "B") == 0 ? pow(1000, power) : 0;
}

bool options_bytes(const char *text, size_t *bytes) {
  char *end;
  double number = strtod(text, &end);
  double value = number * bytes_unit(end);
  if (end == text || !isfinite(value) || value < 1 || value > 1e18) return false;
  *bytes = (size_t)value;
  return true;
}

/* Of 1.5k or 1e4; from here on doubles are no longer all whole numbers. */
#define MOST_SCALED 9007199254740992.0

/* Reads what a whole number may have besides digits: a fraction and an exponent that make a whole
 * number again (1e4), and k (1,000) or M (1,000,000). */
static bool parse_scaled(const char *text, char **end, int64_t *value) {
  double number = strtod(text, end);
  if (**end && strchr("kKM", **end)) number *= *(*end)++ == 'M' ? 1e6 : 1e3;
  if (!(number >= 0 && number <= MOST_SCALED) || number != floor(number)) return false;
  *value = (int64_t)number;
  return true;
}

static bool parse_whole(const char *text, char **end, int64_t *value) {
  errno = 0;
  long long number = strtoll(text, end, 10);
  if (*end == text || errno || number < 0) return false;
  if (**end && strchr(".eEkKM", **end)) return parse_scaled(text, end, value);
  *value = number;
  return true;
}

int options_whole_list(const char *text, int64_t *values, int room) {
  int count = 0;
  for (;;) {
    char *end;
    if (count == room || !parse_whole(text, &end, &values[count])) return -1;
    count++;
    if (!*end) return count;
    if (*end != ',') return -1;
    text = end + 1;
  }
}

static bool set_whole(int64_t *target, const char *text) {
  char *end;
  int64_t value;
  if (!parse_whole(text, &end, &value) || *end) return false;
  *target = value;
  return true;
}

static bool set_number(double *target, const char *text) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end || !isfinite(value)) return false;
  *target = value;
  return true;
}

static int check_range(const option *row, const char *text, double value) {
  bool any = row->least == 0 && row->most == 0;
  if (any || (value >= row->least && value <= row->most)) return TOOL_OK;
  return tool_usage("--%s %s: must be %.10g to %.10g", row->name, text, row->least, row->most);
}

static int set_value(const option *row, const char *text) {
  switch (row->kind) {
    case OPTION_TEXT:
      *(const char **)row->target = text;
      return TOOL_OK;
    case OPTION_WHOLE:
      if (!set_whole(row->target, text))
        return tool_usage("--%s %s: not a whole number; write it as 10000, 10k or 1e4", row->name,
                          text);
      return check_range(row, text, (double)*(int64_t *)row->target);
    case OPTION_NUMBER:
      if (!set_number(row->target, text))
        return tool_usage("--%s %s: not a number", row->name, text);
      return check_range(row, text, *(double *)row->target);
    case OPTION_BYTES:
      if (options_bytes(text, row->target)) return TOOL_OK;
      return tool_usage("--%s %s: not a size; write it as 16G, 1.5GiB or 1048576", row->name, text);
    default:
      return TOOL_USAGE;
  }
}

/* ---- Help ---- */

static void print_row(const char *left, const char *help) {
  if (strlen(left) > 26) {
    printf("  %s\n  %-26s  ", left, "");
  } else {
    printf("  %-26s  ", left);
  }
  tool_print_wrapped(30, help);
}

static void print_help(const option_command *command) {
  printf("usage: %s %s\n\n", tool_name(), command->usage);
  tool_print_wrapped(0, command->summary);
  printf("\noptions:\n");
  for (const option *row = command->table; row->kind != OPTION_END; row++) {
    char left[96];
    char letter[8] = "";
    if (row->letter) snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, row->name, row->value ? " " : "",
             row->value ? row->value : "");
    print_row(left, row->help);
  }
  print_row("--help", "print this");
  printf("\nexample:\n  %s\n", command->example);
}

/* ---- Parsing ---- */

static const option *find_long(const option *table, const char *name, size_t length) {
  for (; table->kind != OPTION_END; table++) {
    if (strlen(table->name) == length && strncmp(table->name, name, length) == 0) return table;
  }
  return NULL;
}

static const option *find_letter(const option *table, char letter) {
  for (; table->kind != OPTION_END; table++) {
    if (table->letter == letter) return table;
  }
  return NULL;
}

/* Whether a word is an option without dashes: "type=d", or the name of a flag. */
static bool is_bare(const option *table, const char *word) {
  const option *row = find_long(table, word, strlen(word));
  return (word[0] != '=' && strchr(word, '=')) || (row && row->kind == OPTION_FLAG);
}

/* Reads the option at argv[*index], advances *index to its value, and notes in `options`, which has
 * an entry for each row of the table, that it was given. */
static int parse_option(const option *table, int argc, char **argv, int *index, bool *options) {
  const char *given = argv[*index];
  bool is_long = given[0] != '-' || given[1] == '-';
  const char *name = given[0] != '-' ? given : given + (is_long ? 2 : 1);
  const char *equals = is_long ? strchr(name, '=') : NULL;
  size_t length = equals ? (size_t)(equals - name) : strlen(name);
  const option *row = NULL;
  if (is_long) row = find_long(table, name, length);
  if (!is_long && length == 1) row = find_letter(table, name[0]);
  if (!row) return unknown_option(table, name, given);
  options[row - table] = true;
  if (row->kind == OPTION_FLAG) {
    if (equals) return tool_usage("--%s takes no value", row->name);
    *(bool *)row->target = true;
    return TOOL_OK;
  }
  if (equals) return set_value(row, equals + 1);
  if (*index + 1 >= argc) return tool_usage("%s needs a value: %s", given, row->value);
  return set_value(row, argv[++*index]);
}

/* ---- Modes ---- */

/* Whether the option was given; if `item` is NAME=VALUE, with that value. */
static bool was_given(const option *table, const bool *given, const char *item, size_t length) {
  const char *equals = memchr(item, '=', length);
  const option *row = find_long(table, item, equals ? (size_t)(equals - item) : length);
  if (!row || !given[row - table]) return false;
  if (!equals) return true;
  const char *value = options_value(row);
  size_t left = length - (size_t)(equals + 1 - item);
  return value && strlen(value) == left && strncmp(value, equals + 1, left) == 0;
}

/* The first of the items that was given; *length: its length. NULL: none. */
static const char *first_given(const option *table, const bool *given, const char *items,
                               size_t *length) {
  for (const char *at = items; at && *at; at += *length, at += strspn(at, " ")) {
    *length = strcspn(at, " ");
    if (was_given(table, given, at, *length)) return at;
  }
  return NULL;
}

void options_mode_name(const option_mode *mode, char name[OPTIONS_MODE_NAME]) {
  bool none = mode->with[0] == '!';
  size_t used = (size_t)snprintf(name, OPTIONS_MODE_NAME, "with%s ", none ? "out" : "");
  for (const char *at = mode->with + none; *at; at += *at == ' ') {
    size_t length = strcspn(at, " =");
    used += (size_t)snprintf(name + used, OPTIONS_MODE_NAME - used, "--%.*s", (int)length, at);
    at += length;
    length = strcspn(at, " ");
    if (*at == '=')
      used +=
          (size_t)snprintf(name + used, OPTIONS_MODE_NAME - used, " %.*s", (int)length - 1, at + 1);
    at += length;
    if (*at) used += (size_t)snprintf(name + used, OPTIONS_MODE_NAME - used, " or ");
  }
}

/* Refuses options that have no use in a mode in which the command is. */
static int check_modes(const option_command *command, const bool *given) {
  for (const option_mode *m = command->modes; m && m->with; m++) {
    size_t length;
    char name[OPTIONS_MODE_NAME];
    bool none = m->with[0] == '!';
    bool found = first_given(command->table, given, m->with + none, &length) != NULL;
    if (found == none || first_given(command->table, given, m->without, &length)) continue;
    const char *item = first_given(command->table, given, m->unused, &length);
    if (!item) continue;
    options_mode_name(m, name);
    const char *equals = memchr(item, '=', length);
    int start = equals ? (int)(equals - item) : (int)length;
    return tool_usage("--%.*s%s%.*s: does nothing %s; %s", start, item, equals ? " " : "",
                      equals ? (int)length - start - 1 : 0, equals ? equals + 1 : "", name,
                      m->remedy ? m->remedy : "leave it out");
  }
  return TOOL_OK;
}

/* Whether one of the options is the word. */
static bool asks_for(int argc, char **argv, const char *word) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    if (strcmp(argv[i], word) == 0) return true;
  }
  return false;
}

int options_parse(const option_command *command, int argc, char **argv, const char **positional,
                  int *count) {
  if (asks_for(argc, argv, "--help=json")) {
    int code = describe_command(command);
    return code == TOOL_OK ? OPTIONS_HELPED : code;
  }
  if (asks_for(argc, argv, "--help") || asks_for(argc, argv, "-h")) {
    print_help(command);
    return OPTIONS_HELPED;
  }
  int found = 0;
  bool options_ended = false, given[MOST_OPTIONS] = {false};
  for (int i = 1; i < argc; i++) {
    if (!options_ended && strcmp(argv[i], "--") == 0) {
      options_ended = true;
    } else if (!options_ended && ((argv[i][0] == '-' && argv[i][1]) ||
                                  (command->bare && is_bare(command->table, argv[i])))) {
      int code = parse_option(command->table, argc, argv, &i, given);
      if (code != TOOL_OK) return code;
    } else if (found < command->most) {
      positional[found++] = argv[i];
    } else {
      return tool_usage("unexpected argument '%s'", argv[i]);
    }
  }
  if (found < command->least) return tool_usage("too few arguments: %s", command->usage);
  if (count) *count = found;
  return check_modes(command, given);
}

/* ---- Lines ---- */

/* Copies the word at *at to *to without its quotes and advances both. False: a quote is not
 * closed. */
static bool take_word(const char **at, char **to) {
  char quote = '\0';
  for (; **at && (quote || !strchr(" \t\r\n", **at)); (*at)++) {
    if (quote ? **at == quote : **at == '"' || **at == '\'') {
      quote = quote ? '\0' : **at;
    } else {
      *(*to)++ = **at;
    }
  }
  return quote == '\0';
}

int options_split(char *line, char **words, int room) {
  const char *at = line;
  char *to = line;
  for (int count = 0;; count++) {
    at += strspn(at, " \t\r\n");
    if (!*at) return count;
    if (count == room) return -1;
    words[count] = to;
    if (!take_word(&at, &to)) return -1;
    if (*at) at++; /* steps over the blank, which the word's '\0' may overwrite */
    *to++ = '\0';
  }
}

const char *options_value(const option *row) {
  static char text[64];
  double number = -1;
  if (row->kind == OPTION_TEXT) return *(const char **)row->target;
  if (row->kind == OPTION_FLAG) return *(bool *)row->target ? "" : NULL;
  if (row->kind == OPTION_WHOLE) number = (double)*(int64_t *)row->target;
  if (row->kind == OPTION_NUMBER) number = *(double *)row->target;
  snprintf(text, sizeof text, "%.10g", number);
  return number >= 0 ? text : NULL;
}

bool options_named(const option *row, const char *names) {
  const char *name = row->name;
  size_t length = strlen(name);
  for (const char *at = names; at; at = strchr(at, ' ')) {
    at += *at == ' ';
    if (strncmp(at, name, length) == 0 && (!at[length] || at[length] == ' ')) return true;
  }
  return false;
}

int options_refuse(const option *table, const char *names, const char *why) {
  for (; table->kind != OPTION_END; table++) {
    const char *value = options_named(table, names) ? options_value(table) : NULL;
    if (value) return tool_usage("--%s%s%s: %s", table->name, *value ? " " : "", value, why);
  }
  return TOOL_OK;
}
