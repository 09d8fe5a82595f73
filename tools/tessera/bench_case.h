/*
 * One measured case: random matrices at their homes (a store's), and timed calls.
 */
#ifndef TESSERA_BENCH_CASE_H
#define TESSERA_BENCH_CASE_H

#include "bench_store.h"
#include "operation.h"
#include "peer.h"

/* What a case is made of. */
typedef struct bench_kind {
  tsr_operation operation;
  tsr_type type;
  tsr_side side;
  tsr_uplo uplo;
  tsr_op transa, transb;
  tsr_diag diag;
  scalar alpha, beta;
  home homes[3];
  bool check_all; /* the check looks at all of the result, on random vectors */
  int samples;    /* or at so many entries of C; 0: as bench_check.h says */
  bool no_peer;   /* a peer's call will not come: trmm needs no B for it */
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

/* The matrices are the store's: nothing is to be given back. */
int bench_case_create(const bench_kind *kind, bench_shape shape, bench_store *store,
                      bench_case *result);

/* One call of ours; how long it took. */
int bench_case_run(const bench_case *c, double *seconds);

/* The operation with its extents. */
tsr_level3 bench_describe(const bench_kind *kind, bench_shape shape);

#endif
