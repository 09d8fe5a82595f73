/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * RCCL for tests: librccl.so.1, the functions that src/cluster/rccl/functions.h names, between
 * processes of one computer through shared memory. A broadcast is a command of its stream, as
 * RCCL's are. It is as strict as the runtime (runtime.h).
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cluster/rccl/rccl.h"
#include "runtime.h"

enum { PIECE = 1 << 20 };

/* What a group's processes share. `round` counts the pieces that were put into `piece`; each of the
 * others adds to `taken` when it has the piece, and the root waits for all of them. */
typedef struct shared {
  atomic_int joined, left, aborted;
  atomic_ulong round, taken;
  char piece[PIECE];
} shared;

struct ncclComm {
  int rank, size, device;
  unsigned long round; /* pieces so far */
  atomic_bool aborted, destroyed;
  shared *shared;
};

static void rest(void) {
  nanosleep(&(struct timespec){0, 20000}, NULL);
}

/* ---- Groups ---------------------------------------------------------------------- */

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  static atomic_int count;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  memset(id, 0, sizeof *id);
  snprintf(id->internal, sizeof id->internal, "/tsr-rccl-%d-%d-%lld%09ld", (int)getpid(), count++,
           (long long)now.tv_sec, now.tv_nsec);
  return ncclSuccess;
}

static shared *map_shared(const char *name) {
  int file = shm_open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0) return NULL;
  void *mapped = MAP_FAILED;
  if (ftruncate(file, sizeof(shared)) == 0)
    mapped = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return mapped != MAP_FAILED ? mapped : NULL;
}

ncclResult_t ncclCommInitRank(ncclComm_t *made, int size, ncclUniqueId id, int rank) {
  if (rank < 0 || rank >= size || strncmp(id.internal, "/tsr-rccl-", 10) != 0) {
    hip_misuse(hipErrorInvalidValue, "ncclCommInitRank: rank %d of %d", rank, size);
    return ncclInvalidArgument;
  }
  struct ncclComm *comm = calloc(1, sizeof *comm);
  if (comm == NULL) return ncclSystemError;
  comm->rank = rank;
  comm->size = size;
  comm->device = hip_current();
  comm->shared = map_shared(id.internal);
  if (comm->shared == NULL) {
    free(comm);
    return ncclSystemError;
  }
  comm->shared->joined++;
  while (comm->shared->joined < size) rest();
  if (rank == 0) shm_unlink(id.internal);
  *made = comm;
  return ncclSuccess;
}

static bool is_comm(const struct ncclComm *comm, const char *function) {
  if (comm != NULL && !comm->destroyed) return true;
  hip_misuse(hipErrorInvalidHandle, "%s: no group, or one that is destroyed", function);
  return false;
}

/* The group stays allocated, so that its use is noticed; the others may still read the last piece.
 */
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (!is_comm(comm, "ncclCommDestroy")) return ncclInvalidArgument;
  hip_drain(comm->device);
  comm->destroyed = true;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (!is_comm(comm, "ncclCommAbort")) return ncclInvalidArgument;
  comm->aborted = true;
  comm->shared->aborted = 1;
  hip_drain(comm->device);
  comm->destroyed = true;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *met) {
  if (!is_comm(comm, "ncclCommGetAsyncError")) return ncclInvalidArgument;
  *met = comm->shared->aborted ? ncclRemoteError : ncclSuccess;
  return ncclSuccess;
}

/* ---- Broadcasts ------------------------------------------------------------------- */

typedef struct broadcast {
  struct ncclComm *comm;
  char *memory; /* where the bytes are */
  size_t bytes;
  int root;
} broadcast;

/* Whether the group was aborted meanwhile. */
static bool wait_for(const struct ncclComm *comm, const atomic_ulong *count, unsigned long value) {
  while (*count < value && !comm->shared->aborted) rest();
  return comm->shared->aborted;
}

static bool pass_piece(struct ncclComm *comm, char *memory, size_t bytes, bool root) {
  shared *s = comm->shared;
  unsigned long others = (unsigned long)comm->size - 1;
  comm->round++;
  if (root) {
    memcpy(s->piece, memory, bytes);
    s->round = comm->round;
    return wait_for(comm, &s->taken, comm->round * others);
  }
  if (wait_for(comm, &s->round, comm->round)) return true;
  memcpy(memory, s->piece, bytes);
  s->taken++;
  /* Nobody is a round ahead: the next root may be another process. */
  return wait_for(comm, &s->taken, comm->round * others);
}

static void run_broadcast(void *argument) {
  broadcast b;
  memcpy(&b, argument, sizeof b);
  for (size_t at = 0; at < b.bytes; at += PIECE) {
    size_t bytes = b.bytes - at < PIECE ? b.bytes - at : PIECE;
    if (pass_piece(b.comm, b.memory + at, bytes, b.comm->rank == b.root)) return;
  }
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, hipStream_t given) {
  const char *name = "ncclBroadcast";
  if (!is_comm(comm, name)) return ncclInvalidArgument;
  stream *s = hip_stream(given, name);
  if (s == NULL) return ncclInvalidArgument;
  if (from != to || type != ncclInt8 || root < 0 || root >= comm->size ||
      s->handle.device != comm->device || hip_current() != comm->device) {
    hip_misuse(hipErrorInvalidValue, "%s: root %d, the stream is of device %d, the group of %d",
               name, root, s->handle.device, comm->device);
    return ncclInvalidArgument;
  }
  broadcast b = {comm, hip_reach(to, count, comm->device, name), count, root};
  if (b.memory == NULL) return ncclInvalidArgument;
  return hip_submit(s, run_broadcast, &b, sizeof b) == hipSuccess ? ncclSuccess
                                                                  : ncclUnhandledCudaError;
}

const char *ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess ? "no error" : "an error of the tests' RCCL";
}

#if TSR_ROCM >= 6
const char *ncclGetLastError(ncclComm_t comm) {
  (void)comm;
  return "";
}
#endif
