/*
 * Between the parts of composition; all of it between tsr_compose_begin and tsr_compose_end.
 */
#ifndef TSR_COMPOSE_INSIDE_H
#define TSR_COMPOSE_INSIDE_H

#include "compose/directory.h"
#include "compose/request.h"

/* ---- directory.c ---- */

/* As tsr_compose_begin, if there is a store for which has() holds. False: nothing was begun. */
bool tsr_compose_begin_if(tsr_directory *directory, bool (*has)(const tsr_store *store));

/* Makes the store unless it is there: before anything is brought to devices to stay. */
tsr_status tsr_compose_open(tsr_directory *directory);

/* A submission that writes to the region's host memory. One that cannot be noted is waited for. */
void tsr_compose_note_coming(tsr_directory *directory, const tsr_region *region,
                             const tsr_job *job);

/* The mapping that holds all of a region, in its coordinates. False: there is none. */
bool tsr_compose_mapping(const tsr_directory *directory, const tsr_region *region,
                         tsr_mapping *mapping);

/* The regions of a call's operands; base is NULL for those that are not used or not at home in host
 * memory. */
void tsr_compose_regions(const tsr_directory *directory, const tsr_call *call,
                         const tsr_binding *binding, tsr_region region[TSR_OPERANDS]);

/* In checking mode: TSR_ERR_CHECK where host memory was changed and nobody was told. */
tsr_status tsr_compose_check(tsr_directory *directory, const tsr_region *regions, int count);
/* In checking mode: what host memory holds now is right. */
void tsr_compose_stamp(tsr_directory *directory, const tsr_region *regions, int count);

/* Nothing on devices counts for the region any more. */
tsr_status tsr_compose_forget(tsr_directory *directory, const tsr_region *region);

/* Memory that was given back serves again when the jobs that may use it are complete: waits for
 * them. */
void tsr_compose_await_retired(tsr_directory *directory);

/* ---- enter.c ---- */

/* A plan beside what is kept; TSR_ERR_MEMORY: none fits. */
tsr_status tsr_compose_find_plan(tsr_directory *directory, tsr_request *request,
                                 const tsr_found *found, const tsr_plan **plan);
/* Takes cached blocks for a plan and submits it. *short_of as in tsr_submission. */
tsr_status tsr_compose_submit(tsr_directory *directory, const tsr_plan *plan,
                              const tsr_binding *binding, const tsr_found *found, int *short_of,
                              tsr_job **job);

/* ---- move.c ---- */

/* Brings home what is newer on devices and lies along the region. */
tsr_status tsr_compose_bring_along(tsr_directory *directory, const tsr_region *region,
                                   tsr_uplo uplo, bool wait);
/* The same of what crosses it. */
tsr_status tsr_compose_bring_crossing(tsr_directory *directory, const tsr_region *region,
                                      bool wait);

/* ---- evict.c ---- */

/* Brings everything home, forgets it and gives its memory back to the devices. */
tsr_status tsr_compose_evict_all(tsr_directory *directory);

/* Makes some room: memory that was given back already; else what was used longest ago and is not in
 * the view. *any: there was something. */
tsr_status tsr_compose_evict_oldest(tsr_directory *directory, const tsr_found *found, bool *any);

#endif
