/*
 * Homing: when the finished parts of C go home.
 *
 * Most of them go at once. With a triangle on the left of C, C is finished by blocks of rows, whose
 * short columns are slow to copy. There several blocks go together: as many rows as a copy from
 * home may have, and fewer towards the end, where no work is left to hide the last copy behind. The
 * first half of a solution waits until less of the rest has to come in.
 *
 * Invariant: a finished part is on its way home, or waits in its device's `part`, which is one
 * rectangle of one tile.
 */
#ifndef TSR_PLAN_SCHEDULE_WRITE_BACK_H
#define TSR_PLAN_SCHEDULE_WRITE_BACK_H

#include "plan/schedule/routes.h"

/* Finished blocks of C at a device that go home together. */
typedef struct tsr_waiting_write_back {
  tsr_task_operand part;   /* those that wait; without rows: none */
  tsr_task_operand stripe; /* the last block's, of which so many rows are finished */
  int64_t finished;
  int32_t after; /* the command that finished the last one */
} tsr_waiting_write_back;

typedef struct tsr_write_back {
  const tsr_problem *problem; /* borrowed, and so is the next one */
  tsr_routes *routes;
  bool gathers; /* whole blocks may wait for each other */
  tsr_waiting_write_back at[TSR_MACHINE_DEVICES];
} tsr_write_back;

/* tight: tiles share memory; then finished parts do not wait, so that they make room. */
void tsr_write_back_init(tsr_write_back *h, const tsr_problem *problem, bool tight,
                         tsr_routes *routes);

/* Brings a finished rectangle of C, or a triangle on its diagonal, home from the device after the
 * command `after`, now or together with others. */
bool tsr_write_back_add(tsr_write_back *h, const tsr_task_operand *part, tsr_uplo uplo, int device,
                        int32_t after);

/* Brings home what waits. */
bool tsr_write_back_finish(tsr_write_back *h);

#endif
