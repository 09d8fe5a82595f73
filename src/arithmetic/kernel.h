/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernels: what an engine can compute on tiles at its device. kernel.c has a row for each
 * kernel, an engine a line.
 */
#ifndef TSR_ARITHMETIC_KERNEL_H
#define TSR_ARITHMETIC_KERNEL_H

#include "base/status.h"
#include "base/types.h"

typedef enum tsr_kernel {
  /* c = alpha op(a) op(b) + beta c. m, n, k as in BLAS. With wide, c has the type's wide type
   * (tsr_type_info). */
  TSR_KERNEL_GEMM,
  /* c = alpha a + beta c, m x n; b is not used. With wide, a has the type's wide type. beta = 0
   * does not read c, alpha = 0 does not read a. With uplo, only that triangle of c is written (m =
   * n). */
  TSR_KERNEL_ADD,
  /* c = beta c, m x n; beta = 0 writes zeros without reading c. With wide, c has the wide type.
   * With uplo, only that triangle of c is written (m = n). */
  TSR_KERNEL_SCALE,
  /* The BLAS routines of these names, in the types s, d, c, z (the Hermitian ones in c and z). c is
   * m x n. symm, hemm, trmm, trsm: a is square, of order m (side is left) or n (right), and engines
   * do not look at k. Rank-k updates: m = n, uplo is the triangle of c, and transa is the op of
   * both inputs. */
  TSR_KERNEL_SYMM,
  TSR_KERNEL_HEMM,
  TSR_KERNEL_SYRK,
  TSR_KERNEL_HERK, /* alpha and beta are real */
  TSR_KERNEL_SYR2K,
  TSR_KERNEL_HER2K, /* beta is real */
  /* c = alpha op(a) b + beta c or c = alpha b op(a) + beta c. c does not overlap b: vendors'
   * routines take several times as long in place. On the CPU b may be c if beta is 0, with ldb =
   * ldc. */
  TSR_KERNEL_TRMM,
  /* In place: c = alpha op(a)^-1 c or c = alpha c op(a)^-1; b and beta are not used. */
  TSR_KERNEL_TRSM,
  /* trsm in two kernels, so that the inverse of a triangle serves many of its lines. INVERT: c is
   * the inverse of the triangle a of order m = n <= TSR_INVERTS_MOST, as stored; c's elements
   * outside of the triangle become 0. SOLVE: as TRSM, with the c of INVERT, whole, for its a. */
  TSR_KERNEL_INVERT,
  TSR_KERNEL_SOLVE,
  /* Products in residues (arithmetic/moduli.h), in the types s, d, c and z. RESIDUES makes the
   * residues c of the n lines of m elements that are the columns of op(a); transb TSR_CONJ_TRANS:
   * conjugated.
   */
  TSR_KERNEL_RESIDUES,
  /* c = alpha op(A) op(B) + beta c, from the residues of the rows of op(A) and of the columns of
   * op(B) (transa is TSR_TRANS: a has a line for each row). With uplo, only that triangle of c is
   * written (m = n); with diag TSR_UNIT, too, c is Hermitian: imaginary parts of its diagonal count
   * as 0 and become 0. If the accuracy cannot be promised, verdict says so, and c is
   * computed natively from the lines that the blocks of residues keep; if they keep none, c stays
   * as it was, or is 0 if beta is. */
  TSR_KERNEL_RESIDUE_GEMM,
  /* The same two of another arithmetic: fp32 split into parts of bf16 (arithmetic/split.h). */
  TSR_KERNEL_SPLIT,
  TSR_KERNEL_SPLIT_GEMM,
  /* As GEMM, with m >= n, for a trapezoid of c: the elements on or below the diagonal that begins
   * in c's first row (uplo is lower), or on or above the one that ends in its last row (upper). The
   * other elements of c may become anything. */
  TSR_KERNEL_GEMMT,
  /* The triangle uplo of c, of order m = n, becomes its Cholesky factor: L with c = L L^H, or U
   * with c = U^H U. In the types s, d, c and z. The imaginary parts of the diagonal count as 0; the
   * other triangle is neither read nor written. *verdict becomes LAPACK's info: the order of the
   * first leading minor that is not positive definite, which leaves c undefined from that column
   * (row) on; else it stays as it was. */
  TSR_KERNEL_POTRF,
  TSR_KERNEL_COUNT
} tsr_kernel;

/* How a task uses an operand; UPDATE = READ | WRITE. */
typedef enum tsr_access { TSR_NONE = 0, TSR_READ = 1, TSR_WRITE = 2, TSR_UPDATE = 3 } tsr_access;

