/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Solvers: by name and as data, blocking and asynchronous. Triangles are of small whole numbers
 * with powers of two on the diagonal, so that all results have the same bits in any order of the
 * sums. A call that fails may have written some of C: it is right when made again from what C was.
 */
#include <string.h>

#include "world.h"

/* Few columns: the inverses of A's diagonal grow with the order. */
static double triangle_at(int i, int j) {
  return i == j ? 1 << i % 2 : i == j + 1 ? (i + j) % 3 - 1 : 0;
}

static void fill_triangle(double *x) {
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) x[i + j * N] = i >= j ? triangle_at(i, j) : 7;
}

/* C = L L^T X, or C = L X; it is to become X, which it was. A is L. */
static void expect_solution(world *w, bool definite) {
  double *c = w->was[C], *x = w->expected;
  fill_triangle(w->was[A]);
  memcpy(x, c, sizeof(double) * N * N);
  for (int pass = 0; pass < 1 + definite; pass++)
    for (int j = 0; j < N; j++) {
      double column[N];
      for (int i = 0; i < N; i++) {
        bool turned = definite && pass == 0;
        column[i] = 0;
        for (int k = 0; k < N; k++) {
          double l = turned ? (k >= i ? triangle_at(k, i) : 0) : (i >= k ? triangle_at(i, k) : 0);
          column[i] += l * c[k + j * N];
        }
      }
      memcpy(c + j * N, column, sizeof column);
    }
  w->info = -1;
  world_reset(w);
}

static void expect_of_factor(void *w) {
  expect_solution(w, true);
}

static void expect_of_triangle(void *w) {
  expect_solution(w, false);
}

/* The inverse of L is to take its place; and then inv(L)^T inv(L). */
static void expect_inverse_of(world *w, bool definite) {
  double *x = w->expected, inverse[N][N] = {{0}};
  fill_triangle(w->was[C]);
  memcpy(x, w->was[C], sizeof(double) * N * N);
  for (int j = 0; j < N; j++)
    for (int i = j; i < N; i++) {
      double sum = i == j;
      for (int k = j; k < i; k++) sum -= triangle_at(i, k) * inverse[k][j];
      inverse[i][j] = sum / triangle_at(i, i);
    }
  for (int j = 0; j < N; j++)
    for (int i = j; i < N; i++) {
      double sum = definite ? 0 : inverse[i][j];
      for (int k = i; k < N && definite; k++) sum += inverse[k][i] * inverse[k][j];
      x[i + j * N] = sum;
    }
  w->info = -1;
  world_reset(w);
}

static void expect_inverse(void *w) {
  expect_inverse_of(w, false);
}

static void expect_square(void *w) {
  expect_inverse_of(w, true);
}

/* ---- Calls ---------------------------------------------------------------------- */

#define NAMED(name, called, ...)                                                     \
  static tsr_status name(void *world_) {                                             \
    world *w = world_;                                                               \
    return CALLED(called)(w->context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, __VA_ARGS__); \
  }

NAMED(potrs, tsr_potrs, N, N, w->matrix[A], N, w->matrix[C], N)
NAMED(potrs_async, tsr_potrs_async, N, N, w->matrix[A], N, w->matrix[C], N)
NAMED(trtrs, tsr_trtrs, TSR_NO_TRANS, TSR_NON_UNIT, N, N, w->matrix[A], N, w->matrix[C], N,
      &w->info)
NAMED(trtrs_async, tsr_trtrs_async, TSR_NO_TRANS, TSR_NON_UNIT, N, N, w->matrix[A], N, w->matrix[C],
      N, &w->info)
NAMED(potri, tsr_potri, N, w->matrix[C], N, &w->info)
NAMED(potri_async, tsr_potri_async, N, w->matrix[C], N, &w->info)
NAMED(trtri, tsr_trtri, TSR_NON_UNIT, N, w->matrix[C], N, &w->info)
NAMED(trtri_async, tsr_trtri_async, TSR_NON_UNIT, N, w->matrix[C], N, &w->info)
NAMED(pocon, tsr_pocon, N, w->matrix[A], N, 1, &w->number)

static tsr_solve request(world *w) {
  return (tsr_solve){.routine = TSR_POTRS,
                     .type = TSR_D,
                     .layout = TSR_COL_MAJOR,
                     .uplo = TSR_LOWER,
                     .n = N,
                     .nrhs = N,
                     .lda = N,
                     .ldb = N,
                     .info = &w->info};
}

