/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "peer.h"

#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 32, TYPES = 4, XT_OP_N = 0, XT_OP_T = 1, XT_OP_C = 2 };

static const char type_letters[] = "sdcz";

/* Source: cublasXt.h of the CUDA toolkit. Declared here, so that building needs no toolkit. */
typedef struct xt_context *xt_handle;
typedef int (*xt_create)(xt_handle *handle);
typedef int (*xt_destroy)(xt_handle handle);
typedef int (*xt_select)(xt_handle handle, int count, int *devices);
typedef int (*xt_set_int)(xt_handle handle, int value);
typedef int (*xt_gemm)(xt_handle handle, int transa, int transb, size_t m, size_t n, size_t k,
                       const void *alpha, const void *a, size_t lda, const void *b, size_t ldb,
                       const void *beta, void *c, size_t ldc);
typedef int (*xt_symm)(xt_handle handle, int side, int uplo, size_t m, size_t n, const void *alpha,
                       const void *a, size_t lda, const void *b, size_t ldb, const void *beta,
                       void *c, size_t ldc);
typedef int (*xt_syrk)(xt_handle handle, int uplo, int trans, size_t n, size_t k, const void *alpha,
                       const void *a, size_t lda, const void *beta, void *c, size_t ldc);
typedef int (*xt_syr2k)(xt_handle handle, int uplo, int trans, size_t n, size_t k,
                        const void *alpha, const void *a, size_t lda, const void *b, size_t ldb,
                        const void *beta, void *c, size_t ldc);
typedef int (*xt_trmm)(xt_handle handle, int side, int uplo, int trans, int diag, size_t m,
                       size_t n, const void *alpha, const void *a, size_t lda, const void *b,
                       size_t ldb, void *c, size_t ldc);
typedef int (*xt_trsm)(xt_handle handle, int side, int uplo, int trans, int diag, size_t m,
                       size_t n, const void *alpha, const void *a, size_t lda, void *b, size_t ldb);

struct bench_peer {
  void *library;
  bool is_xt;
  xt_handle handle;
  xt_destroy destroy;
  xt_set_int set_block;
  void *routine[TSR_OPERATION_COUNT][TYPES]; /* NULL: the library does not have it */
};

/* Opens the first library of the list (NULL ends it) that can be opened; NULL: none can. */
static void *open_library(const char *const *names) {
  void *library = NULL;
  for (; *names && !library; names++) library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  return library;
}

/* Stores dlsym's result in a function pointer by copying it, POSIX's way; ISO C has no cast for
 * it. */
static void set_function(void *function, void *symbol) {
  memcpy(function, &symbol, sizeof symbol);
}

static bool find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  set_function(function, symbol);
  return symbol != NULL;
}

/* Looks up all routines: "cublasXtDsyrk", "dsyrk_" and so on. */
static void find_routines(bench_peer *p) {
  for (int o = 0; o < TSR_OPERATION_COUNT; o++) {
    for (int t = 0; t < TYPES; t++) {
      const char *operation = tsr_operation_name((tsr_operation)o);
      char name[32], letter = type_letters[t];
      snprintf(name, sizeof name, "cublasXt%c%s", toupper((unsigned char)letter), operation);
      if (!p->is_xt) snprintf(name, sizeof name, "%c%s_", letter, operation);
      p->routine[o][t] = dlsym(p->library, name);
    }
  }
}

/* The number of GPUs, from the driver. cuBLASXt cannot be asked: it crashes if a device is selected
 * and there is none. */
static int count_devices(void) {
  int (*initialise)(unsigned flags);
  int (*get_count)(int *count);
  int count = 0;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return 0;
  if (!find(driver, "cuInit", &initialise) || !find(driver, "cuDeviceGetCount", &get_count) ||
      initialise(0) != 0 || get_count(&count) != 0) {
    return 0;
  }
  return count;
}

bool bench_peer_has_gpu(void) {
  return count_devices() > 0;
}

static bool start(bench_peer *p, int devices) {
  xt_create create;
  xt_select select;
  xt_set_int set_pinning;
  int list[MOST_DEVICES];
  if (devices < 1 || devices > MOST_DEVICES || devices > count_devices()) return false;
  for (int i = 0; i < devices; i++) list[i] = i;
  if (!find(p->library, "cublasXtCreate", &create) ||
      !find(p->library, "cublasXtDestroy", &p->destroy) ||
      !find(p->library, "cublasXtDeviceSelect", &select) ||
      !find(p->library, "cublasXtSetBlockDim", &p->set_block) ||
      !find(p->library, "cublasXtSetPinningMemMode", &set_pinning)) {
    return false;
  }
  if (create(&p->handle) != 0) {
    p->handle = NULL;
    return false;
  }
  /* Pinning by cuBLASXt is off: the matrices are pinned already, or meant not to be. */
  return select(p->handle, devices, list) == 0 && set_pinning(p->handle, 0) == 0;
}

static void *open_named(const char *name) {
  static const char *const xt[] = {"libcublas.so.13",
                                   "libcublas.so.12",
                                   "libcublas.so.11",
                                   "libcublas.so",
                                   "/usr/local/cuda/lib64/libcublas.so",
                                   NULL};
  const char *given = getenv("TESSERA_CPU_BLAS");
  const char *const blas[] = {given && *given ? given : "libopenblas.so.0", "libopenblas.so.0",
                              "libopenblas.so", "libblas.so.3", NULL};
  char path[PATH_MAX];
  const char *const door[] = {path, NULL};
  if (strcmp(name, "cublasxt") == 0) return open_library(xt);
  void *cpu = open_library(blas);
  if (strcmp(name, "blas") == 0) return cpu;
  /* The CPU's BLAS stays open: the door passes calls on to the BLAS that is loaded. */
  return tool_find_doors(path) == TOOL_OK ? open_library(door) : NULL;
}

