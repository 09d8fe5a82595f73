/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * librocblas.so.N for tests: the routines that src/engine/hip/rocblas.h declares, by the CPU's
 * BLAS, as commands of a stream. Operands have to be memory that the device reaches, all of it.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/hip/rocblas.h"
#include "runtime.h"

/* Statuses of rocBLAS that the engine has no name for. */
enum { INVALID_HANDLE = 1, INVALID_POINTER = 3, INVALID_SIZE = 4, INTERNAL_ERROR = 6 };

struct _rocblas_handle {
  hip_handle handle;
  stream *stream; /* NULL: the device's default stream */
  bool exact;     /* no atomic additions */
};

const char *rocblas_status_to_string(rocblas_status status) {
  static const char *const names[] = {
      "rocblas_status_success",         "rocblas_status_invalid_handle",
      "rocblas_status_not_implemented", "rocblas_status_invalid_pointer",
      "rocblas_status_invalid_size",    "rocblas_status_memory_error",
      "rocblas_status_internal_error"};
  return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown";
}

static rocblas_status misuse(int status, const char *function, const char *what) {
  hip_misuse(hipErrorInvalidValue, "%s: %s", function, what);
  return (rocblas_status)status;
}

/* ---- Handles -------------------------------------------------------------------- */

rocblas_status rocblas_create_handle(rocblas_handle *made) {
  if (hip_lost(hip_current()) != hipSuccess) return (rocblas_status)INTERNAL_ERROR;
  *made = hip_handle_make(BLAS, sizeof **made);
  return rocblas_status_success;
}

/* The handle is alive and its device is current; else a misuse, reported. */
static bool is_usable(rocblas_handle given, const char *function) {
  if (!hip_handle_check(given, BLAS, function)) return false;
  if (given->handle.device == hip_current()) return true;
  hip_misuse(hipErrorInvalidHandle, "%s: device %d is current, the handle is of device %d",
             function, hip_current(), given->handle.device);
  return false;
}

rocblas_status rocblas_destroy_handle(rocblas_handle given) {
  if (!hip_handle_check(given, BLAS, __func__)) return (rocblas_status)INVALID_HANDLE;
  given->handle.destroyed = true;
  return rocblas_status_success;
}

rocblas_status rocblas_set_stream(rocblas_handle given, hipStream_t to) {
  stream *s = hip_stream(to, __func__);
  if (!is_usable(given, __func__) || s == NULL) return (rocblas_status)INVALID_HANDLE;
  if (s->handle.device != given->handle.device)
    return misuse(INVALID_HANDLE, __func__, "the stream is of another device");
  given->stream = s;
  return rocblas_status_success;
}

rocblas_status rocblas_set_workspace(rocblas_handle given, void *address, size_t bytes) {
  if (!is_usable(given, __func__)) return (rocblas_status)INVALID_HANDLE;
  if (address != NULL && hip_reach(address, bytes, given->handle.device, __func__) == NULL)
    return (rocblas_status)INVALID_POINTER;
  return rocblas_status_success;
}

/* Devices of ROCm 5 are strict here: they have the packed layout alone. */
#if TSR_ROCM < 6
static const uint32_t flags_of_bytes = rocblas_gemm_flags_pack_int8x4;

rocblas_status rocblas_query_int8_layout_flag(rocblas_handle given, rocblas_gemm_flags *flags) {
  if (!is_usable(given, __func__)) return (rocblas_status)INVALID_HANDLE;
  *flags = (rocblas_gemm_flags)flags_of_bytes;
  return rocblas_status_success;
}
#else
static const uint32_t flags_of_bytes = rocblas_gemm_flags_none;
#endif

rocblas_status rocblas_set_atomics_mode(rocblas_handle given, rocblas_atomics_mode mode) {
  if (!is_usable(given, __func__)) return (rocblas_status)INVALID_HANDLE;
  given->exact = mode == rocblas_atomics_not_allowed;
  return rocblas_status_success;
}

/* ---- Routines -------------------------------------------------------------------- */

/* A call of the CPU's BLAS; types are s, d, c and z, in this order. */
typedef enum family { GEMM, SYMM, HEMM, SYRK, HERK, SYR2K, HER2K, TRMM, TRSM } family;
static const size_t size_of_type[] = {4, 8, 8, 16};

