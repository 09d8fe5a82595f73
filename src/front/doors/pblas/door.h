/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The PBLAS door: the functions behind the symbols of libtessera_pblas.so.
 *
 * A symbol describes its call and enters. The processes of the grid decide together whether they
 * carry the call out (tsr_pgemm) or pass it on, unchanged, to the ScaLAPACK that the program would
 * have called without this library. A call with wrong arguments is passed on, so that ScaLAPACK
 * reports the error.
 *
 * This library does not use MPI, so that it can be preloaded over any program. The MPI part is a
 * library of its own (libtessera_pblas_mpi). It is loaded when a grid makes its first call, and
 * only if the program's MPI is the one that it was built for (part.c).
 *
 * If the MPI part cannot be used and no report is wanted, later calls jump straight to ScaLAPACK.
 * If it can be used, every call looks up its grid, even if this process never uses devices, since
 * the processes of each new grid have to agree on that.
 *
 * One thread at a time may call, as the BLACS require.
 */
#ifndef TSR_FRONT_DOORS_PBLAS_DOOR_H
#define TSR_FRONT_DOORS_PBLAS_DOOR_H

#include "front/doors/find.h"
#include "front/doors/pblas/call.h"

/* How a Fortran compiler writes the name pdgemm. All names of one ScaLAPACK and its BLACS are
 * written in the same way. */
typedef enum tsr_pblas_mangling {
  TSR_PBLAS_ADDED,  /* pdgemm_  */
  TSR_PBLAS_PLAIN,  /* pdgemm   */
  TSR_PBLAS_UPPER,  /* PDGEMM   */
  TSR_PBLAS_DOUBLED /* pdgemm__ */
} tsr_pblas_mangling;

/* The door of one symbol. */
typedef struct tsr_pblas_door {
  const char *symbol;
  tsr_pblas_mangling mangling;
  bool looked;               /* next has been found for good */
  const void *caller;        /* where the call that is under way returns to */
  tsr_door_routine next;     /* the program's own routine; NULL: no library has it */
  tsr_door_routine straight; /* next, once all later calls of the symbol go there; else NULL */
} tsr_pblas_door;

/* A call under way, filled by tsr_pblas_enter for tsr_pblas_leave. */
typedef struct tsr_pblas_visit {
  bool nested, offered; /* nested: ScaLAPACK called itself; offered: call is filled */
  tsr_pblas_call call;
  tsr_offload_visit offload;
} tsr_pblas_visit;

/* Decides on a call. NULL: the call is done. Otherwise the symbol calls the returned routine with
 * the same arguments, then tsr_pblas_leave. Sets door->straight if all later calls may go to the
 * next. */
tsr_door_routine tsr_pblas_enter(tsr_pblas_door *door, const tsr_pblas_arguments *arguments,
                                 tsr_pblas_visit *visit);
/* To be called when the routine that tsr_pblas_enter returned has done the call. */
void tsr_pblas_leave(const tsr_pblas_visit *visit);

/* ---- next.c: the ScaLAPACK and the BLACS of the program ---- */

/* The routine that the program would have called without this library; NULL: no library has it. */
tsr_door_routine tsr_pblas_next(tsr_pblas_door *door);

/* *grid: the grid of a BLACS context. False: the BLACS cannot be found, or this process is not in
 * the grid. */
bool tsr_pblas_grid_of(tsr_pblas_door *door, int context, tsr_pblas_grid *grid);

/* Ends all processes of the context by blacs_abort, as ScaLAPACK does; returns if the BLACS cannot
 * be found. */
void tsr_pblas_abort(tsr_pblas_door *door, int context);

/* ---- part.c: the MPI part ---- */

typedef struct tsr_pblas_part {
  tsr_pblas_offer_function *offer; /* NULL: not installed, or built for another MPI */
  tsr_pblas_end_function *end;
} tsr_pblas_part;

/* The MPI part, loaded at the first call. blacs: a routine of the program's BLACS, by which its MPI
 * is found; ignored by later calls. */
const tsr_pblas_part *tsr_pblas_part_get(tsr_door_routine blacs);

/* A routine of the program's BLACS, for tsr_pblas_part_get(); NULL: not found. */
tsr_door_routine tsr_pblas_blacs(tsr_pblas_door *door);

#endif
