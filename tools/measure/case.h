/* A case with its matrices (random ones, a store's) and its calls. */
#ifndef TESSERA_MEASURE_CASE_H
#define TESSERA_MEASURE_CASE_H

#include "line.h"
#include "peer.h"
#include "store.h"
#include "verify_level3.h"

/* Matrices are in column-major storage, as tight as can be. */
typedef struct bench_case {
  const bench_line *line;
  tsr_context *context;
  matrix_view stored[3]; /* A, B and what is written; data: at its home */
  scalar_value alpha, beta;
  bench_product product;
  bench_product solve; /* of a composed case: X = A^-1 B in place of B, before C = C - D X */
  matrix_view triangle;
  tsr_plan *plan;   /* of BENCH_PLAN */
  bench_peer *door; /* of BENCH_DOOR */
} bench_case;

/* Says which matrices will come; hosts: of those in host memory alone. */
int bench_case_expect(const bench_line *line, bool hosts, bench_store *store);

/* Matrices are the store's. To be destroyed, also when it fails. */
int bench_case_create(const bench_line *line, bench_store *store, bench_case *result);
void bench_case_destroy(bench_case *c);

/* The plan of its call, made from words alone. */
int bench_case_plan(const bench_line *line, tsr_context *context, tsr_plan **plan);

/* Before calls of ours, when those of another case came between. */
int bench_case_turn_to(const bench_case *c);

/* One call of ours; of an asynchronous one, how long it took to return, s. */
int bench_case_call(const bench_case *c, double *returned);

/* Both; s until it is complete. */
int bench_case_run(const bench_case *c, double *seconds);

/* ---- Checking: check.c ---- */

/* A check that has begun. Zeroed, it can be ended. */
typedef struct bench_check {
  const bench_case *c;
  struct bench_sample *samples; /* of a product: entries of C */
  int count;
  void *copies[3]; /* of operands on devices */
  verify_sums sums, solved;
} bench_check;

/* Around a call. A product is checked at entries of C, one in each field of a grid over it: they
 * are put back as they were filled, and compared with sums in long double of A's and B's elements,
 * which are computed again. Of another operation all of the result is, on random vectors. */
int bench_check_begin(const bench_case *c, bench_check *check);
int bench_check_compare(bench_check *check, bool *good);
void bench_check_end(bench_check *check);

#endif
