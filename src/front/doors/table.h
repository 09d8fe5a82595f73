/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The table of the BLAS doors, one row for each routine. blas.c defines the Fortran symbols from
 * it, cblas.c the CBLAS symbols, and batches.c both of batches, each with 32-bit integers and, with
 * a suffix, with 64-bit ones. The symbols that the linker exports are listed again in exports.map.
 *
 *   DOOR(signature, name, operation, letter, type, alpha, beta)
 *
 * signature is how the routine takes its arguments (signatures.h); alpha and beta are how CBLAS
 * takes the scalars: float and double by value, complex by address.
 */
#ifndef TSR_FRONT_DOORS_TABLE_H
#define TSR_FRONT_DOORS_TABLE_H

#define TSR_DOORS_OF_COMPLEX(DOOR, signature, name, operation) \
  DOOR(signature, name, operation, c, TSR_C, complex, complex) \
  DOOR(signature, name, operation, z, TSR_Z, complex, complex)

#define TSR_DOORS_OF_ALL(DOOR, signature, name, operation)   \
  DOOR(signature, name, operation, s, TSR_S, float, float)   \
  DOOR(signature, name, operation, d, TSR_D, double, double) \
  TSR_DOORS_OF_COMPLEX(DOOR, signature, name, operation)

/* The product of which one triangle is computed has two names: gemmt in vendors' libraries, gemmtr
 * in the reference BLAS. */
#define TSR_DOORS(DOOR)                                      \
  TSR_DOORS_OF_ALL(DOOR, PRODUCT, gemm, TSR_GEMM)            \
  TSR_DOORS_OF_ALL(DOOR, TRIANGLE, gemmt, TSR_GEMMT)         \
  TSR_DOORS_OF_ALL(DOOR, TRIANGLE, gemmtr, TSR_GEMMT)        \
  TSR_DOORS_OF_ALL(DOOR, SIDED, symm, TSR_SYMM)              \
  TSR_DOORS_OF_COMPLEX(DOOR, SIDED, hemm, TSR_HEMM)          \
  TSR_DOORS_OF_ALL(DOOR, RANK_K, syrk, TSR_SYRK)             \
  DOOR(RANK_K, herk, TSR_HERK, c, TSR_C, float, float)       \
  DOOR(RANK_K, herk, TSR_HERK, z, TSR_Z, double, double)     \
  TSR_DOORS_OF_ALL(DOOR, RANK_2K, syr2k, TSR_SYR2K)          \
  DOOR(RANK_2K, her2k, TSR_HER2K, c, TSR_C, complex, float)  \
  DOOR(RANK_2K, her2k, TSR_HER2K, z, TSR_Z, complex, double) \
  TSR_DOORS_OF_ALL(DOOR, TRIANGULAR, trmm, TSR_TRMM)         \
  TSR_DOORS_OF_ALL(DOOR, TRIANGULAR, trsm, TSR_TRSM)

/* Batches of products; their signatures are in batches.c. */
#define TSR_DOORS_OF_BATCHES(DOOR)                     \
  TSR_DOORS_OF_ALL(DOOR, GROUPS, gemm_batch, TSR_GEMM) \
  TSR_DOORS_OF_ALL(DOOR, STRIDES, gemm_batch_strided, TSR_GEMM)

#endif
