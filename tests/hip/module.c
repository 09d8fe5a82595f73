/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Modules and kernels. A module is what hipcc or hiprtc makes: it is looked through for code for
 * the device and for the kernel's name, and the kernel that runs is the one of that name that was
 * compiled for the CPU (kernels/).
 */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

#include "architecture.h"
#include "kernels/block.h"

typedef struct module {
  hip_handle handle;
  const char *code; /* the machine code for the device */
  size_t bytes;
} module;

typedef struct function {
  hip_handle handle;
  const hip_kernel *kernel;
} function;

/* ---- Modules -------------------------------------------------------------------- */

/* clang's offload bundle: the number of entries follows the magic text; then for each its place,
 * its size, and the target's name with its length. */
#define MAGIC "__CLANG_OFFLOAD_BUNDLE__"

typedef struct entry {
  uint64_t offset, bytes, name_bytes;
} entry;

/* The end of a target's name is the architecture, with features behind it in some. */
static bool is_for(const char *name, size_t bytes, const char *architecture) {
  const char *end = memchr(name, ':', bytes);
  size_t length = strcspn(architecture, ":"), whole = end != NULL ? (size_t)(end - name) : bytes;
  return whole > length && memcmp(name, "hip", 3) == 0 &&
         memcmp(name + whole - length, architecture, length) == 0 &&
         name[whole - length - 1] == '-';
}

static bool find_code(const char *image, const char *architecture, module *found) {
  const char *at = image + sizeof MAGIC - 1;
  uint64_t entries;
  memcpy(&entries, at, sizeof entries);
  at += sizeof entries;
  for (uint64_t i = 0; i < entries; i++) {
    entry e;
    memcpy(&e, at, sizeof e);
    at += sizeof e;
    if (is_for(at, e.name_bytes, architecture)) {
      found->code = image + e.offset;
      found->bytes = e.bytes;
      return true;
    }
    at += e.name_bytes;
  }
  return false;
}

/* Code for one architecture, as hiprtc makes it: an ELF file that ends with its sections' headers.
 */
static bool find_elf(const char *image, const char *architecture, module *found) {
  const unsigned char *elf = (const unsigned char *)image;
  uint64_t sections;
  uint16_t machine, size, count;
  memcpy(&machine, image + ELF_MACHINE, sizeof machine);
  memcpy(&sections, image + ELF_SECTIONS, sizeof sections);
  memcpy(&size, image + ELF_SECTION_SIZE, sizeof size);
  memcpy(&count, image + ELF_SECTION_SIZE + sizeof size, sizeof count);
  if (machine != AMD_GPU || elf[ELF_FLAGS] != hip_machine_number(architecture)) return false;
  found->code = image;
  found->bytes = sections + (uint64_t)size * count;
  return true;
}

static bool find_any(const char *image, const char *architecture, module *found) {
  if (memcmp(image, ELF, sizeof ELF - 1) == 0) return find_elf(image, architecture, found);
  return find_code(image, architecture, found);
}

static bool is_code(const void *image) {
  return image != NULL &&
         (memcmp(image, ELF, sizeof ELF - 1) == 0 || memcmp(image, MAGIC, sizeof MAGIC - 1) == 0);
}

hipError_t hipModuleLoadData(hipModule_t *made, const void *image) {
  module found = {.code = NULL};
  hipError_t error = hip_lost(hip_current());
  if (error != hipSuccess) return hip_set(error);
  if (image == NULL) return hip_misuse(hipErrorInvalidValue, "hipModuleLoadData of NULL");
  if (!is_code(image)) return hip_set(hipErrorInvalidImage);
  if (!find_any(image, hip_settings()->arch, &found)) return hip_set(hipErrorNoBinaryForGpu);
  module *m = hip_handle_make(MODULE, sizeof *m);
  m->code = found.code;
  m->bytes = found.bytes;
  *made = (hipModule_t)m;
  return hip_set(hipSuccess);
}

