/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "blas/call.h"

#include "blas/family.h"
#include "blas/operation.h"

int64_t tsr_operand_bytes(const tsr_operand *operand, tsr_type type) {
  if (operand->rows == 0 || operand->cols == 0) return 0;
  int64_t elements = (operand->cols - 1) * operand->ld + operand->rows;
  return elements * (int64_t)tsr_type_get(type)->size;
}

double tsr_call_flops(const tsr_call *call) {
  const tsr_operation_info *info = tsr_operation_get(call->operation);
  /* Multiply-adds as BLAS counts them: a triangle includes its diagonal. */
  double products = (double)call->m * (double)call->n * (double)call->k;
  bool two = call->operation == TSR_SYR2K || call->operation == TSR_HER2K;
  if (tsr_operation_has_triangle(info))
    products = 0.5 * (double)call->n * ((double)call->n + 1) * call->k;
  if (two) products *= 2;
  if (info->has.diag) products /= 2;
  if (tsr_family_of(call->operation) == TSR_FACTOR) products /= 3;
  return tsr_type_get(call->type)->flop_factor * products;
}

tsr_call tsr_call_natively(const tsr_call *call) {
  tsr_call native = *call;
  native.arithmetic = NULL;
  native.promise = (tsr_promise){0};
  native.faster = false;
  return native;
}

bool tsr_call_has_verdicts(const tsr_call *call) {
  return tsr_call_may_refuse(call) || tsr_family_of(call->operation) == TSR_FACTOR;
}

bool tsr_call_scales_only(const tsr_call *call) {
  return call->alpha == TSR_ZERO || call->k == 0;
}

bool tsr_call_adds_last(const tsr_call *call) {
  const tsr_operation_info *info = tsr_operation_get(call->operation);
  return info->has.k && call->adds_last && call->beta != TSR_ZERO && !tsr_call_scales_only(call);
}

bool tsr_call_is_staged(const tsr_call *call) {
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const tsr_operand *o = &call->operand[x];
    if (o->rows > 0 && (o->memory == TSR_PAGEABLE || o->memory == TSR_MANAGED)) return true;
  }
  return false;
}

bool tsr_call_is_empty(const tsr_call *call) {
  if (call->m == 0 || call->n == 0) return true;
  return tsr_call_scales_only(call) && call->beta == TSR_ONE;
}
