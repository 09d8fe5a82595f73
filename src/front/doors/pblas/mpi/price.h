/*
 * What a product costs ScaLAPACK, and what it costs across processes with devices. All that goes in
 * is the same on all processes of a grid: the arguments, what they have agreed on, and what they
 * have seen together of calls. So what comes out is, too.
 */
#ifndef TSR_FRONT_DOORS_PBLAS_MPI_PRICE_H
#define TSR_FRONT_DOORS_PBLAS_MPI_PRICE_H

#include "front/doors/pblas/call.h"
#include "front/offload_inside.h"

typedef struct tsr_pblas_price {
  tsr_offload_facts facts; /* agreed */
  tsr_offload_price seen;  /* of flops of one process: ScaLAPACK is what is called the CPU there */
  double least[TSR_TYPE_COUNT]; /* flops of a process, below which a call is not looked at */
  double network; /* bytes/s that a process gets by MPI, as the machine says or as is assumed */
  double across;  /* bytes/s of our panels: the same, or from device to device */
} tsr_pblas_price;

void tsr_pblas_price_init(tsr_pblas_price *price, const tsr_offload_facts *facts);

/* Panels do not go by MPI: their rate, which was measured, the same on all processes. */
void tsr_pblas_price_carry(tsr_pblas_price *price, double across);

/* Whether it is not even looked at. */
bool tsr_pblas_is_small(const tsr_pblas_price *price, const tsr_pblas_call *call);

/* Flops of the process with the most. */
double tsr_pblas_flops(const tsr_pblas_call *call);

/* Seconds. */
double tsr_pblas_cpu_seconds(const tsr_pblas_price *price, const tsr_pblas_call *call);
double tsr_pblas_device_seconds(const tsr_pblas_price *price, const tsr_pblas_call *call);

/* Whether devices are worth it, by what both were predicted to take and by how late they have been.
 */
bool tsr_pblas_is_cheaper(tsr_pblas_price *price, tsr_type type, double flops, double devices,
                          double cpu);

/* Whether too few calls of about that size have been seen of ScaLAPACK; and one that has been. */
bool tsr_pblas_wants_time(const tsr_pblas_price *price, tsr_type type, double flops);
void tsr_pblas_show(tsr_pblas_price *price, tsr_type type, double flops, double seconds);

#endif
