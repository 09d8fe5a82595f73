/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The BLAS doors: the functions behind the symbols of libtessera_blas.so.
 *
 * A call is offloaded, or refused with xerbla, or passed on unchanged to the symbol of the same
 * name that the program would have called without this library: "the next". A symbol is one jump to
 * its door's current way, which is one of three functions with the symbol's arguments:
 *
 *   full   describes the call, decides on it (tsr_door_enter) and, if it goes to the next, times it
 *          (tsr_door_leave). The way of every door at first.
 *   quick  compares only the call's size: a small call jumps to the next, any other to full. The
 * way from the first call on, as long as calls may be offloaded. next   The way once no call will
 * be offloaded or counted any more.
 *
 * Any thread may call. If the CPU's BLAS, while it does a call that was passed on, calls a symbol
 * of this library, that inner call goes to the next without a decision.
 */
#ifndef TSR_FRONT_DOORS_DOORS_H
#define TSR_FRONT_DOORS_DOORS_H

#include <stdatomic.h>

#include "front/doors/find.h"
#include "front/offload.h"

enum { TSR_DOOR_FULL, TSR_DOOR_NEXT };

/* The door of one symbol. */
typedef struct tsr_door {
  const char *symbol; /* "dgemm_", "cblas_dgemm64_" */
  tsr_door_routine quick;
  _Atomic(tsr_door_routine) way;           /* full, quick or next */
  _Atomic(tsr_door_routine) to[2];         /* full, and next; next is NULL until it is found */
  _Atomic(const _Atomic double *) unasked; /* tsr_offload_unasked() of the type, for quick */
} tsr_door;

/* The initial value of a door; full and quick are tsr_door_routines. */
#define TSR_DOOR(symbol, full, quick) \
  { symbol, quick, full, {full}, NULL }

/* way must be loaded before anything that another thread stored before it set way (the rest of the
 * door, and the BLAS that was loaded). On x86 a relaxed load keeps that order: the processor never
 * reorders loads, and gcc compiles a symbol with it to one jump that leaves the arguments on the
 * stack in place. With an acquire load gcc copies the arguments, which takes 5 ns. */
#if defined(__x86_64__)
#define TSR_DOOR_ORDER memory_order_relaxed
#else
#define TSR_DOOR_ORDER memory_order_acquire
#endif

/* The routine that a call of the symbol jumps to. */
static inline tsr_door_routine tsr_door_way(tsr_door *door) {
  return atomic_load_explicit(&door->way, TSR_DOOR_ORDER);
}

/* The routine that quick jumps to: next for a small call, else full. No branch, so that gcc
 * compiles quick to one jump as well. */
static inline tsr_door_routine tsr_door_by_size(tsr_door *door, double multiplications) {
  const _Atomic double *unasked = atomic_load_explicit(&door->unasked, memory_order_relaxed);
  bool small = multiplications < atomic_load_explicit(unasked, memory_order_relaxed);
  return atomic_load_explicit(&door->to[small], memory_order_relaxed);
}

/* A call under way, filled by tsr_door_enter for tsr_door_leave. */
typedef struct tsr_door_visit {
  const tsr_offload_call *call;
  tsr_offload_visit offload;
} tsr_door_visit;

/* Decides on a call, for full. NULL: the call is done. Otherwise full calls the returned routine
 * with the same arguments, then tsr_door_leave. Sets the door's way for later calls. */
tsr_door_routine tsr_door_enter(tsr_door *door, const tsr_offload_call *call,
                                tsr_door_visit *visit);
/* To be called when the routine that tsr_door_enter returned has done the call. */
void tsr_door_leave(const tsr_door_visit *visit);

/* ---- flags.c ---- */

/* Conjugation without transposition, which some BLAS know and Tessera does not: such a call goes to
 * the next. */
#define TSR_DOOR_FOREIGN 'R'

/* Our flag for one of Fortran's (a letter in either case) or of CBLAS's (a number); 0 for any other
 * value, which the check of arguments refuses. */
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

/* Calls the program's error handler for a wrong argument, as the reference BLAS would; position 0:
 * the call failed for another reason. False: no handler is visible, and nothing was called. */
bool tsr_door_tell(const tsr_door *door, const tsr_level3 *what, int position);

/* ---- next.c ---- */

/* The symbol that the program would have called without this library; NULL: no library has it. */
tsr_door_routine tsr_door_next(tsr_door *door);

/* A routine or a variable of the global scope; NULL: none has the name. */
tsr_door_routine tsr_door_global(const char *symbol);
void *tsr_door_variable(const char *symbol);

#endif
