/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Shared by the files that implement offload.h: prices, the guessed machine, the state
 * and the report. */
#ifndef TSR_FRONT_OFFLOAD_INSIDE_H
#define TSR_FRONT_OFFLOAD_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "blas/call.h"
#include "front/context.h"
#include "front/offload/offload.h"
#include "plan/plan.h"

/* ---- What a call does (work.c) ---- */

/*
 * A call of a door as it is priced and planned. A call of level 3 or a factorisation is its one
 * part. A solver is made of many calls, whose plans depend on each other; its parts are one or two
 * calls with its matrices that stand for them: a trsm or a factorisation of A, or both. The last
 * one counts `again` times more, without its operands, which are on the devices by then. trtrs is
 * one trsm.
 */
typedef struct tsr_offload_work {
  const tsr_offload_call *asked;
  int parts, again;
  double flops; /* of all */
  double steps; /* number of calls that are made; 1: of the one part */
  tsr_call part[2];
  tsr_binding binding[2];
  bool exchanged; /* A and B of the part have changed places, as tsr_call_level3 says */
} tsr_offload_work;

/* Fills in the work of a call. TSR_ERR_ARGUMENT: its arguments are wrong. */
tsr_status tsr_offload_work_of(const tsr_offload_call *x, tsr_offload_work *work);
/* TSR_ERR_ARGUMENT: its matrices share memory. */
tsr_status tsr_offload_work_check_aliasing(const tsr_offload_work *work);
/* Whether nothing is computed. */
bool tsr_offload_work_is_empty(const tsr_offload_work *work);
bool tsr_offload_work_is_on_device(const tsr_offload_work *work);
bool tsr_offload_work_is_pageable(const tsr_offload_work *work);

/* ---- Solvers (solver.c) ---- */

/* Sets the info of a solver that takes no zero on the diagonal of its triangle: the place of the
 * first one, or 0. Where it is not 0, the call is done. */
tsr_status tsr_offload_find_singular(tsr_context *context, const tsr_offload_call *x);

/* As tsr_context_offer, for a solver of several calls. The prediction is made of plans of its parts
 * and the rates of `reach`. *lost: the call has failed when its matrices may have been written. */
tsr_status tsr_offload_offer_solver(tsr_context *context, const tsr_reach *reach,
                                    const tsr_offload_work *work, tsr_offer *offer, bool *lost);

/* Carries a solver out on the CPU, for tsr_offload_alone. */
tsr_status tsr_offload_solve_alone(const tsr_offload_call *x);

/* ---- Prices (price.c) ---- */

enum { TSR_OFFLOAD_SIZES = 64 };

/* The program's own calls of one type and one size class (equal flops within a factor of two). */
typedef struct tsr_offload_shown {
  _Atomic double rate; /* flops/s, the best that the CPU reached */
  atomic_int calls;    /* number of calls on the CPU */
  _Atomic double late; /* s; moving average of measured - planned on devices, may be negative */
  atomic_int runs;     /* number of calls on devices */
} tsr_offload_shown;

/* The rate of the CPU's BLAS and the lateness of devices, from which calls are priced. A rate is
 * the machine's until the program's own calls have shown one. Any thread may use it. */
typedef struct tsr_offload_price {
  double figure[TSR_TYPE_COUNT]; /* flops/s, the machine's rate */
  tsr_offload_shown shown[TSR_TYPE_COUNT][TSR_OFFLOAD_SIZES];
  double latency;     /* s of a call on the CPU besides its flops */
  double memory_rate; /* bytes/s at which the CPU reads operands; 0: unknown */
} tsr_offload_price;

/* guess: the machine's rates are not measured on this CPU; a fast CPU is assumed, with all
 * processors that the process may use. */
void tsr_offload_price_init(tsr_offload_price *price, const tsr_machine *machine, bool guess);
/* The CPU's rate [flops/s] for calls of about `flops` flops; INFINITY: for the largest calls
 * seen. */
TSR_API double tsr_offload_cpu_rate(const tsr_offload_price *price, tsr_type type, double flops);
/* The predicted time [s] of a call on the CPU. */
double tsr_offload_cpu_seconds(const tsr_offload_price *price, const tsr_offload_work *work);
/* The flops of the smallest call that takes the CPU at least `seconds`. */
TSR_API double tsr_offload_cpu_flops(const tsr_offload_price *price, tsr_type type, double seconds);
/* Records the measured time of a call on the CPU. True: predictions for the CPU may have
 * changed. */
TSR_API bool tsr_offload_price_show(tsr_offload_price *price, tsr_type type, double flops,
                                    double seconds);
/* The number of recorded calls on the CPU of about `flops` flops. */
TSR_API int tsr_offload_price_calls(const tsr_offload_price *price, tsr_type type, double flops);

/* The lateness: seconds to add to the planned time of a call on devices. It is the average delay of
 * calls of its size against their plans, caused by what else the program does (for example by a
 * BLAS whose threads wait busily). If no call of its size ran on devices, the lateness of the
 * nearest size is used. */
TSR_API double tsr_offload_lateness(const tsr_offload_price *price, tsr_type type, double flops);
/* Records the planned and the measured time [s] of a call on devices. */
TSR_API void tsr_offload_price_run(tsr_offload_price *price, tsr_type type, double flops,
                                   double planned, double seconds);
/* Records that a call went to the CPU only because of lateness. The lateness is reduced, so that
 * devices are tried again after some calls. */
TSR_API void tsr_offload_price_spared(tsr_offload_price *price, tsr_type type, double flops);

/* The predicted time [s] of a call on devices before a plan is made, with operands in host memory;
 * staged: in pageable memory. */
