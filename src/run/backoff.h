/*
 * How a thread waits for another one for a short time: it spins where cores are plenty, and gives
 * its core away where they are not.
 */
#ifndef TSR_RUN_BACKOFF_H
#define TSR_RUN_BACKOFF_H

#include <sched.h>
#include <stdbool.h>

#include "base/clock.h"

typedef struct tsr_backoff {
  int steps;
} tsr_backoff;

/* Waking from a sleep costs 20 to 60 us (docs: measured), about what is slept. */
enum { TSR_BACKOFF_PAUSES = 100, TSR_BACKOFF_YIELDS = 20, TSR_BACKOFF_SLEEP_US = 30 };

static inline void tsr_backoff_step(tsr_backoff *backoff, bool spin) {
  int step = backoff->steps;
  if (step < TSR_BACKOFF_PAUSES + TSR_BACKOFF_YIELDS) backoff->steps++;
  if (spin || step < TSR_BACKOFF_PAUSES) {
    tsr_pause();
  } else if (step < TSR_BACKOFF_PAUSES + TSR_BACKOFF_YIELDS) {
    sched_yield();
  } else {
    tsr_sleep(1e-6 * TSR_BACKOFF_SLEEP_US);
  }
}

#endif
