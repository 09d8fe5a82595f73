/*
 * The log: silent unless TESSERA_LOG is error, info or debug; lines go to stderr.
 */
#ifndef TSR_BASE_LOG_H
#define TSR_BASE_LOG_H

#include "base/status.h"

typedef enum tsr_log_level {
  TSR_LOG_NONE,
  TSR_LOG_ERROR,
  TSR_LOG_INFO,
  TSR_LOG_DEBUG
} tsr_log_level;

void tsr_log(tsr_log_level level, const char *format, ...) TSR_PRINTF(2, 3);

#endif
