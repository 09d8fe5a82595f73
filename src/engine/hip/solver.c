/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* rocSOLVER, which is found at run time: only factorisations need it, and it is large. */
#include "base/system/rocm.h"
#include "engine/gpu/internal.h"

#define FILE_NAME "librocsolver.so.0"

/* ---- Its functions, from its published interface ----------------------------- */

typedef rocblas_status (*potrf_function)(rocblas_handle handle, rocblas_fill uplo, rocblas_int n,
                                         void *a, rocblas_int lda, rocblas_int *info);

static const char letters[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
enum { TYPES = sizeof letters };

static potrf_function potrfs[TYPES];

static const tsr_rocm_function wanted[TYPES] = {{"rocsolver_spotrf", 0 * sizeof *potrfs},
                                                {"rocsolver_dpotrf", 1 * sizeof *potrfs},
                                                {"rocsolver_cpotrf", 2 * sizeof *potrfs},
                                                {"rocsolver_zpotrf", 3 * sizeof *potrfs}};

static tsr_status find(void) {
  void *library = tsr_rocm_open(FILE_NAME);
  if (library == NULL)
    return tsr_fail(TSR_ERR_UNSUPPORTED,
                    "factorisations on GPUs need rocSOLVER: no " FILE_NAME
                    " is found; install "
                    "ROCm's rocsolver, or give a matrix in host memory, which the CPU factors");
  const char *missing = tsr_rocm_find(library, wanted, TYPES, "", potrfs);
  if (missing == NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_UNSUPPORTED, FILE_NAME " lacks %s; install another release", missing);
}

/* After a failure the next call tries again: the library may have been installed. */
tsr_status gpu_solver_load(void) {
  static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
  static bool loaded;
  pthread_mutex_lock(&loading);
  tsr_status status = loaded ? TSR_OK : find();
  loaded = status == TSR_OK;
  pthread_mutex_unlock(&loading);
  return status;
}

/* ---- A queue's ---------------------------------------------------------------- */

/* rocSOLVER takes its workspace from a handle of rocBLAS. The queue's own has a fixed one, which
 * may be too small; another one manages its memory by itself. */
static tsr_status start(tsr_queue *queue) {
  rocblas_handle handle;
  if (queue->solver != NULL) return TSR_OK;
  TSR_TRY(gpu_solver_load());
  GPU_BLAS_TRY(gpuBlasCreate(&handle), "starting", queue->index);
  queue->solver = handle;
  GPU_BLAS_TRY(gpuBlasSetStream(handle, queue->stream), "setting a stream", queue->index);
  return TSR_OK;
}

void gpu_solver_stop(tsr_queue *queue) {
  if (queue->solver != NULL) (void)gpuBlasDestroy(queue->solver);
  queue->solver = NULL;
}

/* ---- potrf ---------------------------------------------------------------------- */

tsr_status gpu_solver_room(tsr_queue *queue, const tsr_kernel_args *x, size_t *bytes) {
  (void)x;
  *bytes = sizeof(rocblas_int);
  return start(queue);
}

tsr_status gpu_solver_potrf(tsr_queue *queue, const tsr_kernel_args *x, void *room, size_t bytes) {
  (void)bytes;
  int of = 0;
  while (letters[of] != (char)x->type) of++;
  GPU_BLAS_TRY(potrfs[of](queue->solver, x->uplo == TSR_LOWER ? gpuBlasLower : gpuBlasUpper,
                          (rocblas_int)x->n, x->c, (rocblas_int)x->ldc, room),
               "potrf", queue->index);
  return TSR_OK;
}
