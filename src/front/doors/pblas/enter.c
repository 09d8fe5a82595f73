/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Decides where a call of a PBLAS symbol goes: tsr_pblas_enter and tsr_pblas_leave. */
#include <stdio.h>
#include <unistd.h>

#include "base/thread.h"
#include "front/doors/pblas/door.h"

/* ScaLAPACK is doing a call of this thread: calls that it makes of its own symbols are passed on
 * without a decision. */
static _Thread_local bool inside;

/* Reads the call into visit->call. False: ScaLAPACK does it, for the reason in visit->offload.why;
 * all processes of the grid find the same. */
static bool read_call(tsr_pblas_door *door, const tsr_pblas_arguments *arguments,
                      tsr_pblas_visit *visit) {
  tsr_pblas_grid grid;
  bool empty = false;
  visit->offload.why = TSR_WHY_ARGUMENTS;
  if (!tsr_pblas_grid_of(door, tsr_pblas_context(arguments), &grid)) return false;
  bool good = tsr_pblas_read(arguments, &grid, &visit->call, &empty);
  if (empty) visit->offload.why = TSR_WHY_EMPTY;
  return good;
}

static tsr_offload_verdict offer(tsr_pblas_door *door, const tsr_pblas_arguments *arguments,
                                 tsr_pblas_visit *visit) {
  if (!read_call(door, arguments, visit)) return TSR_OFFLOAD_TO_CPU;
  const tsr_pblas_part *part = tsr_pblas_part_get(tsr_pblas_blacs(door));
  visit->offload.why = TSR_WHY_OTHER_MPI;
  if (part->offer == NULL) return TSR_OFFLOAD_TO_CPU;
  visit->offered = true;
  return part->offer(&visit->call, &visit->offload);
}

static void report(const tsr_pblas_arguments *arguments, const tsr_pblas_visit *visit) {
  const tsr_level3 what = {.operation = TSR_GEMM,
                           .type = arguments->type,
                           .layout = TSR_COL_MAJOR,
                           .transa = arguments->transa,
                           .transb = arguments->transb,
                           .m = arguments->m,
                           .n = arguments->n,
                           .k = arguments->k};
  tsr_offload_prepare(); /* reads whether a report is wanted, and has it written at exit */
  if (tsr_offload_report_wanted()) tsr_offload_report_add(TSR_FAMILY_PBLAS, &what, &visit->offload);
}

/* Ends all processes: C is undefined on every process, and a PBLAS routine can report that only by
 * blacs_abort. */
static void give_up(tsr_pblas_door *door, const tsr_pblas_arguments *arguments, const char *why) {
  fprintf(stderr, "tessera: %s cannot be carried out: %s\n", door->symbol, why);
  tsr_pblas_abort(door, tsr_pblas_context(arguments));
  _exit(127);
}

/* Sends later calls straight to the next if none of them can be offloaded: the MPI part is looked
 * for once, so if it cannot be used now it never can. A next that has to be found again for every
 * call cannot be jumped to. */
static void choose_way(tsr_pblas_door *door, const tsr_pblas_visit *visit) {
  bool never = visit->offload.why == TSR_WHY_OTHER_MPI;
  if (never && door->looked && !tsr_offload_report_wanted()) door->straight = door->next;
}

TSR_ENTRY_OF(tsr_door_routine, tsr_pblas_enter, (door, arguments, visit), tsr_pblas_door *door,
             const tsr_pblas_arguments *arguments, tsr_pblas_visit *visit) {
  tsr_door_routine next = tsr_pblas_next(door);
  tsr_offload_verdict verdict = TSR_OFFLOAD_TO_CPU;
  *visit = (tsr_pblas_visit){.nested = inside};
  if (!inside) {
    verdict = offer(door, arguments, visit);
    if (verdict == TSR_OFFLOAD_LOST) give_up(door, arguments, tsr_message());
    report(arguments, visit);
    choose_way(door, visit);
  }
  if (verdict == TSR_OFFLOAD_DONE) return NULL;
  if (next == NULL) give_up(door, arguments, "no loaded ScaLAPACK has this routine");
  inside = true;
  return next;
}

TSR_ENTRY_VOID(tsr_pblas_leave, (visit), const tsr_pblas_visit *visit) {
  if (visit->nested) return;
  inside = false;
  if (visit->offered) tsr_pblas_part_get(NULL)->end(&visit->call, &visit->offload);
}
