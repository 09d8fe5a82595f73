/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What looks like a ScaLAPACK and its BLACS, as four Fortran compilers write their names, and
 * without MPI: for tests/dropin/manglings.c. It notes who was called with what. psgemm_ calls
 * psgemm, as some libraries call themselves.
 */
#include <stddef.h>
#include <string.h>

/* For closed.c: too large for where another one was closed, so that neither is taken for the other.
 */
#ifdef ROOM
char fake_room[ROOM];
#endif

#define ARGUMENTS 19
const char *fake_called;
const void *fake_seen[ARGUMENTS];
int fake_calls, fake_grids[4];

#define PARAMETERS                                                                                \
  const void *a1, const void *a2, const void *a3, const void *a4, const void *a5, const void *a6, \
      const void *a7, const void *a8, const void *a9, const void *a10, const void *a11,           \
      const void *a12, const void *a13, const void *a14, const void *a15, const void *a16,        \
      const void *a17, const void *a18, const void *a19
#define ALL a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19

#define PRODUCT(symbol, body)           \
  void symbol(PARAMETERS);              \
  void symbol(PARAMETERS) {             \
    const void *all[ARGUMENTS] = {ALL}; \
    memcpy(fake_seen, all, sizeof all); \
    fake_called = #symbol;              \
    fake_calls++;                       \
    body                                \
  }
#define FOUR(lower, upper) \
  PRODUCT(lower, )         \
  PRODUCT(lower##__, )     \
  PRODUCT(upper, )

FOUR(psgemm, PSGEMM)
FOUR(pdgemm, PDGEMM)
FOUR(pcgemm, PCGEMM)
FOUR(pzgemm, PZGEMM)
PRODUCT(psgemm_, psgemm(ALL); fake_called = "psgemm_";)
PRODUCT(pdgemm_, )
PRODUCT(pcgemm_, )
PRODUCT(pzgemm_, )

/* Without them nothing but the product itself is looked up in this library. */
#ifndef WITHOUT_BLACS
#define BLACS(get, gridinfo, number)                                            \
  void get(const int *context, const int *what, int *value);                    \
  void gridinfo(const int *context, int *rows, int *cols, int *row, int *col);  \
  void get(const int *context, const int *what, int *value) {                   \
    (void)context, (void)what;                                                  \
    *value = 0;                                                                 \
  }                                                                             \
  void gridinfo(const int *context, int *rows, int *cols, int *row, int *col) { \
    (void)context;                                                              \
    fake_grids[number]++;                                                       \
    *rows = *cols = 1;                                                          \
    *row = *col = 0;                                                            \
  }
BLACS(blacs_get_, blacs_gridinfo_, 0)
BLACS(blacs_get, blacs_gridinfo, 1)
BLACS(BLACS_GET, BLACS_GRIDINFO, 2)
BLACS(blacs_get__, blacs_gridinfo__, 3)
#endif
