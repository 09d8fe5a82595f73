/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Why no BLAS call came in: what the process is and has loaded tells most of it. */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "front/offload/report.h"

/* ---- What is loaded ---- */

typedef struct loaded {
  bool python, numpy; /* an interpreter of Python; NumPy's module is loaded */
  char blas[512];     /* the path of a BLAS that is not ours; "": none is loaded */
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

static void explain_library(const loaded *l, char *text, size_t room) {
  snprintf(text, room,
           "It has loaded the BLAS %s, but made no call of level 3 to it from outside. LAPACK "
           "routines of the same library (factorisations, solvers, eigenvalues%s) call its BLAS "
           "inside, where nothing can come between; matrix products would be seen%s. What helps is "
           "a LAPACK apart from the BLAS: the reference liblapack.so.3 over libblas.so.3 (Debian: "
           "apt install liblapack3 libblas3, and update-alternatives --config "
           "liblapack.so.3-x86_64-linux-gnu%s).",
           l->blas, l->numpy ? ": np.linalg.eigh, svd, solve" : "", l->numpy ? " (a @ b)" : "",
           l->numpy ? "; a NumPy from pip carries its own, Debian's python3-numpy uses these" : "");
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
