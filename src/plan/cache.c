#include "plan/cache.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"

enum { ENTRIES = 64 };

static const size_t most_bytes = 64 << 20;

/* All of a call as whole numbers: no padding to compare by accident. */
enum { KEY_WORDS = 12 + 8 * TSR_OPERANDS };

typedef struct entry {
  uint64_t hash, used; /* used: when, in look-ups; 0: the entry is free */
  int64_t key[KEY_WORDS];
  tsr_plan *plan;
} entry;

struct tsr_cache {
  pthread_mutex_t lock;
  void (*release)(tsr_plan *plan);
  uint64_t clock;
  entry entries[ENTRIES];
};

tsr_status tsr_cache_create(void (*release)(tsr_plan *plan), tsr_cache **cache) {
  tsr_cache *made = tsr_alloc_zero(1, sizeof *made);
  if (made == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a cache of plans");
  pthread_mutex_init(&made->lock, NULL);
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
  pthread_mutex_lock(&cache->lock);
  for (int i = 0; i < ENTRIES; i++)
    if (cache->entries[i].used != 0) {
      cache->release(cache->entries[i].plan);
      cache->entries[i].used = 0;
    }
  pthread_mutex_unlock(&cache->lock);
}

uint64_t tsr_cache_digest(uint64_t before, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  uint64_t hash = before ^ UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < count; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
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
  *at++ = call->alpha * 4 + call->beta;
  for (int i = 0; i < TSR_OPERANDS; i++) {
    const tsr_operand *x = &call->operand[i];
    const int64_t words[] = {x->rows,     x->cols,         x->ld,         x->memory,
                             x->location, x->pinned_begin, x->pinned_end, x->alignment};
    memcpy(at, words, sizeof words);
    at += sizeof words / sizeof *words;
  }
}

/* Word by word: a look-up is on the way of every call. */
static uint64_t hash_key(const int64_t key[KEY_WORDS]) {
  uint64_t hash = UINT64_C(0x9E3779B97F4A7C15);
  for (int i = 0; i < KEY_WORDS; i++) {
    hash = (hash ^ (uint64_t)key[i]) * UINT64_C(0xBF58476D1CE4E5B9);
    hash ^= hash >> 29;
  }
  return hash;
}

uint64_t tsr_cache_key(const tsr_call *call) {
  int64_t key[KEY_WORDS];
  make_key(call, 0, key);
  return hash_key(key);
}

static entry *find(tsr_cache *cache, uint64_t hash, const int64_t key[KEY_WORDS]) {
  for (int i = 0; i < ENTRIES; i++) {
    entry *e = &cache->entries[i];
    if (e->used != 0 && e->hash == hash && memcmp(e->key, key, sizeof e->key) == 0) return e;
  }
  return NULL;
}

tsr_plan *tsr_cache_find(tsr_cache *cache, const tsr_call *call, uint64_t settings) {
  int64_t key[KEY_WORDS];
  make_key(call, settings, key);
  uint64_t hash = hash_key(key);
  pthread_mutex_lock(&cache->lock);
  entry *e = find(cache, hash, key);
  tsr_plan *plan = e != NULL ? e->plan : NULL;
  if (e != NULL) {
    e->used = ++cache->clock;
    atomic_fetch_add(&plan->references, 1);
  }
  pthread_mutex_unlock(&cache->lock);
  return plan;
}

static size_t plan_bytes(const tsr_plan *plan) {
  return plan->commands.count * sizeof *plan->commands.items +
         plan->waits.count * sizeof *plan->waits.items +
         plan->buffers.count * sizeof *plan->buffers.items;
}

/* A free entry, or the one used longest ago. */
static entry *oldest(tsr_cache *cache) {
  entry *best = &cache->entries[0];
  for (int i = 1; i < ENTRIES; i++)
    if (cache->entries[i].used < best->used) best = &cache->entries[i];
  return best;
}

void tsr_cache_add(tsr_cache *cache, const tsr_call *call, uint64_t settings, tsr_plan *plan) {
  if (plan_bytes(plan) > most_bytes) return;
  entry new = {.plan = plan};
  make_key(call, settings, new.key);
  new.hash = hash_key(new.key);
  atomic_fetch_add(&plan->references, 1);
  pthread_mutex_lock(&cache->lock);
  entry *e = find(cache, new.hash, new.key); /* another thread may have planned the same */
  if (e == NULL) e = oldest(cache);
  tsr_plan *former = e->used != 0 ? e->plan : NULL;
  new.used = ++cache->clock;
  *e = new;
  pthread_mutex_unlock(&cache->lock);
  if (former != NULL) cache->release(former);
}
