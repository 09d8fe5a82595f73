/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/transport/wait.h"

#include <sched.h>
#include <time.h>

#include "cluster/tuning.h"

void tsr_wait_step(tsr_wait *wait, bool messages) {
  if (messages || wait->steps < TSR_TUNE_WAIT_YIELDS) {
    wait->steps += !messages;
    sched_yield();
    return;
  }
  if (wait->steps < TSR_TUNE_WAIT_YIELDS + 20) wait->steps++;
  long nap = 10000L * (wait->steps - TSR_TUNE_WAIT_YIELDS);
  struct timespec time = {0, nap < TSR_TUNE_WAIT_SLEEP ? nap : TSR_TUNE_WAIT_SLEEP};
  nanosleep(&time, NULL);
}
