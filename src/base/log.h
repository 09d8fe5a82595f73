/*
 * The log: silent unless TESSERA_LOG is error, info or debug; lines go to stderr. It is below
 * errors, which it shows, and below the settings, which tell it what a settings file says.
 */
#ifndef TSR_BASE_LOG_H
#define TSR_BASE_LOG_H

#include "base/c_locale.h"

typedef enum tsr_log_level {
  TSR_LOG_NONE,
  TSR_LOG_ERROR,
  TSR_LOG_INFO,
  TSR_LOG_DEBUG
} tsr_log_level;

void tsr_log(tsr_log_level level, const char *format, ...) TSR_PRINTF(2, 3);

/* The name of the level from now on, unless the environment names one. */
void tsr_log_choose(const char *name);

#endif
