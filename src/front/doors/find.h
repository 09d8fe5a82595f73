/*
 * Symbols of the program's libraries, for any door. A library that a symbol was found in stays
 * loaded, since programs close a library and go on calling the door. What the loader has to say of
 * what is not there is left for the caller to clear (dlerror).
 */
#ifndef TSR_FRONT_DOORS_FIND_H
#define TSR_FRONT_DOORS_FIND_H

#include <stdbool.h>

/* Any routine; who calls it knows its arguments. */
typedef void (*tsr_door_routine)(void);

/* A function's address out of an object's: ISO C knows no cast for it. */
tsr_door_routine tsr_door_as_routine(void *symbol);

/* The symbol behind ours in the global scope, or in the first of the libraries (NULL ends them)
 * that is loaded and has it; NULL: nowhere. *stays is false for a symbol whose library could not be
 * kept: it is to be found again for every call. */
void *tsr_door_find(const char *const *libraries, const char *symbol, bool *stays);

/* The symbol in a library that is loaded or, if wanted, gets loaded. NULL: it is not there, or is
 * ours. */
void *tsr_door_find_in(const char *library, bool load, const char *symbol);

#endif
