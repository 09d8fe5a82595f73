/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

#define TSR_STRING_(x) #x
#define TSR_STRING(x) TSR_STRING_(x)

static _Thread_local char last_message[sizeof((tsr_error *)0)->message];

const char *tsr_status_name(tsr_status status) {
  switch (status) {
    case TSR_OK:
      return "TSR_OK";
    case TSR_ERR_ARGUMENT:
      return "TSR_ERR_ARGUMENT";
    case TSR_ERR_MEMORY:
      return "TSR_ERR_MEMORY";
    case TSR_ERR_MACHINE:
      return "TSR_ERR_MACHINE";
    case TSR_ERR_ENGINE:
      return "TSR_ERR_ENGINE";
    case TSR_ERR_DEVICE:
      return "TSR_ERR_DEVICE";
    case TSR_ERR_CHECK:
      return "TSR_ERR_CHECK";
    case TSR_ERR_IO:
      return "TSR_ERR_IO";
    case TSR_ERR_UNSUPPORTED:
      return "TSR_ERR_UNSUPPORTED";
    case TSR_ERR_INTERNAL:
      return "TSR_ERR_INTERNAL";
  }
  return "TSR_UNKNOWN";
}

const char *tsr_message(void) {
  return last_message;
}

const char *tsr_version(void) {
  return TSR_STRING(TSR_VERSION_MAJOR) "." TSR_STRING(TSR_VERSION_MINOR) "." TSR_STRING(
      TSR_VERSION_PATCH);
}

int tsr_version_number(void) {
  return TSR_VERSION_NUMBER;
}

tsr_status tsr_fail(tsr_status status, const char *format, ...) {
  /* Formatted in a buffer first, since the last message may be among the arguments. */
  char message[sizeof last_message];
  va_list args;
  va_start(args, format);
  tsr_c_format(message, sizeof message, format, args);
  va_end(args);
  memcpy(last_message, message, strlen(message) + 1);
  tsr_log(TSR_LOG_ERROR, "%s: %s", tsr_status_name(status), last_message);
  return status;
}

void tsr_error_take(tsr_status status, tsr_error *error) {
  error->status = status;
  memcpy(error->message, last_message, sizeof error->message);
}

tsr_status tsr_error_put(const tsr_error *error) {
  memcpy(last_message, error->message, sizeof last_message);
  last_message[sizeof last_message - 1] = '\0';
  return error->status;
}
