/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The store: the blocks that a context caches on its devices between calls.
 *
 * An entry of the store is memory of a device that holds a copy of a matrix block in the user's
 * host memory; that block is the entry's home. Entries are made by plans, as their cached blocks. A
 * call finds each entry that is aligned with one of its operands (same leading dimension and
 * element grid) as a cached block in the operand's coordinates. An entry crosses an operand if they
 * overlap but are not aligned. A call cannot use an entry that crosses an operand; such an entry
 * must be written back or forgotten before.
 *
 * The store changes when a job is submitted, not when it ends: it describes the devices as they
 * will be when all jobs are complete. Jobs may overlap, so memory that is given back is used again
 * only when all jobs submitted until then are complete. One thread at a time uses the store.
 */
#ifndef TSR_COMPOSE_STORE_H
#define TSR_COMPOSE_STORE_H

#include "blas/call.h"
#include "engine/engine.h"
#include "plan/plan.h"
#include "plan/residency.h"
#include "run/near.h"
#include "run/region.h"

typedef struct tsr_store tsr_store;
typedef struct tsr_entry tsr_entry;

/* What a plan does with an operand: it reads it; it changes all of it, or all of its triangle; or
 * it only moves it. */
typedef enum tsr_used_as { TSR_READ_ONLY, TSR_CHANGED, TSR_MOVED } tsr_used_as;

typedef struct tsr_use {
  tsr_used_as as;
  tsr_uplo uplo; /* the triangle that alone it uses, or TSR_GENERAL */
} tsr_use;

/* The cached blocks that a call finds on devices when it is planned. */
typedef struct tsr_found {
  tsr_region region[TSR_OPERANDS]; /* of the call's operands */
  tsr_use use[TSR_OPERANDS];       /* as tsr_store_look was asked */
  bool all;                        /* no use was given: everything is found */
  tsr_residency seen;
  TSR_VEC(tsr_entry *) entries; /* the entry of each block of seen */
} tsr_found;

/* Makes an empty store. limit: the most bytes on each device and, at index devices, of pinned
 * memory on each host memory node. block: bytes to allocate at a time; 0: as tsr_heap_create
 * chooses. near: how pinned memory is placed, borrowed; NULL: it is not. TSR_ERR_MEMORY: no host
 * memory. */
tsr_status tsr_store_create(const tsr_engine *engine, tsr_engine_state *state, int devices,
                            const size_t *limit, size_t block, const tsr_near *near,
                            tsr_store **store);
/* Frees all memory, which no job may be using. NULL is accepted. */
void tsr_store_destroy(tsr_store *store);

bool tsr_store_has_entries(const tsr_store *store);
/* Bytes that the store has allocated at all locations, used by entries or not. */
size_t tsr_store_held(const tsr_store *store);
/* Sets the most bytes that the store may allocate at the location. Frees nothing. */
void tsr_store_limit(tsr_store *store, int location, size_t bytes);
/* Bytes on the device that are taken: of entries, and of arenas and memory not yet reclaimed. */
size_t tsr_store_used(const tsr_store *store, int device);

/* Finds the cached blocks of the operands' regions. use: of each operand; NULL if no plan is made
 * of it: all is found. A triangle in a block is found as such only if it is of the kind that the
 * plan uses and on the operand's diagonal, because a plan has no use for others
 * (tsr_store_triangle). One in a square that is valid as a whole is found, too: as newer of an
 * operand that is read; of one that is changed all of the square is newer afterwards. The caller
 * frees *found by tsr_found_free. TSR_ERR_MEMORY: no host memory. */
tsr_status tsr_store_look(tsr_store *store, const tsr_region region[TSR_OPERANDS],
                          const tsr_use *use, tsr_found *found);
void tsr_found_free(tsr_found *found);
bool tsr_found_has_newer(
    const tsr_found *found); /* some block is newer on its device than at home */

/* Leaves only triangles of what is newer; whole: also those whose squares are valid as a whole. */
void tsr_found_keep_triangles(tsr_found *found, bool whole);

/* *part: a part of the home of an entry that crosses the region, where the entry is newer than its
 * home. False: none. */
bool tsr_store_crossing(const tsr_store *store, const tsr_region *region, tsr_region *part);

/* Cuts the triangles in the region that tsr_store_look would not find of this operand into
 * rectangles, which it finds, and small triangles. TSR_ERR_MEMORY: no host memory; some are cut. */
tsr_status tsr_store_cut_triangles(tsr_store *store, const tsr_region *region, const tsr_use *use);

/* Finds a triangle in the region that is newer than its home, in an entry that is aligned with the
 * region, and that tsr_store_look would not find of this operand. *square: the largest square of
 * the region on the triangle's diagonal; *is: the triangle's kind. square->base is NULL if there is
 * none. TSR_ERR_MEMORY: no host memory. */
