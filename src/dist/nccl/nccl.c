/*
 * The fabric of NCCL, and of the CUDA runtime below it: libtessera_nccl.so.
 *
 * Functions leave the caller's current device as it was.
 */
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "dist/fabric.h"

TSR_API extern const tsr_fabric tsr_fabric_nccl;

enum { QUEUES = 2 };

/* A broadcast should take few multiprocessors from the products that it runs beside. On two H200 a
 * product of processes wants 60 GB/s, and host memory gives no more: NCCL_MAX_CTAS sets another
 * number. */
enum { MOST_BLOCKS = 8 };

/* The driver's own types, by their sizes: its header is not needed for one function. */
typedef int (*pointer_attribute)(void *data, int attribute, unsigned long long pointer);
enum { RANGE_BEGIN = 11, RANGE_BYTES = 12 }; /* CU_POINTER_ATTRIBUTE_RANGE_... */

struct tsr_fabric_state {
  int device;
  size_t most_pitch; /* of a 2D copy */
  cudaStream_t stream[QUEUES];
  cudaEvent_t mark[QUEUES][TSR_FABRIC_MARKS];
  ncclComm_t comm[TSR_FABRIC_GROUPS]; /* NULL: none */
  pointer_attribute attribute;        /* NULL: not in this driver */
};

/* ---- Errors ----------------------------------------------------------------------- */

static tsr_status cuda_fail(cudaError_t error, const char *what, int device) {
  (void)cudaGetLastError(); /* the runtime would report it once more, to somebody else */
  return tsr_fail(TSR_ERR_DEVICE, "CUDA device %d: %s failed: %s (%s, %d)", device, what,
                  cudaGetErrorString(error), cudaGetErrorName(error), (int)error);
}

#define CUDA_TRY(call, what, device)                                             \
  do {                                                                           \
    cudaError_t cuda_error_ = (call);                                            \
    if (cuda_error_ != cudaSuccess) return cuda_fail(cuda_error_, what, device); \
  } while (0)

static tsr_status nccl_fail(ncclResult_t result, const char *what) {
  const char *more = ncclGetLastError(NULL);
  return tsr_fail(TSR_ERR_DEVICE,
                  "NCCL: %s failed: %s%s%s; NCCL_DEBUG=INFO tells more, TESSERA_TRANSPORT=mpi does "
                  "without it",
                  what, ncclGetErrorString(result), more != NULL && more[0] != '\0' ? ": " : "",
                  more != NULL ? more : "");
}

/* ---- The current device ------------------------------------------------------------- */

static int enter(const tsr_fabric_state *s) {
  int former = s->device;
  (void)cudaGetDevice(&former);
  if (former != s->device) (void)cudaSetDevice(s->device);
  return former;
}

static void leave_device(const tsr_fabric_state *s, int former) {
  if (former != s->device) (void)cudaSetDevice(former);
}

/* ---- Opening ------------------------------------------------------------------------ */

static tsr_status find_device(const void *memory, int *device) {
  struct cudaPointerAttributes attributes = {0};
  cudaError_t error = cudaPointerGetAttributes(&attributes, memory);
  if (error != cudaSuccess) return cuda_fail(error, "asking where memory is", 0);
  if (attributes.type != cudaMemoryTypeDevice)
    return tsr_fail(TSR_ERR_UNSUPPORTED, "the memory of the context's device is not CUDA's");
  *device = attributes.device;
  return TSR_OK;
}

static tsr_status identify(int device, char identity[TSR_FABRIC_IDENTITY]) {
  struct cudaDeviceProp properties;
  CUDA_TRY(cudaGetDeviceProperties(&properties, device), "asking for its properties", device);
  const unsigned char *uuid = (const unsigned char *)properties.uuid.bytes;
  char *at = identity + sprintf(identity, "GPU-");
  for (int i = 0; i < 16; i++)
    at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  return TSR_OK;
}

static tsr_status create_queue(tsr_fabric_state *s, tsr_fabric_queue queue, int priority) {
  CUDA_TRY(cudaStreamCreateWithPriority(&s->stream[queue], cudaStreamNonBlocking, priority),
           "making a stream", s->device);
  for (int i = 0; i < TSR_FABRIC_MARKS; i++)
    CUDA_TRY(cudaEventCreateWithFlags(&s->mark[queue][i], cudaEventDisableTiming),
             "making an event", s->device);
  return TSR_OK;
}

