/*
 * Work on a thread of the library's own, which the caller waits for. Engines may leave a thread's
 * current device changed; the user's threads must find theirs as it was.
 */
#ifndef TSR_RUN_ASIDE_H
#define TSR_RUN_ASIDE_H

#include "base/status.h"

/* What work returns, with its message as this thread's. Costs about 30 us. */
tsr_status tsr_aside(tsr_status (*work)(void *argument), void *argument);

#endif
