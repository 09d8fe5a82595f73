/*
 * The kernels: what an engine can be told to compute on tiles that are at its device. One row a
 * kernel in kernel.c; an engine has one line for each.
 */
#ifndef TSR_BASE_KERNEL_H
#define TSR_BASE_KERNEL_H

#include "base/status.h"
#include "base/types.h"

typedef enum tsr_kernel {
  /* c = alpha op(a) op(b) + beta c. m, n, k as in BLAS. With wide, c is of the type's wide type. */
  TSR_KERNEL_GEMM,
  /* c = alpha a + beta c, m x n; b is not used. With wide, a is of the type's wide type. beta = 0
   * does not read c, alpha = 0 does not read a. With uplo, that triangle of c only (m = n). */
  TSR_KERNEL_ADD,
  /* c = beta c, m x n; beta = 0 writes zeros without reading. With wide, c is of the wide type.
   * With uplo, that triangle only (m = n). */
  TSR_KERNEL_SCALE,
  /* As the BLAS routines of these names, in types s, d, c, z. c is m x n; a is of order m or n by
   * side, and engines do not look at k; of the rank-k updates m = n, c's triangle is uplo, and
   * transa is the op of both inputs. Hermitian ones are of types c and z. */
  TSR_KERNEL_SYMM,
  TSR_KERNEL_HEMM,
  TSR_KERNEL_SYRK,
  TSR_KERNEL_HERK, /* alpha and beta are real */
  TSR_KERNEL_SYR2K,
  TSR_KERNEL_HER2K, /* beta is real */
  /* c = alpha op(a) b or c = alpha b op(a); beta is not used. c is only written, and apart from b:
   * vendors' routines are several times as slow in place. On the CPU b may be c, with ldb = ldc. */
  TSR_KERNEL_TRMM,
  /* In place: c = alpha op(a)^-1 c or c = alpha c op(a)^-1; b and beta are not used. */
  TSR_KERNEL_TRSM,
  TSR_KERNEL_COUNT
} tsr_kernel;

/* How a task uses an operand. */
typedef enum tsr_access { TSR_NONE = 0, TSR_READ = 1, TSR_WRITE = 2, TSR_UPDATE = 3 } tsr_access;

/* How a task's kernel takes its scalars and its C. */
typedef enum tsr_task_flags {
  TSR_FLAG_BETA = 2,         /* uses the call's beta (else beta is 0, or 1: see BETA_ONE) */
  TSR_FLAG_BETA_ONE = 4,     /* accumulates */
  TSR_FLAG_ALPHA_ONE = 8,    /* alpha is 1 (else the call's alpha) */
  TSR_FLAG_WIDE = 16,        /* as wide in tsr_kernel_args */
  TSR_FLAG_ALPHA_MINUS = 32, /* alpha is -1 */
  TSR_FLAG_ALPHA_CONJ = 64,  /* alpha is the conjugate of the call's */
  TSR_FLAG_BETA_ALPHA = 128  /* beta is the call's alpha */
} tsr_task_flags;

/* How a kernel takes its operands, in a byte. */
typedef struct tsr_form {
  tsr_op transa, transb;
  tsr_side side;
  tsr_uplo uplo;
  tsr_diag diag;
} tsr_form;

static inline uint8_t tsr_form_pack(tsr_form form) {
  unsigned a = form.transa == TSR_TRANS ? 1 : form.transa == TSR_CONJ_TRANS ? 2 : 0;
  unsigned b = form.transb == TSR_TRANS ? 1 : form.transb == TSR_CONJ_TRANS ? 2 : 0;
  unsigned uplo = form.uplo == TSR_LOWER ? 1 : form.uplo == TSR_UPPER ? 2 : 0;
  return (uint8_t)(a | b << 2 | uplo << 4 | (form.side == TSR_RIGHT) << 6 |
                   (form.diag == TSR_UNIT) << 7);
}

static inline tsr_form tsr_form_unpack(uint8_t packed) {
  static const tsr_op ops[4] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS, TSR_NO_TRANS};
  static const tsr_uplo uplos[4] = {TSR_GENERAL, TSR_LOWER, TSR_UPPER, TSR_GENERAL};
  return (tsr_form){ops[packed & 3], ops[packed >> 2 & 3], packed >> 6 & 1 ? TSR_RIGHT : TSR_LEFT,
                    uplos[packed >> 4 & 3], packed >> 7 ? TSR_UNIT : TSR_NON_UNIT};
}

/* What the matrices of a BLAS routine are; a kernel without any of it is ours, or a GEMM. */
typedef enum tsr_kernel_trait {
  TSR_TRIANGLE_OF_A = 1, /* a is square, of order m or n by side, and its triangle is uplo */
  TSR_TRIANGLE_OF_C = 2, /* a rank-k update: c is square, and its triangle is uplo */
  TSR_HERMITIAN = 4,     /* a (or c) is: of its diagonal only real parts are read */
  TSR_TRIANGULAR = 8,    /* a is: what is beside its triangle counts as 0; beta is not used */
  TSR_IN_PLACE = 16      /* c is the other input; b is not used */
} tsr_kernel_trait;

typedef struct tsr_kernel_info {
  const char *name;
  tsr_access access[3]; /* of a, b, c when beta is not 0 */
  bool bound_by_memory; /* its time is bytes over the device's memory rate, not flops */
  unsigned traits;      /* of tsr_kernel_trait */
  double rate;          /* flops/s as a part of those of a GEMM of the same m, n and k */
  double serial;        /* s for each row of a triangle, for each 4096 lines beside it or fewer */
} tsr_kernel_info;

