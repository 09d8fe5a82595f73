/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "arithmetic/kernel.h"

#include <limits.h>

#include "arithmetic/arithmetic.h"

/* Kernels of an arithmetic with a form. */
#define MAKES(name) \
  { name, {TSR_READ, TSR_NONE, TSR_WRITE}, true, 0, 1, 0, TSR_MAKES_FORM }
#define MULTIPLIES(name) \
  { name, {TSR_READ, TSR_READ, TSR_UPDATE}, false, 0, 1, 0, TSR_MULTIPLIES_FORMS }

/* The rates of the level-3 routines relative to a GEMM of the same extents, and the seconds that
 * trsm takes for each row of its triangle however few columns it solves. Measured: cuBLAS (CUDA
 * 13.0) on an NVIDIA H200, fp64, orders of 256 to 2048 with 1024 to 8192 columns, or k = 4096. A
 * rate that varies with the size (syrk: 0.3 to 0.9) is about that of order 1024. */
static const tsr_kernel_info kernels[TSR_KERNEL_COUNT] = {
    [TSR_KERNEL_GEMM] = {"gemm", {TSR_READ, TSR_READ, TSR_UPDATE}, false, 0, 1, 0},
    [TSR_KERNEL_ADD] = {"add", {TSR_READ, TSR_NONE, TSR_UPDATE}, true, 0, 1, 0},
    [TSR_KERNEL_SCALE] = {"scale", {TSR_NONE, TSR_NONE, TSR_UPDATE}, true, 0, 1, 0},
    [TSR_KERNEL_SYMM] =
        {"symm", {TSR_READ, TSR_READ, TSR_UPDATE}, false, TSR_TRIANGLE_OF_A, 0.75, 0},
    [TSR_KERNEL_HEMM] = {"hemm",
                         {TSR_READ, TSR_READ, TSR_UPDATE},
                         false,
                         TSR_TRIANGLE_OF_A | TSR_HERMITIAN,
                         0.75,
                         0},
    [TSR_KERNEL_SYRK] =
        {"syrk", {TSR_READ, TSR_NONE, TSR_UPDATE}, false, TSR_TRIANGLE_OF_C, 0.55, 0},
    [TSR_KERNEL_HERK] = {"herk",
                         {TSR_READ, TSR_NONE, TSR_UPDATE},
                         false,
                         TSR_TRIANGLE_OF_C | TSR_HERMITIAN,
                         0.55,
                         0},
    [TSR_KERNEL_SYR2K] =
        {"syr2k", {TSR_READ, TSR_READ, TSR_UPDATE}, false, TSR_TRIANGLE_OF_C, 0.55, 0},
    [TSR_KERNEL_HER2K] = {"her2k",
                          {TSR_READ, TSR_READ, TSR_UPDATE},
                          false,
                          TSR_TRIANGLE_OF_C | TSR_HERMITIAN,
                          0.55,
                          0},
    [TSR_KERNEL_TRMM] = {"trmm",
                         {TSR_READ, TSR_READ, TSR_UPDATE},
                         false,
                         TSR_TRIANGLE_OF_A | TSR_TRIANGULAR,
                         0.6,
                         0},
    [TSR_KERNEL_TRSM] = {"trsm",
                         {TSR_READ, TSR_NONE, TSR_UPDATE},
                         false,
                         TSR_TRIANGLE_OF_A | TSR_TRIANGULAR | TSR_IN_PLACE,
                         0.3,
                         0.3e-6},
    [TSR_KERNEL_INVERT] = {"invert",
                           {TSR_READ, TSR_NONE, TSR_WRITE},
                           false,
                           TSR_TRIANGLE_OF_A | TSR_TRIANGULAR,
                           1,
                           0},
    [TSR_KERNEL_SOLVE] = {"solve",
                          {TSR_READ, TSR_NONE, TSR_UPDATE},
                          false,
                          TSR_TRIANGLE_OF_A | TSR_TRIANGULAR | TSR_IN_PLACE,
                          1,
                          0},
    [TSR_KERNEL_RESIDUES] = MAKES("residues"),
    [TSR_KERNEL_RESIDUE_GEMM] = MULTIPLIES("residue gemm"),
    [TSR_KERNEL_SPLIT] = MAKES("split"),
    [TSR_KERNEL_SPLIT_GEMM] = MULTIPLIES("split gemm"),
    [TSR_KERNEL_GEMMT] = {"gemmt", {TSR_READ, TSR_READ, TSR_UPDATE}, false, 0, 1, 0},
    /* Measured: cuSOLVER (CUDA 13.0) on an NVIDIA H200, orders 512, 1024 and 2048: 223, 445 and 886
     * us. */
    [TSR_KERNEL_POTRF] =
        {"potrf", {TSR_NONE, TSR_NONE, TSR_UPDATE}, false, 0, 0.5, 0.43e-6, TSR_FACTORS},
};

