/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdatomic.h>
#include <string.h>

#include "case.h"
#include "parallel.h"

enum { GRAIN = 1 << 16 };

/* The finalizer of SplitMix64 (Steele, Lea and Flood, 2014), which changes half of the bits when
 * one bit of its argument changes. */
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

typedef struct digest_job {
  const char *data;
  size_t bytes;
  atomic_uint_fast64_t sum;
} digest_job;

/* Adds words [begin, end), each mixed with its place. Their sum does not depend on the threads. */
static void add_words(void *user, int64_t begin, int64_t end) {
  digest_job *job = user;
  uint64_t sum = 0;
  for (int64_t i = begin; i < end; i++) {
    size_t at = (size_t)i * 8, left = job->bytes - at;
    uint64_t word = 0;
    memcpy(&word, job->data + at, left < 8 ? left : 8);
    sum += mix(word ^ mix((uint64_t)i + 1));
  }
  atomic_fetch_add(&job->sum, sum);
}

uint64_t bench_digest(const void *data, size_t bytes) {
  digest_job job = {.data = data, .bytes = bytes};
  atomic_init(&job.sum, 0);
  parallel_for((int64_t)((bytes + 7) / 8), GRAIN, add_words, &job);
  return atomic_load(&job.sum);
}
