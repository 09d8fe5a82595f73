/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The version that the CPU's BLAS reports, and the file that it was loaded from. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cpu/blas.h"

typedef char *(*openblas_function)(void);
typedef void (*mkl_function)(char *text, int room);
typedef const char *(*blis_function)(void);

/* Copies the words of a text up to the first that is no name and no number: "OpenBLAS 0.3.21
 * NO_LAPACKE DYNAMIC_ARCH" gives "OpenBLAS 0.3.21". */
static void copy_two_words(const char *text, char *version, size_t room) {
  size_t first = strcspn(text, " "), second = text[first] != '\0' ? first + 1 : first;
  second += strcspn(text + second, " ");
  snprintf(version, room, "%.*s", (int)second, text);
}

static void describe_openblas(void *symbol, char *version, size_t room) {
  openblas_function get;
  memcpy(&get, &symbol, sizeof get);
  copy_two_words(get(), version, room);
}

/* "Intel(R) oneAPI Math Kernel Library Version 2023.1-Product Build ..." */
static void describe_mkl(void *symbol, char *version, size_t room) {
  mkl_function get;
  char text[256] = "";
  memcpy(&get, &symbol, sizeof get);
  get(text, (int)sizeof text);
  const char *number = strstr(text, "Version ");
  snprintf(version, room, "MKL %.*s", number != NULL ? (int)strcspn(number + 8, "- ") : 0,
           number != NULL ? number + 8 : "");
}

static void describe_blis(void *symbol, char *version, size_t room) {
  blis_function get;
  memcpy(&get, &symbol, sizeof get);
  snprintf(version, room, "BLIS %s", get());
}

static const struct {
  const char *symbol;
  void (*describe)(void *symbol, char *version, size_t room);
} families[] = {
    {"openblas_get_config", describe_openblas},
    {"MKL_Get_Version_String", describe_mkl},
    {"bli_info_get_version_str", describe_blis},
};

void tsr_cpu_blas_version(char *version, size_t room) {
  version[0] = '\0';
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    void *symbol = tsr_cpu_blas_symbol(families[i].symbol);
    if (symbol == NULL) continue;
    families[i].describe(symbol, version, room);
    return;
  }
}

void tsr_cpu_blas_file(char *file, size_t room) {
  Dl_info info;
  void *symbol = tsr_cpu_blas_symbol("dgemm_");
  bool known = symbol != NULL && dladdr(symbol, &info) != 0 && info.dli_fname != NULL;
  snprintf(file, room, "%s", known ? info.dli_fname : tsr_cpu_blas_name());
}