/* Measured: cuBLAS (CUDA 13.0) on an NVIDIA H200, in us, and those of a GEMM of the same extents.
 * ssymm, order 1024, 1024 columns: 195 (68). dsymm, order 1024, 512 and 1024 columns: 52 and 77 (29
 * and 52). strmm, order 2048, 128, 256, 512 and 1024 columns: 174, 175, 186 and 190 (37, 57, 104
 * and 198). dtrmm, order 2048, 128 columns: 26 (31), which its rate explains. Complex types were
 * not measured. */
tsr_kernel_least tsr_kernel_least_of(tsr_kernel kernel, tsr_type type) {
  if (kernel == TSR_KERNEL_SYMM && type == TSR_S) return (tsr_kernel_least){0.12e-6, 1.1};
  if (kernel == TSR_KERNEL_SYMM && type == TSR_D) return (tsr_kernel_least){0.02e-6, 1.1};
  if (kernel == TSR_KERNEL_TRMM && type == TSR_S) return (tsr_kernel_least){0.085e-6, 0};
  return (tsr_kernel_least){0, 0};
}

const tsr_kernel_info *tsr_kernel_get(tsr_kernel kernel) {
  return (unsigned)kernel < TSR_KERNEL_COUNT ? &kernels[kernel] : NULL;
}

static tsr_kernel_role role_of(int kernel) {
  const tsr_kernel_info *info = tsr_kernel_get((tsr_kernel)kernel);
  return info != NULL ? info->role : TSR_NO_ROLE;
}

bool tsr_kernel_makes_form(int kernel) {
  return role_of(kernel) == TSR_MAKES_FORM;
}

bool tsr_kernel_factors(int kernel) {
  return role_of(kernel) == TSR_FACTORS;
}

bool tsr_kernel_multiplies_forms(int kernel) {
  return role_of(kernel) == TSR_MULTIPLIES_FORMS;
}

bool tsr_kernel_is_product(int kernel) {
  return kernel == TSR_KERNEL_GEMM || kernel == TSR_KERNEL_GEMMT ||
         tsr_kernel_multiplies_forms(kernel);
}

tsr_uplo tsr_kernel_triangle(tsr_kernel kernel, uint8_t form) {
  const tsr_kernel_info *info = tsr_kernel_get(kernel);
  bool of_c = info->bound_by_memory || info->traits & TSR_TRIANGLE_OF_C ||
              info->role == TSR_MULTIPLIES_FORMS || info->role == TSR_FACTORS ||
              kernel == TSR_KERNEL_GEMMT;
  return of_c ? tsr_form_unpack(form).uplo : TSR_GENERAL;
}

/* The fewest squares of 128 in a batch: with fewer, smaller squares occupy more multiprocessors. */
enum { SQUARES_LEAST = 200 };

int tsr_kernel_square(tsr_type type, int64_t m, int64_t n) {
  static const int64_t least[] = {1024, 2048, 1024, 1024}; /* columns; of s, d, c, z */
  int index = tsr_type_index(type);
  if (index < 0 || index >= 4 || n < least[index] || m < n) return 0;
  int64_t columns = n / 128, rows = (tsr_kernel_all_in_squares(type) ? m : n) / 128;
  return columns * rows - columns * (columns - 1) / 2 < SQUARES_LEAST ? 64 : 128;
}

/* ---- Arguments ------------------------------------------------------------ */

static bool has_triangle(const tsr_kernel_args *x) {
  return x->uplo == TSR_LOWER || x->uplo == TSR_UPPER;
}

/* A complex rank-k update transposes with conjugation if it is Hermitian, without if it is
 * symmetric. */
static bool op_fits(const tsr_kernel_args *x, unsigned traits) {
  if (!(traits & TSR_TRIANGLE_OF_C) || !tsr_type_get(x->type)->complex_valued) return true;
  return x->transa != (traits & TSR_HERMITIAN ? TSR_TRANS : TSR_CONJ_TRANS);
}

