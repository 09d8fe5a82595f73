/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "run/pinner.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "base/vec.h"

typedef enum pin_state {
  PIN_PENDING, /* waiting for its turn, or being carried out */
  PIN_PINNED,
  PIN_FAILED, /* kept until it is unregistered or registered again: callers learn of it late */
  PIN_UNPINNING
} pin_state;

typedef struct registration {
  char *begin;
  size_t bytes;
  uint64_t number;
  pin_state state;
  tsr_error error;
} registration;

struct tsr_pinner {
  const tsr_engine *engine;
  tsr_engine_state *state;
  const tsr_near *near;            /* NULL: unknown */
  atomic_ullong posted, completed; /* registrations 1 .. completed are carried out */
  pthread_mutex_t lock;            /* guards the fields below */
  pthread_cond_t work, done;
  TSR_VEC(registration) all; /* in the order of their numbers */
  tsr_error first;           /* the first error that tsr_pinner_settle has not returned yet */
  bool started, quit;
  pthread_t thread;
};

/* ---- Finding; the caller holds the lock ---- */

static bool overlap(const registration *r, const char *begin, size_t bytes) {
  return begin < r->begin + r->bytes && r->begin < begin + bytes;
}

static registration *find_number(tsr_pinner *pinner, uint64_t number) {
  for (size_t i = 0; i < pinner->all.count; i++)
    if (pinner->all.items[i].number == number) return &pinner->all.items[i];
  return NULL;
}

/* The registration that begins at pointer and that no other thread is undoing; NULL: none. */
static registration *find_pointer(tsr_pinner *pinner, const void *pointer) {
  for (size_t i = 0; i < pinner->all.count; i++) {
    registration *r = &pinner->all.items[i];
    if (r->begin == pointer && r->state != PIN_UNPINNING) return r;
  }
  return NULL;
}

static void forget(tsr_pinner *pinner, uint64_t number) {
  size_t kept = 0;
  for (size_t i = 0; i < pinner->all.count; i++)
    if (pinner->all.items[i].number != number) pinner->all.items[kept++] = pinner->all.items[i];
  pinner->all.count = kept;
}

/* ---- The thread ---- */

static tsr_status carry_out(const tsr_pinner *pinner, char *begin, size_t bytes) {
  tsr_status status = pinner->engine->pin(pinner->state, begin, bytes, true);
  if (status == TSR_OK) return TSR_OK;
  return tsr_fail(status,
                  "registering %zu bytes at %p: %s; calls work without registration, but slower",
                  bytes, (void *)begin, tsr_message());
}

/* Notes the end of the registration; on failure this thread's message becomes its error. */
static void complete(tsr_pinner *pinner, uint64_t number, tsr_status status) {
  registration *r = find_number(pinner, number);
  r->state = status == TSR_OK ? PIN_PINNED : PIN_FAILED;
  if (status != TSR_OK) tsr_error_take(status, &r->error);
  if (status != TSR_OK && pinner->first.status == TSR_OK) pinner->first = r->error;
  atomic_store(&pinner->completed, number);
  pthread_cond_broadcast(&pinner->done);
}

static void *work(void *argument) {
  tsr_pinner *pinner = argument;
  pthread_mutex_lock(&pinner->lock);
  for (;;) {
    while (!pinner->quit && atomic_load(&pinner->completed) == atomic_load(&pinner->posted))
      pthread_cond_wait(&pinner->work, &pinner->lock);
    if (pinner->quit) break;
    registration next = *find_number(pinner, atomic_load(&pinner->completed) + 1);
    pthread_mutex_unlock(&pinner->lock);
    tsr_status status = carry_out(pinner, next.begin, next.bytes);
    pthread_mutex_lock(&pinner->lock);
    complete(pinner, next.number, status);
  }
  pthread_mutex_unlock(&pinner->lock);
  return NULL;
}

static tsr_status start(tsr_pinner *pinner) {
  if (pinner->started || pinner->engine == NULL) return TSR_OK;
  if (!tsr_thread_start(work, pinner, &pinner->thread))
    return tsr_fail(TSR_ERR_MEMORY,
                    "cannot start a thread to pin memory; raise the limit on threads");
  pinner->started = true;
  return TSR_OK;
}

/* ---- Creating and destroying ---- */

tsr_status tsr_pinner_create(const tsr_engine *engine, tsr_engine_state *state,
                             const tsr_near *near, tsr_pinner **pinner) {
  tsr_pinner *made = tsr_alloc_zero(1, sizeof *made);
  if (made == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to keep registrations");
  made->engine = engine;
  made->state = state;
  made->near = near;
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->work, NULL);
  pthread_cond_init(&made->done, NULL);
  *pinner = made;
  return TSR_OK;
}

