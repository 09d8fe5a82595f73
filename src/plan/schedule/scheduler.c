/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/scheduler.h"

#include "base/alloc.h"

/* Whether tiles lie in cached blocks. A scheduler without them enters nothing of theirs. */
static bool has_cached_blocks(const tsr_scheduler *s) {
  return s->problem.options->residency != NULL;
}

/* Starts each part after the parts that it uses. */
static tsr_status set_up(tsr_scheduler *s, tsr_plan *plan) {
  const tsr_problem *problem = &s->problem;
  TSR_TRY(tsr_commands_init(&s->commands, problem, plan));
  TSR_TRY(tsr_copies_init(&s->copies, problem));
  TSR_TRY(tsr_availability_init(&s->availability, problem));
  TSR_TRY(tsr_sequence_init(&s->sequence, problem, &s->copies, &s->availability));
  tsr_tile_slots_init(&s->slots, problem, &s->commands, &s->copies, &s->marks);
  TSR_TRY(tsr_rings_init(&s->rings, problem, &s->commands));
  if (has_cached_blocks(s)) TSR_TRY(tsr_cached_blocks_init(&s->blocks, problem, &s->commands));
  tsr_places_init(&s->places, problem, &s->commands, &s->copies, &s->slots, &s->blocks);
  bool tight = s->places.fit == TSR_FITS_TIGHT;
  if (tight) {
    size_t largest = tsr_tile_largest(problem->call, problem->graph);
    TSR_TRY(tsr_tile_slots_start(&s->slots, largest, &s->sequence));
  }
  TSR_TRY(tsr_sequence_rewind(&s->sequence, tight));
  tsr_forwarders_init(&s->forwarders, problem, &s->availability, &s->rings.of[0],
                      tight ? NULL : s->places.spare);
  s->mover = (tsr_mover){problem,      &s->availability, &s->marks, &s->copies,
                         &s->commands, &s->slots,        &s->rings, &s->forwarders};
  s->routes = (tsr_routes){.problem = problem,
                           .availability = &s->availability,
                           .commands = &s->commands,
                           .marks = &s->marks,
                           .copies = &s->copies,
                           .slots = &s->slots,
                           .blocks = &s->blocks,
                           .places = &s->places,
                           .mover = &s->mover,
                           .sent_home = TSR_NOTHING};
  tsr_write_back_init(&s->write_back, problem, tight, &s->routes);
  return TSR_OK;
}

static void tear_down(tsr_scheduler *s) {
  if (has_cached_blocks(s)) tsr_cached_blocks_free(&s->blocks);
  tsr_forwarders_free(&s->forwarders);
  tsr_rings_free(&s->rings);
  tsr_tile_slots_free(&s->slots);
  tsr_sequence_free(&s->sequence);
  tsr_availability_free(&s->availability);
  tsr_copies_free(&s->copies);
  tsr_marks_free(&s->marks);
  tsr_commands_free(&s->commands);
}

/* False: no host memory, or the tiles do not fit (places.fit). */
static bool carry_out(tsr_scheduler *s, tsr_schedule_work work, const void *what) {
  if (s->places.fit == TSR_FITS_NOT) return false;
  if (!has_cached_blocks(s)) return work(s, what);
  return tsr_route_open_cached_blocks(&s->routes) && work(s, what) &&
         tsr_cached_blocks_finish(&s->blocks, &s->copies, &s->marks);
}

tsr_status tsr_schedule_with(const tsr_machine *machine, const tsr_graph *graph,
                             const tsr_schedule_options *options, tsr_schedule_work work,
                             const void *what, tsr_plan *plan, tsr_fit *fit) {
  tsr_scheduler *s = tsr_alloc_zero(1, sizeof *s);
  if (!s) return tsr_problem_no_memory();
  s->problem = tsr_problem_of(machine, &plan->call, graph, options);
  tsr_status status = set_up(s, plan);
  bool done = status == TSR_OK && carry_out(s, work, what);
  *fit = done ? s->places.fit : TSR_FITS_NOT;
  if (status == TSR_OK && !done && s->places.fit != TSR_FITS_NOT) status = tsr_problem_no_memory();
  tear_down(s);
  tsr_dealloc(s);
  return status;
}
