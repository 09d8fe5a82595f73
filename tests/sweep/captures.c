/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Captures: begun, filled, ended, run, moved and printed. */
#include <stdlib.h>
#include <string.h>

#include "front/context.h"
#include "world.h"

static const double one = 1;

/* ---- The calls of a capture ------------------------------------------------------- */

static tsr_status distribute(world *w) {
  return CALLED(tsr_distribute_2d_block_cyclic_async)(w->context, N, N, w->matrix[A], N, TSR_D, 20,
                                                      20, 1, 2);
}

static tsr_status map(world *w) {
  return CALLED(tsr_map_2d_block_cyclic)(w->context, N, N, w->matrix[C], N, TSR_D, 16, 16, 2, 1);
}

static tsr_status multiply(world *w) {
  return CALLED(tsr_gemm_async)(w->context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N,
                                N, &one, w->matrix[A], N, w->matrix[B], N, &one, w->matrix[C], N);
}

static tsr_status bring_home(world *w) {
  return CALLED(tsr_coherent_async)(w->context, TSR_GENERAL, N, N, w->matrix[C], N, TSR_D);
}

static tsr_status forget(world *w) {
  return CALLED(tsr_release)(w->context, N, N, w->matrix[B], N, TSR_D);
}

/* C = A B + C, twice. */
static tsr_status (*const steps[])(world *w) = {distribute, map,      multiply,  bring_home,
                                                forget,     multiply, bring_home};
enum { STEPS = sizeof steps / sizeof *steps };

/* From the step at which w->count is; it stays where a call was refused. */
static tsr_status make_calls(world *w) {
  tsr_status status = TSR_OK;
  for (; w->count < STEPS && status == TSR_OK; w->count += status == TSR_OK)
    status = steps[w->count](w);
  return status;
}

/* ---- Before ------------------------------------------------------------------------ */

static void expect_two(world *w) {
  world_expect(w, &world_product, &one, &one);
  world_expect(w, &world_product, &one, &one);
}

static void before_capture(void *world_) {
  world *w = world_;
  expect_two(w);
}

/* Results are on the devices when a capture begins. */
static void after_product(void *world_) {
  world *w = world_;
  world_expect(w, &world_product, &one, &one);
  HOLD(world_multiply_async(w) == TSR_OK);
}

static void begun(void *world_) {
  world *w = world_;
  expect_two(w);
  HOLD(tsr_capture_begin(w->context) == TSR_OK);
}

static void filled(void *world_) {
  world *w = world_;
  begun(w);
  HOLD(make_calls(w) == TSR_OK);
}

static void captured(void *world_) {
  world *w = world_;
  filled(w);
  HOLD(tsr_capture_end(w->context, &w->capture) == TSR_OK);
  world_reset(w);
}

/* Plans of the context are as new: what the capture keeps is all there is. */
static void captured_alone(void *world_) {
  world *w = world_;
  captured(w);
  tsr_cache_clear(w->context->plans->cache);
}

/* ---- The visits ---------------------------------------------------------------------- */

static void run_and_check(world *w) {
  world_reset(w);
  HOLD(tsr_capture_run_async(w->capture) == TSR_OK);
  HOLD(tsr_sync(w->context) == TSR_OK);
  HOLD(world_holds(w, C, TSR_D, w->expected));
  HOLD(world_inputs_kept(w));
}

static tsr_status capture_begin(void *world_) {
  world *w = world_;
  return CALLED(tsr_capture_begin)(w->context);
}

/* A refused begin has begun nothing, and lost nothing. */
static void check_begun(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((w->context->plans->capturing != NULL) == (o->status == TSR_OK));
  if (o->dead || o->status == TSR_ERR_DEVICE || o->synced != TSR_OK) return;
  HOLD(world_inputs_kept(w));
  world_comes_right(w, TSR_D);
  if (o->status != TSR_OK) HOLD(tsr_capture_begin(w->context) == TSR_OK);
  HOLD(tsr_capture_end(w->context, &w->capture) == TSR_OK);
}

static tsr_status captured_calls(void *world_) {
  return make_calls(world_);
}

