/*
 * Whether a call of an unmodified program goes to devices: what the BLAS doors ask.
 *
 * Each call is priced: the CPU's rate, as it was measured or as this program's own calls show it,
 * against the planned time on the devices. Nothing is measured for its own sake, and devices are
 * started in the background only when the calls so far would have saved more than starting costs.
 * A call that is not asked about (below) costs nothing here; one that is asked about and stays on
 * the CPU costs well under 200 ns.
 *
 * One state a process, made at the first call. Any thread may call. In a process that was forked
 * after devices were started every call stays on the CPU.
 */
#ifndef TSR_FRONT_OFFLOAD_H
#define TSR_FRONT_OFFLOAD_H

#include <stdbool.h>

#include "base/status.h"
#include "base/types.h"

/* A call as it came in. */
typedef struct tsr_offload_call {
  tsr_level3 what;
  const void *alpha, *a, *b, *beta;
  void *c;
  double multiplications; /* m n k, where A is square its order for k; of a triangle, too */
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
  TSR_WHY_ARGUMENTS,   /* ScaLAPACK: it knows what to make of them */
  TSR_WHY_OTHER_MPI,   /* ScaLAPACK: the library across processes was built for another MPI */
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
  double seconds;               /* s that it took; 0: not measured */
} tsr_offload_visit;

typedef enum tsr_offload_verdict {
  TSR_OFFLOAD_TO_CPU, /* nothing is touched: call the CPU's BLAS, then tsr_offload_end */
  TSR_OFFLOAD_DONE,
  TSR_OFFLOAD_LOST /* a device failed after it had changed C: tsr_message() says how */
} tsr_offload_verdict;

TSR_API tsr_offload_verdict tsr_offload(const tsr_offload_call *call, tsr_offload_visit *visit);

/* ---- Calls that nobody need ask about ---- */

/* Whether no call of the process will be offloaded, or counted for a report, from now on. */
TSR_API bool tsr_offload_is_over(void);

/* Calls of a type with fewer multiplications than *this go to the CPU, and are not counted. The
 * number changes as the program's calls show what the CPU does; 0: ask about every call. */
TSR_API const _Atomic double *tsr_offload_unasked(tsr_type type);

/* Sets up what the first call would. */
TSR_API void tsr_offload_prepare(void);

/* The CPU's BLAS has done the call. */
TSR_API void tsr_offload_end(const tsr_offload_call *call, const tsr_offload_visit *visit);

/* Carries the call out with the library's own choice of the CPU's BLAS, for a program that has
 * none, or none with that routine. */
TSR_API tsr_status tsr_offload_alone(const tsr_offload_call *call);

/* ---- What became of calls: offload_report.c ---- */

typedef enum tsr_offload_family {
  TSR_FAMILY_BLAS,
  TSR_FAMILY_PBLAS, /* across processes: CPU means ScaLAPACK */
  TSR_FAMILY_COUNT
} tsr_offload_family;

TSR_API bool tsr_offload_report_wanted(void);
TSR_API void tsr_offload_report_add(tsr_offload_family family, const tsr_level3 *what,
                                    const tsr_offload_visit *visit);

/* ---- Calls that several processes decide on together: offload_share.c ---- */

/* What a process can say of itself, without touching a device. All numbers are such that the
 * greatest of all processes is what they agree on: what speaks most against devices. */
typedef struct tsr_offload_facts {
  double reluctance;                  /* 0: TESSERA_OFFLOAD=always, 1: auto, 2: never */
  double deviceless;                  /* 1: no device is here, or none can be used */
  double min_size;                    /* TESSERA_MIN_SIZE; -1: by the model */
  double start;                       /* s that starting the devices takes; 0: they are started */
  double cpu_flops[TSR_TYPE_COUNT];   /* flops/s, of all processors that the process may use */
  double cpu_latency;                 /* s */
  double device_flop[TSR_TYPE_COUNT]; /* s a flop, on its devices together */
  double in, out, staging;            /* s a byte, as tsr_reach has them; 0: unknown */
  double wire; /* s a byte over the network, as the machine says; 0: it does not */
} tsr_offload_facts;
TSR_API tsr_offload_facts tsr_offload_facts_get(void);

/* Of the `ranks` processes that see the same devices this is number `rank`: it takes its share of
 * them, unless the user named devices or they are started. More processes than devices share them.
 * Only the first time counts. */
TSR_API void tsr_offload_deal(int rank, int ranks);

/* The same number for processes of a host that see the same devices. */
TSR_API uint64_t tsr_offload_visible(void);

/* Starts the devices, or waits until they are started: *context is this process's, and the same
 * that the BLAS doors use. TSR_ERR_ENGINE with the cause where none can be used. */
TSR_API tsr_status tsr_offload_context(tsr_context **context);

#endif
