/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * libamdhip64.so.6 for an NVIDIA GPU: the functions that src/engine/hip/functions.h names, over the
 * CUDA runtime and driver. Streams, events, modules and functions are CUDA's own handles.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_and_hip.h"

/* HIP's numbers of errors, flags and attributes that the engine uses are CUDA's. */
#define SAME(hip, cuda) _Static_assert((int)(hip) == (int)(cuda), #hip " is " #cuda)
SAME(hipSuccess, cudaSuccess);
SAME(hipErrorInvalidValue, cudaErrorInvalidValue);
SAME(hipErrorOutOfMemory, cudaErrorMemoryAllocation);
SAME(hipErrorInsufficientDriver, cudaErrorInsufficientDriver);
SAME(hipErrorInvalidDeviceFunction, cudaErrorInvalidDeviceFunction);
SAME(hipErrorNoDevice, cudaErrorNoDevice);
SAME(hipErrorInvalidDevice, cudaErrorInvalidDevice);
SAME(hipErrorNotFound, cudaErrorSymbolNotFound);
SAME(hipErrorNotReady, cudaErrorNotReady);
SAME(hipErrorIllegalAddress, cudaErrorIllegalAddress);
SAME(hipErrorPeerAccessAlreadyEnabled, cudaErrorPeerAccessAlreadyEnabled);
SAME(hipErrorHostMemoryAlreadyRegistered, cudaErrorHostMemoryAlreadyRegistered);
SAME(hipErrorHostMemoryNotRegistered, cudaErrorHostMemoryNotRegistered);
SAME(hipErrorNotSupported, cudaErrorNotSupported);
SAME(hipErrorNoBinaryForGpu, cudaErrorNoKernelImageForDevice);
SAME(hipErrorInvalidImage, cudaErrorInvalidKernelImage);
SAME(hipErrorUnknown, cudaErrorUnknown);
SAME(hipMemcpyHostToDevice, cudaMemcpyHostToDevice);
SAME(hipMemcpyDeviceToHost, cudaMemcpyDeviceToHost);
SAME(hipMemcpyDeviceToDevice, cudaMemcpyDeviceToDevice);
SAME(hipMemcpyDefault, cudaMemcpyDefault);
SAME(hipHostMallocPortable, cudaHostAllocPortable);
SAME(hipHostRegisterPortable, cudaHostRegisterPortable);
SAME(hipStreamNonBlocking, cudaStreamNonBlocking);
SAME(hipEventDefault, cudaEventDefault);
SAME(hipEventDisableTiming, cudaEventDisableTiming);
SAME(HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, GPU_RANGE_BEGIN);
SAME(HIP_POINTER_ATTRIBUTE_RANGE_SIZE, GPU_RANGE_BYTES);

static hipError_t answer(cudaError_t error) {
  return (hipError_t)error;
}

static cudaStream_t stream_of(hipStream_t stream) {
  return (cudaStream_t)(void *)stream;
}

static cudaEvent_t event_of(hipEvent_t event) {
  return (cudaEvent_t)(void *)event;
}

/* ---- The runtime and its errors -------------------------------------------- */

hipError_t hipRuntimeGetVersion(int *version) {
  *version = 60000000; /* ROCm 6.0.0 */
  return hipSuccess;
}

const char *hipGetErrorName(hipError_t error) {
  return cudaGetErrorName((cudaError_t)error);
}

const char *hipGetErrorString(hipError_t error) {
  return cudaGetErrorString((cudaError_t)error);
}

hipError_t hipGetLastError(void) {
  return answer(cudaGetLastError());
}

/* ---- Devices --------------------------------------------------------------- */

hipError_t hipGetDeviceCount(int *count) {
  return answer(cudaGetDeviceCount(count));
}

hipError_t hipGetDevice(int *device) {
  return answer(cudaGetDevice(device));
}

hipError_t hipSetDevice(int device) {
  return answer(cudaSetDevice(device));
}

hipError_t hipDeviceGetName(char *name, int size, hipDevice_t device) {
  struct cudaDeviceProp properties;
  cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) return answer(error);
  size_t length = strnlen(properties.name, sizeof properties.name);
  if (size < 1) return hipErrorInvalidValue;
  if (length >= (size_t)size) length = (size_t)size - 1;
  memcpy(name, properties.name, length);
  name[length] = 0;
  return hipSuccess;
}

hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device) {
  struct cudaDeviceProp properties;
  cudaError_t error = cudaGetDeviceProperties(&properties, device);
  _Static_assert(sizeof uuid->bytes == sizeof properties.uuid.bytes, "16 bytes");
  if (error == cudaSuccess) memcpy(uuid->bytes, properties.uuid.bytes, sizeof uuid->bytes);
  return answer(error);
}

/* hipDeviceProp_t of ROCm 6: the architecture's name alone, for compiler.c. */
hipError_t hipGetDevicePropertiesR0600(void *properties, int device);
hipError_t hipGetDevicePropertiesR0600(void *properties, int device) {
  enum { BYTES = 1472, ARCHITECTURE = 1160, MOST = 256 };
  int major = 0, minor = 0;
  cudaError_t error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (error != cudaSuccess) return answer(error);
  memset(properties, 0, BYTES);
  snprintf((char *)properties + ARCHITECTURE, MOST, "sm_%d%d", major, minor);
  return hipSuccess;
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device) {
  switch (attribute) {
    case hipDeviceAttributeMultiprocessorCount:
      return answer(cudaDeviceGetAttribute(value, cudaDevAttrMultiProcessorCount, device));
    case hipDeviceAttributeMaxPitch:
      return answer(cudaDeviceGetAttribute(value, cudaDevAttrMaxPitch, device));
    case hipDeviceAttributeIntegrated:
      return answer(cudaDeviceGetAttribute(value, cudaDevAttrIntegrated, device));
    default:
      return hipErrorInvalidValue; /* the engine asks for no other */
  }
}

hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer) {
  return answer(cudaDeviceCanAccessPeer(can, device, peer));
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return answer(cudaDeviceEnablePeerAccess(peer, flags));
}

hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return answer(cudaDeviceGetStreamPriorityRange(least, greatest));
}

/* ---- Memory ---------------------------------------------------------------- */

hipError_t hipMemGetInfo(size_t *available, size_t *total) {
  return answer(cudaMemGetInfo(available, total));
}

hipError_t hipMalloc(void **pointer, size_t bytes) {
  return answer(cudaMalloc(pointer, bytes));
}

hipError_t hipFree(void *pointer) {
  return answer(cudaFree(pointer));
}

hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned int flags) {
  return answer(cudaHostAlloc(pointer, bytes, flags & ~hipHostMallocCoherent)); /* it always is */
}

hipError_t hipHostFree(void *pointer) {
  return answer(cudaFreeHost(pointer));
}

hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned int flags) {
  return answer(cudaHostRegister(pointer, bytes, flags));
}

hipError_t hipHostUnregister(void *pointer) {
  return answer(cudaHostUnregister(pointer));
}

hipError_t hipMemset(void *to, int value, size_t bytes) {
  return answer(cudaMemset(to, value, bytes));
}

/* The numbers of kinds of memory in ROCm 6 are CUDA's. ROCm 6 calls the first field type, and the
 * header of ROCm 5 calls it memoryType; it has another type there, of the same size. */
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer) {
  struct cudaPointerAttributes found;
  cudaError_t error = cudaPointerGetAttributes(&found, pointer);
  if (error != cudaSuccess) return answer(error);
  int type = (int)found.type;
  memset(attributes, 0, sizeof *attributes);
  memcpy(attributes, &type, sizeof type);
  attributes->device = found.device;
  attributes->devicePointer = found.devicePointer;
  attributes->hostPointer = found.hostPointer;
  attributes->isManaged = found.type == cudaMemoryTypeManaged;
  return hipSuccess;
}

/* ---- Functions of CUDA's driver -------------------------------------------- */

/* Sets function, a pointer to a function, to the driver's function called name. */
#define FIND(function, name)                     \
  do {                                           \
    void *found_ = gpuDriverFunction(name);      \
    if (found_ == NULL) return hipErrorNotFound; \
    memcpy(&(function), &found_, sizeof found_); \
  } while (0)

