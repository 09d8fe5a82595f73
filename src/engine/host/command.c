/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Carries out copies and kernels, on the threads of the queues. */
#include <string.h>

#include "base/clock.h"
#include "cpu/blas.h"
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

/* The least time [s] of a kernel on a device that has a pace. */
static double least_time(const tsr_queue *queue, const tsr_kernel_args *args) {
  double pace = queue->state->pace[queue->device->index];
  if (pace <= 0) return 0;
  return tsr_kernel_flops(args->kernel, args->type, args->m, args->n, args->k) / pace;
}

/* A device with a pace sleeps for the rest of a kernel's time, so that the others have the CPU. */
tsr_status host_run_kernel(const tsr_queue *queue, const host_command *command) {
  const tsr_kernel_args *args = &command->as.kernel;
  double least = least_time(queue, args), begin = least > 0 ? tsr_now() : 0;
  if (queue->state->check) TSR_TRY(host_check_kernel(queue, command));
  TSR_TRY(tsr_cpu_kernel_in(args, command->scratch));
  if (least > 0) tsr_sleep(begin + least - tsr_now());
  return TSR_OK;
}
