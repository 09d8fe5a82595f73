/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An operand of a product: a matrix from a file, in the type and at the home that the user asked
 * for. If the mapped file has both already, it is used without a copy.
 */
#ifndef TESSERA_OPERAND_H
#define TESSERA_OPERAND_H

#include "elements.h"
#include "npy.h"
#include "settings.h"

typedef struct operand {
  const npy *file;
  tsr_op op;        /* the user's op, of the matrix in the file */
  matrix_view view; /* of the file, or of the converted copy; op is not applied */
  bool conjugated;  /* the converted copy is conjugated */
  void *converted;  /* a copy in another type, conjugated or aligned; NULL: the file itself */
  void *placed;     /* a copy at its home; NULL: view's memory is used */
} operand;

/* Makes the operand in the given type, with a conjugated copy if `conjugate` is set (when the BLAS
 * has no flag for op). */
int operand_create(const npy *file, tsr_op op, tsr_type type, bool conjugate, operand *result);
/* Copies the operand, unless it is a copy, so that it may be written; the exit code. */
int operand_own(operand *o);

void operand_destroy(operand *o, tsr_context *context);

/* Copies the operand to its home, unless it is there; the exit code. */
int operand_place(operand *o, home where, tsr_context *context);

/* The address and the leading dimension to give to the library. */
const void *operand_pointer(const operand *o);
int64_t operand_ld(const operand *o);

/* *result: the flag for a product in the given layout; a file in the other order counts as
 * transposed. False: the BLAS has no flag for it (a conjugate without a transpose). */
bool operand_op(bool file_column_major, bool column_major, tsr_op op, tsr_type type,
                tsr_op *result);

/* Allocates memory at a home; the exit code. *pointer is NULL if ordinary host memory is that
 * home. */
int place_alloc(home where, size_t bytes, tsr_context *context, void **pointer);

#endif
