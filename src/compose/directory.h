/*
 * The directory of a context: which matrices, or parts of them, are on its devices between calls,
 * where the user wants them to be, and what is on its way home.
 *
 * Composition is what calls do with it: a call starts from what earlier calls left on the devices,
 * and leaves there what it computed. All of it happens in the order of submission: between
 * tsr_compose_begin and tsr_compose_end nobody else composes.
 */
#ifndef TSR_COMPOSE_DIRECTORY_H
#define TSR_COMPOSE_DIRECTORY_H

#include <pthread.h>

#include "compose/calls.h"
#include "compose/plans.h"
#include "compose/store.h"
#include "engine/engine.h"
#include "plan/mapping.h"

/* Where the user wants blocks of a region to be. */
typedef struct tsr_mapped {
  tsr_region region;
  tsr_mapping mapping;
} tsr_mapped;

/* A submission that writes to a region in host memory. */
typedef struct tsr_pending_write_back {
  tsr_region region;
  uint64_t number; /* of its job */
} tsr_pending_write_back;

typedef struct tsr_directory {
  const tsr_engine *engine; /* NULL: the CPU's BLAS does the work, and nothing is on devices */
  tsr_engine_state *state;
  int devices;
  tsr_plans *plans;
  tsr_calls *calls;
  pthread_mutex_t lock;       /* of all below; taken before the locks of plans and calls */
  tsr_store *store;           /* NULL: nothing has stayed on devices yet */
  TSR_VEC(tsr_mapped) mapped; /* the latest last */
  TSR_VEC(tsr_pending_write_back) coming; /* those that may not be complete yet */
} tsr_directory;

typedef TSR_VEC(tsr_job *) tsr_jobs;

/* ---- directory.c ---- */

/* The rest is zero; engine, state, devices, plans and calls are the caller's to fill in. */
void tsr_directory_begin(tsr_directory *directory);
/* Gives all memory back; nothing may be running. */
void tsr_directory_end(tsr_directory *directory);

void tsr_compose_begin(tsr_directory *directory);
void tsr_compose_end(tsr_directory *directory);

/* The submission after which nothing that was submitted writes to the region's host memory any
 * more: *number. False: nothing does. */
bool tsr_compose_coming(tsr_directory *directory, const tsr_region *region, uint64_t *number);

/* Forgets where regions inside this one are mapped; NULL: where all are. */
void tsr_compose_unmap(tsr_directory *directory, const tsr_region *region);

/* Forgets all that is on devices. */
void tsr_compose_release(tsr_directory *directory);

/* Later calls may keep so many bytes at a device, on which nothing is. */
void tsr_compose_limit(tsr_directory *directory, int device, size_t bytes);
/* Gives memory in which nothing stays back to the devices. */
void tsr_compose_trim(tsr_directory *directory);

/* ---- move.c ---- */

/* What is on devices of the region does not count any more; what crosses it is brought home around
 * it. */
tsr_status tsr_compose_invalidate(tsr_directory *directory, const tsr_region *region);

/* Brings home what is newer on devices of a region, or of a triangle of it. The submissions are
 * added to own, for the caller to collect, also where it fails; own NULL: they are for tsr_sync. */
tsr_status tsr_compose_bring_home(tsr_directory *directory, const tsr_region *region, tsr_uplo uplo,
                                  tsr_jobs *own);

/* From now on the region's blocks shall be where the mapping says; move: they are copied there
 * now, as far as there is room. When it fails, the mapping is as before. */
tsr_status tsr_compose_map(tsr_directory *directory, const tsr_region *region,
                           const tsr_mapping *mapping, bool move);

/* ---- evict.c: these begin and end by themselves ---- */

/* For work that does not compose: brings home what is newer on devices of the operands' memory,
 * and forgets the rest of it. */
tsr_status tsr_compose_clear(tsr_directory *directory, const tsr_call *call,
                             const tsr_binding *binding);
/* The same for bytes of memory. */
tsr_status tsr_compose_clear_bytes(tsr_directory *directory, const void *base, size_t bytes);
/* Forgets what of some bytes is on devices. */
void tsr_compose_forget_bytes(tsr_directory *directory, const void *base, size_t bytes);
/* Brings everything on devices home and gives its memory back. *any: there was some. */
tsr_status tsr_compose_evict(tsr_directory *directory, bool *any);

/* ---- call.c: these begin and end by themselves, too ---- */

/* Whether an asynchronous call composes with others, or is carried out by itself. */
bool tsr_composes(const tsr_directory *directory, const tsr_call *call);

/* Plans and submits a call; what it computes stays on the devices. *alone: the call cannot be done
 * so and nothing was done; devices have been cleared for it. */
tsr_status tsr_compose_call(tsr_directory *directory, const tsr_call *call,
                            const tsr_binding *binding, bool exchanged, bool *alone);

/* A call that does not compose was submitted: it brings its result home, later. */
void tsr_compose_note(tsr_directory *directory, const tsr_call *call, const tsr_binding *binding,
                      const tsr_job *job);

#endif
