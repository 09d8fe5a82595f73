/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The native door: routines with the type in their name (tsr_dgemm), from the table of routines
 * (blas/routines.def). Each calls the routine that takes the type as an argument. Real scalars come
 * by value and are passed on by their address; complex scalars come as addresses already.
 */
#include "blas/routines.def"
#include "tessera.h"

#define TAKE_float float
#define TAKE_double double
#define TAKE_complex const void *
#define ADDRESS_float(scalar) &(scalar)
#define ADDRESS_double(scalar) &(scalar)
#define ADDRESS_complex(scalar) (scalar)
#define ELEMENT_s float
#define ELEMENT_d double
#define ELEMENT_c void
#define ELEMENT_z void

/* x is (element, alpha, beta): the type of the elements, and how the scalars are given. */
#define ELEMENT(element, alpha, beta) element
#define TAKE_alpha(element, alpha, beta) TAKE_##alpha
#define TAKE_beta(element, alpha, beta) TAKE_##beta
#define ADDRESS_alpha(element, how, beta) ADDRESS_##how(alpha)
#define ADDRESS_beta(element, alpha, how) ADDRESS_##how(beta)

#define PARAMETER_FLAG(x, name, field, flag) tsr_##flag name
#define PARAMETER_EXTENT(x, name, field) int64_t name
#define PARAMETER_SCALAR(x, name, field) TAKE_##name x name
#define PARAMETER_INPUT(x, name, ...) const ELEMENT x *name, int64_t ld##name
#define PARAMETER_RESULT(x, name, ...) ELEMENT x *name, int64_t ld##name
#define PARAMETER(x, kind, ...) , PARAMETER_##kind(x, __VA_ARGS__)

#define ARGUMENT_FLAG(x, name, field, flag) name
#define ARGUMENT_EXTENT(x, name, field) name
#define ARGUMENT_SCALAR(x, name, field) ADDRESS_##name x
#define ARGUMENT_INPUT(x, name, ...) name, ld##name
#define ARGUMENT_RESULT ARGUMENT_INPUT
#define ARGUMENT(x, kind, ...) , ARGUMENT_##kind(x, __VA_ARGS__)

#define ROUTINE(function, of, type, signature, x)                                             \
  tsr_status function(tsr_context *context,                                                   \
                      tsr_layout layout TSR_ARGUMENTS_##signature(PARAMETER, PARAMETER, x)) { \
    return of(context, type, layout TSR_ARGUMENTS_##signature(ARGUMENT, ARGUMENT, x));        \
  }

#define BOTH(letter, type, name, signature, alpha, beta)                                   \
  ROUTINE(tsr_##letter##name, tsr_##name, type, signature,                                 \
          (ELEMENT_##letter, TSR_SCALAR_##alpha##_##letter, TSR_SCALAR_##beta##_##letter)) \
  ROUTINE(tsr_##letter##name##_async, tsr_##name##_async, type, signature,                 \
          (ELEMENT_##letter, TSR_SCALAR_##alpha##_##letter, TSR_SCALAR_##beta##_##letter))

#define ROW(name, operation, signature, family, types, alpha, beta, ...) \
  TSR_EACH_##types(BOTH, name, signature, alpha, beta)

TSR_ROUTINES(ROW)
