/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What limits a plan, in the user's words: the links, channels and devices that it keeps busy, and
 * the one that binds.
 */
#ifndef TSR_PLAN_PRINT_LIMITS_H
#define TSR_PLAN_PRINT_LIMITS_H

#include "plan/plan.h"

/* Limits of a kind differ only in the device, so that they can be named together. */
typedef enum tsr_limit_kind {
  TSR_LIMIT_HOST,        /* a channel of all links of host memory */
  TSR_LIMIT_HOST_TO,     /* the same, to the devices only */
  TSR_LIMIT_HOST_FROM,   /* from the devices only */
  TSR_LIMIT_STAGING,     /* threads that copy pageable memory */
  TSR_LIMIT_SHARED,      /* a channel of the host links of some devices */
  TSR_LIMIT_SHARED_TO,   /* the same, to the devices only */
  TSR_LIMIT_SHARED_FROM, /* from the devices only */
  TSR_LIMIT_TO,          /* a device's link from host memory */
  TSR_LIMIT_FROM,        /* its link to host memory */
  TSR_LIMIT_OF,          /* a channel of both */
  TSR_LIMIT_PEER,        /* a link between devices */
  TSR_LIMIT_PORT_TO,     /* a channel of all links from other devices to a device */
  TSR_LIMIT_PORT_FROM,   /* from a device to other devices */
  TSR_LIMIT_CROSSING,    /* a channel from one socket to another */
  TSR_LIMIT_OTHER,       /* any other channel */
  TSR_LIMIT_MEMORY,      /* the device computes, and its memory is why it takes so long */
  TSR_LIMIT_KERNELS,     /* the device computes */
  TSR_LIMIT_LATENCY,     /* copies and kernels take longest to start */
  TSR_LIMIT_WAITS,       /* nothing is busy for long: commands wait for each other */
  TSR_LIMIT_CPU,         /* the CPU's BLAS */
  TSR_LIMIT_KINDS
} tsr_limit_kind;

typedef struct tsr_limit {
  tsr_limit_kind kind;
  int from, to;  /* a link's ends; KERNELS and MEMORY: both are the device; else -1 */
  int channel;   /* -1: the limit is no channel */
  double busy;   /* 0 to 1, of the plan's time */
  char what[96]; /* in the user's words, "the link to GPU 2" */
} tsr_limit;

typedef struct tsr_limits {
  TSR_VEC(tsr_limit) list; /* the busiest first; what is never used is left out */
  tsr_limit binds;         /* what binds; if devices bind alike, they are named together */
} tsr_limits;

/* Finds the limits of a plan, which the caller gives back with tsr_limits_free. machine: the one
 * that the plan is for. TSR_ERR_MEMORY. */
tsr_status tsr_limits_find(const tsr_plan *plan, const tsr_machine *machine, tsr_limits *limits);
void tsr_limits_free(tsr_limits *limits);

/* "channel", "link", "memory", "kernels", "latency", "cpu". */
const char *tsr_limit_kind_name(tsr_limit_kind kind);

/* Which devices a text names. */
typedef struct tsr_device_set {
  bool has[TSR_MACHINE_DEVICES];
} tsr_device_set;

/* Devices that have a command of the plan. */
tsr_device_set tsr_devices_used(const tsr_plan *plan);
int tsr_devices_count(const tsr_device_set *set);
/* "GPU 2", "GPUs 0 and 1", "GPUs 0, 2 and 4", "GPUs 0 to 7" (from four on). */
void tsr_devices_add(const tsr_device_set *set, tsr_text *text);

/* Whether each device that is not in the set shares its host link with one that is, so that using
 * it, too, makes no copy faster. */
bool tsr_devices_share_links(const tsr_machine *machine, const tsr_device_set *used);

#endif
