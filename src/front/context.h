/*
 * A context: an engine with its devices, the machine they are planned for, the runner that drives
 * them and the plans that were made.
 *
 * Without an engine (context->engine is NULL) the CPU's BLAS does the work; the machine may still
 * have devices, to plan for. Plans hold the context by a reference; what is left of a destroyed one
 * is its machine.
 */
#ifndef TSR_FRONT_CONTEXT_H
#define TSR_FRONT_CONTEXT_H

#include <pthread.h>
#include <sys/types.h>
#include <stdatomic.h>

#include "base/vec.h"
#include "engine/engine.h"
#include "machine/machine.h"
#include "plan/cache.h"
#include "run/runner.h"

/* Memory that the user asked for. */
typedef struct tsr_block {
  void *pointer;
  int device;
} tsr_block;

struct tsr_context {
  atomic_int references;
  atomic_bool closed;
  const tsr_engine *engine;
  tsr_engine_state *state;
  tsr_device_info info[TSR_MAX_DEVICES];
  int devices; /* of the engine; 0 without one */
  tsr_runner *runner;
  tsr_cache *cache;
  bool check, trace, quiet;      /* quiet: nothing is measured */
  atomic_bool just_measured;     /* its machine, when it was made */
  atomic_bool tied;              /* a user's stream is */
  pthread_rwlock_t machine_lock; /* of machine, which a probe exchanges; taken before lock */
  tsr_machine *machine;
  pthread_mutex_t lock;       /* of all below, and of measured and times of the plans */
  pthread_mutex_t collecting; /* held while tickets are taken from pending and waited for */
  tsr_plan_options planning;
  pid_t process;                 /* that made it */
  char *recipe;                  /* planning's, or NULL */
  uint64_t digest;               /* of machine and planning */
  TSR_VEC(tsr_ticket *) pending; /* asynchronous calls, in order */
  tsr_error error;               /* the first of those of them that have been looked after */
  tsr_plan *last;
  TSR_VEC(tsr_block) blocks;
};

/* TSR_ERR_ARGUMENT for NULL. */
tsr_status tsr_context_check(const tsr_context *context);
void tsr_context_unref(tsr_context *context);

/* Recomputes the digest; the caller holds the lock (or is alone). */
void tsr_context_note_settings(tsr_context *context);

/* Waits for the asynchronous calls and for the users' streams, for work that is done at once by the
 * calling thread. Errors of those calls stay for tsr_sync. */
tsr_status tsr_context_wait_for_devices(tsr_context *context);

/* As tsr_context_create, but nothing is measured: without a kept measurement the rates that come
 * with the library for such devices are used. obey: every call is for devices. */
tsr_status tsr_context_create_quietly(const tsr_options *options, bool obey, tsr_context **context);

/* ---- memory.c ---- */

/* Gives back what the user did not. */
void tsr_context_free_blocks(tsr_context *context);

/* ---- devices.c: which devices and which machine ---- */

/* Chooses engine and machine and opens the devices: fills engine, state, info, devices, machine. */
tsr_status tsr_context_open_devices(tsr_context *context, const tsr_options *options);

/* How many devices the text asks for ("4", "0,2"); 0: all. */
tsr_status tsr_context_count_devices(const char *text, int *count);

/* ---- machine.c ---- */

/* The kept measurement of the engine's devices, or a new one, which is then kept; in a context that
 * measures nothing, the rates that come with the library. */
tsr_status tsr_context_measured_machine(tsr_context *context, tsr_machine **machine);
/* What stands for the engine's devices until they are measured: the emulated ones' machine. */
tsr_status tsr_context_emulated_machine(int devices, tsr_machine **machine);
tsr_status tsr_context_cpu_machine(tsr_machine **machine);

/* ---- call.c: from a call to its plan and its end ---- */

/* Carries a call out; places of its operands are filled in. exchanged: A and B changed places when
 * it was normalised. Not async: complete on return. */
tsr_status tsr_context_call(tsr_context *context, tsr_call *call, const tsr_binding *binding,
                            bool exchanged, bool async);

/* As tsr_context_call, for a caller with a price of its own, in seconds: the plan runs if it is for
 * devices and predicted to take less. */
typedef struct tsr_offer {
  double price;   /* of the caller's other way */
  bool taken;     /* out: it has run */
  double seconds; /* out: predicted */
  int devices;    /* out: of the plan */
} tsr_offer;
tsr_status tsr_context_offer(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                             bool exchanged, tsr_offer *offer);

/* Fills in where the operands are. */
tsr_status tsr_context_place(tsr_context *context, tsr_call *call, const tsr_binding *binding,
                             bool exchanged);

/* Makes a plan, checked when the context checks, with one reference; not from the cache. */
tsr_status tsr_context_make_plan(tsr_context *context, const tsr_call *call, bool exchanged,
                                 tsr_plan **plan);

/* Runs a plan on the devices and waits; *short_of as in tsr_submission. */
tsr_status tsr_context_run(tsr_context *context, tsr_plan *plan, const tsr_binding *binding,
                           int *short_of);

/* Waits for a ticket, keeps what it measured, releases it and its plan. */
tsr_status tsr_context_collect(tsr_context *context, tsr_ticket *ticket);

/* Collects all asynchronous calls, noting the first error in the context. */
void tsr_context_collect_pending(tsr_context *context);

/* ---- plan_object.c ---- */

void tsr_plan_unref(tsr_plan *plan);

#endif
