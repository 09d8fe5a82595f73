/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What a machine string says (string.c reads it), and the machine that it describes. */
#ifndef TSR_MACHINE_SPEC_H
#define TSR_MACHINE_SPEC_H

#include "machine/machine.h"

typedef enum tsr_described_fabric {
  TSR_STRING_NONE,
  TSR_STRING_NVSWITCH,
  TSR_STRING_NVLINK,
  TSR_STRING_PCIE
} tsr_described_fabric;

/* Numbers of the devices in their order, the last one for all that follow; count 0: none. */
typedef struct tsr_series {
  int count;
  double value[TSR_MACHINE_DEVICES];
} tsr_series;

/* What pairs of devices have for links, as the string names each pair. */
typedef struct tsr_pairs {
  bool any;       /* of the fabric's pairs only those that are named have links */
  bool by_fabric; /* a pair has links of the fabric's rate */
  double count[TSR_MACHINE_DEVICES][TSR_MACHINE_DEVICES]; /* links of the fabric's rate; 0: none */
  double rate[TSR_MACHINE_DEVICES][TSR_MACHINE_DEVICES];  /* or GB/s; 0: none */
} tsr_pairs;

/* What a string says, in the units of the string; 0: it says nothing. */
typedef struct tsr_spec {
  int nodes, devices;
  double host_to, host_from;
  double sockets; /* between each two sockets, in each direction */
  bool interleaved;
  uint32_t unlinked[TSR_MACHINE_DEVICES]; /* bit j of [i]: no link between devices i and j */
  tsr_pairs pairs;
  double memory, latency, launch;
  tsr_series memory_word, speed, pcie, hbm; /* device by device */
  tsr_described_fabric fabric;
  double fabric_rate;
  int sharing; /* devices that share a host link; 0: all */
  double rate[TSR_TYPE_COUNT], cpu;
  int staging_threads;
  double thread_rate, staging;
  double net, net_latency;
} tsr_spec;

/* Chooses what the string does not say, and builds the machine, which is empty. TSR_ERR_MACHINE. */
tsr_status tsr_spec_build(tsr_spec *spec, const char *string, tsr_machine *machine);

#endif
