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
  cJSON_AddStringToObject(object, "example", command->example);
  return tool_print_json(object, false);
}
