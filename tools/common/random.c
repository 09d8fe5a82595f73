/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "random.h"

#include "elements.h"
#include "parallel.h"

enum { BUFFERED = 256, GRAIN = 1 << 18 };

/* The random number of a seed and an index. Source: Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators" (SplitMix64), with the index as its counter. */
static uint64_t mix(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static int bits_of(tsr_type type) {
  switch (type) {
    case TSR_D:
    case TSR_Z:
      return 53;
    case TSR_H:
      return 11;
    case TSR_B:
      return 8;
    default:
      return 24;
  }
}

/* A number in (-0.5, 0.5) with the given number of bits. The lowest bit is always set, so that the
 * range is symmetric and 0 does not occur. */
static double centred(uint64_t seed, uint64_t index, int bits) {
  uint64_t value = mix(seed, index) >> (64 - bits);
  double unit = 1.0 / (double)((uint64_t)1 << bits);
  return ((double)(value | 1)) * unit - 0.5;
}

double random_uniform(uint64_t seed, uint64_t index) {
  return (double)(mix(seed, index) >> 11) * 0x1p-53;
}

void random_element(tsr_type type, uint64_t seed, int64_t index, double *re, double *im) {
  int bits = bits_of(type);
  if (element_is_complex(type)) {
    *re = centred(seed, 2 * (uint64_t)index, bits);
    *im = centred(seed, 2 * (uint64_t)index + 1, bits);
  } else {
    *re = centred(seed, (uint64_t)index, bits);
    *im = 0;
  }
}

typedef struct fill_job {
  tsr_type type;
  uint64_t seed;
  int64_t first;
  void *data;
} fill_job;

static void fill_range(void *user, int64_t begin, int64_t end) {
  const fill_job *job = user;
  double re[BUFFERED], im[BUFFERED];
  while (begin < end) {
    int64_t some = end - begin < BUFFERED ? end - begin : BUFFERED;
    for (int64_t i = 0; i < some; i++) {
      random_element(job->type, job->seed, job->first + begin + i, &re[i], &im[i]);
    }
    element_store(job->type, job->data, begin, some, re, im);
    begin += some;
  }
}

void random_fill(tsr_type type, uint64_t seed, int64_t first, int64_t count, void *data) {
  fill_job job = {type, seed, first, data};
  parallel_for(count, GRAIN, fill_range, &job);
}
