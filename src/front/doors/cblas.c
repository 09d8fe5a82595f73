/* The CBLAS symbols: cblas_dgemm with 32-bit integers, cblas_dgemm64_ with 64-bit ones, and so on;
 * also as the BLAS of Python's wheels has them, scipy_cblas_dgemm and scipy_cblas_dgemm64_. */
#include "front/doors/doors.h"
#include "front/doors/signatures.h"
#include "front/doors/table.h"

#define CBLAS(signature, operation_, type_, symbol_, INT, ALPHA, BETA)                            \
  TSR_API void symbol_(CBLAS_##signature##_PARAMETERS(ALPHA, BETA));                              \
  void symbol_(CBLAS_##signature##_PARAMETERS(ALPHA, BETA)) {                                     \
    static tsr_door door = {.symbol = #symbol_};                                                  \
    const tsr_offload_call call = {{.operation = operation_,                                      \
                                    .type = type_,                                                \
                                    .layout = tsr_cblas_layout(layout),                           \
                                    CBLAS_##signature##_FIELDS(INT)},                             \
                                   CBLAS_##signature##_MATRICES(ALPHA, BETA)};                    \
    tsr_door_visit visit;                                                                         \
    tsr_door_routine next = tsr_door_enter(&door, &call, &visit);                                 \
    if (next == NULL) return;                                                                     \
    ((void (*)(CBLAS_##signature##_PARAMETERS(ALPHA, BETA)))next)(CBLAS_##signature##_ARGUMENTS); \
    tsr_door_leave(&visit);                                                                       \
  }

#define ALL(signature, name, operation, letter, type, alpha, beta)                    \
  CBLAS(signature, operation, type, cblas_##letter##name, int32_t, alpha, beta)       \
  CBLAS(signature, operation, type, cblas_##letter##name##64_, int64_t, alpha, beta)  \
  CBLAS(signature, operation, type, scipy_cblas_##letter##name, int32_t, alpha, beta) \
  CBLAS(signature, operation, type, scipy_cblas_##letter##name##64_, int64_t, alpha, beta)

TSR_DOORS(ALL)
