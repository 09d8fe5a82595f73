/*
 * Whether a call of an unmodified program goes to devices: what the BLAS doors ask.
 *
 * Each call is priced: the CPU's rate, as it was measured or as this program's own calls show it,
 * against the planned time on the devices. Nothing is measured for its own sake, and devices are
 * started in the background only when the calls so far would have saved more than starting costs.
 * A call that stays on the CPU costs well under 200 ns (tessera bench doors).
 *
 * One state a process, made at the first call. Any thread may call. In a process that was forked
 * after devices were started every call stays on the CPU.
 */
#ifndef TSR_FRONT_OFFLOAD_H
#define TSR_FRONT_OFFLOAD_H

#include <stdbool.h>

#include "base/status.h"

/* A call as it came in. */
typedef struct tsr_offload_call {
  tsr_level3 what;
  const void *alpha, *a, *b, *beta;
  void *c;
} tsr_offload_call;

/* Why a call went where it went. */
typedef enum tsr_offload_why {
  TSR_WHY_SMALL,       /* CPU: below the size at which devices can win */
  TSR_WHY_EMPTY,       /* CPU: nothing is multiplied, or what is asked for is not ours to do */
  TSR_WHY_NEVER,       /* CPU: TESSERA_OFFLOAD=never */
  TSR_WHY_NO_DEVICE,   /* CPU: none is here, or none can be used */
  TSR_WHY_FORKED,      /* CPU: the devices are the parent's */
  TSR_WHY_CPU_FASTER,  /* CPU: by the model */
  TSR_WHY_NOT_STARTED, /* CPU: what calls would have saved does not pay for starting devices yet */
  TSR_WHY_STARTING,    /* CPU: meanwhile */
  TSR_WHY_FAILED,      /* CPU: the devices could not */
  TSR_WHY_FASTER,      /* devices: by the model */
  TSR_WHY_ON_DEVICE,   /* devices: an operand is there */
  TSR_WHY_ALWAYS,      /* devices: TESSERA_OFFLOAD=always */
  TSR_WHY_COUNT
} tsr_offload_why;

/* What is known of a call on its way; filled by tsr_offload for tsr_offload_end. */
typedef struct tsr_offload_visit {
  tsr_offload_why why;
  int devices;                  /* that did it; 0: the CPU */
  double began;                 /* 0: nobody wants to know how long it takes */
  double flops;                 /* 0: not reckoned */
  double cpu_price, plan_price; /* s, predicted; 0: not reckoned */
} tsr_offload_visit;

typedef enum tsr_offload_verdict {
  TSR_OFFLOAD_TO_CPU, /* nothing is touched: call the CPU's BLAS, then tsr_offload_end */
  TSR_OFFLOAD_DONE,
  TSR_OFFLOAD_LOST /* a device failed after it had changed C: tsr_message() says how */
} tsr_offload_verdict;

TSR_API tsr_offload_verdict tsr_offload(const tsr_offload_call *call, tsr_offload_visit *visit);

/* Sets up what the first call would. */
TSR_API void tsr_offload_prepare(void);

/* The CPU's BLAS has done the call. */
TSR_API void tsr_offload_end(const tsr_offload_call *call, const tsr_offload_visit *visit);

/* Carries the call out with the library's own choice of the CPU's BLAS, for a program that has
 * none, or none with that routine. */
TSR_API tsr_status tsr_offload_alone(const tsr_offload_call *call);

#endif
