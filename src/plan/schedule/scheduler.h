/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The parts of a scheduler. A part is a struct that owns its data; its header gives the invariant.
 * When a part starts, it gets the parts that it uses. The list below is in this order: the files of
 * a part call only parts above their own.
 *
 *   problem        the call, graph, machine and options; all parts read it
 *   commands       the plan's commands, queues, waits and buffers
 *   marks          lists of commands, with the rectangles that they wrote
 *   pieces         the rectangles that a tile is copied in (no data)
 *   copies         the pieces of each tile at each device, there or on their way
 *   availability   when each link and channel is free, roughly
 *   sequence       the order of tasks
 *   tile_slots     memory that tiles share if a budget is tight
 *   ring           pinned host memory that copies are staged through
 *   cached_blocks  memory that stays on devices between calls
 *   places         the memory of a device that a tile lies in
 *   forwarders     devices that pass on what crosses from socket to socket
 *   mover          the commands that copy a rectangle from one place to another
 *   routes         the source of each piece of a tile
 *   write_back     when finished parts of C are written back
 *
 * The scheduler itself makes the parts. Two files use it: schedule.c schedules tasks, and moves.c
 * moves matrices.
 */
#ifndef TSR_PLAN_SCHEDULE_SCHEDULER_H
#define TSR_PLAN_SCHEDULE_SCHEDULER_H

#include "plan/schedule/write_back.h"

typedef struct tsr_scheduler {
  tsr_problem problem;
  tsr_commands commands;
  tsr_marks marks;
  tsr_copies copies;
  tsr_availability availability;
  tsr_sequence sequence;
  tsr_tile_slots slots;
  tsr_rings rings;
  tsr_cached_blocks blocks;
  tsr_places places;
  tsr_forwarders forwarders;
  tsr_mover mover;
  tsr_routes routes;
  tsr_write_back write_back;
} tsr_scheduler;

/* Adds the commands of one kind of work to a plan. False: no host memory, or the tiles do not fit
 * (places.fit). */
typedef bool (*tsr_schedule_work)(tsr_scheduler *s, const void *what);

/* As tsr_schedule, for any work, which gets `what`. A graph without tasks needs only its grids of
 * tiles. */
tsr_status tsr_schedule_with(const tsr_machine *machine, const tsr_graph *graph,
                             const tsr_schedule_options *options, tsr_schedule_work work,
                             const void *what, tsr_plan *plan, tsr_fit *fit);

#endif
