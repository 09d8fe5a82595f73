/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The engines for GPUs: one source for CUDA and HIP. The C files of this folder use only the names
 * that names.h of the vendor's folder defines (../cuda, ../hip), and the few functions below that
 * the vendor's folder has. Threads share only what open has written and the base of each device's
 * clock, which has a lock.
 */
#ifndef TSR_ENGINE_GPU_INTERNAL_H
#define TSR_ENGINE_GPU_INTERNAL_H

#include <pthread.h>

#include "engine/gpu/kernels.h"
#include "engine/engine.h"
#include "names.h" /* of the vendor's folder, which the build names */

typedef struct gpu_device {
  int physical;
  char address[16]; /* of tsr_device_info */
  int low, high;    /* priorities of streams: least urgent, most urgent */
  int blocks;       /* most thread blocks of an ADD or SCALE, so that it runs beside a GEMM */
  size_t workspace; /* bytes of the BLAS's workspace, for each queue */
  size_t max_pitch; /* bytes; larger pitches are refused by the runtime's 2D copies */
  bool products;    /* it has the kernel of residue_products.h */
  bool factor;      /* it has that of factor_kernel.h */
  bool peer[TSR_MAX_DEVICES];
  pthread_mutex_t clock; /* guards the three fields below */
  gpuStream clock_stream;
  gpuEvent base;       /* the event that completed at base_seconds */
  double base_seconds; /* of tsr_now() */
} gpu_device;

/* Two functions of the driver, declared with C's types of the same sizes so that the driver's
 * header is not needed. */
typedef int (*gpu_address_range)(unsigned long long *begin, size_t *bytes,
                                 unsigned long long pointer);
typedef int (*gpu_pointer_attribute)(void *data, int attribute, unsigned long long pointer);

struct tsr_engine_state {
  int count;
  bool check;
  gpu_device devices[TSR_MAX_DEVICES];
  gpu_address_range address_range;         /* NULL: this driver lacks the function */
  gpu_pointer_attribute pointer_attribute; /* NULL: this driver lacks the function */
};

struct tsr_queue {
  tsr_engine_state *state;
  gpu_device *device;
  int index; /* of the device */
  gpuStream stream;
  bool owned;   /* false: stream is the user's */
  gpuBlas blas; /* NULL until a kernel needs it; a COMPUTE queue has it from the start */
  void *workspace;
  void *scratch;  /* of solve.c, filled.c and triangle.c; NULL until one needs it */
  void *residues; /* of residues.c; NULL until a product in residues needs it */
  void *solver;   /* of the vendor's solver; NULL until a factorisation needs it */
};

struct tsr_queue_event {
  gpu_device *device;
  int index;
  bool timed;
  gpuEvent event;
  tsr_queue *unrecorded; /* the queue if recording failed: query then asks for the whole queue; else
                            NULL */
};

/* What the engine needs to know of a device. */
typedef struct gpu_facts {
  char name[64];
  unsigned char uuid[16];
  char address[16]; /* of tsr_device_info */
  int multiprocessors;
  bool products;    /* of gpu_device */
  bool factor;      /* of gpu_device */
  size_t max_pitch; /* bytes */
  size_t workspace; /* bytes: the most that the BLAS uses */
} gpu_facts;

/* ---- The vendor's folder ---- */

/* Finds the runtime and the BLAS, where the engine is not linked to them. Any thread may call it,
 * any number of times. TSR_ERR_ENGINE names the library or the function that is missing. */
tsr_status gpu_load(void);

/* Tells why the runtime shows no device, and the remedy, as the end of a sentence; "": not known.
 */
const char *gpu_why_no_device(void);

/* Finds the vendor's solver, which is not linked. Any thread may call it, any number of times.
 * TSR_ERR_UNSUPPORTED: it is not here; the message has the remedy. */
tsr_status gpu_solver_load(void);

/* *bytes: memory of the device that the solver's potrf needs for these arguments, its info
 * included. Starts the queue's solver. */
