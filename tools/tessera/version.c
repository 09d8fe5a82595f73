/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "version.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "built.h"
#include "tool.h"

#define VERSION_OF_HEADER      \
  TOOL_TEXT(TSR_VERSION_MAJOR) \
  "." TOOL_TEXT(TSR_VERSION_MINOR) "." TOOL_TEXT(TSR_VERSION_PATCH)

const char *version_line(void) {
  static char line[96];
  snprintf(line, sizeof line, "tessera %s (%s)", tsr_version(), BUILT_COMMIT);
  return line;
}

const char *version_cuda(void) {
  return BUILT_CUDA;
}

const char *version_hip(void) {
  return BUILT_HIP;
}

const char *version_mpi(void) {
  return BUILT_MPI;
}

bool version_matches(void) {
  return strcmp(tsr_version(), VERSION_OF_HEADER) == 0;
}

/* A line for a part of the build, and the library that has it, which may be in a package of its
 * own. */
static void print_part(const char *name, const char *built, const char *library) {
  char path[PATH_MAX];
  bool here = tool_find_library(library, path);
  if (!*built)
    printf("%-8s none: built without\n", name);
  else
    printf("%-8s %s%s%s\n", name, built, here ? "" : ", but not installed: ", here ? "" : library);
}

static void print_blas(void) {
  tsr_blas_facts blas;
  if (tsr_blas_describe(&blas) == TSR_OK)
    printf("BLAS     %s%s%s\n", blas.version, *blas.version ? ", " : "", blas.file);
  else
    printf("BLAS     none: %s\n", tsr_message());
}

static void print_engines(void) {
  static const char *const loaded[][2] = {{"cuda", "libtessera_cuda" TOOL_SO},
                                          {"hip", "libtessera_hip" TOOL_SO}};
  char path[PATH_MAX];
  printf("engines  ");
  for (size_t i = 0; i < sizeof loaded / sizeof *loaded; i++)
    if (tool_find_library(loaded[i][1], path)) printf("%s, ", loaded[i][0]);
  printf("host, cpu\n");
}

int version_print(void) {
  printf("%s\n", version_line());
  print_part("CUDA", BUILT_CUDA, "libtessera_cuda" TOOL_SO);
  print_part("HIP", BUILT_HIP, "libtessera_hip" TOOL_SO);
  print_part("NCCL", BUILT_NCCL, "libtessera_nccl" TOOL_SO);
  print_part("MPI", BUILT_MPI, "libtessera_mpi" TOOL_SO);
  print_blas();
  print_engines();
  printf("built    by %s, %s\n", BUILT_COMPILER, BUILT_TYPE);
  return TOOL_OK;
}
