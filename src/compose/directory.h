/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The directory of a context: the matrices, or parts of them, that are on its devices between calls
 * (the store), the devices to which the user maps matrices, and the write-backs in flight.
 *
 * Composition: a call uses the cached blocks that earlier calls left on the devices, and leaves its
 * own result there. Calls compose in the order of submission: between tsr_compose_begin and
 * tsr_compose_end no other thread composes.
 */
#ifndef TSR_COMPOSE_DIRECTORY_H
#define TSR_COMPOSE_DIRECTORY_H

#include <pthread.h>
#include <stdatomic.h>

#include "call/calls.h"
#include "call/plans.h"
#include "compose/journal.h"
#include "compose/store.h"
#include "engine/engine.h"
#include "plan/mapping.h"

/* The devices to which the user maps the blocks of a region. */
typedef struct tsr_mapped {
  tsr_region region;
  tsr_mapping mapping;
} tsr_mapped;

/* A job that writes to a region in host memory. */
typedef struct tsr_pending_write_back {
  tsr_region region;
  uint64_t number; /* the job's */
} tsr_pending_write_back;

typedef struct tsr_directory {
  const tsr_engine *engine; /* NULL: the CPU's BLAS does the work, and there are no cached blocks */
  tsr_engine_state *state;
  int devices;
  const tsr_near *near; /* how pinned memory is placed; NULL: it is not */
  tsr_plans *plans;
  tsr_calls *calls;
  atomic_bool used;     /* there is, or was, something that a call has to clear for itself */
  pthread_mutex_t lock; /* guards the fields below; taken before the locks of plans and calls */
  tsr_store *store;     /* NULL: no block has been cached yet */
  uint64_t failures;    /* of jobs, when the store was found to be right: tsr_runner_failures */
  uint32_t lost;        /* devices whose entries have been forgotten; bits */
  tsr_journal journal;
  /* Makes a call of the journal again, from host memory to host memory. */
  tsr_status (*again)(void *context, const tsr_call *call, const tsr_binding *binding,
                      bool exchanged);
  void *context;              /* its argument */
  bool dropped;               /* results have been lost since tsr_sync; only that says why */
  TSR_VEC(tsr_mapped) mapped; /* the latest last */
  TSR_VEC(tsr_pending_write_back) write_backs; /* all that are not complete, and some that are */
} tsr_directory;

typedef TSR_VEC(tsr_job *) tsr_jobs;

/* ---- directory.c, begin.c ---- */

/* Makes the lock of a zeroed directory. The caller fills in engine, state, devices, plans and
 * calls. */
void tsr_directory_begin(tsr_directory *directory);
/* Frees all memory; no job may be in flight. */
void tsr_directory_end(tsr_directory *directory);

/* Whether a call may meet cached blocks, or jobs that write to host memory: a program that makes
 * blocking calls alone has none. */
static inline bool tsr_compose_is_used(const tsr_directory *directory) {
  return atomic_load_explicit(&directory->used, memory_order_acquire);
}

/* Take and release the lock. After a failed call, tsr_compose_begin also forgets the cached blocks
 * that are lost and makes the calls again whose results were among them. */
void tsr_compose_begin(tsr_directory *directory);
void tsr_compose_end(tsr_directory *directory);

/* TSR_ERR_DEVICE: results that were newer on devices than at home have been lost since the last
 * tsr_compose_note_sync, because a call failed. */
tsr_status tsr_compose_check_dropped(const tsr_directory *directory);
/* Whether jobs have failed that the next tsr_compose_begin makes good for: what has failed for
 * their sake is worth repeating. */
bool tsr_compose_has_losses(tsr_directory *directory, tsr_status status);

/* An event has told the program that the jobs before number are complete. */
void tsr_compose_note_event(tsr_directory *directory, uint64_t number);

/* The same, unless another thread composes; false: it does. */
bool tsr_compose_try_event(tsr_directory *directory, uint64_t number);

/* The program has been told of all failures. Takes the lock. */
void tsr_compose_note_sync(tsr_directory *directory);

/* *number: the last job in flight that writes to the region's host memory. False: none does. */
bool tsr_compose_find_write_back(tsr_directory *directory, const tsr_region *region,
                                 uint64_t *number);

