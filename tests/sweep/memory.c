/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory that is fast to copy: taken, given back, copied, registered. */
#include <stdlib.h>
#include <string.h>

#include "front/context.h"
#include "world.h"

static const double one = 1;

/* ---- Taking -------------------------------------------------------------------------- */

static tsr_status malloc_pinned(void *world_) {
  world *w = world_;
  return CALLED(tsr_malloc)(w->context, TSR_HOST, BYTES, &w->pointer);
}

static tsr_status malloc_device(void *world_) {
  world *w = world_;
  return CALLED(tsr_malloc)(w->context, 1, BYTES, &w->pointer);
}

static void check_taken(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((w->pointer != NULL) == (o->status == TSR_OK));
  if (o->status != TSR_OK) HOLD(w->visit->call(w) == TSR_OK);
  HOLD(tsr_memcpy(w->context, w->pointer, w->was[A], BYTES) == TSR_OK);
  tsr_free(w->context, w->pointer);
}

/* ---- Giving back ----------------------------------------------------------------------- */

/* What comes of a product is on the devices, for memory that is given back. */
static void in_use(void *world_) {
  world *w = world_;
  HOLD(malloc_pinned(w) == TSR_OK);
  memcpy(w->pointer, w->was[C], BYTES);
  HOLD(tsr_level3_run_async(w->context, &world_product, &one, w->matrix[A], w->matrix[B], &one,
                            w->pointer) == TSR_OK);
  HOLD(tsr_sync(w->context) == TSR_OK);
  for (int i = 2; i < 16; i += 3) /* which leaves it in splinters */
    HOLD(tsr_invalidate(w->context, 1, 1, (double *)w->pointer + i + i * N, N, TSR_D) == TSR_OK);
}

static tsr_status free_(void *world_) {
  world *w = world_;
  CALLED(tsr_free)(w->context, w->pointer);
  return TSR_OK;
}

/* Memory that is taken later may be at the same place: nothing on devices is of that place. */
static void check_freed(void *world_, const sweep_outcome *o) {
  world *w = world_;
  tsr_region regions[TSR_OPERANDS] = {{w->pointer, N, N, N, sizeof(double)}};
  tsr_found view;
  HOLD(!o->failed);
  if (o->dead || o->synced != TSR_OK) return;
  HOLD(tsr_store_look(w->context->directory.store, regions, NULL, &view) == TSR_OK);
  HOLD(view.seen.blocks.count == 0);
  tsr_found_free(&view);
}

/* ---- Copying ---------------------------------------------------------------------------- */

/* The copy goes to C, where there is something newer on the devices. */
static void after_product(void *world_) {
  world *w = world_;
  world_expect(w, &world_product, &one, &one);
  HOLD(world_multiply_async(w) == TSR_OK);
}

static tsr_status memcpy_to_c(void *world_) {
  world *w = world_;
  return CALLED(tsr_memcpy)(w->context, w->matrix[C], w->matrix[A], BYTES);
}

/* Refused: C is still what the product makes of it. */
static void check_copied(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead || o->synced != TSR_OK || o->status == TSR_ERR_DEVICE) return;
  HOLD(world_inputs_kept(w));
  if (o->status != TSR_OK) world_comes_right(w, TSR_D);
  if (o->status != TSR_OK) HOLD(memcpy_to_c(w) == TSR_OK);
  memcpy(w->expected, w->was[A], BYTES);
  world_comes_right(w, TSR_D);
}

static tsr_status memcpy_from_c(void *world_) {
  world *w = world_;
  return CALLED(tsr_memcpy)(w->context, w->matrix[A], w->matrix[C], BYTES);
}

/* The copy is of the result, wherever that was. */
static void check_result_copied(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead || o->synced != TSR_OK || o->status == TSR_ERR_DEVICE) return;
  if (o->status != TSR_OK) HOLD(world_inputs_kept(w));
  if (o->status != TSR_OK) HOLD(memcpy_from_c(w) == TSR_OK);
  HOLD(world_holds(w, A, TSR_D, w->expected));
  world_comes_right(w, TSR_D);
}

/* ---- Registering ------------------------------------------------------------------------ */

static void expect_product(void *world_) {
  world *w = world_;
  world_expect(w, &world_product, &one, &one);
}

static tsr_status register_(void *world_) {
  world *w = world_;
  return CALLED(tsr_register)(w->context, w->matrix[A], BYTES);
}

static tsr_status register_and_call(void *world_) {
  world *w = world_;
  tsr_status status = CALLED(tsr_register)(w->context, w->matrix[A], BYTES);
  return status == TSR_OK ? world_multiply_async(w) : status;
}

static void registered(void *w) {
  expect_product(w);
  HOLD(register_(w) == TSR_OK);
}

static tsr_status unregister(void *world_) {
  world *w = world_;
  return CALLED(tsr_unregister)(w->context, w->matrix[A]);
}

/* The memory is registered or not, as the call says, and works in either case. */
static void check_registered(void *world_, const sweep_outcome *o) {
  world *w = world_;
  bool leaves = w->visit->call == unregister;
  bool is_there = leaves != (o->status == TSR_OK);
  if (!o->dead) HOLD(world_multiply_async(w) == TSR_OK);
  if (!o->dead) world_comes_right(w, TSR_D);
  HOLD((tsr_unregister(w->context, w->matrix[A]) == TSR_OK) == is_there);
}

/* A call behind a registration does with the memory what it should, pinned or not. */
static void check_coming(void *world_, const sweep_outcome *o) {
  world *w = world_;
  bool noted = tsr_unregister(w->context, w->matrix[A]) == TSR_OK;
  if (o->status == TSR_OK) HOLD(noted);
  if (o->dead || o->status == TSR_ERR_DEVICE || o->synced == TSR_ERR_DEVICE) return;
  HOLD(world_inputs_kept(w));
  if (o->status != TSR_OK) HOLD(world_kept(w));
  if (o->status != TSR_OK) HOLD(world_multiply_async(w) == TSR_OK);
  world_comes_right(w, TSR_D);
}

#define VISIT(name, before, call, after) \
  { name, NULL, before, call, after, 0, false, "" }
#define BY_CPU(name, before, call, after) \
  { name, NULL, before, call, after, 0, false, SETUP_CPU }

const sweep_visit memory_visits[] = {
    VISIT("malloc of pinned memory", NULL, malloc_pinned, check_taken),
    VISIT("malloc on a device", NULL, malloc_device, check_taken),
    BY_CPU("malloc without devices", NULL, malloc_pinned, check_taken),
    VISIT("free", in_use, free_, check_freed),
    VISIT("memcpy to a result", after_product, memcpy_to_c, check_copied),
    VISIT("memcpy from a result", after_product, memcpy_from_c, check_result_copied),
    {"memcpy on a device", NULL, after_product, memcpy_to_c, check_copied, 0, false, SETUP_DEVICE},
    VISIT("register", expect_product, register_, check_registered),
    VISIT("register, and a call", expect_product, register_and_call, check_coming),
    VISIT("unregister", registered, unregister, check_registered),
    BY_CPU("register without devices", expect_product, register_, check_registered),
    {0},
};
