/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/system/loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/alloc.h"
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

/* ---- Handles ---- */

enum { PATH_ROOM = 4096 }; /* longer than the name of any file */

/* A loaded file that is looked for: the one that holds an address, or that has `left` others before
 * it. The path of the program itself is "". */
typedef struct wanted_file {
  const char *address; /* NULL: the number decides */
  int left;            /* how many are still to be skipped */
  ElfW(Addr) base;
  char path[PATH_ROOM];
} wanted_file;

static bool holds(const struct dl_phdr_info *info, const char *address) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t begin = (uintptr_t)info->dlpi_addr + (uintptr_t)part->p_vaddr;
    if (part->p_type == PT_LOAD && (uintptr_t)address - begin < (uintptr_t)part->p_memsz)
      return true;
  }
  return false;
}

/* Only the path is copied: the loader holds a lock meanwhile that another thread may be waiting for
 * inside dlopen, and a dlopen from here would wait for that thread for ever. */
static int note_file(struct dl_phdr_info *info, size_t size, void *argument) {
  wanted_file *wanted = argument;
  (void)size;
  if (wanted->address != NULL ? !holds(info, wanted->address) : wanted->left-- > 0) return 0;
  wanted->base = info->dlpi_addr;
  (void)snprintf(wanted->path, PATH_ROOM, "%s", info->dlpi_name);
  return 1;
}

/* A handle of a file that was noted; NULL: it is not found by its path, or not loaded any more.
 * Several loaded files may have one name, so that the loader may find another one by it. */
static void *open_noted(const wanted_file *noted) {
  struct link_map *map = NULL;
  void *opened = dlopen(noted->path[0] != '\0' ? noted->path : NULL, RTLD_LAZY | RTLD_NOLOAD);
  if (opened == NULL) return NULL;
  if (dlinfo(opened, RTLD_DI_LINKMAP, &map) == 0 && map->l_addr == noted->base) return opened;
  (void)dlclose(opened);
  return NULL;
}

/* The path takes more room than small stacks have. */
static bool open_wanted(const void *address, int number, void **opened) {
  wanted_file *wanted = tsr_alloc_zero(1, sizeof *wanted);
  *opened = NULL;
  if (wanted == NULL) return false;
  wanted->address = address;
  wanted->left = number;
  bool found = dl_iterate_phdr(note_file, wanted) != 0;
  if (found) *opened = open_noted(wanted);
  tsr_dealloc(wanted);
  return found;
}

void *tsr_loaded_open(const void *address) {
  void *opened = NULL;
  if (address != NULL) (void)open_wanted(address, 0, &opened);
  return opened;
}

bool tsr_loaded_open_next(int *number, void **opened) {
  return open_wanted(NULL, (*number)++, opened);
}

bool tsr_loaded_keep(const void *symbol) {
  return tsr_loaded_open(symbol) != NULL;
}