/* The driver's results that the engine tells apart have the runtime's numbers. */
static hipError_t answer_of_driver(CUresult result) {
  return (hipError_t)result;
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t *begin, size_t *bytes, hipDeviceptr_t pointer) {
  __typeof__(&cuMemGetAddressRange) find;
  FIND(find, "cuMemGetAddressRange");
  return answer_of_driver(find((CUdeviceptr *)begin, bytes, (CUdeviceptr)pointer));
}

hipError_t hipPointerGetAttribute(void *value, hipPointer_attribute attribute,
                                  hipDeviceptr_t pointer) {
  __typeof__(&cuPointerGetAttribute) get;
  FIND(get, "cuPointerGetAttribute");
  return answer_of_driver(get(value, (CUpointer_attribute)attribute, (CUdeviceptr)pointer));
}

/* The driver's functions for modules need the device's context to be this thread's. The runtime's
 * make it so, and hipSetDevice is not called for device 0, which is every thread's first. */
static cudaError_t bind_context(void) {
  static _Thread_local bool bound;
  cudaError_t error = bound ? cudaSuccess : cudaFree(NULL);
  bound = error == cudaSuccess;
  return error;
}

/* TSR_HIP_COMPILE=1: what nvcc compiled counts as code for other devices, so that the engine
 * compiles the kernels at run time. */
static bool is_refused(const void *image) {
  const char *compiles = getenv("TSR_HIP_COMPILE");
  return compiles != NULL && strcmp(compiles, "1") == 0 && memcmp(image, "\177ELF", 4) != 0;
}

hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  __typeof__(&cuModuleLoadData) load;
  cudaError_t error = bind_context();
  if (error != cudaSuccess) return answer(error);
  if (is_refused(image)) return hipErrorNoBinaryForGpu;
  FIND(load, "cuModuleLoadData");
  return answer_of_driver(load((CUmodule *)module, image));
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  __typeof__(&cuModuleGetFunction) get;
  FIND(get, "cuModuleGetFunction");
  return answer_of_driver(get((CUfunction *)function, (CUmodule)(void *)module, name));
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                 unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                 unsigned int block_z, unsigned int shared, hipStream_t stream,
                                 void **arguments, void **extra) {
  static __typeof__(&cuLaunchKernel) launch;
  __typeof__(&cuLaunchKernel) known = __atomic_load_n(&launch, __ATOMIC_RELAXED);
  cudaError_t error = bind_context();
  if (error != cudaSuccess) return answer(error);
  if (known == NULL) {
    FIND(known, "cuLaunchKernel");
    __atomic_store_n(&launch, known, __ATOMIC_RELAXED);
  }
  return answer_of_driver(known((CUfunction)(void *)function, grid_x, grid_y, grid_z, block_x,
                                block_y, block_z, shared, (CUstream)(void *)stream, arguments,
                                extra));
}

/* ---- Streams and events ----------------------------------------------------- */

hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned int flags, int priority) {
  return answer(cudaStreamCreateWithPriority((cudaStream_t *)stream, flags, priority));
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return answer(cudaStreamDestroy(stream_of(stream)));
}

hipError_t hipStreamQuery(hipStream_t stream) {
  return answer(cudaStreamQuery(stream_of(stream)));
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return answer(cudaStreamSynchronize(stream_of(stream)));
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags) {
  return answer(cudaStreamWaitEvent(stream_of(stream), event_of(event), flags));
}

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned int flags) {
  return answer(cudaEventCreateWithFlags((cudaEvent_t *)event, flags));
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return answer(cudaEventDestroy(event_of(event)));
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return answer(cudaEventRecord(event_of(event), stream_of(stream)));
}

hipError_t hipEventQuery(hipEvent_t event) {
  return answer(cudaEventQuery(event_of(event)));
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return answer(cudaEventSynchronize(event_of(event)));
}

hipError_t hipEventElapsedTime(float *ms, hipEvent_t begin, hipEvent_t end) {
  return answer(cudaEventElapsedTime(ms, event_of(begin), event_of(end)));
}

/* ---- Copies ----------------------------------------------------------------- */

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  return answer(cudaMemcpyAsync(to, from, bytes, (enum cudaMemcpyKind)kind, stream_of(stream)));
}

hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return answer(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height,
                                  (enum cudaMemcpyKind)kind, stream_of(stream)));
}

hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                              size_t bytes, hipStream_t stream) {
  return answer(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream_of(stream)));
}
