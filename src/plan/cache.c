/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/cache.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/residency.h"

/* Two buckets for each plan, so that most lists have one entry. */
enum { BUCKETS = 2 * TSR_CACHE_PLANS };

/* A key is all fields of a call as 64-bit numbers. Comparing tsr_call itself would compare its
 * padding. */
enum { KEY_WORDS = 13 + TSR_PROMISE_WORDS + 8 * TSR_OPERANDS };

typedef struct entry {
  struct entry *next;          /* next entry of the bucket, or of the list of removed entries */
  struct entry *newer, *older; /* neighbours in the order of last use */
  uint64_t hash;
  size_t bytes;
  const tsr_plan *plan;
  int64_t key[KEY_WORDS];
} entry;

struct tsr_cache {
  pthread_mutex_t lock;
  void (*take)(const tsr_plan *plan);
  void (*release)(const tsr_plan *plan);
  entry *bucket[BUCKETS];
  entry *newest, *oldest;
  int count;
  size_t bytes;
};

/* ---- Entries, under the lock ---------------------------------------------- */

static void put_in_front(tsr_cache *cache, entry *e) {
  e->newer = NULL;
  e->older = cache->newest;
  *(e->older != NULL ? &e->older->newer : &cache->oldest) = e;
  cache->newest = e;
}

static void take_from_order(tsr_cache *cache, entry *e) {
  *(e->newer != NULL ? &e->newer->older : &cache->newest) = e->older;
  *(e->older != NULL ? &e->older->newer : &cache->oldest) = e->newer;
}

static entry *find(tsr_cache *cache, uint64_t hash, const int64_t key[KEY_WORDS]) {
  for (entry *e = cache->bucket[hash % BUCKETS]; e != NULL; e = e->next)
    if (e->hash == hash && memcmp(e->key, key, sizeof e->key) == 0) return e;
  return NULL;
}

static void put_in(tsr_cache *cache, entry *e) {
  entry **bucket = &cache->bucket[e->hash % BUCKETS];
  e->next = *bucket;
  *bucket = e;
  put_in_front(cache, e);
  cache->count++;
  cache->bytes += e->bytes;
}

static void take_out(tsr_cache *cache, entry *e) {
  entry **link = &cache->bucket[e->hash % BUCKETS];
  while (*link != e) link = &(*link)->next;
  *link = e->next;
  take_from_order(cache, e);
  cache->count--;
  cache->bytes -= e->bytes;
}

/* Removes the entries used longest ago until `count` more plans of `bytes` bytes in all fit. *out
 * lists the removed entries. */
static void evict(tsr_cache *cache, int count, size_t bytes, entry **out) {
  while (cache->count > 0 &&
         (cache->count + count > TSR_CACHE_PLANS || cache->bytes + bytes > TSR_CACHE_BYTES)) {
    entry *e = cache->oldest;
    take_out(cache, e);
    e->next = *out;
    *out = e;
  }
}

/* Releases removed entries. The caller must not hold the lock, since the release of a plan may take
 * other locks. */
static void drop(tsr_cache *cache, entry *out) {
  while (out != NULL) {
    entry *next = out->next;
    cache->release(out->plan);
    tsr_dealloc(out);
    out = next;
  }
}

/* ---- The cache ------------------------------------------------------------ */