static pointer_attribute find_attribute(void) {
  static const char name[] = "cuPointerGetAttribute";
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  void *function = NULL;
  pointer_attribute attribute = NULL;
#if CUDART_VERSION >= 12050
  cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
  cudaError_t error = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess) (void)cudaGetLastError();
  if (error == cudaSuccess && found == cudaDriverEntryPointSuccess)
    memcpy(&attribute, &function, sizeof attribute);
  return attribute;
}

/* Broadcasts go before products: what waits for them has nothing else to do. */
static tsr_status open_queues(tsr_fabric_state *s) {
  int pitch = 0, low = 0, high = 0;
  CUDA_TRY(cudaDeviceGetAttribute(&pitch, cudaDevAttrMaxPitch, s->device), "asking for its pitch",
           s->device);
  CUDA_TRY(cudaDeviceGetStreamPriorityRange(&low, &high), "asking for priorities", s->device);
  s->most_pitch = (size_t)pitch;
  s->attribute = find_attribute();
  TSR_TRY(create_queue(s, TSR_FABRIC_UP, low));
  return create_queue(s, TSR_FABRIC_ACROSS, high);
}

static void close_nccl(tsr_fabric_state *s) {
  int former = enter(s);
  for (int i = 0; i < TSR_FABRIC_GROUPS; i++)
    if (s->comm[i] != NULL) (void)ncclCommDestroy(s->comm[i]);
  for (int q = 0; q < QUEUES; q++) {
    for (int i = 0; i < TSR_FABRIC_MARKS; i++)
      if (s->mark[q][i] != NULL) (void)cudaEventDestroy(s->mark[q][i]);
    if (s->stream[q] != NULL) (void)cudaStreamDestroy(s->stream[q]);
  }
  (void)cudaGetLastError();
  leave_device(s, former);
  tsr_dealloc(s);
}

static tsr_status open_nccl(const void *memory, tsr_fabric_state **opened,
                            char identity[TSR_FABRIC_IDENTITY]) {
  int device = 0;
  /* NVLink multicast is of no use to broadcasts of panels, and a fault in it takes the other
   * devices of a machine along. It must be in place before NCCL looks. */
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  TSR_TRY(find_device(memory, &device));
  TSR_TRY(identify(device, identity));
  tsr_fabric_state *s = tsr_alloc_zero(1, sizeof *s);
  if (s == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for the messages of a grid");
  s->device = device;
  int former = enter(s);
  tsr_status status = open_queues(s);
  leave_device(s, former);
  if (status == TSR_OK)
    *opened = s;
  else
    close_nccl(s);
  return status;
}

/* ---- Groups ------------------------------------------------------------------------- */

_Static_assert(TSR_FABRIC_NAME == NCCL_UNIQUE_ID_BYTES, "the name of a group is NCCL's id");

static tsr_status name_group(unsigned char name[TSR_FABRIC_NAME]) {
  ncclUniqueId id;
  ncclResult_t result = ncclGetUniqueId(&id);
  if (result != ncclSuccess) return nccl_fail(result, "ncclGetUniqueId");
  memcpy(name, id.internal, TSR_FABRIC_NAME);
  return TSR_OK;
}

static tsr_status join(tsr_fabric_state *s, int group, const tsr_fabric_group *what) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  ncclUniqueId id;
  config.maxCTAs = MOST_BLOCKS;
  memcpy(id.internal, what->name, TSR_FABRIC_NAME);
  int former = enter(s);
  ncclResult_t result =
      ncclCommInitRankConfig(&s->comm[group], what->size, id, what->rank, &config);
  leave_device(s, former);
  if (result == ncclSuccess) return TSR_OK;
  s->comm[group] = NULL;
  return nccl_fail(result, "ncclCommInitRankConfig");
}

/* What is under way on the device ends, too. */
static void leave(tsr_fabric_state *s, int group) {
  int former = enter(s);
  if (s->comm[group] != NULL) (void)ncclCommAbort(s->comm[group]);
  s->comm[group] = NULL;
  leave_device(s, former);
}

/* ---- Carrying ----------------------------------------------------------------------- */

