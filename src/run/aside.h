/*
 * Work on a thread of the library's own, which the caller waits for. Engines may leave a thread's
 * current device changed; the user's threads must find theirs as it was.
 */
#ifndef TSR_RUN_ASIDE_H
#define TSR_RUN_ASIDE_H

#include "base/status.h"

/* What work returns, with its message as this thread's. Costs about 30 us. */
tsr_status tsr_aside(tsr_status (*work)(void *argument), void *argument);

/* The same for index 0 .. count-1, each on a thread of its own, side by side. The status of the
 * first one that failed. count is at most TSR_MAX_DEVICES. */
tsr_status tsr_aside_each(int count, tsr_status (*work)(void *argument, int index), void *argument);

#endif