bench_peer *bench_peer_open(const char *name, int devices) {
  bench_peer *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->is_xt = strcmp(name, "cublasxt") == 0;
  p->library = open_named(name);
  if (!p->library) {
    tool_note("note: %s is not measured: its library is not found", name);
  } else if (p->is_xt && !start(p, devices)) {
    tool_note("note: %s cannot use %d device%s here", name, devices, devices == 1 ? "" : "s");
  } else {
    find_routines(p);
    return p;
  }
  bench_peer_close(p);
  return NULL;
}

void bench_peer_close(bench_peer *p) {
  if (!p) return;
  if (p->handle) p->destroy(p->handle);
  free(p); /* the library stays loaded: unloading CUDA crashes */
}

const int *bench_peer_blocks(const bench_peer *p) {
  static const int blocks[] = {2048, 4096, 0};
  return p->is_xt ? blocks : NULL;
}

void bench_peer_set_block(bench_peer *p, int block) {
  p->set_block(p->handle, block);
}

static int xt_op(tsr_op op) {
  return op == TSR_NO_TRANS ? XT_OP_N : op == TSR_TRANS ? XT_OP_T : XT_OP_C;
}

static int xt_side(tsr_side side) {
  return side == TSR_RIGHT;
}

static int xt_uplo(tsr_uplo uplo) {
  return uplo == TSR_UPPER;
}

static int xt_diag(tsr_diag diag) {
  return diag == TSR_UNIT;
}

static int run_gemm(xt_handle handle, void *routine, const bench_product *x) {
  const tsr_level3 *w = &x->what;
  xt_gemm function;
  set_function(&function, routine);
  return function(handle, xt_op(w->transa), xt_op(w->transb), (size_t)w->m, (size_t)w->n,
                  (size_t)w->k, x->alpha, x->a, (size_t)w->lda, x->b, (size_t)w->ldb, x->beta, x->c,
                  (size_t)w->ldc);
}

static int run_symm(xt_handle handle, void *routine, const bench_product *x) {
  const tsr_level3 *w = &x->what;
  xt_symm function;
  set_function(&function, routine);
  return function(handle, xt_side(w->side), xt_uplo(w->uplo), (size_t)w->m, (size_t)w->n, x->alpha,
                  x->a, (size_t)w->lda, x->b, (size_t)w->ldb, x->beta, x->c, (size_t)w->ldc);
}

static int run_syrk(xt_handle handle, void *routine, const bench_product *x) {
  const tsr_level3 *w = &x->what;
  xt_syrk function;
  set_function(&function, routine);
  return function(handle, xt_uplo(w->uplo), xt_op(w->transa), (size_t)w->n, (size_t)w->k, x->alpha,
                  x->a, (size_t)w->lda, x->beta, x->c, (size_t)w->ldc);
}

static int run_syr2k(xt_handle handle, void *routine, const bench_product *x) {
  const tsr_level3 *w = &x->what;
  xt_syr2k function;
  set_function(&function, routine);
  return function(handle, xt_uplo(w->uplo), xt_op(w->transa), (size_t)w->n, (size_t)w->k, x->alpha,
                  x->a, (size_t)w->lda, x->b, (size_t)w->ldb, x->beta, x->c, (size_t)w->ldc);
}

/* cublasXt's trmm may work in place (C = B), but its documentation recommends out of place for
 * better parallelism. It is called out of place. */
static int run_trmm(xt_handle handle, void *routine, const bench_product *x) {
  const tsr_level3 *w = &x->what;
  xt_trmm function;
  set_function(&function, routine);
  return function(handle, xt_side(w->side), xt_uplo(w->uplo), xt_op(w->transa), xt_diag(w->diag),
                  (size_t)w->m, (size_t)w->n, x->alpha, x->a, (size_t)w->lda, x->b, (size_t)w->ldc,
                  x->c, (size_t)w->ldc);
}

static int run_trsm(xt_handle handle, void *routine, const bench_product *x) {
  const tsr_level3 *w = &x->what;
  xt_trsm function;
  set_function(&function, routine);
  return function(handle, xt_side(w->side), xt_uplo(w->uplo), xt_op(w->transa), xt_diag(w->diag),
                  (size_t)w->m, (size_t)w->n, x->alpha, x->a, (size_t)w->lda, x->c, (size_t)w->ldc);
}

bool bench_peer_run(bench_peer *p, const bench_product *x) {
  static int (*const runs[TSR_OPERATION_COUNT])(xt_handle, void *, const bench_product *) = {
      [TSR_GEMM] = run_gemm,   [TSR_SYMM] = run_symm, [TSR_HEMM] = run_symm,
      [TSR_SYRK] = run_syrk,   [TSR_HERK] = run_syrk, [TSR_SYR2K] = run_syr2k,
      [TSR_HER2K] = run_syr2k, [TSR_TRMM] = run_trmm, [TSR_TRSM] = run_trsm};
  const char *place = strchr(type_letters, (char)x->what.type);
  if (!place) return false;
  void *routine = p->routine[x->what.operation][place - type_letters];
  if (!routine || (p->is_xt && !runs[x->what.operation])) return false;
  int64_t most = x->what.m > x->what.n ? x->what.m : x->what.n;
  if (!p->is_xt && (most > INT_MAX || x->what.k > INT_MAX)) return false;
  if (p->is_xt) return runs[x->what.operation](p->handle, routine, x) == 0;
  bench_blas_call(routine, x);
  return true;
}
