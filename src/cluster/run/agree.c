/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/run/agree.h"

#include <string.h>

#include "cluster/run/async_queue.h"
#include "cluster/transport/wait.h"

tsr_record tsr_record_begin(tsr_record_call call) {
  tsr_record record = {.count = 0};
  tsr_record_add(&record, "", "the number of the function", call);
  return record;
}

void tsr_record_add(tsr_record *record, const char *object, const char *field, int64_t value) {
  if (record->count == TSR_RECORD_ROOM) return;
  record->object[record->count] = object;
  record->field[record->count] = field;
  record->value[record->count++] = value;
}

void tsr_record_add_bytes(tsr_record *record, const char *field, const void *value, size_t bytes) {
  for (size_t at = 0; at < bytes; at += sizeof(int64_t)) {
    int64_t word = 0;
    memcpy(&word, (const char *)value + at, bytes - at < sizeof word ? bytes - at : sizeof word);
    tsr_record_add(record, "the bits of ", field, word);
  }
}

tsr_status tsr_mpi_check(int code, const char *name) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS) return TSR_OK;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  return tsr_fail(TSR_ERR_INTERNAL, "%s failed: %.*s", name, length, text);
}

/* FNV-1a over the values of a record; NULL: no values. */
static int64_t digest(const tsr_record *record) {
  uint64_t hash = 14695981039346656037u;
  for (int i = 0; record != NULL && i < record->count; i++)
    for (int byte = 0; byte < 8; byte++) {
      hash ^= (uint64_t)record->value[i] >> 8 * byte & 0xff;
      hash *= 1099511628211u;
    }
  return (int64_t)hash;
}

/* Broadcasts the error of process `from`; every process returns it. */
static tsr_status spread(const tsr_peers *peers, int from, tsr_status status) {
  tsr_error error;
  memset(&error, 0, sizeof error);
  if (peers->rank == from) tsr_error_take(status, &error);
  int code = MPI_Bcast(&error, (int)sizeof error, MPI_BYTE, from, peers->comm);
  TSR_TRY(tsr_mpi_check(code, "MPI_Bcast"));
  return tsr_fail(error.status, "process %d: %s", from, error.message);
}

/* Compares this process's record with the values of process 0. */
static tsr_status compare(const tsr_record *mine, const int64_t *first) {
  for (int i = 0; i < mine->count; i++)
    if (mine->value[i] != first[i])
      return tsr_fail(TSR_ERR_ARGUMENT,
                      "%s%s is %lld, and %lld at process 0; all processes of a grid make the same "
                      "call with the same arguments",
                      mine->object[i], mine->field[i], (long long)mine->value[i],
                      (long long)first[i]);
  return TSR_OK;
}

/* Names the first argument that differs from process 0's. If no process finds one, items beyond
 * TSR_RECORD_ROOM or the number of items differ. */
static tsr_status tell_difference(const tsr_peers *peers, const tsr_record *record) {
  static const tsr_record none;
  const tsr_record *mine = record != NULL ? record : &none;
  int64_t first[TSR_RECORD_ROOM];
  memcpy(first, mine->value, sizeof first);
  int code = MPI_Bcast(first, TSR_RECORD_ROOM, MPI_INT64_T, 0, peers->comm);
  TSR_TRY(tsr_mpi_check(code, "MPI_Bcast"));
  TSR_TRY(tsr_agree(peers, NULL, compare(mine, first)));
  return tsr_fail(TSR_ERR_ARGUMENT, "processes of a grid made different calls");
}

/* MPI_Allreduce with MPI_MIN. Meanwhile this process's queue is progressed: another process may
 * enter only after products are complete that need this process. */
static tsr_status find_least(const tsr_peers *peers, const int64_t mine[3], int64_t all[3]) {
  MPI_Request request = MPI_REQUEST_NULL;
  tsr_wait wait = TSR_WAIT_INIT;
  int there = 0;
  int code = MPI_Iallreduce(mine, all, 3, MPI_INT64_T, MPI_MIN, peers->comm, &request);
  TSR_TRY(tsr_mpi_check(code, "MPI_Iallreduce"));
  while (code == MPI_SUCCESS && !there) {
    if (peers->queue != NULL) tsr_async_queue_go_on(peers->queue);
    code = MPI_Test(&request, &there, MPI_STATUS_IGNORE);
    if (!there) tsr_wait_step(&wait, true);
  }
  return tsr_mpi_check(code, "MPI_Test");
}

tsr_status tsr_agree(const tsr_peers *peers, const tsr_record *record, tsr_status status) {
  int64_t sum = digest(record);
  int64_t mine[3] = {status == TSR_OK ? peers->size : peers->rank, sum, ~sum}, all[3];
  tsr_error error;
  /* Operations in the queue may record errors meanwhile, so this one is kept aside. */
  if (status != TSR_OK) tsr_error_take(status, &error);
  TSR_TRY(find_least(peers, mine, all));
  if (status != TSR_OK) tsr_error_put(&error);
  if (all[0] < peers->size) return spread(peers, (int)all[0], status);
  /* all[2] is the least complement, which is the complement of the greatest digest. */
  if (all[1] == ~all[2]) return TSR_OK;
  return tell_difference(peers, record);
}
