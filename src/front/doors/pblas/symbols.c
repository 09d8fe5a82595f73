/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The symbols of the PBLAS, each as four Fortran compilers write it (tsr_pblas_mangling). */
#include <stddef.h>

#include "front/doors/pblas/door.h"

/* The flag for a letter in either case; 0 for any other letter. */
static tsr_op op_of(const char *letter) {
  switch (*letter) {
    case 'N':
    case 'n':
      return TSR_NO_TRANS;
    case 'T':
    case 't':
      return TSR_TRANS;
    case 'C':
    case 'c':
      return TSR_CONJ_TRANS;
    default:
      return (tsr_op)0;
  }
}

/* All arguments are addresses. The lengths of the two flags follow; C programs do not pass them,
 * and nothing reads them here. */
#define PARAMETERS                                                                              \
  const char *transa, const char *transb, const int *m, const int *n, const int *k,             \
      const void *alpha, const void *a, const int *ia, const int *ja, const int *desca,         \
      const void *b, const int *ib, const int *jb, const int *descb, const void *beta, void *c, \
      const int *ic, const int *jc, const int *descc, size_t length1, size_t length2
#define ARGUMENTS                                                                             \
  transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, beta, c, ic, jc, descc, \
      length1, length2

#define PRODUCT(type_, symbol_, mangling_)                                    \
  TSR_API void symbol_(PARAMETERS);                                           \
  void symbol_(PARAMETERS) {                                                  \
    static tsr_pblas_door door = {.symbol = #symbol_, .mangling = mangling_}; \
    if (door.straight != NULL) {                                              \
      ((void (*)(PARAMETERS))door.straight)(ARGUMENTS);                       \
      return;                                                                 \
    }                                                                         \
    const tsr_pblas_arguments arguments = {type_,                             \
                                           op_of(transa),                     \
                                           op_of(transb),                     \
                                           *m,                                \
                                           *n,                                \
                                           *k,                                \
                                           alpha,                             \
                                           beta,                              \
                                           {a, *ia, *ja, desca},              \
                                           {b, *ib, *jb, descb},              \
                                           {c, *ic, *jc, descc}};             \
    tsr_pblas_visit visit;                                                    \
    door.caller = TSR_DOOR_CALLER;                                            \
    tsr_door_routine next = tsr_pblas_enter(&door, &arguments, &visit);       \
    if (next == NULL) return;                                                 \
    ((void (*)(PARAMETERS))next)(ARGUMENTS);                                  \
    tsr_pblas_leave(&visit);                                                  \
  }

#define ALL(type, lower, upper)               \
  PRODUCT(type, p##lower##_, TSR_PBLAS_ADDED) \
  PRODUCT(type, p##lower, TSR_PBLAS_PLAIN)    \
  PRODUCT(type, P##upper, TSR_PBLAS_UPPER)    \
  PRODUCT(type, p##lower##__, TSR_PBLAS_DOUBLED)

ALL(TSR_S, sgemm, SGEMM)
ALL(TSR_D, dgemm, DGEMM)
ALL(TSR_C, cgemm, CGEMM)
ALL(TSR_Z, zgemm, ZGEMM)
