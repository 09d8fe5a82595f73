/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Why no BLAS call came in: what the process is and has loaded tells most of it. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/blas.h"
#include "front/offload/report.h"

/* ---- What is loaded ---- */

typedef struct loaded {
  bool python, numpy; /* an interpreter of Python; NumPy's module is loaded */
  bool outside;       /* so is a LAPACK that calls the BLAS from outside */
  char blas[512];     /* the path of a BLAS that is not ours; "": none is loaded */
  char lapack[512];   /* that of a LAPACK with a BLAS inside, a library of its own; "": none */
} loaded;

static bool is_blas(const char *name) {
  static const char *const parts[] = {"libopenblas", "libscipy_openblas", "libblas",     "libcblas",
                                      "libmkl_rt",   "libblis",           "libflexiblas"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strncmp(name, parts[i], strlen(parts[i])) == 0) return true;
  return false;
}

/* A BLAS with a LAPACK inside is what is worth naming, so one of several does. */
static int note(struct dl_phdr_info *info, size_t size, void *argument) {
  loaded *l = argument;
  const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
  (void)size;
  l->numpy |= strstr(name, "_multiarray_umath") != NULL;
  if (strncmp(name, "liblapack", 9) == 0) {
    char file[PATH_MAX]; /* Debian's names are links to the chosen one: OpenBLAS's or netlib's */
    bool inside = realpath(info->dlpi_name, file) != NULL && strstr(file, "openblas") != NULL;
    l->outside |= !inside;
    if (inside) snprintf(l->lapack, sizeof l->lapack, "%s", info->dlpi_name);
  }
  if (is_blas(name)) snprintf(l->blas, sizeof l->blas, "%s", info->dlpi_name);
  return 0;
}

/* ---- What is in the program itself ---- */

static bool is_routine(const char *name) {
  static const char *const names[] = {"dgemm_", "sgemm_", "zgemm_", "cblas_dgemm", "cblas_sgemm"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

/* Whether a table of symbols, whose names are in the section `names`, defines a BLAS routine. */
static bool defines(const char *file, size_t length, const ElfW(Shdr) * table,
                    const ElfW(Shdr) * names) {
  if (table->sh_offset + table->sh_size > length || names->sh_offset + names->sh_size > length)
    return false;
  const ElfW(Sym) *symbol = (const ElfW(Sym) *)(const void *)(file + table->sh_offset);
  const char *text = file + names->sh_offset;
  if (names->sh_size == 0 || text[names->sh_size - 1] != '\0') return false;
  for (size_t i = 0; i < table->sh_size / sizeof *symbol; i++)
    if (symbol[i].st_shndx != SHN_UNDEF && symbol[i].st_name < names->sh_size &&
        is_routine(text + symbol[i].st_name))
      return true;
  return false;
}

/* Whether the program's file defines a BLAS routine: a BLAS was linked statically. A stripped file
 * does not tell. */
static bool has_blas_inside(void) {
  char *file = NULL;
  size_t length = 0;
  bool found = false;
  if (tsr_text_read_file("/proc/self/exe", &file, &length) != TSR_OK) return false;
  const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)(const void *)file;
  bool good = length >= sizeof *head && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
              head->e_shoff % sizeof(void *) == 0 &&
              head->e_shoff + (size_t)head->e_shnum * sizeof(ElfW(Shdr)) <= length;
  const ElfW(Shdr) *section = (const ElfW(Shdr) *)(const void *)(file + (good ? head->e_shoff : 0));
  for (int i = 0; good && !found && i < head->e_shnum; i++)
    if ((section[i].sh_type == SHT_SYMTAB || section[i].sh_type == SHT_DYNSYM) &&
        section[i].sh_link < head->e_shnum)
      found = defines(file, length, &section[i], &section[section[i].sh_link]);
  tsr_dealloc(file);
  return found;
}

/* ---- Sentences ---- */

/* What makes calls of LAPACK visible. */
static void add_remedy(const loaded *l, char *text, size_t room) {
  size_t length = strlen(text);
  snprintf(
      text + length, room - length,
      " What helps is a LAPACK apart from the BLAS: the reference liblapack.so.3 over "
      "libblas.so.3 (Debian: apt install liblapack3 libblas3, and update-alternatives --config "
      "liblapack.so.3-x86_64-linux-gnu%s).",
      l->numpy ? "; a NumPy from pip carries its own, Debian's python3-numpy uses these" : "");
}

static const char *routines_of(const loaded *l) {
  return l->numpy ? "LU, QR, solvers, eigenvalues: np.linalg.eigh, svd, solve"
                  : "LU, QR, solvers, eigenvalues";
}

static void explain_library(const loaded *l, char *text, size_t room) {
  snprintf(
      text, room,
      "It has loaded the BLAS %s, but made no call of level 3 to it from outside. LAPACK "
      "routines of the same library (%s) call its BLAS inside, where nothing can come between; "
      "matrix products would be seen%s.",
      l->blas, routines_of(l), l->numpy ? " (a @ b)" : "");
  add_remedy(l, text, room);
}

/* Whether the library, which is loaded, has LAPACK's routines, too. */
static bool has_lapack(const char *path) {
  static const char *const names[] = {"dgetrf_", "dgetrf_64_", "scipy_dgetrf_", "scipy_dgetrf_64_"};
  void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  bool found = false;
  for (size_t i = 0; library != NULL && !found && i < sizeof names / sizeof *names; i++)
    found = dlsym(library, names[i]) != NULL;
  if (library != NULL) dlclose(library);
  return found;
}

/* Whether the library is here for us alone: it is the CPU's BLAS that we have loaded, and the
 * program does not see its names. */
static bool is_for_us(const char *library) {
  char ours[PATH_MAX], file[PATH_MAX], theirs[PATH_MAX];
  tsr_cpu_blas_file(ours, sizeof ours);
  if (ours[0] == '\0' || realpath(ours, file) == NULL || realpath(library, theirs) == NULL)
    return false;
  return strcmp(file, theirs) == 0 && dlsym(RTLD_DEFAULT, "dgetrf_") == NULL;
}

void tsr_report_inside(double share, const char *seconds, char *text, size_t room) {
  loaded l = {.blas = ""};
  text[0] = '\0';
  (void)dl_iterate_phdr(note, &l);
  const char *library = l.lapack[0] != '\0' ? l.lapack : l.blas;
  if (l.outside || library[0] == '\0' || is_for_us(library) || !has_lapack(library)) return;
  snprintf(text, room,
           "Of the rest up to %s (%.0f %%) may be LAPACK (%s): its routines in %s call the BLAS "
           "inside the library, where nothing can come between.",
           seconds, 100 * share, routines_of(&l), library);
  add_remedy(&l, text, room);
}

void tsr_report_none(char *text, size_t room) {
  loaded l = {.blas = ""};
  (void)dl_iterate_phdr(note, &l);
  l.python = strncmp(program_invocation_short_name, "python", 6) == 0;
  if (l.blas[0] != '\0')
    explain_library(&l, text, room);
  else if (has_blas_inside())
    snprintf(text, room,
             "Its BLAS is linked statically, inside the program, where nothing can come between. "
             "Link it with a shared BLAS (-lblas), or with -ltessera_blas.");
  else if (l.python && !l.numpy)
    snprintf(text, room, "This Python did not import NumPy, and loaded no BLAS.");
  else
    snprintf(text, room,
             "It loaded no BLAS library. Either it has no use for one, or its BLAS is inside the "
             "program: then link it with a shared BLAS (-lblas), or with -ltessera_blas. Programs "
             "that it started report their own calls.");
}
