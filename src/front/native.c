/* The native door: calls. */
#include "blas/call.h"
#include "front/context.h"

static tsr_status gemm(tsr_context *context, bool async, tsr_type type, tsr_layout layout,
                       tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
                       const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                       const void *beta, void *c, int64_t ldc) {
  tsr_call call;
  tsr_binding binding;
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(tsr_call_gemm(type, layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
                        true, &call, &binding));
  if (tsr_call_is_empty(&call)) return TSR_OK;
  if (context->engine == NULL) return tsr_call_on_cpu(&call, &binding);
  TSR_TRY(tsr_context_place(context, &call, &binding, layout == TSR_ROW_MAJOR));
  return tsr_context_call(context, &call, &binding, async);
}

tsr_status tsr_gemm(tsr_context *context, tsr_type type, tsr_layout layout, tsr_op transa,
                    tsr_op transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                    const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
                    void *c, int64_t ldc) {
  return gemm(context, false, type, layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c,
              ldc);
}

tsr_status tsr_gemm_async(tsr_context *context, tsr_type type, tsr_layout layout, tsr_op transa,
                          tsr_op transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                          const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
                          void *c, int64_t ldc) {
  return gemm(context, true, type, layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c,
              ldc);
}

tsr_status tsr_sgemm(tsr_context *context, tsr_layout layout, tsr_op transa, tsr_op transb,
                     int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
                     const float *b, int64_t ldb, float beta, float *c, int64_t ldc) {
  return gemm(context, false, TSR_S, layout, transa, transb, m, n, k, &alpha, a, lda, b, ldb, &beta,
              c, ldc);
}

tsr_status tsr_dgemm(tsr_context *context, tsr_layout layout, tsr_op transa, tsr_op transb,
                     int64_t m, int64_t n, int64_t k, double alpha, const double *a, int64_t lda,
                     const double *b, int64_t ldb, double beta, double *c, int64_t ldc) {
  return gemm(context, false, TSR_D, layout, transa, transb, m, n, k, &alpha, a, lda, b, ldb, &beta,
              c, ldc);
}

tsr_status tsr_cgemm(tsr_context *context, tsr_layout layout, tsr_op transa, tsr_op transb,
                     int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                     const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc) {
  return gemm(context, false, TSR_C, layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta,
              c, ldc);
}

tsr_status tsr_zgemm(tsr_context *context, tsr_layout layout, tsr_op transa, tsr_op transb,
                     int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                     const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc) {
  return gemm(context, false, TSR_Z, layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta,
              c, ldc);
}
