/* What happens behind a symbol. */
#include <stdio.h>
#include <unistd.h>

#include "base/cpu_blas.h"
#include "blas/check.h"
#include "front/doors/doors.h"

/* A flag of the BLAS at hand that is not in the standard: it knows what to do. */
static bool is_foreign(const tsr_level3 *what) {
  return (int)what->transa == TSR_DOOR_FOREIGN || (int)what->transb == TSR_DOOR_FOREIGN;
}

/* The BLAS behind us tells of wrong arguments as it would without us: some end the program, some go
 * on. Where there is none that has the routine, the program's error handler is told from here. */
static bool is_refused(const tsr_door *door, const tsr_level3 *what, int position,
                       tsr_door_routine next) {
  return position != 0 && next == NULL && tsr_door_tell(door, what, position);
}

/* C is not what it should be, and a BLAS has only one way to say so: xerbla. A program that has
 * none gets what the reference's does, since it must not go on with a wrong result. */
static void tell_failure(const tsr_door *door, const tsr_level3 *what) {
  if (tsr_door_tell(door, what, 0)) return;
  fprintf(stderr, "tessera: %s cannot be carried out: %s\n", door->symbol, tsr_message());
  _exit(127);
}

/* Whether the call is done. */
static bool is_offloaded(const tsr_door *door, const tsr_offload_call *call,
                         tsr_door_visit *visit) {
  switch (tsr_offload(call, &visit->offload)) {
    case TSR_OFFLOAD_DONE:
      return true;
    case TSR_OFFLOAD_LOST:
      tell_failure(door, &call->what);
      return true;
    default:
      return false;
  }
}

static void do_alone(const tsr_door *door, const tsr_offload_call *call,
                     const tsr_door_visit *visit) {
  if (tsr_offload_alone(call) == TSR_OK)
    tsr_offload_end(call, &visit->offload);
  else
    tell_failure(door, &call->what);
}

/* Sends later calls of the symbol the quickest way. A next that is to be looked for each time is
 * not stored. If another thread has seen the end of offloading meanwhile, that stays. */
static void choose_way(tsr_door *door, tsr_type type, tsr_door_routine next) {
  tsr_door_routine former = atomic_load_explicit(&door->to[TSR_DOOR_FULL], memory_order_relaxed);
  bool kept = atomic_load_explicit(&door->to[TSR_DOOR_NEXT], memory_order_relaxed) == next;
  if (next == NULL || !kept) return;
  if (tsr_offload_is_over()) {
    atomic_store_explicit(&door->way, next, memory_order_release);
    return;
  }
  atomic_store_explicit(&door->unasked, tsr_offload_unasked(type), memory_order_relaxed);
  atomic_compare_exchange_strong_explicit(&door->way, &former, door->quick, memory_order_release,
                                          memory_order_relaxed);
}

/* Whether the call is done, by devices or by the program's handler of wrong arguments. */
static bool is_done(const tsr_door *door, const tsr_offload_call *call, tsr_door_routine next,
                    tsr_door_visit *visit) {
  if (is_foreign(&call->what)) return false;
  int position = tsr_check_position(&call->what);
  if (is_refused(door, &call->what, position, next)) return true;
  return position == 0 && is_offloaded(door, call, visit);
}

tsr_door_routine tsr_door_enter(tsr_door *door, const tsr_offload_call *call,
                                tsr_door_visit *visit) {
  tsr_door_routine next = tsr_door_next(door);
  *visit = (tsr_door_visit){.call = call};
  if (!tsr_cpu_blas_is_inside()) {
    choose_way(door, call->what.type, next);
    if (is_done(door, call, next, visit)) return NULL;
  }
  if (next == NULL)
    do_alone(door, call, visit);
  else
    tsr_cpu_blas_enter();
  return next;
}

void tsr_door_leave(const tsr_door_visit *visit) {
  tsr_cpu_blas_leave();
  tsr_offload_end(visit->call, &visit->offload);
}