/* How a task's kernel gets its scalars from those of the call, and whether its C is wide. */
typedef enum tsr_task_flags {
  TSR_FLAG_BETA = 2,         /* beta is the call's (without this flag it is 0, or 1: BETA_ONE) */
  TSR_FLAG_BETA_ONE = 4,     /* beta is 1: the kernel adds to C */
  TSR_FLAG_ALPHA_ONE = 8,    /* alpha is 1 (without a flag on alpha it is the call's) */
  TSR_FLAG_WIDE = 16,        /* as wide in tsr_kernel_args */
  TSR_FLAG_ALPHA_MINUS = 32, /* alpha is -1 */
  TSR_FLAG_ALPHA_CONJ = 64,  /* alpha is the conjugate of the call's alpha */
  TSR_FLAG_BETA_ALPHA = 128  /* beta is the call's alpha */
} tsr_task_flags;

/* How a kernel uses its operands. tsr_form_pack() puts this into one byte. */
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

/* Properties of the matrices of a BLAS routine. A kernel without any is GEMM, ADD or SCALE. */
typedef enum tsr_kernel_trait {
  TSR_TRIANGLE_OF_A = 1, /* a is square, of order m or n by side, and its triangle is uplo */
  TSR_TRIANGLE_OF_C = 2, /* a rank-k update: c is square, and its triangle is uplo */
  TSR_HERMITIAN = 4,     /* a (of an update: c) is; only real parts of its diagonal are read */
  TSR_TRIANGULAR = 8,    /* a is triangular: the other elements count as 0; only trmm uses beta */
  TSR_IN_PLACE = 16      /* c is also the second input; b is not used */
} tsr_kernel_trait;

/* What else a kernel may be: a part of an arithmetic with a form (arithmetic/arithmetic.h), or a
 * factorisation of c in place. */
typedef enum tsr_kernel_role {
  TSR_NO_ROLE,
  TSR_MAKES_FORM,
  TSR_MULTIPLIES_FORMS,
  TSR_FACTORS
} tsr_kernel_role;

typedef struct tsr_kernel_info {
  const char *name;
  tsr_access access[3]; /* how a, b and c are used when beta is not 0 */
  bool bound_by_memory; /* its time is bytes / the device's memory rate */
  unsigned traits;      /* bits of tsr_kernel_trait */
  double rate;          /* its flops/s / those of a GEMM with the same m, n and k */
  double serial;        /* s for each row of the triangle, per 4096 lines beside it, rounded up */
  tsr_kernel_role role;
} tsr_kernel_info;

/* The row of a kernel; NULL: there is no such kernel. */
const tsr_kernel_info *tsr_kernel_get(tsr_kernel kernel);

/* Whether a kernel converts lines into a form, whether it multiplies two blocks of a form, and
 * whether it computes op(a) op(b), from such blocks or not. */
bool tsr_kernel_makes_form(int kernel);
bool tsr_kernel_multiplies_forms(int kernel);
bool tsr_kernel_is_product(int kernel);
/* Whether it factors c in place. */
bool tsr_kernel_factors(int kernel);

/* The vendor's routine takes at least row [s] for each row of its triangle, and so many times the
 * GEMM of the same flops: with a small triangle or few lines beside it, its rate is lower than with
 * large ones. Zeros: not known, or no more than its rate tells. trsm has `serial` for it. */
typedef struct tsr_kernel_least {
  double row, products;
} tsr_kernel_least;

tsr_kernel_least tsr_kernel_least_of(tsr_kernel kernel, tsr_type type);

/* The triangle of c to which a kernel of this form (packed) is confined; TSR_GENERAL: it uses all
 * of c. */
tsr_uplo tsr_kernel_triangle(tsr_kernel kernel, uint8_t form);

/* Rows *begin .. *end-1 of a column with `rows` elements that lie in a triangle; none if *begin >=
 * *end. The diagonal meets the column at row `diagonal`, which may be outside the column.
 * TSR_GENERAL: all rows. */
static inline void tsr_triangle_rows(tsr_uplo uplo, int64_t diagonal, int64_t rows, int64_t *begin,
                                     int64_t *end) {
  int64_t edge = uplo == TSR_UPPER ? diagonal + 1 : diagonal;
  edge = edge < 0 ? 0 : edge < rows ? edge : rows;
  *begin = uplo == TSR_LOWER ? edge : 0;
  *end = uplo == TSR_UPPER ? edge : rows;
}

/* Whether it is a level-3 routine of the BLAS, but for GEMM. */
static inline bool tsr_kernel_is_routine(tsr_kernel kernel) {
  return kernel >= TSR_KERNEL_SYMM && kernel <= TSR_KERNEL_TRSM;
}

