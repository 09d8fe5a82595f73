/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the code that hipcc makes of the kernels' sources calls. The compiler has it register each
 * kernel when the library is loaded, and launch it by hipLaunchKernel, functions of the runtime.
 * The engine is not linked to the runtime, so these functions are here, and opening a device loads
 * the kernels of each source as a module of it (module.c). That also leaves the answer to us if the
 * compiled code has nothing for a device, on which the runtime of ROCm 5 would abort the process.
 */
#include <pthread.h>
#include <string.h>

#include "engine/gpu/internal.h"
#include "module.h"

enum { MOST_KERNELS = 512, MOST_OBJECTS = 16, MOST_DEVICES = 64 };

/* A compiled source: machine code for several architectures. */
typedef struct code_object {
  unsigned magic, version;
  const void *code;
  void *unused;
} code_object;

typedef struct registered {
  const void *stub; /* identifies the kernel in the code that launches it */
  const char *name; /* in the machine code */
  int object;       /* that has the machine code */
  hipFunction_t function[MOST_DEVICES];
} registered;

/* Written while the library is loaded, by one thread. */
static const code_object *objects[MOST_OBJECTS];
static int object_count;
static registered kernels[MOST_KERNELS];
static int kernel_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards modules and functions */
static hipModule_t modules[MOST_DEVICES][MOST_OBJECTS];

/* ---- Registration --------------------------------------------------------- */

/* The place of an object in this array is its handle. The last one is of objects beyond the most,
 * of which no kernel is registered. */
static void *handles[MOST_OBJECTS + 1];

void **__hipRegisterFatBinary(const void *data);
void **__hipRegisterFatBinary(const void *data) {
  if (object_count == MOST_OBJECTS) return &handles[MOST_OBJECTS];
  objects[object_count] = data;
  return &handles[object_count++];
}

void __hipRegisterFunction(void **handle, const void *stub, char *function, const char *name,
                           unsigned thread_limit, void *thread, void *block, dim3 *block_dim,
                           dim3 *grid_dim, int *warp_size);
void __hipRegisterFunction(void **handle, const void *stub, char *function, const char *name,
                           unsigned thread_limit, void *thread, void *block, dim3 *block_dim,
                           dim3 *grid_dim, int *warp_size) {
  (void)function, (void)thread_limit, (void)thread, (void)block;
  (void)block_dim, (void)grid_dim, (void)warp_size;
  int of = (int)(handle - handles);
  if (kernel_count == MOST_KERNELS || of == MOST_OBJECTS) return; /* its launch then fails */
  kernels[kernel_count++] = (registered){.stub = stub, .name = name, .object = of};
}

/* The modules stay until the process ends, as the runtime does. */
void __hipUnregisterFatBinary(void **handle);
void __hipUnregisterFatBinary(void **handle) {
  (void)handle;
}

/* ---- Finding a kernel's code ----------------------------------------------- */

/* If one object has no code for the device, the module that is compiled has all kernels. */
static tsr_status load_modules(int device) {
  hipModule_t loaded[MOST_OBJECTS] = {NULL};
  for (int i = 0; i < object_count; i++) {
    TSR_TRY(tsr_hip_module_load(objects[i]->code, device, &loaded[i]));
    if (loaded[i] != NULL) continue;
    TSR_TRY(tsr_hip_module_compile(device, &loaded[i]));
    for (int j = 0; j < object_count; j++) loaded[j] = loaded[i];
    break;
  }
  memcpy(modules[device], loaded, sizeof loaded);
  return TSR_OK;
}

tsr_status gpu_load_kernels(int device) {
  if (device >= MOST_DEVICES)
    return tsr_fail(TSR_ERR_ENGINE, "HIP device %d is asked for; there may be %d devices", device,
                    MOST_DEVICES);
  pthread_mutex_lock(&lock);
  tsr_status status = modules[device][0] != NULL ? TSR_OK : load_modules(device);
  pthread_mutex_unlock(&lock);
  return status;
}

static registered *find_registered(const void *stub) {
  for (int i = 0; i < kernel_count; i++)
    if (kernels[i].stub == stub) return &kernels[i];
  return NULL;
}

/* The kernel's code on a device, which is current and has the module. */
static hipError_t find_function(const void *stub, int device, hipFunction_t *function) {
  registered *kernel = find_registered(stub);
  if (kernel == NULL) return hipErrorInvalidDeviceFunction;
  hipError_t error = hipSuccess;
  pthread_mutex_lock(&lock);
  if (kernel->function[device] == NULL)
    error = tsr_hip.hipModuleGetFunction(&kernel->function[device], modules[device][kernel->object],
                                         kernel->name);
  *function = kernel->function[device];
  pthread_mutex_unlock(&lock);
  return error;
}

/* ---- Launching ------------------------------------------------------------- */

/* The compiler's code pushes the shape of a launch, and the kernel's stub pops it. */
static _Thread_local struct {
  dim3 grid, block;
  size_t shared;
  hipStream_t stream;
} shape;
static _Thread_local hipError_t launch_error;

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared, hipStream_t stream);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared, hipStream_t stream) {
  shape.grid = grid;
  shape.block = block;
  shape.shared = shared;
  shape.stream = stream;
  return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, hipStream_t *stream);
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, hipStream_t *stream) {
  *grid = shape.grid;
  *block = shape.block;
  *shared = shape.shared;
  *stream = shape.stream;
  return hipSuccess;
}

static hipError_t launch(const void *stub, dim3 grid, dim3 block, void **arguments, size_t shared,
                         hipStream_t stream) {
  hipFunction_t function = NULL;
  int device = 0;
  hipError_t error = tsr_hip.hipGetDevice(&device);
  if (error == hipSuccess && device >= MOST_DEVICES) error = hipErrorInvalidDevice;
  if (error == hipSuccess) error = find_function(stub, device, &function);
  if (error != hipSuccess) return error;
  return tsr_hip.hipModuleLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                       (unsigned)shared, stream, arguments, NULL);
}

hipError_t hipLaunchKernel(const void *stub, dim3 grid, dim3 block, void **arguments, size_t shared,
                           hipStream_t stream) {
  launch_error = launch(stub, grid, block, arguments, shared, stream);
  return launch_error;
}

/* The kernels' sources ask for it after a launch: the error of the thread's last launch. */
hipError_t hipGetLastError(void) {
  hipError_t error = launch_error;
  launch_error = hipSuccess;
  if (error != hipSuccess) (void)tsr_hip.hipGetLastError();
  return error;
}