/* The calls that were refused are made again, and are in the capture but once; where a step could
 * not be kept the capture says so when it ends. */
static void check_filled(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead || o->synced != TSR_OK || o->status == TSR_ERR_DEVICE) return;
  HOLD(make_calls(w) == TSR_OK);
  HOLD(tsr_sync(w->context) == TSR_OK);
  HOLD(world_holds(w, C, TSR_D, w->expected));
  tsr_status ended = tsr_capture_end(w->context, &w->capture);
  HOLD(w->context->plans->capturing == NULL);
  HOLD((ended == TSR_OK) == (w->capture != NULL));
  HOLD(ended == TSR_OK || (ended == TSR_ERR_MEMORY && o->failed));
  if (ended == TSR_OK) run_and_check(w);
}

static tsr_status capture_end(void *world_) {
  world *w = world_;
  return CALLED(tsr_capture_end)(w->context, &w->capture);
}

static void check_ended(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((w->capture != NULL) == (o->status == TSR_OK));
  HOLD(w->context->plans->capturing == NULL);
  if (o->dead || !sweep_done(o)) return;
  HOLD(world_holds(w, C, TSR_D, w->expected));
  run_and_check(w);
}

static tsr_status capture_run(void *world_) {
  world *w = world_;
  return CALLED(tsr_capture_run_async)(w->capture);
}

/* Of a run that was refused the first calls may have been made: it begins anew. */
static void check_run(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD(w->context->plans->running == NULL);
  if (o->dead) return;
  HOLD(world_inputs_kept(w));
  if (sweep_done(o)) HOLD(world_holds(w, C, TSR_D, w->expected));
  run_and_check(w);
}

static tsr_status capture_move(void *world_) {
  world *w = world_;
  return CALLED(tsr_capture_move)(w->capture, w->matrix[C], BYTES, w->expected);
}

static void check_moved(void *world_, const sweep_outcome *o) {
  world *w = world_;
  void *right = malloc(BYTES);
  if (right == NULL) abort();
  memcpy(right, w->expected, BYTES);
  memcpy(w->expected, w->was[C], BYTES);
  HOLD(o->status == TSR_OK);
  HOLD(tsr_capture_run_async(w->capture) == TSR_OK);
  HOLD(tsr_sync(w->context) == TSR_OK);
  HOLD(world_kept(w));
  HOLD(world_same(TSR_D, w->expected, right, BYTES));
  free(right);
}

static tsr_status print_as(world *w, tsr_format format) {
  return CALLED(tsr_capture_print)(w->capture, format, &w->text);
}

static tsr_status capture_print(void *w) {
  return print_as(w, TSR_TEXT);
}

static tsr_status capture_print_json(void *w) {
  return print_as(w, TSR_JSON);
}

static tsr_status capture_print_commands(void *w) {
  return print_as(w, TSR_COMMANDS);
}

static void check_printed(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((w->text != NULL) == (o->status == TSR_OK));
  run_and_check(w);
}

static tsr_status capture_destroy(void *world_) {
  world *w = world_;
  CALLED(tsr_capture_destroy)(w->capture);
  w->capture = NULL;
  return TSR_OK;
}

#define VISIT(before, call, after) \
  { #call, NULL, before, call, after, 0, false, "" }
#define VISIT_AS(name, before, call, after, setup) \
  { name, NULL, before, call, after, 0, false, setup }

const sweep_visit capture_visits[] = {
    VISIT(after_product, capture_begin, check_begun),
    VISIT(begun, captured_calls, check_filled),
    VISIT_AS("the same calls without a capture", before_capture, captured_calls, NULL, ""),
    VISIT(filled, capture_end, check_ended),
    VISIT(captured, capture_run, check_run),
    VISIT_AS("capture_run without other plans", captured_alone, capture_run, check_run, ""),
    VISIT(captured, capture_move, check_moved),
    VISIT(captured, capture_print, check_printed),
    VISIT(captured, capture_print_json, check_printed),
    VISIT(captured, capture_print_commands, check_printed),
    VISIT(captured, capture_destroy, NULL),
    {0},
};
