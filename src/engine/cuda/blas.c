/* Kernels: GEMM by the vendor's BLAS, ADD and SCALE by our own; level3.c has the other routines. */
#include <limits.h>

#include "engine/cuda/internal.h"

/* How a type is multiplied; wide_c is the type of C with wide. In the order of tsr_type_index.
 * odd: the least extent that is cut into aligned parts (tsr_kernel_align), 0 where that brings
 * nothing. On an H200, 8191 x 512 x 8191 whole and in parts, TFLOP/s: d 45 to 50 and 52 to 59, t
 * 124 and 235 to 328, h 92 to 142 and 635 to 677; of 1023 cubed nothing comes. */
static const struct {
  gpuBlasType type, wide_c;
  gpuBlasCompute compute;
  bool single; /* alpha and beta are float, else double */
  int odd;
} gemms[TSR_TYPE_COUNT] = {
    {gpuBlas32F, gpuBlas32F, gpuBlasCompute32, true, 0},       /* s */
    {gpuBlas64F, gpuBlas64F, gpuBlasCompute64, false, 1024},   /* d */
    {gpuBlas32C, gpuBlas32C, gpuBlasCompute32, true, 0},       /* c */
    {gpuBlas64C, gpuBlas64C, gpuBlasCompute64, false, 0},      /* z */
    {gpuBlas16F, gpuBlas32F, gpuBlasCompute32, true, 512},     /* h */
    {gpuBlas16B, gpuBlas32F, gpuBlasCompute32, true, 512},     /* b */
    {gpuBlas32F, gpuBlas32F, gpuBlasCompute32Fast, true, 512}, /* t */
};

tsr_status gpu_blas_fail(gpuBlasStatus error, const char *what, int device) {
  (void)gpuLastError();
  tsr_status status = error == gpuBlasNoMemory ? TSR_ERR_MEMORY : TSR_ERR_DEVICE;
  return tsr_fail(status, GPU_BLAS " on device %d: %s failed: %s (%s, %d)", device, what,
                  gpuBlasStatusString(error), gpuBlasStatusName(error), (int)error);
}

/* The workspace after the stream: setting a stream takes the workspace away. */
tsr_status gpu_blas_start(tsr_queue *queue) {
  size_t bytes = queue->device->workspace;
  gpuError error = queue->workspace ? gpuSuccess : gpuMalloc(&queue->workspace, bytes);
  if (error == gpuErrorMemory)
    return gpu_fail(TSR_ERR_MEMORY, error, "allocating a workspace", queue->index);
  GPU_TRY(error, "allocating a workspace", queue->index);
  GPU_BLAS_TRY(gpuBlasCreate(&queue->blas), "starting", queue->index);
  GPU_BLAS_TRY(gpuBlasSetStream(queue->blas, queue->stream), "setting a stream", queue->index);
  GPU_BLAS_TRY(gpuBlasSetWorkspace(queue->blas, queue->workspace, bytes), "setting a workspace",
               queue->index);
  return TSR_OK;
}

void gpu_blas_stop(tsr_queue *queue) {
  if (queue->blas) (void)gpuBlasDestroy(queue->blas);
  if (queue->workspace) (void)gpuFree(queue->workspace);
  if (queue->scratch) (void)gpuFree(queue->scratch);
  queue->blas = NULL;
  queue->workspace = queue->scratch = NULL;
}

/* ---- ADD and SCALE -------------------------------------------------------- */

