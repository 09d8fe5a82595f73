/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans as objects, and what is predicted, printed and drawn. */
#include <stdlib.h>
#include <string.h>

#include "tessera_papers.h"
#include "world.h"

static const double one = 1;
static const tsr_home pageable[3] = {{TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}};

/* ---- Making ----------------------------------------------------------------------- */

static tsr_status plan_gemm(void *world_) {
  world *w = world_;
  return CALLED(tsr_plan_gemm)(w->context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N,
                               N, &one, N, N, &one, N, pageable, &w->plan);
}

static tsr_status plan_level3(void *world_) {
  world *w = world_;
  tsr_level3 what = world_product;
  what.operation = TSR_SYRK;
  what.uplo = TSR_LOWER;
  return CALLED(tsr_plan_level3)(w->context, &what, &one, &one, pageable, &w->plan);
}

static void check_made(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((w->plan != NULL) == (o->status == TSR_OK));
  HOLD(world_kept(w));
  if (o->status != TSR_OK) HOLD(w->visit->call(w) == TSR_OK);
}

static void planned(void *w) {
  HOLD(plan_gemm(w) == TSR_OK);
}

/* ---- Running ----------------------------------------------------------------------- */

static void ready(void *world_) {
  world *w = world_;
  planned(w);
  world_expect(w, &world_product, &one, &one);
}

static tsr_status plan_execute(void *world_) {
  world *w = world_;
  return CALLED(tsr_plan_execute)(w->plan, &one, w->matrix[A], w->matrix[B], &one, w->matrix[C]);
}

static void check_executed(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead) return;
  HOLD(world_inputs_kept(w));
  if (sweep_refused(o)) HOLD(world_kept(w));
  if (sweep_refused(o)) HOLD(plan_execute(w) == TSR_OK);
  if (sweep_done(o) || sweep_refused(o)) HOLD(world_holds(w, C, TSR_D, w->expected));
}

/* The call before has left on the devices what the plan needs, and no room. */
static void behind_a_product(void *world_) {
  world *w = world_;
  ready(w);
  HOLD(world_multiply_async(w) == TSR_OK);
}

/* A plan that was refused leaves what the product has made, at home or on the devices. */
static void check_behind(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead || o->synced != TSR_OK) return;
  HOLD(world_inputs_kept(w));
  if (sweep_refused(o)) world_comes_right(w, TSR_D);
  world_expect(w, &world_product, &one, &one);
  if (sweep_refused(o)) HOLD(plan_execute(w) == TSR_OK);
  if (sweep_done(o) || sweep_refused(o)) HOLD(world_holds(w, C, TSR_D, w->expected));
}

static tsr_status plan_last(void *world_) {
  world *w = world_;
  return CALLED(tsr_plan_last)(w->context, &w->plan);
}

static void after_product(void *world_) {
  world *w = world_;
  HOLD(world_multiply_async(w) == TSR_OK);
  HOLD(tsr_sync(w->context) == TSR_OK);
}

/* ---- Asking ------------------------------------------------------------------------- */

static tsr_status plan_predict(void *world_) {
  world *w = world_;
  tsr_prediction prediction = {0};
  tsr_status status = CALLED(tsr_plan_predict)(w->plan, &prediction);
  w->number = prediction.seconds;
  return status;
}

static tsr_status plan_floor(void *world_) {
  world *w = world_;
  return CALLED(tsr_plan_floor)(w->plan, 1e12, &w->number);
}

static tsr_status accumulate(world *w, int quick) {
  tsr_accumulation predicted = {0};
  tsr_status status = CALLED(tsr_plan_accumulation)(w->context, TSR_D, 2 * N, 2 * N, N, TSR_HOST,
                                                    &one, quick, &predicted);
  w->number = predicted.next.alone;
  w->count = predicted.inputs > 0 && predicted.home > 0;
  return status;
}

static tsr_status plan_accumulation(void *w) {
  return accumulate(w, 0);
}

