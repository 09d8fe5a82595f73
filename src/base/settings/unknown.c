/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Variables of the environment that look like settings and are none. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/environment.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "tessera_model.h"

#define PREFIX "TESSERA_"
enum { PREFIX_LENGTH = sizeof PREFIX - 1, MOST_SETTINGS = 64 };

/* The command gives this one to programs that it runs, for their report. */
static const char internal[] = "TESSERA_RUN_PID";

static bool is_known(const char *name) {
  for (const tsr_setting *s = tsr_settings(); s->name != NULL; s++)
    if (strcmp(name, s->name) == 0) return true;
  return strcmp(name, internal) == 0;
}

/* Copies the name of a variable "NAME=value"; false: it has no prefix of ours, or is too long. */
static bool take_name(const char *variable, char *name, size_t room) {
  size_t length = strcspn(variable, "=");
  if (strncmp(variable, PREFIX, PREFIX_LENGTH) != 0 || length >= room) return false;
  snprintf(name, room, "%.*s", (int)length, variable);
  return true;
}

/* The setting that the name was probably meant to be; NULL: none is near. All have the prefix, so
 * only what is behind it counts. */
static const char *nearest_to(const char *name) {
  const char *words[MOST_SETTINGS + 1] = {NULL};
  const tsr_setting *s = tsr_settings();
  for (int i = 0; s[i].name != NULL && i < MOST_SETTINGS; i++) words[i] = s[i].name + PREFIX_LENGTH;
  const char *word = tsr_word_nearest(name + PREFIX_LENGTH, words);
  return word != NULL ? word - PREFIX_LENGTH : NULL;
}

int tsr_setting_unknown(int index, char *name, size_t room, const char **meant) {
  const char *variable;
  for (int i = 0; (variable = tsr_environment_at(i)) != NULL; i++) {
    if (!take_name(variable, name, room) || is_known(name) || index-- > 0) continue;
    if (meant != NULL) *meant = nearest_to(name);
    return 1;
  }
  return 0;
}

static void log_misspelt(void) {
  char name[TSR_SETTING_NAME];
  const char *meant;
  for (int i = 0; tsr_setting_unknown(i, name, sizeof name, &meant); i++)
    if (meant != NULL)
      tsr_log(TSR_LOG_ERROR, "%s is no setting and has no effect; did you mean %s?", name, meant);
}

void tsr_settings_log_misspelt(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, log_misspelt);
}