/* Whether a GPU solves with a triangle of that order for so many lines by the triangle's inverse;
 * engines and the model of kernel times both ask here. Below the least order the inverse takes as
 * long as the vendor's trsm; above the greatest one the vendor's trsm is mostly products, too; for
 * few lines computing the inverse does not pay. */
enum { TSR_INVERTS_LEAST = 256, TSR_INVERTS_MOST = 1024, TSR_INVERTS_LINES = 1024 };

static inline bool tsr_kernel_inverts(int64_t order, int64_t lines) {
  return order >= TSR_INVERTS_LEAST && order <= TSR_INVERTS_MOST && lines >= TSR_INVERTS_LINES &&
         lines >= order;
}

/* The part of a block of a form that a kernel uses: lines first .. of the block's `lines`. */
typedef struct tsr_lines_range {
  int64_t first, lines;
} tsr_lines_range;

/* The arguments that only kernels on a form have. A block's address is that of its first plane, and
 * its leading dimension is in bytes. */
typedef struct tsr_lines_args {
  const struct tsr_arithmetic *arithmetic;
  bool keeps_lines;      /* the blocks do */
  double tolerance;      /* as tsr_promise_args fills it; of a product only */
  bool overlaps;         /* the product is judged by overlaps, too (arithmetic/judgement.h). Engines
                            without the trait `overlaps` ignore it */
  tsr_lines_range of[3]; /* of a, b and c, where these are blocks */
} tsr_lines_args;

/* The order of the triangles down to which a level-3 routine by products of blocks halves its own.
 * In symm, hemm and trmm each of these triangles becomes a whole square, which a GEMM multiplies.
 * In symm and hemm fewer and larger products are better, so their order is the greatest power of 2
 * whose square fits TSR_FILLED_MOST bytes (memory that a GPU has for inverses anyway holds the
 * square). The square of trmm has as many flops for zeros as for its triangle, so it is as small as
 * GEMMs with so short a k are fast: on an NVIDIA H200, k = 256 reaches 0.94 of the rate of k = 2048
 * in fp32 and 0.88 in fp64, k = 512 0.95 there (4096 x 4096 elements and 2048 x 2048). The other
 * routines leave triangles of that order to the vendor's routine. */
enum { TSR_FILLED_MOST = 32 << 20, TSR_TRIANGLE_BLOCK = 256, TSR_TRIANGLE_BLOCK_OF_DOUBLE = 512 };

static inline bool tsr_kernel_fills(tsr_kernel kernel) {
  return kernel == TSR_KERNEL_SYMM || kernel == TSR_KERNEL_HEMM || kernel == TSR_KERNEL_TRMM;
}

static inline int tsr_kernel_block(tsr_kernel kernel, tsr_type type) {
  if (kernel == TSR_KERNEL_TRMM)
    return type == TSR_D || type == TSR_Z ? TSR_TRIANGLE_BLOCK_OF_DOUBLE : TSR_TRIANGLE_BLOCK;
  if (!tsr_kernel_fills(kernel)) return 256;
  int order = 256;
  size_t size = tsr_type_get(type)->size;
  while (4 * (size_t)order * (size_t)order * size <= TSR_FILLED_MOST) order *= 2;
  return order;
}

/* The side of the squares into which a GPU cuts a trapezoid (GEMMT) for one batch of products; 0:
 * it computes all of c by one GEMM. Engines and the model of kernel times both ask here. Measured
 * on an NVIDIA H200, k = 1024, in us, whole and in squares of 64 and 128. fp32: 1024 x 1024: 57,
 * 57, 57; 2048 x 1024: 100, 85, 101; 2048 x 2048: 177, 111, 138; 4096 x 4096: 712, 416, 362. fp64,
 * only the square on the diagonal in squares: 4096 x 1024: 163, 173, 171; 2048 x 2048: 159, 100,
 * 121; 4096 x 4096: 629, 403, 400; 8192 x 4096: 1283, 1131, 1059. complex fp32, 1024 x 1024: 173,
 * 136, 141; complex fp64: 161, 103, 102. */
int tsr_kernel_square(tsr_type type, int64_t m, int64_t n);

/* Whether those squares cover all of the trapezoid; else they cover the square on the diagonal, and
 * a GEMM the rest. In fp64, products of squares are slower than large ones. */
static inline bool tsr_kernel_all_in_squares(tsr_type type) {
  return type != TSR_D;
}

/* Everything that an engine needs to run one kernel. Pointers are to the device's memory; matrices
 * are column-major. */