static tsr_status plan_accumulation_quick(void *w) {
  return accumulate(w, 1);
}

static tsr_status plan_choi(void *world_) {
  world *w = world_;
  tsr_choi_model model = {.tile = 0};
  tsr_status status = CALLED(tsr_plan_choi)(w->context, TSR_D, 4096, 0, 0, &model);
  w->number = (double)model.tile;
  return status;
}

static tsr_status plan_uncut(void *world_) {
  world *w = world_;
  tsr_uncut_model model = {.tile = 0};
  tsr_status status = CALLED(tsr_plan_uncut)(4096, 4096, 4096, 2, 0, &model);
  w->number = (double)model.tile;
  return status;
}

static tsr_status plan_parsec(void *world_) {
  world *w = world_;
  tsr_parsec_cut cut = {.tile = 0};
  tsr_status status = CALLED(tsr_plan_parsec)(w->context, TSR_D, 64, 64, 64, 8, 0, 0, &cut);
  w->number = (double)cut.tile;
  return status;
}

static void check_number(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((w->number > 0) == (o->status == TSR_OK));
}

/* What comes of it without a failure, to compare with: C stays on the devices, and comes home. */
static void check_accumulation(void *world_, const sweep_outcome *o) {
  world *w = world_;
  check_number(w, o);
  double number = w->number;
  if (o->status != TSR_OK) return;
  HOLD(w->count);
  HOLD(plan_accumulation(w) == TSR_OK);
  HOLD(w->number == number);
}

/* ---- Printing ------------------------------------------------------------------------- */

static tsr_status print_as(world *w, tsr_format format) {
  return CALLED(tsr_plan_print)(w->plan, format, &w->text);
}

static tsr_status plan_print(void *w) {
  return print_as(w, TSR_TEXT);
}

static tsr_status plan_print_json(void *w) {
  return print_as(w, TSR_JSON);
}

static tsr_status plan_print_commands(void *w) {
  return print_as(w, TSR_COMMANDS);
}

static tsr_status plan_print_svg(void *w) {
  return print_as(w, TSR_TIMELINE_SVG);
}

static tsr_status plan_print_machine(void *w) {
  return print_as(w, TSR_MACHINE_SVG);
}

static tsr_status plan_print_timeline(void *w) {
  return print_as(w, TSR_TIMELINE_JSON);
}

static tsr_status plan_print_loads(void *w) {
  return print_as(w, TSR_LOADS);
}

static tsr_status plan_print_verdict(void *w) {
  return print_as(w, TSR_VERDICT);
}

static tsr_status plan_print_json_alone(void *w) {
  return print_as(w, TSR_JSON_ALONE);
}

static void check_text(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((w->text != NULL) == (o->status == TSR_OK));
  if (o->status != TSR_OK) HOLD(w->visit->call(w) == TSR_OK);
  HOLD(w->text != NULL && strlen(w->text) > 10);
}

static tsr_status print_knobs(void *world_) {
  world *w = world_;
  return CALLED(tsr_print_knobs)(&w->text);
}

static tsr_status machine_print(void *world_) {
  world *w = world_;
  return CALLED(tsr_machine_print)(w->context, TSR_TEXT, &w->text);
}

static tsr_status machine_print_json(void *world_) {
  world *w = world_;
  return CALLED(tsr_machine_print)(w->context, TSR_JSON, &w->text);
}

static tsr_status machine_print_details(void *world_) {
  world *w = world_;
  return CALLED(tsr_machine_print)(w->context, TSR_DETAILS, &w->text);
}

static tsr_status machine_print_svg(void *world_) {
  world *w = world_;
  return CALLED(tsr_machine_print)(w->context, TSR_MACHINE_SVG, &w->text);
}

static tsr_status machine_list(void *world_) {
  world *w = world_;
  return CALLED(tsr_machine_list)(&w->text);
}

static tsr_status plan_destroy(void *world_) {
  world *w = world_;
  CALLED(tsr_plan_destroy)(w->plan);
  w->plan = NULL;
  return TSR_OK;
}

