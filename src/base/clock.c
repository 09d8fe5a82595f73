/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <time.h>

double tsr_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void tsr_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

void tsr_sleep(double seconds) {
  if (!(seconds > 0)) return;
  double whole = floor(seconds);
  struct timespec t = {(time_t)whole, (long)(1e9 * (seconds - whole))};
  while (nanosleep(&t, &t) != 0 && errno == EINTR) continue;
}