static tsr_status check_routine(const tsr_kernel_args *x, const tsr_kernel_info *info) {
  const tsr_type_info *type = tsr_type_get(x->type);
  bool blas_type = tsr_type_index(x->type) < 4; /* s, d, c, z */
  if (!blas_type || (info->traits & TSR_HERMITIAN && !type->complex_valued))
    return tsr_fail(TSR_ERR_UNSUPPORTED, "the BLAS has no %s for %s", info->name, type->name);
  if (!has_triangle(x))
    return tsr_fail(TSR_ERR_INTERNAL, "%s: uplo is %d, which is no triangle", info->name, x->uplo);
  if (!op_fits(x, info->traits))
    return tsr_fail(TSR_ERR_INTERNAL, "%s of a complex type does not take trans %c", info->name,
                    (char)x->transa);
  return TSR_OK;
}

static tsr_status fail_for_square(const tsr_kernel_args *x, const tsr_kernel_info *info) {
  return tsr_fail(TSR_ERR_INTERNAL, "%s: a triangle of C has %lld x %lld elements", info->name,
                  (long long)x->m, (long long)x->n);
}

static tsr_status check_form(const tsr_kernel_args *x, const tsr_kernel_info *info) {
  const tsr_arithmetic *arithmetic = x->lines.arithmetic;
  if (arithmetic == NULL || (arithmetic->makes != x->kernel && arithmetic->multiplies != x->kernel))
    return tsr_fail(TSR_ERR_INTERNAL, "%s: the arithmetic has no such kernel", info->name);
  if (!tsr_arithmetic_has(arithmetic, x->type, 0))
    return tsr_fail(TSR_ERR_UNSUPPORTED, "%s: products of %s have no such form", info->name,
                    tsr_type_get(x->type)->name);
  if (arithmetic->makes == x->kernel) return TSR_OK;
  if (x->transa == TSR_NO_TRANS || x->wide)
    return tsr_fail(TSR_ERR_INTERNAL, "%s: a has no line for each row of c, or c is wide",
                    info->name);
  if (has_triangle(x) && x->m != x->n) return fail_for_square(x, info);
  return TSR_OK;
}

static tsr_status check_factor(const tsr_kernel_args *x, const tsr_kernel_info *info) {
  int index = tsr_type_index(x->type);
  if (index > tsr_type_index(TSR_Z))
    return tsr_fail(TSR_ERR_UNSUPPORTED, "%s does not exist in %s", info->name,
                    tsr_type_get(x->type)->name);
  return x->m == x->n && has_triangle(x) ? TSR_OK : fail_for_square(x, info);
}

tsr_status tsr_kernel_check(const tsr_kernel_args *x) {
  const tsr_kernel_info *info = tsr_kernel_get(x->kernel);
  if (tsr_type_index(x->type) < 0)
    return tsr_fail(TSR_ERR_INTERNAL, "%d is an unknown type of a kernel", (int)x->type);
  if (!info) return tsr_fail(TSR_ERR_INTERNAL, "%d is an unknown kernel", (int)x->kernel);
  if (info->traits) TSR_TRY(check_routine(x, info));
  if (info->role == TSR_FACTORS) return check_factor(x, info);
  if (info->role != TSR_NO_ROLE) return check_form(x, info);
  if (x->kernel == TSR_KERNEL_GEMMT && (!has_triangle(x) || x->m < x->n))
    return tsr_fail(TSR_ERR_INTERNAL, "gemmt: uplo %d does not give a trapezoid of %lld x %lld",
                    x->uplo, (long long)x->m, (long long)x->n);
  if (x->kernel == TSR_KERNEL_INVERT && x->m > TSR_INVERTS_MOST)
    return tsr_fail(TSR_ERR_INTERNAL, "invert: a triangle of order %lld; the most is %d",
                    (long long)x->m, TSR_INVERTS_MOST);
  bool square_c = info->traits ? info->traits & TSR_TRIANGLE_OF_C || x->kernel == TSR_KERNEL_INVERT
                               : info->bound_by_memory && has_triangle(x);
  return square_c && x->m != x->n ? fail_for_square(x, info) : TSR_OK;
}

tsr_status tsr_kernel_check_int(const tsr_kernel_args *x, const char *library) {
  const tsr_kernel_info *info = tsr_kernel_get(x->kernel);
  const struct {
    const char *name;
    bool used;
    int64_t value;
  } extents[] = {
      {"m", true, x->m},
      {"n", true, x->n},
      {"k", !(info->traits & TSR_TRIANGLE_OF_A), x->k},
      {"lda", info->access[0] != TSR_NONE, x->lda},
      {"ldb", info->access[1] != TSR_NONE, x->ldb},
      {"ldc", true, x->ldc},
  };
  for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
    if (extents[i].used && extents[i].value > INT_MAX)
      return tsr_fail(TSR_ERR_UNSUPPORTED, "%s is %lld in a %s: %s takes up to %d", extents[i].name,
                      (long long)extents[i].value, info->name, library, INT_MAX);
  return TSR_OK;
}

