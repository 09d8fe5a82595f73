/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The CBLAS symbols: cblas_dgemm with 32-bit integers, cblas_dgemm64_ with 64-bit ones, and so on;
 * each also with the prefix of the BLAS in Python's wheels: scipy_cblas_dgemm and
 * scipy_cblas_dgemm64_. */
#include "front/doors/doors.h"
#include "front/doors/signatures.h"
#include "front/doors/table.h"

#define CBLAS(signature, operation_, type_, symbol_, INT, ALPHA, BETA)                        \
  TSR_API void symbol_(CBLAS_##signature##_PARAMETERS(ALPHA, BETA));                          \
  static void symbol_##_full(CBLAS_##signature##_PARAMETERS(ALPHA, BETA));                    \
  static void symbol_##_quick(CBLAS_##signature##_PARAMETERS(ALPHA, BETA));                   \
  static void symbol_##_picked(CBLAS_##signature##_PARAMETERS(ALPHA, BETA));                  \
  static void symbol_##_guided(CBLAS_##signature##_PARAMETERS(ALPHA, BETA));                  \
  typedef void (*symbol_##_routine)(CBLAS_##signature##_PARAMETERS(ALPHA, BETA));             \
  static tsr_door symbol_##_door = TSR_DOOR(#symbol_, symbol_);                               \
  void symbol_(CBLAS_##signature##_PARAMETERS(ALPHA, BETA)) {                                 \
    ((symbol_##_routine)tsr_door_way(&symbol_##_door))(CBLAS_##signature##_ARGUMENTS);        \
  }                                                                                           \
  static void symbol_##_quick(CBLAS_##signature##_PARAMETERS(ALPHA, BETA)) {                  \
    double multiplications = CBLAS_##signature##_MULTIPLICATIONS(INT);                        \
    ((symbol_##_routine)tsr_door_by_size(&symbol_##_door, multiplications))(                  \
        CBLAS_##signature##_ARGUMENTS);                                                       \
  }                                                                                           \
  static void symbol_##_picked(CBLAS_##signature##_PARAMETERS(ALPHA, BETA)) {                 \
    double multiplications = CBLAS_##signature##_MULTIPLICATIONS(INT);                        \
    ((symbol_##_routine)tsr_door_by_both(&symbol_##_door, multiplications, TSR_DOOR_CALLER))( \
        CBLAS_##signature##_ARGUMENTS);                                                       \
  }                                                                                           \
  static void symbol_##_guided(CBLAS_##signature##_PARAMETERS(ALPHA, BETA)) {                 \
    ((symbol_##_routine)tsr_door_by_caller(&symbol_##_door, TSR_DOOR_CALLER))(                \
        CBLAS_##signature##_ARGUMENTS);                                                       \
  }                                                                                           \
  static void symbol_##_full(CBLAS_##signature##_PARAMETERS(ALPHA, BETA)) {                   \
    const tsr_offload_call call = {{.operation = operation_,                                  \
                                    .type = type_,                                            \
                                    .layout = tsr_cblas_layout(layout),                       \
                                    CBLAS_##signature##_FIELDS(INT)},                         \
                                   CBLAS_##signature##_MATRICES(ALPHA, BETA),                 \
                                   CBLAS_##signature##_MULTIPLICATIONS(INT)};                 \
    tsr_door_visit visit;                                                                     \
    tsr_door_routine next = tsr_door_enter(&symbol_##_door, &call, TSR_DOOR_CALLER, &visit);  \
    if (next == NULL) return;                                                                 \
    ((symbol_##_routine)next)(CBLAS_##signature##_ARGUMENTS);                                 \
    tsr_door_leave(&visit);                                                                   \
  }

#define ALL(signature, name, operation, letter, type, alpha, beta)                    \
  CBLAS(signature, operation, type, cblas_##letter##name, int32_t, alpha, beta)       \
  CBLAS(signature, operation, type, cblas_##letter##name##64_, int64_t, alpha, beta)  \
  CBLAS(signature, operation, type, scipy_cblas_##letter##name, int32_t, alpha, beta) \
  CBLAS(signature, operation, type, scipy_cblas_##letter##name##64_, int64_t, alpha, beta)

TSR_DOORS(ALL)
