/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cpu/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/environment.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "base/status.h"
#include "base/system/loaded.h"
#include "base/system/process_limits.h"
#include "blas/routines.def"
#include "cpu/inside.h"
#include "cpu/room.h"

typedef int (*get_threads_function)(void);
typedef void (*set_threads_function)(int threads);

enum { TYPES = 4 };
/* Fortran names of the routines in the types s, d, c and z. NULL: BLAS has no such routine, as the
 * Hermitian ones are of complex types only. */
#define NAMES_COMPLEX(name) \
  { NULL, NULL, "c" #name "_", "z" #name "_" }
#define NAMES_BLAS(name) \
  { "s" #name "_", "d" #name "_", "c" #name "_", "z" #name "_" }
#define NAMES_ANY NAMES_BLAS
#define NAMES_true(name, kernel, types) [TSR_KERNEL_##kernel] = NAMES_##types(name),
#define NAMES_false(name, kernel, types)
#define NAMES(name, operation, signature, family, types, alpha, beta, kernel, in_blas, ...) \
  NAMES_##in_blas(name, kernel, types)
static const char *const routine_names[TSR_KERNEL_COUNT][TYPES] = {
    TSR_ROUTINES(NAMES)[TSR_KERNEL_POTRF] = NAMES_BLAS(potrf)};

static const char *const candidates[] = {"libopenblas.so.0", "libopenblas.so", "libblas.so.3",
                                         "libmkl_rt.so"};

/* The functions by which OpenBLAS, MKL and BLIS tell and set their number of threads. */
static const struct {
  const char *get, *set;
} thread_names[] = {
    {"openblas_get_num_threads", "openblas_set_num_threads"},
    {"MKL_Get_Max_Threads", "MKL_Set_Num_Threads"},
    {"bli_thread_get_num_threads", "bli_thread_set_num_threads"},
};

static struct {
  tsr_cpu_routine routine[TSR_KERNEL_COUNT][TYPES]; /* NULL: the library lacks it */
  get_threads_function get_threads;
  set_threads_function set_threads;
  void *handle; /* as dlopen returned it */
  char name[256];
  tsr_error error; /* why no library was found; TSR_OK: no search has failed */
} blas;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool loaded; /* `blas` describes the library and no longer changes */

/* Stores an address that dlsym returned in a pointer to a function. ISO C has no cast between the
 * two kinds of pointers. */
#define AS_FUNCTION(function, symbol) memcpy(&(function), &(symbol), sizeof(function))

/* With RTLD_DEEPBIND the library calls its own routines, even if a preloaded BLAS (ours, for one)
 * defines the same names. Sanitizers refuse this flag. */
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

/* Whether the symbol is in the same file as this code: dlsym has then found a door of ours, which
 * must not serve as the CPU's BLAS. */
static bool is_ours(const void *symbol) {
  static const char here;
  return tsr_loaded_together(&here, symbol);
}

/* Whether the library is Tessera or links Tessera: a call of its BLAS would come back to us. */
static bool is_door(void *library) {
  return dlsym(library, "tsr_cpu_blas_load") != NULL;
}

static void take_routine(void *library, int kernel, int type) {
  const char *name = routine_names[kernel][type];
  void *symbol = name ? dlsym(library, name) : NULL;
  blas.routine[kernel][type] = NULL;
  if (symbol && !is_ours(symbol)) AS_FUNCTION(blas.routine[kernel][type], symbol);
}

/* Fills the table of routines. False: the library lacks the GEMM of some type, without which it
 * cannot be the CPU's BLAS. */
static bool take_routines(void *library) {
  bool complete = true;
  for (int kernel = 0; kernel < TSR_KERNEL_COUNT; kernel++)
    for (int type = 0; type < TYPES; type++) take_routine(library, kernel, type);
  for (int type = 0; type < TYPES; type++) complete &= blas.routine[TSR_KERNEL_GEMM][type] != NULL;
  return complete;
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

/* Whether the environment says how many threads a BLAS has. */
static bool threads_are_told(void) {
  static const char *const names[] = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS",
                                      "BLIS_NUM_THREADS", "OMP_NUM_THREADS"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (tsr_environment_get(names[i]) != NULL) return true;
  return false;
}

/* A BLAS starts a thread for each processor of the affinity mask. If a quota gives the process less
 * time than that, the kernel stops threads in turns, and the others wait for them. The number stays
 * as it is if the program has loaded the library before us, or if a variable says it. */
static void fit_threads(void) {
  int cores = tsr_process_cores();
  if (threads_are_told() || blas.get_threads == NULL || blas.get_threads() <= cores) return;
  tsr_log(TSR_LOG_INFO, "%s has %d threads, and the process has %d cores: it gets so many threads",
          blas.name, blas.get_threads(), cores);
  blas.set_threads(cores);
}

/* Loads a library and fills `blas` from it. False: there is no such library, it lacks a GEMM, or it
 * is a door of ours. */
static bool open_library(const char *name) {
  bool programs = tsr_cpu_room_is_loaded(name);
  void *library = dlopen(name, OPEN_FLAGS);
  if (!library) return false;
  if (is_door(library) || !take_routines(library)) {
    dlclose(library);
    return false;
  }
  take_threads(library);
  tsr_cpu_room_watch(dlsym(library, "openblas_get_num_threads") != NULL);
  snprintf(blas.name, sizeof blas.name, "%s", name);
  blas.handle = library;
  if (!programs) fit_threads();
  atomic_store(&loaded, true);
  return true;
}

/* Keeps the last message for later calls of tsr_cpu_blas_load(), and returns status. */
static tsr_status none_found(tsr_status status) {
  tsr_error_take(status, &blas.error);
  return status;
}

static tsr_status find_library(void) {
  const char *wanted = tsr_setting_text("TESSERA_CPU_BLAS");
  if (wanted) {
    TSR_TRY(tsr_cpu_room_to_load(wanted));
    if (open_library(wanted)) return TSR_OK;
    return none_found(
        tsr_fail(TSR_ERR_ENGINE,
                 "TESSERA_CPU_BLAS is %s, which cannot be loaded as a BLAS: give the path of a "
                 "library that has %s",
                 wanted, routine_names[TSR_KERNEL_GEMM][1]));
  }
  for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
    TSR_TRY(tsr_cpu_room_to_load(candidates[i]));
    if (open_library(candidates[i])) return TSR_OK;
  }
  return none_found(
      tsr_fail(TSR_ERR_ENGINE,
               "no BLAS for the CPU: looked for %s, %s, %s and %s; install OpenBLAS or set "
               "TESSERA_CPU_BLAS to a library's path",
               candidates[0], candidates[1], candidates[2], candidates[3]));
}

/* A search that found no library is not repeated. If a library did not fit into the address space,
 * the next call tries again. */
tsr_status tsr_cpu_blas_load(void) {
  if (atomic_load(&loaded)) return TSR_OK;
  pthread_mutex_lock(&loading);
  tsr_status status = TSR_OK;
  if (blas.error.status != TSR_OK)
    status = tsr_error_put(&blas.error);
  else if (!atomic_load(&loaded))
    status = find_library();
  pthread_mutex_unlock(&loading);
  return status;
}

bool tsr_cpu_routine_is_there(tsr_kernel kernel, tsr_type type) {
  return blas.routine[kernel][tsr_type_index(type)] != NULL;
}

tsr_status tsr_cpu_routine_get(tsr_kernel kernel, tsr_type type, tsr_cpu_routine *routine) {
  int index = tsr_type_index(type);
  if (!blas.routine[kernel][index])
    return tsr_fail(TSR_ERR_UNSUPPORTED,
                    "the CPU's BLAS %s has no %s; set TESSERA_CPU_BLAS to one that is complete",
                    blas.name, routine_names[kernel][index]);
  *routine = blas.routine[kernel][index];
  return TSR_OK;
}

const char *tsr_cpu_blas_name(void) {
  return atomic_load(&loaded) ? blas.name : "";
}

void *tsr_cpu_blas_symbol(const char *name) {
  return atomic_load(&loaded) ? dlsym(blas.handle, name) : NULL;
}

static _Thread_local int depth;

void tsr_cpu_blas_enter(void) {
  depth++;
}

void tsr_cpu_blas_leave(void) {
  depth--;
}

bool tsr_cpu_blas_is_inside(void) {
  return depth > 0;
}

int tsr_cpu_blas_threads(void) {
  return atomic_load(&loaded) && blas.get_threads ? blas.get_threads() : 0;
}

void tsr_cpu_blas_set_threads(int threads) {
  if (atomic_load(&loaded) && blas.set_threads && threads > 0) blas.set_threads(threads);
}
