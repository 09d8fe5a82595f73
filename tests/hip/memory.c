/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory of devices and pinned host memory. */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ADDRESS_BITS = 38, PAGE = 4096, ALIGNMENT = 256 };
static const size_t range_bytes = (size_t)1 << ADDRESS_BITS;

/* Guarded by hip_lock. */
static allocation *live;
static char *range[MOST_DEVICES];  /* the addresses of a device's memory; NULL: none is given out */
static size_t given[MOST_DEVICES]; /* bytes of these addresses that are given out */

static size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/* ---- Finding ------------------------------------------------------------------- */

allocation *hip_find_locked(const void *pointer) {
  uintptr_t at = (uintptr_t)pointer;
  for (allocation *a = live; a != NULL; a = a->next)
    if (at >= (uintptr_t)a->begin && at - (uintptr_t)a->begin < a->bytes) return a;
  return NULL;
}

bool hip_is_device_address(const void *pointer) {
  uintptr_t at = (uintptr_t)pointer;
  bool inside = false;
  pthread_mutex_lock(&hip_lock);
  for (int d = 0; d < MOST_DEVICES; d++)
    inside |=
        range[d] != NULL && at >= (uintptr_t)range[d] && at - (uintptr_t)range[d] < range_bytes;
  pthread_mutex_unlock(&hip_lock);
  return inside;
}

/* Tells why these bytes may not be used by the device; NULL: they may. */
static const char *fault_of(const allocation *a, const void *pointer, size_t bytes, int device) {
  if (a == NULL) return "is freed, or neither a device's nor pinned";
  if (bytes > a->bytes - (size_t)((const char *)pointer - a->begin))
    return "goes beyond its allocation";
  if (a->kind == ON_DEVICE && a->device != device && !hip_devices[device].reaches[a->device])
    return "is another device's, to which peer access is not enabled";
  return NULL;
}

char *hip_reach(const void *pointer, size_t bytes, int device, const char *function) {
  pthread_mutex_lock(&hip_lock);
  const allocation *a = hip_find_locked(pointer);
  const char *fault = fault_of(a, pointer, bytes, device);
  char *data = fault == NULL ? a->data + ((const char *)pointer - a->begin) : NULL;
  pthread_mutex_unlock(&hip_lock);
  if (fault != NULL)
    hip_misuse(hipErrorInvalidValue, "%s on device %d: memory at %p (%zu bytes) %s", function,
               device, pointer, bytes, fault);
  return data;
}

/* ---- Allocating ------------------------------------------------------------------ */

static void *map(size_t bytes, int protection) {
  void *mapped = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return NULL;
  (void)madvise(mapped, bytes, MADV_HUGEPAGE); /* fewer faults in what is large */
  return mapped;
}

/* New addresses of a device, with an unused page behind them. NULL: there are no more. */
static char *take_addresses_locked(int device, size_t bytes) {
  if (range[device] == NULL) range[device] = map(range_bytes, PROT_NONE);
  size_t whole = round_up(bytes, PAGE) + PAGE;
  if (range[device] == NULL || whole > range_bytes - given[device]) return NULL;
  char *begin = range[device] + given[device];
  given[device] += whole;
  return begin;
}

static hipError_t add_locked(allocation made, void **pointer) {
  allocation *kept = malloc(sizeof *kept);
  if (kept == NULL) return hipErrorOutOfMemory;
  *kept = made;
  kept->next = live;
  live = kept;
  *pointer = kept->begin;
  return hipSuccess;
}

/* The data ends with a page, up to the alignment, so that a kernel that goes far beyond it
 * crashes. */
static hipError_t alloc_on_locked(int device, size_t bytes, void **pointer) {
  allocation made = {.kind = ON_DEVICE, .device = device, .bytes = bytes};
  size_t memory = hip_settings()->memory, used = hip_devices[device].used;
  if (bytes > memory - used) return hipErrorOutOfMemory;
  made.begin = take_addresses_locked(device, bytes);
  made.mapped = round_up(bytes, PAGE) + PAGE;
  made.mapping = made.begin != NULL ? map(made.mapped, PROT_READ | PROT_WRITE) : NULL;
  if (made.mapping == NULL) return hipErrorOutOfMemory;
  char *end = (char *)made.mapping + made.mapped - PAGE;
  mprotect(end, PAGE, PROT_NONE);
  made.data = end - round_up(bytes, ALIGNMENT);
  hip_devices[device].used += bytes;
  return add_locked(made, pointer);
}

