/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The Fortran symbols: dgemm_ with 32-bit integers, dgemm_64_ with 64-bit ones, and so on; each
 * also with the prefix of the BLAS in Python's wheels: scipy_dgemm_ and scipy_dgemm_64_. LAPACK's
 * have no others. */
#include "front/doors/doors.h"
#include "front/doors/signatures.h"
#include "front/doors/table.h"

#define FORTRAN(signature, operation_, type_, symbol_, INT)                                   \
  TSR_API void symbol_(FORTRAN_PARAMETERS(signature, INT));                                   \
  static void symbol_##_full(FORTRAN_PARAMETERS(signature, INT));                             \
  static void symbol_##_quick(FORTRAN_PARAMETERS(signature, INT));                            \
  static void symbol_##_picked(FORTRAN_PARAMETERS(signature, INT));                           \
  static void symbol_##_guided(FORTRAN_PARAMETERS(signature, INT));                           \
  typedef void (*symbol_##_routine)(FORTRAN_PARAMETERS(signature, INT));                      \
  static tsr_door symbol_##_door = TSR_DOOR(#symbol_, symbol_);                               \
  void symbol_(FORTRAN_PARAMETERS(signature, INT)) {                                          \
    ((symbol_##_routine)tsr_door_way(&symbol_##_door))(FORTRAN_ARGUMENTS(signature));         \
  }                                                                                           \
  static void symbol_##_quick(FORTRAN_PARAMETERS(signature, INT)) {                           \
    double multiplications = FORTRAN_MULTIPLICATIONS(signature);                              \
    ((symbol_##_routine)tsr_door_by_size(&symbol_##_door, multiplications))(                  \
        FORTRAN_ARGUMENTS(signature));                                                        \
  }                                                                                           \
  static void symbol_##_picked(FORTRAN_PARAMETERS(signature, INT)) {                          \
    double multiplications = FORTRAN_MULTIPLICATIONS(signature);                              \
    ((symbol_##_routine)tsr_door_by_both(&symbol_##_door, multiplications, TSR_DOOR_CALLER))( \
        FORTRAN_ARGUMENTS(signature));                                                        \
  }                                                                                           \
  static void symbol_##_guided(FORTRAN_PARAMETERS(signature, INT)) {                          \
    ((symbol_##_routine)tsr_door_by_caller(&symbol_##_door, TSR_DOOR_CALLER))(                \
        FORTRAN_ARGUMENTS(signature));                                                        \
  }                                                                                           \
  static void symbol_##_full(FORTRAN_PARAMETERS(signature, INT)) {                            \
    const tsr_offload_call call = {                                                           \
        .what.operation = operation_,                                                         \
        .what.type = type_,                                                                   \
        .what.layout = TSR_COL_MAJOR,                                                         \
        FORTRAN_FIELDS(signature).multiplications = FORTRAN_MULTIPLICATIONS(signature)};      \
    tsr_door_visit visit;                                                                     \
    tsr_door_routine next = tsr_door_enter(&symbol_##_door, &call, TSR_DOOR_CALLER, &visit);  \
    if (next != NULL) {                                                                       \
      ((symbol_##_routine)next)(FORTRAN_ARGUMENTS(signature));                                \
      tsr_door_leave(&visit);                                                                 \
      return;                                                                                 \
    }                                                                                         \
    FORTRAN_OUTPUTS(signature, INT)                                                           \
  }

#define TSR_DOOR_EACH(signature, name, operation, letter, type, alpha, beta) \
  FORTRAN(signature, operation, type, letter##name##_, int32_t)              \
  FORTRAN(signature, operation, type, letter##name##_64_, int64_t)           \
  FORTRAN(signature, operation, type, scipy_##letter##name##_, int32_t)      \
  FORTRAN(signature, operation, type, scipy_##letter##name##_64_, int64_t)

TSR_DOORS
TSR_DOORS_OF_LAPACK
