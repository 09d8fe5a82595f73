/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A context: an engine with its devices, the plans made for that machine, the calls under way, and
 * the directory of the copies that stay on the devices between calls.
 *
 * Without an engine (context->engine is NULL) the CPU's BLAS does the work. The machine may still
 * have devices: plans for them can be made and printed, not run.
 */
#ifndef TSR_FRONT_CONTEXT_H
#define TSR_FRONT_CONTEXT_H

#include <pthread.h>
#include <sys/types.h>
#include <stdatomic.h>

#include "arithmetic/wish.h"
#include "base/vec.h"
#include "compose/directory.h"
#include "engine/engine.h"
#include "run/near.h"
#include "tessera_model.h"

/* Memory from tsr_malloc. */
typedef struct tsr_user_allocation {
  void *pointer;
  size_t bytes;
  int device;
} tsr_user_allocation;

/* Memory of the library on the host that calls use. */
typedef TSR_VEC(void *) tsr_scratch;

struct tsr_context {
  pid_t process;             /* the process that made the context; no other may use it */
  tsr_process_limits limits; /* of that process, when the context was made */
  const tsr_engine *engine;
  tsr_engine_state *state;
  tsr_device_info info[TSR_MAX_DEVICES];
  int number[TSR_MAX_DEVICES]; /* the engine's number of each device */
  int devices;                 /* number of the engine's devices; 0 without an engine */
  tsr_near near;               /* which host memory node is near each of them */
  bool quiet;                  /* creating the context does not measure the machine */
  atomic_bool just_measured;   /* the machine was measured when the context was made */
  atomic_bool tied;            /* a stream of the user's has been tied to the context */
  tsr_plans *plans;            /* a reference; holds the machine, settings and captures, too */
  tsr_calls calls;             /* calls under way; owns the runner and the pinner */
  tsr_directory directory;     /* copies that stay on the devices between calls */
  pthread_mutex_t lock;        /* protects blocks and scratch */
  TSR_VEC(tsr_user_allocation) blocks; /* memory from tsr_malloc that the user has not freed */
  tsr_scratch scratch; /* of calls under way, or of calls that may have to be made again */
};

/* ---- context.c ---- */

/* TSR_ERR_ARGUMENT if the context is NULL or was made by another process (before a fork). */
tsr_status tsr_context_check(const tsr_context *context);
/* Waits for the context's asynchronous calls and for the user's tied streams; afterwards the
 * calling thread may itself read and write the user's memory. Errors of those calls are kept for
 * tsr_sync. */
tsr_status tsr_context_wait_for_devices(tsr_context *context);
/* Takes over memory of tsr_alloc that the calls which have been submitted use, and frees it when
 * tsr_sync has waited for them. */
void tsr_context_keep_scratch(tsr_context *context, void *memory);
/* What tsr_sync does, of a context with devices. */
tsr_status tsr_context_await_all(tsr_context *context);

/* ---- residency.c ---- */

/* A matrix in memory, by columns. */
typedef struct tsr_stored {
  int64_t m, n;
  const void *c;
  int64_t ldc;
  tsr_type type;
} tsr_stored;

/* As tsr_coherent and tsr_invalidate, of a right matrix, but no capture takes the call. */
tsr_status tsr_context_bring(tsr_context *context, const tsr_stored *matrix);
tsr_status tsr_context_drop(tsr_context *context, const tsr_stored *matrix);

/* Submits the write-backs of all results that are newer on devices than in host memory. */
tsr_status tsr_context_bring_home(tsr_context *context);

/* ---- lifecycle.c ---- */

/* As tsr_context_create, but the machine is never measured: without a kept measurement the rates
 * that the library ships for these devices are used. obey: plans always use devices, never the
 * CPU's BLAS. */
tsr_status tsr_context_create_quietly(const tsr_options *options, bool obey, tsr_context **context);

/* ---- memory.c ---- */

/* Frees the memory from tsr_malloc that the user has not freed. */
void tsr_context_free_blocks(tsr_context *context);

/* ---- devices.c: which devices and which machine ---- */

/* Fills the options from the settings (tsr_settings_fill). TSR_ERR_ARGUMENT also if TESSERA_ENGINE
 * names an engine that does not exist. */
tsr_status tsr_context_read_settings(tsr_options *options);

/* Chooses the engine and the machine and opens the devices: fills engine, state, info and devices
 * of the context, and the machine of its plans. */
tsr_status tsr_context_open_devices(tsr_context *context, const tsr_options *options);

/* Whether each call has to use all devices of the text: false if the text is NULL or begins with
 * two dots ("..4"), where the planner may choose fewer. */
bool tsr_context_obeys(const char *text);

/* *count: the number of devices that the text names ("4", "0,2", "..4"); 0: all. */
tsr_status tsr_context_count_devices(const char *text, int *count);

/* ---- machine.c ---- */

/* The kept measurement of the engine's devices. If none is kept, the devices are measured and the
 * measurement is kept; a quiet context takes the rates that the library ships for these devices. */
