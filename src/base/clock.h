/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Monotonic time, and two ways to wait. */
#ifndef TSR_BASE_CLOCK_H
#define TSR_BASE_CLOCK_H

/* Seconds since an arbitrary moment; never goes back. */
double tsr_now(void);

/* One turn of a loop that spins: tells the core that this thread only waits. */
void tsr_pause(void);

/* Sleeps for about that many seconds. */
void tsr_sleep(double seconds);

#endif
