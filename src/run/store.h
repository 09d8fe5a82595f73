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
 * that was submitted is done. It is not thread-safe: one thread at a time.
 */
#ifndef TSR_RUN_STORE_H
#define TSR_RUN_STORE_H

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

/* limit: bytes for each device; block: to take from the engine at a time, 0: as tsr_heap_create
 * chooses. TSR_ERR_MEMORY. */
tsr_status tsr_store_create(const tsr_engine *engine, tsr_engine_state *state, int devices,
                            const size_t *limit, size_t block, tsr_store **store);
/* Nothing may be using what stays. NULL is nothing. */
void tsr_store_destroy(tsr_store *store);

bool tsr_store_is_empty(const tsr_store *store);
/* Bytes that stays have at a device. */
size_t tsr_store_used(const tsr_store *store, int device);

/* Fills a view of the regions of a call's operands. TSR_ERR_MEMORY. */
tsr_status tsr_store_view(tsr_store *store, const tsr_region region[TSR_OPERANDS], tsr_view *view);
void tsr_view_free(tsr_view *view);
/* The memory of a view's rooms, room by room. */
void *tsr_view_room(const tsr_view *view, size_t room);
bool tsr_view_has_newer(const tsr_view *view);

/* The part of some stay's home that crosses the region and is newer on the device: *part. False:
 * there is none. */
bool tsr_store_crossing(const tsr_store *store, const tsr_region *region, tsr_region *part);

/* What is on devices of a region does not count any more, nor, column by column, what crosses it;
 * stays without anything left give their memory back. TSR_ERR_MEMORY. */
tsr_status tsr_store_forget(tsr_store *store, const tsr_region *region);

/* The same, of what crosses the region alone. */
tsr_status tsr_store_forget_crossing(tsr_store *store, const tsr_region *region);

/* Memory for the rooms of a plan made for the view: rooms[] has one for each room of plan->after.
 * TSR_ERR_MEMORY: nothing was taken; *short_of is the device. */
tsr_status tsr_store_take(tsr_store *store, const tsr_view *view, const tsr_plan *plan,
                          void **rooms, int *short_of);
/* Gives the memory of new rooms back: the plan was not submitted. */
void tsr_store_give(tsr_store *store, const tsr_plan *plan, void **rooms);
/* The plan was submitted with these rooms. TSR_ERR_MEMORY: what the plan touched counts as lost. */
tsr_status tsr_store_note(tsr_store *store, const tsr_view *view, const tsr_plan *plan,
                          void **rooms);

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
/* Gives memory that no stay has back to the devices; nothing may be running. */
void tsr_store_trim(tsr_store *store);

/* Checking mode: tsr_store_stamp notes what the region's host memory holds of which devices have
 * clean copies, and tsr_store_check finds where it has been changed since (TSR_ERR_CHECK). Nothing
 * may be running. */
void tsr_store_stamp(tsr_store *store, const tsr_region *region);
tsr_status tsr_store_check(const tsr_store *store, const tsr_region *region);

#endif
