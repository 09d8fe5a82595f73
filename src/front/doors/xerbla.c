/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reports wrong arguments to the program's error handler, if no BLAS has the routine and would
 * report them itself. The handler is found by its dynamic symbol, since programs and testers define
 * their own: xerbla_ for Fortran, cblas_xerbla for CBLAS, with the prefix scipy_ if the routine has
 * it.
 *
 * A CBLAS position counts the layout as argument 1. For a row-major call the reference CBLAS calls
 * the Fortran routine for the transposed matrices, and its cblas_xerbla translates the position
 * back if its variable RowMajorStrg is set. If the program has that variable, this file passes the
 * position of the exchanged call and sets the variable; otherwise it passes the caller's own
 * position.
 */
#include <stdio.h>
#include <string.h>

#include "blas/check.h"
#include "front/doors/doors.h"

typedef void (*xerbla_function)(const char *name, const int *position, size_t length);
typedef void (*xerbla64_function)(const char *name, const int64_t *position, size_t length);
typedef void (*cblas_xerbla_function)(int position, const char *name, const char *format, ...);
typedef void (*cblas_xerbla64_function)(int64_t position, const char *name, const char *format,
                                        ...);

enum { NAME_CACHED = 32, FORTRAN_LENGTH = 6 };

static const char wheels[] = "scipy_";

/* The symbol without the prefix scipy_. */
static const char *usual(const char *symbol) {
  size_t length = sizeof wheels - 1;
  return strncmp(symbol, wheels, length) == 0 ? symbol + length : symbol;
}

/* The error handler with the symbol's prefix; NULL: none is visible. */
static tsr_door_routine handler_of(const char *symbol, const char *name) {
  char full[NAME_CACHED];
  snprintf(full, sizeof full, "%s%s", usual(symbol) != symbol ? wheels : "", name);
  return tsr_door_global(full);
}

static bool is_cblas(const char *symbol) {
  return strncmp(usual(symbol), "cblas_", 6) == 0;
}

static bool is_64(const char *symbol) {
  return strstr(symbol, "64") != NULL;
}

/* "dgemm_64_" is "DGEMM ", at least six letters long. */
static void fortran_name(const char *symbol, char name[NAME_CACHED]) {
  symbol = usual(symbol);
  size_t length = strcspn(symbol, "_");
  snprintf(name, NAME_CACHED, "%-*.*s", FORTRAN_LENGTH, (int)length, symbol);
  for (char *c = name; *c != '\0'; c++)
    if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
}

/* "cblas_dgemm64_" is "cblas_dgemm". */
static void cblas_name(const char *symbol, char name[NAME_CACHED]) {
  symbol = usual(symbol);
  const char *end = strstr(symbol, "64");
  size_t length = end != NULL ? (size_t)(end - symbol) : strlen(symbol);
  snprintf(name, NAME_CACHED, "%.*s", (int)length, symbol);
}

static bool tell_fortran(const tsr_door *door, int position) {
  char name[NAME_CACHED];
  const int64_t wide = position;
  bool is_wide = is_64(door->symbol);
  tsr_door_routine told = handler_of(door->symbol, is_wide ? "xerbla_64_" : "xerbla_");
  if (told == NULL) return false;
  fortran_name(door->symbol, name);
  if (is_wide)
    ((xerbla64_function)told)(name, &wide, strlen(name));
  else
    ((xerbla_function)told)(name, &position, strlen(name));
  return true;
}

static int exchanged(int position, int one, int other) {
  return position == one ? other : position == other ? one : position;
}

/* The position in the exchanged call, which the reference cblas_xerbla translates back. */
static int exchanged_position(tsr_operation operation, int position) {
  switch (operation) {
    case TSR_GEMM:
    case TSR_GEMMT:
      return exchanged(exchanged(position, 4, 5), 9, 11);
    case TSR_SYMM:
    case TSR_HEMM:
      return exchanged(position, 4, 5);
    case TSR_TRMM:
    case TSR_TRSM:
      return exchanged(position, 6, 7);
    default:
      return position;
  }
}

/* The position in CBLAS, where the layout is argument 1. 0 stays 0: no argument is wrong. */
static int cblas_position(int position) {
  if (position == TSR_POSITION_LAYOUT) return 1;
  return position > 0 ? position + 1 : 0;
}

static void call_cblas_handler(tsr_door_routine handler, const char *symbol, int position) {
  const char *format = position == 0 ? "it cannot be carried out: %s\n" : "";
  char name[NAME_CACHED];
  cblas_name(symbol, name);
  if (is_64(symbol))
    ((cblas_xerbla64_function)handler)(position, name, format, tsr_message());
  else
    ((cblas_xerbla_function)handler)(position, name, format, tsr_message());
}

static bool tell_cblas(const tsr_door *door, const tsr_level3 *what, int position) {
  tsr_door_routine handler =
      handler_of(door->symbol, is_64(door->symbol) ? "cblas_xerbla64_" : "cblas_xerbla");
  int *row_major = tsr_door_variable("RowMajorStrg"), number = cblas_position(position);
  if (handler == NULL) return false;
  if (row_major == NULL || what->layout != TSR_ROW_MAJOR) {
    call_cblas_handler(handler, door->symbol, number);
    return true;
  }
  int former = *row_major;
  *row_major = 1;
  call_cblas_handler(handler, door->symbol, exchanged_position(what->operation, number));
  *row_major = former;
  return true;
}

bool tsr_door_tell(const tsr_door *door, const tsr_level3 *what, int position) {
  if (is_cblas(door->symbol)) return tell_cblas(door, what, position);
  return tell_fortran(door, position);
}
