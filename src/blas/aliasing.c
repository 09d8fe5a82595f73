/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks that a call does not write to memory that it reads as A or B. */
#include "base/overlap.h"
#include "blas/call.h"
#include "blas/operation.h"

static tsr_storage storage_of(const tsr_call *call, const tsr_binding *binding, int operand) {
  const tsr_operand *o = &call->operand[operand];
  return (tsr_storage){.base = binding->base[operand],
                       .rows = o->rows,
                       .cols = o->cols,
                       .ld = o->ld,
                       .uplo = TSR_GENERAL};
}

/* The part of A or B that a call reads: of A only a triangle for symm, hemm, trmm and trsm. */
static tsr_storage input_of(const tsr_call *call, const tsr_binding *binding, int operand) {
  const tsr_operation_info *info = tsr_operation_get(call->operation);
  tsr_storage s = storage_of(call, binding, operand);
  if (operand == TSR_A && info->has.side) s.uplo = call->uplo;
  s.no_diagonal = operand == TSR_A && info->has.diag && call->diag == TSR_UNIT;
  return s;
}

tsr_status tsr_call_check_aliasing(const tsr_call *call, const tsr_binding *binding,
                                   bool exchanged) {
  const tsr_operation_info *info = tsr_operation_get(call->operation);
  tsr_storage written = storage_of(call, binding, TSR_C_);
  if (tsr_operation_has_triangle(info)) written.uplo = call->uplo;
  for (int x = TSR_A; x <= TSR_B_ && !tsr_call_scales_only(call); x++) {
    tsr_storage read = input_of(call, binding, x);
    if (!tsr_storage_overlap(&read, &written, tsr_type_get(call->type)->size)) continue;
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "%s: %s = %p shares memory with %s = %p: give %c a place of its own",
                    info->name, tsr_operation_operand(call->operation, TSR_C_, exchanged),
                    written.base, tsr_operation_operand(call->operation, x, exchanged), read.base,
                    info->has.beta ? 'C' : 'B');
  }
  return TSR_OK;
}
