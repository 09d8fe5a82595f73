/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Contexts: made, asked, told and ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/context.h"
#include "run/inside.h"
#include "world.h"

/* ---- Making ------------------------------------------------------------------------- */

static tsr_status create(world *w, const tsr_options *options) {
  return CALLED(tsr_context_create)(options, &w->context);
}

static tsr_status context_create(void *w) {
  tsr_options options = world_options("");
  return create(w, &options);
}

static tsr_status context_create_for_all(void *w) {
  tsr_options options = world_options("");
  options.machine = TESSERA_MACHINE_FILE;
  options.budgets = "1M,2M";
  return create(w, &options);
}

static tsr_status context_create_emulated(void *w) {
  tsr_options options = world_options("");
  options.machine = NULL;
  return create(w, &options);
}

static tsr_status context_create_cpu(void *w) {
  tsr_options options = world_options(SETUP_CPU);
  return create(w, &options);
}

static void check_created(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((w->context != NULL) == (o->status == TSR_OK));
}

/* ---- Asking --------------------------------------------------------------------------- */

static tsr_status texts(void *world_) {
  world *w = world_;
  w->count = strcmp(CALLED(tsr_status_name)(TSR_OK), "TSR_OK") == 0;
  w->count &= CALLED(tsr_message)() != NULL && CALLED(tsr_version)()[0] != '\0';
  w->count &= CALLED(tsr_version_number)() == TSR_VERSION_NUMBER;
  w->count &= strcmp(CALLED(tsr_operation_name)(TSR_TRSM), "trsm") == 0;
  w->count &= CALLED(tsr_settings)()->name != NULL;
  static const char *const words[] = {"gemm", NULL};
  char name[TSR_SETTING_NAME];
  w->count &= CALLED(tsr_setting_unknown)(1000, name, sizeof name, NULL) == 0;
  w->count &= CALLED(tsr_word_nearest)("gem", words) == words[0];
  return TSR_OK;
}

static tsr_status settings_error(void *unused) {
  (void)unused;
  return CALLED(tsr_settings_error)() == NULL ? TSR_OK : TSR_ERR_MEMORY;
}

static tsr_status blas_describe(void *unused) {
  (void)unused;
  tsr_blas_facts facts;
  return CALLED(tsr_blas_describe)(&facts);
}

static tsr_status engine_describe(void *unused) {
  (void)unused;
  tsr_engine_facts facts;
  return CALLED(tsr_engine_describe)("host", &facts);
}

static tsr_status devices_describe(void *unused) {
  (void)unused;
  tsr_devices_facts facts;
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.engine = "host";
  options.machine = "gpu*2";
  return CALLED(tsr_devices_describe)(&options, &facts);
}

static tsr_status topology_describe(void *unused) {
  (void)unused;
  tsr_topology_facts facts;
  tsr_process_limits limits;
  CALLED(tsr_process_limits_describe)(&limits);
  (void)CALLED(tsr_memory_interleave)();
  return CALLED(tsr_topology_describe)("host", &facts);
}

static tsr_status kept_describe(void *unused) {
  (void)unused;
  char name[64];
  tsr_kept_facts facts;
  (void)CALLED(tsr_machine_installed)(1000, name, sizeof name);
  return CALLED(tsr_kept_describe)("none", &facts);
}

