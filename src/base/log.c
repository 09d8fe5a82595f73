/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/environment.h"

enum { LEVEL_UNKNOWN = -1 };
static atomic_int chosen = LEVEL_UNKNOWN;

static const char *const level_names[] = {"none", "error", "info", "debug"};

/* An unknown name means silence: who makes a context is told of it (base/settings). */
static int level_of(const char *name) {
  for (int i = TSR_LOG_ERROR; i <= TSR_LOG_DEBUG; i++)
    if (strcmp(name, level_names[i]) == 0) return i;
  return TSR_LOG_NONE;
}

bool tsr_log_is_level(const char *name) {
  return level_of(name) != TSR_LOG_NONE || strcmp(name, level_names[TSR_LOG_NONE]) == 0;
}

/* The value of TESSERA_LOG; "": it is not set. */
static const char *name_in_environment(void) {
  const char *name = tsr_environment_get("TESSERA_LOG");
  return name != NULL ? name : "";
}

static int level(void) {
  int known = atomic_load_explicit(&chosen, memory_order_relaxed);
  if (known != LEVEL_UNKNOWN) return known;
  int found = level_of(name_in_environment());
  return atomic_compare_exchange_strong(&chosen, &known, found) ? found : known;
}

void tsr_log_choose(const char *name) {
  if (name_in_environment()[0] == '\0') atomic_store(&chosen, level_of(name));
}

void tsr_log(tsr_log_level wanted, const char *format, ...) {
  if (wanted == TSR_LOG_NONE || (int)wanted > level()) return;
  char line[1024];
  va_list args;
  va_start(args, format);
  tsr_c_format(line, sizeof line, format, args);
  va_end(args);
  /* A single call of fprintf, so that the lines of several threads do not mix. */
  fprintf(stderr, "tessera %.6f %s: %s\n", tsr_now(), level_names[wanted], line);
}
