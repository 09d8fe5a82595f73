/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The fabric made of NCCL (broadcasts) and the CUDA runtime (copies), libtessera_nccl.so.0.2; and
 * of RCCL and the HIP runtime, libtessera_rccl.so.0.2, which have the same functions. Only names.h,
 * in ../nccl and ../rccl, knows which.
 *
 * All functions restore the caller's current device.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cluster/transport/fabric.h"
#include "names.h" /* of the vendor's folder, which the build names */

TSR_API extern const tsr_fabric FABRIC;

/* The driver's function for attributes of pointers, by C's types, so that its header is not needed
 * for one function. */
typedef int (*pointer_attribute)(void *data, int attribute, unsigned long long pointer);
enum { RANGE_BEGIN = 11, RANGE_BYTES = 12 }; /* ..._POINTER_ATTRIBUTE_RANGE_... */

typedef struct queue {
  int device;
  size_t most_pitch; /* of a 2D copy */
  gpuStream stream;
  gpuEvent event[TSR_FABRIC_EVENTS];
  bool unrecorded[TSR_FABRIC_EVENTS]; /* recording failed: complete once the stream is empty */
} queue;

struct tsr_fabric_state {
  int device;
  queue queue[TSR_FABRIC_QUEUES];     /* stream NULL: not open */
  ncclComm_t comm[TSR_FABRIC_GROUPS]; /* NULL: not joined, or left */
  pointer_attribute attribute;        /* NULL: this driver has no such function */
};

/* ---- Errors ----------------------------------------------------------------------- */

static tsr_status gpu_fail(gpuError error, const char *what, int device) {
  (void)gpuLastError(); /* else the runtime would report the error to a later caller, too */
  return tsr_fail(TSR_ERR_DEVICE, GPU_RUNTIME " device %d: %s failed: %s (%s, %d)", device, what,
                  gpuErrorString(error), gpuErrorName(error), (int)error);
}

#define GPU_TRY(call, what, device)                                          \
  do {                                                                       \
    gpuError gpu_error_ = (call);                                            \
    if (gpu_error_ != gpuSuccess) return gpu_fail(gpu_error_, what, device); \
  } while (0)

static tsr_status nccl_fail(ncclResult_t result, const char *what) {
  const char *more = fabric_last_error();
  return tsr_fail(TSR_ERR_DEVICE,
                  FABRIC_LIBRARY
                  ": %s failed: %s%s%s; set NCCL_DEBUG=INFO to see more, or "
                  "TESSERA_TRANSPORT=mpi to do without " FABRIC_LIBRARY,
                  what, ncclGetErrorString(result), more != NULL && more[0] != '\0' ? ": " : "",
                  more != NULL ? more : "");
}

/* ---- The current device ------------------------------------------------------------- */

/* Makes a device current; returns the former one, for leave_device(). */
static int enter(int device) {
  int former = device;
  (void)gpuGetDevice(&former);
  if (former != device) (void)gpuSetDevice(device);
  return former;
}

static void leave_device(int device, int former) {
  if (former != device) (void)gpuSetDevice(former);
}

/* ---- Opening ------------------------------------------------------------------------ */

static tsr_status find_device(const void *memory, int *device) {
  gpuMemory kind = gpuMemoryOther;
  gpuError error = gpuMemoryOf(memory, &kind, device);
  if (error != gpuSuccess) return gpu_fail(error, "asking whose memory it is", 0);
  if (kind != gpuMemoryDevice)
    return tsr_fail(TSR_ERR_UNSUPPORTED,
                    "the memory of the context's device is not " GPU_RUNTIME "'s");
  return TSR_OK;
}

static tsr_status identify(int device, char identity[TSR_FABRIC_IDENTITY]) {
  unsigned char uuid[16];
  GPU_TRY(gpuUuid(device, uuid), "asking for its UUID", device);
  char *at = identity + sprintf(identity, "GPU-");
  for (int i = 0; i < 16; i++)
    at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  return TSR_OK;
}

/* first: the stream has the highest priority. Broadcasts have it, because products wait for them.
 */
static tsr_status create_queue(queue *q, bool first) {
  int pitch = 0, low = 0, high = 0;
  GPU_TRY(gpuMaxPitch(&pitch, q->device), "asking for its largest pitch", q->device);
  GPU_TRY(gpuPriorityRange(&low, &high), "asking for priorities", q->device);
  q->most_pitch = (size_t)pitch;
  GPU_TRY(gpuStreamCreate(&q->stream, gpuStreamNonBlocking, first ? high : low),
          "creating a stream", q->device);
  for (int i = 0; i < TSR_FABRIC_EVENTS; i++)
    GPU_TRY(gpuEventCreate(&q->event[i], gpuEventDisableTiming), "creating an event", q->device);
  return TSR_OK;
}

/* Accepts a queue that create_queue() made in part. */
static void close_queue(queue *q) {
  int former = enter(q->device);
  for (int i = 0; i < TSR_FABRIC_EVENTS; i++)
    if (q->event[i] != NULL) (void)gpuEventDestroy(q->event[i]);
  if (q->stream != NULL) (void)gpuStreamDestroy(q->stream);
  leave_device(q->device, former);
  *q = (queue){0};
}

