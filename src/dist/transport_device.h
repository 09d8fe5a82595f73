/*
 * Panels from device to device. Slots are memory of each process's first device. The root's host
 * sends a panel up to its device in pieces, straight from the matrix where that is pinned and has
 * long runs, else by way of pinned memory into which it is packed; what has come up goes across to
 * the others of the row or column meanwhile.
 *
 * Broadcasts of A and of B are in one queue everywhere, in the order in which their messages began,
 * so that no two processes can wait for each other. Before each piece its group meets (a reduction
 * of one number): nobody enters a broadcast before all can, so that devices which should compute do
 * not wait in one, and a process that has failed says so instead. The group's messages are lost
 * then, on all its processes alike.
 */
#ifndef TSR_DIST_TRANSPORT_DEVICE_H
#define TSR_DIST_TRANSPORT_DEVICE_H

#include "dist/fabric.h"
#include "dist/transport.h"

/* The row (0, of A) or the column (1, of B) of this process. */
typedef struct tsr_device_group {
  MPI_Comm comm;
  int rank, size;
  bool joined, failed;
} tsr_device_group;

typedef struct tsr_device_message {
  tsr_broadcast what;
  bool root, direct, lost;
  int64_t lines; /* of a piece */
  int64_t pieces;
  int64_t raised, risen; /* at the root: those whose way up has begun, and has ended */
  int64_t sent, arrived; /* whose way across has begun, and has ended */
} tsr_device_message;

/* Pieces under way in a queue of the fabric, in order: whose they are. */
typedef struct tsr_device_ring {
  int64_t begun, passed;
  int message[TSR_FABRIC_MARKS];
} tsr_device_ring;

typedef struct tsr_device_transport {
  tsr_grid *grid;
  const tsr_fabric *fabric;
  tsr_fabric_state *carrier;
  tsr_device_group group[TSR_FABRIC_GROUPS];
  char *chunk[TSR_FABRIC_MARKS]; /* pinned: for each mark of the way up a piece */
  void *sample;                  /* on the device */
  tsr_device_message message[TSR_TRANSPORT_MESSAGES];
  int order[TSR_TRANSPORT_MESSAGES]; /* the messages under way, as they began */
  int count;
  tsr_device_ring up, across;
  MPI_Request meeting; /* of the group that sends next, or MPI_REQUEST_NULL */
  int mine, all;       /* in it: whether this process, or any, has failed */
  bool opened;         /* on all processes */
  bool failed, told;   /* error: the first failure here */
  tsr_error error;
  double up_rate, bandwidth, latency; /* the same everywhere, */
  double up_by_run[TSR_UP_RUNS];      /* as is this */
} tsr_device_transport;

/* transport_device_messages.c */
tsr_status tsr_device_begin(void *opened, int number, const tsr_broadcast *what);
tsr_status tsr_device_test(void *opened, int number, tsr_message_state *at);

/* transport_device_rates.c: measures what the model should know; all get the same. Collective. */
tsr_status tsr_device_measure(tsr_device_transport *transport);

#endif
