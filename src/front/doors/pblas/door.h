/*
 * The PBLAS door: what is behind the symbols of libtessera_pblas.so.
 *
 * A symbol describes its call and enters. The processes of the grid decide together whether they do
 * it (tsr_pgemm) or hand it on, unchanged, to the ScaLAPACK that the program would have reached
 * without us. What they may not agree on, or what is wrong, goes on, so that error exits stay
 * ScaLAPACK's.
 *
 * This library does not know MPI, so that it may be preloaded over any program. The part that does
 * is loaded when a grid makes its first call, and only where the program's MPI is the one that it
 * was built for (part.c).
 *
 * If the part that knows MPI cannot be used and no report is wanted, later calls jump straight to
 * ScaLAPACK. If it can be used every call looks its grid up, even when this process never uses
 * devices: the processes of each new grid have to agree on that.
 *
 * One thread at a time calls, as the BLACS want it.
 */
#ifndef TSR_FRONT_DOORS_PBLAS_DOOR_H
#define TSR_FRONT_DOORS_PBLAS_DOOR_H

#include "front/doors/find.h"
#include "front/doors/pblas/call.h"

/* How a Fortran compiler writes the name pdgemm: ScaLAPACK has all of its names so. */
typedef enum tsr_pblas_mangling {
  TSR_PBLAS_ADDED,  /* pdgemm_  */
  TSR_PBLAS_PLAIN,  /* pdgemm   */
  TSR_PBLAS_UPPER,  /* PDGEMM   */
  TSR_PBLAS_DOUBLED /* pdgemm__ */
} tsr_pblas_mangling;

/* One symbol. */
typedef struct tsr_pblas_door {
  const char *symbol;
  tsr_pblas_mangling mangling;
  bool looked;               /* next is known, and stays */
  tsr_door_routine next;     /* what is behind us; NULL: nothing */
  tsr_door_routine straight; /* next, when all later calls of the symbol go to it; else NULL */
} tsr_pblas_door;

/* How far a call has come: filled by enter for leave. */
typedef struct tsr_pblas_visit {
  bool nested, offered; /* nested: ScaLAPACK called itself; offered: call is filled */
  tsr_pblas_call call;
  tsr_offload_visit offload;
} tsr_pblas_visit;

/* NULL: the call is done. Otherwise the routine to call with the same arguments, then leave. Sets
 * straight of the door if it may be. */
tsr_door_routine tsr_pblas_enter(tsr_pblas_door *door, const tsr_pblas_arguments *arguments,
                                 tsr_pblas_visit *visit);
void tsr_pblas_leave(const tsr_pblas_visit *visit);

/* ---- next.c: the ScaLAPACK and the BLACS of the program ---- */

/* The symbol behind ours; NULL when no library has it. */
tsr_door_routine tsr_pblas_next(tsr_pblas_door *door);

/* The grid of a context: false where the BLACS are not to be found, or the process is not in it. */
bool tsr_pblas_grid_of(tsr_pblas_door *door, int context, tsr_pblas_grid *grid);

/* Ends all processes of the context, as ScaLAPACK does; returns where it cannot. */
void tsr_pblas_abort(tsr_pblas_door *door, int context);

/* ---- part.c: the part that knows MPI ---- */

typedef struct tsr_pblas_part {
  tsr_pblas_offer_function *offer; /* NULL: it is not to be had, or not for this MPI */
  tsr_pblas_end_function *end;
} tsr_pblas_part;

/* Loaded at the first call. of: a routine of the program's BLACS. */
const tsr_pblas_part *tsr_pblas_part_get(tsr_door_routine of);

/* The BLACS routine that tsr_pblas_part_get() is to be given. */
tsr_door_routine tsr_pblas_blacs(tsr_pblas_door *door);

#endif