tsr_status tsr_cache_create(void (*take)(const tsr_plan *plan),
                            void (*release)(const tsr_plan *plan), tsr_cache **cache) {
  tsr_cache *made = tsr_alloc_zero(1, sizeof *made);
  if (made == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a cache of plans");
  pthread_mutex_init(&made->lock, NULL);
  made->take = take;
  made->release = release;
  *cache = made;
  return TSR_OK;
}

void tsr_cache_destroy(tsr_cache *cache) {
  if (cache == NULL) return;
  tsr_cache_clear(cache);
  pthread_mutex_destroy(&cache->lock);
  tsr_dealloc(cache);
}

void tsr_cache_clear(tsr_cache *cache) {
  entry *out = NULL;
  pthread_mutex_lock(&cache->lock);
  evict(cache, TSR_CACHE_PLANS, 0, &out);
  pthread_mutex_unlock(&cache->lock);
  drop(cache, out);
}

/* ---- Keys ----------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0xBF58476D1CE4E5B9);
  return hash ^ hash >> 29;
}

/* Eight bytes at a time, since a residency may have thousands of rectangles. */
uint64_t tsr_cache_digest(uint64_t before, const void *bytes, size_t count) {
  const char *at = bytes;
  uint64_t hash = mix(before ^ UINT64_C(0x9E3779B97F4A7C15), count);
  for (size_t left = count; left > 0;) {
    uint64_t word = 0;
    size_t step = left < sizeof word ? left : sizeof word;
    memcpy(&word, at, step);
    hash = mix(hash, word);
    at += step;
    left -= step;
  }
  return hash;
}

static void make_key(const tsr_call *call, uint64_t settings, int64_t key[KEY_WORDS]) {
  int64_t *at = key;
  *at++ = (int64_t)settings;
  *at++ = call->operation;
  *at++ = call->type;
  *at++ = call->transa;
  *at++ = call->transb;
  *at++ = call->side;
  *at++ = call->uplo;
  *at++ = call->diag;
  *at++ = call->m;
  *at++ = call->n;
  *at++ = call->k;
  *at++ = call->arithmetic != NULL ? tsr_arithmetic_key(call->arithmetic) : 0;
  tsr_promise_words(&call->promise, at);
  at += TSR_PROMISE_WORDS;
  int flags = call->faster * 4 + call->row_major + 8 * call->adds_last;
  *at++ = flags * 16 + call->alpha * 4 + call->beta;
  for (int i = 0; i < TSR_OPERANDS; i++) {
    const tsr_operand *x = &call->operand[i];
    const int64_t words[] = {x->rows,     x->cols,         x->ld,         x->memory,
                             x->location, x->pinned_begin, x->pinned_end, x->alignment};
    memcpy(at, words, sizeof words);
    at += sizeof words / sizeof *words;
  }
}

/* Eight bytes at a time, since every call looks up its plan. */
static uint64_t hash_key(const int64_t key[KEY_WORDS]) {
  uint64_t hash = UINT64_C(0x9E3779B97F4A7C15);
  for (int i = 0; i < KEY_WORDS; i++) hash = mix(hash, (uint64_t)key[i]);
  return hash;
}

uint64_t tsr_cache_key(const tsr_call *call) {
  int64_t key[KEY_WORDS];
  make_key(call, 0, key);
  return hash_key(key);
}

/* ---- Looking up and adding ------------------------------------------------ */

const tsr_plan *tsr_cache_find(tsr_cache *cache, const tsr_call *call, uint64_t settings) {
  int64_t key[KEY_WORDS];
  make_key(call, settings, key);
  uint64_t hash = hash_key(key);
  pthread_mutex_lock(&cache->lock);
  entry *e = find(cache, hash, key);
  const tsr_plan *plan = e != NULL ? e->plan : NULL;
  if (e != NULL) {
    take_from_order(cache, e);
    put_in_front(cache, e);
    cache->take(plan);
  }
  pthread_mutex_unlock(&cache->lock);
  return plan;
}

static size_t residency_bytes(const tsr_residency *residency) {
  size_t bytes = 0;
  for (size_t i = 0; residency != NULL && i < residency->blocks.count; i++) {
    const tsr_cached_block *block = &residency->blocks.items[i];
    bytes += sizeof *block + (block->valid.count + block->newer.count) * sizeof *block->valid.items;
  }
  return bytes;
}

static size_t plan_bytes(const tsr_plan *plan) {
  return sizeof *plan + plan->commands.count * sizeof *plan->commands.items +
         plan->waits.count * sizeof *plan->waits.items +
         plan->buffers.count * sizeof *plan->buffers.items + residency_bytes(plan->before) +
         residency_bytes(plan->after);
}

void tsr_cache_add(tsr_cache *cache, const tsr_call *call, uint64_t settings,
                   const tsr_plan *plan) {
  size_t bytes = plan_bytes(plan);
  entry *new = bytes <= TSR_CACHE_PLAN_BYTES ? tsr_alloc_zero(1, sizeof *new) : NULL;
  if (new == NULL) return; /* the next equal call makes the plan anew */
  *new = (entry){.plan = plan, .bytes = bytes};
  make_key(call, settings, new->key);
  new->hash = hash_key(new->key);
  cache->take(plan);
  pthread_mutex_lock(&cache->lock);
  entry *out =
      find(cache, new->hash, new->key); /* another thread may have added a plan for the same call */
  if (out != NULL) {
    take_out(cache, out);
    out->next = NULL;
  }
  evict(cache, 1, bytes, &out);
  put_in(cache, new);
  pthread_mutex_unlock(&cache->lock);
  drop(cache, out);
}
