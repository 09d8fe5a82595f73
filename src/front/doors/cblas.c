/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The CBLAS symbols: cblas_dgemm with 32-bit integers, cblas_dgemm64_ with 64-bit ones, and so on;
 * each also with the prefix of the BLAS in Python's wheels: scipy_cblas_dgemm and
 * scipy_cblas_dgemm64_. */
#include "front/doors/doors.h"
#include "front/doors/signatures.h"
#include "front/doors/table.h"

/* x is (INT, ALPHA, BETA): the integers that are read, and how the scalars are given. */
#define CBLAS(signature, operation_, type_, symbol_, x)                                       \
  TSR_API void symbol_(CBLAS_PARAMETERS(signature, x));                                       \
  static void symbol_##_full(CBLAS_PARAMETERS(signature, x));                                 \
  static void symbol_##_quick(CBLAS_PARAMETERS(signature, x));                                \
  static void symbol_##_picked(CBLAS_PARAMETERS(signature, x));                               \
  static void symbol_##_guided(CBLAS_PARAMETERS(signature, x));                               \
  typedef void (*symbol_##_routine)(CBLAS_PARAMETERS(signature, x));                          \
  static tsr_door symbol_##_door = TSR_DOOR(#symbol_, symbol_);                               \
  void symbol_(CBLAS_PARAMETERS(signature, x)) {                                              \
    ((symbol_##_routine)tsr_door_way(&symbol_##_door))(CBLAS_ARGUMENTS(signature));           \
  }                                                                                           \
  static void symbol_##_quick(CBLAS_PARAMETERS(signature, x)) {                               \
    double multiplications = CBLAS_MULTIPLICATIONS(signature, x);                             \
    ((symbol_##_routine)tsr_door_by_size(&symbol_##_door, multiplications))(                  \
        CBLAS_ARGUMENTS(signature));                                                          \
  }                                                                                           \
  static void symbol_##_picked(CBLAS_PARAMETERS(signature, x)) {                              \
    double multiplications = CBLAS_MULTIPLICATIONS(signature, x);                             \
    ((symbol_##_routine)tsr_door_by_both(&symbol_##_door, multiplications, TSR_DOOR_CALLER))( \
        CBLAS_ARGUMENTS(signature));                                                          \
  }                                                                                           \
  static void symbol_##_guided(CBLAS_PARAMETERS(signature, x)) {                              \
    ((symbol_##_routine)tsr_door_by_caller(&symbol_##_door, TSR_DOOR_CALLER))(                \
        CBLAS_ARGUMENTS(signature));                                                          \
  }                                                                                           \
  static void symbol_##_full(CBLAS_PARAMETERS(signature, x)) {                                \
    const tsr_offload_call call = {                                                           \
        .what.operation = operation_,                                                         \
        .what.type = type_,                                                                   \
        .what.layout = tsr_cblas_layout(layout),                                              \
        CBLAS_FIELDS(signature, x).multiplications = CBLAS_MULTIPLICATIONS(signature, x)};    \
    tsr_door_visit visit;                                                                     \
    tsr_door_routine next = tsr_door_enter(&symbol_##_door, &call, TSR_DOOR_CALLER, &visit);  \
    if (next == NULL) return;                                                                 \
    ((symbol_##_routine)next)(CBLAS_ARGUMENTS(signature));                                    \
    tsr_door_leave(&visit);                                                                   \
  }

#define TSR_DOOR_EACH(signature, name, operation, letter, type, alpha, beta)            \
  CBLAS(signature, operation, type, cblas_##letter##name, (int32_t, alpha, beta))       \
  CBLAS(signature, operation, type, cblas_##letter##name##64_, (int64_t, alpha, beta))  \
  CBLAS(signature, operation, type, scipy_cblas_##letter##name, (int32_t, alpha, beta)) \
  CBLAS(signature, operation, type, scipy_cblas_##letter##name##64_, (int64_t, alpha, beta))

TSR_DOORS