typedef struct tsr_kernel_args {
  tsr_kernel kernel;
  tsr_type type;
  tsr_op transa, transb;
  tsr_side side; /* 0 means TSR_LEFT; uplo: 0 means TSR_GENERAL; diag: 0 means TSR_NON_UNIT */
  tsr_uplo uplo;
  tsr_diag diag;
  bool wide;
  /* A level-3 routine other than GEMM: its triangle is halved down to this order, and the rest are
   * GEMMs (tsr_kernel_block has the order that suits); 0: by the vendor's routine alone. GEMMT: not
   * 0 if it may be cut into squares (tsr_kernel_square). Engines without the trait `blocks` ignore
   * it. */
  int blocks;
  int64_t m, n, k;
  tsr_scalar alpha, beta;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
  tsr_lines_args lines;
  /* Becomes 1 if a product of forms cannot promise its accuracy, or LAPACK's info of a
   * factorisation. Memory of the device or pinned host memory; NULL: nobody asks. */
  int32_t *verdict;
} tsr_kernel_args;

/* Checks that the arguments fit together. TSR_ERR_INTERNAL names what does not;
 * TSR_ERR_UNSUPPORTED: the routine does not exist in the type. */
tsr_status tsr_kernel_check(const tsr_kernel_args *args);

/* Whether products of a type are slow on GPUs when an operand's base or columns are not aligned to
 * TSR_KERNEL_LOAD, whichever operand it is. Measured on an NVIDIA H200, 8191 x 8191 x 8191, in
 * TFLOP/s: d 43 unaligned against 55 to 64 aligned, t 121 to 138 against 420, h and b 100 to 157
 * against 850. */
static inline bool tsr_kernel_minds_alignment(tsr_type type) {
  return type == TSR_D || type == TSR_T || type == TSR_H || type == TSR_B;
}

/* Elements from the start of a stored matrix to element (row, column) of op(matrix). */
static inline int64_t tsr_kernel_offset(tsr_op op, int64_t row, int64_t column, int64_t ld) {
  return op == TSR_NO_TRANS ? row + column * ld : column + row * ld;
}

/* The part of a GEMM that computes m rows and n columns of C from (row, column) on, and of the sum
 * over k the k products from `depth` on. */
tsr_kernel_args tsr_kernel_part(const tsr_kernel_args *args, int64_t m, int64_t n, int64_t k,
                                int64_t row, int64_t column, int64_t depth);

/* Bytes that a GPU loads at once if columns begin and end at multiples of it. */
enum { TSR_KERNEL_LOAD = 16 };

/* Elements of `size` bytes in one load, at least 1. */
static inline int64_t tsr_kernel_granule(size_t size) {
  return size < TSR_KERNEL_LOAD ? (int64_t)(TSR_KERNEL_LOAD / size) : 1;
}

/* Whether C is narrower than the sums that a kernel adds to it: if the sum over k is done in two
 * parts, C is rounded twice. */
static inline bool tsr_kernel_rounds_sums(tsr_type type, bool wide) {
  return !wide && tsr_type_get(type)->wide != type;
}

/* Cuts a GEMM into an aligned bulk and the rest, if an extent along which an operand is stored is
 * no multiple of a load (tsr_kernel_granule). Fills part[] in the order in which the parts must
 * run, and returns their count; 1: cutting is of no use, and part[0] is all. An extent below
 * `least` is not cut, and neither is k if C would be rounded twice. */
int tsr_kernel_align(const tsr_kernel_args *args, int64_t least, tsr_kernel_args part[4]);

/* Checks that those of m, n, k and the leading dimensions that the kernel uses fit an int.
 * TSR_ERR_UNSUPPORTED names the one that does not, and `library`, which needs it to. */
tsr_status tsr_kernel_check_int(const tsr_kernel_args *args, const char *library);

/* Whether a (and b, if the kernel has one) is read: not when alpha or k is 0. */
bool tsr_kernel_reads_inputs(const tsr_kernel_args *args);

/* Whether the old c is read: not when beta (for a kernel in place: alpha) is 0. */
bool tsr_kernel_reads_c(const tsr_kernel_args *args);

/* The SCALE that does the same as a kernel whose inputs are not read. */
tsr_kernel_args tsr_kernel_without_inputs(const tsr_kernel_args *args);

/* Flops of a kernel (a complex multiply-add counts 8). For symm, hemm, trmm and trsm k is the order
 * of a. */
double tsr_kernel_flops(tsr_kernel kernel, tsr_type type, int64_t m, int64_t n, int64_t k);

/* Bytes that a memory-bound kernel (ADD, SCALE) reads and writes. */
double tsr_kernel_bytes(tsr_kernel kernel, tsr_type type, int64_t m, int64_t n, bool wide,
                        bool reads_c);

#endif
