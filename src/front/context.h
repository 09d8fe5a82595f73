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

/* Memory from tsr_malloc. */
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
  bool quiet;                /* devices are not measured */
  atomic_bool just_measured; /* making the context has measured its machine */
  atomic_bool tied;          /* some stream of the user's is tied to the context */
  tsr_plans *plans;          /* a reference; with the machine, settings and captures */
  tsr_calls calls;           /* under way; with the runner and the pinner */
  tsr_directory directory;   /* of what stays on the devices between calls */
  pthread_mutex_t lock;      /* of blocks */
  TSR_VEC(tsr_block) blocks;
};

/* ---- context.c ---- */

/* TSR_ERR_ARGUMENT for NULL, and for a context of the process that this one was forked from. */
tsr_status tsr_context_check(const tsr_context *context);
/* Waits for the asynchronous calls and for the user's streams, before the calling thread itself
 * works on the user's memory. Errors of those calls are kept for tsr_sync. */
tsr_status tsr_context_wait_for_devices(tsr_context *context);

/* ---- lifecycle.c ---- */

/* As tsr_context_create, but nothing is measured: if no measurement is kept, the library's rates
 * for such devices are used. obey: the CPU's BLAS gets no call. */
tsr_status tsr_context_create_quietly(const tsr_options *options, bool obey, tsr_context **context);

/* ---- memory.c ---- */

/* Frees the memory from tsr_malloc that the user has not freed. */
void tsr_context_free_blocks(tsr_context *context);

/* ---- devices.c: which devices and which machine ---- */

/* tsr_settings_fill, and TSR_ERR_ARGUMENT if the settings name an engine that does not exist. */
tsr_status tsr_context_read_settings(tsr_options *options);

/* Chooses engine and machine and opens the devices: fills engine, state, info and devices, and the
 * machine of plans. */
tsr_status tsr_context_open_devices(tsr_context *context, const tsr_options *options);

/* Whether calls are to use all devices that the text asks for: unless it begins with two dots. */
bool tsr_context_obeys(const char *text);

/* How many devices the text asks for ("4", "0,2", "..4"); 0: all. */
tsr_status tsr_context_count_devices(const char *text, int *count);

/* ---- machine.c ---- */

/* The kept measurement of the engine's devices. If there is none, they are measured and that is
 * kept; a quiet context takes the library's rates for such devices. */
tsr_status tsr_context_measured_machine(tsr_context *context, tsr_machine **machine);
/* The machine of emulated devices, which stands for GPUs until these are measured. */
tsr_status tsr_context_emulated_machine(int devices, tsr_machine **machine);
tsr_status tsr_context_cpu_machine(tsr_machine **machine);

/* ---- call.c: from a call to its plan and its end ---- */

/* Carries a call out, whose operands' places are filled in. exchanged: A and B changed places when
 * the call was normalised. async false: the call is complete on return. */
tsr_status tsr_context_call(tsr_context *context, tsr_call *call, const tsr_binding *binding,
                            bool exchanged, bool async);

/* As tsr_context_call, for a caller that can also carry the call out by itself. The plan is run if
 * it is for devices and predicted to take less time than that. */
typedef struct tsr_offer {
  double price;   /* s that the caller itself would take */
  bool taken;     /* out: the plan has run */
  double seconds; /* out: predicted for the plan */
  int devices;    /* out: that the plan uses */
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
