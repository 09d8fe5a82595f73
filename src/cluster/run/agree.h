/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Agreement of processes: whether all of them go on, and whether all made the same call with the
 * same arguments. Because of it a collective call returns the same status on every process, and no
 * process waits for one that has given up.
 */
#ifndef TSR_CLUSTER_RUN_AGREE_H
#define TSR_CLUSTER_RUN_AGREE_H

#include <mpi.h>

#include "base/status.h"

struct tsr_async_queue;

/* A communicator that the library owns. MPI returns errors on it and does not abort. */
typedef struct tsr_peers {
  MPI_Comm comm;
  int rank, size;
  struct tsr_async_queue *queue; /* products that must progress while this process waits for the
                                    others; NULL: none. Not owned. */
} tsr_peers;

/* The arguments of a call that must be the same on all processes. Items beyond TSR_RECORD_ROOM are
 * not compared. */
enum { TSR_RECORD_ROOM = 64 };
typedef struct tsr_record {
  const char *object[TSR_RECORD_ROOM], *field[TSR_RECORD_ROOM];
  int64_t value[TSR_RECORD_ROOM];
  int count;
} tsr_record;

/* The collective calls, each by a number of its own. */
typedef enum tsr_record_call {
  TSR_RECORD_GRID = 1,
  TSR_RECORD_PANELS,
  TSR_RECORD_MATRIX,
  TSR_RECORD_REDISTRIBUTE,
  TSR_RECORD_SCATTER,
  TSR_RECORD_GATHER,
  TSR_RECORD_PGEMM,
  TSR_RECORD_BLOCKS,
  TSR_RECORD_SYNC,
  TSR_RECORD_NETWORK,
  TSR_RECORD_TIMELINE,
  TSR_RECORD_CUT
} tsr_record_call;
/* A record whose first item is the call. */
tsr_record tsr_record_begin(tsr_record_call call);

/* Adds an argument. Errors name it as object followed by field; object may be "". Both strings must
 * outlive the record. */
void tsr_record_add(tsr_record *record, const char *object, const char *field, int64_t value);

/* Adds `bytes` bytes at `value`, for instance a scalar, as the argument `field`. */
void tsr_record_add_bytes(tsr_record *record, const char *field, const void *value, size_t bytes);

/* Collective; returns the same status on every process. `status` is this process's own status so
 * far, with its message recorded by tsr_fail. `record` may be NULL. The result is
 *   TSR_OK              if every process has TSR_OK and all records are equal;
 *   the status and message of the failed process of least rank, if a process failed;
 *   TSR_ERR_ARGUMENT    if records differ; the message names the first argument that differs. */
tsr_status tsr_agree(const tsr_peers *peers, const tsr_record *record, tsr_status status);

/* TSR_OK if `code` is MPI_SUCCESS; else TSR_ERR_INTERNAL with MPI's message. name: the function of
 * MPI that returned the code. */
tsr_status tsr_mpi_check(int code, const char *name);

#endif