static void stop(tsr_pinner *pinner) {
  pthread_mutex_lock(&pinner->lock);
  pinner->quit = true;
  pthread_cond_broadcast(&pinner->work);
  pthread_mutex_unlock(&pinner->lock);
  if (pinner->started) pthread_join(pinner->thread, NULL);
}

void tsr_pinner_destroy(tsr_pinner *pinner) {
  if (pinner == NULL) return;
  stop(pinner);
  for (size_t i = 0; pinner->engine != NULL && i < pinner->all.count; i++) {
    const registration *r = &pinner->all.items[i];
    if (r->state == PIN_PINNED) (void)pinner->engine->pin(pinner->state, r->begin, r->bytes, false);
  }
  TSR_VEC_FREE(&pinner->all);
  pthread_mutex_destroy(&pinner->lock);
  pthread_cond_destroy(&pinner->work);
  pthread_cond_destroy(&pinner->done);
  tsr_dealloc(pinner);
}

/* ---- Registering ---- */

static tsr_status check_range(const void *pointer, size_t bytes) {
  if (pointer == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "pointer is NULL; give memory of the host");
  if (bytes == 0)
    return tsr_fail(TSR_ERR_ARGUMENT, "bytes is 0; give the size of the memory to pin");
  if (bytes <= UINTPTR_MAX - (uintptr_t)pointer) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "bytes is %zu, which from %p reaches beyond all memory; give the size of the "
                  "memory to pin",
                  bytes, pointer);
}

/* TSR_ERR_ARGUMENT unless the engine says that the byte at pointer is pageable memory. */
static tsr_status check_place(const tsr_pinner *pinner, const char *pointer) {
  tsr_place place;
  TSR_TRY(pinner->engine->where(pinner->state, pointer, &place));
  if (place.memory == TSR_PAGEABLE) return TSR_OK;
  if (place.memory == TSR_DEVICE)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "pointer: %p is memory of device %d; only host memory can be pinned",
                    (const void *)pointer, place.device);
  return tsr_fail(TSR_ERR_ARGUMENT, "pointer: memory at %p is %s already; it needs no registration",
                  (const void *)pointer, place.memory == TSR_PINNED ? "pinned" : "managed");
}

static tsr_status check_engine(const tsr_pinner *pinner, const char *pointer, size_t bytes) {
  if (pinner->engine == NULL) return TSR_OK;
  if (pinner->engine->pin == NULL)
    return tsr_fail(TSR_ERR_UNSUPPORTED, "engine %s cannot pin memory; leave it as it is",
                    pinner->engine->name);
  TSR_TRY(check_place(pinner, pointer));
  return check_place(pinner, pointer + bytes - 1);
}

/* TSR_ERR_ARGUMENT if the bytes overlap a registration that has not failed. The caller holds the
 * lock, here and in the two functions below. */
static tsr_status check_others(tsr_pinner *pinner, const char *pointer, size_t bytes) {
  for (size_t i = 0; i < pinner->all.count; i++) {
    const registration *r = &pinner->all.items[i];
    if (r->state == PIN_FAILED || !overlap(r, pointer, bytes)) continue;
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "pointer: the %zu bytes at %p overlap the %zu registered bytes at %p; "
                    "unregister those first",
                    bytes, (const void *)pointer, r->bytes, (void *)r->begin);
  }
  return TSR_OK;
}

static void forget_failed(tsr_pinner *pinner, const char *pointer, size_t bytes) {
  for (size_t i = pinner->all.count; i-- > 0;) {
    const registration *r = &pinner->all.items[i];
    if (r->state == PIN_FAILED && overlap(r, pointer, bytes)) forget(pinner, r->number);
  }
}

static tsr_status post(tsr_pinner *pinner, const registration *wanted) {
  TSR_TRY(check_others(pinner, wanted->begin, wanted->bytes));
  TSR_TRY(start(pinner));
  if (!TSR_VEC_RESERVE(&pinner->all, 1))
    return tsr_fail(TSR_ERR_MEMORY, "no host memory to note a registration");
  forget_failed(pinner, wanted->begin, wanted->bytes);
  uint64_t number = atomic_load(&pinner->posted) + 1;
  pinner->all.items[pinner->all.count] = *wanted;
  pinner->all.items[pinner->all.count++].number = number;
  atomic_store(&pinner->posted, number);
  if (pinner->engine == NULL) complete(pinner, number, TSR_OK);
  pthread_cond_signal(&pinner->work);
  return TSR_OK;
}

/* Asks the engine without holding the lock, because a driver may answer slowly while it pins; the
 * registrations are therefore checked before and after. */
