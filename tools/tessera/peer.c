#include "peer.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 32, XT_OP_N = 0, XT_OP_T = 1, XT_OP_C = 2 };

/* Source: cublasXt.h of the CUDA toolkit; declared here so that none is needed to build. */
typedef struct xt_context *xt_handle;
typedef int (*xt_create)(xt_handle *handle);
typedef int (*xt_destroy)(xt_handle handle);
typedef int (*xt_select)(xt_handle handle, int count, int *devices);
typedef int (*xt_set_int)(xt_handle handle, int value);
typedef int (*xt_gemm)(xt_handle handle, int transa, int transb, size_t m, size_t n, size_t k,
                       const void *alpha, const void *a, size_t lda, const void *b, size_t ldb,
                       const void *beta, void *c, size_t ldc);

struct peer_library {
  void *library;
  xt_handle handle;
  xt_destroy destroy;
  xt_set_int set_block;
  xt_gemm gemm[4]; /* s d c z */
};

static void *open_library(void) {
  static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                      "libcublas.so", "/usr/local/cuda/lib64/libcublas.so"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
  }
  return NULL;
}

/* A function pointer out of dlsym; the copy is what POSIX gives instead of a cast. */
static bool find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static bool find_gemms(peer_library *p) {
  static const char *const names[] = {"cublasXtSgemm", "cublasXtDgemm", "cublasXtCgemm",
                                      "cublasXtZgemm"};
  for (int i = 0; i < 4; i++) {
    if (!find(p->library, names[i], &p->gemm[i])) return false;
  }
  return true;
}

/* Asked of the driver first: without a device, the library crashes when one is selected. */
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

static bool start(peer_library *p, int devices) {
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
      !find(p->library, "cublasXtSetPinningMemMode", &set_pinning) || !find_gemms(p)) {
    return false;
  }
  if (create(&p->handle) != 0) {
    p->handle = NULL;
    return false;
  }
  /* The matrices are pinned already, or meant not to be. */
  return select(p->handle, devices, list) == 0 && set_pinning(p->handle, 0) == 0;
}

peer_library *peer_open(const char *name, int devices) {
  peer_library *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->library = open_library();
  if (!p->library) {
    tool_note("note: no %s here (libcublas is not found); its columns stay empty", name);
  } else if (!start(p, devices)) {
    tool_note("note: %s cannot use %d devices here; its columns stay empty", name, devices);
  } else {
    return p;
  }
  peer_close(p);
  return NULL;
}

void peer_close(peer_library *p) {
  if (!p) return;
  if (p->handle) p->destroy(p->handle);
  free(p); /* the library stays: CUDA does not bear being unloaded */
}

const int *peer_blocks(void) {
  static const int blocks[] = {2048, 4096, 0};
  return blocks;
}

void peer_set_block(peer_library *p, int block) {
  p->set_block(p->handle, block);
}

static int xt_op(tsr_op op) {
  return op == TSR_NO_TRANS ? XT_OP_N : op == TSR_TRANS ? XT_OP_T : XT_OP_C;
}

bool peer_multiply(peer_library *p, const bench_product *x) {
  const char *letters = "sdcz";
  const char *place = strchr(letters, (char)x->type);
  if (!place) return false;
  return p->gemm[place - letters](p->handle, xt_op(x->transa), xt_op(x->transb), (size_t)x->m,
                                  (size_t)x->n, (size_t)x->k, x->alpha, x->a, (size_t)x->lda, x->b,
                                  (size_t)x->ldb, x->beta, x->c, (size_t)x->ldc) == 0;
}
