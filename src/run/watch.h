/*
 * How far a submission has come: the part of its kernels' flops that is done, by the events that
 * other queues wait for; of a plan without kernels, of its bytes. One thread at a time; the ticket
 * must outlive the watch.
 */
#ifndef TSR_RUN_WATCH_H
#define TSR_RUN_WATCH_H

#include "run/runner.h"

typedef struct tsr_watch tsr_watch;

/* TSR_ERR_MEMORY. */
tsr_status tsr_watch_create(tsr_ticket *ticket, tsr_watch **watch);
void tsr_watch_destroy(tsr_watch *watch);

/* 0 to 1; never less than the last time. What is being computed counts as not done. */
double tsr_watch_fraction(tsr_watch *watch);

#endif
