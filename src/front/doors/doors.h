/*
 * The BLAS doors: what is behind the symbols of libtessera_blas.so.
 *
 * A symbol describes its call and enters. What enters is done there (offloaded, or refused with
 * xerbla), or it goes on, unchanged, to the symbol of the same name that the program would have
 * reached without us, and leaves.
 *
 * Any thread may call; a call that the CPU's BLAS makes of its own symbols goes straight on.
 */
#ifndef TSR_FRONT_DOORS_DOORS_H
#define TSR_FRONT_DOORS_DOORS_H

#include <stdatomic.h>

#include "front/doors/find.h"
#include "front/offload.h"

/* One symbol. */
typedef struct tsr_door {
  const char *symbol;             /* "dgemm_", "cblas_dgemm64_" */
  _Atomic(tsr_door_routine) next; /* what is behind us; NULL: not looked for yet */
} tsr_door;

/* How far a call has come: filled by enter for leave. */
typedef struct tsr_door_visit {
  const tsr_offload_call *call;
  tsr_offload_visit offload;
} tsr_door_visit;

/* NULL: the call is done. Otherwise the routine to call with the same arguments, then leave. */
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
