/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/loaded.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/environment.h"

/* Where the file that holds an address begins in memory; NULL: no file holds it. */
static const void *base_of(const void *address) {
  Dl_info file;
  return address != NULL && dladdr(address, &file) ? file.dli_fbase : NULL;
}

/* Where the program itself begins in memory; NULL: not known. */
static const void *base_of_program(void) {
  return base_of((const void *)getauxval(AT_ENTRY));
}

bool tsr_loaded_directory(const void *address, char *directory, size_t room) {
  Dl_info file;
  directory[0] = '\0';
  if (!dladdr(address, &file) || file.dli_fname == NULL) return false;
  const char *slash = strrchr(file.dli_fname, '/');
  size_t length = slash != NULL ? (size_t)(slash - file.dli_fname) + 1 : 0;
  if (length == 0 || length >= room) return false;
  const void *program = base_of_program();
  bool named_by_loader = file.dli_fname[0] == '/' && program != NULL && file.dli_fbase != program;
  if (!named_by_loader && !tsr_environment_is_trusted()) return false;
  memcpy(directory, file.dli_fname, length);
  directory[length] = '\0';
  return true;
}

bool tsr_loaded_together(const void *one, const void *other) {
  const void *base = base_of(one);
  return base != NULL && base == base_of(other);
}

/* Several loaded files may have one name, so the file that dlopen finds by it must be the one that
 * defines the symbol. The program itself is never closed and needs no reference. */
bool tsr_loaded_keep(const void *symbol, const char *name) {
  Dl_info file;
  if (!dladdr(symbol, &file) || file.dli_fname == NULL) return false;
  if (file.dli_fbase == base_of_program()) return true;
  void *library = dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return false;
  if (dlsym(library, name) == symbol) return true;
  (void)dlclose(library);
  return false;
}
