/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Functions that the files of composition call of one another, between tsr_compose_begin and
 * tsr_compose_end.
 */
#ifndef TSR_COMPOSE_INSIDE_H
#define TSR_COMPOSE_INSIDE_H

#include "call/request.h"
#include "compose/directory.h"

/* ---- begin.c ---- */

/* Waits for the jobs that write to the region in host memory, and makes good for those that fail.
 */
void tsr_compose_await_write_backs(tsr_directory *directory, const tsr_region *region);

/* Does tsr_compose_begin if there is a store for which has() is true. False: not begun. */
bool tsr_compose_begin_if(tsr_directory *directory, bool (*has)(const tsr_store *store));

/* ---- directory.c ---- */

/* Add to the journal: an entry, or one of a region (unless the journal is empty, and it is no
 * HOME). */
void tsr_compose_journal(tsr_directory *directory, const tsr_journal_entry *entry);
void tsr_compose_journal_region(tsr_directory *directory, tsr_journal_kind kind,
                                const tsr_region *region, uint64_t from, uint64_t number,
                                bool straight);

/* Makes the store unless it exists; called before blocks are cached. */
tsr_status tsr_compose_open(tsr_directory *directory);

/* Notes a job that writes to the region's host memory. Without host memory for that, waits for the
 * job. */
void tsr_compose_note_write_back(tsr_directory *directory, const tsr_region *region,
                                 const tsr_job *job);

/* The latest mapping that contains the whole region, in the region's coordinates. False: none. */
bool tsr_compose_mapping(const tsr_directory *directory, const tsr_region *region,
                         tsr_mapping *mapping);

/* The regions of the call's operands. base is NULL if an operand is not used or not in host memory.
 */
void tsr_compose_regions(const tsr_directory *directory, const tsr_call *call,
                         const tsr_binding *binding, tsr_region region[TSR_OPERANDS]);

/* In checking mode: TSR_ERR_CHECK if host memory of which there are copies was changed since the
 * last tsr_compose_stamp, which means that tsr_invalidate was not called. */
tsr_status tsr_compose_check(tsr_directory *directory, const tsr_region *regions, int count);
/* In checking mode: notes digests of the regions' host memory for tsr_compose_check. */
void tsr_compose_stamp(tsr_directory *directory, const tsr_region *regions, int count);

/* Forgets the region's copies on devices. */
tsr_status tsr_compose_forget(tsr_directory *directory, const tsr_region *region);

/* Waits for all jobs, so that memory given back to the store can be used again. */
void tsr_compose_await_retired(tsr_directory *directory);

/* ---- enter.c ---- */

/* Finds or makes a plan that fits into the budgets beside the cached blocks. TSR_ERR_MEMORY: none
 * fits. */
tsr_status tsr_compose_find_plan(tsr_directory *directory, tsr_request *request,
                                 const tsr_found *found, const tsr_plan **plan);
/* Allocates the plan's cached blocks and arenas and submits it. *short_of as in tsr_submission. */
tsr_status tsr_compose_submit(tsr_directory *directory, const tsr_plan *plan,
                              const tsr_binding *binding, const tsr_found *found, int *short_of,
                              tsr_job **job);

/* ---- move.c ---- */

/* Submits the write-back of the region's parts that are newer in aligned entries; wait: until it is
 * complete. */
tsr_status tsr_compose_write_back_aligned(tsr_directory *directory, const tsr_region *region,
                                          tsr_uplo uplo, bool wait);
/* The same, without waiting, for parts of triangles that a call which uses the region so cannot use
 * where they are. */
tsr_status tsr_compose_settle_triangles(tsr_directory *directory, const tsr_region *region,
                                        const tsr_use *use);
/* The same for the entries that cross the region. */
tsr_status tsr_compose_write_back_crossing(tsr_directory *directory, const tsr_region *region,
                                           bool wait);

/* ---- evict.c ---- */

/* Writes all cached blocks back, forgets them and frees their memory. */
tsr_status tsr_compose_evict_all(tsr_directory *directory);

/* Frees memory in the store: memory already given back, by waiting for the jobs that use it; else
 * the entry that was used longest ago and is not among found. *any: false if there was neither. */
tsr_status tsr_compose_evict_oldest(tsr_directory *directory, const tsr_found *found, bool *any);

#endif
