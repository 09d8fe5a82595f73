/*
 * A fabric carries panels from host memory to a device (and back, to see how fast that is), and
 * from one process's device to others': NCCL, in a library of its own that is loaded when it is
 * asked for, so that Tessera runs where there is none. It knows no panels, no slots and no MPI.
 *
 * What it is asked to carry goes through queues, each in order: ACROSS, which has the broadcasts of
 * all groups, so that they come in one order everywhere, and one for each way up. Way 0 goes
 * straight to the device; any other to a stepping stone, memory of another device that is reached
 * by a link of its own, and on from there. A mark is a point in a queue. Nothing waits but open,
 * open_way, join and close. One thread at a time calls.
 */
#ifndef TSR_CLUSTER_FABRIC_H
#define TSR_CLUSTER_FABRIC_H

#include <stdbool.h>

#include "base/status.h"
#include "cluster/parts.h"

typedef struct tsr_fabric_state tsr_fabric_state;

enum { TSR_FABRIC_IDENTITY = 64, TSR_FABRIC_NAME = 128, TSR_FABRIC_GROUPS = 2 };

/* Marks of each queue are known by number; a number serves again when it has passed. */
enum { TSR_FABRIC_MARKS = 8 };

enum { TSR_FABRIC_WAYS = 4 }; /* up, at most */

/* Queues are known by number: TSR_FABRIC_UP + way is that of a way. */
enum { TSR_FABRIC_ACROSS, TSR_FABRIC_UP, TSR_FABRIC_QUEUES = TSR_FABRIC_UP + TSR_FABRIC_WAYS };

/* Processes that have a broadcast in common. */
typedef struct tsr_fabric_group {
  unsigned char name[TSR_FABRIC_NAME]; /* of name_group, called by one of them */
  int rank, size;
  const void *comm; /* their MPI_Comm, for a fabric over MPI */
} tsr_fabric_group;

typedef struct tsr_fabric {
  const char *name;
  size_t piece;     /* bytes in which panels travel */
  size_t narrowest; /* bytes of runs that are copied straight from a pinned matrix; what has shorter
                       ones is packed first */
  size_t sample;    /* bytes to measure rates with: pieces, no fewer than there may be ways */

  /* Opens the device whose memory begins at `memory`; identity: a text that no other device has. */
  tsr_status (*open)(const void *memory, tsr_fabric_state **state,
                     char identity[TSR_FABRIC_IDENTITY]);
  void (*close)(tsr_fabric_state *state);
  /* Opens the next way (1, 2, ...), by the device that has a stepping stone. TSR_ERR_UNSUPPORTED:
   * it would be none of its own, or the devices do not reach each other; the next may be another.
   */
  tsr_status (*open_way)(tsr_fabric_state *state, int way, const void *stone);

  tsr_status (*name_group)(unsigned char name[TSR_FABRIC_NAME]);
  /* Collective over the group, which is then known by number, below TSR_FABRIC_GROUPS. */
  tsr_status (*join)(tsr_fabric_state *state, int group, const tsr_fabric_group *what);
  /* Ends what it has under way, without the others: they must know. */
  void (*leave)(tsr_fabric_state *state, int group);

  /* Whether host memory can be copied straight from. */
  bool (*is_pinned)(tsr_fabric_state *state, const void *begin, size_t bytes);

  /* Copies a part to where it belongs in a panel, or in what there is of it on the way's stepping
   * stone. From memory that is not pinned it may wait. */
  tsr_status (*up)(tsr_fabric_state *state, int way, char *panel, const tsr_part *part);
  /* From a way's stepping stone to the device. */
  tsr_status (*onward)(tsr_fabric_state *state, int way, void *to, const void *stone, size_t bytes);
  /* From a way's device to pinned memory, behind what went up by it. */
  tsr_status (*down)(tsr_fabric_state *state, int way, void *to, const void *from, size_t bytes);
  /* From the group's root to all others, at the address that each gives. */
  tsr_status (*across)(tsr_fabric_state *state, int group, void *memory, size_t bytes, int root);

  /* Marks what was asked for until now. Where the runtime cannot record that, the mark passes when
   * nothing is left in the queue: who waits for it knows in any case what touches memory still. */
  void (*mark)(tsr_fabric_state *state, int queue, int mark);
  /* Whether all that was asked for before the mark is done. A failure of the device, or in ACROSS
   * of a group, is returned and counts as passing. */
  tsr_status (*passed)(tsr_fabric_state *state, int queue, int mark, bool *passed);
} tsr_fabric;

/* The fabric for devices of an engine. TSR_ERR_UNSUPPORTED: there is none, or it cannot be loaded.
 */
tsr_status tsr_fabric_find(const char *engine, const tsr_fabric **fabric);

#endif
