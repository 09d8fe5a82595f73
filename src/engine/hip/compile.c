/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Compiles kernels at run time, and keeps what was compiled. */
#include "compile.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/system/cache_folder.h"
#include "base/text.h"
#include "functions.h"

/* ---- The architecture ------------------------------------------------------- */

/* hipDeviceProp_t grew in ROCm 6, under a new name of the function that fills it in; the
 * architecture's name is the one field that the engine needs of it and cannot ask for otherwise.
 * Offsets [bytes] of gcnArchName: of the structure up to ROCm 5, 396 of 792 bytes in 5.2; of the
 * one since, hipDeviceProp_tR0600, 1160 of 1472. */
enum { NAME_5 = 396, NAME_6 = 1160, MOST_PROPERTIES = 4096 };
#if HIP_VERSION_MAJOR == 5
_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) == NAME_5, "the layout of ROCm 5");
#elif HIP_VERSION_MAJOR >= 6
_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) == NAME_6, "the layout since ROCm 6");
#endif

tsr_status tsr_hip_architecture(int device, char name[TSR_HIP_ARCHITECTURE]) {
  _Alignas(16) char properties[MOST_PROPERTIES] = {0};
  hipError_t error = tsr_hip.get_properties(properties, device);
  if (error != hipSuccess) {
    (void)tsr_hip.hipGetLastError();
    return tsr_fail(TSR_ERR_DEVICE, "HIP device %d: asking for its architecture failed: %s", device,
                    tsr_hip.hipGetErrorString(error));
  }
  const char *found = properties + (tsr_hip.release >= 6 ? NAME_6 : NAME_5);
  snprintf(name, TSR_HIP_ARCHITECTURE, "%.*s", TSR_HIP_ARCHITECTURE - 1, found);
  return TSR_OK;
}

/* ---- The compiler ----------------------------------------------------------- */

#define OPTIMIZE "-O3"
#define STANDARD "-std=c++17"
#define EXACT "-ffp-contract=off" /* residues have the bits of the CPU's */
enum { OPTIONS = 4, LOG_MOST = 1 << 20 };

/* Fails if the call of hiprtc does. */
static tsr_status check(hiprtcResult result, const char *what, const char *architecture) {
  if (result == HIPRTC_SUCCESS) return TSR_OK;
  tsr_status status = result == HIPRTC_ERROR_OUT_OF_MEMORY ? TSR_ERR_MEMORY : TSR_ERR_ENGINE;
  return tsr_fail(status,
                  "hiprtc, ROCm's compiler at run time, fails to make kernels for %s: %s: %s; "
                  "TESSERA_LOG=error shows its messages. Build Tessera with "
                  "-DTESSERA_HIP_ARCHITECTURES=%.*s, or use another release of ROCm",
                  architecture, what, tsr_hip.hiprtcGetErrorString(result),
                  (int)strcspn(architecture, ":"), architecture);
}

static void log_lines(tsr_log_level level, const char *text) {
  for (const char *at = text; *at != '\0';) {
    size_t length = strcspn(at, "\n");
    if (length > 0) tsr_log(level, "hiprtc: %.*s", (int)length, at);
    at += length + (at[length] == '\n');
  }
}

/* Warnings of a compilation that succeeds interest only who looks for them. */
static void log_messages(hiprtcProgram program, bool failed) {
  size_t bytes = 0;
  if (tsr_hip.hiprtcGetProgramLogSize(program, &bytes) != HIPRTC_SUCCESS || bytes > LOG_MOST)
    return;
  char *text = tsr_alloc_zero(bytes + 1, 1);
  if (text != NULL && tsr_hip.hiprtcGetProgramLog(program, text) == HIPRTC_SUCCESS)
    log_lines(failed ? TSR_LOG_ERROR : TSR_LOG_DEBUG, text);
  tsr_dealloc(text);
}