typedef struct matrix {
  char *at;
  int rows, columns, ld;
} matrix;

typedef struct call {
  const char *name;
  family family;
  int type;
  char side, uplo, trans, transb, diag;
  int m, n, k;
  char alpha[16], beta[16];
  matrix a, b, c;
  rocblas_datatype ab_type, c_type; /* of a GEMM */
} call;

/* With RTLD_DEEPBIND it calls its own routines under a preload; sanitizers refuse that. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { DEEP = 0 };
#else
enum { DEEP = RTLD_DEEPBIND };
#endif

static void *find_blas(void) {
  static void *library;
  static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
  const char *const names[] = {"libopenblas.so.0", "libblas.so.3"};
  pthread_mutex_lock(&opening);
  for (int i = 0; i < 2 && library == NULL; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | DEEP);
  pthread_mutex_unlock(&opening);
  return library;
}

/* One type for all routines, so without parameters. */
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
typedef void (*routine)();

static routine find_routine(family of, int type) {
  static const char *const names[] = {"gemm_",  "symm_",  "hemm_", "syrk_", "herk_",
                                      "syr2k_", "her2k_", "trmm_", "trsm_"};
  char name[16] = {"sdcz"[type]};
  void *library = find_blas();
  void *symbol = library != NULL ? dlsym(library, strcat(name, names[of])) : NULL;
  routine found = NULL;
  memcpy(&found, &symbol, sizeof found);
  if (found == NULL) abort(); /* the tests need a BLAS of the CPU */
  return found;
}

/* B is copied to C where a routine of the CPU's overwrites its operand. */
static void copy_b(const call *x) {
  size_t bytes = (size_t)x->m * size_of_type[x->type];
  for (int j = 0; j < x->n; j++) {
    size_t size = size_of_type[x->type];
    memmove(x->c.at + (size_t)j * (size_t)x->c.ld * size,
            x->b.at + (size_t)j * (size_t)x->b.ld * size, bytes);
  }
}

static void run_level3(const call *x) {
  routine f = find_routine(x->family, x->type);
  switch (x->family) {
    case GEMM:
      f(&x->trans, &x->transb, &x->m, &x->n, &x->k, x->alpha, x->a.at, &x->a.ld, x->b.at, &x->b.ld,
        x->beta, x->c.at, &x->c.ld, (size_t)1, (size_t)1);
      break;
    case SYMM:
    case HEMM:
      f(&x->side, &x->uplo, &x->m, &x->n, x->alpha, x->a.at, &x->a.ld, x->b.at, &x->b.ld, x->beta,
        x->c.at, &x->c.ld, (size_t)1, (size_t)1);
      break;
    case SYRK:
    case HERK:
      f(&x->uplo, &x->trans, &x->n, &x->k, x->alpha, x->a.at, &x->a.ld, x->beta, x->c.at, &x->c.ld,
        (size_t)1, (size_t)1);
      break;
    case SYR2K:
    case HER2K:
      f(&x->uplo, &x->trans, &x->n, &x->k, x->alpha, x->a.at, &x->a.ld, x->b.at, &x->b.ld, x->beta,
        x->c.at, &x->c.ld, (size_t)1, (size_t)1);
      break;
    case TRMM:
    case TRSM:
      if (x->b.at != NULL && x->b.at != x->c.at) copy_b(x);
      f(&x->side, &x->uplo, &x->trans, &x->diag, &x->m, &x->n, x->alpha, x->a.at, &x->a.ld, x->c.at,
        &x->c.ld, (size_t)1, (size_t)1, (size_t)1, (size_t)1);
      break;
  }
}

/* ---- 16-bit types -------------------------------------------------------------------- */

static float to_float(const char *at, rocblas_datatype type) {
  uint16_t bits;
  uint32_t word;
  float x;
  if (type == rocblas_datatype_f32_r) {
    memcpy(&x, at, sizeof x);
    return x;
  }
  memcpy(&bits, at, sizeof bits);
  if (type == rocblas_datatype_f16_r) {
    _Float16 half;
    memcpy(&half, &bits, sizeof half);
    return (float)half;
  }
  word = (uint32_t)bits << 16;
  memcpy(&x, &word, sizeof x);
  return x;
}

