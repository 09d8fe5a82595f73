/*
 * Marks: lists of commands. A mark is a command and, where that matters, the rectangle of the
 * matrix that the command wrote. All lists lie in one pool; a list is the index of its latest mark,
 * or TSR_NOTHING if it is empty.
 *
 * Invariant: the next mark of a list is always an older one. A mark keeps its index, so that lists
 * stay valid while others grow.
 */
#ifndef TSR_PLAN_SCHEDULE_MARKS_H
#define TSR_PLAN_SCHEDULE_MARKS_H

#include "plan/schedule/commands.h"

typedef struct tsr_mark {
  int64_t row, rows, col, cols;
  int32_t command, next;
} tsr_mark;

/* Zeroed: an empty pool. */
typedef struct tsr_marks {
  TSR_VEC(tsr_mark) pool;
} tsr_marks;

void tsr_marks_free(tsr_marks *marks);

/* Puts a mark at the head of a list. False: no memory. */
bool tsr_marks_push(tsr_marks *marks, int32_t *list, tsr_mark mark);

/* Remembers that a command has written the operand's rectangle, in place of the command that has
 * written exactly this rectangle before it, if one is in the list. False: no memory. */
bool tsr_marks_write(tsr_marks *marks, int32_t *list, const tsr_task_operand *o, int32_t command);

/* Whether some mark of the list touches the operand's rectangle. */
bool tsr_marks_touch(const tsr_marks *marks, int32_t list, const tsr_task_operand *o);

/* Makes the next command wait for all commands of a list, or for those whose rectangles touch the
 * operand's. */
void tsr_marks_wait(const tsr_marks *marks, int32_t list, tsr_commands *commands);
void tsr_marks_wait_touching(const tsr_marks *marks, int32_t list, const tsr_task_operand *o,
                             tsr_commands *commands);

#endif
