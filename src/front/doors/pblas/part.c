/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Loads the MPI part of the door, a library of its own beside this one. A handle of one MPI means
 * nothing to another, so the MPI part is used only if its MPI is the program's. That is found out
 * before any function of it is called: by the file name of the MPI library, and by comparing the
 * address of an MPI function.
 *
 * TSR_MPI_SONAME is the file name of the MPI library that the MPI part was built with; undefined if
 * CMake could not find it.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#include "base/log.h"
#include "base/system/loaded.h"
#include "front/doors/pblas/door.h"

#define PART "libtessera_pblas_mpi" TSR_LOADED_SO
#define FUNCTION_OF_MPI "PMPI_Comm_rank" /* PMPI: tools that intercept MPI do not replace it */

static tsr_pblas_part part;

/* The address of FUNCTION_OF_MPI in the program: from the global scope, else as the program's BLACS
 * see it; NULL: not found. */
static void *mpi_of_program(tsr_door_routine blacs) {
  Dl_info info;
  void *found = dlsym(RTLD_DEFAULT, FUNCTION_OF_MPI), *library = NULL;
  if (found == NULL && blacs != NULL && dladdr((void *)blacs, &info))
    library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library != NULL ? dlsym(library, FUNCTION_OF_MPI) : found;
}

/* Whether the MPI library that the MPI part was built with is loaded. If it is not, loading the MPI
 * part would load that MPI beside the program's. */
static bool may_be_ours(void) {
#ifdef TSR_MPI_SONAME
  return dlopen(TSR_MPI_SONAME, RTLD_LAZY | RTLD_NOLOAD) != NULL;
#else
  return true;
#endif
}

/* Opens the MPI part from this library's directory, or if that is unknown from the loader's
 * paths. */
static void *open_part(void) {
  static const char here;
  char directory[PATH_MAX], path[PATH_MAX + sizeof PART];
  (void)tsr_loaded_directory(&here, directory, sizeof directory);
  snprintf(path, sizeof path, "%s%s", directory, PART);
  return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

static void take(void *library) {
  void *offer = dlsym(library, TSR_PBLAS_OFFER), *end = dlsym(library, TSR_PBLAS_END);
  if (offer == NULL || end == NULL) return;
  part.offer = (tsr_pblas_offer_function *)tsr_door_as_routine(offer);
  part.end = (tsr_pblas_end_function *)tsr_door_as_routine(end);
}

static void load(tsr_door_routine blacs) {
  void *theirs = mpi_of_program(blacs), *library = NULL;
  bool same = theirs != NULL && may_be_ours();
  if (same) library = open_part();
  const char *why = same && library == NULL ? dlerror() : NULL;
  if (library != NULL && dlsym(library, FUNCTION_OF_MPI) == theirs) take(library);
  if (library != NULL && part.offer == NULL) (void)dlclose(library);
  if (part.offer == NULL)
    tsr_log(TSR_LOG_INFO, "all products of the PBLAS go to ScaLAPACK: %s",
            why != NULL ? why
                        : "its MPI is not the one that libtessera_mpi was built for; build Tessera "
                          "with -DMPI_C_COMPILER=<the program's mpicc>");
  (void)dlerror();
}

const tsr_pblas_part *tsr_pblas_part_get(tsr_door_routine blacs) {
  static bool loaded;
  if (!loaded) load(blacs);
  loaded = true;
  return &part;
}
