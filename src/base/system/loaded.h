/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The files that the loader has loaded into the process: the program and its libraries. */
#ifndef TSR_BASE_SYSTEM_LOADED_H
#define TSR_BASE_SYSTEM_LOADED_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera.h"

/* How the file names of our libraries end: ".so.0.2". The libraries that are loaded at run time end
 * so too: a library loads those of its own release, whatever else is in the folder. */
#define TSR_LOADED_TEXT_OF(number) #number
#define TSR_LOADED_TEXT(number) TSR_LOADED_TEXT_OF(number)
#define TSR_LOADED_SO \
  ".so." TSR_LOADED_TEXT(TSR_VERSION_MAJOR) "." TSR_LOADED_TEXT(TSR_VERSION_MINOR)

/* The directory, with its slash, of the file that holds the code or data at an address; libraries
 * of ours that belong to that file are beside it. False, and "": the directory is not known or
 * exceeds `room` bytes. For a caller who is not trusted (base/environment.h) only a library that
 * was loaded by a full path has a known directory: the program's own file is called as the caller
 * says (argv[0]). */
bool tsr_loaded_directory(const void *address, char *directory, size_t room);

/* Whether both addresses are in the same loaded file. */
bool tsr_loaded_together(const void *one, const void *other);

/* A handle, for dlsym and dlclose, of the loaded file that holds an address; no file is loaded for
 * it. NULL: no file holds the address, or the loader does not find the file by its name. */
void *tsr_loaded_open(const void *address);

/* The same for each loaded file in turn, in the order in which they were loaded: *number is 0 at
 * first and counts up. *opened is NULL for a file that cannot be opened. False: there are no more.
 */
bool tsr_loaded_open_next(int *number, void **opened);

/* Takes a reference to the file that defines a symbol, given by its address, so that the file stays
 * loaded when the program closes it. The reference is never given back. False: the loader does not
 * find the file by its name, and no reference was taken. */
bool tsr_loaded_keep(const void *symbol);

#endif