static tsr_status open_queue(tsr_fabric_state *s, int number, int device) {
  queue *q = &s->queue[number];
  q->device = device;
  int former = enter(device);
  tsr_status status = create_queue(q, number == TSR_FABRIC_ACROSS);
  leave_device(device, former);
  if (status != TSR_OK) close_queue(q);
  return status;
}

/* NULL: the driver has no such function. */
static pointer_attribute find_attribute(void) {
  void *function = gpuPointerAttribute();
  pointer_attribute attribute = NULL;
  memcpy(&attribute, &function, sizeof attribute);
  return attribute;
}

static tsr_status open_queues(tsr_fabric_state *s) {
  TSR_TRY(open_queue(s, TSR_FABRIC_UP, s->device));
  return open_queue(s, TSR_FABRIC_ACROSS, s->device);
}

static void close_nccl(tsr_fabric_state *s) {
  int former = enter(s->device);
  for (int i = 0; i < TSR_FABRIC_GROUPS; i++)
    if (s->comm[i] != NULL) (void)ncclCommDestroy(s->comm[i]);
  leave_device(s->device, former);
  for (int i = 0; i < TSR_FABRIC_QUEUES; i++)
    if (s->queue[i].stream != NULL) close_queue(&s->queue[i]);
  (void)gpuLastError();
  tsr_dealloc(s);
}