bool tsr_kernel_reads_inputs(const tsr_kernel_args *x) {
  const tsr_kernel_info *info = tsr_kernel_get(x->kernel);
  bool sums = x->kernel == TSR_KERNEL_GEMM || x->kernel == TSR_KERNEL_GEMMT ||
              info->role == TSR_MULTIPLIES_FORMS || info->traits & TSR_TRIANGLE_OF_C;
  if (info->role == TSR_MAKES_FORM || info->role == TSR_FACTORS) return true;
  if (info->access[0] == TSR_NONE || (sums && x->k <= 0)) return false;
  return x->alpha.re != 0 || (x->kernel != TSR_KERNEL_HERK && x->alpha.im != 0);
}

/* herk and her2k have a real beta. */
static bool real_beta(const tsr_kernel_info *info) {
  return info->traits & TSR_TRIANGLE_OF_C && info->traits & TSR_HERMITIAN;
}

/* Kernels with a triangular a have no beta, but trmm has one. */
static bool has_beta(const tsr_kernel_args *x) {
  return !(tsr_kernel_get(x->kernel)->traits & TSR_TRIANGULAR) || x->kernel == TSR_KERNEL_TRMM;
}

bool tsr_kernel_reads_c(const tsr_kernel_args *x) {
  const tsr_kernel_info *info = tsr_kernel_get(x->kernel);
  if (info->role == TSR_MAKES_FORM) return false;
  if (info->role == TSR_FACTORS) return true;
  if (info->traits & TSR_IN_PLACE) return tsr_kernel_reads_inputs(x);
  if (!has_beta(x)) return false;
  return x->beta.re != 0 || (!real_beta(info) && x->beta.im != 0);
}

tsr_kernel_args tsr_kernel_without_inputs(const tsr_kernel_args *x) {
  const tsr_kernel_info *info = tsr_kernel_get(x->kernel);
  bool part = info->bound_by_memory || info->traits & TSR_TRIANGLE_OF_C ||
              info->role == TSR_MULTIPLIES_FORMS;
  tsr_kernel_args scale = *x;
  scale.kernel = TSR_KERNEL_SCALE;
  scale.wide = x->wide && x->kernel != TSR_KERNEL_ADD; /* c of an ADD is never wide */
  scale.uplo = part ? x->uplo : TSR_GENERAL;
  if (real_beta(info)) scale.beta.im = 0;
  if (!has_beta(x)) scale.beta = (tsr_scalar){0, 0};
  return scale;
}

/* ---- Work ----------------------------------------------------------------- */

double tsr_kernel_flops(tsr_kernel kernel, tsr_type type, int64_t m, int64_t n, int64_t k) {
  const tsr_type_info *info = tsr_type_get(type);
  double elements = (double)m * (double)n;
  switch (kernel) {
    case TSR_KERNEL_GEMM:
    case TSR_KERNEL_GEMMT: /* at most, if all of c is computed */
    case TSR_KERNEL_RESIDUE_GEMM:
    case TSR_KERNEL_SPLIT_GEMM:
    case TSR_KERNEL_SYMM:
    case TSR_KERNEL_HEMM:
    case TSR_KERNEL_SYR2K:
    case TSR_KERNEL_HER2K:
      return info->flop_factor * elements * (double)k;
    case TSR_KERNEL_SYRK:
    case TSR_KERNEL_HERK:
    case TSR_KERNEL_TRMM:
    case TSR_KERNEL_TRSM:
    case TSR_KERNEL_SOLVE:
      return info->flop_factor / 2 * elements * (double)k;
    case TSR_KERNEL_POTRF: /* of order m = n */
      return info->flop_factor / 6 * elements * (double)m;
    case TSR_KERNEL_INVERT:
      return info->flop_factor / 6 * elements * (double)k;
    case TSR_KERNEL_ADD: /* two products and a sum */
      return (info->complex_valued ? 14 : 3) * elements;
    case TSR_KERNEL_SCALE:
      return (info->complex_valued ? 6 : 1) * elements;
    default:
      return 0;
  }
}

double tsr_kernel_bytes(tsr_kernel kernel, tsr_type type, int64_t m, int64_t n, bool wide,
                        bool reads_c) {
  const tsr_type_info *info = tsr_type_get(type);
  double wide_size = (double)tsr_type_get(wide ? info->wide : type)->size;
  double c_size = kernel == TSR_KERNEL_ADD ? (double)info->size : wide_size;
  double a_size = kernel == TSR_KERNEL_ADD ? wide_size : 0;
  return (double)m * (double)n * (a_size + c_size * (reads_c ? 2 : 1));
}
