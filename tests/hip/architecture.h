/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Machine code of AMD GPUs: ELF files, whose flags tell the architecture (LLVM's User Guide for
 * AMDGPU Backend, EF_AMDGPU_MACH). */
#ifndef TESTS_HIP_ARCHITECTURE_H
#define TESTS_HIP_ARCHITECTURE_H

#include <string.h>

#define ELF "\177ELF"
enum { ELF_MACHINE = 18, ELF_SECTIONS = 40, ELF_FLAGS = 48, ELF_SECTION_SIZE = 58, AMD_GPU = 224 };

/* The number for "gfx942" or "gfx942:sramecc+:xnack-"; 0: unknown. */
static inline unsigned char hip_machine_number(const char *architecture) {
  static const struct {
    const char *name;
    unsigned char number;
  } known[] = {
      {"gfx906", 0x2f}, {"gfx908", 0x30}, {"gfx90a", 0x3f}, {"gfx942", 0x4c}, {"gfx1030", 0x36}};
  size_t length = strcspn(architecture, ":");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strlen(known[i].name) == length && memcmp(known[i].name, architecture, length) == 0)
      return known[i].number;
  return 0;
}

#endif
