/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * hiprtc for tests: libhiprtc.so.N, and a part of the runtime where TSR_ROCM is 5. It takes the one
 * source that the engine has, which hipcc has compiled for gfx90a while building, and gives that
 * code, marked as code for the architecture that is asked for. Environment:
 *
 *   TSR_HIPRTC_LOG   a file to which each compilation appends its options
 *   TSR_HIPRTC_FAIL  what the compiler says as it fails
 */
#include <hip/hiprtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "architecture.h"
#include "runtime.h"

struct _hiprtcProgram {
  enum { CREATED = 0x9c0de, COMPILED, FAILED, DESTROYED } state;
  char log[400];
  unsigned char *code;
  size_t bytes;
};

static int programs; /* that are not destroyed */

static hiprtcResult misuse(hiprtcResult result, const char *what) {
  hip_misuse(hipSuccess, "hiprtc: %s", what);
  return result;
}

static bool is_program(const struct _hiprtcProgram *p) {
  return p != NULL && p->state >= CREATED && p->state < DESTROYED;
}

/* The file's bytes and a 0; NULL: it is not there. */
static unsigned char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  unsigned char *read = NULL;
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    *bytes = (size_t)ftell(file);
    rewind(file);
    read = calloc(1, *bytes + 1);
    if (read != NULL && fread(read, 1, *bytes, file) != *bytes) *bytes = 0;
  }
  fclose(file);
  return read;
}

/* ---- Programs ----------------------------------------------------------------- */

/* Whether the source is the one whose code is known. */
static bool is_known(const char *source) {
  size_t bytes = 0;
  unsigned char *known = read_file(TSR_HIP_SOURCE, &bytes);
  bool same = known != NULL && bytes > 0 && strcmp((const char *)known, source) == 0;
  free(known);
  return same;
}

hiprtcResult hiprtcCreateProgram(hiprtcProgram *made, const char *source, const char *name,
                                 int header_count, const char **headers, const char **names) {
  if (made == NULL || source == NULL || name == NULL || header_count != 0 || headers != NULL ||
      names != NULL)
    return misuse(HIPRTC_ERROR_INVALID_INPUT, "a program without source or name, or with headers");
  if (!is_known(source))
    return misuse(HIPRTC_ERROR_INVALID_INPUT, "the source is not " TSR_HIP_SOURCE);
  *made = calloc(1, sizeof **made);
  if (*made == NULL) return HIPRTC_ERROR_OUT_OF_MEMORY;
  (*made)->state = CREATED;
  __atomic_add_fetch(&programs, 1, __ATOMIC_RELAXED);
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcDestroyProgram(hiprtcProgram *program) {
  if (program == NULL || !is_program(*program))
    return misuse(HIPRTC_ERROR_INVALID_PROGRAM, "no program is destroyed");
  free((*program)->code);
  (*program)->state = DESTROYED;
  free(*program);
  *program = NULL;
  __atomic_sub_fetch(&programs, 1, __ATOMIC_RELAXED);
  return HIPRTC_SUCCESS;
}

__attribute__((destructor)) static void tell_programs(void) {
  if (programs > 0) misuse(HIPRTC_ERROR_INVALID_PROGRAM, "a program is not destroyed");
}

/* ---- Compilation ---------------------------------------------------------------- */

static void log_options(int count, const char **options) {
  const char *path = getenv("TSR_HIPRTC_LOG");
  FILE *log = path != NULL ? fopen(path, "a") : NULL;
  if (log == NULL) return;
  for (int i = 0; i < count; i++) fprintf(log, "%s%s", i > 0 ? " " : "", options[i]);
  fputc('\n', log);
  fclose(log);
}

/* The architecture among the options; NULL: an option is unknown or there are not all. */
static const char *read_options(int count, const char **options) {
  static const char target[] = "--offload-arch=";
  const char *architecture = NULL;
  int standard = 0, optimize = 0, exact = 0;
  for (int i = 0; i < count; i++) {
    if (strncmp(options[i], target, sizeof target - 1) == 0 && architecture == NULL)
      architecture = options[i] + sizeof target - 1;
    else if (strcmp(options[i], "-std=c++17") == 0)
      standard++;
    else if (strcmp(options[i], "-O3") == 0)
      optimize++;
    else if (strcmp(options[i], "-ffp-contract=off") == 0)
      exact++;
    else
      return NULL;
  }
  return standard == 1 && optimize == 1 && exact == 1 ? architecture : NULL;
}

static hiprtcResult take_code(hiprtcProgram program, const char *architecture) {
  program->code = read_file(TSR_HIP_CODE, &program->bytes);
  if (program->code == NULL || program->bytes < ELF_FLAGS + 4)
    return misuse(HIPRTC_ERROR_INTERNAL_ERROR, "there is no " TSR_HIP_CODE);
  program->code[ELF_FLAGS] = hip_machine_number(architecture);
  program->state = COMPILED;
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, const char **options) {
  const char *fails = getenv("TSR_HIPRTC_FAIL");
  if (!is_program(program) || program->state != CREATED)
    return misuse(HIPRTC_ERROR_INVALID_PROGRAM, "no new program is compiled");
  const char *architecture = read_options(count, options);
  log_options(count, options);
  if (architecture == NULL || strcmp(architecture, hip_settings()->arch) != 0)
    return misuse(HIPRTC_ERROR_INVALID_OPTION, "options are wrong");
  if (fails == NULL && hip_machine_number(architecture) != 0)
    return take_code(program, architecture);
  program->state = FAILED;
  snprintf(program->log, sizeof program->log, "tessera_kernels.cu:1:1: error: %s\n1 error.\n",
           fails != NULL ? fails : "unknown target");
  return HIPRTC_ERROR_COMPILATION;
}

/* ---- What it made ----------------------------------------------------------------- */

hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, size_t *bytes) {
  if (!is_program(program)) return misuse(HIPRTC_ERROR_INVALID_PROGRAM, "the log of no program");
  *bytes = strlen(program->log) + 1;
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char *log) {
  if (!is_program(program)) return misuse(HIPRTC_ERROR_INVALID_PROGRAM, "the log of no program");
  memcpy(log, program->log, strlen(program->log) + 1);
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, size_t *bytes) {
  if (!is_program(program) || program->state != COMPILED)
    return misuse(HIPRTC_ERROR_INVALID_PROGRAM, "the code of a program that is not compiled");
  *bytes = program->bytes;
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetCode(hiprtcProgram program, char *code) {
  if (!is_program(program) || program->state != COMPILED)
    return misuse(HIPRTC_ERROR_INVALID_PROGRAM, "the code of a program that is not compiled");
  memcpy(code, program->code, program->bytes);
  return HIPRTC_SUCCESS;
}

const char *hiprtcGetErrorString(hiprtcResult result) {
  switch (result) {
    case HIPRTC_SUCCESS:
      return "HIPRTC_SUCCESS";
    case HIPRTC_ERROR_COMPILATION:
      return "HIPRTC_ERROR_COMPILATION";
    case HIPRTC_ERROR_INVALID_OPTION:
      return "HIPRTC_ERROR_INVALID_OPTION";
    default:
      return "HIPRTC_ERROR";
  }
}