/* ---- Timelines -------------------------------------------------------------------------- */

static tsr_status timeline_begin(void *world_) {
  world *w = world_;
  return CALLED(tsr_timeline_begin)(w->context);
}

static tsr_status timeline_note(void *world_) {
  world *w = world_;
  return CALLED(tsr_timeline_note)(w->context, "a note", 1e-3);
}

/* A note that was refused is not in the text. */
static void check_noted(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD(tsr_timeline_end(w->context, &w->text) == TSR_OK);
  HOLD((strstr(w->text, "a note") != NULL) == (o->status == TSR_OK));
}

static void drawn(void *world_) {
  world *w = world_;
  HOLD(world_multiply_async(w) == TSR_OK);
  HOLD(tsr_timeline_note(w->context, "a note", 1e-3) == TSR_OK);
}

static tsr_status timeline_end(void *world_) {
  world *w = world_;
  return CALLED(tsr_timeline_end)(w->context, &w->text);
}

static void check_drawn(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((w->text != NULL) == (o->status == TSR_OK));
  if (o->status == TSR_OK) HOLD(strstr(w->text, "a note") != NULL);
  if (!o->failed) HOLD(strstr(w->text, "gemm") != NULL);
}

#define VISIT(before, call, after) \
  { #call, NULL, before, call, after, 0, false, "" }
#define VISIT_AS(name, before, call, after, setup) \
  { name, NULL, before, call, after, 0, false, setup }

const sweep_visit plan_visits[] = {
    VISIT(NULL, plan_gemm, check_made),
    VISIT(NULL, plan_level3, check_made),
    VISIT_AS("plan_gemm where little fits", NULL, plan_gemm, check_made, SETUP_TIGHT),
    VISIT_AS("plan_gemm, reproducible", NULL, plan_gemm, check_made, SETUP_EXACT),
    VISIT_AS("plan_gemm for the CPU", NULL, plan_gemm, check_made, SETUP_CPU),
    VISIT(ready, plan_execute, check_executed),
    VISIT_AS("plan_execute by the CPU", ready, plan_execute, check_executed, SETUP_CPU),
    VISIT_AS("plan_execute behind a product", behind_a_product, plan_execute, check_behind, ""),
    VISIT_AS("plan_execute where a product is in the way", behind_a_product, plan_execute,
             check_behind, SETUP_SOME),
    VISIT(after_product, plan_last, check_made),
    VISIT(planned, plan_predict, check_number),
    VISIT(planned, plan_floor, check_number),
    VISIT(NULL, plan_accumulation, check_accumulation),
    VISIT(NULL, plan_accumulation_quick, check_number),
    VISIT(NULL, plan_choi, check_number),
    VISIT(NULL, plan_uncut, check_number),
    VISIT(NULL, plan_parsec, check_number),
    VISIT(planned, plan_print, check_text),
    VISIT(planned, plan_print_json, check_text),
    VISIT(planned, plan_print_commands, check_text),
    VISIT(planned, plan_print_svg, check_text),
    VISIT(planned, plan_print_machine, check_text),
    VISIT(planned, plan_print_timeline, check_text),
    VISIT(planned, plan_print_loads, check_text),
    VISIT(planned, plan_print_verdict, check_text),
    VISIT(planned, plan_print_json_alone, check_text),
    VISIT(planned, plan_destroy, NULL),
    VISIT(NULL, print_knobs, check_text),
    VISIT(NULL, machine_print, check_text),
    VISIT(NULL, machine_print_json, check_text),
    VISIT(NULL, machine_print_details, check_text),
    VISIT(NULL, machine_print_svg, check_text),
    VISIT(NULL, machine_list, check_text),
    VISIT(NULL, timeline_begin, NULL),
    VISIT_AS("timeline_note", NULL, timeline_note, check_noted, SETUP_TRACE),
    VISIT_AS("timeline_end", drawn, timeline_end, check_drawn, SETUP_TRACE),
    {0},
};
