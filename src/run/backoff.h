/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One step of a thread's short wait for another thread. With spin (cores are plenty) the thread
 * stays awake; else it pauses first, then yields its core, then sleeps a little longer each time.
 *
 * A thread that stays awake offers its core from time to time. The system leaves two threads on one
 * core, with others idle, if they wait for each other in turn: it sees no more than one of them at
 * work. Measured on a host with an H200: a job of 27 us took 227, since its caller got the core
 * only when the worker had looked for the next job for IDLE_SPIN.
 */
#ifndef TSR_RUN_BACKOFF_H
#define TSR_RUN_BACKOFF_H

#include <sched.h>
#include <stdbool.h>

#include "base/clock.h"
#include "run/tuning.h"

typedef struct tsr_backoff {
  int steps;
  unsigned spins; /* steps with spin */
} tsr_backoff;

/* The number of steps before the first sleep. */
enum { TSR_BACKOFF_AWAKE = TSR_TUNE_BACKOFF_PAUSES + TSR_TUNE_BACKOFF_YIELDS };

static inline void tsr_backoff_step(tsr_backoff *backoff, bool spin) {
  if (spin && ++backoff->spins % TSR_TUNE_SPIN_PAUSES == 0) {
    sched_yield(); /* returns at once if no other thread wants the core */
    return;
  }
  int step = backoff->steps;
  if (step < TSR_BACKOFF_AWAKE + TSR_TUNE_BACKOFF_SLEEPS) backoff->steps++;
  if (spin || step < TSR_TUNE_BACKOFF_PAUSES) {
    tsr_pause();
  } else if (step < TSR_BACKOFF_AWAKE) {
    sched_yield();
  } else {
    int more = TSR_TUNE_BACKOFF_MORE_US * (step - TSR_BACKOFF_AWAKE);
    tsr_sleep(1e-6 * (TSR_TUNE_BACKOFF_SLEEP_US + more));
  }
}

#endif
