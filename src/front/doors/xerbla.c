/*
 * Wrong arguments of what no BLAS behind us has go to the program's error handler, by its dynamic
 * symbol, since programs and testers bring their own: xerbla_ for Fortran, cblas_xerbla for CBLAS;
 * with scipy_ before it where the routine has that.
 *
 * CBLAS positions count the layout first. The reference CBLAS calls the Fortran routine for the
 * transposes when the layout is row-major, and its cblas_xerbla turns the position back where its
 * variable RowMajorStrg says so. Where there is that variable we do the same; where there is none
 * the handler gets the caller's own position.
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

/* The name that the routine has in other libraries than Python's wheels. */
static const char *usual(const char *symbol) {
  size_t length = sizeof wheels - 1;
  return strncmp(symbol, wheels, length) == 0 ? symbol + length : symbol;
}

/* The handler that belongs to the symbol; NULL: it cannot be seen from here. */
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

/* As the transposed call has it: what the reference cblas_xerbla turns back. */
static int turned(tsr_operation operation, int position) {
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

/* What CBLAS calls a position: the layout comes first. 0 stays: no argument is to blame. */
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
  call_cblas_handler(handler, door->symbol, turned(what->operation, number));
  *row_major = former;
  return true;
}

bool tsr_door_tell(const tsr_door *door, const tsr_level3 *what, int position) {
  if (is_cblas(door->symbol)) return tell_cblas(door, what, position);
  return tell_fortran(door, position);
}
