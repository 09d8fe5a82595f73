/*
 * Slots: memory that tiles share if a budget does not suffice for all of them.
 *
 * A device's budget is cut into slots of the size of the largest tile. All uses of a tile are known
 * beforehand, and the place of a use in the sequence tells how long ago it was. A new tile takes
 * the slot whose tile is needed last (Belady, "A study of replacement algorithms", 1966), among the
 * slots that were not used for some time (`ahead`). Without that time, the slot would often be one
 * that the kernels right before have used, and the copy, which waits for them, would come too late.
 * If ahead is longer, more memory waits for copies and less of it keeps tiles that are needed
 * again; the search finds the best.
 *
 * Invariant: a slot holds at most one tile copy, and that copy has the slot's buffer. next of a
 * slot is the place of the next task that uses its copy; it is brought up to date when a task that
 * used the copy is over. A copy that a later task uses and that is nowhere else keeps its slot.
 */
#ifndef TSR_PLAN_SCHEDULE_SLOTS_H
#define TSR_PLAN_SCHEDULE_SLOTS_H

#include "plan/schedule/copies.h"
#include "plan/schedule/sequence.h"

typedef struct tsr_slot {
  int32_t copy;  /* index of the tile copy in it, or TSR_NOTHING */
  int32_t users; /* marks of the last one that was in it */
} tsr_slot;

/* The slots of a device. last and next lie by themselves: they are searched for every new tile. */
typedef struct tsr_device_slots {
  tsr_slot *slot;
  int32_t *last; /* place in the sequence of each one's last use, */
  int32_t *next; /* and of its next one; INT32_MAX: none; -1: what is in it is nowhere else */
  int count;
  int taken; /* the first ones; no tile was in the others yet */
} tsr_device_slots;

typedef struct tsr_tile_slots {
  const tsr_problem *problem; /* borrowed, and so are the next three */
  const tsr_commands *commands;
  tsr_copies *copies;
  tsr_marks *marks;
  bool in_use;  /* false: the budgets suffice for all tiles, and there are no slots */
  size_t bytes; /* of a slot */
  tsr_device_slots of[TSR_MACHINE_DEVICES];
  int32_t *uses; /* tasks that use each copy, ascending; ends with INT32_MAX */
  int32_t now;   /* place in the sequence of the task being scheduled; the scheduler sets it */
} tsr_tile_slots;

/* Until tsr_tile_slots_start the slots are not in use. */
void tsr_tile_slots_init(tsr_tile_slots *s, const tsr_problem *problem,
                         const tsr_commands *commands, tsr_copies *copies, tsr_marks *marks);
void tsr_tile_slots_free(tsr_tile_slots *s);

/* Sets copy->next of each copy, which is 0, to the number of its uses by the graph's tasks. */
void tsr_tile_slots_count_uses(const tsr_problem *problem, tsr_copies *copies);

/* Cuts the budgets into slots of so many bytes. The uses must have been counted. Goes through the
 * sequence once, from its first task to its last, to note when each copy is used. TSR_ERR_MEMORY.
 */
tsr_status tsr_tile_slots_start(tsr_tile_slots *s, size_t bytes, tsr_sequence *sequence);

/* Gives a tile a slot at a device and sets the buffer's place. False: no slot can be had. */
bool tsr_tile_slots_take(tsr_tile_slots *s, tsr_tile_copy *copy, int device, tsr_buffer *buffer);

/* Whether a tile that is not at the device, but will be used there before long, can be brought
 * there now without pushing out what is used sooner. */
bool tsr_tile_slots_welcome(const tsr_tile_slots *s, tsr_tile_copy *copy, int device);

/* Notes that a command uses the copy. Does nothing if slots are not in use. False: no memory. */
bool tsr_tile_slots_use(tsr_tile_slots *s, tsr_tile_copy *copy, int32_t command);

/* Notes whether the contents of the copy's slot are nowhere else. Does nothing if slots are not in
 * use, or the copy is in none. */
void tsr_tile_slots_set_dirty(tsr_tile_slots *s, tsr_tile_copy *copy, bool dirty);

/* A task that used the copy is over, and s->now is past it. Notes when the copy is used next, or
 * gives the slot back if no later task uses the tile at this device. */
void tsr_tile_slots_pass(tsr_tile_slots *s, tsr_tile_copy *copy);

#endif