static tsr_status questions(void *world_) {
  world *w = world_;
  tsr_context_facts facts;
  tsr_traffic traffic;
  size_t bytes = 0;
  int number = 0;
  tsr_home home;
  double rate = 0;
  w->count = CALLED(tsr_device_count)(w->context) == 2;
  w->count &= CALLED(tsr_context_describe)(w->context, &facts) == TSR_OK && facts.devices == 2;
  w->count &=
      CALLED(tsr_copy_rate)(w->context, TSR_HOST, 0, 4096, 8192, &rate) == TSR_OK && rate > 0;
  w->count &= CALLED(tsr_context_traffic)(w->context, &traffic) == TSR_OK;
  w->count &= CALLED(tsr_device_traffic)(w->context, 0, &traffic) == TSR_OK;
  w->count &= CALLED(tsr_device_energy)(w->context, 0, &rate) == TSR_ERR_UNSUPPORTED;
  w->count &= CALLED(tsr_get_budget)(w->context, 0, &bytes) == TSR_OK && bytes > 0;
  w->count &= CALLED(tsr_device_number)(w->context, 1, &number) == TSR_OK && number == 1;
  w->count &= CALLED(tsr_home_find)(w->context, w->matrix[A], 8, &home) == TSR_OK;
  return TSR_OK;
}

/* What needs no memory is answered. */
static void check_answered(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD(w->count == 1);
  HOLD(!o->failed);
}

static tsr_status events(void *world_) {
  world *w = world_;
  tsr_event first, last;
  int before = -1, between = -1, complete = -1;
  w->count = CALLED(tsr_event_record)(w->context, &first) == TSR_OK;
  tsr_status status = world_multiply_async(w);
  w->count &= CALLED(tsr_event_record)(w->context, &last) == TSR_OK;
  w->count &= CALLED(tsr_event_query)(w->context, &first, &before) == TSR_OK && before == 1;
  w->count &= CALLED(tsr_event_query_between)(w->context, &first, &last, &between) == TSR_OK;
  w->count &= CALLED(tsr_event_wait)(w->context, &last) == TSR_OK;
  w->count &= tsr_event_query(w->context, &last, &complete) == TSR_OK && complete == 1;
  w->count &= between >= 0 && last.number == first.number + (status == TSR_OK);
  return status;
}

static void check_events(void *world_, const sweep_outcome *o) {
  world *w = world_;
  (void)o;
  HOLD(w->count == 1);
  HOLD(world_inputs_kept(w));
}

/* ---- Telling ---------------------------------------------------------------------------- */

static const double one = 1;

static void after_product(void *world_) {
  world *w = world_;
  world_expect(w, &world_product, &one, &one);
  HOLD(world_multiply_async(w) == TSR_OK);
}

static tsr_status context_destroy(void *world_) {
  world *w = world_;
  CALLED(tsr_context_destroy)(w->context);
  w->context = NULL;
  return TSR_OK;
}

static void check_destroyed(void *world_, const sweep_outcome *o) {
  (void)o;
  HOLD(world_inputs_kept(world_));
}

static tsr_status sync_(void *world_) {
  world *w = world_;
  return CALLED(tsr_sync)(w->context);
}

static tsr_status trim(void *world_) {
  world *w = world_;
  return CALLED(tsr_trim)(w->context);
}

static tsr_status set_tile(void *world_) {
  world *w = world_;
  return CALLED(tsr_set_tile)(w->context, 8);
}

static tsr_status set_arithmetic(void *world_) {
  world *w = world_;
  return CALLED(tsr_set_arithmetic)(w->context, "emulated");
}

static tsr_status set_strategy(void *world_) {
  world *w = world_;
  return CALLED(tsr_set_strategy)(w->context, "any/tile=8");
}

static tsr_status set_budget(void *world_) {
  world *w = world_;
  return CALLED(tsr_set_budget)(w->context, 0, 1 << 20);
}

/* The budget is what it was where the call was refused. */
static void check_budget(void *world_, const sweep_outcome *o) {
  world *w = world_;
  size_t bytes = 0;
  HOLD(tsr_get_budget(w->context, 0, &bytes) == TSR_OK);
  HOLD((bytes == 1 << 20) == (o->status == TSR_OK));
  if (o->dead || o->status == TSR_ERR_DEVICE || o->synced != TSR_OK) return;
  if (o->status != TSR_OK) HOLD(set_budget(w) == TSR_OK);
  HOLD(world_inputs_kept(w));
  world_comes_right(w, TSR_D);
}

