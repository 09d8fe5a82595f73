/*
 * The store: what stays on devices between the calls of a context.
 *
 * A stay is a cached block: memory of a device that holds a rectangle of the user's host memory. It
 * is known by the address of the rectangle's first element there, its home. An earlier plan made it
 * as one of its cached blocks. A call sees each stay that overlaps one of its operands as a cached
 * block, in the operand's coordinates; all of these are the call's view. A stay crosses an operand
 * if they overlap but differ in leading dimension or in the size of elements. A call cannot use a
 * stay that crosses an operand: it has to be brought home or forgotten before.
 *
 * The store changes when a call is submitted, not when it ends: it says what will be on the devices
 * when all submissions are complete. Jobs may overlap, so memory that is given back is used again
 * only when all submissions until then are complete. The store is not thread-safe: one thread at a
 * time.
 */
#ifndef TSR_COMPOSE_STORE_H
#define TSR_COMPOSE_STORE_H

#include "blas/call.h"
#include "engine/engine.h"
#include "plan/plan.h"
#include "plan/residency.h"
#include "run/region.h"

typedef struct tsr_store tsr_store;
typedef struct tsr_entry tsr_entry;

/* What a call finds on devices when it starts. */
typedef struct tsr_found {
  tsr_region region[TSR_OPERANDS];
  tsr_residency seen;
  TSR_VEC(tsr_entry *) entries; /* behind each room of seen */
} tsr_found;

/* limit: bytes for each device, and behind them for the staging ring; block: to take from the
 * engine at a time, 0: as tsr_heap_create chooses. TSR_ERR_MEMORY. */
tsr_status tsr_store_create(const tsr_engine *engine, tsr_engine_state *state, int devices,
                            const size_t *limit, size_t block, tsr_store **store);
/* Nothing may be using what stays. NULL is nothing. */
void tsr_store_destroy(tsr_store *store);

bool tsr_store_has_entries(const tsr_store *store);
/* Bytes of the engine's that it has, at all locations, whether something stays in them or not. */
size_t tsr_store_held(const tsr_store *store);
/* The most bytes that it may hold at a location from now on; what it holds it keeps. */
void tsr_store_limit(tsr_store *store, int location, size_t bytes);
/* Bytes that stays have at a device. */
size_t tsr_store_used(const tsr_store *store, int device);

/* Fills a view of the regions of a call's operands. TSR_ERR_MEMORY. */
tsr_status tsr_store_look(tsr_store *store, const tsr_region region[TSR_OPERANDS],
                          tsr_found *found);
void tsr_found_free(tsr_found *found);
bool tsr_found_has_newer(const tsr_found *found);

/* *part: some part of a stay's home that is newer on the device and crosses the region. False:
 * there is none. */
bool tsr_store_crossing(const tsr_store *store, const tsr_region *region, tsr_region *part);

/* Copies of the region on devices are forgotten. So are the columns of stays that cross it, as far
 * as these columns overlap it. A stay of which nothing is left gives its memory back.
 * TSR_ERR_MEMORY: at most copies were forgotten that are the same at home. */
tsr_status tsr_store_forget(tsr_store *store, const tsr_region *region);

/* The same for the stays that cross the region; those along it are kept. */
tsr_status tsr_store_forget_crossing(tsr_store *store, const tsr_region *region);

/* The memory of a plan that was made for a view. */
typedef struct tsr_allocation {
  size_t count;             /* cached blocks of plan->after */
  void **blocks;            /* the memory of each */
  void **entries;           /* the memory of the stay that the cached block is part of */
  struct tsr_entry **noted; /* the stay that is changed, or made, when the plan is submitted */
  void *arena[TSR_MACHINE_LOCATIONS];
} tsr_allocation;

/* TSR_ERR_MEMORY: nothing was taken; *short_of is the location, or -1 for want of host memory. */
tsr_status tsr_store_take(tsr_store *store, const tsr_found *found, const tsr_plan *plan,
                          tsr_allocation *allocation, int *short_of);
/* The plan was not submitted: gives all of its memory back. */
void tsr_store_give(tsr_store *store, const tsr_plan *plan, tsr_allocation *allocation);
/* The plan was submitted, with that number: its cached blocks are in the store from now on. */
void tsr_store_note(tsr_store *store, const tsr_plan *plan, tsr_allocation *allocation,
                    uint64_t number);

/* Whether memory was given back that cannot be used again yet. */
bool tsr_store_has_retired(const tsr_store *store);
/* Submissions below that number are complete: memory that only they used can be used again. */
void tsr_store_reclaim(tsr_store *store, uint64_t completed);

/* The stay that was used longest ago and is not in the view, with its home; *dirty: some of it is
 * newer on the device. NULL: there is none. */
tsr_entry *tsr_store_oldest(const tsr_store *store, const tsr_found *found, tsr_region *home,
                            bool *dirty);
/* Forgets a stay; other copies of its home are kept. */
void tsr_store_drop(tsr_store *store, tsr_entry *entry);

/* *home: of some stay that is newer, in part, than home. False: there is none. */
bool tsr_store_newer(const tsr_store *store, tsr_region *home);

/* Forgets everything. */
void tsr_store_clear(tsr_store *store);
/* Gives memory that no stay uses back to the engine; nothing may be running. */
void tsr_store_trim(tsr_store *store);

/* In checking mode: tsr_store_stamp notes a digest of the host memory of each stay that overlaps
 * the region, as far as the device's copy is the same; tsr_store_check finds memory that was
 * changed since then (TSR_ERR_CHECK). Nothing may be running. */
void tsr_store_stamp(tsr_store *store, const tsr_region *region);
tsr_status tsr_store_check(const tsr_store *store, const tsr_region *region);

#endif
