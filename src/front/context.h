/*
 * A context: an engine with its devices, the plans for the machine that they are, the calls under
 * way, and the directory of what stays on the devices between calls.
 *
 * Without an engine (context->engine is NULL) the CPU's BLAS does the work; the machine may still
 * have devices, to plan for.
 */
#ifndef TSR_FRONT_CONTEXT_H
#define TSR_FRONT_CONTEXT_H

#include <pthread.h>
#include <sys/types.h>
#include <stdatomic.h>

#include "base/vec.h"
#include "compose/directory.h"
#include "engine/engine.h"

/* Memory that the user asked for. */
typedef struct tsr_block {
  void *pointer;
  size_t bytes;
  int device;
} tsr_block;

struct tsr_context {
  pid_t process; /* that made it */
  const tsr_engine *engine;
  tsr_engine_state *state;
  tsr_device_info info[TSR_MAX_DEVICES];
  int devices;               /* of the engine; 0 without one */
  bool quiet;                /* nothing is measured */
  atomic_bool just_measured; /* its machine, when it was made */
  atomic_bool tied;          /* a user's stream is */
  tsr_plans *plans;          /* a reference; with the machine, settings and captures */
  tsr_calls calls;           /* under way; with the runner and the pinner */
  tsr_directory directory;   /* of what stays on the devices between calls */
  pthread_mutex_t lock;      /* of blocks */
  TSR_VEC(tsr_block) blocks;
};

/* ---- context.c ---- */

/* TSR_ERR_ARGUMENT for NULL. */
tsr_status tsr_context_check(const tsr_context *context);
/* Waits for the asynchronous calls and for the users' streams, for work that is done at once by the
 * calling thread. Errors of those calls stay for tsr_sync. */
tsr_status tsr_context_wait_for_devices(tsr_context *context);

/* ---- lifecycle.c ---- */

/* As tsr_context_create, but nothing is measured: without a kept measurement the rates that come
 * with the library for such devices are used. obey: every call is for devices. */
tsr_status tsr_context_create_quietly(const tsr_options *options, bool obey, tsr_context **context);

/* ---- memory.c ---- */

/* Gives back what the user did not. */
void tsr_context_free_blocks(tsr_context *context);

/* ---- devices.c: which devices and which machine ---- */

/* Chooses engine and machine and opens the devices: fills engine, state, info, devices, machine. */
tsr_status tsr_context_open_devices(tsr_context *context, const tsr_options *options);

/* Whether calls are to use all of the devices that the text asks for: not with two dots. */
bool tsr_context_obeys(const char *text);

/* How many devices the text asks for ("4", "0,2", "..4"); 0: all. */
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

/* ---- budget.c ---- */

/* The budgets that the options ask for. */
tsr_status tsr_context_set_budgets(tsr_context *context, const tsr_options *options);

/* The largest budget that the options name; 0: none. */
tsr_status tsr_budget_most(const tsr_options *options, size_t *most);

#endif