double tsr_offload_device_seconds(const tsr_reach *reach, const tsr_offload_work *work,
                                  bool staged);

/* The part of it that the calls take whose operands are on the devices already. */
double tsr_offload_later_seconds(const tsr_reach *reach, const tsr_offload_work *work);

/* The predicted time [s] of starting an engine's devices. */
double tsr_offload_start_seconds(const char *engine, int devices);

/* ---- The machine, without touching a device (guess.c, gpus.c) ---- */

/* *machine: the machine, which the caller destroys; NULL if it has no devices. *measured: it was
 * measured on this computer, so that its rates of the CPU hold. */
tsr_status tsr_offload_guess(const tsr_options *options, tsr_machine **machine, bool *measured);

/* Lists NVIDIA's devices from the files that the driver shows under root
 * ("/proc/driver/nvidia/gpus"), at most `most`: fills the name of each info and returns the number
 * of devices. */
int tsr_offload_list_nvidia(const char *root, tsr_device_info *info, int most);

/* Lists AMD's devices from the files that the driver shows below root ("" for this computer), at
 * most `most`: fills the name of each info, which is the one that the runtime gives the device
 * where libdrm's list of names is installed, and returns the number of devices. */
int tsr_offload_list_amd(const char *root, tsr_device_info *info, int most);

/* How many of the present devices the runtime shows under CUDA_VISIBLE_DEVICES, or a variable of
 * AMD's: all if it is not set (NULL), else those that the list names up to the first entry that
 * names none: "0,2" shows two, "0,-1,2" one, "" none. */
int tsr_offload_count_visible(const char *list, int present);

/* ---- The state (start.c) ---- */

typedef enum tsr_offload_mode {
  TSR_OFFLOAD_NEVER,
  TSR_OFFLOAD_AUTO,
  TSR_OFFLOAD_ALWAYS
} tsr_offload_mode;

/* What the user asks of the doors by settings. */
typedef struct tsr_offload_wishes {
  tsr_offload_mode mode;
  int64_t min_size; /* TESSERA_MIN_SIZE; -1: not set, the prices decide */
} tsr_offload_wishes;

/* Reads TESSERA_OFFLOAD and TESSERA_MIN_SIZE. TSR_ERR_ARGUMENT. */
tsr_status tsr_offload_read_wishes(tsr_offload_wishes *wishes);

typedef enum tsr_offload_phase {
  TSR_PHASE_NONE,     /* devices are not used, now or later; the field why says the reason */
  TSR_PHASE_IDLE,     /* devices may be started */
  TSR_PHASE_STARTING, /* a thread is starting them */
  TSR_PHASE_READY     /* context may be used */
} tsr_offload_phase;

typedef struct tsr_offload_state {
  tsr_offload_mode mode;
  tsr_options options;
  int64_t min_size;                     /* TESSERA_MIN_SIZE; -1: not set, the prices decide */
  _Atomic double least[TSR_TYPE_COUNT]; /* multiplications; smaller calls go to the CPU unpriced */
  _Atomic double unasked[TSR_TYPE_COUNT]; /* the numbers of tsr_offload_unasked() */
  tsr_offload_price price;                /* of the level-3 BLAS */
  /* Of each routine of LAPACK, which are slower on either side. */
  tsr_offload_price price_of_lapack[TSR_DOOR_OPERATIONS - (int)TSR_OPERATION_COUNT];
  tsr_reach guess, reach; /* rates of the guessed devices; of the context's, when READY */
  int devices;            /* number of guessed devices */
  double device_memory;   /* bytes of one of them; 0: unknown */
  double network;         /* bytes/s of a process in each direction; 0: unknown */
  int own_devices;        /* how many of them are this process's share; 0: not shared out */
  int ranks;              /* number of processes that see the same devices; 0: unknown */
  char share[160];        /* options.devices, if the devices are shared out */
  atomic_int phase;
  atomic_int why;                         /* tsr_offload_why, in TSR_PHASE_NONE */
  tsr_context *context;                   /* owned; in TSR_PHASE_READY */
  pthread_mutex_t lock;                   /* protects the fields below and changes of phase */
  pthread_cond_t changed;                 /* phase has left TSR_PHASE_STARTING */
  double would_have_saved, start_seconds; /* s */
  char error[256];                        /* a message: why no devices are used */
} tsr_offload_state;

/* The state of the process, made at the first call. */
tsr_offload_state *tsr_offload_get(void);

/* The price of calls of an operation. */
tsr_offload_price *tsr_offload_price_of(tsr_offload_state *state, tsr_operation operation);

/* Sets least and unasked of a type, from min_size if it is set, else from the price. */
void tsr_offload_set_least_of(tsr_offload_state *state, tsr_type type);

/* Starts the devices in the background if the phase is IDLE; await: waits until the phase is READY
 * or NONE. */
void tsr_offload_start(tsr_offload_state *state, bool await);

/* share.c: gives the process its share of the devices; the caller holds the lock. */
void tsr_offload_take_share(tsr_offload_state *state, int rank, int ranks);

/* Ends offloading for this process: phase NONE. The caller holds the lock, unless the state is
 * still being made. */
void tsr_offload_give_up(tsr_offload_state *state, tsr_offload_why why, const char *error);

/* ---- The report (report.c) ---- */

void tsr_offload_report_init(void);
void tsr_offload_report_write(const tsr_offload_state *state);
/* To be called around a fork. child: forgets the calls of the parent. */
void tsr_offload_report_lock(void);
void tsr_offload_report_unlock(bool child);

#endif
