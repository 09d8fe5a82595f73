/*
 * An operand of a product: a matrix from a file, as the type and at the place that the user asked
 * for. What can be used as it is mapped is used so.
 */
#ifndef TESSERA_OPERAND_H
#define TESSERA_OPERAND_H

#include "elements.h"
#include "npy.h"
#include "settings.h"

typedef struct operand {
  const npy *file;
  tsr_op op;        /* as asked for, of the matrix as it is read */
  matrix_view view; /* in host memory: of the file, or of the converted copy; op not applied */
  bool conjugated;  /* the copy is */
  void *converted;  /* a copy in another type, conjugated or aligned; NULL: the file itself */
  void *placed;     /* a copy at its home; NULL: the host memory */
} operand;

/* Makes the operand of the type; conjugated if BLAS has no flag for what is asked. */
int operand_create(const npy *file, tsr_op op, tsr_type type, bool conjugate, operand *result);
void operand_destroy(operand *o, tsr_context *context);

/* Puts it at its home. */
int operand_place(operand *o, home where, tsr_context *context);

/* What to give to the library. */
const void *operand_pointer(const operand *o);
int64_t operand_ld(const operand *o);

/* The op for a product in that layout: a matrix of the other order is seen transposed. false: BLAS
 * has no flag for it (a conjugate without a transpose). */
bool operand_op(bool file_column_major, bool column_major, tsr_op op, tsr_type type,
                tsr_op *result);

/* Memory at a home, for any matrix. *pointer is NULL when the host memory serves. */
int place_alloc(home where, size_t bytes, tsr_context *context, void **pointer);

#endif
