/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Names of commands in messages. */
#include <stdio.h>

#include "engine/host/internal.h"

const char *host_place(const tsr_queue *queue, const host_command *command) {
  static const char *const roles[] = {"in", "out", "peer", "compute", "add", "staging", "user"};
  static _Thread_local char text[96];
  snprintf(text, sizeof text, "emulated device %d, queue %d (%s), command %ld",
           queue->device->index, queue->number, roles[queue->role], command->number);
  return text;
}
