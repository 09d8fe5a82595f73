/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finds the symbols of the program's own ScaLAPACK and BLACS. A grid's communicator comes from
 * blacs_get as a Fortran integer, so that this library needs no type of MPI.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "base/system/loaded.h"
#include "front/doors/pblas/door.h"

tsr_door_routine tsr_pblas_next(tsr_pblas_door *door) {
  if (!door->looked) {
    tsr_door_found found = tsr_door_find(door->symbol, door->caller);
    (void)dlerror(); /* clears the loader's message: the program did not ask for the symbol */
    door->next = found.symbol != NULL ? tsr_door_as_routine(found.symbol) : NULL;
    door->looked = found.stays;
  }
  return door->next;
}

/* ---- The BLACS ---- */

typedef void (*blacs_get_function)(const int *context, const int *what, int *value);
typedef void (*blacs_gridinfo_function)(const int *context, int *rows, int *cols, int *row,
                                        int *col);
typedef void (*blacs_abort_function)(const int *context, const int *code);

/* The BLACS routines that are used, each as the four Fortran compilers of tsr_pblas_mangling write
 * it. */
enum { GET, GRIDINFO, ABORT, ROUTINES };
static const char *const names[ROUTINES][4] = {
    {"blacs_get_", "blacs_get", "BLACS_GET", "blacs_get__"},
    {"blacs_gridinfo_", "blacs_gridinfo", "BLACS_GRIDINFO", "blacs_gridinfo__"},
    {"blacs_abort_", "blacs_abort", "BLACS_ABORT", "blacs_abort__"},
};

/* An argument for BLACS with integers of 32 or 64 bits: what they write fits, and on a
 * little-endian processor both read the same value. */
typedef struct number {
  int low, high;
} number;

/* A BLACS routine from the global scope, else from the libraries that ScaLAPACK is linked with;
 * NULL: not found. *stays is false if it is to be found again for every call. */
static tsr_door_routine look_for(tsr_pblas_door *door, int routine, bool *stays) {
  const char *name = names[routine][door->mangling];
  void *found = dlsym(RTLD_DEFAULT, name), *library = NULL;
  tsr_door_routine next = tsr_pblas_next(door);
  if (found == NULL && next != NULL) library = tsr_loaded_open((void *)next);
  if (library != NULL) found = dlsym(library, name);
  if (library != NULL && found == NULL) (void)dlclose(library);
  *stays = found != NULL && (library != NULL || tsr_loaded_keep(found));
  (void)dlerror();
  return found != NULL ? tsr_door_as_routine(found) : NULL;
}

static tsr_door_routine blacs(tsr_pblas_door *door, int routine) {
  static tsr_door_routine known[ROUTINES][4];
  tsr_door_routine *kept = &known[routine][door->mangling], found = *kept;
  bool stays = true;
  if (found == NULL) found = look_for(door, routine, &stays);
  if (stays) *kept = found;
  return found;
}

tsr_door_routine tsr_pblas_blacs(tsr_pblas_door *door) {
  return blacs(door, GET);
}

bool tsr_pblas_grid_of(tsr_pblas_door *door, int context, tsr_pblas_grid *grid) {
  blacs_gridinfo_function info = (blacs_gridinfo_function)blacs(door, GRIDINFO);
  blacs_get_function get = (blacs_get_function)blacs(door, GET);
  const number of = {context, 0}, communicator = {10, 0}; /* blacs_get's 10: the communicator */
  number rows = {0}, cols = {0}, row = {0}, col = {0}, value = {0};
  if (info == NULL || get == NULL) return false;
  info(&of.low, &rows.low, &cols.low, &row.low, &col.low);
  if (rows.low < 1 || cols.low < 1) return false;
  get(&of.low, &communicator.low, &value.low);
  *grid = (tsr_pblas_grid){rows.low, cols.low, row.low, col.low, value.low};
  return true;
}

void tsr_pblas_abort(tsr_pblas_door *door, int context) {
  blacs_abort_function end = (blacs_abort_function)blacs(door, ABORT);
  const number of = {context, 0}, code = {1, 0};
  if (end != NULL) end(&of.low, &code.low);
}
