#include "cluster/wait.h"

#include <sched.h>
#include <time.h>

enum { YIELDS = 2000, LONGEST = 200000 /* ns */ };

void tsr_wait_step(tsr_wait *wait, bool messages) {
  if (messages || wait->steps < YIELDS) {
    wait->steps += !messages;
    sched_yield();
    return;
  }
  if (wait->steps < YIELDS + 20) wait->steps++;
  long nap = 10000L * (wait->steps - YIELDS);
  struct timespec time = {0, nap < LONGEST ? nap : LONGEST};
  nanosleep(&time, NULL);
}
