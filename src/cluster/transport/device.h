/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Panels from device to device. Slots are memory of each process's first device. A panel travels in
 * pieces. The root uploads each piece to its first device: straight from the matrix if that is
 * pinned and the panel has long runs, else from a pinned buffer into which it packs the piece.
 * While later pieces are uploaded, the fabric broadcasts the uploaded ones to the other processes
 * of the row or column. Uploads take turns over the links of all devices of the process; the links
 * of other devices go through a relay buffer there, for one piece.
 *
 * All broadcasts, of A and of B, are in one queue on every process, in the order in which their
 * messages began, so no deadlock between processes is possible. Before each piece the group meets:
 * a reduction of one number tells every process whether one has failed. A process enters the
 * broadcast only after the meeting, when all others are ready for it, so no device idles inside a
 * broadcast while it could compute. If one process has failed, all processes of the group drop the
 * group's messages as lost.
 */
#ifndef TSR_CLUSTER_TRANSPORT_DEVICE_H
#define TSR_CLUSTER_TRANSPORT_DEVICE_H

#include "cluster/transport/fabric.h"
#include "cluster/transport/transport.h"

/* The processes among which panels of an operand are broadcast: this process's row of the grid (0,
 * for A) or column (1, for B). */
typedef struct tsr_device_group {
  MPI_Comm comm;
  int rank, size;
  bool joined, failed;
} tsr_device_group;

typedef struct tsr_device_message {
  tsr_broadcast what;
  bool root;     /* this process is the root */
  bool direct;   /* at the root: uploaded straight from the matrix, without packing */
  bool lost;     /* its group has failed */
  int64_t lines; /* of a piece */
  int64_t pieces;
  /* Counts of pieces, from the first one on: */
  int64_t upload_begun, uploaded; /* at the root: whose upload has begun, is complete */
  int64_t sent, arrived;          /* whose broadcast has begun, is complete */
  uint64_t out_of_order; /* bit i: the upload of piece uploaded + i is complete before an earlier
                            one's */
} tsr_device_message;

/* The pieces under way in a queue of the fabric: the last begun - complete ones. Piece number i of
 * the queue has event i mod TSR_FABRIC_EVENTS, which is also its index here. */
typedef struct tsr_device_ring {
  int64_t begun, complete;
  double begin[TSR_FABRIC_EVENTS];  /* when it began: s, tsr_now */
  int message[TSR_FABRIC_EVENTS];   /* the number of its message */
  int64_t piece[TSR_FABRIC_EVENTS]; /* its number in that message */
} tsr_device_ring;

typedef struct tsr_device_transport {
  tsr_grid *grid;
  const tsr_fabric *fabric;
  tsr_fabric_state *carrier; /* the open fabric */
  tsr_device_group group[TSR_FABRIC_GROUPS];
  char *buffer[TSR_FABRIC_EVENTS]; /* pinned memory for a piece each; each way has an equal share */
  void *sample;                    /* on the first device, while rates are measured */
  void *relay[TSR_FABRIC_WAYS];    /* relay buffers, for a piece each; none for way 0 */
  int ways, next_way;              /* open ways; the way whose turn is next */
  tsr_device_message message[TSR_TRANSPORT_MESSAGES];
  int order[TSR_TRANSPORT_MESSAGES]; /* numbers of the messages under way, in order of begin */
  int count;                         /* how many these are */
  tsr_device_ring ring[TSR_FABRIC_QUEUES];
  MPI_Request meeting; /* of the group whose piece is broadcast next, or MPI_REQUEST_NULL */
  int mine, all;       /* the meeting's number: whether this process, any process has failed */
  bool opened;         /* on all processes */
  bool failed;         /* something failed on this process; error: the first failure */
  bool told;           /* `error` was returned to the caller */
  tsr_error error;
  tsr_host_rates host;       /* measured; the same on all processes */
  double bandwidth, latency; /* of broadcasts: bytes/s, s; measured; the same on all processes */
} tsr_device_transport;

/* ---- device_ways.c ---- */

/* Opens a way for each device of this process, up to TSR_FABRIC_WAYS; devices without memory for a
 * relay buffer, or without access to the first device, get none. Not collective. */
tsr_status tsr_device_open_ways(tsr_device_transport *transport);
void tsr_device_free_relays(tsr_device_transport *transport);

/* Uploads a part of a piece by a way. begin: bytes from the beginning of the panel to the piece.
 * After all parts of the piece, tsr_device_forward must follow: it copies the piece of `bytes`
 * bytes from the relay buffer on to the panel (nothing for way 0). */
tsr_status tsr_device_upload(tsr_device_transport *transport, int way, char *panel, size_t begin,
                             const tsr_panel_part *part);
tsr_status tsr_device_forward(tsr_device_transport *transport, int way, char *panel, size_t begin,
                              size_t bytes);

/* ---- device_messages.c: begin and test of the transport ---- */

tsr_status tsr_device_begin(void *opened, int number, const tsr_broadcast *what);
tsr_status tsr_device_test(void *opened, int number, tsr_message_state *at);

/* ---- device_rates.c ---- */

/* Measures host, bandwidth and latency; all processes get the same numbers. Collective. */
tsr_status tsr_device_measure(tsr_device_transport *transport);

#endif
