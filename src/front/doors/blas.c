/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The Fortran symbols: dgemm_ with 32-bit integers, dgemm_64_ with 64-bit ones, and so on; each
 * also with the prefix of the BLAS in Python's wheels: scipy_dgemm_ and scipy_dgemm_64_. */
#include "front/doors/doors.h"
#include "front/doors/signatures.h"
#include "front/doors/table.h"

#define FORTRAN(signature, operation_, type_, symbol_, INT)                                   \
  TSR_API void symbol_(FORTRAN_##signature##_PARAMETERS(INT));                                \
  static void symbol_##_full(FORTRAN_##signature##_PARAMETERS(INT));                          \
  static void symbol_##_quick(FORTRAN_##signature##_PARAMETERS(INT));                         \
  static void symbol_##_picked(FORTRAN_##signature##_PARAMETERS(INT));                        \
  static void symbol_##_guided(FORTRAN_##signature##_PARAMETERS(INT));                        \
  typedef void (*symbol_##_routine)(FORTRAN_##signature##_PARAMETERS(INT));                   \
  static tsr_door symbol_##_door = TSR_DOOR(#symbol_, symbol_);                               \
  void symbol_(FORTRAN_##signature##_PARAMETERS(INT)) {                                       \
    ((symbol_##_routine)tsr_door_way(&symbol_##_door))(FORTRAN_##signature##_ARGUMENTS);      \
  }                                                                                           \
  static void symbol_##_quick(FORTRAN_##signature##_PARAMETERS(INT)) {                        \
    double multiplications = FORTRAN_##signature##_MULTIPLICATIONS;                           \
    ((symbol_##_routine)tsr_door_by_size(&symbol_##_door, multiplications))(                  \
        FORTRAN_##signature##_ARGUMENTS);                                                     \
  }                                                                                           \
  static void symbol_##_picked(FORTRAN_##signature##_PARAMETERS(INT)) {                       \
    double multiplications = FORTRAN_##signature##_MULTIPLICATIONS;                           \
    ((symbol_##_routine)tsr_door_by_both(&symbol_##_door, multiplications, TSR_DOOR_CALLER))( \
        FORTRAN_##signature##_ARGUMENTS);                                                     \
  }                                                                                           \
  static void symbol_##_guided(FORTRAN_##signature##_PARAMETERS(INT)) {                       \
    ((symbol_##_routine)tsr_door_by_caller(&symbol_##_door, TSR_DOOR_CALLER))(                \
        FORTRAN_##signature##_ARGUMENTS);                                                     \
  }                                                                                           \
  static void symbol_##_full(FORTRAN_##signature##_PARAMETERS(INT)) {                         \
    const tsr_offload_call call = {{.operation = operation_,                                  \
                                    .type = type_,                                            \
                                    .layout = TSR_COL_MAJOR,                                  \
                                    FORTRAN_##signature##_FIELDS},                            \
                                   FORTRAN_##signature##_MATRICES,                            \
                                   FORTRAN_##signature##_MULTIPLICATIONS};                    \
    tsr_door_visit visit;                                                                     \
    tsr_door_routine next = tsr_door_enter(&symbol_##_door, &call, TSR_DOOR_CALLER, &visit);  \
    if (next == NULL) return;                                                                 \
    ((symbol_##_routine)next)(FORTRAN_##signature##_ARGUMENTS);                               \
    tsr_door_leave(&visit);                                                                   \
  }

#define ALL(signature, name, operation, letter, type, alpha, beta)      \
  FORTRAN(signature, operation, type, letter##name##_, int32_t)         \
  FORTRAN(signature, operation, type, letter##name##_64_, int64_t)      \
  FORTRAN(signature, operation, type, scipy_##letter##name##_, int32_t) \
  FORTRAN(signature, operation, type, scipy_##letter##name##_64_, int64_t)

TSR_DOORS(ALL)
