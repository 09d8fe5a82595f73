/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * libhiprtc.so.6 for an NVIDIA GPU: the functions that src/engine/hip/functions.h names, over
 * NVRTC, whose functions are the same under other names. What hiprtc knows without headers, NVRTC
 * has in CUDA's; they are put before the source.
 */
#include <hip/hiprtc.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hiprtcProgram program_of(nvrtcProgram program) {
  return (hiprtcProgram)(void *)program;
}

static nvrtcProgram nvrtc_of(hiprtcProgram program) {
  return (nvrtcProgram)(void *)program;
}

/* The results up to "compilation" have the same numbers; the engine tells no others apart. */
static hiprtcResult answer(nvrtcResult result) {
  return (hiprtcResult)result;
}

hiprtcResult hiprtcCreateProgram(hiprtcProgram *made, const char *source, const char *name,
                                 int header_count, const char **headers, const char **names) {
  static const char before[] =
      "#include <cuda_fp16.h>\n#define _Float16 __half\n#line 1 \"tessera_kernels.cu\"\n";
  nvrtcProgram program = NULL;
  size_t length = strlen(source);
  char *whole = malloc(sizeof before + length);
  if (whole == NULL) return HIPRTC_ERROR_OUT_OF_MEMORY;
  memcpy(whole, before, sizeof before - 1);
  memcpy(whole + sizeof before - 1, source, length + 1);
  nvrtcResult result = nvrtcCreateProgram(&program, whole, name, header_count,
                                          (const char *const *)headers, (const char *const *)names);
  free(whole);
  if (result == NVRTC_SUCCESS) *made = program_of(program);
  return answer(result);
}

hiprtcResult hiprtcDestroyProgram(hiprtcProgram *program) {
  nvrtcProgram given = nvrtc_of(*program);
  *program = NULL;
  return answer(nvrtcDestroyProgram(&given));
}

/* "--offload-arch=sm_90" becomes "--gpu-architecture=sm_90", and "-ffp-contract=off" becomes
 * "-fmad=false"; NVRTC optimizes by itself. It refuses functions of the host, which hiprtc leaves
 * out, unless they count as the device's. */
hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, const char **options) {
  static const char target[] = "--offload-arch=";
  enum { MOST = 16 };
  char architecture[300] = "";
  const char *given[MOST] = {TSR_CUDA_HEADERS, architecture,
                             "-default-device"}; /* "-I..." for folders */
  int used = 0;
  while (given[used] != NULL) used++;
  for (int i = 0; i < count && used < MOST; i++) {
    if (strncmp(options[i], target, sizeof target - 1) == 0)
      snprintf(architecture, sizeof architecture, "--gpu-architecture=%s",
               options[i] + sizeof target - 1);
    else if (strcmp(options[i], "-ffp-contract=off") == 0)
      given[used++] = "-fmad=false";
    else if (strcmp(options[i], "-O3") != 0)
      given[used++] = options[i];
  }
  return answer(nvrtcCompileProgram(nvrtc_of(program), used, given));
}

hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, size_t *bytes) {
  return answer(nvrtcGetProgramLogSize(nvrtc_of(program), bytes));
}

hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char *log) {
  return answer(nvrtcGetProgramLog(nvrtc_of(program), log));
}

hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, size_t *bytes) {
  return answer(nvrtcGetCUBINSize(nvrtc_of(program), bytes));
}

hiprtcResult hiprtcGetCode(hiprtcProgram program, char *code) {
  return answer(nvrtcGetCUBIN(nvrtc_of(program), code));
}

const char *hiprtcGetErrorString(hiprtcResult result) {
  return nvrtcGetErrorString((nvrtcResult)result);
}
