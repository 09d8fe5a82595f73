/*
 * Checks of a measured case around one of its calls: of a product at sampled entries of C, one in
 * each field of a grid over it; of any operation, if its kind says so, of all of the result on
 * random vectors.
 *
 * Entries of C are put back as they were filled before the call, and compared with sums in long
 * double of A's and B's elements, which are computed again, behind it. Vectors as verify_level3.h
 * has them.
 */
#ifndef TESSERA_BENCH_CHECK_H
#define TESSERA_BENCH_CHECK_H

#include "bench_case.h"
#include "verify_level3.h"

typedef struct bench_sample bench_sample;

/* A check that has begun. Zeroed, it can be ended. */
typedef struct bench_check {
  const bench_case *c;
  bench_sample *samples; /* of a product */
  int count;
  void *copies[3]; /* of operands on devices */
  verify_sums sums;
} bench_check;

/* Right before a call. */
int bench_check_begin(const bench_case *c, bench_check *check);

/* Right behind it. */
int bench_check_compare(bench_check *check, bool *good);

void bench_check_end(bench_check *check);

/* Calls once more, and checks that call. */
int bench_case_check(const bench_case *c, bool *good);

#endif
