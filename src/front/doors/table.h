/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The BLAS doors, from the table of routines (blas/routines.def). blas.c defines the Fortran
 * symbols of them and of LAPACK's, cblas.c the CBLAS symbols, and batches.c both of batches, each
 * with 32-bit integers and, with a suffix, with 64-bit ones. The symbols that the linker exports
 * are listed again in exports.map. Each of the three files defines what a door is to it:
 *
 *   TSR_DOOR_EACH(signature, name, operation, letter, type, alpha, beta)
 *
 * signature is the routine's list of arguments; alpha and beta are how CBLAS takes the scalars:
 * float and double by value, complex by address.
 */
#ifndef TSR_FRONT_DOORS_TABLE_H
#define TSR_FRONT_DOORS_TABLE_H

#include "blas/call.h"
#include "blas/routines.def"

#define TSR_DOOR_OF_TYPE(letter, type, signature, name, operation, alpha, beta)          \
  TSR_DOOR_EACH(signature, name, operation, letter, type, TSR_SCALAR_##alpha##_##letter, \
                TSR_SCALAR_##beta##_##letter)
#define TSR_DOOR_OF_ROUTINE(name, operation, signature, family, types, alpha, beta, ...) \
  TSR_EACH_##types(TSR_DOOR_OF_TYPE, signature, name, TSR_##operation, alpha, beta)

/* The product of which one triangle is computed has two names: gemmt in vendors' libraries, gemmtr
 * in the reference BLAS. */
#define TSR_DOORS                   \
  TSR_ROUTINES(TSR_DOOR_OF_ROUTINE) \
  TSR_EACH_BLAS(TSR_DOOR_OF_TYPE, GEMMT, gemmtr, TSR_GEMMT, ELEMENT, ELEMENT)

/* The routines of LAPACK, which have Fortran symbols only. */
#define TSR_DOOR_OF_FACTORISATION(name, operation, signature, types, ...) \
  TSR_EACH_##types(TSR_DOOR_OF_TYPE, signature, name, TSR_OPERATION_OF(TSR_##operation), NO, NO)
#define TSR_DOOR_OF_SOLVER(name, operation, signature, types, ...)                              \
  TSR_EACH_##types(TSR_DOOR_OF_TYPE, signature, name, TSR_OPERATION_OF_SOLVER(TSR_##operation), \
                   NO, NO)
#define TSR_DOORS_OF_LAPACK \
  TSR_FACTORISATIONS(TSR_DOOR_OF_FACTORISATION) TSR_SOLVERS(TSR_DOOR_OF_SOLVER)

/* Batches of products; their signatures are in batches.c. */
#define TSR_DOORS_OF_BATCHES                                                      \
  TSR_EACH_BLAS(TSR_DOOR_OF_TYPE, GROUPS, gemm_batch, TSR_GEMM, ELEMENT, ELEMENT) \
  TSR_EACH_BLAS(TSR_DOOR_OF_TYPE, STRIDES, gemm_batch_strided, TSR_GEMM, ELEMENT, ELEMENT)

#endif
