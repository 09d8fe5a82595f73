/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The meter tells how far a job has come: the fraction of the flops of its kernels (of its bytes if
 * the plan has no kernels) that is complete. It asks the events that the run records anyway. One
 * thread at a time uses a meter; the job must outlive the meter.
 */
#ifndef TSR_RUN_METER_H
#define TSR_RUN_METER_H

#include "run/runner.h"

typedef struct tsr_meter tsr_meter;

/* TSR_ERR_MEMORY. */
tsr_status tsr_meter_create(tsr_job *job, tsr_meter **meter);
void tsr_meter_destroy(tsr_meter *meter);

/* The fraction, 0 to 1, never less than at the previous call. A running command counts as not
 * done. */
double tsr_meter_fraction(tsr_meter *meter);

#endif
