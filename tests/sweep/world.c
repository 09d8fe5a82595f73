/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "world.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/context.h"

static const char two_devices[] = "host:200 gpu*2@nvswitch:300 pcie:25/pair rate:19";
static const char *common = ""; /* words that all visits add */

const tsr_level3 world_product = {TSR_GEMM,
                                  TSR_D,
                                  TSR_COL_MAJOR,
                                  TSR_LEFT,
                                  TSR_GENERAL,
                                  TSR_NO_TRANS,
                                  TSR_NO_TRANS,
                                  TSR_NON_UNIT,
                                  N,
                                  N,
                                  N,
                                  N,
                                  N,
                                  N};

static bool has(const char *setup, const char *word) {
  return setup != NULL && strstr(setup, word) != NULL;
}

/* ---- Contents ---------------------------------------------------------------- */

/* -1, 0, 1 or 2, of which most are 0: triangular systems keep small solutions. */
static int number_at(int i, int seed) {
  static const int numbers[] = {0, 1, 0, 0, -1, 0, 0, 0, 2, 0, 0};
  return numbers[(i * 7 + i / N * 3 + seed * 5) % 11];
}

static uint16_t half_of(tsr_type type, int number) {
  static const uint16_t fp16[] = {0xbc00, 0, 0x3c00, 0x4000}, bf16[] = {0xbf80, 0, 0x3f80, 0x4000};
  return (type == TSR_H ? fp16 : bf16)[number + 1];
}

/* Bytes of a real number of the type. */
static size_t real_size(tsr_type type) {
  if (type == TSR_D || type == TSR_Z) return sizeof(double);
  return type == TSR_H || type == TSR_B ? sizeof(uint16_t) : sizeof(float);
}

void world_fill(tsr_type type, void *matrix, int seed) {
  size_t size = real_size(type);
  for (int i = 0; i < (int)(BYTES / size); i++) {
    int number = number_at(i, seed);
    double wide = number;
    float single = (float)number;
    uint16_t half = half_of(type, number);
    const void *from = size == sizeof wide   ? (void *)&wide
                       : size == sizeof half ? (void *)&half
                                             : (void *)&single;
    memcpy((char *)matrix + (size_t)i * size, from, size);
  }
}

/* Zeros of either sign are the same. */
bool world_same(tsr_type type, const void *x, const void *y, size_t bytes) {
  static const unsigned char zero[sizeof(double)];
  size_t size = real_size(type);
  for (size_t at = 0; at < bytes; at += size) {
    unsigned char one[sizeof zero], other[sizeof zero];
    memcpy(one, (const char *)x + at, size);
    memcpy(other, (const char *)y + at, size);
    if (memcmp(one, other, size) == 0) continue;
    one[size - 1] &= 0x7f, other[size - 1] &= 0x7f;
    if (memcmp(one, zero, size) != 0 || memcmp(other, zero, size) != 0) return false;
  }
  return true;
}

bool world_holds(world *w, int matrix, tsr_type type, const void *values) {
  if (!w->at_device[matrix]) return world_same(type, w->matrix[matrix], values, BYTES);
  void *copy = malloc(BYTES);
  bool same = copy != NULL && tsr_memcpy(w->context, copy, w->matrix[matrix], BYTES) == TSR_OK &&
              world_same(type, copy, values, BYTES);
  free(copy);
  return same;
}

bool world_inputs_kept(world *w) {
  return world_holds(w, A, TSR_Z, w->was[A]) && world_holds(w, B, TSR_Z, w->was[B]);
}

bool world_kept(world *w) {
  return world_inputs_kept(w) && world_holds(w, C, TSR_Z, w->was[C]);
}

/* ---- Making and ending ------------------------------------------------------- */

tsr_options world_options(const char *setup) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  bool cpu = has(setup, SETUP_CPU);
  options.engine = cpu ? "cpu" : "host";
  options.devices = cpu ? NULL : "2";
  options.machine = cpu ? NULL : two_devices;
  options.check = !has(common, SETUP_UNCHECKED);
  options.reproducible = has(setup, SETUP_EXACT);
  if (has(setup, SETUP_TIGHT)) options.memory = 9 * TILE * TILE * sizeof(double);
  if (has(setup, SETUP_SOME)) options.memory = 5 * COUNT * sizeof(double) / 2;
  return options;
}

static void ignore_progress(void *user, double fraction, const char *what) {
  (void)user, (void)fraction, (void)what;
}

static void *get_matrix(const world *w, int matrix) {
  void *made = NULL;
  if (!w->pinned && !w->at_device[matrix]) return malloc(BYTES);
  HOLD(tsr_malloc(w->context, w->pinned ? TSR_HOST : 0, BYTES, &made) == TSR_OK);
  return made;
}

static void put(world *w, int matrix, const void *values) {
  if (w->at_device[matrix])
    HOLD(tsr_memcpy(w->context, w->matrix[matrix], values, BYTES) == TSR_OK);
  else
    memcpy(w->matrix[matrix], values, BYTES);
}

static tsr_type type_of(const sweep_visit *v);

static void make_context(world *w, const char *setup) {
  tsr_options options = world_options(setup);
  HOLD(tsr_context_create(&options, &w->context) == TSR_OK);
  HOLD(tsr_set_tile(w->context, TILE) == TSR_OK);
  if (has(setup, SETUP_TRACE)) HOLD(tsr_timeline_begin(w->context) == TSR_OK);
  if (has(setup, SETUP_PROGRESS))
    HOLD(tsr_set_progress(w->context, ignore_progress, NULL) == TSR_OK);
}

