/*
 * The kernels: what an engine can be told to compute on tiles that are at its device. One row a
 * kernel in kernel.c; an engine has one line for each.
 */
#ifndef TSR_BASE_KERNEL_H
#define TSR_BASE_KERNEL_H

#include "base/types.h"

typedef enum tsr_kernel {
  /* c = alpha op(a) op(b) + beta c. m, n, k as in BLAS. With wide, c is of the type's wide type. */
  TSR_KERNEL_GEMM,
  /* c = alpha a + beta c, m x n; b is not used. With wide, a is of the type's wide type. beta = 0
   * does not read c, alpha = 0 does not read a. */
  TSR_KERNEL_ADD,
  /* c = beta c, m x n; beta = 0 writes zeros without reading. With wide, c is of the wide type. */
  TSR_KERNEL_SCALE,
  TSR_KERNEL_COUNT
} tsr_kernel;

/* How a task uses an operand. */
typedef enum tsr_access { TSR_NONE = 0, TSR_READ = 1, TSR_WRITE = 2, TSR_UPDATE = 3 } tsr_access;

/* How a task's kernel takes its scalars and its C. */
typedef enum tsr_task_flags {
  TSR_FLAG_BETA = 2,      /* uses the call's beta (else beta is 0, or 1: see BETA_ONE) */
  TSR_FLAG_BETA_ONE = 4,  /* accumulates */
  TSR_FLAG_ALPHA_ONE = 8, /* alpha is 1 (else the call's alpha) */
  TSR_FLAG_WIDE = 16      /* as wide in tsr_kernel_args */
} tsr_task_flags;

typedef struct tsr_kernel_info {
  const char *name;
  tsr_access access[3]; /* of a, b, c when beta is not 0 */
  bool bound_by_memory; /* its time is bytes over the device's memory rate, not flops */
} tsr_kernel_info;

const tsr_kernel_info *tsr_kernel_get(tsr_kernel kernel);

/* Everything an engine needs to carry out one kernel. Pointers are the device's; column-major. */
typedef struct tsr_kernel_args {
  tsr_kernel kernel;
  tsr_type type;
  tsr_op transa, transb;
  bool wide;
  int64_t m, n, k;
  tsr_scalar alpha, beta;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
} tsr_kernel_args;

/* Flops of a kernel (a complex multiply-add counts 8). */
double tsr_kernel_flops(tsr_kernel kernel, tsr_type type, int64_t m, int64_t n, int64_t k);

/* Bytes a memory-bound kernel reads and writes. */
double tsr_kernel_bytes(tsr_kernel kernel, tsr_type type, int64_t m, int64_t n, bool wide,
                        bool reads_c);

#endif
