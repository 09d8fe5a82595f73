/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The BLAS doors: the functions behind the symbols of libtessera_blas.so.
 *
 * A call is offloaded, or refused with xerbla, or passed on unchanged to the symbol of the same
 * name that the program would have called without this library: "the next". A symbol is one jump to
 * its door's current way, which is one of these functions with the symbol's arguments:
 *
 *   full    describes the call, decides on it (tsr_door_enter) and, if it goes to the next, times
 *           it (tsr_door_leave). The way of every door at first.
 *   quick   compares only the call's size: a small call jumps to the next, any other to full. The
 *           way from the first call on, as long as calls may be offloaded.
 *   next    The way once no call will be offloaded or counted any more.
 *   picked, guided  The ways in place of quick and of next if the next differs from caller to
 *           caller, since the program's BLAS is outside the global scope. They jump to the next of
 *           the caller (its signpost); the call of a caller that has none yet jumps to full.
 *
 * Any thread may call. If the CPU's BLAS, while it does a call that was passed on, calls a symbol
 * of this library, that inner call goes to the next without a decision; but not if the devices
 * cannot do the outer call at all (a factorisation): its products may then still be offloaded.
 */
#ifndef TSR_FRONT_DOORS_DOORS_H
#define TSR_FRONT_DOORS_DOORS_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "front/doors/find.h"
#include "front/offload/offload.h"

enum { TSR_DOOR_FULL, TSR_DOOR_NEXT };

/* The door of one symbol. */
typedef struct tsr_door {
  const char *symbol;                      /* "dgemm_", "cblas_dgemm64_" */
  tsr_door_routine quick, picked, guided;  /* quick and picked: NULL if the size is not simple */
  _Atomic(tsr_door_routine) way;           /* any of the five */
  _Atomic(tsr_door_routine) to[2];         /* full, and next; NULL until a next for all is found */
  _Atomic(const _Atomic double *) unasked; /* smaller calls are passed on by quick and picked */
} tsr_door;

