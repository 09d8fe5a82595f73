/* Monotonic time in seconds, and a pause for spinning threads. */
#ifndef TSR_BASE_CLOCK_H
#define TSR_BASE_CLOCK_H

double tsr_now(void);

/* One step of a spin: tells the core that this thread only waits. */
void tsr_pause(void);

/* Sleeps about that many seconds. */
void tsr_sleep(double seconds);

#endif