/* c = alpha a + beta c, or its triangle; a may be NULL: c = beta c. */
static tsr_status add(const tsr_queue *queue, const tsr_kernel_args *x, const void *a, bool wide_c,
                      bool hermitian) {
  tsr_gpu_add args = {.type = (char)x->type,
                      .uplo = (char)x->uplo,
                      .wide_a = x->wide,
                      .wide_c = wide_c,
                      .hermitian = hermitian,
                      .m = x->m,
                      .n = x->n,
                      .alpha = {x->alpha.re, x->alpha.im},
                      .beta = {x->beta.re, x->beta.im},
                      .a = a,
                      .lda = x->lda,
                      .c = x->c,
                      .ldc = x->ldc};
  int error = tsr_gpu_add_launch(&args, queue->device->blocks, queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", queue->index);
  return TSR_OK;
}

static tsr_status scale_only(const tsr_queue *queue, const tsr_kernel_args *x) {
  unsigned traits = tsr_kernel_get(x->kernel)->traits;
  tsr_kernel_args scale = tsr_kernel_without_inputs(x);
  if (tsr_scalar_classify(scale.beta) == TSR_ONE) return TSR_OK;
  return add(queue, &scale, NULL, scale.wide, traits & TSR_TRIANGLE_OF_C && traits & TSR_HERMITIAN);
}

/* ---- GEMM ----------------------------------------------------------------- */

gpu_scalar gpu_scalar_of(tsr_type type, tsr_scalar value) {
  if (gemms[tsr_type_index(type)].single)
    return (gpu_scalar){.s = {(float)value.re, (float)value.im}};
  return (gpu_scalar){.d = {value.re, value.im}};
}

gpuBlasOp gpu_op_of(tsr_type type, tsr_op op) {
  if (op == TSR_NO_TRANS) return gpuBlasOpN;
  bool conjugates = op == TSR_CONJ_TRANS && tsr_type_get(type)->complex_valued;
  return conjugates ? gpuBlasOpC : gpuBlasOpT;
}

#ifdef gpuBlasGemm64
static bool fits_int(const tsr_kernel_args *x) {
  const int64_t extents[] = {x->m, x->n, x->k, x->lda, x->ldb, x->ldc};
  for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
    if (extents[i] > INT_MAX) return false;
  return true;
}
#endif

static gpuBlasStatus call_gemm(const tsr_queue *queue, const tsr_kernel_args *x) {
  int t = tsr_type_index(x->type);
  gpuBlasType type = gemms[t].type, type_c = x->wide ? gemms[t].wide_c : type;
  gpu_scalar alpha = gpu_scalar_of(x->type, x->alpha), beta = gpu_scalar_of(x->type, x->beta);
  gpuBlasOp ta = gpu_op_of(x->type, x->transa), tb = gpu_op_of(x->type, x->transb);
#ifdef gpuBlasGemm64
  if (!fits_int(x))
    return gpuBlasGemm64(queue->blas, ta, tb, x->m, x->n, x->k, &alpha, x->a, type, x->lda, x->b,
                         type, x->ldb, &beta, x->c, type_c, x->ldc, gemms[t].compute,
                         gpuBlasDefaultAlgorithm);
#endif
  return gpuBlasGemm(queue->blas, ta, tb, (int)x->m, (int)x->n, (int)x->k, &alpha, x->a, type,
                     (int)x->lda, x->b, type, (int)x->ldb, &beta, x->c, type_c, (int)x->ldc,
                     gemms[t].compute, gpuBlasDefaultAlgorithm);
}

tsr_status gpu_gemm_batch(tsr_queue *queue, const tsr_kernel_args *x, gpu_batch batch) {
  int t = tsr_type_index(x->type);
  gpuBlasType type = gemms[t].type;
  gpu_scalar alpha = gpu_scalar_of(x->type, x->alpha), beta = gpu_scalar_of(x->type, x->beta);
  gpuBlasOp ta = gpu_op_of(x->type, x->transa), tb = gpu_op_of(x->type, x->transb);
  gpuBlasStatus status = gpuBlasGemmStridedBatched(
      queue->blas, ta, tb, (int)x->m, (int)x->n, (int)x->k, &alpha, x->a, type, (int)x->lda,
      batch.step_a, x->b, type, (int)x->ldb, batch.step_b, &beta, x->c, type, (int)x->ldc,
      batch.step_c, batch.count, gemms[t].compute, gpuBlasDefaultAlgorithm);
  GPU_BLAS_TRY(status, "GEMMs side by side", queue->index);
  return TSR_OK;
}

/* In fp64 cuBLAS loses 2 to 11 % of its rate on products of 32768 rows, on an H200: 44.6 TFLOP/s
 * for 32768 x 2048 x 512 and 48.9 in pieces of 8192 rows, 47.2 and 52.7 for a k of 8192. At 16384
 * rows and in other types pieces bring nothing. */
enum { MOST_ROWS = 16384, PIECE_ROWS = 8192 };

static int64_t rows_at_once(const tsr_kernel_args *x) {
  return x->type == TSR_D && x->m > MOST_ROWS ? PIECE_ROWS : x->m;
}

static tsr_status gemm_in_pieces(const tsr_queue *queue, const tsr_kernel_args *x) {
  int64_t most = rows_at_once(x);
  for (int64_t first = 0; first < x->m; first += most) {
    int64_t left = x->m - first, rows = left < most ? left : most;
    tsr_kernel_args part = tsr_kernel_part(x, rows, x->n, x->k, first, 0, 0);
    GPU_BLAS_TRY(call_gemm(queue, &part), "a GEMM", queue->index);
  }
  return TSR_OK;
}

/* Shorter products lose more by further kernels than they gain. */
static const double least_cut_flops = 4e9;

static tsr_status gemm(tsr_queue *queue, const tsr_kernel_args *x) {
  tsr_kernel_args part[4] = {*x};
  int parts = 1, least = gemms[tsr_type_index(x->type)].odd;
#ifndef gpuBlasGemm64
  TSR_TRY(tsr_kernel_check_int(x, "this " GPU_BLAS));
#endif
  if (!queue->blas) TSR_TRY(gpu_blas_start(queue));
  if (least > 0 && 2.0 * (double)x->m * (double)x->n * (double)x->k >= least_cut_flops)
    parts = tsr_kernel_align(x, least, part);
  for (int i = 0; i < parts; i++) TSR_TRY(gemm_in_pieces(queue, &part[i]));
  return TSR_OK;
}

tsr_status gpu_kernel(tsr_queue *queue, const tsr_kernel_args *x) {
  TSR_TRY(tsr_kernel_check(x));
  if (x->m <= 0 || x->n <= 0) return TSR_OK;
  GPU_TRY(gpu_use(queue->device), "making it current", queue->index);
  if (!tsr_kernel_reads_inputs(x)) return scale_only(queue, x);
  switch (x->kernel) {
    case TSR_KERNEL_GEMM:
      return gemm(queue, x);
    case TSR_KERNEL_ADD:
      return add(queue, x, x->a, false, false);
    default:
      return gpu_level3(queue, x);
  }
}
