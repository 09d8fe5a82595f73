/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Settings in a file, for users who do not want them in the environment. */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "base/text.h"
#include "base/vec.h"
#include "tessera_model.h"

#define NAMES_THE_FILE "TESSERA_SETTINGS"

static struct {
  pthread_once_t once;
  char *text;            /* bytes of the file, kept as long as the process lives */
  TSR_VEC(char *) lines; /* the lines NAME=value, inside text */
  tsr_error error;       /* status TSR_OK: the file was read, or there is none */
} file = {.once = PTHREAD_ONCE_INIT};

/* Removes a comment and the blanks at both ends of a line, in place. Returns where the rest
 * begins. */
static char *trim(char *line) {
  line[strcspn(line, "#")] = '\0';
  line += strspn(line, " \t\r");
  size_t length = strlen(line);
  while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL) line[--length] = '\0';
  return line;
}

static bool is_setting(const char *line) {
  for (const tsr_setting *s = tsr_settings(); s->name != NULL; s++) {
    size_t length = strlen(s->name);
    if (strncmp(line, s->name, length) == 0 && line[length] == '=') return true;
  }
  return false;
}

static tsr_status take_line(const char *path, int number, char *text) {
  char *line = trim(text);
  if (line[0] == '\0') return TSR_OK;
  if (!is_setting(line))
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "%s, line %d: \"%.80s\" is not a setting; write NAME=value with a name that "
                    "tessera --help lists",
                    path, number, line);
  if (TSR_VEC_PUSH(&file.lines, line)) return TSR_OK;
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for the settings of %s", path);
}

static tsr_status read_file(const char *path) {
  size_t length;
  TSR_TRY(tsr_text_read_file(path, &file.text, &length));
  int number = 1;
  for (char *line = file.text, *next; line != NULL; line = next, number++) {
    next = strchr(line, '\n');
    if (next != NULL) *next++ = '\0';
    TSR_TRY(take_line(path, number, line));
  }
  return TSR_OK;
}

/* The value of a variable in the file; NULL: none. */
static const char *value_of(const char *name) {
  size_t length = strlen(name);
  for (size_t i = 0; i < file.lines.count; i++) {
    const char *line = file.lines.items[i];
    if (strncmp(line, name, length) == 0 && line[length] == '=' && line[length + 1] != '\0')
      return line + length + 1;
  }
  return NULL;
}

static void load(void) {
  const char *path = tsr_environment_get(NAMES_THE_FILE);
  if (path == NULL || path[0] == '\0') return;
  tsr_status status = read_file(path);
  const char *level = status == TSR_OK ? value_of("TESSERA_LOG") : NULL;
  if (status != TSR_OK) tsr_error_take(status, &file.error);
  if (level != NULL) tsr_log_choose(level);
}

tsr_status tsr_settings_file_check(void) {
  pthread_once(&file.once, load);
  return file.error.status == TSR_OK ? TSR_OK : tsr_error_put(&file.error);
}

const char *tsr_settings_file_text(const char *name) {
  return tsr_settings_file_check() == TSR_OK ? value_of(name) : NULL;
}