tsr_status gpu_solver_room(tsr_queue *queue, const tsr_kernel_args *args, size_t *bytes);

/* Factors args->c. room has the bytes that gpu_solver_room tells, and begins with the solver's
 * info, an int32_t. */
tsr_status gpu_solver_potrf(tsr_queue *queue, const tsr_kernel_args *args, void *room,
                            size_t bytes);

/* Ends the queue's solver, if it has one. */
void gpu_solver_stop(tsr_queue *queue);

/* Fills in the facts of a device, which is current. */
gpuError gpu_describe(int device, gpu_facts *facts);

/* Makes the code of the kernels ready on a device, which is current. TSR_ERR_ENGINE: there is none
 * for its architecture; the message has the remedy. Any thread may call it, any number of times. */
tsr_status gpu_load_kernels(int device);

/* Tells the kind of memory at pointer and, for TSR_DEVICE, whose it is. An error: the runtime does
 * not know the memory. */
gpuError gpu_memory_of(const void *pointer, tsr_memory *memory, int *device);

/* Reads the energy [J] that the card at an address of the PCI bus has used since its driver was
 * loaded. TSR_ERR_UNSUPPORTED: it cannot be read. */
tsr_status gpu_energy_at(const char *address, double *joules);

/*
 * The files, from the bottom up; each calls only files before it: the vendor's; device.c; memory.c,
 * copy.c, blas.c; queue.c, gemm.c, residues.c; solve.c; filled.c, triangle.c; level3.c; blocked.c,
 * potrf.c; kernel.c; start.c; engine.c, which has the table.
 */

/* device.c: fails with the message "<what> failed" and the runtime's text for error. */
tsr_status gpu_fail(tsr_status status, gpuError error, const char *what, int device);
tsr_status gpu_check_device(const tsr_engine_state *state, int device);

/* Returns TSR_ERR_DEVICE from the enclosing function unless the call succeeds. */
#define GPU_TRY(call, what, device)                                                          \
  do {                                                                                       \
    gpuError gpu_error_ = (call);                                                            \
    if (gpu_error_ != gpuSuccess) return gpu_fail(TSR_ERR_DEVICE, gpu_error_, what, device); \
  } while (0)

/* gpu_enter makes the device current in this thread and returns the physical device that was
 * current; gpu_leave(former) makes that one current again. */
int gpu_enter(const gpu_device *device);
void gpu_leave(int former);

/* The function `energy` of the engine. */
tsr_status gpu_energy(tsr_engine_state *state, int device, double *joules);

/* Makes the device current and leaves it so; for the library's own threads. */
gpuError gpu_use(const gpu_device *device);

/* memory.c */
tsr_status gpu_alloc(tsr_engine_state *state, int device, size_t bytes, void **pointer);
void gpu_free(tsr_engine_state *state, int device, void *pointer);
tsr_status gpu_pin(tsr_engine_state *state, void *pointer, size_t bytes, bool on);
tsr_status gpu_where(tsr_engine_state *state, const void *pointer, tsr_place *place);

/* copy.c */
tsr_status gpu_copy(tsr_queue *queue, const tsr_copy_args *args);

/* A scalar as the BLAS reads it. A real scalar is element 0; a complex one has its imaginary part
 * in element 1. */
typedef union gpu_scalar {
  float s[2];
  double d[2];
} gpu_scalar;

/* Returns from the enclosing function with the message "<what> failed" unless the call of the BLAS
 * succeeds. */
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
tsr_status gpu_check(tsr_engine_state *state, int device);
tsr_status gpu_recover(tsr_engine_state *state, int device);
tsr_status gpu_query(tsr_queue_event *event, bool *complete, double *seconds);

/* The order of the triangle beside C, and the lines of C across it. */
static inline int64_t gpu_order_of(const tsr_kernel_args *x) {
  return x->side == TSR_RIGHT ? x->n : x->m;
}

static inline int64_t gpu_lines_of(const tsr_kernel_args *x) {
  return x->side == TSR_RIGHT ? x->m : x->n;
}

