/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What HIP says of devices and pointers. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "engine/gpu/internal.h"

#define MIB ((size_t)1 << 20)

/* Without all three numbers, which a virtual machine may withhold, the address stays "". */
static void write_address(int device, char address[16]) {
  int domain = 0, bus = 0, number = 0;
  if (tsr_hip.hipDeviceGetAttribute(&domain, hipDeviceAttributePciDomainID, device) == hipSuccess &&
      tsr_hip.hipDeviceGetAttribute(&bus, hipDeviceAttributePciBusId, device) == hipSuccess &&
      tsr_hip.hipDeviceGetAttribute(&number, hipDeviceAttributePciDeviceId, device) == hipSuccess)
    snprintf(address, 16, "%04x:%02x:%02x.0", (unsigned)domain, (unsigned)bus, (unsigned)number);
}

static const char *look_at_driver(void) {
  static const char driver[] = "/dev/kfd";
  if (access(driver, F_OK) != 0)
    return "there is no /dev/kfd; load the driver amdgpu, or give the container that device";
  if (access(driver, R_OK | W_OK) != 0)
    return "this user may not open /dev/kfd; add the user to the group render";
  return "/dev/kfd is there, so look at ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES and "
         "the permissions of /dev/dri/renderD*";
}

/* The runtime says the same where there is no GPU, no driver and no permission, and where variables
 * hide all GPUs. */
const char *gpu_why_no_device(void) {
  static const char *const hiding[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                       "CUDA_VISIBLE_DEVICES"};
  static _Thread_local char text[500];
  size_t used = (size_t)snprintf(text, sizeof text, ": ");
  for (int i = 0; i < 3; i++) {
    const char *value = tsr_environment_get(hiding[i]);
    if (value == NULL) continue;
    snprintf(text + used, sizeof text - used, "%s is \"%.60s\", and ", hiding[i], value);
    used = strlen(text);
  }
  snprintf(text + used, sizeof text - used, "%s", look_at_driver());
  return text;
}

/* hipDeviceProp_t differs between versions of ROCm, so each fact is asked for by itself. */
gpuError gpu_describe(int device, gpu_facts *facts) {
  hipUUID uuid;
  int pitch = 0, multiprocessors = 0;
  *facts = (gpu_facts){.workspace = 64 * MIB};
  hipError_t error = tsr_hip.hipDeviceGetName(facts->name, (int)sizeof facts->name, device);
  if (error == hipSuccess) error = tsr_hip.hipDeviceGetUuid(&uuid, device);
  if (error == hipSuccess)
    error = tsr_hip.hipDeviceGetAttribute(&multiprocessors, hipDeviceAttributeMultiprocessorCount,
                                          device);
  if (error == hipSuccess)
    error = tsr_hip.hipDeviceGetAttribute(&pitch, hipDeviceAttributeMaxPitch, device);
  if (error != hipSuccess) return error;
  memcpy(facts->uuid, uuid.bytes, sizeof facts->uuid);
  facts->multiprocessors = multiprocessors;
  facts->max_pitch = (size_t)pitch;
  write_address(device, facts->address);
  return hipSuccess;
}

/* The first field of hipPointerAttribute_t is called memoryType up to ROCm 5 and type since ROCm 6;
 * its values differ, too. The other fields are the same. */
enum { HOST_5 = 0, DEVICE_5 = 1 };
enum { HOST_6 = 1, DEVICE_6 = 2 };
enum { ROCM_6 = 60000000 };

static tsr_memory memory_of_type(int type) {
  bool late = tsr_hip.version >= ROCM_6;
  if (type == (late ? HOST_6 : HOST_5)) return TSR_PINNED;
  return type == (late ? DEVICE_6 : DEVICE_5) ? TSR_DEVICE : TSR_PAGEABLE;
}

/* Memory that the runtime does not know is an error up to ROCm 5, and of a type of its own since.
 */
gpuError gpu_memory_of(const void *pointer, tsr_memory *memory, int *device) {
  hipPointerAttribute_t attributes;
  int type;
  memset(&attributes, 0, sizeof attributes);
  hipError_t error = tsr_hip.hipPointerGetAttributes(&attributes, pointer);
  if (error != hipSuccess) return error;
  memcpy(&type, &attributes, sizeof type);
  *memory = attributes.isManaged ? TSR_MANAGED : memory_of_type(type);
  *device = attributes.device;
  return hipSuccess;
}

tsr_status gpu_energy_at(const char *address, double *joules) {
  (void)joules;
  return tsr_fail(TSR_ERR_UNSUPPORTED,
                  "the GPU at %s: the HIP engine reads no energy counters; rocm-smi shows them",
                  address);
}