static tsr_status run(void *world_) {
  world *w = world_;
  tsr_solve what = request(w);
  return CALLED(tsr_solve_run)(w->context, &what, w->matrix[A], w->matrix[C]);
}

static tsr_status run_async(void *world_) {
  world *w = world_;
  tsr_solve what = request(w);
  return CALLED(tsr_solve_run_async)(w->context, &what, w->matrix[A], w->matrix[C]);
}

/* posv: A is L L^T, which L replaces; the system is that of potrs. */
static void expect_system(void *world_) {
  world *w = world_;
  expect_solution(w, true);
  double *a = w->was[A];
  for (int j = 0; j < N; j++)
    for (int i = j; i < N; i++) {
      double sum = 0;
      for (int k = 0; k <= j; k++) sum += triangle_at(i, k) * triangle_at(j, k);
      a[i + j * N] = sum;
    }
  world_reset(w);
}

NAMED(posv, tsr_posv, N, N, w->matrix[A], N, w->matrix[C], N, &w->info)
NAMED(posv_async, tsr_posv_async, N, N, w->matrix[A], N, w->matrix[C], N, &w->info)

/* ---- Checks --------------------------------------------------------------------- */

static bool is(const world *w, const char *name) {
  return strncmp(w->visit->name, name, strlen(name)) == 0;
}

static void check_right(world *w, bool async) {
  if (async)
    world_comes_right(w, TSR_D);
  else
    HOLD(world_holds(w, C, TSR_D, w->expected));
  if (!is(w, "potrs") && !is(w, "solve_run")) HOLD(w->info == 0);
}

/* posv writes its factor to A. A device that fails a plain copy may fail the next one, too. */
static void check_way(world *w, const sweep_outcome *o, bool async) {
  if (o->dead || (w->at_device[A] && o->status == TSR_ERR_DEVICE)) return;
  if (!is(w, "posv")) HOLD(world_inputs_kept(w));
  if (sweep_done(o)) check_right(w, async);
  if (!sweep_refused(o)) return;
  world_reset(w);
  HOLD(w->visit->call(w) == TSR_OK);
  HOLD(tsr_sync(w->context) == TSR_OK);
  check_right(w, async);
}

static void check(void *w, const sweep_outcome *o) {
  check_way(w, o, false);
}

static void check_async(void *w, const sweep_outcome *o) {
  check_way(w, o, true);
}

/* The same number again, whatever has failed between. */
static void check_condition(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead) return;
  HOLD(world_inputs_kept(w));
  double first = w->number;
  if (sweep_done(o)) HOLD(first > 0 && first < 1);
  if (!sweep_refused(o)) return;
  HOLD(w->visit->call(w) == TSR_OK);
  HOLD(w->number > 0 && w->number < 1);
}

#define VISIT(name, expects, call, setup) \
  { name, NULL, expects, call, check, 0, false, setup }
#define ASYNC(name, expects, call, setup) \
  { name, NULL, expects, call, check_async, 0, false, setup }

const sweep_visit solve_visits[] = {
    VISIT("potrs", expect_of_factor, potrs, ""),
    ASYNC("potrs_async", expect_of_factor, potrs_async, ""),
    VISIT("posv", expect_system, posv, ""),
    ASYNC("posv_async", expect_system, posv_async, ""),
    VISIT("trtrs", expect_of_triangle, trtrs, ""),
    ASYNC("trtrs_async", expect_of_triangle, trtrs_async, ""),
    VISIT("potri", expect_square, potri, ""),
    ASYNC("potri_async", expect_square, potri_async, ""),
    VISIT("trtri", expect_inverse, trtri, ""),
    ASYNC("trtri_async", expect_inverse, trtri_async, ""),
    {"pocon", NULL, expect_of_factor, pocon, check_condition, 0, false, ""},
    VISIT("solve_run by the CPU", expect_of_factor, run, SETUP_CPU),
    VISIT("solve_run where little fits", expect_of_factor, run, SETUP_TIGHT),
    VISIT("solve_run, reproducible", expect_of_factor, run, SETUP_EXACT),
    VISIT("solve_run of pinned memory", expect_of_factor, run, SETUP_PINNED),
    VISIT("solve_run of a device's memory", expect_of_factor, run, SETUP_DEVICE),
    VISIT("trtri of a device's memory", expect_inverse, trtri, SETUP_DEVICE),
    ASYNC("solve_run_async", expect_of_factor, run_async, SETUP_TRACE),
    {0},
};
