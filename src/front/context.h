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
#include "plan/mapping.h"
#include "run/runner.h"
#include "compose/store.h"

/* Memory that the user asked for. */
typedef struct tsr_block {
  void *pointer;
  size_t bytes;
  int device;
} tsr_block;

/* Where the user wants blocks of a region to be. */
typedef struct tsr_mapped {
  tsr_region region;
  tsr_mapping mapping;
} tsr_mapped;

/* What is kept of a sequence of calls for its timeline. */
typedef struct tsr_traced {
  const tsr_plan *plan; /* a reference; NULL: the host's own doing */
  float *times;         /* of its commands */
  double begin, seconds;
  char name[32]; /* of the host's */
} tsr_traced;

/* A submission that writes to a region in host memory. */
typedef struct tsr_homecoming {
  tsr_region region;
  uint64_t number; /* of its ticket */
} tsr_homecoming;

/* Bytes at each location, the devices and behind them the staging ring; what calls may use now is
 * in planning. */
typedef struct tsr_budgets {
  size_t given[TSR_MACHINE_LOCATIONS];  /* when the context was made */
  size_t wanted[TSR_MACHINE_LOCATIONS]; /* up to which they may grow again */
  int calls, patience; /* since they changed, and after which they grow; patience 0: none is less */
} tsr_budgets;

