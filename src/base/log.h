/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The log: lines on stderr, if TESSERA_LOG is error, info or debug. status.c logs errors here, and
 * base/settings/file.c passes on the level that a settings file names, so the log includes neither.
 */
#ifndef TSR_BASE_LOG_H
#define TSR_BASE_LOG_H

#include <stdbool.h>

#include "base/c_locale.h"

typedef enum tsr_log_level {
  TSR_LOG_NONE,
  TSR_LOG_ERROR,
  TSR_LOG_INFO,
  TSR_LOG_DEBUG
} tsr_log_level;

/* Writes one line if the level is enabled. */
void tsr_log(tsr_log_level level, const char *format, ...) TSR_PRINTF(2, 3);

/* Whether a level has the name. */
bool tsr_log_is_level(const char *name);

/* Sets the level by its name, unless the environment names one. An unknown name means none. */
void tsr_log_choose(const char *name);

#endif