/* NULL for what is no kernel. */
const tsr_kernel_info *tsr_kernel_get(tsr_kernel kernel);

/* The triangle of c that a kernel with that form (packed) keeps to; TSR_GENERAL: to none. */
tsr_uplo tsr_kernel_triangle(tsr_kernel kernel, uint8_t form);

/* Of a column of so many rows those in a triangle, whose diagonal it meets at row `diagonal`, which
 * may be outside: *begin .. *end-1, none when *begin >= *end. TSR_GENERAL: all of them. */
static inline void tsr_triangle_rows(tsr_uplo uplo, int64_t diagonal, int64_t rows, int64_t *begin,
                                     int64_t *end) {
  int64_t edge = uplo == TSR_UPPER ? diagonal + 1 : diagonal;
  edge = edge < 0 ? 0 : edge < rows ? edge : rows;
  *begin = uplo == TSR_LOWER ? edge : 0;
  *end = uplo == TSR_UPPER ? edge : rows;
}

/* Whether a GPU solves by the inverse of a triangle of that order for so many lines, as a model of
 * it must know: for lower ones it takes as long as the vendor's trsm, higher ones are mostly
 * products with that, too, and few lines are not worth an inverse. */
enum { TSR_INVERTS_LEAST = 256, TSR_INVERTS_MOST = 1024, TSR_INVERTS_LINES = 1024 };

static inline bool tsr_kernel_inverts(int64_t order, int64_t lines) {
  return order >= TSR_INVERTS_LEAST && order <= TSR_INVERTS_MOST && lines >= TSR_INVERTS_LINES &&
         lines >= order;
}

/* Everything an engine needs to carry out one kernel. Pointers are the device's; column-major. */
typedef struct tsr_kernel_args {
  tsr_kernel kernel;
  tsr_type type;
  tsr_op transa, transb;
  tsr_side side; /* 0 stands for TSR_LEFT, 0 of uplo for TSR_GENERAL, 0 of diag for TSR_NON_UNIT */
  tsr_uplo uplo;
  tsr_diag diag;
  bool wide;
  int64_t m, n, k;
  tsr_scalar alpha, beta;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
} tsr_kernel_args;

/* Whether the arguments fit together: TSR_ERR_INTERNAL tells what does not, TSR_ERR_UNSUPPORTED
 * that the routine does not exist in the type. */
tsr_status tsr_kernel_check(const tsr_kernel_args *args);

/* Whether GPUs' products of a type are slow where an operand is not aligned to whole loads, its
 * base or its columns (NVIDIA H200, 8191 cubed, TFLOP/s: d 43 instead of 55 to 64, t 121 to 138
 * instead of 420, h and b 100 to 157 instead of 850, whichever operand it is). */
static inline bool tsr_kernel_minds_alignment(tsr_type type) {
  return type == TSR_D || type == TSR_T || type == TSR_H || type == TSR_B;
}

/* Elements from the start of a stored matrix to (row, column) of its op. */
static inline int64_t tsr_kernel_offset(tsr_op op, int64_t row, int64_t column, int64_t ld) {
  return op == TSR_NO_TRANS ? row + column * ld : column + row * ld;
}

/* Of a GEMM m rows and n columns of C from (row, column) on, and k products from `depth` on. */
tsr_kernel_args tsr_kernel_part(const tsr_kernel_args *args, int64_t m, int64_t n, int64_t k,
                                int64_t row, int64_t column, int64_t depth);

/* GPUs load so many bytes at a time, if columns begin and end at multiples of it. */
enum { TSR_KERNEL_LOAD = 16 };

/* How many elements of that size a load takes, 1 at least. */
static inline int64_t tsr_kernel_granule(size_t size) {
  return size < TSR_KERNEL_LOAD ? (int64_t)(TSR_KERNEL_LOAD / size) : 1;
}

/* Whether C is narrower than the sums that it is given: one in two parts would be rounded twice. */
static inline bool tsr_kernel_rounds_sums(tsr_type type, bool wide) {
  return !wide && tsr_type_get(type)->wide != type;
}

/* Cuts a GEMM of which an extent along which an operand is stored is no multiple of a load into a
 * bulk whose extents are, and what is beside it, to be done one after the other: how many parts, 1
 * where that is no use. Extents below `least` are not cut, and neither is k where sums are rounded.
 */
int tsr_kernel_align(const tsr_kernel_args *args, int64_t least, tsr_kernel_args part[4]);

/* Whether what the kernel uses of m, n, k and the leading dimensions fits an int.
 * TSR_ERR_UNSUPPORTED names what does not, and the library that wants it. */
tsr_status tsr_kernel_check_int(const tsr_kernel_args *args, const char *library);

/* Whether a (and b, if the kernel has one) is read: not when alpha or k is 0. */
bool tsr_kernel_reads_inputs(const tsr_kernel_args *args);

/* Whether what c held is read: not when beta (or alpha, in place) is 0. */
bool tsr_kernel_reads_c(const tsr_kernel_args *args);

/* The SCALE that is left of a kernel whose inputs are not read. */
tsr_kernel_args tsr_kernel_without_inputs(const tsr_kernel_args *args);

/* Flops of a kernel (a complex multiply-add counts 8). k is the order of the matrix a of symm,
 * hemm, trmm and trsm. */
double tsr_kernel_flops(tsr_kernel kernel, tsr_type type, int64_t m, int64_t n, int64_t k);

/* Bytes a memory-bound kernel reads and writes. */
double tsr_kernel_bytes(tsr_kernel kernel, tsr_type type, int64_t m, int64_t n, bool wide,
                        bool reads_c);

#endif