/* The initial value of a door of the routine: the functions are NAME_full and so on. */
#define TSR_DOOR(symbol, NAME)                                               \
  {                                                                          \
    symbol, (tsr_door_routine)NAME##_quick, (tsr_door_routine)NAME##_picked, \
        (tsr_door_routine)NAME##_guided, (tsr_door_routine)NAME##_full,      \
        {(tsr_door_routine)NAME##_full}, NULL                                \
  }

/* The same without NAME_quick and NAME_picked. */
#define TSR_DOOR_OF_ANY_SIZE(symbol, NAME)                                              \
  {                                                                                     \
    symbol, NULL, NULL, (tsr_door_routine)NAME##_guided, (tsr_door_routine)NAME##_full, \
        {(tsr_door_routine)NAME##_full}, NULL                                           \
  }

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

/* ---- signposts.c: the next of each caller ---- */

/*
 * A signpost is the next of one call: of a door and the address that the call returns to. The table
 * of signposts has a bounded size; one that finds no place replaces another. Threads read and write
 * it without a lock: `sealed` is the call's number xor `next`, so that one that another thread
 * has half written is none.
 *
 * The number is made of the address and of the code there. If a program closes the library that
 * called, and another one is loaded to the same place, the code differs, and the signpost does not
 * hold. (The same code at the same place is taken for the same library, whose BLAS was kept.)
 */
typedef struct tsr_door_signpost {
  _Atomic uint64_t sealed;
  _Atomic(tsr_door_routine) next;
} tsr_door_signpost;

enum { TSR_DOOR_SIGNPOSTS = 1024 };
extern tsr_door_signpost tsr_door_signposts[TSR_DOOR_SIGNPOSTS];

/* The number of a call. Eight aligned bytes around the instruction to which the call returns can be
 * read, since it is executed next. The factor is that of the Fibonacci hash: the numbers of calls
 * of other doors or from elsewhere differ in high and low bits. */
static inline uint64_t tsr_door_call_number(const tsr_door *door, const void *caller) {
  uint64_t code, place = (uint64_t)(uintptr_t)caller ^ (uint64_t)(uintptr_t)door << 32;
  memcpy(&code, (const void *)((uintptr_t)caller & ~(uintptr_t)7), sizeof code);
  return place * 0x9e3779b97f4a7c15u ^ code;
}

/* The first place of a call's signpost. Calls are further apart than 16 bytes, and doors, too. */
static inline tsr_door_signpost *tsr_door_signpost_at(const tsr_door *door, const void *caller) {
  return &tsr_door_signposts[((uintptr_t)caller ^ (uintptr_t)door) / 16 % TSR_DOOR_SIGNPOSTS];
}

/* The caller's signpost, if it stands at its first place and `passes`, else full. Masks and no
 * branch, as in tsr_door_by_size. */
static inline tsr_door_routine tsr_door_if(bool passes, tsr_door *door, const void *caller) {
  uint64_t number = tsr_door_call_number(door, caller);
  tsr_door_signpost *signpost = tsr_door_signpost_at(door, caller);
  uint64_t sealed = atomic_load_explicit(&signpost->sealed, TSR_DOOR_ORDER);
  uintptr_t next = (uintptr_t)atomic_load_explicit(&signpost->next, memory_order_relaxed);
  uintptr_t full = (uintptr_t)atomic_load_explicit(&door->to[TSR_DOOR_FULL], memory_order_relaxed);
  uintptr_t mask = -(uintptr_t)(passes & ((sealed ^ (uint64_t)next) == number));
  return (tsr_door_routine)(full ^ ((full ^ next) & mask));
}

/* The routine that guided jumps to. */
static inline tsr_door_routine tsr_door_by_caller(tsr_door *door, const void *caller) {
  return tsr_door_if(true, door, caller);
}

/* The routine that picked jumps to: for a small call that of guided, else full. */
static inline tsr_door_routine tsr_door_by_both(tsr_door *door, double multiplications,
                                                const void *caller) {
  const _Atomic double *unasked = atomic_load_explicit(&door->unasked, memory_order_relaxed);
  bool small = multiplications < atomic_load_explicit(unasked, memory_order_relaxed);
  return tsr_door_if(small, door, caller);
}

/* The signpost of a call at any of its places; NULL: it has none yet. A call whose symbol no
 * library has may have a signpost, too, which only this function finds: tsr_door_nowhere. */
tsr_door_routine tsr_door_signpost_get(const tsr_door *door, const void *caller);
void tsr_door_signpost_set(const tsr_door *door, const void *caller, tsr_door_routine next);
void tsr_door_nowhere(void);

/* A call under way, filled by tsr_door_enter for tsr_door_leave. */
typedef struct tsr_door_visit {
  const tsr_offload_call *call;
  tsr_offload_visit offload;
  bool keeps_out; /* calls that the next itself makes are not decided on */
} tsr_door_visit;

/* Decides on a call, for full, which was called from `caller` (TSR_DOOR_CALLER). NULL: the call is
 * done. Otherwise full calls the returned routine with the same arguments, then tsr_door_leave.
 * Sets the door's way for later calls. */
tsr_door_routine tsr_door_enter(tsr_door *door, const tsr_offload_call *call, const void *caller,
                                tsr_door_visit *visit);
/* To be called when the routine that tsr_door_enter returned has done the call. */
void tsr_door_leave(const tsr_door_visit *visit);

/* Sets the door's way for later calls by whether calls may still be offloaded, and by whether all
 * callers have the same next. */
void tsr_door_choose_way(tsr_door *door, tsr_type type, tsr_door_routine next);

/* Reports that the call failed and C is undefined. A BLAS routine can report that only by xerbla.
 * If the program has no xerbla, the process ends, as with the reference BLAS, since the program
 * must not go on with a wrong result. */
void tsr_door_tell_failure(const tsr_door *door, const tsr_level3 *what);

/* ---- flags.c ---- */

/* Conjugation without transposition, which some BLAS know and Tessera does not: such a call goes to
 * the next. */
#define TSR_DOOR_FOREIGN 'R'
static inline bool tsr_door_is_foreign(const tsr_level3 *what) {
  return (int)what->transa == TSR_DOOR_FOREIGN || (int)what->transb == TSR_DOOR_FOREIGN;
}

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

/* The symbol that the caller would have called without this library; NULL: no library has it. */
tsr_door_routine tsr_door_next(tsr_door *door, const void *caller);

/* A routine or a variable of the global scope; NULL: none has the name. */
tsr_door_routine tsr_door_global(const char *symbol);
void *tsr_door_variable(const char *symbol);

#endif