hipError_t hipMalloc(void **pointer, size_t bytes) {
  hipError_t error = hip_lost(hip_current());
  if (error != hipSuccess) return hip_set(error);
  *pointer = NULL;
  if (bytes == 0) return hip_set(hipSuccess);
  pthread_mutex_lock(&hip_lock);
  error = alloc_on_locked(hip_current(), bytes, pointer);
  pthread_mutex_unlock(&hip_lock);
  return hip_set(error);
}

/* Memory is coherent without flags, or with a flag that says so; else the variable
 * HIP_HOST_COHERENT decides, which is 0 unless it is set. */
static bool is_coherent(unsigned flags) {
  const char *coherent = getenv("HIP_HOST_COHERENT");
  if (flags & hipHostMallocNonCoherent) return false;
  if (flags == 0 || flags & (hipHostMallocCoherent | hipHostMallocMapped)) return true;
  return coherent != NULL && atoi(coherent) != 0;
}

hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags) {
  const unsigned known =
      hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent | hipHostMallocNumaUser;
  if (!is_coherent(flags))
    return hip_misuse(hipErrorInvalidValue,
                      "hipHostMalloc: what copies write to memory that is not coherent is seen "
                      "only after an event that flushes it");
  if (flags & ~known) return hip_misuse(hipErrorInvalidValue, "hipHostMalloc: flags %#x", flags);
  hipError_t error = hip_lost(hip_current());
  if (error != hipSuccess) return hip_set(error);
  allocation made = {.kind = PINNED, .device = hip_current(), .flags = flags, .bytes = bytes};
  made.mapped = round_up(bytes > 0 ? bytes : 1, PAGE);
  made.mapping = made.begin = made.data = map(made.mapped, PROT_READ | PROT_WRITE);
  if (made.data == NULL) return hip_set(hipErrorOutOfMemory);
  pthread_mutex_lock(&hip_lock);
  error = add_locked(made, pointer);
  pthread_mutex_unlock(&hip_lock);
  return hip_set(error);
}

/* ---- Pinning the user's memory ------------------------------------------------------- */

static bool overlaps_locked(const char *begin, size_t bytes) {
  for (const allocation *a = live; a != NULL; a = a->next)
    if (a->kind == PINNED && a->begin < begin + bytes && begin < a->begin + a->bytes) return true;
  return false;
}

hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned flags) {
  hipError_t error = hip_lost(hip_current());
  if (error != hipSuccess) return hip_set(error);
  if (pointer == NULL || bytes == 0 || hip_is_device_address(pointer))
    return hip_misuse(hipErrorInvalidValue, "hipHostRegister(%p, %zu)", pointer, bytes);
  allocation made = {.kind = PINNED,
                     .registered = true,
                     .device = hip_current(),
                     .flags = flags,
                     .begin = pointer,
                     .data = pointer,
                     .bytes = bytes};
  void *ignored;
  pthread_mutex_lock(&hip_lock);
  error = overlaps_locked(pointer, bytes) ? hipErrorHostMemoryAlreadyRegistered
                                          : add_locked(made, &ignored);
  pthread_mutex_unlock(&hip_lock);
  return hip_set(error);
}

/* ---- Freeing ---------------------------------------------------------------------------- */

/* Takes the allocation that begins at the pointer out of the list. NULL: there is none. */
static allocation *remove_allocation(const void *pointer, memory_kind kind, bool registered) {
  allocation *found = NULL;
  pthread_mutex_lock(&hip_lock);
  for (allocation **at = &live; *at != NULL && found == NULL; at = &(*at)->next)
    if ((*at)->begin == pointer && (*at)->kind == kind && (*at)->registered == registered) {
      found = *at;
      *at = found->next;
      if (kind == ON_DEVICE) hip_devices[found->device].used -= found->bytes;
      break;
    }
  pthread_mutex_unlock(&hip_lock);
  return found;
}

