/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finds symbols in the program's libraries, for any door. A library in which a symbol was found is
 * kept loaded, since a program may close it and go on calling the door. If a symbol is not found,
 * the caller clears the loader's message (dlerror).
 */
#ifndef TSR_FRONT_DOORS_FIND_H
#define TSR_FRONT_DOORS_FIND_H

#include <stdbool.h>

/* Any routine; the caller casts it to its type. */
typedef void (*tsr_door_routine)(void);

/* Converts dlsym's object pointer to a function pointer; ISO C has no cast for that. */
tsr_door_routine tsr_door_as_routine(void *symbol);

/* The symbol after this library's in the global scope, else in the first of `libraries` (a list
 * that NULL ends) that is loaded and has it; NULL: not found. *stays is false if the library could
 * not be kept loaded: then the symbol is to be found again for every call. */
void *tsr_door_find(const char *const *libraries, const char *symbol, bool *stays);

/* The symbol in a library that is loaded already or, with `load`, is loaded now. NULL: the library
 * is not loaded or does not have the symbol, or the symbol is this library's own. */
void *tsr_door_find_in(const char *library, bool load, const char *symbol);

#endif
