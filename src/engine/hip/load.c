/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Finds the libraries of ROCm and their functions at run time. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/system/rocm.h"
#include "engine/gpu/internal.h"

tsr_hip_functions tsr_hip;

/* The sonames of each release of ROCm, newest first. rocBLAS needs the runtime of its own release.
 * blas[1] is what releases before 5.7 have. */
static const struct release {
  const char *name, *runtime, *blas[2], *compiler;
} releases[] = {
    {"7", "libamdhip64.so.7", {"librocblas.so.5"}, "libhiprtc.so.7"},
    {"6", "libamdhip64.so.6", {"librocblas.so.4"}, "libhiprtc.so.6"},
    {"5", "libamdhip64.so.5", {"librocblas.so.3", "librocblas.so.0"}, "libhiprtc.so.5"},
};
enum { RELEASES = sizeof releases / sizeof *releases };

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static bool loaded;
static void *runtime, *blas; /* libraries; they are never closed */
static const struct release *found;
static const char *blas_name;

/* ---- Libraries ------------------------------------------------------------ */

/* Opens the runtime and the BLAS of one release. A runtime without its BLAS is kept only until a
 * release is found that has both: it can still say whether there are devices. */
static void open_release(const struct release *release) {
  void *its_runtime = tsr_rocm_open(release->runtime);
  if (its_runtime == NULL) return;
  void *its_blas = NULL;
  for (int i = 0; i < 2 && its_blas == NULL && release->blas[i] != NULL; i++) {
    blas_name = release->blas[i];
    its_blas = tsr_rocm_open(blas_name);
  }
  if (runtime != NULL && its_blas == NULL) return;
  runtime = its_runtime;
  blas = its_blas;
  found = release;
}

static tsr_status open_libraries(void) {
  for (int i = 0; i < RELEASES && blas == NULL; i++) open_release(&releases[i]);
  if (runtime != NULL) return TSR_OK;
  return tsr_fail(
      TSR_ERR_ENGINE,
      "the HIP runtime is not here: no libamdhip64.so.7, .6 or .5 is found; install ROCm, "
      "or set ROCM_PATH or LD_LIBRARY_PATH to it");
}

/* ---- Functions ------------------------------------------------------------ */

#define WANTED(name) {#name, offsetof(tsr_hip_functions, name)},
static const tsr_rocm_function of_runtime[] = {TSR_HIP_RUNTIME(WANTED)};
static const tsr_rocm_function of_blas[] = {TSR_HIP_BLAS(WANTED)};
static const tsr_rocm_function of_blas_trmm[] = {TSR_HIP_BLAS_TRMM(WANTED)};
static const tsr_rocm_function of_blas_layout[] = {TSR_HIP_BLAS_LAYOUT(WANTED)};
static const tsr_rocm_function of_compiler[] = {TSR_HIP_COMPILER(WANTED)};
#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

static const char *find_functions(void *library, const tsr_rocm_function *list, int count,
                                  const char *ending) {
  return tsr_rocm_find(library, list, count, ending, &tsr_hip);
}

/* rocBLAS before 4.0 has the trmm that we call under another name, and one that overwrites its
 * operand under this name (rocblas.h). */
static const char *find_blas(void) {
  const char *missing = find_functions(blas, of_blas, COUNT(of_blas), "");
  if (missing != NULL) return missing;
  if (tsr_hip.release < 6)
    (void)find_functions(blas, of_blas_layout, COUNT(of_blas_layout), ""); /* one of one layout */
  const char *ending = tsr_hip.release < 6 ? "_outofplace" : "";
  return find_functions(blas, of_blas_trmm, COUNT(of_blas_trmm), ending);
}

/* Without hiprtc there are only the kernels that were compiled with the engine. */
static void find_compiler(void) {
  void *library = tsr_rocm_open(found->compiler);
  const char *missing =
      find_functions(library != NULL ? library : runtime, of_compiler, COUNT(of_compiler), "");
  tsr_hip.lacks_compiler = missing != NULL ? found->compiler : NULL;
}

/* Since ROCm 6 the function that fills in the larger structure has a name of its own, and the old
 * name is that of the old function. Returns the name that is missing; NULL: it is there. */
static const char *find_properties(void) {
  const char *name =
      tsr_hip.release >= 6 ? "hipGetDevicePropertiesR0600" : "hipGetDeviceProperties";
  void *function = dlsym(runtime, name);
  memcpy(&tsr_hip.get_properties, &function, sizeof function);
  return function != NULL ? NULL : name;
}

static tsr_status lacks(const char *library, const char *name) {
  return tsr_fail(TSR_ERR_ENGINE, "%s lacks %s; the HIP engine needs ROCm 5.2 or later", library,
                  name);
}

/* ---- Together -------------------------------------------------------------- */

/* A machine without AMD GPUs may have the runtime alone. Then the answer is that there is no
 * device, which the engine says after this. */
static tsr_status check_blas(void) {
  int devices = 0;
  if (blas != NULL) return TSR_OK;
  if (tsr_hip.hipGetDeviceCount(&devices) != hipSuccess || devices == 0) return TSR_OK;
  return tsr_fail(TSR_ERR_ENGINE,
                  "rocBLAS is not here: %s is found, but %s%s%s is not; install ROCm's rocblas, or "
                  "set ROCM_PATH or LD_LIBRARY_PATH to it",
                  found->runtime, found->blas[0], found->blas[1] != NULL ? " or " : "",
                  found->blas[1] != NULL ? found->blas[1] : "");
}

static tsr_status load(void) {
  TSR_TRY(open_libraries());
  tsr_hip.release = found->name[0] - '0';
  const char *missing = find_functions(runtime, of_runtime, COUNT(of_runtime), "");
  if (missing == NULL) missing = find_properties();
  if (missing != NULL) return lacks(found->runtime, missing);
  missing = blas != NULL ? find_blas() : NULL;
  if (missing != NULL) return lacks(blas_name, missing);
  find_compiler();
  if (tsr_hip.hipRuntimeGetVersion(&tsr_hip.version) != hipSuccess)
    return tsr_fail(TSR_ERR_ENGINE, "%s does not tell its version", found->runtime);
  return check_blas();
}

/* After a failure the next call tries again: the libraries may have been installed. */
tsr_status gpu_load(void) {
  pthread_mutex_lock(&loading);
  tsr_status status = loaded ? TSR_OK : load();
  if (status == TSR_OK) loaded = blas != NULL;
  pthread_mutex_unlock(&loading);
  return status;
}
