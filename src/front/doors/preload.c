/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Decides where a call of a BLAS symbol goes: tsr_door_enter and tsr_door_leave. */
#include <stdio.h>
#include <unistd.h>

#include "blas/check.h"
#include "cpu/blas.h"
#include "front/doors/doors.h"

/* LAPACK's info for a wrong argument. The BLAS has none. */
static void tell_info(const tsr_offload_call *call, int position) {
  if (call->info != NULL) *call->info = -position;
}

/* Whether a wrong argument was reported here to the program's error handler. That is so only if no
 * BLAS has the routine; otherwise the next reports it in its own way (some end the program, some
 * return). */
static bool is_refused(const tsr_door *door, const tsr_offload_call *call, int position,
                       tsr_door_routine next) {
  if (position == 0 || next != NULL) return false;
  tell_info(call, position);
  return tsr_door_tell(door, &call->what, position);
}

void tsr_door_tell_failure(const tsr_door *door, const tsr_level3 *what) {
  if (tsr_door_tell(door, what, 0)) return;
  fprintf(stderr, "tessera: %s cannot be carried out: %s\n", door->symbol, tsr_message());
  _exit(127);
}

/* If the error handler returns, a program that asks for info hears that the matrix holds no result.
 */
static void tell_failure(const tsr_door *door, const tsr_offload_call *call) {
  tell_info(call, tsr_check_position_of_result(call->what.operation));
  tsr_door_tell_failure(door, &call->what);
}

/* Whether the call is over: done on devices, or failed and reported. */
static bool is_offloaded(const tsr_door *door, const tsr_offload_call *call,
                         tsr_door_visit *visit) {
  switch (tsr_offload(call, &visit->offload)) {
    case TSR_OFFLOAD_DONE:
      return true;
    case TSR_OFFLOAD_LOST:
      tell_failure(door, call);
      return true;
    default:
      return false;
  }
}

/* Does the call with the CPU's BLAS that libtessera loads, when the program has no next. */
static void do_alone(const tsr_door *door, const tsr_offload_call *call,
                     const tsr_door_visit *visit) {
  if (tsr_offload_alone(call) == TSR_OK)
    tsr_offload_end(call, &visit->offload);
  else
    tell_failure(door, call);
}

/* Once offloading is over it stays so; before, the exchange fails if another thread has set the way
 * meanwhile, which then stays. */
void tsr_door_choose_way(tsr_door *door, tsr_type type, tsr_door_routine next) {
  tsr_door_routine full = atomic_load_explicit(&door->to[TSR_DOOR_FULL], memory_order_relaxed);
  bool all = atomic_load_explicit(&door->to[TSR_DOOR_NEXT], memory_order_relaxed) == next;
  if (next == NULL) return;
  if (tsr_offload_is_over()) {
    atomic_store_explicit(&door->way, all ? next : door->guided, memory_order_release);
    return;
  }
  if (door->quick == NULL || atomic_load_explicit(&door->way, memory_order_relaxed) != full) return;
  atomic_store_explicit(&door->unasked, tsr_offload_unasked(type), memory_order_relaxed);
  atomic_compare_exchange_strong_explicit(&door->way, &full, all ? door->quick : door->picked,
                                          memory_order_release, memory_order_relaxed);
}

/* Whether the call is over: done on devices, or reported to the program's error handler. */
static bool is_done(const tsr_door *door, const tsr_offload_call *call, tsr_door_routine next,
                    tsr_door_visit *visit) {
  bool foreign = tsr_door_is_foreign(&call->what);
  if (!foreign && next != NULL && tsr_offload_is_small(call, &visit->offload)) return false;
  int position = foreign ? 0 : tsr_check_position(&call->what);
  if (is_refused(door, call, position, next)) return true;
  if (position == 0 && !foreign) return is_offloaded(door, call, visit);
  tsr_offload_foreign(call, &visit->offload);
  return false;
}

tsr_door_routine tsr_door_enter(tsr_door *door, const tsr_offload_call *call, const void *caller,
                                tsr_door_visit *visit) {
  tsr_door_routine next = tsr_door_next(door, caller);
  *visit = (tsr_door_visit){.call = call};
  if (!tsr_cpu_blas_is_inside()) {
    tsr_door_choose_way(door, call->what.type, next);
    if (is_done(door, call, next, visit)) return NULL;
  }
  visit->keeps_out = next != NULL && visit->offload.why != TSR_WHY_NO_FACTORS;
  if (next == NULL) do_alone(door, call, visit);
  if (visit->keeps_out) tsr_cpu_blas_enter();
  return next;
}

void tsr_door_leave(const tsr_door_visit *visit) {
  if (visit->keeps_out) tsr_cpu_blas_leave();
  if (visit->offload.began > 0) tsr_offload_end(visit->call, &visit->offload);
}
