/*
 * The CUDA engine's own objects. Nothing here is shared between threads but what is written at
 * open, save the base of a device's clock, which has a lock.
 */
#ifndef TSR_ENGINE_CUDA_INTERNAL_H
#define TSR_ENGINE_CUDA_INTERNAL_H

#include <pthread.h>

#include "engine/cuda/kernels.h"
#include "engine/cuda/names.h"
#include "engine/engine.h"

typedef struct gpu_device {
  int physical;
  int low, high; /* priorities of streams: least urgent, most urgent */
  int blocks;    /* of a small kernel that is to run beside others */
  size_t workspace;
  size_t max_pitch; /* that a 2D copy takes */
  bool peer[TSR_MAX_DEVICES];
  pthread_mutex_t clock; /* of the three below */
  gpuStream clock_stream;
  gpuEvent base; /* passed at base_seconds of our clock */
  double base_seconds;
} gpu_device;

/* The driver's own types, by their sizes: its header is not needed for two functions. */
typedef int (*gpu_address_range)(unsigned long long *begin, size_t *bytes,
                                 unsigned long long pointer);
typedef int (*gpu_pointer_attribute)(void *data, int attribute, unsigned long long pointer);

struct tsr_engine_state {
  int count;
  bool check;
  gpu_device devices[TSR_MAX_DEVICES];
  gpu_address_range address_range;         /* NULL: not in this driver */
  gpu_pointer_attribute pointer_attribute; /* the same */
};

struct tsr_queue {
  tsr_engine_state *state;
  gpu_device *device;
  int index; /* of the device */
  gpuStream stream;
  bool owned;
  gpuBlas blas; /* NULL until a GEMM needs it, but of a COMPUTE queue from the start */
  void *workspace;
  void *scratch; /* of solve.c; NULL until it is needed */
};

struct tsr_queue_event {
  gpu_device *device;
  int index;
  bool timed;
  gpuEvent event;
  tsr_queue *behind; /* recording failed: it passes when all in this queue has; NULL: it did not */
};

/*
 * The files below, from the bottom up; each calls only those before it: device.c; memory.c, copy.c,
 * blas.c; queue.c, gemm.c; solve.c; level3.c; kernel.c; start.c; engine.c, which has the table.
 */

/* device.c: errors. what tells what was tried; error is the runtime's. */
tsr_status gpu_fail(tsr_status status, gpuError error, const char *what, int device);
tsr_status gpu_check_device(const tsr_engine_state *state, int device);

/* TSR_ERR_DEVICE unless the call succeeds. */
#define GPU_TRY(call, what, device)                                                          \
  do {                                                                                       \
    gpuError gpu_error_ = (call);                                                            \
    if (gpu_error_ != gpuSuccess) return gpu_fail(TSR_ERR_DEVICE, gpu_error_, what, device); \
  } while (0)

/* Makes the device current in this thread; returns what was, for gpu_leave, which puts it back. */
int gpu_enter(const gpu_device *device);
void gpu_leave(int former);

/* Makes the device current for good: on the library's own threads. */
gpuError gpu_use(const gpu_device *device);

/* memory.c */
tsr_status gpu_alloc(tsr_engine_state *state, int device, size_t bytes, void **pointer);
void gpu_free(tsr_engine_state *state, int device, void *pointer);
tsr_status gpu_pin(tsr_engine_state *state, void *pointer, size_t bytes, bool on);
tsr_status gpu_where(tsr_engine_state *state, const void *pointer, tsr_place *place);

/* copy.c */
tsr_status gpu_copy(tsr_queue *queue, const tsr_copy_args *args);

/* A scalar as the BLAS reads it; one that is real is its first half. */
typedef union gpu_scalar {
  float s[2];
  double d[2];
} gpu_scalar;

/* Propagates a failure of the BLAS. what tells what was tried. */
#define GPU_BLAS_TRY(call, what, device)                                                  \
  do {                                                                                    \
    gpuBlasStatus blas_status_ = (call);                                                  \
    if (blas_status_ != gpuBlasSuccess) return gpu_blas_fail(blas_status_, what, device); \
  } while (0)

/* blas.c */
tsr_status gpu_blas_fail(gpuBlasStatus error, const char *what, int device);
gpu_scalar gpu_scalar_of(tsr_type type, tsr_scalar value);
gpuBlasOp gpu_op_of(tsr_type type, tsr_op op);
tsr_status gpu_blas_start(tsr_queue *queue);
void gpu_blas_stop(tsr_queue *queue);

/* queue.c */
tsr_status gpu_clock_start(gpu_device *device);
void gpu_clock_stop(gpu_device *device);
tsr_status gpu_queue_create(tsr_engine_state *state, int device, tsr_queue_role role, void *native,
                            tsr_queue **queue);
void gpu_queue_destroy(tsr_queue *queue);
tsr_status gpu_event_create(tsr_engine_state *state, int device, bool timed,
                            tsr_queue_event **event);
void gpu_event_destroy(tsr_queue_event *event);
tsr_status gpu_record(tsr_queue *queue, tsr_queue_event *event);
tsr_status gpu_wait(tsr_queue *queue, tsr_queue_event *event);
tsr_status gpu_query(tsr_queue_event *event, bool *passed, double *seconds);

/* gemm.c: a GEMM that reads its inputs. The queue's device is current. */
tsr_status gpu_gemm(tsr_queue *queue, const tsr_kernel_args *args);

/* Products alike, each so many elements after the one before it. */
typedef struct gpu_batch {
  int count;
  int64_t step_a, step_b, step_c;
} gpu_batch;

/* Those of a GEMM, of extents that fit an int. The queue's BLAS is started. */
tsr_status gpu_gemm_batch(tsr_queue *queue, const tsr_kernel_args *args, gpu_batch batch);

/* solve.c: trsm by the inverse of its triangle, where that pays and there is memory for it. The
 * queue's BLAS is started. */
bool gpu_can_invert(tsr_queue *queue, const tsr_kernel_args *args);
tsr_status gpu_solve_by_inverse(tsr_queue *queue, const tsr_kernel_args *args);

/* level3.c: a routine of the BLAS but GEMM, which reads its inputs. */
tsr_status gpu_level3(tsr_queue *queue, const tsr_kernel_args *args);

/* kernel.c */
tsr_status gpu_kernel(tsr_queue *queue, const tsr_kernel_args *args);

/* start.c: fills in devices and info, whose physical devices are set, and loads what they run. */
tsr_status gpu_start_devices(tsr_engine_state *state, tsr_device_info *info);

#endif
