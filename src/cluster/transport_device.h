/*
 * Panels from device to device. Slots are memory of each process's first device. The root's host
 * sends a panel up to its device in pieces, straight from the matrix where that is pinned and has
 * long runs, else by way of pinned memory into which it is packed; what has come up goes across to
 * the others of the row or column meanwhile. Pieces go up by all links of the process's devices, in
 * turn: those of other devices lead over memory for one piece there, a stepping stone.
 *
 * Broadcasts of A and of B are in one queue everywhere, in the order in which their messages began,
 * so that no two processes can wait for each other. Before each piece its group meets (a reduction
 * of one number): nobody enters a broadcast before all can, so that devices which should compute do
 * not wait in one, and a process that has failed says so instead. The group's messages are lost
 * then, on all its processes alike.
 */
#ifndef TSR_CLUSTER_TRANSPORT_DEVICE_H
#define TSR_CLUSTER_TRANSPORT_DEVICE_H

#include "cluster/fabric.h"
#include "cluster/transport.h"

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
  int64_t raised, risen; /* at the root: the first ones, whose way up has begun, and has ended */
  uint64_t ahead;        /* bit i: so has that of piece risen + i, before others */
  int64_t sent, arrived; /* whose way across has begun, and has ended */
} tsr_device_message;

/* Pieces under way in a queue of the fabric, in order: whose they are, and which. */
typedef struct tsr_device_ring {
  int64_t begun, passed;
  double begin[TSR_FABRIC_MARKS]; /* tsr_now */
  int message[TSR_FABRIC_MARKS];
  int64_t piece[TSR_FABRIC_MARKS];
} tsr_device_ring;

typedef struct tsr_device_transport {
  tsr_grid *grid;
  const tsr_fabric *fabric;
  tsr_fabric_state *carrier;
  tsr_device_group group[TSR_FABRIC_GROUPS];
  char *chunk[TSR_FABRIC_MARKS]; /* pinned, each for a piece; the ways share them evenly */
  void *sample;                  /* on the device */
  void *stone[TSR_FABRIC_WAYS];  /* but of way 0: for a piece each */
  int ways, next_way;            /* how many are open, and which has its turn */
  tsr_device_message message[TSR_TRANSPORT_MESSAGES];
  int order[TSR_TRANSPORT_MESSAGES]; /* the messages under way, as they began */
  int count;
  tsr_device_ring ring[TSR_FABRIC_QUEUES];
  MPI_Request meeting; /* of the group that sends next, or MPI_REQUEST_NULL */
  int mine, all;       /* in it: whether this process, or any, has failed */
  bool opened;         /* on all processes */
  bool failed, told;   /* error: the first failure here */
  tsr_error error;
  tsr_host_rates host;       /* the same everywhere, */
  double bandwidth, latency; /* as are these */
} tsr_device_transport;

/* transport_device_ways.c: as many as there are devices for them; of this process alone. */
tsr_status tsr_device_open_ways(tsr_device_transport *transport);
void tsr_device_free_stones(tsr_device_transport *transport);
/* A part of a piece that begins at `begin` in its panel; and when all of it have been asked for,
 * how many bytes the piece has. */
tsr_status tsr_device_raise(tsr_device_transport *transport, int way, char *panel, size_t begin,
                            const tsr_part *part);
tsr_status tsr_device_step_on(tsr_device_transport *transport, int way, char *panel, size_t begin,
                              size_t bytes);

/* transport_device_messages.c */
tsr_status tsr_device_begin(void *opened, int number, const tsr_broadcast *what);
tsr_status tsr_device_test(void *opened, int number, tsr_message_state *at);

/* transport_device_rates.c: measures what the model should know; all get the same. Collective. */
tsr_status tsr_device_measure(tsr_device_transport *transport);

#endif
