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

typedef struct tsr_door_found {
  void *symbol; /* NULL: no loaded library has it */
  bool stays;   /* its library stays loaded; else the symbol is to be found again for each call */
  bool for_all; /* every caller's; else that of the caller's library alone */
} tsr_door_found;

/* The symbol that a call goes to without this library. In this order: the one behind this library's
 * in the global scope, which is every caller's; that of the library that holds the address
 * `caller`, or of those that it is linked with, as it has been loaded outside the global scope
 * (RTLD_LOCAL, as Python loads modules); one in the scope in which this library was loaded; any
 * loaded library's, for a caller that is not known: the address may be that of the caller's caller
 * (a tail call), or of no library (code made at run time). */
tsr_door_found tsr_door_find(const char *name, const void *caller);

/* The symbol in a library that is loaded now, and stays so. NULL: the library cannot be loaded or
 * does not have the symbol, or the symbol is this library's own. */
void *tsr_door_load(const char *library, const char *name);

/* The address to which the function that uses this returns. It is in the library that called a door
 * if the symbols jump (compilers that optimise make them do so); else it is in this library, as
 * with a compiler that does not tell it: then the caller is not known. */
#if defined(__GNUC__)
#define TSR_DOOR_CALLER __builtin_return_address(0)
#else
#define TSR_DOOR_CALLER ((const void *)"caller")
#endif

#endif