static tsr_status take_code(hiprtcProgram program, const char *architecture, tsr_hip_code *code) {
  size_t bytes = 0;
  TSR_TRY(check(tsr_hip.hiprtcGetCodeSize(program, &bytes), "asking for the code", architecture));
  char *taken = tsr_alloc(bytes > 0 ? bytes : 1);
  if (taken == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for compiled kernels");
  tsr_status status = check(tsr_hip.hiprtcGetCode(program, taken), "taking the code", architecture);
  if (status == TSR_OK)
    *code = (tsr_hip_code){taken, bytes};
  else
    tsr_dealloc(taken);
  return status;
}

static tsr_status compile(hiprtcProgram program, const char *architecture, tsr_hip_code *code) {
  char target[TSR_HIP_ARCHITECTURE + 32];
  snprintf(target, sizeof target, "--offload-arch=%s", architecture);
  const char *options[OPTIONS] = {target, OPTIMIZE, STANDARD, EXACT};
  hiprtcResult result = tsr_hip.hiprtcCompileProgram(program, OPTIONS, options);
  log_messages(program, result != HIPRTC_SUCCESS);
  TSR_TRY(check(result, "compiling", architecture));
  return take_code(program, architecture, code);
}

tsr_status tsr_hip_code_compile(const char *architecture, tsr_hip_code *code) {
  hiprtcProgram program = NULL;
  double start = tsr_now();
  if (tsr_hip.lacks_compiler != NULL)
    return tsr_fail(TSR_ERR_ENGINE,
                    "this build has no kernels for %s, and hiprtc, ROCm's compiler at run time, is "
                    "not here: %s is not found; install it, set ROCM_PATH or LD_LIBRARY_PATH to "
                    "it, or build Tessera with -DTESSERA_HIP_ARCHITECTURES=%.*s",
                    architecture, tsr_hip.lacks_compiler, (int)strcspn(architecture, ":"),
                    architecture);
  TSR_TRY(check(
      tsr_hip.hiprtcCreateProgram(&program, tsr_hip_kernels, "tessera_kernels.cu", 0, NULL, NULL),
      "reading the source", architecture));
  tsr_status status = compile(program, architecture, code);
  (void)tsr_hip.hiprtcDestroyProgram(&program);
  if (status == TSR_OK)
    tsr_log(TSR_LOG_INFO, "hiprtc compiled the kernels for %s in %.1f s", architecture,
            tsr_now() - start);
  return status;
}

/* ---- The cache ---------------------------------------------------------------- */

static uint64_t digest(uint64_t before, const char *text) {
  for (; *text != '\0'; text++)
    before = (before ^ (unsigned char)*text) * UINT64_C(0x100000001b3); /* FNV-1a */
  return before;
}

/* "hip-gfx942_sramecc__xnack_-60342131-<digest>.co": a file for all that the code depends on. */
static tsr_status file_name(const char *architecture, char **name) {
  tsr_text text = TSR_TEXT_INIT;
  uint64_t source = digest(UINT64_C(0xcbf29ce484222325), tsr_hip_kernels);
  source = digest(digest(source, OPTIMIZE STANDARD EXACT), architecture);
  tsr_text_add(&text, "hip-");
  for (const char *c = architecture; *c != '\0'; c++) {
    bool plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z');
    tsr_text_add(&text, "%c", plain ? *c : '_');
  }
  tsr_text_add(&text, "-%d-%016llx.co", tsr_hip.version, (unsigned long long)source);
  return tsr_text_take(&text, name);
}

static tsr_status find_file(const char *architecture,
                            tsr_status (*find)(const char *name, char **path), char **path) {
  char *name;
  TSR_TRY(file_name(architecture, &name));
  tsr_status status = find(name, path);
  tsr_dealloc(name);
  return status;
}

/* A missing file is common, and no error in the log. */
tsr_hip_code tsr_hip_code_read(const char *architecture) {
  tsr_hip_code code = {NULL, 0};
  char *path = NULL;
  if (find_file(architecture, tsr_cache_file, &path) != TSR_OK) return code;
  if (access(path, R_OK) == 0 && tsr_text_read_file(path, &code.bytes, &code.count) == TSR_OK)
    tsr_log(TSR_LOG_INFO, "kernels for %s are read from %s", architecture, path);
  tsr_dealloc(path);
  return code;
}

void tsr_hip_code_keep(const char *architecture, const tsr_hip_code *code) {
  char *path = NULL;
  tsr_status status = find_file(architecture, tsr_cache_file_to_write, &path);
  if (status == TSR_OK) status = tsr_text_write_file(path, code->bytes, code->count);
  if (status == TSR_OK)
    tsr_log(TSR_LOG_INFO, "the compiled kernels are kept in %s", path);
  else
    tsr_log(TSR_LOG_INFO, "compiled kernels cannot be kept, and each process compiles anew: %s",
            tsr_message());
  tsr_dealloc(path);
}