/* Freeing waits for all commands, which may use the memory. */
static void drain_all(void) {
  for (int d = 0; d < hip_settings()->devices; d++) hip_drain(d);
}

static hipError_t release(void *pointer, memory_kind kind, const char *function) {
  if (pointer == NULL) return hip_set(hipSuccess);
  drain_all();
  allocation *freed = remove_allocation(pointer, kind, false);
  if (freed == NULL)
    return hip_misuse(hipErrorInvalidValue,
                      "%s: nothing that is allocated so begins at %p (freed twice?)", function,
                      pointer);
  hipError_t error = hip_lost(freed->device);
  munmap(freed->mapping, freed->mapped);
  free(freed);
  return hip_set(error);
}

hipError_t hipFree(void *pointer) {
  return release(pointer, ON_DEVICE, "hipFree");
}

hipError_t hipHostFree(void *pointer) {
  return release(pointer, PINNED, "hipHostFree");
}

hipError_t hipHostUnregister(void *pointer) {
  drain_all();
  allocation *freed = remove_allocation(pointer, PINNED, true);
  if (freed == NULL) return hip_set(hipErrorHostMemoryNotRegistered);
  free(freed);
  return hip_set(hipSuccess);
}

/* ---- Asking -------------------------------------------------------------------------------- */

hipError_t hipMemGetInfo(size_t *unused, size_t *total) {
  hipError_t error = hip_lost(hip_current());
  pthread_mutex_lock(&hip_lock);
  *total = hip_settings()->memory;
  *unused = *total - hip_devices[hip_current()].used;
  pthread_mutex_unlock(&hip_lock);
  return hip_set(error);
}

/* The values of the type, which is the first field; its name and its values changed with ROCm 6. */
static int type_of(memory_kind kind) {
  if (TSR_ROCM >= 6) return kind == ON_DEVICE ? 2 : kind == PINNED ? 1 : 0;
  return kind == ON_DEVICE ? 1 : 0;
}

/* Unknown memory is an error up to ROCm 5, and of a type of its own since. */
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer) {
  enum { NO_DEVICE = -2 };
  allocation found = {.kind = UNKNOWN, .device = NO_DEVICE};
  pthread_mutex_lock(&hip_lock);
  const allocation *a = hip_find_locked(pointer);
  if (a != NULL) found = *a;
  pthread_mutex_unlock(&hip_lock);
  if (found.kind == UNKNOWN && TSR_ROCM < 6) return hip_set(hipErrorInvalidValue);
  int type = type_of(found.kind);
  memset(attributes, 0, sizeof *attributes);
  memcpy(attributes, &type, sizeof type);
  attributes->device = found.device;
  attributes->allocationFlags = found.flags;
  if (found.kind != UNKNOWN) attributes->devicePointer = (void *)(uintptr_t)pointer;
  if (found.kind == PINNED) attributes->hostPointer = (void *)(uintptr_t)pointer;
  return hip_set(hipSuccess);
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t *begin, size_t *bytes, hipDeviceptr_t pointer) {
  pthread_mutex_lock(&hip_lock);
  const allocation *a = hip_find_locked(pointer);
  if (a != NULL) {
    *begin = a->begin;
    *bytes = a->bytes;
  }
  pthread_mutex_unlock(&hip_lock);
  return hip_set(a != NULL ? hipSuccess : hipErrorNotFound);
}

hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute,
                                  hipDeviceptr_t pointer) {
  hipDeviceptr_t begin;
  size_t bytes;
  if (hipMemGetAddressRange(&begin, &bytes, pointer) != hipSuccess)
    return hip_set(hipErrorInvalidValue);
  switch ((int)attribute) {
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      memcpy(data, &begin, sizeof begin);
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
      memcpy(data, &bytes, sizeof bytes);
      return hipSuccess;
    default:
      return hip_misuse(hipErrorInvalidValue,
                        "hipPointerGetAttribute: the attribute %d is not known", (int)attribute);
  }
}
