/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "describe.h"

#include <string.h>

static const char *kind_name(option_kind kind) {
  static const char *const names[] = {[OPTION_FLAG] = "flag",
                                      [OPTION_TEXT] = "text",
                                      [OPTION_WHOLE] = "whole",
                                      [OPTION_NUMBER] = "number",
                                      [OPTION_BYTES] = "bytes"};
  return names[kind];
}

static cJSON *describe_option(const option *row) {
  char letter[2] = {row->letter, '\0'};
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "name", row->name);
  if (row->letter) cJSON_AddStringToObject(object, "letter", letter);
  cJSON_AddStringToObject(object, "kind", kind_name(row->kind));
  if (row->value) cJSON_AddStringToObject(object, "value", row->value);
  cJSON_AddStringToObject(object, "help", row->help);
  return object;
}

/* The names in a text, with blanks between them. */
static cJSON *list_of(const char *names) {
  cJSON *list = cJSON_CreateArray();
  for (const char *at = names ? names : ""; *at; at += strspn(at, " ")) {
    char name[64];
    int length = (int)strcspn(at, " ");
    snprintf(name, sizeof name, "%.*s", length, at);
    cJSON_AddItemToArray(list, cJSON_CreateString(name));
    at += length;
  }
  return list;
}

static cJSON *describe_mode(const option_mode *mode) {
  char name[OPTIONS_MODE_NAME];
  bool none = mode->with[0] == '!';
  cJSON *object = cJSON_CreateObject();
  options_mode_name(mode, name);
  cJSON_AddStringToObject(object, "name", name);
  cJSON_AddItemToObject(object, none ? "none_of" : "one_of", list_of(mode->with + none));
  cJSON_AddItemToObject(object, "unless", list_of(mode->without));
  cJSON_AddItemToObject(object, "unused", list_of(mode->unused));
  return object;
}

int describe_command(const option_command *command) {
  static const option help = {"help", 0, OPTION_FLAG, NULL, NULL, "print this", 0, 0};
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "name", tool_name());
  cJSON_AddStringToObject(object, "usage", command->usage);
  cJSON_AddStringToObject(object, "summary", command->summary);
  cJSON *options = cJSON_AddArrayToObject(object, "options");
  for (const option *row = command->table; row->kind != OPTION_END; row++) {
    cJSON_AddItemToArray(options, describe_option(row));
  }
  cJSON_AddItemToArray(options, describe_option(&help));
  cJSON *modes = cJSON_AddArrayToObject(object, "modes");
  for (const option_mode *m = command->modes; m && m->with; m++)
    cJSON_AddItemToArray(modes, describe_mode(m));
  cJSON_AddStringToObject(object, "example", command->example);
  return tool_print_json(object, false);
}
