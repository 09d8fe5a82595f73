/*
 * The plans of a context by the calls they are for: those used last, as many as the limits allow. A
 * sequence of calls, such as a blocked factorisation, makes hundreds of them, small ones mostly.
 * Any thread may use it.
 */
#ifndef TSR_PLAN_CACHE_H
#define TSR_PLAN_CACHE_H

#include "plan/plan.h"
#include "plan/tuning.h"

typedef struct tsr_cache tsr_cache;

/* Limits: plans, the bytes of all of them, and those of one. What a runner derives from a plan
 * takes some tens of bytes a command besides, and is not counted. */
enum { TSR_CACHE_PLANS = TSR_TUNE_CACHE_PLANS };
#define TSR_CACHE_BYTES ((size_t)TSR_TUNE_CACHE_BYTES)
#define TSR_CACHE_PLAN_BYTES ((size_t)TSR_TUNE_CACHE_PLAN_BYTES)

/* A cached plan is the owner's: take adds a reference to a plan, release drops one. The cache holds
 * one reference for each plan that it keeps. */
tsr_status tsr_cache_create(void (*take)(const tsr_plan *plan),
                            void (*release)(const tsr_plan *plan), tsr_cache **cache);
void tsr_cache_destroy(tsr_cache *cache);

/* The plan for this call, with a new reference, or NULL. settings is a digest of all else that the
 * plan depends on. */
const tsr_plan *tsr_cache_find(tsr_cache *cache, const tsr_call *call, uint64_t settings);

/* Keeps the plan, with a reference of its own, unless it is very large. */
void tsr_cache_add(tsr_cache *cache, const tsr_call *call, uint64_t settings, const tsr_plan *plan);

void tsr_cache_clear(tsr_cache *cache);

/* A digest of all of a call. */
uint64_t tsr_cache_key(const tsr_call *call);

/* A digest of bytes, going on from before; start with 0. */
uint64_t tsr_cache_digest(uint64_t before, const void *bytes, size_t count);

#endif
