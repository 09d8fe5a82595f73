/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Makes a machine from any of its forms. */
#include <string.h>
#include <sys/stat.h>

#include "machine/installed.h"

static bool is_file(const char *source) {
  static const char suffix[] = ".json";
  size_t length = strlen(source), tail = sizeof suffix - 1;
  struct stat what;
  bool named = length >= tail && strcmp(source + length - tail, suffix) == 0;
  return named || stat(source, &what) == 0;
}

tsr_status tsr_machine_load(const char *source, tsr_machine **machine) {
  char path[TSR_INSTALLED_PATH];
  if (source[0] == '{') return tsr_machine_read_json(source, machine);
  if (is_file(source)) return tsr_machine_read(source, machine);
  if (tsr_installed_find(source, path)) return tsr_machine_read(path, machine);
  tsr_status status = tsr_machine_parse(source, machine);
  bool looks_like_name = tsr_installed_is_name(source);
  return status == TSR_ERR_MACHINE && looks_like_name ? tsr_installed_refuse(source) : status;
}