/* The name and its final 0 are in the code. */
static bool names(const module *m, const char *name) {
  return memmem(m->code, m->bytes, name, strlen(name) + 1) != NULL;
}

hipError_t hipModuleGetFunction(hipFunction_t *made, hipModule_t given, const char *name) {
  if (!hip_handle_check(given, MODULE, "hipModuleGetFunction")) return hipErrorInvalidHandle;
  const module *m = (const module *)given;
  const hip_kernel *kernel = names(m, name) ? hip_kernel_find(name) : NULL;
  if (kernel == NULL)
    return hip_misuse(hipErrorNotFound, "hipModuleGetFunction: no kernel is called %s", name);
  function *f = hip_handle_make(FUNCTION, sizeof *f);
  f->handle.device = m->handle.device;
  f->kernel = kernel;
  *made = (hipFunction_t)f;
  return hip_set(hipSuccess);
}

/* ---- Launches --------------------------------------------------------------------- */

/* The search for pointers among a kernel's arguments that the device may not use. */
typedef struct pointers {
  int device;
  bool bad;
} pointers;

/* Where the memory is. NULL stays NULL. How much of it the kernel uses is not known: what goes
 * far beyond an allocation crashes (memory.c). */
static void *translate(const void *pointer, void *context) {
  pointers *p = context;
  if (pointer == NULL) return NULL;
  char *data = hip_reach(pointer, 1, p->device, "hipModuleLaunchKernel");
  p->bad |= data == NULL;
  return data;
}

enum { ARGUMENTS = 4096, THREADS = 1024 }; /* ARGUMENTS: bytes */
typedef struct launch {
  const hip_kernel *kernel;
  hip_shape shape;
  max_align_t packed[ARGUMENTS / sizeof(max_align_t)];
} launch;

static void run_launch(void *argument) {
  launch l;
  memcpy(&l, argument, sizeof l); /* for the alignment */
  if (!hip_kernel_run(l.kernel, l.packed, &l.shape))
    hip_misuse(hipErrorLaunchFailure,
               "a kernel: threads ended while others of their block waited at a barrier");
}

static bool is_shape(const hip_shape *s) {
  unsigned long threads = (unsigned long)s->block[0] * s->block[1] * s->block[2];
  return threads >= 1 && threads <= THREADS && s->grid[0] >= 1 && s->grid[1] >= 1 &&
         s->grid[2] >= 1 && s->grid[1] <= UINT16_MAX && s->grid[2] <= UINT16_MAX;
}

/* The function, the stream and the thread's current device belong together. */
static bool agree(const function *f, const stream *s) {
  if (f->handle.device == hip_current() && s->handle.device == hip_current()) return true;
  hip_misuse(hipErrorInvalidHandle,
             "hipModuleLaunchKernel: device %d is current, the stream is of device %d, the "
             "function of device %d",
             hip_current(), s->handle.device, f->handle.device);
  return false;
}

hipError_t hipModuleLaunchKernel(hipFunction_t given, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared, hipStream_t to,
                                 void **arguments, void **extra) {
  const char *name = "hipModuleLaunchKernel";
  if (!hip_handle_check(given, FUNCTION, name)) return hipErrorInvalidHandle;
  const function *f = (const function *)given;
  stream *s = hip_stream(to, name);
  if (s == NULL || !agree(f, s)) return hipErrorInvalidHandle;
  launch l = {f->kernel, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}}, {{0}}};
  if (!is_shape(&l.shape) || shared != 0 || extra != NULL || f->kernel->bytes > sizeof l.packed)
    return hip_misuse(hipErrorInvalidConfiguration, "%s: a block of %u x %u x %u, %u bytes", name,
                      block_x, block_y, block_z, shared);
  pointers p = {hip_current(), false};
  f->kernel->pack(arguments, translate, &p, l.packed);
  if (p.bad) return hipErrorInvalidValue;
  return hip_set(hip_submit(s, run_launch, &l, sizeof l));
}