/* Whether it is pinned as one piece; where the driver does not tell, its ends count. */
static bool is_pinned(tsr_fabric_state *s, const void *begin, size_t bytes) {
  struct cudaPointerAttributes first = {0}, last = {0};
  unsigned long long at = (unsigned long long)(uintptr_t)begin, range = 0;
  size_t length = 0;
  if (cudaPointerGetAttributes(&first, begin) != cudaSuccess ||
      cudaPointerGetAttributes(&last, (const char *)begin + bytes - 1) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  if (first.type != cudaMemoryTypeHost || last.type != cudaMemoryTypeHost) return false;
  if (s->attribute == NULL || s->attribute(&range, RANGE_BEGIN, at) != 0 ||
      s->attribute(&length, RANGE_BYTES, at) != 0)
    return true;
  return at >= range && at + bytes <= range + length;
}

static cudaError_t copy(const tsr_fabric_state *s, char *to, const tsr_part *part) {
  cudaStream_t stream = s->stream[TSR_FABRIC_UP];
  bool even = part->from_pitch == part->width && part->to_pitch == part->width;
  if (even || part->height == 1)
    return cudaMemcpyAsync(to, part->from, part->width * part->height, cudaMemcpyHostToDevice,
                           stream);
  if (part->from_pitch <= s->most_pitch && part->to_pitch <= s->most_pitch)
    return cudaMemcpy2DAsync(to, part->to_pitch, part->from, part->from_pitch, part->width,
                             part->height, cudaMemcpyHostToDevice, stream);
  cudaError_t error = cudaSuccess;
  for (size_t i = 0; i < part->height && error == cudaSuccess; i++)
    error = cudaMemcpyAsync(to + i * part->to_pitch, part->from + i * part->from_pitch, part->width,
                            cudaMemcpyHostToDevice, stream);
  return error;
}

static tsr_status up(tsr_fabric_state *s, char *panel, const tsr_part *part) {
  int former = enter(s);
  cudaError_t error = copy(s, panel + part->to, part);
  leave_device(s, former);
  return error == cudaSuccess ? TSR_OK : cuda_fail(error, "copying a panel to it", s->device);
}

static tsr_status across(tsr_fabric_state *s, int group, void *memory, size_t bytes, int root) {
  int former = enter(s);
  ncclResult_t result = ncclBroadcast(memory, memory, bytes, ncclInt8, root, s->comm[group],
                                      s->stream[TSR_FABRIC_ACROSS]);
  leave_device(s, former);
  return result == ncclSuccess ? TSR_OK : nccl_fail(result, "ncclBroadcast");
}

static tsr_status mark(tsr_fabric_state *s, tsr_fabric_queue queue, int number) {
  int former = enter(s);
  cudaError_t error = cudaEventRecord(s->mark[queue][number], s->stream[queue]);
  leave_device(s, former);
  return error == cudaSuccess ? TSR_OK : cuda_fail(error, "recording an event", s->device);
}

/* What NCCL's own threads have met. */
static tsr_status check_groups(const tsr_fabric_state *s) {
  for (int i = 0; i < TSR_FABRIC_GROUPS; i++) {
    ncclResult_t met = ncclSuccess;
    if (s->comm[i] == NULL) continue;
    ncclResult_t result = ncclCommGetAsyncError(s->comm[i], &met);
    if (result != ncclSuccess) return nccl_fail(result, "ncclCommGetAsyncError");
    if (met != ncclSuccess && met != ncclInProgress) return nccl_fail(met, "a broadcast");
  }
  return TSR_OK;
}

static tsr_status passed(tsr_fabric_state *s, tsr_fabric_queue queue, int number, bool *is_past) {
  int former = enter(s);
  cudaError_t error = cudaEventQuery(s->mark[queue][number]);
  leave_device(s, former);
  *is_past = error == cudaSuccess;
  if (error == cudaSuccess) return TSR_OK;
  (void)cudaGetLastError(); /* also for what is no error */
  tsr_status status =
      error == cudaErrorNotReady ? check_groups(s) : cuda_fail(error, "carrying panels", s->device);
  *is_past = status != TSR_OK;
  return status;
}

const tsr_fabric tsr_fabric_nccl = {
    .name = "nccl",
    .piece = (size_t)8 << 20,
    .narrowest = 4096,
    .sample = (size_t)64 << 20,
    .open = open_nccl,
    .close = close_nccl,
    .name_group = name_group,
    .join = join,
    .leave = leave,
    .is_pinned = is_pinned,
    .up = up,
    .across = across,
    .mark = mark,
    .passed = passed,
};