static void from_float(float x, char *at, rocblas_datatype type) {
  uint32_t word;
  memcpy(&word, &x, sizeof word);
  if (type == rocblas_datatype_f32_r) {
    memcpy(at, &x, sizeof x);
  } else if (type == rocblas_datatype_f16_r) {
    _Float16 half = (_Float16)x;
    memcpy(at, &half, sizeof half);
  } else {
    uint32_t rounded = x != x ? word | 0x400000 : word + 0x7fff + (word >> 16 & 1);
    uint16_t bits = (uint16_t)(rounded >> 16);
    memcpy(at, &bits, sizeof bits);
  }
}

static size_t bytes_of(rocblas_datatype type) {
  return type == rocblas_datatype_f32_r ? 4 : 2;
}

/* The matrix in fp32, packed. */
static matrix widen(const matrix *x, rocblas_datatype type) {
  matrix wide = {NULL, x->rows, x->columns, x->rows > 0 ? x->rows : 1};
  float *to = calloc((size_t)wide.ld * (size_t)(x->columns > 0 ? x->columns : 1), sizeof *to);
  if (to == NULL) abort();
  for (int64_t j = 0; j < x->columns; j++)
    for (int64_t i = 0; i < x->rows; i++)
      to[i + j * wide.ld] = to_float(x->at + (size_t)(i + j * x->ld) * bytes_of(type), type);
  wide.at = (char *)to;
  return wide;
}

static void narrow(const matrix *wide, const matrix *x, rocblas_datatype type) {
  const float *from = (const float *)(const void *)wide->at;
  for (int64_t j = 0; j < x->columns; j++)
    for (int64_t i = 0; i < x->rows; i++)
      from_float(from[i + j * wide->ld], x->at + (size_t)(i + j * x->ld) * bytes_of(type), type);
}

static void run_half(const call *x) {
  call y = *x;
  y.a = widen(&x->a, x->ab_type);
  y.b = widen(&x->b, x->ab_type);
  y.c = widen(&x->c, x->c_type);
  run_level3(&y);
  narrow(&y.c, &x->c, x->c_type);
  free(y.a.at);
  free(y.b.at);
  free(y.c.at);
}

/* ---- Integers -------------------------------------------------------------------------- */

/* c = op(a) op(b) of 8-bit integers, with sums of 32 bits; alpha is 1 and beta is 0
 * (fault_of_bytes). */
static void run_bytes(const call *x) {
  const int8_t *a = (const int8_t *)x->a.at, *b = (const int8_t *)x->b.at;
  int32_t *c = (int32_t *)(void *)x->c.at;
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->m; i++) {
      const int8_t *row = a + i * x->a.ld, *column = b + j * x->b.ld;
      int32_t sum = 0;
      for (int64_t h = 0; h < x->k; h++) sum += row[h] * column[h];
      c[i + j * x->c.ld] = sum;
    }
}

/* Calls of GEMM, for tests to read. */
extern atomic_ulong hip_blas_gemms;
atomic_ulong hip_blas_gemms;

/* TSR_HIP_SLOW=trsm:2e7: this routine takes m n k / 2e7 seconds, k being the order of its triangle
 * where it has one. */
static void be_slow(const call *x) {
  const char *slow = getenv("TSR_HIP_SLOW");
  char name[16] = "";
  double rate = 0;
  if (slow == NULL || sscanf(slow, "%15[a-z0-9]:%lf", name, &rate) != 2) return;
  if (strstr(x->name, name) == NULL) return;
  double seconds = (double)x->m * x->n * (x->k > 0 ? x->k : x->side == 'R' ? x->n : x->m) / rate;
  hip_spend(seconds);
}

static void run_call(void *argument) {
  const call *x = argument;
  be_slow(x);
  if (x->family == GEMM) hip_blas_gemms++;
  bool half = x->family == GEMM && x->ab_type != rocblas_datatype_f32_r &&
              (x->ab_type == rocblas_datatype_f16_r || x->ab_type == rocblas_datatype_bf16_r);
  if (x->family == GEMM && x->ab_type == rocblas_datatype_i8_r)
    run_bytes(x);
  else if (half)
    run_half(x);
  else
    run_level3(x);
}

