/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The outline of a machine: what a person sees of it. Which devices are equal, what each channel
 * is (host memory, a link that devices share, a port of a switch), and what all devices reach
 * together. Plans do not use it.
 */
#ifndef TSR_MACHINE_OUTLINE_H
#define TSR_MACHINE_OUTLINE_H

#include "machine/machine.h"

typedef uint32_t tsr_device_mask; /* bit d: device d */

typedef enum tsr_channel_role {
  TSR_CHANNEL_MEMORY,   /* host memory: the host links of all devices */
  TSR_CHANNEL_SHARED,   /* the host links of several devices */
  TSR_CHANNEL_OWN,      /* the host link of one device */
  TSR_CHANNEL_PORT,     /* a device's way into or out of a switch between devices */
  TSR_CHANNEL_CROSSING, /* from one socket to another */
  TSR_CHANNEL_OTHER
} tsr_channel_role;

/* A channel as a person sees it. */
typedef struct tsr_channel_view {
  tsr_channel_role role;
  tsr_device_mask devices; /* whose links it carries; of a port: the device alone */
  unsigned nodes;          /* bit n: it carries links of host memory node n */
  int from, to;            /* of a crossing: the nodes of the two sockets */
  bool between_devices;    /* it carries copies between devices, too */
  double in, out;          /* bytes/s when all bytes go into, or out of, devices; 0: none do */
} tsr_channel_view;

/* How devices reach each other. */
typedef enum tsr_interconnect {
  TSR_FABRIC_NONE,      /* through host memory only */
  TSR_FABRIC_SWITCH,    /* each over its port */
  TSR_FABRIC_HOST_LINK, /* over the links to the host */
  TSR_FABRIC_DIRECT     /* pairs over links of their own */
} tsr_interconnect;

typedef struct tsr_outline {
  tsr_channel_view channel[TSR_MACHINE_CHANNELS];
  int groups; /* of equal devices: rates and memory within 5 % of the first one's */
  tsr_device_mask group[TSR_MACHINE_DEVICES];
  tsr_interconnect fabric;
  bool every_pair;              /* every device has a link to every other */
  double peer_least, peer_most; /* bytes/s of links between devices; 0: there are none */
  double in, out;               /* bytes/s of all devices together from and to host memory */
  double both_in, both_out;     /* the same at once */
  double links_in, links_out;   /* sums of the host links alone */
} tsr_outline;

/* Fills in the outline. TSR_ERR_MEMORY. */
tsr_status tsr_outline_make(const tsr_machine *machine, tsr_outline *outline);

/* A host link that several devices share. */
typedef struct tsr_shared_link {
  tsr_device_mask devices;
  double in, out; /* bytes/s; 0: that way is not shared */
} tsr_shared_link;

/* Lists the sets of devices that share host links, each set once; returns their number. */
enum { TSR_SHARED_LINKS = 64 };
int tsr_outline_shared(const tsr_machine *machine, const tsr_outline *outline,
                       tsr_shared_link links[TSR_SHARED_LINKS]);

static inline bool tsr_mask_has(tsr_device_mask set, int device) {
  return (set >> device & 1) != 0;
}
int tsr_mask_count(tsr_device_mask set);
int tsr_mask_first(tsr_device_mask set); /* -1: the set is empty */

/* Appends "0-3", "0, 2" or "5"; between: what stands between two parts (", "). */
void tsr_mask_print(tsr_device_mask set, const char *between, tsr_text *text);

/* Appends a number with three digits, or with all digits before the point: 0.47, 48.3, 4000. */
void tsr_amount_print(double value, tsr_text *text);

/* Appends what the machine is: "4 x NVIDIA H200 (141 GB), 2 sockets, 64 cores, 512 GB". */
void tsr_outline_devices(const tsr_machine *machine, tsr_text *text);
void tsr_outline_title(const tsr_machine *machine, tsr_text *text);

/* Appends where the figures come from: "measured 2026-11-23", "from a file". */
void tsr_outline_source(const tsr_machine *machine, tsr_text *text);

/* Appends, in lines that begin at a column, what tells the machine from others of its kind, and
 * where its figures come from; nothing of a machine that does not say. */
void tsr_outline_about(const tsr_machine *machine, int column, tsr_text *text);

#endif
