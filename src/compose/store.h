/*
 * The store: what stays on devices between the calls of a context.
 *
 * A stay is a room of an earlier plan: memory of a device for a rectangle of the user's host
 * memory, known by the address that its first element has there. A call sees the stays that its
 * operands share memory with as rooms, in the operands' own coordinates (a view). Where a stay and
 * an operand share memory but not the leading dimension or the element's size they cross: a stay
 * that crosses has to be settled, column by column, before the call.
 *
 * The store changes as calls are submitted, not as they end: it says what will be there when all
 * that was submitted is done. Memory that is given back serves again only when what was submitted
 * until then is complete, since jobs may overlap. It is not thread-safe: one thread at a time.
 */
#ifndef TSR_COMPOSE_STORE_H
#define TSR_COMPOSE_STORE_H

#include "blas/call.h"
#include "engine/engine.h"
#include "plan/plan.h"
#include "plan/residency.h"
#include "run/region.h"

typedef struct tsr_store tsr_store;
typedef struct tsr_stay tsr_stay;

/* What a call finds on devices when it starts. */
typedef struct tsr_view {
  tsr_region region[TSR_OPERANDS];
  tsr_residency seen;
  TSR_VEC(tsr_stay *) stays; /* of each room of seen */
} tsr_view;

/* limit: bytes for each device, and behind them for the staging ring; block: to take from the
 * engine at a time, 0: as tsr_heap_create chooses. TSR_ERR_MEMORY. */
tsr_status tsr_store_create(const tsr_engine *engine, tsr_engine_state *state, int devices,
                            const size_t *limit, size_t block, tsr_store **store);
/* Nothing may be using what stays. NULL is nothing. */
void tsr_store_destroy(tsr_store *store);

bool tsr_store_has_stays(const tsr_store *store);
/* Bytes of the engine's that it has, at all locations, whether something stays in them or not. */
size_t tsr_store_held(const tsr_store *store);
/* The most bytes that it may hold at a location from now on; what it holds it keeps. */
void tsr_store_limit(tsr_store *store, int location, size_t bytes);
/* Bytes that stays have at a device. */
size_t tsr_store_used(const tsr_store *store, int device);

/* Fills a view of the regions of a call's operands. TSR_ERR_MEMORY. */
tsr_status tsr_store_view(tsr_store *store, const tsr_region region[TSR_OPERANDS], tsr_view *view);
void tsr_view_free(tsr_view *view);
bool tsr_view_has_newer(const tsr_view *view);

/* The part of some stay's home that crosses the region and is newer on the device: *part. False:
 * there is none. */
bool tsr_store_crossing(const tsr_store *store, const tsr_region *region, tsr_region *part);

/* What is on devices of a region does not count any more, nor, column by column, what crosses it;
 * stays without anything left give their memory back. TSR_ERR_MEMORY: nothing is forgotten that
 * home has not the same. */
tsr_status tsr_store_forget(tsr_store *store, const tsr_region *region);

/* The same, of what crosses the region alone. */
tsr_status tsr_store_forget_crossing(tsr_store *store, const tsr_region *region);

/* The memory of a plan made for a view. */
typedef struct tsr_lodging {
  size_t count;            /* rooms of plan->after */
  void **rooms;            /* where each is, */
  void **stays;            /* and what it is part of, */
  struct tsr_stay **noted; /* and what will be noted of it there */
  void *arena[TSR_MACHINE_LOCATIONS];
} tsr_lodging;

/* TSR_ERR_MEMORY: nothing was taken; *short_of is the location, or -1 for want of host memory. */
tsr_status tsr_store_take(tsr_store *store, const tsr_view *view, const tsr_plan *plan,
                          tsr_lodging *lodging, int *short_of);
/* Gives it all back: the plan was not submitted. */
void tsr_store_give(tsr_store *store, const tsr_plan *plan, tsr_lodging *lodging);
/* The plan was submitted, as that number, and lodges there. */
void tsr_store_note(tsr_store *store, const tsr_plan *plan, tsr_lodging *lodging, uint64_t number);

/* Something was given back that does not serve again yet. */
bool tsr_store_has_retired(const tsr_store *store);
/* Submissions below that number are complete: what was given back under them may serve again. */
void tsr_store_reclaim(tsr_store *store, uint64_t completed);

/* What was used longest ago, the view's stays aside; NULL: there is nothing. *home is its home,
 * *dirty whether some of it is newer on the device. */
tsr_stay *tsr_store_oldest(const tsr_store *store, const tsr_view *view, tsr_region *home,
                           bool *dirty);
/* Forgets a stay, and nothing else of its home. */
void tsr_store_drop(tsr_store *store, tsr_stay *stay);

/* Some home of which a device has something newer. */
bool tsr_store_newer(const tsr_store *store, tsr_region *home);

/* Forgets everything. */
void tsr_store_clear(tsr_store *store);
/* Gives memory that no stay has back to the engine; nothing may be running. */
void tsr_store_trim(tsr_store *store);

/* Checking mode: tsr_store_stamp notes what the region's host memory holds of which devices have
 * clean copies, and tsr_store_check finds where it has been changed since (TSR_ERR_CHECK). Nothing
 * may be running. */
void tsr_store_stamp(tsr_store *store, const tsr_region *region);
tsr_status tsr_store_check(const tsr_store *store, const tsr_region *region);

#endif
