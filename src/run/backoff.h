/*
 * How a thread waits for another one for a short time: it spins where cores are plenty, and gives
 * its core away where they are not, for the longer the longer it has waited.
 */
#ifndef TSR_RUN_BACKOFF_H
#define TSR_RUN_BACKOFF_H

#include <sched.h>
#include <stdbool.h>

#include "base/clock.h"

typedef struct tsr_backoff {
  int steps;
} tsr_backoff;

/* Waking from a sleep costs 20 to 60 us (docs: measured), about what is slept at first; each sleep
 * is a little longer than the one before, up to half a millisecond after some 70 ms. */
enum {
  TSR_BACKOFF_PAUSES = 100,
  TSR_BACKOFF_YIELDS = 20,
  TSR_BACKOFF_AWAKE = TSR_BACKOFF_PAUSES + TSR_BACKOFF_YIELDS,
  TSR_BACKOFF_SLEEPS = 256,
  TSR_BACKOFF_SLEEP_US = 30,
  TSR_BACKOFF_MORE_US = 2
};

static inline void tsr_backoff_step(tsr_backoff *backoff, bool spin) {
  int step = backoff->steps;
  if (step < TSR_BACKOFF_AWAKE + TSR_BACKOFF_SLEEPS) backoff->steps++;
  if (spin || step < TSR_BACKOFF_PAUSES) {
    tsr_pause();
  } else if (step < TSR_BACKOFF_AWAKE) {
    sched_yield();
  } else {
    tsr_sleep(1e-6 * (TSR_BACKOFF_SLEEP_US + TSR_BACKOFF_MORE_US * (step - TSR_BACKOFF_AWAKE)));
  }
}

#endif