tsr_status tsr_context_measured_machine(tsr_context *context, tsr_machine **machine);
/* Notes in a measured machine how much memory other programs leave, where it is clearly less than
 * the device has. */
void tsr_context_note_memory(const tsr_context *context, tsr_machine *machine);
/* The built-in machine of emulated devices. */
tsr_status tsr_context_emulated_machine(int devices, tsr_machine **machine);
/* A machine without devices; the rate of the CPU's BLAS is measured. */
tsr_status tsr_context_cpu_machine(tsr_machine **machine);

/* ---- peers.c ---- */

/* Reduces the context's machine to the links between devices that may be used: those that the
 * opened devices have, and none if TESSERA_PEER is 0. *linked: the machine with the links that only
 * the setting forbids; NULL: there are none. */
tsr_status tsr_context_limit_peers(const tsr_context *context, tsr_machine *machine,
                                   tsr_machine **linked);
/* Sets which emulated devices do not reach each other: those without a link in the machine (NULL:
 * all have one), and all if TESSERA_PEER is 0. */
tsr_status tsr_context_emulate_peers(const tsr_machine *machine, tsr_engine_options *options);
/* TSR_ERR_MACHINE if a kept measurement has other links between devices than the engine. list: the
 * engine's devices, as the measurement numbers them. */
tsr_status tsr_context_check_peers(const tsr_context *context, const tsr_machine *kept,
                                   const int *list);

/* ---- call.c: planning and carrying out one call ---- */

/* Plans the call and carries it out; its operands' places are filled in (tsr_context_place), and
 * its arithmetic is chosen (tsr_context_choose_arithmetic).
 * exchanged: A and B changed places when the call was normalised. async: returns when the call is
 * submitted; otherwise the call is complete on return. */
tsr_status tsr_context_call(tsr_context *context, tsr_call *call, const tsr_binding *binding,
                            bool exchanged, bool async);

/* As tsr_context_call, for a caller that can also carry the call out by other means. The plan is
 * run only if it uses devices and its predicted time is below the price; it is complete on
 * return. */
typedef struct tsr_offer {
  double price;   /* s; the time that the caller needs by other means */
  bool taken;     /* out: the plan was run */
  double seconds; /* out: s; the plan's predicted time */
  int devices;    /* out: number of devices that the plan uses */
} tsr_offer;
tsr_status tsr_context_offer(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                             bool exchanged, tsr_offer *offer);

/* ---- arithmetic.c ---- */

/* Reads what a program gave a context; NULL: what the settings say. TSR_ERR_ARGUMENT. */
tsr_status tsr_context_read_arithmetic(const char *given, tsr_arithmetic_wish *arithmetic);

/* The arithmetic of a call: what the program gave it; NULL: what is set for the context at the
 * moment. TSR_ERR_ARGUMENT. */
tsr_status tsr_context_arithmetic(tsr_context *context, const char *given,
                                  tsr_arithmetic_wish *arithmetic);

/* Sets how the call is computed with an arithmetic: the moduli and the accuracy if that is in
 * lines, and whether a native plan is taken if it is faster; all are 0 if the call is native, or
 * calls of this kind are not computed otherwise. async: the caller does not wait for the call, so
 * that it must leave no part of C to another one. */
void tsr_context_choose_arithmetic(const tsr_context *context,
                                   const tsr_arithmetic_wish *arithmetic, bool async,
                                   tsr_call *call);

/* ---- native.c ---- */

/* As tsr_level3_run_async, in an arithmetic that has been read; what->arithmetic is ignored. */
tsr_status tsr_context_submit(tsr_context *context, const tsr_level3 *what,
                              const tsr_arithmetic_wish *arithmetic, const void *alpha,
                              const void *a, const void *b, const void *beta, void *c);

/* As tsr_level3_run_async, but no capture takes the call. */
tsr_status tsr_context_step(tsr_context *context, const tsr_level3 *what, const void *alpha,
                            const void *a, const void *b, const void *beta, void *c);

/* ---- factor.c ---- */

/* Whether the engine factors matrices on its devices. */
bool tsr_context_can_factor(const tsr_context *context);
/* As tsr_factor_run_async, but no capture takes the call. */
tsr_status tsr_context_factor_step(tsr_context *context, const tsr_factor *what, void *a);

/* ---- native.c ---- */

/* The part of a gemm that computes a rectangle of C, natively, and its addresses; its places are
 * not filled in. */
tsr_call tsr_native_part(const tsr_call *call, const tsr_binding *binding, tsr_rect rect,
                         tsr_binding *part);

/* attempt.c: fills in where the call's operands lie: kind of memory, location, pinned bytes,
 * alignment. */
tsr_status tsr_context_place(tsr_context *context, tsr_call *call, const tsr_binding *binding,
                             bool exchanged);

/* ---- budget.c ---- */

/* Sets the budget of each device and the size of the staging ring from the options. */
tsr_status tsr_context_set_budgets(tsr_context *context, const tsr_options *options);

/* *most: the largest budget in bytes that the options name; 0: they name none. */
tsr_status tsr_budget_most(const tsr_options *options, size_t *most);

#endif
