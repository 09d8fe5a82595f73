/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Decides for the BLAS doors whether a call of an unmodified program goes to devices.
 *
 * For each call two predicted times are compared: on the CPU, at the rate that was measured for
 * this machine or that this program's own calls showed, and on the devices, as planned. No call is
 * made only to measure. Devices are started in the background when the calls so far would have
 * saved more time than starting costs. A door need not ask about small calls (tsr_offload_unasked),
 * which then cost nothing here; a call that is asked about and stays on the CPU costs well under
 * 200 ns.
 *
 * A process has one state, made at the first call. Any thread may call. In a process that was
 * forked after devices were started, every call stays on the CPU.
 */
#ifndef TSR_FRONT_OFFLOAD_OFFLOAD_H
#define TSR_FRONT_OFFLOAD_OFFLOAD_H

#include <stdbool.h>

#include "base/status.h"
#include "base/types.h"

/* A call of a BLAS routine or a factorisation, with the arguments as the program passed them. The
 * matrix of a factorisation is c, and what.operation is its TSR_OPERATION_OF (blas/call.h). */
typedef struct tsr_offload_call {
  tsr_level3 what;
  const void *alpha, *a, *b, *beta;
  void *c;
  double multiplications; /* m n k; if A is square, k is its order; n n k if C is a triangle;
                             n n n / 3 of a factorisation */
  int64_t products;       /* of a batch, of which this is the largest; 0: the call is none */
  int64_t *info;          /* of a factorisation that was not left to the CPU: LAPACK's info */
} tsr_offload_call;

/* The reason why a call went to the CPU or to devices. */
typedef enum tsr_offload_why {
  TSR_WHY_SMALL,       /* CPU: below the size at which devices can win */
  TSR_WHY_EMPTY,       /* CPU: nothing is multiplied, or the arguments are ones we do not handle */
  TSR_WHY_NEVER,       /* CPU: TESSERA_OFFLOAD=never */
  TSR_WHY_NO_DEVICE,   /* CPU: no device is found, or none can be used */
  TSR_WHY_FORKED,      /* CPU: the devices were started by the parent process */
  TSR_WHY_CPU_FASTER,  /* CPU: predicted to be faster */
  TSR_WHY_NOT_STARTED, /* CPU: calls so far would not have saved what starting devices costs */
  TSR_WHY_STARTING,    /* CPU: the devices are being started */
  TSR_WHY_NO_FACTORS,  /* CPU: the engine factors no matrix on its devices */
  TSR_WHY_FAILED,      /* CPU: the call failed on the devices */
  TSR_WHY_FOREIGN,     /* CPU: arguments that only the program's BLAS handles or reports */
  TSR_WHY_ARGUMENTS,   /* ScaLAPACK: arguments that only it handles or reports */
  TSR_WHY_OTHER_MPI,   /* ScaLAPACK: libtessera_mpi was built for another MPI */
  TSR_WHY_OTHER_BITS,  /* ScaLAPACK: results are to be reproducible, and the product is native */
  TSR_WHY_FASTER,      /* devices: predicted to be faster */
  TSR_WHY_ON_DEVICE,   /* devices: an operand is in the memory of one */
  TSR_WHY_ALWAYS,      /* devices: TESSERA_OFFLOAD=always */
  TSR_WHY_COUNT
} tsr_offload_why;

/* One call as far as it has been decided and timed; filled by tsr_offload for tsr_offload_end. */
typedef struct tsr_offload_visit {
  tsr_offload_why why;
  int64_t products;             /* of a batch, together; 0: the call is none */
  int devices;                  /* number of devices that did the call; 0: the CPU did it */
  double began;                 /* s, tsr_now() when the CPU began; 0: its time is not wanted */
  bool counted;                 /* the report has counted the call, and lacks only its time */
  double flops;                 /* 0: not computed */
  double cpu_price, plan_price; /* s, predicted on the CPU and on devices; 0: not computed */
  double seconds;               /* s, measured; 0: not measured */
  double staging;               /* s, predicted: what operands in pageable memory cost */
} tsr_offload_visit;

typedef enum tsr_offload_verdict {
  TSR_OFFLOAD_TO_CPU, /* C is untouched: call the CPU's BLAS, then tsr_offload_end */
  TSR_OFFLOAD_DONE,   /* the devices have done the call */
  TSR_OFFLOAD_LOST    /* a device failed after C was changed: tsr_message() says how */
} tsr_offload_verdict;

/* Decides on a call and, if it goes to devices, carries it out before returning. Fills *visit. */
TSR_API tsr_offload_verdict tsr_offload(const tsr_offload_call *call, tsr_offload_visit *visit);

/* Whether a call is so small that it goes to the CPU whatever its arguments are: then it is
 * counted, and tsr_offload need not be called. Fills *visit. */
TSR_API bool tsr_offload_is_small(const tsr_offload_call *call, tsr_offload_visit *visit);

