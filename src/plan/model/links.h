/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Inside the planner: a table of the channels that each link of a machine uses. */
#ifndef TSR_PLAN_MODEL_LINKS_H
#define TSR_PLAN_MODEL_LINKS_H

#include "machine/machine.h"

enum { TSR_LINK_USES = 20 }; /* a link's further channels are left out */

typedef struct tsr_link_uses {
  int count;
  int channel[TSR_LINK_USES];
  float seconds[TSR_LINK_USES]; /* of the channel's time for each byte of the link */
} tsr_link_uses;

typedef struct tsr_links {
  int locations;
  tsr_link_uses *uses; /* [from * locations + to] */
} tsr_links;

/* Makes the table, which the caller frees. TSR_ERR_MEMORY. */
tsr_status tsr_links_create(const tsr_machine *machine, tsr_links *links);
void tsr_links_free(tsr_links *links);

static inline const tsr_link_uses *tsr_links_of(const tsr_links *links, int from, int to) {
  return &links->uses[(size_t)from * (size_t)links->locations + (size_t)to];
}

/* Whether a copy stays in host memory, from one node to another or not: a staging thread makes it.
 */
static inline bool tsr_is_in_host(const tsr_machine *machine, int from, int to) {
  return !tsr_is_device(machine, from) && !tsr_is_device(machine, to);
}

/* Bytes/s of one staging thread that copies in host memory, alone. Between nodes it is not faster
 * than the link between them. */
static inline double tsr_staging_rate(const tsr_machine *machine, int from, int to) {
  double link = machine->link[from][to].bandwidth;
  return link > 0 && link < machine->thread_rate ? link : machine->thread_rate;
}

/* The node of the staging ring through which the device's copies go. */
static inline int tsr_ring_node(const tsr_machine *machine, int device) {
  return machine->device[device].host_node;
}

#endif
