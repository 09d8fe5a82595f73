/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The runtime of this folder is strict: each test misuses it in one way and sees that refused, in a
 * process of its own, which ends with the code of a misuse. The engine's tests are worth what these
 * refusals are.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/hip/rocblas.h"

enum { CODE_OF_MISUSE = 99, BYTES = 4096 };

/* ---- In the process that misuses -------------------------------------------------- */

/* What comes before a misuse must be right. */
#define DO(call)                                                    \
  do {                                                              \
    int do_error_ = (int)(call);                                    \
    if (do_error_ != 0) {                                           \
      fprintf(stderr, "%s gives the error %d\n", #call, do_error_); \
      _exit(1);                                                     \
    }                                                               \
  } while (0)

/* The misuse itself must give an error, too. */
#define REFUSED(call)                                \
  do {                                               \
    if ((int)(call) == 0) {                          \
      fprintf(stderr, "%s gives no error\n", #call); \
      _exit(1);                                      \
    }                                                \
  } while (0)

static hipStream_t stream_of(int device) {
  hipStream_t made;
  DO(hipSetDevice(device));
  DO(hipStreamCreateWithPriority(&made, hipStreamNonBlocking, 0));
  return made;
}

static hipEvent_t event_of(int device, unsigned flags) {
  hipEvent_t made;
  DO(hipSetDevice(device));
  DO(hipEventCreateWithFlags(&made, flags));
  return made;
}

static char *memory_of(int device) {
  void *made;
  DO(hipSetDevice(device));
  DO(hipMalloc(&made, BYTES));
  return made;
}

static char *pinned(void) {
  void *made;
  DO(hipHostMalloc(&made, BYTES, hipHostMallocDefault));
  return made;
}

/* ---- Devices ------------------------------------------------------------------------ */

static void sets_no_device(void) {
  REFUSED(hipSetDevice(2));
}

static void names_no_device(void) {
  char name[64];
  REFUSED(hipDeviceGetName(name, sizeof name, -1));
}

static void identifies_no_device(void) {
  hipUUID uuid;
  REFUSED(hipDeviceGetUuid(&uuid, 7));
}

static void asks_of_no_device(void) {
  int value;
  REFUSED(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxPitch, 2));
}

static void asks_what_is_not_known(void) {
  int value;
  REFUSED(hipDeviceGetAttribute(&value, hipDeviceAttributeCooperativeLaunch, 0));
}

static void asks_for_no_peer(void) {
  int can;
  REFUSED(hipDeviceCanAccessPeer(&can, 0, 2));
}

static void reaches_itself(void) {
  REFUSED(hipDeviceEnablePeerAccess(0, 0));
}

static void reaches_what_it_cannot(void) {
  REFUSED(hipDeviceEnablePeerAccess(1, 0));
}

/* ---- Streams ------------------------------------------------------------------------- */

static void makes_a_stream_that_waits(void) {
  hipStream_t made;
  REFUSED(hipStreamCreateWithPriority(&made, hipStreamDefault, 0));
}

static void makes_a_stream_of_no_priority(void) {
  hipStream_t made;
  REFUSED(hipStreamCreateWithPriority(&made, hipStreamNonBlocking, -2));
}

static void uses_a_destroyed_stream(void) {
  hipStream_t stream = stream_of(0);
  DO(hipStreamDestroy(stream));
  REFUSED(hipStreamSynchronize(stream));
}

static void uses_an_event_as_a_stream(void) {
  REFUSED(hipStreamQuery((hipStream_t)event_of(0, 0)));
}

static void destroys_no_stream(void) {
  REFUSED(hipStreamDestroy(NULL));
}

/* The first copies take long, so the last one has not run. */
static void destroys_a_busy_stream(void) {
  enum { MANY = 64 << 20 };
  hipStream_t stream = stream_of(0);
  void *to, *from;
  DO(hipMalloc(&to, MANY));
  DO(hipHostMalloc(&from, MANY, hipHostMallocDefault));
  for (int i = 0; i < 10; i++) DO(hipMemcpyAsync(to, from, MANY, hipMemcpyHostToDevice, stream));
  REFUSED(hipStreamDestroy(stream));
}

/* ---- Events --------------------------------------------------------------------------- */

static void makes_an_event_of_no_kind(void) {
  hipEvent_t made;
  REFUSED(hipEventCreateWithFlags(&made, 0x10000));
}

static void destroys_an_event_twice(void) {
  hipEvent_t event = event_of(0, 0);
  DO(hipEventDestroy(event));
  REFUSED(hipEventDestroy(event));
}

static void records_on_another_device(void) {
  hipEvent_t event = event_of(0, 0);
  REFUSED(hipEventRecord(event, stream_of(1)));
}

static void queries_what_was_not_recorded(void) {
  REFUSED(hipEventQuery(event_of(0, 0)));
}

static void awaits_what_was_not_recorded(void) {
  REFUSED(hipStreamWaitEvent(stream_of(0), event_of(0, 0), 0));
}

static void synchronizes_what_was_not_recorded(void) {
  REFUSED(hipEventSynchronize(event_of(0, 0)));
}

static void waits_in_no_known_way(void) {
  hipStream_t stream = stream_of(0);
  hipEvent_t event = event_of(0, 0);
  DO(hipEventRecord(event, stream));
  REFUSED(hipStreamWaitEvent(stream, event, 4));
}

static hipEvent_t passed_event(int device, unsigned flags) {
  hipStream_t stream = stream_of(device);
  hipEvent_t event = event_of(device, flags);
  DO(hipEventRecord(event, stream));
  DO(hipEventSynchronize(event));
  return event;
}

static void times_what_was_not_recorded(void) {
  float ms;
  REFUSED(hipEventElapsedTime(&ms, passed_event(0, 0), event_of(0, 0)));
}

static void times_an_event_without_times(void) {
  float ms;
  hipEvent_t start = passed_event(0, 0);
  REFUSED(hipEventElapsedTime(&ms, start, passed_event(0, hipEventDisableTiming)));
}

static void times_events_of_two_devices(void) {
  float ms;
  hipEvent_t start = passed_event(0, 0);
  REFUSED(hipEventElapsedTime(&ms, start, passed_event(1, 0)));
}

/* ---- Memory ---------------------------------------------------------------------------- */

static void takes_memory_that_is_not_coherent(void) {
  void *made;
  REFUSED(hipHostMalloc(&made, BYTES, hipHostMallocNonCoherent));
}

static void leaves_coherence_open(void) {
  void *made;
  REFUSED(hipHostMalloc(&made, BYTES, hipHostMallocPortable));
}

static void takes_memory_of_no_kind(void) {
  void *made;
  REFUSED(hipHostMalloc(&made, BYTES, hipHostMallocCoherent | 0x100));
}

static void pins_a_devices_memory(void) {
  REFUSED(hipHostRegister(memory_of(0), BYTES, hipHostRegisterPortable));
}

static void pins_nothing(void) {
  REFUSED(hipHostRegister(NULL, BYTES, hipHostRegisterPortable));
}

static void frees_twice(void) {
  char *memory = memory_of(0);
  DO(hipFree(memory));
  REFUSED(hipFree(memory));
}

static void frees_a_part(void) {
  REFUSED(hipFree(memory_of(0) + 256));
}

static void frees_pinned_memory_as_a_devices(void) {
  REFUSED(hipFree(pinned()));
}

static void frees_a_devices_memory_as_pinned(void) {
  REFUSED(hipHostFree(memory_of(0)));
}

static void frees_the_users_memory(void) {
  static char users[BYTES];
  DO(hipHostRegister(users, sizeof users, hipHostRegisterPortable));
  REFUSED(hipHostFree(users));
}

static void asks_a_pointer_what_is_not_known(void) {
  int value;
  REFUSED(hipPointerGetAttribute(&value, HIP_POINTER_ATTRIBUTE_BUFFER_ID, memory_of(0)));
}

/* ---- Copies ------------------------------------------------------------------------------ */

static void copies_from_pageable_memory(void) {
  static char pageable[BYTES];
  char *to = memory_of(0);
  REFUSED(hipMemcpyAsync(to, pageable, BYTES, hipMemcpyHostToDevice, stream_of(0)));
}

static void copies_to_freed_memory(void) {
  char *to = memory_of(0), *from = pinned();
  DO(hipFree(to));
  REFUSED(hipMemcpyAsync(to, from, BYTES, hipMemcpyDefault, stream_of(0)));
}

static void copies_from_freed_pinned_memory(void) {
  char *to = memory_of(0), *from = pinned();
  DO(hipHostFree(from));
  REFUSED(hipMemcpyAsync(to, from, BYTES, hipMemcpyHostToDevice, stream_of(0)));
}

static void copies_too_much(void) {
  char *to = memory_of(0), *from = pinned();
  REFUSED(hipMemcpyAsync(to + 1, from, BYTES, hipMemcpyHostToDevice, stream_of(0)));
}

static void copies_the_wrong_way(void) {
  char *to = memory_of(0), *from = pinned();
  REFUSED(hipMemcpyAsync(to, from, BYTES, hipMemcpyDeviceToHost, stream_of(0)));
}

static void copies_on_another_devices_stream(void) {
  char *to = memory_of(0), *from = pinned();
  REFUSED(hipMemcpyAsync(to, from, BYTES, hipMemcpyHostToDevice, stream_of(1)));
}

static void copies_without_peer_access(void) {
  char *to = memory_of(0), *from = memory_of(1);
  REFUSED(hipMemcpyAsync(to, from, BYTES, hipMemcpyDeviceToDevice, stream_of(0)));
}

static void mistakes_the_peer(void) {
  char *to = memory_of(0), *from = memory_of(1);
  REFUSED(hipMemcpyPeerAsync(to, 1, from, 0, BYTES, stream_of(0)));
}

static void copies_with_a_large_pitch(void) {
  char *to = memory_of(0), *from = pinned();
  REFUSED(hipMemcpy2DAsync(to, 64, from, 1001, 8, 3, hipMemcpyHostToDevice, stream_of(0)));
}

static void copies_more_than_a_pitch(void) {
  char *to = memory_of(0), *from = pinned();
  REFUSED(hipMemcpy2DAsync(to, 64, from, 65, 65, 3, hipMemcpyHostToDevice, stream_of(0)));
}

static void copies_columns_too_many(void) {
  char *to = memory_of(0), *from = pinned();
  REFUSED(
      hipMemcpy2DAsync(to, 64, from, 64, 32, BYTES / 64 + 1, hipMemcpyHostToDevice, stream_of(0)));
}

static void fills_freed_memory(void) {
  char *at = memory_of(0);
  DO(hipFree(at));
  REFUSED(hipMemset(at, 0, BYTES));
}

/* ---- Kernels ------------------------------------------------------------------------------- */

/* What a compiler makes, with one kernel in it: names are all that the runtime reads. */
#define KERNEL "_ZN7tsr_gpu20real_diagonal_kernelIfEEvxPNS_4pairIT_EEx"
static const void *bundle(void) {
  static char image[256] = "__CLANG_OFFLOAD_BUNDLE__";
  static const char target[] = "hipv4-amdgcn-amd-amdhsa--gfx90a";
  const uint64_t head[4] = {1, 128, sizeof KERNEL, sizeof target - 1};
  memcpy(image + 24, head, sizeof head);
  memcpy(image + 24 + sizeof head, target, sizeof target);
  memcpy(image + 128, KERNEL, sizeof KERNEL);
  return image;
}

static hipModule_t module_of(int device) {
  hipModule_t module;
  DO(hipSetDevice(device));
  DO(hipModuleLoadData(&module, bundle()));
  return module;
}

static hipFunction_t function_of(int device) {
  hipFunction_t function;
  DO(hipModuleGetFunction(&function, module_of(device), KERNEL));
  return function;
}

static hipError_t launch(hipFunction_t function, unsigned threads, unsigned shared, char *matrix,
                         hipStream_t stream) {
  long long n = 2, ld = 2;
  void *arguments[] = {&n, &matrix, &ld};
  return hipModuleLaunchKernel(function, 1, 1, 1, threads, 1, 1, shared, stream, arguments, NULL);
}

static void finds_no_kernel(void) {
  hipFunction_t function;
  REFUSED(hipModuleGetFunction(&function, module_of(0), "no_such_kernel"));
}

static void launches_with_another_device_current(void) {
  char *matrix = memory_of(0);
  hipStream_t stream = stream_of(0);
  hipFunction_t function = function_of(0);
  DO(launch(function, 64, 0, matrix, stream)); /* so it is right */
  DO(hipStreamSynchronize(stream));
  DO(hipSetDevice(1));
  REFUSED(launch(function, 64, 0, matrix, stream));
}

static void launches_another_devices_kernel(void) {
  hipFunction_t function = function_of(0);
  char *matrix = memory_of(1);
  REFUSED(launch(function, 64, 0, matrix, stream_of(1)));
}

static void launches_too_many_threads(void) {
  char *matrix = memory_of(0);
  REFUSED(launch(function_of(0), 1025, 0, matrix, stream_of(0)));
}

static void launches_with_shared_memory(void) {
  char *matrix = memory_of(0);
  REFUSED(launch(function_of(0), 64, 128, matrix, stream_of(0)));
}

static void launches_on_freed_memory(void) {
  char *matrix = memory_of(0);
  DO(hipFree(matrix));
  REFUSED(launch(function_of(0), 64, 0, matrix, stream_of(0)));
}

static void launches_on_pageable_memory(void) {
  static char pageable[BYTES];
  REFUSED(launch(function_of(0), 64, 0, pageable, stream_of(0)));
}

/* ---- The BLAS -------------------------------------------------------------------------------- */

static rocblas_handle handle_of(int device) {
  rocblas_handle made;
  hipStream_t stream = stream_of(device);
  DO(rocblas_create_handle(&made));
  DO(rocblas_set_stream(made, stream));
  DO(rocblas_set_atomics_mode(made, rocblas_atomics_not_allowed));
  return made;
}

/* A product of 4 x 4 matrices in fp32, whose d is another matrix if apart. */
static rocblas_status multiply(rocblas_handle handle, const char *a, char *c, int ld, bool apart,
                               rocblas_datatype compute) {
  static const double one = 1;
  const rocblas_datatype t = rocblas_datatype_f32_r;
  const rocblas_operation n = rocblas_operation_none;
  return rocblas_gemm_ex(handle, n, n, 4, 4, 4, &one, a, t, ld, a, t, ld, &one, c, t, ld,
                         apart ? c + 64 : c, t, ld, compute, rocblas_gemm_algo_standard, 0, 0);
}

static rocblas_status multiply_plainly(rocblas_handle handle, const char *a, char *c) {
  return multiply(handle, a, c, 4, false, rocblas_datatype_f32_r);
}

static void multiplies_by_a_destroyed_handle(void) {
  char *a = memory_of(0);
  rocblas_handle handle = handle_of(0);
  DO(multiply_plainly(handle, a, a + 1024)); /* so it is right */
  DO(rocblas_destroy_handle(handle));
  REFUSED(multiply_plainly(handle, a, a + 1024));
}

static void multiplies_with_another_device_current(void) {
  char *a = memory_of(0);
  rocblas_handle handle = handle_of(0);
  DO(hipSetDevice(1));
  REFUSED(multiply_plainly(handle, a, a + 1024));
}

static void sets_another_devices_stream(void) {
  rocblas_handle handle;
  hipStream_t stream = stream_of(1);
  DO(hipSetDevice(0));
  DO(rocblas_create_handle(&handle));
  REFUSED(rocblas_set_stream(handle, stream));
}

static void multiplies_without_a_stream(void) {
  rocblas_handle handle;
  char *a = memory_of(0);
  DO(rocblas_create_handle(&handle));
  DO(rocblas_set_atomics_mode(handle, rocblas_atomics_not_allowed));
  REFUSED(multiply_plainly(handle, a, a + 1024));
}

static void multiplies_with_atomic_additions(void) {
  rocblas_handle handle;
  char *a = memory_of(0);
  hipStream_t stream = stream_of(0);
  DO(rocblas_create_handle(&handle));
  DO(rocblas_set_stream(handle, stream));
  REFUSED(multiply_plainly(handle, a, a + 1024));
}

static void multiplies_freed_memory(void) {
  char *a = memory_of(0), *c = memory_of(0);
  rocblas_handle handle = handle_of(0);
  DO(hipFree(a));
  REFUSED(multiply_plainly(handle, a, c));
}

static void multiplies_too_much(void) {
  char *a = memory_of(0);
  REFUSED(multiply_plainly(handle_of(0), a, a + BYTES - 60));
}

static void multiplies_another_devices_memory(void) {
  char *a = memory_of(1), *c = memory_of(0);
  REFUSED(multiply_plainly(handle_of(0), a, c));
}

static void multiplies_with_a_small_ld(void) {
  char *a = memory_of(0);
  REFUSED(multiply(handle_of(0), a, a + 1024, 3, false, rocblas_datatype_f32_r));
}

static void multiplies_to_another_matrix(void) {
  char *a = memory_of(0);
  REFUSED(multiply(handle_of(0), a, a + 1024, 4, true, rocblas_datatype_f32_r));
}

static void mixes_types(void) {
  char *a = memory_of(0);
  REFUSED(multiply(handle_of(0), a, a + 1024, 4, false, rocblas_datatype_f64_r));
}

/* A product of 4 x 4 sums over k bytes of lines of 8 bytes. */
static rocblas_status multiply_bytes(int k, int alpha, uint32_t flags) {
  static const int32_t zero = 0;
  const rocblas_datatype byte = rocblas_datatype_i8_r, sum = rocblas_datatype_i32_r;
  char *a = memory_of(0), *c = a + 1024;
  int32_t factor = alpha;
  return rocblas_gemm_strided_batched_ex(handle_of(0), rocblas_operation_transpose,
                                         rocblas_operation_none, 4, 4, k, &factor, a, byte, 8, 32,
                                         a, byte, 8, 32, &zero, c, sum, 4, 16, c, sum, 4, 16, 2,
                                         sum, rocblas_gemm_algo_standard, 0, flags);
}

static const uint32_t packed = TSR_ROCM < 6 ? rocblas_gemm_flags_pack_int8x4 : 0;

static void multiplies_bytes_of_another_layout(void) {
  REFUSED(multiply_bytes(8, 1, TSR_ROCM < 6 ? 0 : rocblas_gemm_flags_pack_int8x4));
}

static void multiplies_a_part_of_four_bytes(void) {
  REFUSED(multiply_bytes(6, 1, packed));
}

static void scales_sums_of_bytes(void) {
  REFUSED(multiply_bytes(8, 2, packed));
}

static void sets_a_workspace_of_the_host(void) {
  static char pageable[BYTES];
  REFUSED(rocblas_set_workspace(handle_of(0), pageable, BYTES));
}

/* ---- In a process of its own ------------------------------------------------------------------
 */

typedef struct misuse {
  const char *name;
  void (*commit)(void);
  const char *told;    /* is in what the runtime says */
  const char *setting; /* NAME=VALUE; NULL: none */
} misuse;

static const misuse misuses[] = {
    {"sets_no_device", sets_no_device, "hipSetDevice(2)", NULL},
    {"names_no_device", names_no_device, "hipDeviceGetName(-1)", NULL},
    {"identifies_no_device", identifies_no_device, "hipDeviceGetUuid(7)", NULL},
    {"asks_of_no_device", asks_of_no_device, "hipDeviceGetAttribute of 2", NULL},
    {"asks_what_is_not_known", asks_what_is_not_known, "is not known", NULL},
    {"asks_for_no_peer", asks_for_no_peer, "hipDeviceCanAccessPeer(0, 2)", NULL},
    {"reaches_itself", reaches_itself, "of device 0", NULL},
    {"reaches_what_it_cannot", reaches_what_it_cannot, "cannot reach device 1", "TSR_HIP_PEER=0"},
    {"makes_a_stream_that_waits", makes_a_stream_that_waits, "flags 0", NULL},
    {"makes_a_stream_of_no_priority", makes_a_stream_of_no_priority, "priority -2", NULL},
    {"uses_a_destroyed_stream", uses_a_destroyed_stream, "is destroyed", NULL},
    {"uses_an_event_as_a_stream", uses_an_event_as_a_stream, "no handle of this kind", NULL},
    {"destroys_no_stream", destroys_no_stream, "is NULL", NULL},
    {"destroys_a_busy_stream", destroys_a_busy_stream, "the stream has commands", NULL},
    {"makes_an_event_of_no_kind", makes_an_event_of_no_kind, "flags 0x10000", NULL},
    {"destroys_an_event_twice", destroys_an_event_twice, "is destroyed", NULL},
    {"records_on_another_device", records_on_another_device, "the stream of device 1", NULL},
    {"queries_what_was_not_recorded", queries_what_was_not_recorded,
     "hipEventQuery: the event was not recorded", NULL},
    {"awaits_what_was_not_recorded", awaits_what_was_not_recorded,
     "hipStreamWaitEvent: the event was not recorded", NULL},
    {"synchronizes_what_was_not_recorded", synchronizes_what_was_not_recorded,
     "hipEventSynchronize: the event was not recorded", NULL},
    {"waits_in_no_known_way", waits_in_no_known_way, "flags 0x4", NULL},
    {"times_what_was_not_recorded", times_what_was_not_recorded,
     "hipEventElapsedTime: the event was not recorded", NULL},
    {"times_an_event_without_times", times_an_event_without_times, "an event has no times", NULL},
    {"times_events_of_two_devices", times_events_of_two_devices, "events of two devices", NULL},
    {"takes_memory_that_is_not_coherent", takes_memory_that_is_not_coherent, "not coherent", NULL},
    {"leaves_coherence_open", leaves_coherence_open, "not coherent", NULL},
    {"takes_memory_of_no_kind", takes_memory_of_no_kind, "flags 0x40000100", NULL},
    {"pins_a_devices_memory", pins_a_devices_memory, "hipHostRegister", NULL},
    {"pins_nothing", pins_nothing, "hipHostRegister", NULL},
    {"frees_twice", frees_twice, "freed twice?", NULL},
    {"frees_a_part", frees_a_part, "nothing that is allocated so begins", NULL},
    {"frees_pinned_memory_as_a_devices", frees_pinned_memory_as_a_devices, "hipFree: nothing",
     NULL},
    {"frees_a_devices_memory_as_pinned", frees_a_devices_memory_as_pinned, "hipHostFree: nothing",
     NULL},
    {"frees_the_users_memory", frees_the_users_memory, "hipHostFree: nothing", NULL},
    {"asks_a_pointer_what_is_not_known", asks_a_pointer_what_is_not_known, "is not known", NULL},
    {"copies_from_pageable_memory", copies_from_pageable_memory, "nor pinned", NULL},
    {"copies_to_freed_memory", copies_to_freed_memory, "is freed", NULL},
    {"copies_from_freed_pinned_memory", copies_from_freed_pinned_memory, "is freed", NULL},
    {"copies_too_much", copies_too_much, "goes beyond its allocation", NULL},
    {"copies_the_wrong_way", copies_the_wrong_way, "kind 2", NULL},
    {"copies_on_another_devices_stream", copies_on_another_devices_stream,
     "on a stream of device 1", NULL},
    {"copies_without_peer_access", copies_without_peer_access, "peer access is not enabled", NULL},
    {"mistakes_the_peer", mistakes_the_peer, "but the memory is of 1 and 0", NULL},
    {"copies_with_a_large_pitch", copies_with_a_large_pitch, "the largest is 1000",
     "TSR_HIP_PITCH=1000"},
    {"copies_more_than_a_pitch", copies_more_than_a_pitch, "width 65, pitches 64", NULL},
    {"copies_columns_too_many", copies_columns_too_many, "goes beyond its allocation", NULL},
    {"fills_freed_memory", fills_freed_memory, "hipMemset", NULL},
    {"finds_no_kernel", finds_no_kernel, "no kernel is called no_such_kernel", NULL},
    {"launches_with_another_device_current", launches_with_another_device_current,
     "device 1 is current, the stream is of device 0", NULL},
    {"launches_another_devices_kernel", launches_another_devices_kernel, "function of device 0",
     NULL},
    {"launches_too_many_threads", launches_too_many_threads, "a block of 1025", NULL},
    {"launches_with_shared_memory", launches_with_shared_memory, "128 bytes", NULL},
    {"launches_on_freed_memory", launches_on_freed_memory, "hipModuleLaunchKernel on device 0",
     NULL},
    {"launches_on_pageable_memory", launches_on_pageable_memory, "nor pinned", NULL},
    {"multiplies_by_a_destroyed_handle", multiplies_by_a_destroyed_handle, "is destroyed", NULL},
    {"multiplies_with_another_device_current", multiplies_with_another_device_current,
     "device 1 is current, the handle is of device 0", NULL},
    {"sets_another_devices_stream", sets_another_devices_stream, "is of another device", NULL},
    {"multiplies_without_a_stream", multiplies_without_a_stream, "stream is not set", NULL},
    {"multiplies_with_atomic_additions", multiplies_with_atomic_additions, "atomic additions",
     NULL},
    {"multiplies_freed_memory", multiplies_freed_memory, "is freed", NULL},
    {"multiplies_too_much", multiplies_too_much, "goes beyond its allocation", NULL},
    {"multiplies_another_devices_memory", multiplies_another_devices_memory,
     "peer access is not enabled", NULL},
    {"multiplies_with_a_small_ld", multiplies_with_a_small_ld, "too small", NULL},
    {"multiplies_to_another_matrix", multiplies_to_another_matrix, "d is not c", NULL},
    {"mixes_types", mixes_types, "mixture of types", NULL},
    {"multiplies_bytes_of_another_layout", multiplies_bytes_of_another_layout, "a layout is named",
     NULL},
    {"multiplies_a_part_of_four_bytes", multiplies_a_part_of_four_bytes, "no multiple of 4", NULL},
    {"scales_sums_of_bytes", scales_sums_of_bytes, "not a product of lines with alpha 1", NULL},
    {"sets_a_workspace_of_the_host", sets_a_workspace_of_the_host, "rocblas_set_workspace", NULL},
};
enum { MISUSES = sizeof misuses / sizeof *misuses };

static void commit(const misuse *m, int output) {
  char setting[64];
  dup2(output, STDERR_FILENO);
  if (m->setting != NULL) putenv(strcpy(setting, m->setting));
  m->commit();
  exit(0); /* a destructor of the runtime's changes the code */
}

static void is_refused(void **state) {
  const misuse *m = *state;
  char said[2000] = "";
  size_t length = 0;
  int ends[2], status;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) commit(m, ends[1]);
  close(ends[1]);
  for (ssize_t n; (n = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
    length += (size_t)n;
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != CODE_OF_MISUSE || !strstr(said, m->told))
    fail_msg("status %#x, \"%s\" and not \"%s\"", (unsigned)status, said, m->told);
}

/* What all of the above begin with is no misuse. */
static void right_use(void) {
  char *to = memory_of(0), *from = pinned();
  hipStream_t stream = stream_of(0);
  DO(hipMemcpyAsync(to, from, BYTES, hipMemcpyHostToDevice, stream));
  DO(hipStreamSynchronize(stream));
  DO(multiply_bytes(8, 1, packed));
  DO(hipStreamDestroy(stream));
  DO(hipFree(to));
  DO(hipHostFree(from));
}

static void right_use_is_not_refused(void **state) {
  int status;
  (void)state;
  pid_t child = fork();
  if (child == 0) {
    right_use();
    exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

int main(void) {
  struct CMUnitTest tests[MISUSES + 1];
  for (int i = 0; i < MISUSES; i++)
    tests[i] = (struct CMUnitTest){misuses[i].name, is_refused, NULL, NULL,
                                   (void *)(uintptr_t)&misuses[i]};
  tests[MISUSES] = (struct CMUnitTest)cmocka_unit_test(right_use_is_not_refused);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