/* ---- Checks, and submitting --------------------------------------------------------------- */

/* Replaces a matrix's pointer by where its memory is. */
static bool reach(const call *x, matrix *y, size_t size, int device) {
  if (y->rows <= 0 || y->columns <= 0) return true;
  size_t elements = (size_t)(y->columns - 1) * (size_t)y->ld + (size_t)y->rows;
  y->at = hip_reach(y->at, elements * size, device, x->name);
  return y->at != NULL;
}

static bool fits(const matrix *y) {
  return y->at == NULL || (y->rows >= 0 && y->columns >= 0 && y->ld >= (y->rows > 1 ? y->rows : 1));
}

/* A call whose matrices are where the CPU can reach them. */
static rocblas_status submit_reached(rocblas_handle blas, call *x) {
  if (blas->stream == NULL || blas->stream->handle.destroyed)
    return misuse(INVALID_HANDLE, x->name, "the handle's stream is not set or destroyed");
  if (!blas->exact)
    return misuse(INVALID_HANDLE, x->name,
                  "atomic additions are allowed: results would differ from run to run");
  hipError_t error = hip_submit(blas->stream, run_call, x, sizeof *x);
  return error == hipSuccess ? rocblas_status_success : (rocblas_status)INTERNAL_ERROR;
}

static rocblas_status submit(rocblas_handle blas, call *x, size_t size_ab, size_t size_c) {
  if (!is_usable(blas, x->name)) return (rocblas_status)INVALID_HANDLE;
  if (!fits(&x->a) || !fits(&x->b) || !fits(&x->c))
    return misuse(INVALID_SIZE, x->name, "an extent or a leading dimension is too small");
  if (x->c.rows == 0 || x->c.columns == 0) return rocblas_status_success;
  int device = blas->handle.device;
  if (!reach(x, &x->a, size_ab, device) || (x->b.at != NULL && !reach(x, &x->b, size_ab, device)) ||
      !reach(x, &x->c, size_c, device))
    return (rocblas_status)INVALID_POINTER;
  return submit_reached(blas, x);
}

static char letter(rocblas_operation op) {
  return op == rocblas_operation_none ? 'N' : op == rocblas_operation_transpose ? 'T' : 'C';
}

static matrix matrix_of(const void *at, int rows, int columns, int ld) {
  return (matrix){(char *)(uintptr_t)at, rows, columns, ld};
}

/* Scalars are on the host and read before the call returns. hemm and symm's kin take as many bytes
 * as their type has; those of herk are real, as beta of her2k. */
static void set_scalars(call *x, const void *alpha, const void *beta) {
  size_t size = size_of_type[x->type], real = x->type >= 2 ? size / 2 : size;
  memcpy(x->alpha, alpha, x->family == HERK ? real : size);
  if (beta != NULL) memcpy(x->beta, beta, x->family == HERK || x->family == HER2K ? real : size);
}

/* ---- GEMM ------------------------------------------------------------------------------------ */

static int type_of(rocblas_datatype type) {
  switch (type) {
    case rocblas_datatype_f64_r:
      return 1;
    case rocblas_datatype_f32_c:
      return 2;
    case rocblas_datatype_f64_c:
      return 3;
    default:
      return 0; /* 16-bit types are computed in fp32 */
  }
}

/* The mixtures of types that the manual lists for gemm_ex and the engine uses. */
static bool is_mixture(rocblas_datatype ab, rocblas_datatype c, rocblas_datatype compute) {
  if (ab == rocblas_datatype_f16_r || ab == rocblas_datatype_bf16_r)
    return compute == rocblas_datatype_f32_r && (c == ab || c == rocblas_datatype_f32_r);
  if (ab == rocblas_datatype_i8_r)
    return compute == rocblas_datatype_i32_r && c == rocblas_datatype_i32_r;
  return ab == c && c == compute;
}

/* What the manual wants of products of 8-bit integers, whichever their layout, and what the engine
 * asks for. NULL: all is as it should be. */
