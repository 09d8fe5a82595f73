/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When the events of NCCL's fabric are complete, tested over imitations of the CUDA runtime and of
 * NCCL. Only their headers are needed.
 */
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/transport/fabric.h"

extern const tsr_fabric tsr_fabric_nccl;

/* What the imitations return. */
static struct {
  cudaError_t record, event, stream;
  ncclResult_t group;
} says;

/* ---- The runtime ---------------------------------------------------------- */

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  (void)event, (void)stream;
  return says.record;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  (void)event;
  return says.event;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  (void)stream;
  return says.stream;
}
cudaError_t cudaGetLastError(void) {
  return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t error) {
  (void)error;
  return "an imitated error";
}
const char *cudaGetErrorName(cudaError_t error) {
  (void)error;
  return "imitated";
}
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  (void)device;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                     const void *pointer) {
  (void)pointer;
  attributes->type = cudaMemoryTypeDevice;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
  (void)device;
  memset(properties, 0, sizeof *properties);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  (void)attribute, (void)device;
  *value = 1 << 20;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *most) {
  *least = *most = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority) {
  static int one;
  (void)flags, (void)priority;
  *stream = (cudaStream_t)(void *)&one;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  (void)stream;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
  static int one;
  (void)flags;
  *event = (cudaEvent_t)(void *)&one;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  (void)event;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int from, int to) {
  (void)from, (void)to;
  *can = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned int flags) {
  (void)device, (void)flags;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
  (void)to, (void)from, (void)bytes, (void)kind, (void)stream;
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream) {
  (void)to, (void)to_pitch, (void)from, (void)from_pitch, (void)width, (void)height;
  (void)kind, (void)stream;
  return cudaSuccess;
}
#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function,
                                             unsigned int version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found) {
  (void)name, (void)function, (void)version, (void)flags;
  *found = cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
#else
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *found) {
  (void)name, (void)function, (void)flags;
  *found = cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
#endif

/* ---- NCCL ----------------------------------------------------------------- */

const char *ncclGetLastError(ncclComm_t comm) {
  (void)comm;
  return NULL;
}
const char *ncclGetErrorString(ncclResult_t result) {
  (void)result;
  return "an imitated failure";
}
ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  memset(id, 0, sizeof *id);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t *config) {
  static int one;
  (void)size, (void)id, (void)rank, (void)config;
  *comm = (ncclComm_t)(void *)&one;
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  (void)comm;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  (void)comm;
  return ncclSuccess;
}
ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  (void)from, (void)to, (void)count, (void)type, (void)root, (void)comm, (void)stream;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *met) {
  (void)comm;
  *met = says.group;
  return ncclSuccess;
}

/* ---- Tests ---------------------------------------------------------------- */

static const tsr_fabric *const fabric = &tsr_fabric_nccl;
static tsr_fabric_state *state;

static int begin(void **unused) {
  (void)unused;
  char identity[TSR_FABRIC_IDENTITY];
  tsr_fabric_group group = {.size = 2};
  assert_int_equal(fabric->open(&says, &state, identity), TSR_OK);
  return fabric->join(state, 0, &group) == TSR_OK ? 0 : 1;
}

static int end(void **unused) {
  (void)unused;
  fabric->close(state);
  return 0;
}

static void expect(int queue, tsr_status status, bool expected) {
  bool complete = !expected;
  assert_int_equal(fabric->query(state, queue, 0, &complete), status);
  assert_int_equal(complete, expected);
}

/* If an event cannot be recorded, the fabric asks whether the queue is empty, since the event still
 * says that its former recording is complete. */
static void asks_the_queue_if_no_event_was_recorded(void **unused) {
  static const int queues[] = {TSR_FABRIC_ACROSS, TSR_FABRIC_UP};
  (void)unused;
  for (int i = 0; i < 2; i++) {
    says.group = ncclSuccess;
    says.event = cudaSuccess;
    says.record = cudaErrorMemoryAllocation;
    fabric->record(state, queues[i], 0);
    says.stream = cudaErrorNotReady;
    expect(queues[i], TSR_OK, false);
    says.stream = cudaSuccess;
    expect(queues[i], TSR_OK, true);
    says.record = cudaSuccess;
    fabric->record(state, queues[i], 0);
    says.event = cudaErrorNotReady;
    expect(queues[i], TSR_OK, false);
  }
}

/* If a group has failed, its broadcasts count as complete; uploads do not, because they still read
 * the user's memory. */
static void a_group_fails(void **unused) {
  (void)unused;
  says.record = cudaSuccess;
  fabric->record(state, TSR_FABRIC_UP, 0);
  fabric->record(state, TSR_FABRIC_ACROSS, 0);
  says.event = cudaErrorNotReady;
  says.group = ncclSystemError;
  expect(TSR_FABRIC_UP, TSR_OK, false);
  expect(TSR_FABRIC_ACROSS, TSR_ERR_DEVICE, true);
  says.event = cudaErrorIllegalAddress;
  expect(TSR_FABRIC_UP, TSR_ERR_DEVICE, true);
  says.group = ncclSuccess;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(asks_the_queue_if_no_event_was_recorded),
      cmocka_unit_test(a_group_fails),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
