/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The cache of a context's plans. A call finds the plan that was made for an equal call. The cache
 * keeps the plans used last, within the limits below. A sequence of calls, such as a blocked
 * factorisation, makes hundreds of plans, most of them small. Any thread may use the cache.
 */
#ifndef TSR_PLAN_CACHE_H
#define TSR_PLAN_CACHE_H

#include "plan/plan.h"
#include "plan/tuning.h"

typedef struct tsr_cache tsr_cache;

/* Limits: number of plans, bytes of all plans, bytes of one plan. The program that a runner derives
 * from a plan takes some tens of bytes a command more; the limits do not count it. */
enum { TSR_CACHE_PLANS = TSR_TUNE_CACHE_PLANS };
#define TSR_CACHE_BYTES ((size_t)TSR_TUNE_CACHE_BYTES)
#define TSR_CACHE_PLAN_BYTES ((size_t)TSR_TUNE_CACHE_PLAN_BYTES)

/* The caller owns the plans. `take` adds a reference to a plan, `release` drops one. The cache has
 * one reference to each plan that it keeps. TSR_ERR_MEMORY. */
tsr_status tsr_cache_create(void (*take)(const tsr_plan *plan),
                            void (*release)(const tsr_plan *plan), tsr_cache **cache);
void tsr_cache_destroy(tsr_cache *cache);

/* The plan for the call, to which the cache adds a reference for the caller; NULL: none is cached.
 * settings: a digest of everything else that the plan depends on. */
const tsr_plan *tsr_cache_find(tsr_cache *cache, const tsr_call *call, uint64_t settings);

/* Adds the plan to the cache, which takes a reference of its own. The cache does not keep a plan of
 * more than TSR_CACHE_PLAN_BYTES, nor a plan for which host memory is lacking. */
void tsr_cache_add(tsr_cache *cache, const tsr_call *call, uint64_t settings, const tsr_plan *plan);

/* Drops all plans. */
void tsr_cache_clear(tsr_cache *cache);

/* A digest of all fields of a call. */
uint64_t tsr_cache_key(const tsr_call *call);

/* Extends the digest `before` by count bytes. A new digest starts from 0. */
uint64_t tsr_cache_digest(uint64_t before, const void *bytes, size_t count);

#endif
