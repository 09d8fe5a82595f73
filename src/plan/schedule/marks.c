/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/marks.h"

void tsr_marks_free(tsr_marks *marks) {
  TSR_VEC_FREE(&marks->pool);
}

bool tsr_marks_push(tsr_marks *marks, int32_t *list, tsr_mark mark) {
  mark.next = *list;
  if (!TSR_VEC_PUSH(&marks->pool, mark)) return false;
  *list = (int32_t)marks->pool.count - 1;
  return true;
}

bool tsr_marks_write(tsr_marks *marks, int32_t *list, const tsr_task_operand *o, int32_t command) {
  for (int32_t i = *list; i != TSR_NOTHING; i = marks->pool.items[i].next) {
    tsr_mark *mark = &marks->pool.items[i];
    if (mark->col != o->col || mark->cols != o->cols || mark->row != o->row ||
        mark->rows != o->rows)
      continue;
    mark->command = command;
    return true;
  }
  return tsr_marks_push(marks, list,
                        (tsr_mark){o->row, o->rows, o->col, o->cols, command, TSR_NOTHING});
}

static inline bool touches(const tsr_mark *mark, tsr_rect rect) {
  return mark->col < rect.col1 && rect.col0 < mark->col + mark->cols && mark->row < rect.row1 &&
         rect.row0 < mark->row + mark->rows;
}

bool tsr_marks_touch(const tsr_marks *marks, int32_t list, tsr_rect rect) {
  for (int32_t i = list; i != TSR_NOTHING; i = marks->pool.items[i].next)
    if (touches(&marks->pool.items[i], rect)) return true;
  return false;
}

void tsr_marks_wait(const tsr_marks *marks, int32_t list, tsr_commands *commands) {
  for (int32_t i = list; i != TSR_NOTHING; i = marks->pool.items[i].next)
    tsr_commands_wait(commands, marks->pool.items[i].command);
}

void tsr_marks_wait_touching(const tsr_marks *marks, int32_t list, tsr_rect rect,
                             tsr_commands *commands) {
  for (int32_t i = list; i != TSR_NOTHING; i = marks->pool.items[i].next)
    if (touches(&marks->pool.items[i], rect))
      tsr_commands_wait(commands, marks->pool.items[i].command);
}
