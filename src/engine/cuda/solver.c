/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* cuSOLVER, which is found at run time: only factorisations need it, and it is large. */
#include <dlfcn.h>
#include <string.h>

#include "engine/gpu/internal.h"

#if CUDART_VERSION >= 13000
#define FILE_NAME "libcusolver.so.12"
#else
#define FILE_NAME "libcusolver.so.11"
#endif

/* ---- Its functions, from its published interface ----------------------------- */

enum { SOLVER_SUCCESS = 0, SOLVER_NO_MEMORY = 2 };
enum { ALIGNMENT = 256 };

typedef int (*create_function)(void **handle);
typedef int (*destroy_function)(void *handle);
typedef int (*stream_function)(void *handle, gpuStream stream);
/* *elements: of the workspace. */
typedef int (*room_function)(void *handle, gpuBlasUplo uplo, int n, void *a, int lda,
                             int *elements);
typedef int (*potrf_function)(void *handle, gpuBlasUplo uplo, int n, void *a, int lda, void *work,
                              int elements, int *info);

static const char letters[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
enum { TYPES = sizeof letters };

static struct {
  create_function create;
  destroy_function destroy;
  stream_function set_stream;
  room_function room[TYPES];
  potrf_function potrf[TYPES];
} solver;

static const struct {
  const char *name;
  void *function;
} wanted[] = {{"cusolverDnCreate", &solver.create},
              {"cusolverDnDestroy", &solver.destroy},
              {"cusolverDnSetStream", &solver.set_stream},
              {"cusolverDnSpotrf_bufferSize", &solver.room[0]},
              {"cusolverDnDpotrf_bufferSize", &solver.room[1]},
              {"cusolverDnCpotrf_bufferSize", &solver.room[2]},
              {"cusolverDnZpotrf_bufferSize", &solver.room[3]},
              {"cusolverDnSpotrf", &solver.potrf[0]},
              {"cusolverDnDpotrf", &solver.potrf[1]},
              {"cusolverDnCpotrf", &solver.potrf[2]},
              {"cusolverDnZpotrf", &solver.potrf[3]}};

static tsr_status find(void) {
  void *library = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    return tsr_fail(TSR_ERR_UNSUPPORTED,
                    "factorisations on GPUs need cuSOLVER: %s; install it beside cuBLAS, or give "
                    "a matrix in host memory, which the CPU factors",
                    dlerror());
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    void *function = dlsym(library, wanted[i].name);
    if (function == NULL)
      return tsr_fail(TSR_ERR_UNSUPPORTED, FILE_NAME " lacks %s; install another release",
                      wanted[i].name);
    memcpy(wanted[i].function, &function, sizeof function);
  }
  return TSR_OK;
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

static tsr_status check(int error, const char *what, const tsr_queue *queue) {
  if (error == SOLVER_SUCCESS) return TSR_OK;
  (void)gpuLastError();
  return tsr_fail(error == SOLVER_NO_MEMORY ? TSR_ERR_MEMORY : TSR_ERR_DEVICE,
                  "cuSOLVER on device %d: %s failed with status %d", queue->index, what, error);
}

static tsr_status start(tsr_queue *queue) {
  if (queue->solver != NULL) return TSR_OK;
  TSR_TRY(gpu_solver_load());
  TSR_TRY(check(solver.create(&queue->solver), "starting", queue));
  return check(solver.set_stream(queue->solver, queue->stream), "setting a stream", queue);
}

void gpu_solver_stop(tsr_queue *queue) {
  if (queue->solver != NULL) (void)solver.destroy(queue->solver);
  queue->solver = NULL;
}

/* ---- potrf ---------------------------------------------------------------------- */

static int index_of(tsr_type type) {
  int i = 0;
  while (letters[i] != (char)type) i++;
  return i;
}

static gpuBlasUplo uplo_of(const tsr_kernel_args *x) {
  return x->uplo == TSR_LOWER ? gpuBlasLower : gpuBlasUpper;
}

tsr_status gpu_solver_room(tsr_queue *queue, const tsr_kernel_args *x, size_t *bytes) {
  int elements = 0;
  TSR_TRY(start(queue));
  int error = solver.room[index_of(x->type)](queue->solver, uplo_of(x), (int)x->n, x->c,
                                             (int)x->ldc, &elements);
  *bytes = ALIGNMENT + (size_t)elements * tsr_type_get(x->type)->size;
  return check(error, "asking for its workspace", queue);
}

tsr_status gpu_solver_potrf(tsr_queue *queue, const tsr_kernel_args *x, void *room, size_t bytes) {
  size_t elements = (bytes - ALIGNMENT) / tsr_type_get(x->type)->size;
  int error =
      solver.potrf[index_of(x->type)](queue->solver, uplo_of(x), (int)x->n, x->c, (int)x->ldc,
                                      (char *)room + ALIGNMENT, (int)elements, room);
  return check(error, "potrf", queue);
}
