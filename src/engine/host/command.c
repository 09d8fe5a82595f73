/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Carries out copies and kernels, on the threads of the queues. */
#include <string.h>

#include "base/cpu_blas.h"
#include "engine/host/internal.h"

tsr_status host_run_copy(const tsr_queue *queue, const host_command *command) {
  const tsr_copy_args *copy = &command->as.copy;
  if (queue->state->check) TSR_TRY(host_check_copy(queue, command));
  if (copy->width == copy->to_pitch && copy->width == copy->from_pitch) {
    memcpy(copy->to, copy->from, copy->width * copy->height);
    return TSR_OK;
  }
  for (size_t row = 0; row < copy->height; row++)
    memcpy((char *)copy->to + row * copy->to_pitch,
           (const char *)copy->from + row * copy->from_pitch, copy->width);
  return TSR_OK;
}

tsr_status host_run_kernel(const tsr_queue *queue, const host_command *command) {
  if (queue->state->check) TSR_TRY(host_check_kernel(queue, command));
  return tsr_cpu_kernel_in(&command->as.kernel, queue->scratch);
}
