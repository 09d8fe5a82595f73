/*
 * One measured case: random matrices at their homes, timed calls, and a check of the result by
 * sampled entries.
 */
#ifndef TESSERA_BENCH_CASE_H
#define TESSERA_BENCH_CASE_H

#include "elements.h"
#include "peer.h"
#include "settings.h"

typedef struct bench_shape {
  int64_t m, n, k;
} bench_shape;

/* What a case is made of. */
typedef struct bench_kind {
  tsr_type type;
  tsr_op transa, transb;
  scalar alpha, beta;
  home homes[3];
} bench_kind;

/* Matrices of a case, in column-major storage, as tight as can be. */
typedef struct bench_case {
  const bench_kind *kind;
  bench_shape shape;
  tsr_context *context;
  matrix_view stored[3]; /* data: at its home */
  scalar_value alpha, beta;
  bench_product product;
} bench_case;

/* Allocates and fills. */
int bench_case_create(const bench_kind *kind, bench_shape shape, tsr_context *context,
                      bench_case *result);
void bench_case_destroy(bench_case *c);

/* One call of ours; how long it took. */
int bench_case_run(const bench_case *c, double *seconds);

/* Fills C again, multiplies once more, and compares random entries with sums in long double. */
int bench_case_check(bench_case *c, bool *good);

#endif