static tsr_status open_nccl(const void *memory, tsr_fabric_state **opened,
                            char identity[TSR_FABRIC_IDENTITY]) {
  int device = 0;
  TSR_TRY(fabric_load());
  TSR_TRY(find_device(memory, &device));
  TSR_TRY(identify(device, identity));
  tsr_fabric_state *s = tsr_alloc_zero(1, sizeof *s);
  if (s == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for the messages of a grid");
  s->device = device;
  s->attribute = find_attribute();
  tsr_status status = open_queues(s);
  if (status == TSR_OK)
    *opened = s;
  else
    close_nccl(s);
  return status;
}

/* ---- More ways ---------------------------------------------------------------------- */

/* Whether device `from` can access the memory of device `to`; enables that access. */
static bool reaches(int from, int to) {
  int can = 0, former = enter(from);
  gpuError error = gpuCanAccessPeer(&can, from, to);
  if (error == gpuSuccess && can) error = gpuEnablePeer(to, 0);
  if (error != gpuSuccess) (void)gpuLastError();
  leave_device(from, former);
  return can && (error == gpuSuccess || error == gpuErrorPeerOn);
}

/* Whether a device has a queue already: a context may name a device twice, which has one link only.
 */
static bool is_taken(const tsr_fabric_state *s, int device) {
  for (int i = 0; i < TSR_FABRIC_QUEUES; i++)
    if (s->queue[i].stream != NULL && s->queue[i].device == device) return true;
  return false;
}

static tsr_status open_way(tsr_fabric_state *s, int way, const void *relay) {
  int device = 0;
  TSR_TRY(find_device(relay, &device));
  if (is_taken(s, device))
    return tsr_fail(TSR_ERR_UNSUPPORTED, GPU_RUNTIME " device %d has a way already", device);
  if (!reaches(device, s->device) || !reaches(s->device, device))
    return tsr_fail(TSR_ERR_UNSUPPORTED,
                    GPU_RUNTIME " devices %d and %d cannot access each other's memory", device,
                    s->device);
  return open_queue(s, TSR_FABRIC_UP + way, device);
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
  ncclUniqueId id;
  memcpy(id.internal, what->name, TSR_FABRIC_NAME);
  int former = enter(s->device);
  ncclResult_t result = fabric_join(&s->comm[group], what->size, id, what->rank);
  leave_device(s->device, former);
  if (result == ncclSuccess) return TSR_OK;
  s->comm[group] = NULL;
  return nccl_fail(result, "joining a group");
}

/* ncclCommAbort also ends the group's broadcasts on the device. */
static void leave(tsr_fabric_state *s, int group) {
  int former = enter(s->device);
  if (s->comm[group] != NULL) (void)ncclCommAbort(s->comm[group]);
  s->comm[group] = NULL;
  leave_device(s->device, former);
}

/* ---- Carrying ----------------------------------------------------------------------- */

/* Whether the memory is inside one pinned allocation. If the driver does not tell the range of the
 * allocation: whether its first and last byte are pinned. */
static bool is_pinned(tsr_fabric_state *s, const void *begin, size_t bytes) {
  gpuMemory first = gpuMemoryOther, last = gpuMemoryOther;
  int device = 0;
  unsigned long long at = (unsigned long long)(uintptr_t)begin, range = 0;
  size_t length = 0;
  if (gpuMemoryOf(begin, &first, &device) != gpuSuccess ||
      gpuMemoryOf((const char *)begin + bytes - 1, &last, &device) != gpuSuccess) {
    (void)gpuLastError();
    return false;
  }
  if (first != gpuMemoryPinned || last != gpuMemoryPinned) return false;
  if (s->attribute == NULL || s->attribute(&range, RANGE_BEGIN, at) != 0 ||
      s->attribute(&length, RANGE_BYTES, at) != 0)
    return true;
  return at >= range && at + bytes <= range + length;
}

/* Copies a part: as one block, as a 2D copy, or run by run if a pitch exceeds the runtime's limit.
 */
static gpuError copy(const queue *q, char *to, const tsr_panel_part *part) {
  bool even = part->from_pitch == part->width && part->to_pitch == part->width;
  if (even || part->height == 1)
    return gpuMemcpy(to, part->from, part->width * part->height, gpuMemcpyIn, q->stream);
  if (part->from_pitch <= q->most_pitch && part->to_pitch <= q->most_pitch)
    return gpuMemcpy2D(to, part->to_pitch, part->from, part->from_pitch, part->width, part->height,
                       gpuMemcpyIn, q->stream);
  gpuError error = gpuSuccess;
  for (size_t i = 0; i < part->height && error == gpuSuccess; i++)
    error = gpuMemcpy(to + i * part->to_pitch, part->from + i * part->from_pitch, part->width,
                      gpuMemcpyIn, q->stream);
  return error;
}

static tsr_status up(tsr_fabric_state *s, int way, char *panel, const tsr_panel_part *part) {
  const queue *q = &s->queue[TSR_FABRIC_UP + way];
  int former = enter(q->device);
  gpuError error = copy(q, panel + part->to, part);
  leave_device(q->device, former);
  return error == gpuSuccess ? TSR_OK : gpu_fail(error, "copying a panel to it", q->device);
}

static tsr_status onward(tsr_fabric_state *s, int way, void *to, const void *relay, size_t bytes) {
  const queue *q = &s->queue[TSR_FABRIC_UP + way];
  int former = enter(q->device);
  gpuError error = gpuMemcpy(to, relay, bytes, gpuMemcpyDefault, q->stream);
  leave_device(q->device, former);
  return error == gpuSuccess ? TSR_OK : gpu_fail(error, "copying a panel on from it", q->device);
}

static tsr_status down(tsr_fabric_state *s, int way, void *to, const void *from, size_t bytes) {
  const queue *q = &s->queue[TSR_FABRIC_UP + way];
  int former = enter(q->device);
  gpuError error = gpuMemcpy(to, from, bytes, gpuMemcpyOut, q->stream);
  leave_device(q->device, former);
  return error == gpuSuccess ? TSR_OK : gpu_fail(error, "copying from it", q->device);
}

static tsr_status across(tsr_fabric_state *s, int group, void *memory, size_t bytes, int root) {
  int former = enter(s->device);
  ncclResult_t result = ncclBroadcast(memory, memory, bytes, ncclInt8, root, s->comm[group],
                                      s->queue[TSR_FABRIC_ACROSS].stream);
  leave_device(s->device, former);
  return result == ncclSuccess ? TSR_OK : nccl_fail(result, "ncclBroadcast");
}

static void record(tsr_fabric_state *s, int which, int number) {
  queue *q = &s->queue[which];
  int former = enter(q->device);
  q->unrecorded[number] = gpuEventRecord(q->event[number], q->stream) != gpuSuccess;
  leave_device(q->device, former);
  if (q->unrecorded[number]) (void)gpuLastError();
}

/* The errors that NCCL's own threads have found. */
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

/* Events in ACROSS are complete, with an error, if a group has failed: its broadcasts may never end
 * by themselves. Uploads end by themselves, and until then they read the user's memory, so their
 * events are never complete before that. */
static tsr_status query(tsr_fabric_state *s, int which, int number, bool *complete) {
  const queue *q = &s->queue[which];
  int former = enter(q->device);
  gpuError error =
      q->unrecorded[number] ? gpuStreamQuery(q->stream) : gpuEventQuery(q->event[number]);
  leave_device(q->device, former);
  *complete = error == gpuSuccess;
  if (error == gpuSuccess) return TSR_OK;
  (void)gpuLastError(); /* gpuErrorNotReady is kept by the runtime, too */
  if (error == gpuErrorNotReady && which != TSR_FABRIC_ACROSS) return TSR_OK;
  tsr_status status =
      error == gpuErrorNotReady ? check_groups(s) : gpu_fail(error, "carrying panels", q->device);
  *complete = status != TSR_OK;
  return status;
}

const tsr_fabric FABRIC = {
    .name = FABRIC_NAME,
    .piece = (size_t)8 << 20,
    .narrowest = 4096,
    .sample = (size_t)64 << 20,
    .open = open_nccl,
    .close = close_nccl,
    .open_way = open_way,
    .name_group = name_group,
    .join = join,
    .leave = leave,
    .is_pinned = is_pinned,
    .up = up,
    .onward = onward,
    .down = down,
    .across = across,
    .record = record,
    .query = query,
};
