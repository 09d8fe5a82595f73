#include "base/cpu_blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/cpu_internal.h"
#include "base/settings.h"
#include "base/status.h"

/*
 * Integers are passed by address. On little-endian machines an int64_t that holds a small number
 * reads the same through an int, so one table serves libraries of either size of integer.
 */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
typedef int blas_int;
#else
typedef int64_t blas_int;
#endif

/* The two lengths at the end are those of the characters: Fortran compilers pass them, C libraries
 * ignore them. */
typedef void (*gemm_function)(const char *transa, const char *transb, const blas_int *m,
                              const blas_int *n, const blas_int *k, const void *alpha,
                              const void *a, const blas_int *lda, const void *b,
                              const blas_int *ldb, const void *beta, void *c, const blas_int *ldc,
                              size_t length_a, size_t length_b);

typedef int (*get_threads_function)(void);
typedef void (*set_threads_function)(int threads);

enum { TYPES = 4 };
static const char *const gemm_names[TYPES] = {"sgemm_", "dgemm_", "cgemm_", "zgemm_"};

static const char *const candidates[] = {"libopenblas.so.0", "libopenblas.so", "libblas.so.3",
                                         "libmkl_rt.so"};

/* How libraries tell and take their number of threads. */
static const struct {
  const char *get, *set;
} thread_names[] = {
    {"openblas_get_num_threads", "openblas_set_num_threads"},
    {"MKL_Get_Max_Threads", "MKL_Set_Num_Threads"},
    {"bli_thread_get_num_threads", "bli_thread_set_num_threads"},
};

static struct {
  gemm_function gemm[TYPES];
  get_threads_function get_threads;
  set_threads_function set_threads;
  char name[256];
  tsr_error error; /* why there is none */
} blas;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool loaded; /* blas may be read */

/* A function's address out of an object's: ISO C knows no cast for it. */
#define AS_FUNCTION(function, symbol) memcpy(&(function), &(symbol), sizeof(function))

/* RTLD_DEEPBIND keeps a preloaded BLAS (us, for one) from standing in for the library's own calls;
 * sanitizers refuse it. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    !defined(RTLD_DEEPBIND)
enum { OPEN_FLAGS = RTLD_NOW | RTLD_LOCAL };
#else
enum { OPEN_FLAGS = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND };
#endif

/* Whether the symbol is in the same file as this code: then we were given as our own BLAS. */
static bool is_ours(const void *symbol) {
  static const char here;
  Dl_info ours, theirs;
  if (!dladdr(&here, &ours) || !dladdr(symbol, &theirs)) return false;
  return ours.dli_fbase == theirs.dli_fbase;
}

static bool take_gemms(void *library) {
  for (int t = 0; t < TYPES; t++) {
    void *symbol = dlsym(library, gemm_names[t]);
    if (!symbol || is_ours(symbol)) return false;
    AS_FUNCTION(blas.gemm[t], symbol);
  }
  return true;
}

static void take_threads(void *library) {
  for (size_t i = 0; i < sizeof thread_names / sizeof *thread_names; i++) {
    void *get = dlsym(library, thread_names[i].get), *set = dlsym(library, thread_names[i].set);
    if (!get || !set) continue;
    AS_FUNCTION(blas.get_threads, get);
    AS_FUNCTION(blas.set_threads, set);
    return;
  }
}

static bool open_library(const char *name) {
  void *library = dlopen(name, OPEN_FLAGS);
  if (!library) return false;
  if (!take_gemms(library)) {
    dlclose(library);
    return false;
  }
  take_threads(library);
  snprintf(blas.name, sizeof blas.name, "%s", name);
  atomic_store(&loaded, true);
  return true;
}

static void find_library(void) {
  const char *wanted = tsr_setting_text("TESSERA_CPU_BLAS");
  tsr_status status;
  if (wanted) {
    if (open_library(wanted)) return;
    status =
        tsr_fail(TSR_ERR_ENGINE,
                 "TESSERA_CPU_BLAS is %s, which is not a BLAS that can be loaded (%s is needed)",
                 wanted, gemm_names[1]);
  } else {
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
      if (open_library(candidates[i])) return;
    }
    status = tsr_fail(TSR_ERR_ENGINE,
                      "no BLAS for the CPU: looked for %s, %s, %s and %s; install OpenBLAS or set "
                      "TESSERA_CPU_BLAS to a library's path",
                      candidates[0], candidates[1], candidates[2], candidates[3]);
  }
  tsr_error_take(status, &blas.error);
}

tsr_status tsr_cpu_blas_load(void) {
  pthread_once(&once, find_library);
  return atomic_load(&loaded) ? TSR_OK : tsr_error_put(&blas.error);
}

const char *tsr_cpu_blas_name(void) {
  return atomic_load(&loaded) ? blas.name : "";
}

int tsr_cpu_blas_threads(void) {
  return atomic_load(&loaded) && blas.get_threads ? blas.get_threads() : 0;
}

void tsr_cpu_blas_set_threads(int threads) {
  if (atomic_load(&loaded) && blas.set_threads && threads > 0) blas.set_threads(threads);
}

/* A scalar as the library reads it. */
typedef union typed_scalar {
  float s[2];
  double d[2];
} typed_scalar;

static typed_scalar scalar_of(bool single, tsr_scalar value) {
  typed_scalar typed;
  if (single) {
    typed.s[0] = (float)value.re;
    typed.s[1] = (float)value.im;
  } else {
    typed.d[0] = value.re;
    typed.d[1] = value.im;
  }
  return typed;
}

void tsr_cpu_gemm(tsr_type type, tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
                  tsr_scalar alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                  tsr_scalar beta, void *c, int64_t ldc) {
  int index = type == TSR_S ? 0 : type == TSR_D ? 1 : type == TSR_C ? 2 : 3;
  bool single = type == TSR_S || type == TSR_C;
  typed_scalar typed_alpha = scalar_of(single, alpha), typed_beta = scalar_of(single, beta);
  char ta = (char)transa, tb = (char)transb;
  blas_int im = (blas_int)m, in = (blas_int)n, ik = (blas_int)k;
  blas_int ia = (blas_int)lda, ib = (blas_int)ldb, ic = (blas_int)ldc;
  blas.gemm[index](&ta, &tb, &im, &in, &ik, &typed_alpha, a, &ia, b, &ib, &typed_beta, c, &ic, 1,
                   1);
}