/* C is a result after the call, whatever it said. */
static void check_result(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead || o->status == TSR_ERR_DEVICE || o->synced != TSR_OK) return;
  HOLD(world_inputs_kept(w));
  world_comes_right(w, TSR_D);
}

static void note_progress(void *user, double fraction, const char *what) {
  HOLD(what != NULL && fraction >= 0 && fraction <= 1);
  ++*(int *)user;
}

static tsr_status set_progress(void *world_) {
  world *w = world_;
  w->count = CALLED(tsr_set_progress)(w->context, note_progress, &w->count) == TSR_OK ? 0 : -1;
  return world_multiply_async(w);
}

static void check_progress(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD(o->failed || w->count > 0);
  HOLD(tsr_set_progress(w->context, NULL, NULL) == TSR_OK);
}

/* Another stream is tied already, which a refused call leaves. */
static void tied(void *world_) {
  world *w = world_;
  world_expect(w, &world_product, &one, &one);
  HOLD(tsr_set_stream(w->context, 0, &w->number) == TSR_OK);
}

static tsr_status set_stream(void *world_) {
  world *w = world_;
  return CALLED(tsr_set_stream)(w->context, 0, &w->count);
}

/* Calls wait for what is on the stream. */
static tsr_status multiply_tied(void *world_) {
  return world_multiply_async(world_);
}

static void check_stream(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD(w->context->calls.runner->side[0].user != NULL);
  HOLD(tsr_set_stream(w->context, 0, NULL) == TSR_OK);
  if (o->dead || o->status == TSR_ERR_DEVICE || o->synced != TSR_OK) return;
  HOLD(world_inputs_kept(w));
  if (o->status != TSR_OK) HOLD(world_kept(w));
  if (o->status != TSR_OK || w->visit->call == set_stream) HOLD(world_multiply_async(w) == TSR_OK);
  world_comes_right(w, TSR_D);
}

static tsr_status machine_probe(void *world_) {
  world *w = world_;
  return CALLED(tsr_machine_probe)(w->context, NULL, NULL);
}

#define VISIT(before, call, after) \
  { #call, NULL, before, call, after, 0, false, "" }
#define BARE(call) \
  { #call, NULL, NULL, call, check_created, 0, true, "" }

const sweep_visit context_visits[] = {
    BARE(context_create),
    BARE(context_create_for_all),
    BARE(context_create_emulated),
    {"context_create_cpu", NULL, NULL, context_create_cpu, check_created, 0, true, ""},
    VISIT(after_product, context_destroy, check_destroyed),
    VISIT(NULL, texts, check_answered),
    VISIT(NULL, settings_error, NULL),
    VISIT(NULL, blas_describe, NULL),
    VISIT(NULL, engine_describe, NULL),
    VISIT(NULL, devices_describe, NULL),
    VISIT(NULL, topology_describe, NULL),
    VISIT(NULL, kept_describe, NULL),
    VISIT(NULL, questions, check_answered),
    VISIT(NULL, events, check_events),
    {"sync", NULL, after_product, sync_, check_result, 0, false, ""},
    {"sync with a timeline", NULL, after_product, sync_, check_result, 0, false, SETUP_TRACE},
    VISIT(after_product, trim, check_result),
    VISIT(after_product, set_strategy, check_result),
    VISIT(after_product, set_arithmetic, check_result),
    VISIT(after_product, set_tile, check_result),
    VISIT(after_product, set_budget, check_budget),
    VISIT(NULL, set_progress, check_progress),
    VISIT(tied, set_stream, check_stream),
    VISIT(tied, multiply_tied, check_stream),
    {"machine_probe", NULL, after_product, machine_probe, check_result, 2, false, ""},
    {"machine_probe of the CPU", NULL, NULL, machine_probe, NULL, 0, false, SETUP_CPU},
    {0},
};
