/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A fabric carries bytes from host memory to a process's first device, and from there to the first
 * devices of other processes. There are two: NCCL's, for CUDA devices, and RCCL's, for those of
 * HIP, of one source and each in a library of its own that is loaded on request, so that Tessera
 * also runs where they are missing. A fabric knows nothing of matrices, slots and MPI.
 *
 * Copies and broadcasts go through queues; each queue executes its operations in order:
 *   ACROSS     the broadcasts of all groups, so that every process executes them in one order;
 *   UP + way   the uploads by one way. A way is a path from host memory to the first device. Way 0
 *              is that device's own link. Every other way uses the link of another device: copies
 *              go to a relay buffer in that device's memory, and from there to the first device.
 * An event is a point in a queue.
 *
 * Only open, open_way, join and close wait for anything, unless a function says otherwise. One
 * thread at a time calls a fabric.
 */
#ifndef TSR_CLUSTER_TRANSPORT_FABRIC_H
#define TSR_CLUSTER_TRANSPORT_FABRIC_H

#include <stdbool.h>

#include "base/status.h"
#include "cluster/plan/parts.h"
#include "tessera_model.h"

typedef struct tsr_fabric_state tsr_fabric_state;

enum { TSR_FABRIC_IDENTITY = 64, TSR_FABRIC_NAME = 128, TSR_FABRIC_GROUPS = 2 };

/* Events of a queue, known by number. A number may be recorded again once its event is complete. */
enum { TSR_FABRIC_EVENTS = 8 };

enum { TSR_FABRIC_WAYS = 4 }; /* at most */

/* The numbers of the queues; a way's queue is TSR_FABRIC_UP + way. */
enum { TSR_FABRIC_ACROSS, TSR_FABRIC_UP, TSR_FABRIC_QUEUES = TSR_FABRIC_UP + TSR_FABRIC_WAYS };

/* The processes among which a broadcast goes. */
typedef struct tsr_fabric_group {
  unsigned char name[TSR_FABRIC_NAME]; /* from name_group, which one of them calls */
  int rank, size;
  const void *comm; /* their MPI_Comm: for the tests' fabric, which is made of MPI */
} tsr_fabric_group;

typedef struct tsr_fabric {
  const char *name;
  size_t piece;     /* bytes of a copy or broadcast: panels travel in such pieces */
  size_t narrowest; /* bytes. A panel whose runs in the matrix are shorter is packed into pinned
                       memory first; one with longer runs is copied straight from a pinned matrix */
  size_t sample;    /* bytes to measure rates with: a multiple of piece, at least TSR_FABRIC_WAYS
                       pieces */

  /* Opens the fabric for the device that `memory` belongs to. Writes to `identity` a text that no
   * other device has. */
  tsr_status (*open)(const void *memory, tsr_fabric_state **state,
                     char identity[TSR_FABRIC_IDENTITY]);
  void (*close)(tsr_fabric_state *state);
  /* Opens the way of the device that `relay` belongs to. way: 1, 2, ..., the next number.
   * TSR_ERR_UNSUPPORTED: that device has a way already, or the two devices cannot access each
   * other's memory; another device may serve under the same number. */
  tsr_status (*open_way)(tsr_fabric_state *state, int way, const void *relay);

  /* Makes a name for a new group. One process calls it and gives the name to the others. */
  tsr_status (*name_group)(unsigned char name[TSR_FABRIC_NAME]);
  /* Collective over the group. `group` is its number from then on, below TSR_FABRIC_GROUPS. */
  tsr_status (*join)(tsr_fabric_state *state, int group, const tsr_fabric_group *what);
  /* Aborts this process's broadcasts in the group and leaves it. Not collective: the caller sees to
   * it that the other processes leave, too. */
  void (*leave)(tsr_fabric_state *state, int group);

  /* Whether all of this host memory is pinned, so that devices copy straight from it. */
  bool (*is_pinned)(tsr_fabric_state *state, const void *begin, size_t bytes);

  /* Copies part `part` to `panel` + part->to. Way 0: `panel` is in the first device's memory; other
   * ways: `panel` is the way's relay buffer. May wait if the part's memory is not pinned. */
  tsr_status (*up)(tsr_fabric_state *state, int way, char *panel, const tsr_panel_part *part);
  /* Copies from a way's relay buffer to the first device. */
  tsr_status (*onward)(tsr_fabric_state *state, int way, void *to, const void *relay, size_t bytes);
  /* Copies from a way's device to pinned memory, after the way's uploads so far. Used to measure
   * rates. */
  tsr_status (*down)(tsr_fabric_state *state, int way, void *to, const void *from, size_t bytes);
  /* Broadcasts `bytes` at `memory` from the group's root; on the others `memory` is the
   * destination. */
  tsr_status (*across)(tsr_fabric_state *state, int group, void *memory, size_t bytes, int root);

  /* Records an event in a queue. If the runtime fails to record it, the event counts as complete
   * once the queue is empty, so an event is never complete while an earlier operation still touches
   * memory. */
  void (*record)(tsr_fabric_state *state, int queue, int event);
  /* *complete: whether every operation before the event has ended. If the device failed, or (in
   * ACROSS) a group, the error is returned and *complete is true. */
  tsr_status (*query)(tsr_fabric_state *state, int queue, int event, bool *complete);
} tsr_fabric;

/* Finds the fabric for devices of a context with these facts. TSR_ERR_UNSUPPORTED: its engine names
 * no fabric, or the fabric's library cannot be loaded. */
tsr_status tsr_fabric_find(const tsr_context_facts *facts, const tsr_fabric **fabric);

#endif
