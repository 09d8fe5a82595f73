#include "blas/call.h"

#include "base/cpu_blas.h"

const char *tsr_operation_name(tsr_operation operation) {
  static const char *const names[TSR_OPERATION_COUNT] = {"gemm", "gemmt", "symm",  "hemm", "syrk",
                                                         "herk", "syr2k", "her2k", "trmm", "trsm"};
  return (unsigned)operation < TSR_OPERATION_COUNT ? names[operation] : NULL;
}

int64_t tsr_operand_bytes(const tsr_operand *operand, tsr_type type) {
  if (operand->rows == 0 || operand->cols == 0) return 0;
  int64_t elements = (operand->cols - 1) * operand->ld + operand->rows;
  return elements * (int64_t)tsr_type_get(type)->size;
}

double tsr_call_flops(const tsr_call *call) {
  return tsr_kernel_flops(TSR_KERNEL_GEMM, call->type, call->m, call->n, call->k);
}

bool tsr_call_scales_only(const tsr_call *call) {
  return call->alpha == TSR_ZERO || call->k == 0;
}

bool tsr_call_is_empty(const tsr_call *call) {
  if (call->m == 0 || call->n == 0) return true;
  return tsr_call_scales_only(call) && call->beta == TSR_ONE;
}

tsr_status tsr_call_on_cpu(const tsr_call *call, const tsr_binding *binding) {
  TSR_TRY(tsr_cpu_blas_load());
  tsr_kernel_args args = {
      .kernel = tsr_call_scales_only(call) ? TSR_KERNEL_SCALE : TSR_KERNEL_GEMM,
      .type = call->type,
      .transa = call->transa,
      .transb = call->transb,
      .m = call->m,
      .n = call->n,
      .k = call->k,
      .alpha = binding->alpha,
      .beta = binding->beta,
      .a = binding->base[TSR_A],
      .b = binding->base[TSR_B_],
      .c = binding->base[TSR_C_],
      .lda = call->operand[TSR_A].ld,
      .ldb = call->operand[TSR_B_].ld,
      .ldc = call->operand[TSR_C_].ld,
  };
  return tsr_cpu_kernel(&args);
}