static const char *fault_of_bytes(bool lines, int k, int lda, int ldb, int64_t stride_a,
                                  int64_t stride_b, const void *alpha, const void *beta) {
  int32_t one, zero;
  memcpy(&one, alpha, sizeof one);
  memcpy(&zero, beta, sizeof zero);
  if (!lines || one != 1 || zero != 0) return "not a product of lines with alpha 1 and beta 0";
  if (k % 4 != 0 || lda % 4 != 0 || ldb % 4 != 0 || stride_a % 4 != 0 || stride_b % 4 != 0)
    return "k, a leading dimension or a stride is no multiple of 4";
  return NULL;
}

static size_t size_of(rocblas_datatype type, int computed) {
  if (type == rocblas_datatype_i8_r) return 1;
  if (type == rocblas_datatype_i32_r) return 4;
  return computed == 0 ? bytes_of(type) : size_of_type[computed];
}

/* A product whose matrices and scalars are still to be set. */
static call product_of(const char *name, rocblas_operation transa, rocblas_operation transb, int m,
                       int n, int k, rocblas_datatype ab_type, rocblas_datatype c_type,
                       rocblas_datatype compute) {
  return (call){.name = name,
                .family = GEMM,
                .type = type_of(compute),
                .trans = letter(transa),
                .transb = letter(transb),
                .m = m,
                .n = n,
                .k = k,
                .ab_type = ab_type,
                .c_type = c_type};
}

TSR_ROCBLAS_GEMM_BATCH(rocblas_gemm_strided_batched_ex) {
  bool bytes = a_type == rocblas_datatype_i8_r, na = transa == rocblas_operation_none;
  bool nb = transb == rocblas_operation_none, plain = algorithm == rocblas_gemm_algo_standard;
  plain = plain && solution == 0 && flags == (bytes ? flags_of_bytes : 0);
  if (c != d || ldc != ldd || stride_c != stride_d || c_type != d_type || !plain)
    return misuse(rocblas_status_not_implemented, __func__,
                  "d is not c, or an algorithm or a layout is named that is not here");
  if (a_type != b_type || !is_mixture(a_type, c_type, compute))
    return misuse(rocblas_status_not_implemented, __func__, "this mixture of types");
  const char *fault =
      bytes ? fault_of_bytes(!na && nb, k, lda, ldb, stride_a, stride_b, alpha, beta) : NULL;
  if (fault != NULL) return misuse(INVALID_SIZE, __func__, fault);
  int type = type_of(compute);
  size_t size_ab = size_of(a_type, type), size_c = size_of(c_type, type);
  rocblas_status status = rocblas_status_success;
  for (int i = 0; i < count && status == rocblas_status_success; i++) {
    call x = product_of(__func__, transa, transb, m, n, k, a_type, c_type, compute);
    x.a = matrix_of((const char *)a + (int64_t)size_ab * stride_a * i, na ? m : k, na ? k : m, lda);
    x.b = matrix_of((const char *)b + (int64_t)size_ab * stride_b * i, nb ? k : n, nb ? n : k, ldb);
    x.c = matrix_of((char *)d + (int64_t)size_c * stride_c * i, m, n, ldc);
    set_scalars(&x, alpha, beta);
    status = submit(handle, &x, size_ab, size_c);
  }
  return status;
}

/* The lists are read at once, when the stream has done what was asked of it before. A kernel has
 * written them, whose pointers the CPU can reach. */
