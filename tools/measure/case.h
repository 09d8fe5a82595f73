/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A case with its random matrices (from a store), its calls and the check of its result. */
#ifndef TESSERA_MEASURE_CASE_H
#define TESSERA_MEASURE_CASE_H

#include "line.h"
#include "peer.h"
#include "store.h"
#include "verify_level3.h"

/* Matrices are column-major with the smallest leading dimension. */
typedef struct bench_case {
  const bench_line *line;
  tsr_context *context;
  matrix_view stored[3]; /* A, B and the written matrix, each at its home */
  scalar_value alpha, beta;
  bench_product product;
  bench_product solve; /* composed case: X = A^-1 B in place of B, before C = C - D X */
  matrix_view triangle;
  tsr_plan *plan;   /* for BENCH_PLAN */
  bench_peer *door; /* for BENCH_DOOR */
} bench_case;

/* Announces the case's matrices to the store; hosts: only those in host memory. The exit code. */
int bench_case_expect(const bench_line *line, bool hosts, bench_store *store);

/* Creates the case; its matrices stay the store's. Destroy it also if this fails. The exit code. */
int bench_case_create(const bench_line *line, bench_store *store, bench_case *result);
void bench_case_destroy(bench_case *c);

/* Makes the plan of the case's call from its homes, without matrices; the exit code. */
int bench_case_plan(const bench_line *line, tsr_context *context, tsr_plan **plan);

/* Forces the case's knobs. To be called before Tessera's calls of this case if calls of another
 * case came between. The exit code. */
int bench_case_turn_to(const bench_case *c);

/* Makes one call of Tessera and waits until it is complete; the exit code. *returned: s until an
 * asynchronous call returned, 0 for others. */
int bench_case_call(const bench_case *c, double *returned);

/* Turns to the case and makes one call; *seconds: s until it was complete. The exit code. */
int bench_case_run(const bench_case *c, double *seconds);

/* ---- Checking: check.c ---- */

/* A check under way. A zeroed one may be ended. */
typedef struct bench_check {
  const bench_case *c;
  struct bench_sample *samples; /* for a product: the checked entries of C */
  int count;
  void *copies[3]; /* of operands on devices, in host memory; or NULL */
  verify_sums sums, solved;
} bench_check;

/* Check one call: begin before it, compare after it. For gemm, entries of C are checked, one in
 * each field of a grid over C: begin resets them to their first values, compare computes each from
 * the random elements of A and B in long double. For other operations the whole result is checked
 * with random vectors (verify_level3.h). *good: the result is right. The exit codes. */
int bench_check_begin(const bench_case *c, bench_check *check);
int bench_check_compare(bench_check *check, bool *good);
void bench_check_end(bench_check *check);

/* A number of 64 bits that depends on each bit of the data and its place: digest.c. */
uint64_t bench_digest(const void *data, size_t bytes);

/* *digest: bench_digest of the written matrix; the exit code. */
int bench_check_digest(const bench_case *c, uint64_t *digest);

#endif