static void *open_world(const sweep_visit *v, const char *setup) {
  world *w = calloc(1, sizeof *w);
  if (w == NULL) abort();
  common = setup;
  w->visit = v;
  w->pinned = has(v->setup, SETUP_PINNED);
  bool mixed = has(v->setup, SETUP_MIXED);
  for (int i = 0; i < MATRICES; i++)
    w->at_device[i] = has(v->setup, SETUP_DEVICE) || (mixed && i != A);
  if (!v->bare) make_context(w, v->setup);
  for (int i = 0; i < MATRICES; i++) {
    w->was[i] = malloc(BYTES);
    w->matrix[i] = get_matrix(w, i);
    if (w->was[i] == NULL || w->matrix[i] == NULL) abort();
    world_fill(type_of(v), w->was[i], i + 1);
    put(w, i, w->was[i]);
  }
  w->expected = malloc(BYTES);
  if (w->expected == NULL) abort();
  memcpy(w->expected, w->was[C], BYTES);
  return w;
}

/* Visits of calls of the level-3 BLAS have the call as their own; all others are about doubles. */
static tsr_type type_of(const sweep_visit *v) {
  return v->what != NULL ? ((const tsr_level3 *)v->what)->type : TSR_D;
}

static tsr_status settle(void *world_) {
  world *w = world_;
  return w->context != NULL ? CALLED(tsr_sync)(w->context) : TSR_OK;
}

enum { M = 24 };

/* y = 2 x x + y, whatever has to be waited for and brought home. */
static tsr_status multiply_small(world *w, const double *x, double *y, bool async) {
  tsr_status status = (async ? tsr_dgemm_async : tsr_dgemm)(
      w->context, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, M, M, M, 2, x, M, x, M, 1, y, M);
  if (status != TSR_OK || !async) return status;
  status = tsr_coherent(w->context, TSR_GENERAL, M, M, y, M, TSR_D);
  tsr_status synced = tsr_sync(w->context);
  tsr_status forgotten = tsr_release(w->context, M, M, x, M, TSR_D);
  if (forgotten == TSR_OK) forgotten = tsr_release(w->context, M, M, y, M, TSR_D);
  return status != TSR_OK ? status : synced != TSR_OK ? synced : forgotten;
}

/* A small product in memory of its own comes out right, whatever has failed before. */
static void check_small(world *w, bool async) {
  double x[M * M], y[M * M];
  for (int i = 0; i < M * M; i++) x[i] = i % (M + 1) == 0, y[i] = i % 7;
  tsr_status status = multiply_small(w, x, y, async);
  if (!HOLD(status == TSR_OK)) return;
  for (int i = 0; i < M * M; i++) HOLD(y[i] == i % 7 + 2 * x[i]);
}

static void check_works(world *w) {
  check_small(w, false);
  check_small(w, true);
}

/* When everything on devices is forgotten no memory of theirs is held. */
static void check_holds_nothing(world *w) {
  HOLD(tsr_release(w->context, 0, 0, NULL, 1, TSR_D) == TSR_OK);
  HOLD(tsr_sync(w->context) == TSR_OK);
  HOLD(tsr_trim(w->context) == TSR_OK);
  HOLD(w->context->directory.store == NULL || tsr_store_held(w->context->directory.store) == 0);
}

static void free_matrices(world *w) {
  for (int i = 0; i < MATRICES; i++) {
    free(w->was[i]);
    if (w->pinned || w->at_device[i])
      tsr_free(w->context, w->matrix[i]);
    else
      free(w->matrix[i]);
  }
  free(w->expected);
}

static void close_world(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (w->context != NULL) {
    /* What results are left may be lost with a device that is left out later. */
    if (o->synced == TSR_ERR_DEVICE) (void)tsr_sync(w->context);
    check_works(w);
    check_holds_nothing(w);
  }
  free(w->text);
  tsr_plan_destroy(w->plan);
  tsr_capture_destroy(w->capture);
  free_matrices(w);
  tsr_context_destroy(w->context);
  free(w);
}

const sweep_rig world_rig = {open_world, settle, close_world};

/* ---- What visits share -------------------------------------------------------- */

void world_reset(world *w) {
  HOLD(tsr_sync(w->context) == TSR_OK);
  HOLD(tsr_release(w->context, 0, 0, NULL, 1, TSR_D) == TSR_OK);
  for (int i = 0; i < MATRICES; i++) put(w, i, w->was[i]);
}

/* The CPU's BLAS, made when it is asked for. */
static tsr_context *judge(void) {
  static tsr_context *made;
  tsr_options options = world_options(SETUP_CPU);
  if (made == NULL && tsr_context_create(&options, &made) != TSR_OK) abort();
  return made;
}

void world_expect(world *w, const tsr_level3 *what, const void *alpha, const void *beta) {
  HOLD(tsr_level3_run(judge(), what, alpha, w->was[A], w->was[B], beta, w->expected) == TSR_OK);
}

tsr_status world_multiply_async(world *w) {
  static const double one = 1;
  return tsr_level3_run_async(w->context, &world_product, &one, w->matrix[A], w->matrix[B], &one,
                              w->matrix[C]);
}

bool world_comes_right(world *w, tsr_type type) {
  return HOLD(tsr_coherent_async(w->context, TSR_GENERAL, N, N, w->matrix[C], N, type) == TSR_OK) &&
         HOLD(tsr_sync(w->context) == TSR_OK) && HOLD(world_holds(w, C, type, w->expected));
}