/* Removes the mappings of regions inside this one; NULL: all mappings. */
void tsr_compose_unmap(tsr_directory *directory, const tsr_region *region);

/* Where a region of host memory will be once all submitted jobs are complete. */
typedef struct tsr_whereabouts {
  int device;   /* it has valid copies of the largest part; -1: none has any */
  int mapped;   /* the device of the region's first element by its map; -1: it is not mapped */
  double part;  /* of the region that is valid on `device`, 0 to 1 */
  bool current; /* host memory has the current values of all of it */
} tsr_whereabouts;

/* TSR_ERR_MEMORY: no host memory. */
tsr_status tsr_compose_where(tsr_directory *directory, const tsr_region *region,
                             tsr_whereabouts *where);

/* Forgets all cached blocks, without write-back. */
void tsr_compose_release(tsr_directory *directory);

/* Sets the most bytes that the store may allocate on the device from now on. */
void tsr_compose_limit(tsr_directory *directory, int device, size_t bytes);
/* Waits for all jobs and frees the store's memory that no cached block uses. */
void tsr_compose_trim(tsr_directory *directory);

/* ---- move.c ---- */

/* Forgets the region's copies on devices. Entries that cross the region are written back first, but
 * not over the region itself. */
tsr_status tsr_compose_invalidate(tsr_directory *directory, const tsr_region *region);

/* Writes the parts of the region (of its triangle uplo) that are newer on devices back to the host.
 * The jobs are added to own, which the caller collects, also on failure; own NULL: tsr_sync
 * collects them. */
tsr_status tsr_compose_write_back(tsr_directory *directory, const tsr_region *region, tsr_uplo uplo,
                                  tsr_jobs *own);

/* Does so for all that is newer on devices, which tsr_sync collects. Blocks stay cached. */
tsr_status tsr_compose_write_back_newer(tsr_directory *directory);

/* Maps the region's blocks to devices for later calls. With move, also copies them there now, as
 * far as memory suffices. On failure the former mapping is kept. */
tsr_status tsr_compose_map(tsr_directory *directory, const tsr_region *region,
                           const tsr_mapping *mapping, bool move);

/* ---- evict.c: these functions begin and end composition by themselves ---- */

/* Prepares for a call that does not compose: writes the parts of the operands that are newer on
 * devices back, waits for that, and forgets all copies of the operands. blocking: also waits for
 * the calls that write the operands. */
tsr_status tsr_compose_clear(tsr_directory *directory, const tsr_call *call,
                             const tsr_binding *binding, bool blocking);
/* Does the same for bytes of host memory at base. */
tsr_status tsr_compose_clear_bytes(tsr_directory *directory, const void *base, size_t bytes);
/* Forgets the copies on devices of bytes of host memory at base, without write-back. */
void tsr_compose_forget_bytes(tsr_directory *directory, const void *base, size_t bytes);
/* Writes all cached blocks back, forgets them and frees their memory. *any: some memory was freed.
 */
tsr_status tsr_compose_evict(tsr_directory *directory, bool *any);
/* Frees memory for a call that does not compose and finds too little at a location: on a device by
 * tsr_compose_evict; on the host, where no cached blocks are, only that of rings. */
tsr_status tsr_compose_relieve(tsr_directory *directory, int location, bool *any);

/* ---- call.c: so do these ---- */

/* Whether an asynchronous call uses and leaves cached blocks. False: it is carried out alone. */
bool tsr_composes(const tsr_directory *directory, const tsr_call *call);

/* Plans and submits a call, whose result stays on the devices. *alone: the call was not submitted,
 * and the caller must carry it out alone, after tsr_compose_clear: the plan uses no device, or
 * memory does not suffice; then all cached blocks were written back and forgotten. */
tsr_status tsr_compose_call(tsr_directory *directory, const tsr_call *call,
                            const tsr_binding *binding, bool exchanged, bool *alone);

/* Notes the job of a call that does not compose, which will write its result to the host. */
void tsr_compose_note(tsr_directory *directory, const tsr_call *call, const tsr_binding *binding,
                      bool exchanged, const tsr_job *job);

#endif
