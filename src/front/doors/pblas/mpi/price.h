/*
 * What a product costs ScaLAPACK, and what it costs across processes with devices. All that goes in
 * is the same on all processes of a grid: the arguments, what they have agreed on, and what they
 * have seen together of calls. So what comes out is, too.
 */
#ifndef TSR_FRONT_DOORS_PBLAS_MPI_PRICE_H
#define TSR_FRONT_DOORS_PBLAS_MPI_PRICE_H

#include "front/doors/pblas/call.h"

/* What calls of one type have shown. */
typedef struct tsr_pblas_shown {
  int calls, products; /* by ScaLAPACK, on devices: that were timed */
  double rate;         /* the best of ScaLAPACK's, flops/s a process */
  double slower;       /* the least of how many times longer products took than was predicted */
} tsr_pblas_shown;

typedef struct tsr_pblas_price {
  tsr_offload_facts facts; /* agreed */
  tsr_pblas_shown shown[TSR_TYPE_COUNT];
} tsr_pblas_price;

/* m n k: what TESSERA_MIN_SIZE cubed is compared with. */
double tsr_pblas_multiplications(const tsr_pblas_call *call);

/* Whether it is not even looked at. */
bool tsr_pblas_is_small(const tsr_pblas_price *price, const tsr_pblas_call *call);

/* Seconds. */
double tsr_pblas_cpu_seconds(const tsr_pblas_price *price, const tsr_pblas_call *call);
double tsr_pblas_device_seconds(const tsr_pblas_price *price, const tsr_pblas_call *call);

/* Whether it is worth the while to time this call, with what it is predicted to take. */
bool tsr_pblas_wants_time(const tsr_pblas_price *price, const tsr_pblas_call *call, double cpu,
                          bool on_devices);

/* It took so long, as all agree. predicted: by tsr_pblas_device_seconds(). */
void tsr_pblas_show_cpu(tsr_pblas_price *price, const tsr_pblas_call *call, double seconds);
void tsr_pblas_show_devices(tsr_pblas_price *price, const tsr_pblas_call *call, double predicted,
                            double seconds);

#endif