TSR_ROCBLAS_GEMM_LISTS(rocblas_gemm_batched_ex) {
  bool na = transa == rocblas_operation_none, nb = transb == rocblas_operation_none;
  bool plain = algorithm == rocblas_gemm_algo_standard && solution == 0 && flags == 0;
  if (!is_usable(handle, __func__)) return (rocblas_status)INVALID_HANDLE;
  if (c != d || ldc != ldd || c_type != d_type || a_type != b_type || !plain ||
      !is_mixture(a_type, c_type, compute))
    return misuse(rocblas_status_not_implemented, __func__, "this mixture of types or matrices");
  if (hipStreamSynchronize((hipStream_t)handle->stream) != hipSuccess)
    return (rocblas_status)INTERNAL_ERROR;
  size_t bytes = (size_t)count * sizeof(void *);
  int device = handle->handle.device;
  char *const *a_of = (char *const *)(void *)hip_reach(a, bytes, device, __func__);
  char *const *b_of = (char *const *)(void *)hip_reach(b, bytes, device, __func__);
  char *const *c_of = (char *const *)(void *)hip_reach(c, bytes, device, __func__);
  if (a_of == NULL || b_of == NULL || c_of == NULL) return (rocblas_status)INVALID_POINTER;
  rocblas_status status = rocblas_status_success;
  for (int i = 0; i < count && status == rocblas_status_success; i++) {
    call x = product_of(__func__, transa, transb, m, n, k, a_type, c_type, compute);
    x.a = matrix_of(a_of[i], na ? m : k, na ? k : m, lda);
    x.b = matrix_of(b_of[i], nb ? k : n, nb ? n : k, ldb);
    x.c = matrix_of(c_of[i], m, n, ldc);
    set_scalars(&x, alpha, beta);
    status = submit_reached(handle, &x);
  }
  return status;
}

TSR_ROCBLAS_GEMM(rocblas_gemm_ex) {
  return rocblas_gemm_strided_batched_ex(handle, transa, transb, m, n, k, alpha, a, a_type, lda, 0,
                                         b, b_type, ldb, 0, beta, c, c_type, ldc, 0, d, d_type, ldd,
                                         0, 1, compute, algorithm, solution, flags);
}

/* ---- The other routines ------------------------------------------------------------------------
 */

static rocblas_status two_sided(call x, rocblas_handle blas, rocblas_side side, rocblas_fill uplo,
                                const void *a, int lda, const void *b, int ldb, void *c, int ldc,
                                const void *alpha, const void *beta) {
  int order = side == rocblas_side_left ? x.m : x.n;
  size_t size = size_of_type[x.type];
  x.side = side == rocblas_side_left ? 'L' : 'R';
  x.uplo = uplo == rocblas_fill_upper ? 'U' : 'L';
  x.a = matrix_of(a, order, order, lda);
  x.b = matrix_of(b, x.m, x.n, ldb);
  x.c = matrix_of(c, x.m, x.n, ldc);
  set_scalars(&x, alpha, beta);
  return submit(blas, &x, size, size);
}

static rocblas_status update(call x, rocblas_handle blas, rocblas_fill uplo, rocblas_operation op,
                             const void *a, int lda, const void *b, int ldb, void *c, int ldc,
                             const void *alpha, const void *beta) {
  bool plain = op == rocblas_operation_none;
  size_t size = size_of_type[x.type];
  x.uplo = uplo == rocblas_fill_upper ? 'U' : 'L';
  x.trans = letter(op);
  x.a = matrix_of(a, plain ? x.n : x.k, plain ? x.k : x.n, lda);
  x.b = matrix_of(b, x.a.rows, x.a.columns, ldb);
  x.c = matrix_of(c, x.n, x.n, ldc);
  set_scalars(&x, alpha, beta);
  return submit(blas, &x, size, size);
}

static rocblas_status triangular(call x, rocblas_handle blas, rocblas_side side, rocblas_fill uplo,
                                 rocblas_operation op, rocblas_diagonal diag, const void *a,
                                 int lda, const void *b, int ldb, void *c, int ldc,
                                 const void *alpha) {
  x.trans = letter(op);
  x.diag = diag == rocblas_diagonal_unit ? 'U' : 'N';
  return two_sided(x, blas, side, uplo, a, lda, b, ldb, c, ldc, alpha, NULL);
}

#define CALL(of, number, ...) ((call){.name = __func__, .family = of, .type = number, __VA_ARGS__})

#define DEFINE_SYMM(name, family, type)                                                         \
  TSR_ROCBLAS_SYMM(name) {                                                                      \
    return two_sided(CALL(family, type, .m = m, .n = n), handle, side, uplo, a, lda, b, ldb, c, \
                     ldc, alpha, beta);                                                         \
  }
#define DEFINE_SYRK(name, family, type)                                                        \
  TSR_ROCBLAS_SYRK(name) {                                                                     \
    return update(CALL(family, type, .n = n, .k = k), handle, uplo, trans, a, lda, NULL, 1, c, \
                  ldc, alpha, beta);                                                           \
  }
