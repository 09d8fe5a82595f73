/*
 * The BLAS doors: what is behind the symbols of libtessera_blas.so.
 *
 * A call that is not done here (offloaded, or refused with xerbla) goes on, unchanged, to the
 * symbol of the same name that the program would have reached without us: "the next". A symbol is
 * one jump to where its door points, which is one of three functions with the symbol's arguments:
 *
 *   full   describes the call, enters, and leaves. All doors point there at first.
 *   quick  looks at the call's size alone: a small one jumps to the next, any other to full. Doors
 *          point there from the first call on when there may be devices.
 *   next   Doors point there from when on nothing is offloaded, or counted, any more.
 *
 * Any thread may call; a call that the CPU's BLAS makes of its own symbols while a call of ours is
 * full goes straight on.
 */
#ifndef TSR_FRONT_DOORS_DOORS_H
#define TSR_FRONT_DOORS_DOORS_H

#include <stdatomic.h>

#include "front/doors/find.h"
#include "front/offload.h"

enum { TSR_DOOR_FULL, TSR_DOOR_NEXT };

/* One symbol. */
typedef struct tsr_door {
  const char *symbol; /* "dgemm_", "cblas_dgemm64_" */
  tsr_door_routine quick;
  _Atomic(tsr_door_routine) way;           /* full, quick or next */
  _Atomic(tsr_door_routine) to[2];         /* full; next, or NULL: it is to be looked for */
  _Atomic(const _Atomic double *) unasked; /* tsr_offload_unasked() of the type; with quick */
} tsr_door;

/* full and quick are tsr_door_routines. */
#define TSR_DOOR(symbol, full, quick) \
  { symbol, quick, full, {full}, NULL }

/* The load of way comes before all loads of what another thread had stored when it set way: in the
 * door, and in the BLAS when it was loaded. x86 keeps that order without being asked. It is not
 * asked there, because gcc then compiles a symbol to one jump, which leaves the arguments on the
 * stack where they are; asked, it copies them, which takes 5 ns. */
#if defined(__x86_64__)
#define TSR_DOOR_ORDER memory_order_relaxed
#else
#define TSR_DOOR_ORDER memory_order_acquire
#endif

/* Where a call of the symbol goes first. */
static inline tsr_door_routine tsr_door_way(tsr_door *door) {
  return atomic_load_explicit(&door->way, TSR_DOOR_ORDER);
}

/* Where a call of quick goes. Without a branch, for the same reason. */
static inline tsr_door_routine tsr_door_by_size(tsr_door *door, double multiplications) {
  const _Atomic double *unasked = atomic_load_explicit(&door->unasked, memory_order_relaxed);
  bool small = multiplications < atomic_load_explicit(unasked, memory_order_relaxed);
  return atomic_load_explicit(&door->to[small], memory_order_relaxed);
}

/* How far a call has come: filled by enter for leave. */
typedef struct tsr_door_visit {
  const tsr_offload_call *call;
  tsr_offload_visit offload;
} tsr_door_visit;

/* Of full. NULL: the call is done. Otherwise the routine to call with the same arguments, then
 * leave. Later calls of the symbol are sent the quickest way. */
tsr_door_routine tsr_door_enter(tsr_door *door, const tsr_offload_call *call,
                                tsr_door_visit *visit);
void tsr_door_leave(const tsr_door_visit *visit);

/* ---- flags.c ---- */

/* A flag that the doors do not know but a BLAS may (conjugation without transposition): such a call
 * goes on to it. */
#define TSR_DOOR_FOREIGN 'R'

/* The flags of Fortran (a letter in either case) and of CBLAS (a number); what is none becomes 0,
 * which no argument check lets through. */
tsr_op tsr_door_op(const char *letter);
tsr_side tsr_door_side(const char *letter);
tsr_uplo tsr_door_uplo(const char *letter);
tsr_diag tsr_door_diag(const char *letter);
tsr_layout tsr_cblas_layout(int number);
tsr_op tsr_cblas_op(int number);
tsr_side tsr_cblas_side(int number);
tsr_uplo tsr_cblas_uplo(int number);
tsr_diag tsr_cblas_diag(int number);
enum { TSR_CBLAS_LEFT = 141 };

/* ---- xerbla.c ---- */

/* Tells the program's error handler of a wrong argument, as the reference BLAS would. False: no
 * handler can be seen from here, and nothing was told. */
bool tsr_door_tell(const tsr_door *door, const tsr_level3 *what, int position);

/* ---- next.c ---- */

/* The symbol behind ours; NULL when no library has it. */
tsr_door_routine tsr_door_next(tsr_door *door);

/* A routine or a variable of the global scope; NULL when there is none. */
tsr_door_routine tsr_door_global(const char *symbol);
void *tsr_door_variable(const char *symbol);

#endif
