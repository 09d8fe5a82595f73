/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Write-back: when the finished parts of C are written back to their home.
 *
 * Most parts are written back at once. If the triangle is on the left of C, C is finished by blocks
 * of rows, whose short columns are slow to copy. Then several blocks are written back together, as
 * many rows as a copy from home may have, and fewer towards the end, where no work is left to hide
 * the last copy behind. The first half of a trsm's solution waits, while much of the rest of C must
 * still come in.
 *
 * Invariant: a finished part has been written back, or waits in its device's `part`, which is one
 * rectangle of one tile.
 */
#ifndef TSR_PLAN_SCHEDULE_WRITE_BACK_H
#define TSR_PLAN_SCHEDULE_WRITE_BACK_H

#include "plan/schedule/routes.h"

/* Finished blocks of C at a device that will be written back together. */
typedef struct tsr_waiting_write_back {
  tsr_task_operand part;   /* the blocks that wait, as one rectangle; 0 rows: none wait */
  tsr_task_operand stripe; /* the stripe of the last block */
  int64_t finished;        /* rows (left) or columns (right) of the stripe that are finished */
  int32_t after;           /* the command that finished the last block */
} tsr_waiting_write_back;

typedef struct tsr_write_back {
  const tsr_problem *problem; /* borrowed, and so is the next one */
  tsr_routes *routes;
  bool batches; /* finished blocks may wait, to be written back together */
  tsr_waiting_write_back at[TSR_MACHINE_DEVICES];
} tsr_write_back;

/* tight: tiles share memory; then finished parts do not wait, so that their slots are free
 * early. */
void tsr_write_back_init(tsr_write_back *wb, const tsr_problem *problem, bool tight,
                         tsr_routes *routes);

/* Writes back a finished rectangle of C, or a triangle on its diagonal, from the device after the
 * command `after`, at once or later with others. False: as the functions of routes.h. */
bool tsr_write_back_add(tsr_write_back *wb, const tsr_task_operand *part, tsr_uplo uplo, int device,
                        int32_t after);

/* Writes back all parts that wait. False: as the functions of routes.h. */
bool tsr_write_back_finish(tsr_write_back *wb);

#endif
