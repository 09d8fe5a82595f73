/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Slots: memory that tiles share if a budget does not suffice for all of them.
 *
 * A device's budget is cut into slots of the size of the largest tile. All uses of a tile are known
 * beforehand; the time of a use is the place of its task in the sequence. A new tile takes the slot
 * whose tile is needed last (Belady, "A study of replacement algorithms", 1966), among the slots
 * that were not used for the last `lookahead` tasks (tsr_schedule_options). Without the lookahead,
 * the slot would often be one that the kernels right before have used; the copy, which waits for
 * them, would come too late. With a longer lookahead, more memory waits for copies and less of it
 * keeps tiles that are needed again; the search finds the best value.
 *
 * Invariant: a slot has at most one tile copy, and that copy has the slot's buffer. next of a slot
 * is the place of the next task that uses its copy; it is updated when a task that used the copy
 * ends. A copy that a later task uses and that has the only data keeps its slot.
 */
#ifndef TSR_PLAN_SCHEDULE_SLOTS_H
#define TSR_PLAN_SCHEDULE_SLOTS_H

#include "plan/schedule/copies.h"
#include "plan/schedule/sequence.h"

typedef struct tsr_slot {
  int32_t copy;  /* index of the tile copy in the slot, or TSR_NOTHING */
  int32_t users; /* marks: users of the copy that was in the slot before */
} tsr_slot;

/* The slots of a device. last and next are arrays of their own, since every new tile searches
 * them. */
typedef struct tsr_device_slots {
  tsr_slot *slot;
  int32_t *last; /* for each slot: place in the sequence of its last use */
  int32_t *next; /* and of its next use; INT32_MAX: none; -1: the slot has its tile's only data */
  int count;
  int taken; /* the first `taken` slots have had a tile; those behind are not set yet */
} tsr_device_slots;

typedef struct tsr_tile_slots {
  const tsr_problem *problem; /* borrowed, and so are the next three */
  const tsr_commands *commands;
  tsr_copies *copies;
  tsr_marks *marks;
  bool in_use;  /* false: the budgets suffice for all tiles, and there are no slots */
  size_t bytes; /* bytes of a slot */
  tsr_device_slots of[TSR_MACHINE_DEVICES];
  int32_t *uses; /* lists of the places of tasks that use each copy, ascending, each ended by
                    INT32_MAX */
  int32_t now;   /* place in the sequence of the present task; the scheduler sets it */
} tsr_tile_slots;

/* The slots are not in use until tsr_tile_slots_start. */
void tsr_tile_slots_init(tsr_tile_slots *s, const tsr_problem *problem,
                         const tsr_commands *commands, tsr_copies *copies, tsr_marks *marks);
void tsr_tile_slots_free(tsr_tile_slots *s);

/* Sets copy->next of each copy, which must be 0, to the number of tasks that use the copy. */
void tsr_tile_slots_count_uses(const tsr_problem *problem, tsr_copies *copies);

/* Cuts the budgets into slots of `bytes` bytes. The uses must have been counted. Goes through the
 * whole sequence once to note when each copy is used. TSR_ERR_MEMORY. */
tsr_status tsr_tile_slots_start(tsr_tile_slots *s, size_t bytes, tsr_sequence *sequence);

/* Gives a tile a slot at a device, and sets the buffer's offset and bytes. False: no slot can be
 * had. */
bool tsr_tile_slots_take(tsr_tile_slots *s, tsr_tile_copy *copy, int device, tsr_buffer *buffer);

/* Whether a tile can be copied to the device now, ahead of its use: the use is near, and no tile
 * that is used sooner would lose its slot. True if the tile is there. */
bool tsr_tile_slots_can_prefetch(const tsr_tile_slots *s, tsr_tile_copy *copy, int device);

/* Notes that a command uses the copy. Without slots, does nothing. False: no host memory. */
bool tsr_tile_slots_use(tsr_tile_slots *s, tsr_tile_copy *copy, int32_t command);

/* Notes whether the copy is dirty: its slot has the only data. Does nothing without slots, or if
 * the copy has no slot. */
void tsr_tile_slots_set_dirty(tsr_tile_slots *s, tsr_tile_copy *copy, bool dirty);

/* Says that the present task uses the copy: its slot, if it has one, is kept until the task ends
 * or gives it up. */
void tsr_tile_slots_keep(tsr_tile_slots *s, tsr_tile_copy *copy);

/* Says that the rest of the present task does not use the copy: its slot can be had for a tile that
 * is used before the next task that uses the copy. */
void tsr_tile_slots_give_up(tsr_tile_slots *s, tsr_tile_copy *copy);

/* Whether a device has all lines that it will use of the tile of A or B that has an element. The
 * tile is not needed there then, until lines have lost their slot. Never beside a triangle,
 * where native kernels read these tiles, too. */
bool tsr_tile_slots_are_converted(const tsr_tile_slots *s, int matrix, int64_t row, int64_t col,
                                  int device);

/* Gives the slot of a copy back, whose tile is copied again where a later task needs it. Does
 * nothing without slots, or if the copy has no slot. */
void tsr_tile_slots_give_back(tsr_tile_slots *s, tsr_tile_copy *copy);

/* Notes the end of a task that used the copy; s->now is past the task. Updates the slot's next use,
 * or gives the slot back if no later task uses the tile at this device. */
void tsr_tile_slots_end_use(tsr_tile_slots *s, tsr_tile_copy *copy);

#endif