#define DEFINE_SYR2K(name, family, type)                                                           \
  TSR_ROCBLAS_SYR2K(name) {                                                                        \
    return update(CALL(family, type, .n = n, .k = k), handle, uplo, trans, a, lda, b, ldb, c, ldc, \
                  alpha, beta);                                                                    \
  }
#define DEFINE_TRSM(name, family, type)                                                            \
  TSR_ROCBLAS_TRSM(name) {                                                                         \
    return triangular(CALL(family, type, .m = m, .n = n), handle, side, uplo, trans, diag, a, lda, \
                      NULL, 1, b, ldb, alpha);                                                     \
  }
#define DEFINE_TRMM(name, type)                                                                  \
  TSR_ROCBLAS_TRMM(name) {                                                                       \
    return triangular(CALL(TRMM, type, .m = m, .n = n), handle, side, uplo, trans, diag, a, lda, \
                      b, ldb, c, ldc, alpha);                                                    \
  }

DEFINE_SYMM(rocblas_ssymm, SYMM, 0)
DEFINE_SYMM(rocblas_dsymm, SYMM, 1)
DEFINE_SYMM(rocblas_csymm, SYMM, 2)
DEFINE_SYMM(rocblas_zsymm, SYMM, 3)
DEFINE_SYMM(rocblas_chemm, HEMM, 2)
DEFINE_SYMM(rocblas_zhemm, HEMM, 3)
DEFINE_SYRK(rocblas_ssyrk, SYRK, 0)
DEFINE_SYRK(rocblas_dsyrk, SYRK, 1)
DEFINE_SYRK(rocblas_csyrk, SYRK, 2)
DEFINE_SYRK(rocblas_zsyrk, SYRK, 3)
DEFINE_SYRK(rocblas_cherk, HERK, 2)
DEFINE_SYRK(rocblas_zherk, HERK, 3)
DEFINE_SYR2K(rocblas_ssyr2k, SYR2K, 0)
DEFINE_SYR2K(rocblas_dsyr2k, SYR2K, 1)
DEFINE_SYR2K(rocblas_csyr2k, SYR2K, 2)
DEFINE_SYR2K(rocblas_zsyr2k, SYR2K, 3)
DEFINE_SYR2K(rocblas_cher2k, HER2K, 2)
DEFINE_SYR2K(rocblas_zher2k, HER2K, 3)
DEFINE_TRSM(rocblas_strsm, TRSM, 0)
DEFINE_TRSM(rocblas_dtrsm, TRSM, 1)
DEFINE_TRSM(rocblas_ctrsm, TRSM, 2)
DEFINE_TRSM(rocblas_ztrsm, TRSM, 3)

/* Before rocBLAS 4.0 the trmm of this name overwrites b, and has no c. */
#if TSR_ROCM >= 6
DEFINE_TRMM(rocblas_strmm, 0)
DEFINE_TRMM(rocblas_dtrmm, 1)
DEFINE_TRMM(rocblas_ctrmm, 2)
DEFINE_TRMM(rocblas_ztrmm, 3)
#else
#define DEFINE_TRMM_IN_PLACE(name, type)                                                         \
  TSR_ROCBLAS_TRSM(name##_in_place) __asm__(#name);                                              \
  TSR_ROCBLAS_TRSM(name##_in_place) {                                                            \
    return triangular(CALL(TRMM, type, .m = m, .n = n), handle, side, uplo, trans, diag, a, lda, \
                      b, ldb, b, ldb, alpha);                                                    \
  }
#define DEFINE_TRMM_5(letter, type)                    \
  DEFINE_TRMM_IN_PLACE(rocblas_##letter##trmm, type)   \
  TSR_ROCBLAS_TRMM(rocblas_##letter##trmm_outofplace); \
  DEFINE_TRMM(rocblas_##letter##trmm_outofplace, type)
DEFINE_TRMM_5(s, 0)
DEFINE_TRMM_5(d, 1)
DEFINE_TRMM_5(c, 2)
DEFINE_TRMM_5(z, 3)
#endif