tsr_status tsr_store_triangle(const tsr_store *store, const tsr_region *region, const tsr_use *use,
                              tsr_region *square, tsr_uplo *is);

/* Finds a shape in the triangle uplo of a square region that is newer than its home, in an entry
 * that is aligned with the region, as part of a triangle that is of another kind or on another
 * diagonal. *part: the shape's rectangle; *is: its kind. part->base is NULL if there is none.
 * TSR_ERR_MEMORY: no host memory. */
tsr_status tsr_store_other_triangle(const tsr_store *store, const tsr_region *region, tsr_uplo uplo,
                                    tsr_region *part, tsr_uplo *is);

/* Forgets the copies of the region on devices. Of an entry that crosses the region, it forgets the
 * columns that overlap the region. An entry of which nothing is left gives its memory back.
 * TSR_ERR_MEMORY: no host memory; only copies equal to their homes may have been forgotten. */
tsr_status tsr_store_forget(tsr_store *store, const tsr_region *region);

/* The same, but only for entries that cross the region; aligned ones are kept. */
tsr_status tsr_store_forget_crossing(tsr_store *store, const tsr_region *region);

/* The memory of a plan with cached blocks. */
typedef struct tsr_allocation {
  size_t count;             /* number of cached blocks of plan->after */
  void **blocks;            /* the memory of each */
  void **entries;           /* the memory of the entry to which each block belongs */
  struct tsr_entry **noted; /* the entry that tsr_store_note changes or adds */
  void *arena[TSR_MACHINE_LOCATIONS];
  uint64_t failures; /* of jobs, before the entries were found: tsr_runner_failures */
} tsr_allocation;

/* Takes the plan's memory and prepares its entries. The caller passes the allocation to
 * tsr_store_give or tsr_store_note. TSR_ERR_MEMORY: nothing was taken; *short_of is the location
 * that is short, or -1: host memory is. */
tsr_status tsr_store_take(tsr_store *store, const tsr_found *found, const tsr_plan *plan,
                          tsr_allocation *allocation, int *short_of);
/* Gives back the memory of a plan that was not submitted. */
void tsr_store_give(tsr_store *store, const tsr_plan *plan, tsr_allocation *allocation);
/* Adds the cached blocks of a submitted plan to the store; number: the job's. */
void tsr_store_note(tsr_store *store, const tsr_plan *plan, tsr_allocation *allocation,
                    uint64_t number);

/* Whether memory was given back that cannot be used again yet. */
bool tsr_store_has_retired(const tsr_store *store);
/* Makes memory usable again that only jobs 0 .. completed-1 may have used. */
void tsr_store_reclaim(tsr_store *store, uint64_t completed);

/* The entry that was used longest ago and is not in found, and its home. *dirty: part of the entry
 * is newer than its home. NULL: none. */
tsr_entry *tsr_store_oldest(const tsr_store *store, const tsr_found *found, tsr_region *home,
                            bool *dirty);
/* Forgets one entry; other entries with copies of the same memory are kept. */
void tsr_store_drop(tsr_store *store, tsr_entry *entry);

/* *home: the home of an entry that is partly newer than it. False: none. */
bool tsr_store_newer(const tsr_store *store, tsr_region *home);

/* *region: homes of entries that are partly newer, as many as touch one another with one ld and
 * element grid; other memory may lie between them. False: none. */
bool tsr_store_newer_region(const tsr_store *store, tsr_region *region);

/* Marks the region's parts in entries as newer than home again, since their write-back failed.
 * False: no host memory. */
bool tsr_store_renew(tsr_store *store, const tsr_region *region);

/* Forgets the entries on the devices (bits), and those that jobs from number first on have changed.
 * Returns whether some of them were newer than their homes. */
bool tsr_store_drop_lost(tsr_store *store, uint32_t devices, uint64_t first);

/* Forgets all entries. */
void tsr_store_clear(tsr_store *store);
/* Frees the memory that no entry uses. No job may be in flight. */
void tsr_store_trim(tsr_store *store);
/* Does so on the host alone, for memory of rings that has been given back. */
void tsr_store_trim_rings(tsr_store *store);

/* For checking mode; no job may be in flight. tsr_store_stamp notes, for each entry that overlaps
 * the region, a digest of the home's parts that equal the entry. tsr_store_check fails with
 * TSR_ERR_CHECK if such a home was changed since. */
void tsr_store_stamp(tsr_store *store, const tsr_region *region);
void tsr_store_stamp_all(tsr_store *store);
tsr_status tsr_store_check(const tsr_store *store, const tsr_region *region);

#endif
