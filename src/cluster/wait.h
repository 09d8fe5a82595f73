/*
 * Waiting for what must be polled. While messages are under way the processor is only offered to
 * others, since many MPIs move nothing but while they are called; otherwise the thread sleeps
 * before long, for longer the longer nothing happens.
 */
#ifndef TSR_CLUSTER_WAIT_H
#define TSR_CLUSTER_WAIT_H

#include <stdbool.h>

typedef struct tsr_wait {
  int steps;
} tsr_wait;

#define TSR_WAIT_INIT \
  { 0 }

/* Nothing has happened. messages: some are under way. */
void tsr_wait_step(tsr_wait *wait, bool messages);

#endif
