/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Marks: lists of commands. A mark is a command and, in lists of writers, the rectangle of the
 * matrix that the command wrote. All lists lie in one pool. A list is the index of its latest mark;
 * TSR_NOTHING: empty.
 *
 * Invariant: the next mark of a list is older than the one before it. A mark keeps its index, so
 * lists remain valid while others grow.
 */
#ifndef TSR_PLAN_SCHEDULE_MARKS_H
#define TSR_PLAN_SCHEDULE_MARKS_H

#include "plan/schedule/commands.h"

typedef struct tsr_mark {
  int64_t row, rows, col, cols;
  int32_t command, next;
} tsr_mark;

/* A zeroed tsr_marks is an empty pool. */
typedef struct tsr_marks {
  TSR_VEC(tsr_mark) pool;
} tsr_marks;

void tsr_marks_free(tsr_marks *marks);

/* Adds a mark at the head of a list. False: no host memory. */
bool tsr_marks_push(tsr_marks *marks, int32_t *list, tsr_mark mark);

/* Adds to a list that a command has written the operand's rectangle. If the list has a mark with
 * exactly this rectangle, the command replaces that mark's. False: no host memory. */
bool tsr_marks_write(tsr_marks *marks, int32_t *list, const tsr_task_operand *o, int32_t command);

/* Whether the rectangle of a mark in the list overlaps the given one. */
bool tsr_marks_touch(const tsr_marks *marks, int32_t list, tsr_rect rect);

/* Makes the next command wait for all commands of a list, or for those whose rectangles overlap the
 * given one. */
void tsr_marks_wait(const tsr_marks *marks, int32_t list, tsr_commands *commands);
void tsr_marks_wait_touching(const tsr_marks *marks, int32_t list, tsr_rect rect,
                             tsr_commands *commands);

#endif