/* gemm.c: a GEMM that reads its inputs (alpha and k are not 0). The queue's device is current. */
tsr_status gpu_gemm(tsr_queue *queue, const tsr_kernel_args *args);

/* count products of one shape; the operands of each begin step elements after the previous one's.
 */
typedef struct gpu_batch {
  int count;
  int64_t step_a, step_b, step_c;
} gpu_batch;

/* args is the first product of the batch; its extents fit an int. The queue's BLAS is started. */
tsr_status gpu_gemm_batch(tsr_queue *queue, const tsr_kernel_args *args, gpu_batch batch);

/* The same for products whose operands begin at addresses of the device that are listed in its
 * memory: those of a, then of b, then of c. */
tsr_status gpu_gemm_list(tsr_queue *queue, const tsr_kernel_args *args, const void *const *to,
                         int count);

/* trapezoid.c: GEMMT, as gemm.c. */
tsr_status gpu_gemmt(tsr_queue *queue, const tsr_kernel_args *args);

/* solve.c: trsm by the inverse of its triangle. gpu_can_invert tells whether this is faster than
 * the vendor's trsm and allocates the memory for it; false if either fails. The queue's BLAS is
 * started. */
bool gpu_can_invert(tsr_queue *queue, const tsr_kernel_args *args);
tsr_status gpu_solve_by_inverse(tsr_queue *queue, const tsr_kernel_args *args);

/* solve.c: the kernels INVERT and SOLVE. The queue's BLAS is started. */
tsr_status gpu_invert(tsr_queue *queue, const tsr_kernel_args *args);
tsr_status gpu_solve(tsr_queue *queue, const tsr_kernel_args *args);

/* solve.c: allocates queue->scratch, of gpu_scratch_bytes() >= TSR_FILLED_MOST bytes, unless it is
 * there. gpu_need_scratch: TSR_ERR_MEMORY if there is none. */
size_t gpu_scratch_bytes(void);
gpuError gpu_scratch(tsr_queue *queue);
tsr_status gpu_need_scratch(tsr_queue *queue);

/* filled.c: symm and hemm by the whole square of A and one GEMM. gpu_can_fill tells whether the
 * square fits the queue's scratch memory, and allocates that; false if either fails. */
bool gpu_can_fill(tsr_queue *queue, const tsr_kernel_args *args);
tsr_status gpu_multiply_filled(tsr_queue *queue, const tsr_kernel_args *args);

/* triangle.c: trmm by squares of A's diagonal and GEMMs. gpu_can_multiply tells whether the squares
 * fit the queue's scratch memory, and allocates that; false if either fails. */
bool gpu_can_multiply(tsr_queue *queue, const tsr_kernel_args *args);
tsr_status gpu_multiply_triangle(tsr_queue *queue, const tsr_kernel_args *args);

/* level3.c: any routine of the BLAS except GEMM; it reads its inputs. */
tsr_status gpu_level3(tsr_queue *queue, const tsr_kernel_args *args);

/* residues.c: the kernels on residues; the product reads its inputs. The queue's device is current.
 */
tsr_status gpu_make_residues(const tsr_queue *queue, const tsr_kernel_args *args);
tsr_status gpu_residue_gemm(tsr_queue *queue, const tsr_kernel_args *args);

/* blocked.c: what level3.c does, by products of blocks; args->blocks is positive. */
tsr_status gpu_blocked(tsr_queue *queue, const tsr_kernel_args *args);

/* potrf.c: the Cholesky factor of a block, in place; its verdict is LAPACK's info. */
tsr_status gpu_potrf(tsr_queue *queue, const tsr_kernel_args *args);

/* kernel.c */
tsr_status gpu_kernel(tsr_queue *queue, const tsr_kernel_args *args);

/* start.c: fills in state->devices, whose physical numbers are set, and info, and loads the code of
 * the products of every type. */
tsr_status gpu_identify(int physical, gpu_facts *facts, tsr_device_info *info);
tsr_status gpu_start_devices(tsr_engine_state *state, tsr_device_info *info);

#endif
