/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Measures staging: threads copy pageable memory into the pinned ring while the devices fetch as
 * many bytes as the threads have copied. Devices that fetched at the full rate of their links would
 * leave the threads less of the host memory's bandwidth than they have in a call. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/system/numa.h"
#include "base/system/process_limits.h"
#include "base/thread.h"
#include "probe/bench.h"

enum { MOST_THREADS = 32 };
static const size_t most_piece = TSR_TUNE_PROBE_RING_PIECE, ring = TSR_TUNE_PROBE_RING;

/* A thread copies its part of the pageable memory, piece by piece, over and over. */
typedef struct stager {
  pthread_t thread;
  char *to;
  const char *from;
  size_t bytes; /* of a piece */
  size_t round; /* bytes of the thread's part */
  const tsr_near *near;
  int node, threads; /* the thread's node, and all threads on it */
  atomic_bool *stop;
  atomic_size_t *copied; /* bytes, by all threads */
} stager;

static void *stage(void *argument) {
  stager *s = argument;
  size_t at = 0;
  (void)tsr_near_bind(s->near, s->node, s->threads);
  do {
    memcpy(s->to, s->from + at, s->bytes);
    atomic_fetch_add(s->copied, s->bytes);
    at = at + 2 * s->bytes <= s->round ? at + s->bytes : 0;
  } while (!atomic_load(s->stop));
  return NULL;
}

static int most_threads(void) {
  int cores = tsr_process_cores();
  int most = cores > 2 ? cores / 2 : 1; /* submitters and the caller need cores too */
  return most < MOST_THREADS ? most : MOST_THREADS;
}

/* For seconds, the devices in turn fetch as many bytes as were copied. They fetch from pinned
 * memory beside the ring, because no thread waits here until its piece is fetched; caches hold that
 * memory as they hold the ring. */
static tsr_status fetch_all(tsr_bench *b, double seconds, const atomic_size_t *copied) {
  double end = tsr_now() + seconds;
  size_t fetched = 0;
  for (int d = 0; tsr_now() < end; d = (d + 1) % b->devices) {
    tsr_stream s;
    while (fetched >= atomic_load(copied) && tsr_now() < end) sched_yield();
    b->node = tsr_bench_near(b, d);
    TSR_TRY(tsr_bench_stream(b, TSR_HOST, d, 8 << 20, &s));
    for (int i = 0; i < 4; i++, fetched += s.copy.width) TSR_TRY(b->engine->copy(s.queue, &s.copy));
    if (d == b->devices - 1) TSR_TRY(tsr_bench_finish(b, d, s.queue, NULL));
  }
  for (int d = 0; d < b->devices; d++) TSR_TRY(tsr_bench_finish(b, d, b->in[d], NULL));
  return TSR_OK;
}

/* Bytes of pageable memory: more than caches hold, except with emulated devices. */
static size_t pageable_bytes(const tsr_bench *b) {
  if (b->options->quick) return b->host_bytes / 2;
  size_t most = (size_t)1 << 30, share = tsr_bench_host_share(1);
  return share < most ? share : most;
}

static void place(const tsr_bench *b, int index, int threads, const char *pageable, size_t bytes,
                  stager *s) {
  int device = index % b->devices, share = (threads + b->devices - 1) / b->devices;
  size_t half = b->host_bytes / 2, part = half / (size_t)share / 64 * 64;
  size_t most = ring / (size_t)threads < most_piece ? ring / (size_t)threads : most_piece;
  s->bytes = part < most ? part : most;
  s->near = b->near;
  s->node = b->nodes > 1 ? tsr_bench_near(b, device) : -1;
  s->threads = share * b->devices / b->nodes;
  s->to =
      b->host[tsr_bench_near(b, device)][device] + half + (size_t)(index / b->devices) * s->bytes;
  s->round = bytes / (size_t)threads / 64 * 64;
  s->from = pageable + (size_t)index * s->round;
  if (s->bytes > s->round) s->bytes = s->round;
}

static tsr_status measure(tsr_bench *b, int threads, const char *pageable, size_t bytes,
                          double seconds, double *rate) {
  stager stagers[MOST_THREADS] = {{0}};
  atomic_bool stop = false;
  atomic_size_t copied = 0;
  int started = 0;
  double start = tsr_now();
  for (; started < threads; started++) {
    place(b, started, threads, pageable, bytes, &stagers[started]);
    stagers[started].stop = &stop;
    stagers[started].copied = &copied;
    if (!tsr_thread_start(stage, &stagers[started], &stagers[started].thread)) break;
  }
  tsr_status status = fetch_all(b, seconds, &copied);
  /* On a busy machine the time may be over before a thread has had a core. A rate of 0 would mean
   * that staging is impossible, and no plan could be made. */
  while (started > 0 && atomic_load(&copied) == 0) sched_yield();
  atomic_store(&stop, true);
  double took = tsr_now() - start, all = (double)atomic_load(&copied);
  for (int i = 0; i < started; i++) pthread_join(stagers[i].thread, NULL);
  *rate = all / took;
  return started > 0 ? status : tsr_fail(TSR_ERR_MEMORY, "cannot start a thread");
}

/* Doubles the number of threads as long as that raises the rate by PROBE_MORE_THREADS. */
static tsr_status measure_threads(tsr_bench *b, const char *pageable, size_t bytes) {
  double seconds = b->options->quick ? 3e-3 : TSR_TUNE_PROBE_STAGING_TIME;
  int most = most_threads();
  for (int threads = 1; threads <= most; threads *= 2) {
    double rate;
    TSR_TRY(measure(b, threads, pageable, bytes, seconds, &rate));
    if (threads == 1) b->machine->thread_rate = rate;
    if (rate < TSR_TUNE_PROBE_MORE_THREADS * b->machine->staging_rate) break;
    b->machine->staging_rate = rate;
    b->machine->staging_threads = threads;
  }
  return TSR_OK;
}

tsr_status tsr_probe_staging(tsr_bench *b) {
  size_t bytes = pageable_bytes(b);
  char *pageable = tsr_alloc(bytes);
  if (pageable == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to measure staging");
  /* The pages are interleaved, as those of a matrix that the threads of a program have filled. */
  if (b->nodes > 1) (void)tsr_numa_take_memory_from(b->near->number, b->nodes);
  memset(pageable, 1, bytes);
  if (b->nodes > 1) (void)tsr_numa_take_memory_from(NULL, 0);
  tsr_status status = measure_threads(b, pageable, bytes);
  tsr_dealloc(pageable);
  return status;
}