tsr_status tsr_pinner_add(tsr_pinner *pinner, void *pointer, size_t bytes) {
  registration wanted = {.begin = pointer, .bytes = bytes};
  TSR_TRY(check_range(pointer, bytes));
  pthread_mutex_lock(&pinner->lock);
  tsr_status status = check_others(pinner, pointer, bytes);
  pthread_mutex_unlock(&pinner->lock);
  TSR_TRY(status);
  TSR_TRY(check_engine(pinner, pointer, bytes));
  pthread_mutex_lock(&pinner->lock);
  status = post(pinner, &wanted);
  pthread_mutex_unlock(&pinner->lock);
  return status;
}

/* ---- Unregistering ---- */

/* Waits until the registration at pointer is carried out, copies it to *was and marks it
 * PIN_UNPINNING. The caller holds the lock. */
static tsr_status take(tsr_pinner *pinner, const void *pointer, registration *was) {
  registration *r;
  while ((r = find_pointer(pinner, pointer)) != NULL && r->state == PIN_PENDING)
    pthread_cond_wait(&pinner->done, &pinner->lock);
  if (r == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "pointer is %p, where no registered memory begins; give the address that was "
                    "registered with this context",
                    pointer);
  *was = *r;
  r->state = PIN_UNPINNING;
  return TSR_OK;
}

tsr_status tsr_pinner_remove(tsr_pinner *pinner, void *pointer) {
  registration was = {.number = 0};
  pthread_mutex_lock(&pinner->lock);
  tsr_status status = take(pinner, pointer, &was);
  pthread_mutex_unlock(&pinner->lock);
  TSR_TRY(status);
  if (pinner->engine != NULL && was.state == PIN_PINNED)
    status = pinner->engine->pin(pinner->state, was.begin, was.bytes, false);
  pthread_mutex_lock(&pinner->lock);
  forget(pinner, was.number);
  pthread_mutex_unlock(&pinner->lock);
  return status;
}

/* ---- Asking and waiting ---- */

/* Whether all registrations are carried out. Takes no lock, so that calls of programs that register
 * nothing cost little. */
static bool idle(tsr_pinner *pinner) {
  return atomic_load(&pinner->completed) == atomic_load(&pinner->posted);
}

/* The number and *place of the last registration that is not carried out yet and overlaps the
 * bytes; 0: none. */
static uint64_t find_pending(tsr_pinner *pinner, const char *begin, size_t bytes,
                             tsr_place *place) {
  uint64_t number = 0;
  if (idle(pinner)) return 0;
  pthread_mutex_lock(&pinner->lock);
  for (size_t i = 0; i < pinner->all.count; i++) {
    const registration *r = &pinner->all.items[i];
    if (r->state != PIN_PENDING || !overlap(r, begin, bytes)) continue;
    number = r->number;
    *place = (tsr_place){TSR_PINNED, TSR_HOST, r->begin, r->bytes};
  }
  pthread_mutex_unlock(&pinner->lock);
  return number;
}

tsr_status tsr_pinner_where(tsr_pinner *pinner, const void *pointer, tsr_place *place) {
  tsr_place pinned;
  if (find_pending(pinner, pointer, 1, &pinned) == 0)
    return pinner->engine->where(pinner->state, pointer, place);
  *place = pinned;
  return TSR_OK;
}

int tsr_pinner_node(const tsr_pinner *pinner, const void *memory, size_t bytes) {
  const tsr_near *near = pinner->near;
  return near != NULL && near->places ? tsr_near_where(near, memory, bytes) : 0;
}

uint64_t tsr_pinner_touching(tsr_pinner *pinner, const void *begin, size_t bytes) {
  tsr_place pinned;
  return begin != NULL && bytes > 0 ? find_pending(pinner, begin, bytes, &pinned) : 0;
}

bool tsr_pinner_is_done(tsr_pinner *pinner, uint64_t number) {
  return atomic_load(&pinner->completed) >= number;
}

void tsr_pinner_await(tsr_pinner *pinner, uint64_t number) {
  if (number == 0 || atomic_load(&pinner->completed) >= number) return;
  pthread_mutex_lock(&pinner->lock);
  while (atomic_load(&pinner->completed) < number) pthread_cond_wait(&pinner->done, &pinner->lock);
  pthread_mutex_unlock(&pinner->lock);
}

tsr_status tsr_pinner_settle(tsr_pinner *pinner) {
  tsr_pinner_await(pinner, atomic_load(&pinner->posted));
  pthread_mutex_lock(&pinner->lock);
  tsr_error error = pinner->first;
  pinner->first.status = TSR_OK;
  pthread_mutex_unlock(&pinner->lock);
  return error.status == TSR_OK ? TSR_OK : tsr_error_put(&error);
}
