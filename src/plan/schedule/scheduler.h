/*
 * The parts of a scheduler. Each part is a struct that owns its data; its header says what always
 * holds of them. A part is given those that it uses when it begins. In this list they stand above
 * it, and its files call theirs, never the other way round:
 *
 *   problem       what is to be scheduled; all parts read it
 *   commands      the plan's commands, queues, waits and buffers
 *   marks         lists of commands, with the rectangles that they wrote
 *   pieces        the rectangles that a tile travels in (no data)
 *   copies        which tiles have, or will have, which pieces at which device
 *   availability  when each link and channel is free, roughly
 *   sequence      the order of tasks
 *   slots         memory that tiles share if a budget is tight
 *   ring          pinned host memory that copies are staged through
 *   cached blocks         memory that stays on devices between calls
 *   places        the memory of a device that a tile lies in
 *   mover         the commands that bring a rectangle from one place to another
 *   routes        where each piece of a tile comes from
 *   write_back        when finished parts of C go home
 *
 * Above them are the scheduler itself, which makes the parts, and the two that use it: schedule.c,
 * which schedules tasks, and moves.c, which moves matrices.
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
  tsr_ring ring;
  tsr_cached_blocks blocks;
  tsr_places places;
  tsr_mover mover;
  tsr_routes routes;
  tsr_write_back write_back;
} tsr_scheduler;

/* Adds the commands of some work to a plan. False: no host memory, or no room (places.fit). */
typedef bool (*tsr_schedule_work)(tsr_scheduler *s, const void *what);

/* As tsr_schedule, for work of any kind. Without tasks the graph has grids of tiles alone. */
tsr_status tsr_schedule_with(const tsr_machine *machine, const tsr_graph *graph,
                             const tsr_schedule_options *options, tsr_schedule_work work,
                             const void *what, tsr_plan *plan, tsr_fit *fit);

#endif
