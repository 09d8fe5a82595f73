/*
 * Between the parts of composition; all of it between tsr_compose_begin and tsr_compose_end.
 */
#ifndef TSR_FRONT_COMPOSE_INSIDE_H
#define TSR_FRONT_COMPOSE_INSIDE_H

#include "front/compose.h"

/* ---- compose.c ---- */

/* Makes the store unless it is there: before anything is brought to devices to stay. */
tsr_status tsr_compose_open(tsr_context *context);

/* ---- compose_rooms.c ---- */

/* In checking mode: TSR_ERR_CHECK where host memory was changed and nobody was told. */
tsr_status tsr_compose_check(tsr_context *context, const tsr_region *regions, int count);
/* In checking mode: what host memory holds now is right. */
void tsr_compose_stamp(tsr_context *context, const tsr_region *regions, int count);

/* Nothing on devices counts for the region any more. */
tsr_status tsr_compose_forget(tsr_context *context, const tsr_region *region);

/* A plan beside what is kept; TSR_ERR_MEMORY: it does not fit. */
tsr_status tsr_compose_find_plan(tsr_context *context, tsr_request *request, const tsr_view *view,
                                 const tsr_plan **plan);
/* Takes rooms for a plan and submits it. *short_of as in tsr_submission. */
tsr_status tsr_compose_submit(tsr_context *context, const tsr_plan *plan,
                              const tsr_binding *binding, const tsr_view *view, int *short_of,
                              tsr_ticket **ticket);
/* What was given back serves again when the jobs that may use it are complete: waits for them. */
void tsr_compose_await_retired(tsr_context *context);

/* ---- compose_move.c ---- */

/* A job that writes to the region's host memory. */
void tsr_compose_note_coming(tsr_context *context, const tsr_region *region,
                             const tsr_ticket *ticket);

/* Brings home what is newer on devices and lies along the region. */
tsr_status tsr_compose_bring_along(tsr_context *context, const tsr_region *region, tsr_uplo uplo,
                                   bool wait);
/* The same of what crosses it. */
tsr_status tsr_compose_bring_crossing(tsr_context *context, const tsr_region *region, bool wait);

#endif
