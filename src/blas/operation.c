/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "blas/operation.h"

#include "blas/call.h"

static const tsr_operation_info table[TSR_OPERATION_COUNT] = {
    [TSR_GEMM] = {.name = "gemm",
                  .signature = TSR_SIGNATURE_PRODUCT,
                  .types = "sdczhbt",
                  .kernel = TSR_KERNEL_GEMM,
                  .has_b = true},
    [TSR_GEMMT] = {.name = "gemmt",
                   .signature = TSR_SIGNATURE_PRODUCT,
                   .types = "sdcz",
                   .kernel = TSR_KERNEL_GEMM,
                   .triangle_of_c = true,
                   .has_b = true},
    [TSR_SYMM] = {.name = "symm",
                  .signature = TSR_SIGNATURE_SIDED,
                  .types = "sdcz",
                  .kernel = TSR_KERNEL_SYMM,
                  .has_b = true},
    [TSR_HEMM] = {.name = "hemm",
                  .signature = TSR_SIGNATURE_SIDED,
                  .types = "cz",
                  .kernel = TSR_KERNEL_HEMM,
                  .hermitian = true,
                  .has_b = true},
    [TSR_SYRK] = {.name = "syrk",
                  .signature = TSR_SIGNATURE_RANK_K,
                  .types = "sdcz",
                  .kernel = TSR_KERNEL_SYRK,
                  .triangle_of_c = true},
    [TSR_HERK] = {.name = "herk",
                  .signature = TSR_SIGNATURE_RANK_K,
                  .types = "cz",
                  .kernel = TSR_KERNEL_HERK,
                  .triangle_of_c = true,
                  .hermitian = true,
                  .real_alpha = true,
                  .real_beta = true},
    [TSR_SYR2K] = {.name = "syr2k",
                   .signature = TSR_SIGNATURE_RANK_K,
                   .types = "sdcz",
                   .kernel = TSR_KERNEL_SYR2K,
                   .triangle_of_c = true,
                   .has_b = true},
    [TSR_HER2K] = {.name = "her2k",
                   .signature = TSR_SIGNATURE_RANK_K,
                   .types = "cz",
                   .kernel = TSR_KERNEL_HER2K,
                   .triangle_of_c = true,
                   .hermitian = true,
                   .has_b = true,
                   .real_beta = true},
    [TSR_TRMM] = {.name = "trmm",
                  .signature = TSR_SIGNATURE_TRIANGULAR,
                  .types = "sdcz",
                  .kernel = TSR_KERNEL_TRMM},
    [TSR_TRSM] = {.name = "trsm",
                  .signature = TSR_SIGNATURE_TRIANGULAR,
                  .types = "sdcz",
                  .kernel = TSR_KERNEL_TRSM},
};

const tsr_operation_info *tsr_operation_get(tsr_operation operation) {
  return (unsigned)operation < TSR_OPERATION_COUNT ? &table[operation] : NULL;
}

const char *tsr_operation_name(tsr_operation operation) {
  const tsr_operation_info *info = tsr_operation_get(operation);
  return info ? info->name : NULL;
}

const char *tsr_operation_operand(tsr_operation operation, int operand, bool exchanged) {
  static const char *const names[TSR_OPERANDS] = {"a", "b", "c"};
  if (operand == TSR_C_) return table[operation].signature == TSR_SIGNATURE_TRIANGULAR ? "b" : "c";
  return names[exchanged ? 1 - operand : operand];
}

static tsr_scalar read_scalar(tsr_type type, bool real, const void *value) {
  if (real) type = type == TSR_Z ? TSR_D : TSR_S;
  return tsr_scalar_read(type, value);
}

tsr_scalar tsr_operation_alpha(tsr_operation operation, tsr_type type, const void *alpha) {
  return read_scalar(type, table[operation].real_alpha, alpha);
}

tsr_scalar tsr_operation_beta(tsr_operation operation, tsr_type type, tsr_scalar alpha,
                              const void *beta) {
  if (table[operation].signature == TSR_SIGNATURE_TRIANGULAR)
    return (tsr_scalar){tsr_scalar_classify(alpha) != TSR_ZERO, 0};
  return read_scalar(type, table[operation].real_beta, beta);
}
