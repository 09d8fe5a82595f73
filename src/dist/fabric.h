/*
 * A fabric carries panels from host memory to a device, and from one process's device to others':
 * NCCL, in a library of its own that is loaded when it is asked for, so that Tessera runs where
 * there is none. It knows no panels, no slots and no MPI.
 *
 * What it is asked to carry goes through two queues, each in order: UP, and ACROSS, which has the
 * broadcasts of all groups, so that they come in one order everywhere. A mark is a point in a
 * queue. Nothing waits but open, join and close. One thread at a time calls.
 */
#ifndef TSR_DIST_FABRIC_H
#define TSR_DIST_FABRIC_H

#include <stdbool.h>

#include "base/status.h"
#include "dist/parts.h"

typedef struct tsr_fabric_state tsr_fabric_state;

enum { TSR_FABRIC_IDENTITY = 64, TSR_FABRIC_NAME = 128, TSR_FABRIC_GROUPS = 2 };

/* Marks of each queue are known by number; a number serves again when it has passed. */
enum { TSR_FABRIC_MARKS = 8 };

typedef enum tsr_fabric_queue { TSR_FABRIC_UP, TSR_FABRIC_ACROSS } tsr_fabric_queue;

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
  size_t sample;    /* bytes, of which several pieces, to measure rates with */

  /* Opens the device whose memory begins at `memory`; identity: a text that no other device has. */
  tsr_status (*open)(const void *memory, tsr_fabric_state **state,
                     char identity[TSR_FABRIC_IDENTITY]);
  void (*close)(tsr_fabric_state *state);

  tsr_status (*name_group)(unsigned char name[TSR_FABRIC_NAME]);
  /* Collective over the group, which is then known by number, below TSR_FABRIC_GROUPS. */
  tsr_status (*join)(tsr_fabric_state *state, int group, const tsr_fabric_group *what);
  /* Ends what it has under way, without the others: they must know. */
  void (*leave)(tsr_fabric_state *state, int group);

  /* Whether host memory can be copied straight from. */
  bool (*is_pinned)(tsr_fabric_state *state, const void *begin, size_t bytes);

  /* Copies a part to where it belongs in a panel on the device. From memory that is not pinned it
   * may wait. */
  tsr_status (*up)(tsr_fabric_state *state, char *panel, const tsr_part *part);
  /* From the group's root to all others, at the address that each gives. */
  tsr_status (*across)(tsr_fabric_state *state, int group, void *memory, size_t bytes, int root);

  tsr_status (*mark)(tsr_fabric_state *state, tsr_fabric_queue queue, int mark);
  /* Whether all that was asked for before the mark is done. A failure, of anything before, counts
   * as passing. */
  tsr_status (*passed)(tsr_fabric_state *state, tsr_fabric_queue queue, int mark, bool *passed);
} tsr_fabric;

/* The fabric for devices of an engine. TSR_ERR_UNSUPPORTED: there is none, or it cannot be loaded.
 */
tsr_status tsr_fabric_find(const char *engine, const tsr_fabric **fabric);

#endif
