/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Functions that all parts of the verifier use. */
#include <stdarg.h>
#include <stdio.h>

#include "plan/verify/verify.h"

tsr_status tsr_verify_fail(const tsr_verifier *v, uint32_t command, const char *format, ...) {
  char message[384];
  tsr_name name;
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  tsr_command_describe(v->plan, &v->plan->commands.items[command], &name);
  return tsr_fail(TSR_ERR_CHECK, "command %u (%s): %s", command, name.text, message);
}

const tsr_cached_block *tsr_verify_cached_block(const tsr_verifier *v, int32_t buffer) {
  const tsr_buffer *b = &v->plan->buffers.items[buffer];
  if (b->role != TSR_BUFFER_CACHED || b->offset >= v->plan->before->blocks.count) return NULL;
  return &v->plan->before->blocks.items[b->offset];
}
