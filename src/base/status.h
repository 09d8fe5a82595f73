/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Errors. The function that detects an error reports it once, with tsr_fail(); its callers only
 * propagate the status. The message belongs to the calling thread. A thread that works for another
 * one hands its message over with tsr_error_take() and tsr_error_put().
 */
#ifndef TSR_BASE_STATUS_H
#define TSR_BASE_STATUS_H

#include "base/c_locale.h"
#include "tessera.h"

/* Records the message (what was wrong, its value, the remedy) as the last one of the calling
 * thread, logs it, and returns status. */
tsr_status tsr_fail(tsr_status status, const char *format, ...) TSR_PRINTF(2, 3);

/* An error with its message, to be carried from one thread to another. */
typedef struct tsr_error {
  tsr_status status;
  char message[512];
} tsr_error;

/* Fills *error with this thread's last message and the given status. */
void tsr_error_take(tsr_status status, tsr_error *error);

/* Makes *error this thread's last message; returns its status. */
tsr_status tsr_error_put(const tsr_error *error);

/* Returns the status of the call from the current function, unless it is TSR_OK. */
#define TSR_TRY(call)                              \
  do {                                             \
    tsr_status try_status_ = (call);               \
    if (try_status_ != TSR_OK) return try_status_; \
  } while (0)

#endif
