/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Predicted times of a product by ScaLAPACK and by the devices of all processes. All inputs are
 * equal on all processes of a grid (the arguments, the agreed facts, the agreed times of earlier
 * calls), so the predictions are equal, too.
 */
#ifndef TSR_FRONT_DOORS_PBLAS_MPI_PRICE_H
#define TSR_FRONT_DOORS_PBLAS_MPI_PRICE_H

#include "front/doors/pblas/call.h"
#include "front/offload/inside.h"

typedef struct tsr_pblas_price {
  tsr_offload_facts facts;      /* the maximum over the processes of the grid */
  tsr_offload_price seen;       /* per process; ScaLAPACK takes the CPU's part */
  double least[TSR_TYPE_COUNT]; /* flops of a process; calls with fewer go to ScaLAPACK unpriced */
  double network; /* bytes/s of a process through MPI: the machine's, or TSR_TUNE_PBLAS_NETWORK */
  double across;  /* bytes/s of panels: network, or a measured rate from device to device */
} tsr_pblas_price;

void tsr_pblas_price_init(tsr_pblas_price *price, const tsr_offload_facts *facts);

/* Sets the rate [bytes/s] of panels that do not travel by MPI; measured, and equal on all
 * processes. */
void tsr_pblas_price_set_across(tsr_pblas_price *price, double across);

/* Whether the call goes to ScaLAPACK without being priced. */
bool tsr_pblas_is_small(const tsr_pblas_price *price, const tsr_pblas_call *call);

/* The flops of the process with the most. */
double tsr_pblas_flops(const tsr_pblas_call *call);

/* The predicted time [s] of ScaLAPACK, and of the devices. */
double tsr_pblas_cpu_seconds(const tsr_pblas_price *price, const tsr_pblas_call *call);
double tsr_pblas_device_seconds(const tsr_pblas_price *price, const tsr_pblas_call *call);

/* Whether the devices are faster: devices + their lateness < cpu [s]. */
bool tsr_pblas_is_cheaper(tsr_pblas_price *price, tsr_type type, double flops, double devices,
                          double cpu);

/* Whether the time of a call by ScaLAPACK is wanted, since too few of about this size have been
 * timed. */
bool tsr_pblas_wants_time(const tsr_pblas_price *price, tsr_type type, double flops);
/* Records the time [s] of a call by ScaLAPACK. */
void tsr_pblas_show(tsr_pblas_price *price, tsr_type type, double flops, double seconds);

#endif
