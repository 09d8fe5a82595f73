/*
 * How far a submission has come: the part of its kernels' flops that is done, by the events that
 * other queues wait for; of a plan without kernels, of its bytes. One thread at a time; the job
 * must outlive the meter.
 */
#ifndef TSR_RUN_METER_H
#define TSR_RUN_METER_H

#include "run/runner.h"

typedef struct tsr_meter tsr_meter;

/* TSR_ERR_MEMORY. */
tsr_status tsr_meter_create(tsr_job *job, tsr_meter **meter);
void tsr_meter_destroy(tsr_meter *meter);

/* 0 to 1; never less than the last time. What is being computed counts as not done. */
double tsr_meter_fraction(tsr_meter *meter);

#endif
