/*
 * Processes agree: whether all go on, and whether all were called with the same arguments. This is
 * what makes every process return the same status, and lets none wait for one that has given up.
 */
#ifndef TSR_CLUSTER_AGREE_H
#define TSR_CLUSTER_AGREE_H

#include <mpi.h>

#include "base/status.h"

struct tsr_async_queue;

/* A communicator of the library's own, whose errors are returned. */
typedef struct tsr_peers {
  MPI_Comm comm;
  int rank, size;
  struct tsr_async_queue
      *queue; /* what has to go on while this process waits for others; or NULL */
} tsr_peers;

/* What has to be the same everywhere. Items beyond the room are not compared. */
enum { TSR_RECORD_ROOM = 64 };
typedef struct tsr_record {
  const char *object[TSR_RECORD_ROOM], *field[TSR_RECORD_ROOM];
  int64_t value[TSR_RECORD_ROOM];
  int count;
} tsr_record;

/* Begins a record with the call, by a number of its own. */
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
  TSR_RECORD_TIMELINE
} tsr_record_call;
tsr_record tsr_record_begin(tsr_record_call call);

/* The names, of which object may be "", must outlive the record. */
void tsr_record_add(tsr_record *record, const char *object, const char *field, int64_t value);

/* The bytes of a scalar. */
void tsr_record_add_bytes(tsr_record *record, const char *field, const void *value, size_t bytes);

/* Collective. status is this process's own so far, with its message recorded. TSR_OK where it is
 * that of all and the records (NULL: none) are the same; else everywhere the status of the first
 * process that failed, or TSR_ERR_ARGUMENT with the argument that differs. */
tsr_status tsr_agree(const tsr_peers *peers, const tsr_record *record, tsr_status status);

/* TSR_OK, or TSR_ERR_INTERNAL with what MPI says; name is the call's. */
tsr_status tsr_mpi_check(int code, const char *name);

#endif