/* Notes a call that only the program's BLAS can do or refuse, for its arguments: it goes to the
 * CPU, and is counted. Fills *visit. */
TSR_API void tsr_offload_foreign(const tsr_offload_call *call, tsr_offload_visit *visit);

/* ---- Calls that a door need not ask about ---- */

/* Whether from now on no call of the process is offloaded or counted for a report. */
TSR_API bool tsr_offload_is_over(void);

/* The address of a number of multiplications: calls of the type with fewer go to the CPU and are
 * not counted, so that tsr_offload need not be called for them. The number changes as the program's
 * calls show the CPU's rate; 0: ask about every call. */
TSR_API const _Atomic double *tsr_offload_unasked(tsr_type type);

/* Sets up the process's state, as the first call does, so that a report is written also if no call
 * follows. */
TSR_API void tsr_offload_prepare(void);

/* To be called when the CPU's BLAS has done a call that got TSR_OFFLOAD_TO_CPU: records its
 * time. */
TSR_API void tsr_offload_end(const tsr_offload_call *call, const tsr_offload_visit *visit);

/* ---- Products of a batch, which is counted as one call ---- */

/* As tsr_offload, but the product is not counted. */
TSR_API tsr_offload_verdict tsr_offload_product(const tsr_offload_call *call,
                                                tsr_offload_visit *visit);

/* To be called when the CPU's BLAS has done so many products like one that got TSR_OFFLOAD_TO_CPU,
 * each in visit->seconds. */
TSR_API void tsr_offload_product_end(const tsr_offload_call *call, const tsr_offload_visit *visit,
                                     double products);

/* Counts a batch that is done. Its visit began with tsr_offload_is_small or tsr_offload_foreign, or
 * sums up those of products that devices have done; then began is when the first product was. */
TSR_API void tsr_offload_batch_end(const tsr_offload_call *call, const tsr_offload_visit *visit);

/* Carries the call out with the CPU's BLAS that this library loads, for a program whose own BLAS is
 * missing or lacks the routine. */
TSR_API tsr_status tsr_offload_alone(const tsr_offload_call *call);

/* ---- The report of all calls: report.c ---- */

typedef enum tsr_offload_family {
  TSR_FAMILY_BLAS,
  TSR_FAMILY_PBLAS, /* across processes: ScaLAPACK takes the CPU's part */
  TSR_FAMILY_COUNT
} tsr_offload_family;

/* Whether TESSERA_REPORT or TESSERA_EXPLAIN is set; call tsr_offload_report_add only then. */
TSR_API bool tsr_offload_report_wanted(void);
TSR_API void tsr_offload_report_add(tsr_offload_family family, const tsr_level3 *what,
                                    const tsr_offload_visit *visit);
/* For BLAS calls that go to the CPU and are so small that reading the clock twice would cost more
 * than all else: counts the call before it is done. True: its time is wanted, and is to be added
 * when the call is done. The times of some calls of a kind stand for those of all. */
bool tsr_offload_report_count(const tsr_level3 *what, const tsr_offload_visit *visit);
void tsr_offload_report_time(const tsr_level3 *what, const tsr_offload_visit *visit);

/* ---- Calls that several processes decide on together: share.c ---- */

/* Settings and rates of one process, found without touching a device. The larger a number, the more
 * it speaks against devices; processes agree on the maximum of each. */
typedef struct tsr_offload_facts {
  double reluctance;                  /* 0: TESSERA_OFFLOAD=always, 1: auto, 2: never */
  double deviceless;                  /* 1: no device is found, or none can be used; else 0 */
  double min_size;                    /* TESSERA_MIN_SIZE; -1: not set, the prices decide */
  double start;                       /* s to start the devices; 0: they are started */
  double cpu_flops[TSR_TYPE_COUNT];   /* flops/s of all processors that the process may use */
  double cpu_latency;                 /* s of a call on the CPU besides its flops */
  double device_flop[TSR_TYPE_COUNT]; /* s/flop of the process's devices together */
  double in, out, staging;            /* s/byte, inverse of tsr_reach's rates; 0: unknown */
  double wire;                        /* s/byte through the network; 0: unknown */
} tsr_offload_facts;
TSR_API tsr_offload_facts tsr_offload_facts_get(void);

/* Tells this process that it is number `rank` (from 0) of `ranks` processes that see the same
 * devices. The process uses only its share of the devices, unless the user named devices or they
 * are started already. If ranks > devices, several processes use one device. Only the first call
 * has an effect. */
TSR_API void tsr_offload_share_devices(int rank, int ranks);

/* A digest of the devices that the process may see: equal for processes of a host that see the
 * same. */
TSR_API uint64_t tsr_offload_visible(void);

/* Starts the devices if they are not started and waits for that. *context: the context of this
 * process that the BLAS doors use, too; it stays theirs. TSR_ERR_ENGINE with the cause if no device
 * can be used. */
TSR_API tsr_status tsr_offload_context(tsr_context **context);

#endif