struct tsr_context {
  atomic_int references;
  atomic_bool closed;
  const tsr_engine *engine;
  tsr_engine_state *state;
  tsr_device_info info[TSR_MAX_DEVICES];
  int devices; /* of the engine; 0 without one */
  tsr_runner *runner;
  tsr_pinner *pinner;
  tsr_cache *cache;
  bool check, quiet;             /* quiet: nothing is measured */
  bool always_traced;            /* by options.trace */
  atomic_bool trace;             /* always, or while a timeline is kept */
  atomic_bool just_measured;     /* its machine, when it was made */
  atomic_bool tied;              /* a user's stream is */
  pthread_rwlock_t machine_lock; /* of machine, which a probe exchanges; taken before lock */
  tsr_machine *machine;
  pthread_mutex_t lock;       /* of all below, and of measured and times of the plans */
  pthread_mutex_t collecting; /* held while tickets are taken from pending and waited for */
  tsr_plan_options planning;
  tsr_budgets budgets;
  pid_t process;                 /* that made it */
  char *strategy;                /* planning's, or NULL */
  uint64_t digest;               /* of machine and planning */
  TSR_VEC(tsr_ticket *) pending; /* asynchronous calls, in order */
  tsr_error error;               /* the first of those of them that have been looked after */
  const tsr_plan *last;          /* a reference */
  tsr_traffic traffic;
  tsr_progress progress; /* the user's, or NULL */
  void *progress_user;
  bool keeping; /* a timeline was begun, and is kept in: */
  TSR_VEC(tsr_traced) traced;
  TSR_VEC(tsr_block) blocks;
  pthread_mutex_t composing;         /* of all below; taken before lock */
  tsr_store *store;                  /* NULL: nothing has stayed on devices yet */
  TSR_VEC(tsr_mapped) mapped;        /* the latest last */
  TSR_VEC(tsr_homecoming) coming;    /* those that may not be complete yet */
  struct tsr_capture *capturing;     /* guarded by lock, as running; NULL: none is */
  const struct tsr_capture *running; /* whose plans calls may use */
  atomic_bool lost;                  /* a call failed: what is on devices is not to be believed */
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

/* What a plan is wanted for. */
typedef struct tsr_request {
  enum { TSR_REQUEST_CALL, TSR_REQUEST_HOME, TSR_REQUEST_DISTRIBUTE } kind;
  const tsr_call *call; /* of moves: tsr_moves_call */
  bool exchanged;
  const tsr_residency *residency; /* NULL: nothing is on devices, and nothing stays there */
  const size_t *kept;             /* bytes of each device that are not to be had; NULL: none */
  int halvings;                   /* and of what is left, how often but half */
  tsr_uplo uplo;                  /* HOME: what is brought home */
  const tsr_mapping *mapping;     /* DISTRIBUTE: to where; CALL: where C shall live, or NULL */
} tsr_request;

/* Makes a plan, checked when the context checks, with one reference; not from the cache. */
tsr_status tsr_context_make_plan(tsr_context *context, const tsr_request *request,
                                 const tsr_plan **plan);

/* A plan from the cache, or a new one, with a reference. */
tsr_status tsr_context_find_plan(tsr_context *context, const tsr_request *request,
                                 const tsr_plan **plan);

/* Enters a plan, with the memory of its rooms (NULL: it has none), and counts what it moves;
 * *short_of as in tsr_submission. The ticket has a reference of the plan's. */
tsr_status tsr_context_submit(tsr_context *context, const tsr_plan *plan,
                              const tsr_binding *binding, const tsr_lodging *lodging, int *short_of,
                              tsr_ticket **ticket);

/* Runs a plan on the devices and waits; *short_of as in tsr_submission. */
tsr_status tsr_context_run(tsr_context *context, const tsr_plan *plan, const tsr_binding *binding,
                           int *short_of);

/* Keeps a ticket until tsr_sync. */
void tsr_context_keep_for_later(tsr_context *context, tsr_ticket *ticket);

/* Waits for a ticket, keeps what it measured, releases it and its plan. */
tsr_status tsr_context_collect(tsr_context *context, tsr_ticket *ticket);

/* Keeps the calling thread's error for tsr_sync, unless there is one. */
void tsr_context_note_error(tsr_context *context, tsr_status status);

/* Collects all asynchronous calls, noting the first error in the context. */
void tsr_context_collect_pending(tsr_context *context);

/* ---- compose.c: calls that start from what others left on the devices ---- */

/* Whether an asynchronous call composes with others, or is carried out by itself. */
bool tsr_composes(const tsr_context *context, const tsr_call *call);

/* Plans and submits a call; what it computes stays on the devices. *alone: it cannot be done so and
 * nothing was done; devices have been cleared for it. */
tsr_status tsr_compose_call(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                            bool exchanged, bool *alone);

/* A call that does not compose was submitted: it brings its result home, later. */
void tsr_compose_note(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                      const tsr_ticket *ticket);

/* For work that knows nothing of what is on the devices: brings home what is newer there of the
 * operands' memory, and forgets the rest of it. */
tsr_status tsr_compose_clear(tsr_context *context, const tsr_call *call,
                             const tsr_binding *binding);
/* The same for bytes of memory. */
tsr_status tsr_compose_clear_bytes(tsr_context *context, const void *base, size_t bytes);
/* Forgets what of some bytes is on devices. */
void tsr_compose_forget_bytes(tsr_context *context, const void *base, size_t bytes);
/* Everything on devices is brought home and the memory for it given back. *any: there was some. */
tsr_status tsr_compose_evict(tsr_context *context, bool *any);
void tsr_compose_trim(tsr_context *context);

/* Later calls of composition may hold so many bytes of a device, where nothing is. */
void tsr_compose_limit(tsr_context *context, int device, size_t bytes);

/* ---- budget.c: what calls may use of devices' memory ---- */

tsr_status tsr_budget_begin(tsr_context *context, const tsr_options *options);

/* The largest budget that the options name; 0: none. */
tsr_status tsr_budget_most(const tsr_options *options, size_t *most);

/* A plan ran short of memory at a location (submission.short_of): its budget shrinks. attempt: how
 * often the call has had it shrink before. */
void tsr_budget_shrink(tsr_context *context, const tsr_plan *plan, int location, int attempt);

/* A call begins: budgets that shrank some time ago grow a step. */
void tsr_budget_call(tsr_context *context);

/* What they shrank to is of no use: budgets are what was asked for. Whether some were less. */
bool tsr_budget_restore(tsr_context *context);

/* ---- timeline.c ---- */

/* Keeps a copy of a complete ticket's times while a timeline is kept; times may be NULL. The caller
 * holds the lock. */
void tsr_timeline_keep(tsr_context *context, const tsr_ticket *ticket, const float *times);
/* Drops what is kept; nobody else has the context any more. */
void tsr_timeline_drop(tsr_context *context);

/* ---- plan_object.c ---- */

/* A reference more, and one less: with the last one a plan goes, and its reference of the context.
 * unref accepts NULL. */
void tsr_plan_ref(const tsr_plan *plan);
void tsr_plan_unref(const tsr_plan *plan);

#endif
